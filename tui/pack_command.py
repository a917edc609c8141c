"""The command `pack`: what is known about runs, as text for any assistant or colleague."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mltd.diagnosis.pack import EvidencePack

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

FEWEST_TOKENS = 1_000
MOST_TOKENS = 500_000
DEFAULT_TOKENS = 20_000


def add_parser(commands: Commands) -> None:
    """The options of the command."""
    pack = commands.add_parser(
        "pack", help="write the evidence about runs as text, for any assistant or colleague"
    )
    pack.add_argument("what", nargs="+", metavar="WHAT")
    pack.add_argument("-o", "--output", metavar="FILE", help="write it there, for you alone (0600)")
    pack.add_argument(
        "--tokens", type=int, default=DEFAULT_TOKENS, metavar="N",
        help=f"how much of it, in estimated tokens ({DEFAULT_TOKENS:,} without this)",
    )  # fmt: skip
    pack.add_argument(
        "--source", action="append", default=[], metavar="DIR",
        help="a folder of code whose lines a traceback may show; can be given several times",
    )  # fmt: skip
    pack.add_argument("--redact", action="store_true", help="hide users, hosts and paths")
    pack.add_argument("--force", action="store_true", help="overwrite a file that is there")


def run(options: argparse.Namespace) -> int:
    """Write the pack; 0, or 2 if some of the input could not be used."""
    import sys

    from mltd.diagnosis.settings import load
    from mltd.runs.errors import InputError
    from mltd.runs.name_text import escape_undecodable
    from mltd.sessions.report import check_target

    from .complaint import UNUSABLE
    from .output_file import PRIVATE, write_output
    from .pack_material import gather_material

    if not FEWEST_TOKENS <= options.tokens <= MOST_TOKENS:
        raise InputError(
            f"{options.tokens:,} tokens make no pack",
            hint=f"give --tokens a number from {FEWEST_TOKENS:,} to {MOST_TOKENS:,}",
        )
    sources = load(sources=options.source).sources
    is_file = options.output not in (None, "-")
    if is_file:
        check_target(options.output, options.force)
    gathered = gather_material(options.what, redact=options.redact, sources=sources)
    from mltd.diagnosis.pack import build_pack

    pack = build_pack(gathered.material, budget_tokens=options.tokens, masker=gathered.masker)
    data = escape_undecodable(pack.text).encode()
    if is_file:
        written = write_output(
            options.output,
            lambda file: file.write(data),
            force=options.force,
            evidence=gathered.paths,
            mode=PRIVATE,
        )
        where = f"wrote {written}"
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        where = "this is a pack"
    _tell(where, pack)
    return UNUSABLE if gathered.has_unusable else 0


def _tell(where: str, pack: EvidencePack) -> None:
    import sys

    from .escaping import printable

    masked = ", ".join(f"{count} {kind}" for kind, count in pack.redactions.items())
    parts = [
        f"{where}: about {pack.tokens:,} tokens",
        f"masked: {masked}" if masked else "nothing had to be masked",
        f"{len(pack.left_out)} parts did not fit" if pack.left_out else "everything fitted",
    ]
    sys.stderr.write(f"mltd-tui: {printable('; '.join(parts))}\n")
