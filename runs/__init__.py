"""Where bytes come from, and how they become columns and events."""

__version__ = "0.1.0"
