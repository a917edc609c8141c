"""Where bytes come from: files, pipes, compressed files, directories of runs."""
