"""The triage as a to-do list: laid out as lines, without a terminal."""
