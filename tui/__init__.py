"""The app and the command line: the only room that knows a terminal."""
