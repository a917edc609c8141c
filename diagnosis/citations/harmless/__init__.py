"""What a key may copy: settings, code that only computes, and sentences; all else is doubtful."""

from .judging import Doubt, doubt_about

__all__ = ["Doubt", "doubt_about"]
