"""Logs in many styles, healthy all of them, and what is to be read from each."""
