"""Hosts and users where the text says that they are some."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .common_words import COMMON, is_pseudonym
from .host_names import FQDN, HERE, NODE, is_domain_name, is_hostlike
from .pseudonyms import Pseudonyms

_NAME = r"(?P<host>[A-Za-z][A-Za-z0-9.-]{0,80})"
_SAID = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:MASTER_ADDR|HOSTNAME|HOST|SLURMD_NODENAME|SLURM_SUBMIT_HOST|BatchHost|AllocNode"
        rf"|NodeName|NodeHostName|NodeAddr)[\"']?[ ]?[=:][ ]?[\"']?{_NAME}",
        rf"\b(?:master[_-]addr|rdzv[_-]endpoint|host_?name)[\"']?[ \t]{{0,20}}[ =:]"
        rf"[ \t]{{0,4}}[\"']?{_NAME}",
        rf"\*\*\* (?:JOB|STEP) [\d._+]{{1,30}} ON {_NAME}",
        rf"\b(?:srun|slurmstepd): error: {_NAME}(?=: tasks? )",
        rf"\b(?:srun|salloc|sbatch)\b[^\n]{{0,80}}? -w[ =]{_NAME}",
        rf"(?:^|(?<=[\n \t])){_NAME}(?=:\d{{2,8}}:\d{{2,8}} \[\d{{1,3}}\])",
        rf"(?:^|(?<=\n)|(?<=[$%>#+] ))ssh(?: -[A-Za-z]{{1,4}}(?: \d{{1,5}})?){{0,4}} {_NAME}",
    )
)
_SAID_IF_HOSTLIKE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?i:host|node|server|machine)[\"']?[ \t]{{0,20}}[=:][ \t]{{0,4}}[\"']?{_NAME}",
        rf"\b(?i:ssh|on|host|node|machine|server|from){{1}} {_NAME}",
        rf"\[{_NAME}(?=:\d{{3,8}}\])",
        rf"(?<![\w./-]){_NAME}(?=:(?:~|/[A-Za-z]))",
        rf"\({_NAME}(?=, \d{{2,5}}\))",
    )
)
_NODE_LIST = re.compile(
    r"(?<![\w\[-])(?P<stem>[A-Za-z][A-Za-z0-9-]{0,40})\[(?P<numbers>\d[\d,-]{0,200})\]"
)
_LIST_CONTEXT = re.compile(r"(?i:node_?list|nodes|hosts)[\"']?[ ]?[=:][ ]?[\"']?\S{0,200}\Z")
_LISTED = re.compile(r"(?i:node_?list)[\"']?[ ]?[=:][ ]?[\"']?(?P<names>[\w.,-]{1,2000})")
_MOST_EXPANDED = 512


def replace_hosts(text: str, names: Pseudonyms) -> str:
    """Replace hosts that the text names as such, and learn their names."""
    text = _NODE_LIST.sub(lambda found: _node_list(found, names), text)
    for found in _LISTED.finditer(text):
        for name in found["names"].split(","):
            names.know_host(name)
    for pattern in _SAID:
        text = pattern.sub(lambda found: _said(found, names, is_sure=True), text)
    for pattern in _SAID_IF_HOSTLIKE:
        text = pattern.sub(lambda found: _said(found, names, is_sure=False), text)
    text = FQDN.sub(lambda found: _domain(found, names), text)
    return NODE.sub(lambda found: names.host(found.group()), text)


def _said(found: re.Match[str], names: Pseudonyms, *, is_sure: bool) -> str:
    name = found["host"].rstrip(".-")
    is_host = is_hostlike(name) or is_domain_name(name)
    is_word = name.lower() in COMMON or is_pseudonym(name) or HERE.fullmatch(name)
    if is_word or not (is_host or (is_sure and "." not in name)):
        return found.group()
    at = found.start("host") - found.start()
    whole = found.group()
    return whole[:at] + names.host(name) + whole[at + len(name) :]


def _domain(found: re.Match[str], names: Pseudonyms) -> str:
    name = found.group().rstrip(".")
    return names.host(name) if is_domain_name(name) else found.group()


def _node_list(found: re.Match[str], names: Pseudonyms) -> str:
    """`gpu-[01-03]` becomes `host-[1-3]`; each node keeps its own number."""
    stem, numbers = found["stem"], found["numbers"]
    is_list = _LIST_CONTEXT.search(found.string[max(0, found.start() - 240) : found.start()])
    is_padded = re.search(r"(?:^|[,-])0\d", numbers) is not None
    if stem.startswith(("host-", "user-")) or not (is_list or stem.endswith("-") or is_padded):
        return found.group()
    called = [names.host(stem + number) for number in _expanded(numbers)]
    return f"host-[{_ranges([int(name.partition('-')[2]) for name in called])}]"


def _expanded(numbers: str) -> Iterator[str]:
    count = 0
    for part in numbers.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal():
            continue
        end = int(last) if last.isdecimal() else int(first)
        for number in range(int(first), end + 1):
            if count == _MOST_EXPANDED:
                return
            count += 1
            yield str(number).zfill(len(first))


def _ranges(numbers: list[int]) -> str:
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
