"""Sessions on disk, and everything that can happen to a disk."""
