"""Errors: what a run says when it breaks, recognised by its words (`messages/*.toml`)."""
