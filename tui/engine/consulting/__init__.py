"""The second opinion in the engine: it has the runs, and the screen hears what comes of it."""
