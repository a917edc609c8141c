"""The desk: the session that is worked on, between the screen and the disk."""
