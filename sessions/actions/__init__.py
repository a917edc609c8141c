"""Everything that can be done to a session, as values that can be kept and repeated."""
