"""The optional second opinion of a language model, checked against the artifacts."""
