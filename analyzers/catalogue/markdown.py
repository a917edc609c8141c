"""The catalogue as one Markdown document."""

from __future__ import annotations

from collections.abc import Iterator

from .catalogue import Entry, by_family
from .page import EXAMPLES

INTRODUCTION = """\
# Catalogue

Every finding (a symptom that a run shows) and every root cause (what may be behind it) that
`mltd-tui` knows. `mltd-tui explain ID` prints one page. This file is made from the modules
themselves by `make catalogue`; a test executes every example through the whole pipeline.

An example is a run in one line: `train/loss: 4>2~0.05*300` is a training loss that falls from 4 to
2 over 300 steps with noise of 0.05; `log:` gives lines of a log, separated by ` | `; `config:`
gives settings, `job:` what the scheduler says about the run's job; `checkpoint:` gives tensors with
their shapes and the root mean square of their values, for findings that only `inspect` makes.
"""


def render_catalogue() -> str:
    """Our own pages; third parties document theirs."""
    families = [
        (title, [entry for entry in found if entry.is_ours]) for title, found in by_family()
    ]
    lines = [INTRODUCTION]
    for title, found in families:
        if found:
            ids = ", ".join(f"[`{e.page.id}`](#{_anchor(e)})" for e in found)
            lines.append(f"- **{title}** ({len(found)}): {ids}")
    for title, found in families:
        if found:
            lines += ["", f"## {title}"]
        for entry in found:
            lines += ["", *_page(entry)]
    return "\n".join(lines) + "\n"


def _page(entry: Entry) -> Iterator[str]:
    yield f'<a id="{_anchor(entry)}"></a>'
    yield f"### {entry.page.id}"
    yield ""
    yield _sentence(entry.page.summary)
    for heading, content in entry.page.sections.items():
        yield ""
        if heading in EXAMPLES:
            yield f"**{heading}**"
            yield ""
            yield "```text"
            yield from content
            yield "```"
        else:
            yield f"**{heading}.** {_sentence(' '.join(content))}"


def _anchor(entry: Entry) -> str:
    return f"{entry.kind.replace(' ', '-')}-{entry.page.id}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
