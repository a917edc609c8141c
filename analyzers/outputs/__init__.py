"""Findings about what a model puts out and how its parameters are shared out."""
