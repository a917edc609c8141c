"""The checklist as the app sees it: what is done, what is missing, and what comes next."""

from .observing import is_news, missing, observed
from .suggesting import phase_of, progress, suggest

__all__ = ["is_news", "missing", "observed", "phase_of", "progress", "suggest"]
