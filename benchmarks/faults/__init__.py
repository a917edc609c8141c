"""Small trainings with one injected fault each, healthy ones full of traps, and a score for us."""
