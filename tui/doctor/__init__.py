"""The command `doctor`: what this place can do for the app, and what to change about it."""
