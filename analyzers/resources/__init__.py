"""Findings about memory, disk and speed."""
