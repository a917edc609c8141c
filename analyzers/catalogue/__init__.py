"""The catalogue: one page per finding and per root cause, from the modules' own words."""
