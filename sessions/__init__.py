"""Triage sessions: what we believe, how sure, what we try, what came out, and the report."""
