"""The process beside the screen: it follows, reads and judges runs, and answers questions."""
