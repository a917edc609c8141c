"""A conversation with Claude as the screen knows it: what was said, and how it is laid out."""
