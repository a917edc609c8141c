"""From a run to findings: symptoms, root causes, fixes."""
