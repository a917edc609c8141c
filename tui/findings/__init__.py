"""A diagnosis laid out as lines of text: pure functions, no terminal, no colours."""
