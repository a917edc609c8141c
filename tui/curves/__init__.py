"""What curves look like, without a terminal: scales, ticks, dots, smoothing, read-outs, layout."""
