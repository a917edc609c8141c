"""The general extractor: learned line templates for any text log."""
