"""The log on the screen: read beside the event loop, searched beside the process."""
