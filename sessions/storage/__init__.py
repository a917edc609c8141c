"""Sessions on disk: a journal that survives everything, and a lock that works everywhere."""
