"""Runs on other machines, read over the system's own ssh client."""
