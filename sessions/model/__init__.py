"""What a session consists of: plain values that check themselves."""
