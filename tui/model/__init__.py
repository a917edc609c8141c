"""The model view laid out: checkpoints, findings, modules, movement and memory as rows."""
