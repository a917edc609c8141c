"""Theme files and style sheets."""
