"""Everything that knows the service: models, prices, access, failures, the conversation itself."""
