"""Findings about gradients, precision and weights."""
