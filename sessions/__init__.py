"""Triage sessions: hypotheses, experiments, journal, reports."""
