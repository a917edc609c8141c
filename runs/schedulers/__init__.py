"""Jobs of a cluster: which there are, and what its scheduler knows about each."""
