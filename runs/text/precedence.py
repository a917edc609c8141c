"""How coordinates that no word names compete for their axis: the lowest number wins.

A coordinate named by a word has the place of that word in the vocabulary, from 0 on.
"""

from __future__ import annotations

FRACTION_OF_EPOCH = 40
"""`Epoch 3 [50/632]`."""
BATCHES_OF_EPOCH = 45
"""`epoch 3 | 200/2983 batches`."""
STEP_KIND_VALUE = 50
"""`0 train 11.22`."""
HEAD = 60
"""`[3/20][100/600] loss: 2.1`, `[1, 2000] loss: 2.1`, `3epoch:train: loss=2.1`."""
BRACKETED_HEAD = 65
"""`[100] train-rmse:0.5`."""
NUMBERED_HEAD = 70
"""`12: loss 2.1`."""
STEP_BEFORE_VALUE = 80
"""`Train loss 1200 0.523`."""
ENDLESS_BAR = 90
"""`29948it [35:34, 7.00s/it]`."""

BROKEN_EPOCH_PENALTY = 50
"""An epoch of 0.02 is rounded: any whole coordinate locates better."""
