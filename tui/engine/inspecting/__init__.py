"""Checkpoints looked into for the screen: listed, read beside the main loop, judged, told."""
