"""What the worker process does with a checkpoint; it alone imports numpy, and torch if it must."""
