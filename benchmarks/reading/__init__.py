"""Real public logs with the truth decided by reading, and how much of it the reader finds."""
