"""The sections of a report, one file each; a section is a row of Markdown blocks."""
