"""What a run says about its circumstances, each answer with the place where it stands."""
