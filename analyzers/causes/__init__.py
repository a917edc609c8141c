"""Root causes, one file each: when it explains, what speaks for and against it, what to do."""
