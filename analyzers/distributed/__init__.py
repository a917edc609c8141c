"""Findings about ranks, the scheduler and what surrounds the training."""
