"""What all analyzers share: findings, causes, curves, facts, the registry."""
