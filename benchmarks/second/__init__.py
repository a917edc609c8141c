"""A second bench of really trained runs, made without knowledge of the analyzers."""
