"""Tests of the analyzers of launchers, collectives and schedulers."""
