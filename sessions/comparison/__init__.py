"""Two runs before and after a change: what became of each metric, and the verdict."""
