"""What a line of code that takes a variance takes it over, by the names in it."""

from __future__ import annotations

import re

OF_A_HEAD = re.compile(
    r"halt|head|ponder|gate|group|q_|logit|score|router|expert|attn|reward|return|advantage|mask|"
    r"steps?\b|prob",
    re.IGNORECASE,
)
OF_THE_BATCH = re.compile(r"batch|adv|return|loss|normali[sz]e|dim\s*=\s*0|\(0\)", re.IGNORECASE)
