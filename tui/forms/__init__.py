"""What a person can fill in about a session: questions, checks, and the actions they become."""
