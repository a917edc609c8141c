"""Checkpoints of other machines, copied here by explicit request and removed afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from mltd.analyzers.resources.shortage import shown_bytes
from mltd.runs.errors import InputError
from mltd.runs.remote.address import Address, Host, parse_address
from mltd.runs.remote.direct_link import DirectLink
from mltd.runs.remote.download import check_room, fetch_file, fetch_header, place_empty
from mltd.runs.remote.mirror_root import MirrorRoot

from ..escaping import printable
from ..wording import count
from .far_target import FarTarget, find_far_target
from .meter import Meter
from .target import Target, find_target


@contextmanager
def brought(names: Sequence[str], *, may_fetch: bool, needs_values: bool) -> Iterator[list[Target]]:
    """The checkpoints behind names, as they are here for the length of a `with` block."""
    addresses = [_address(name) for name in names]
    if not any(addresses):
        yield [find_target(name) for name in names]
        return
    # What is wrong with those of this machine is said before anybody has to log in.
    pairs = list(zip(names, addresses, strict=True))
    near = {name: find_target(name) for name, address in pairs if address is None}
    with ExitStack() as stack:
        root = stack.enter_context(MirrorRoot(is_announced=False))
        links: dict[Host, DirectLink] = {}
        far: dict[str, FarTarget] = {}
        for name, address in pairs:
            if address is not None and name not in far:
                link = links.get(address.host) or stack.enter_context(_linked(address.host))
                links[address.host] = link
                far[name] = find_far_target(link, address, needs_values=needs_values)
        _agree(list(far.values()), root, may_fetch)
        for found in far.values():
            _copy(found, root)
        for link in links.values():
            link.hang_up()
        yield [near[name] if name in near else _target(far[name], root) for name in names]


def _address(name: str) -> Address | None:
    if ":" not in name or os.path.lexists(os.path.expanduser(name)):
        return None
    return parse_address(name)


@contextmanager
def _linked(host: Host) -> Iterator[DirectLink]:
    _say(f"connecting to {host.label}")
    with DirectLink(host, is_interactive=sys.stderr.isatty()) as link:
        yield link


def _agree(found: Sequence[FarTarget], root: MirrorRoot, may_fetch: bool) -> None:
    """Have a yes for what is large; `InputError` without one."""
    large = [one for one in found if not one.checkpoint.is_cheap]
    for one in found:
        if one.checkpoint.is_cheap:
            headers = count(len(one.checkpoint.copied), "file")
            _say(f"of {headers} on {one.host.label} only what tells names and shapes is copied")
    if not large:
        return
    size = sum(one.checkpoint.bytes for one in large)
    check_room(root.path, size, shown_bytes(size))
    sentences = "; ".join(map(_sentence, large))
    if may_fetch:
        _say(sentences)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(sentences, hint="say yes to that with --fetch")
    else:
        sys.stderr.write(f"mltd-tui: {printable(sentences)}\nCopy it? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise InputError("nothing was copied", hint="mltd-tui inspect runs over there, too")


def _sentence(one: FarTarget) -> str:
    files = one.checkpoint.whole
    what = "it is copied" if len(files) == 1 else "they are copied"
    return (
        f"{shown_bytes(one.checkpoint.bytes)} in {count(len(files), 'file')} on {one.host.label}; "
        f"{what} to a private folder here, and removed afterwards"
    )


def _copy(found: FarTarget, root: MirrorRoot) -> None:
    checkpoint, link = found.checkpoint, found.link
    place = found.place(root.path)
    with Meter(checkpoint.bytes) as meter:
        for file in checkpoint.copied:
            local = found.place(root.path, file.path)
            if local.exists():
                continue  # two names that lead to one checkpoint
            if file.is_headed:
                fetch_header(link, file, local)
            else:
                fetch_file(link, file, local, meter.add)
    for file in checkpoint.listed:
        local = found.place(root.path, file.path)
        if not local.exists():
            place_empty(file, local)
    if checkpoint.path not in {file.path for file in checkpoint.copied}:
        # A folder in which nothing is worth copying: whoever reads it says why.
        place.mkdir(mode=0o700, parents=True, exist_ok=True)


def _target(found: FarTarget, root: MirrorRoot) -> Target:
    notes = tuple(
        f"{os.path.basename(os.fsdecode(file.path))} ({shown_bytes(file.size)}) was not copied: "
        "without values only headers are"
        for file in found.checkpoint.left_out
    )
    return Target(str(found.place(root.path)), found.said, notes=notes)


def _say(sentence: str) -> None:
    sys.stderr.write(f"mltd-tui: {printable(sentence)}\n")
    sys.stderr.flush()
