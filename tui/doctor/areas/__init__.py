"""What is looked at: one file per area, each with its checks."""
