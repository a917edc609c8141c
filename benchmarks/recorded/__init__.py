"""Sets of recorded runs that were made by people who did not know the analyzers."""
