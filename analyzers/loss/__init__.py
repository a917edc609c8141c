"""Findings about the loss curve and what it learns."""
