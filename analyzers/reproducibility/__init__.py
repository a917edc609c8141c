"""Findings about seeds, settings and runs that should agree."""
