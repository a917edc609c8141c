"""The command `inspect`: a checkpoint found, read in a worker process, judged, and shown."""
