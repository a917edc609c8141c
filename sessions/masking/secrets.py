"""Keys, tokens, passwords and signed URLs masked; everything else as it was."""

from __future__ import annotations

import re

from .assignments import mask_assignments
from .blocks import mask_blocks
from .calls import mask_calls
from .documents import mask_documents
from .headers import mask_headers
from .phrases import mask_phrases
from .shapes import mask_shapes
from .spread import mask_spread
from .urls import mask_urls

_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters without width: inside a secret they only keep it from being recognised."""
_BEGIN = "[masked: "
_MASKS = (
    mask_blocks,
    mask_shapes,
    mask_urls,
    mask_documents,
    mask_headers,
    mask_calls,
    mask_phrases,
    mask_spread,
    mask_assignments,
)


def mask_secrets(text: str) -> str:
    """The text with each secret replaced by `[masked: kind]`."""
    masked = _mask(text)
    if text.isascii() or not _INVISIBLE.search(text):
        return masked
    bare = _INVISIBLE.sub("", text)
    whole = _mask(bare)
    if whole.count(_BEGIN) < masked.count(_BEGIN):
        # Without them a secret has grown together with the word before it.
        bare = _INVISIBLE.sub("", masked)
        whole = _mask(bare)
    return whole if whole != bare else masked


def _mask(text: str) -> str:
    for mask in _MASKS:
        text = mask(text)
    return text
