"""read_config: the settings that a run was made with."""

from __future__ import annotations

import difflib

from pydantic import Field

from ..artifacts import ArtifactError
from .settings_rows import flat_settings
from .tool import Arguments, Bench, Page, Row, Tool
from .wording import plural

_FEW = 5


class ReadConfig(Arguments):
    """Which settings are wanted."""

    run: str | None = Field(None, description="Name of the run; not needed if there is only one.")
    key: str | None = Field(
        None,
        description="One key, with dots between its levels (`optimizer.lr`), the beginning of "
        "some (`optimizer`), or a word in them (`warmup`). Leave it out to see all settings.",
    )


def work(bench: Bench, wish: ReadConfig) -> Page:
    """The settings, a key and its value a row."""
    called, run = bench.run(wish.run)
    # As a mapping: a key that names a secret tells about its value, whatever that looks like.
    settings = flat_settings(bench.masker.clean_value(run.config))
    if not settings:
        raise ArtifactError(
            f"no settings of {called} are known", hint="look for them in the head of its log"
        )
    found = settings if wish.key is None else _matching(settings, wish.key)
    if not found:
        close = difflib.get_close_matches(wish.key or "", settings, _FEW, 0.4)
        hint = f"the closest keys: {', '.join(close)}" if close else "leave out the key to see all"
        raise ArtifactError(f"{called} has no setting {wish.key!r}", hint=hint)
    asked = f" {wish.key}" if wish.key else ""
    return Page(
        brief=f"settings{asked} of {called}: {plural(len(found), 'key')}",
        head=f"{plural(len(found), 'setting')} of {called}, from its files and its log.",
        rows=[Row(f"{key} = {value}") for key, value in found.items()],
        about={"run": called, "what": "settings"},
        rest="ask for a key, or for the beginning of some",
    )


def _matching(settings: dict[str, str], key: str) -> dict[str, str]:
    """The key itself, what is below it, or what has it in its name."""
    bare = key.removeprefix("config:")
    if bare in settings:
        return {bare: settings[bare]}
    below = {k: v for k, v in settings.items() if k.startswith(f"{bare}.")}
    if below:
        return below
    word = bare.casefold()
    ends = {k: v for k, v in settings.items() if k.casefold().rpartition(".")[2] == word}
    return ends or {k: v for k, v in settings.items() if word and word in k.casefold()}


READ_CONFIG = Tool(
    "read_config",
    "Read the settings of a run, from its config files and from what its log prints at the start: "
    "one `key = value` a row. Cite a setting by the key as it stands here.",
    ReadConfig,
    work,
    reads_runs=True,
)
