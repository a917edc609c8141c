"""Hardware: accelerators by name, number and memory, processes, nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mltd.analyzers.core.settings_lookup import Setting
from mltd.runs.roles import normalise

from ..model.constraints import Fact
from .lines import Line, by_file
from .material import Material, Piece, fact_of, from_line, from_setting, tidy

NEEDLES = (
    b"nvidia", b"tesla", b"geforce", b"quadro", b"cuda:", b"cuda capacity", b"instinct",
    b"mib /", b"gpu 0", b"gpu available", b"cuda available", b"cuda_visible_devices",
    b"total memory =", b"world size", b"world_size", b"nproc_per", b"nproc-per", b"gpus=",
    b"gpus:", b"gpus =", b"--gres", b"num gpus", b"number of gpus", b"slurm_nnodes",
    b"slurm_job_num_nodes", b"nodelist=", b"executed on host", b"distributed processes",
    b"gpus-per-node", b"total capacity", b", name: ", b"process rank:", b"#bsub", b"-sxm", b"-pcie",
    b"xa100", b"x a100", b"xh100", b"x h100", b"xh200", b"x h200", b"xv100", b"x v100", b"xb200",
    b"x b200", b"a100 x", b"h100 x", b"h200 x", b"v100 x", b"tpu v", b"device: cpu", b"device=cpu",
    b"device cpu", b"using cpu", b"on cpu",
)  # fmt: skip

_BRAND = r"(?:NVIDIA|Tesla|GeForce|Quadro|TITAN|AMD Instinct)"
_MODEL = rf"{_BRAND} (?=[\w -]*\d)[A-Za-z0-9][\w. -]{{0,40}}?"
_SMI_ROW = re.compile(
    rf"^\| {{1,8}}(?P<index>\d{{1,3}}) +(?P<name>(?:{_BRAND}|[A-Z][\w-]{{1,30}})[^|]{{0,40}}?)"
    r" {1,20}(?:On|Off|N/A) {0,8}\| {0,20}[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:"
)
_SMI_MEMORY = re.compile(r"\|\s*\d+MiB\s*/\s*(?P<mib>\d{1,9})MiB\s*\|")
_LISTED = re.compile(rf"\bGPU (?P<index>\d+(?:,\d+)*): (?P<name>{_MODEL})(?=\s*(?:\(UUID|$))")
_RANKED = re.compile(
    r"\brank\s+(?P<index>\d{1,6}): capabilities = .*?total memory = (?P<memory>[\d.]+ GB)\s*;"
    r"\s*name = (?P<name>[\w .-]+?)\s*$"
)
_SAID = (
    re.compile(rf"CUDA capacity: (?P<name>{_MODEL}) with (?P<memory>[\d.]+ ?[GM]i?B)"),
    re.compile(rf"\bCUDA:(?P<index>\d{{1,6}}) \((?P<name>{_MODEL}), (?P<memory>[\d.]+ ?[GM]i?B)\)"),
    re.compile(rf"device: (?P<index>\d{{1,6}}), name: (?P<name>{_MODEL}), pci bus id"),
    re.compile(rf"^(?:\W*|.*?[\]:>-] )(?:[Uu]sing|[Rr]unning on|[Dd]evice|GPU|[Dd]evice [Nn]ame|"
               rf"GPU [Nn]ame|GPU [Tt]ype)(?: name| device| type| GPU)*(?: ?[:=] ?| on | )"
               rf"(?P<name>{_MODEL})(?=[,;.()\s]*$)"),
)  # fmt: skip
_SERIES = r"(?:[ABHL]\d{1,3}[GS]?|GB200|GH200|[PTV]\d{1,3}S?|MI\d{3}[AX]?|[RG]TX ?A?\d{3,4})"
_FORM = r"(?:[ -](?:SXM\d?|PCI[eE]|NVL|HBM\d?e?|Ti|SUPER|Ada|\d{2,3} ?G[Bi]B?))*"
_MENTIONED = re.compile(
    rf"(?:(?<![\w.])(?P<before>\d{{1,4}}) ?[x×] ?|\b)"
    rf"(?P<name>(?P<brand>{_BRAND} (?:(?:GeForce|Tesla|TITAN|Quadro) )?)?{_SERIES}"
    rf"(?P<form>{_FORM}))"
    rf"(?: ?[x×] ?(?P<after>\d{{1,4}}))?(?![\w/.-]*\w)"
    r"|\b(?P<tpu>TPU v\d\w{0,4}(?:-\d{1,5})?)\b"
)
_SPOKEN_OF = re.compile(
    r"(?i)\b(?:tested|recommend\w*|requires?|required|optimi[sz]ed for|supports?|supported|e\.g\.|"
    r"such as|like an?|trained on|at least|needs?|driver|install\w*|estimat\w*|would|could|if)\b|://"
)
"""Prose about devices, which says nothing about those that are in use."""
_BESIDE = re.compile(r"\b(?:host(?:name)?|node)[ :=]{1,2}(?P<list>[A-Za-z][\w.-]{1,60})")
_CPU = re.compile(
    r"(?i)(?<!\w)device(?: type)? ?[:=] ?['\"]?cpu['\"]?(?=\s*(?:$|,))|"
    r"\b(?:using|running on|training on)(?: the)? cpu(?: device)?[.\s]*$"
)
"""The whole of what is said: advice to use one goes on."""
_WORLD = re.compile(
    r"(?:\busing world size: ?|\bWORLD_SIZE[:=] ?|\bworld[_ ]size ?(?:\.{2,}|[:=]) ?|"
    r"Starting with )(?P<count>\d{1,5})\b(?: processes)?"
)
_PER_NODE = re.compile(r"--nproc[_-]per[_-]node[= ](?P<count>\d{1,3})\b")
_NUM_GPUS = re.compile(
    r"\b(?:Num(?:ber of)? GPUs|n_?gpus)(?: used| available)? ?[:=] ?(?P<n>\d{1,4})\b"
)
_PROCESS = re.compile(r"\b[Pp]rocess rank: (?P<rank>\d{1,6}), device: cuda:\d+")
_VISIBLE = re.compile(r"CUDA_VISIBLE_DEVICES[:=] ?[\[\"']?(?P<list>\d+(?:, ?\d+)*)[\]\"']?(?=\s|$)")
_REQUESTED = re.compile(
    r"--gres[= ](?P<gres>gpu(?::[\w.-]+)?(?::\d+)?)\b|--gpus-per-node[= ](?P<gpus>[\w:]*\d+)\b|"
    r"^#BSUB -gpu \"(?P<lsf>num=\d+)"
)
_REQUESTED_KIND = re.compile(r"^requested (?:gpu:)?(?!(?:gpu|num)\b)[A-Za-z]")
"""A request that says which GPUs: gpu:a100:4."""
_NODES = re.compile(r"\bSLURM_(?:JOB_NUM_NODES|NNODES)=(?P<count>\d{1,6})\b")
_NODE_LIST = re.compile(r"\bSLURM_(?:JOB_)?NODELIST=(?P<list>[\w.,\[\]-]+)")
_LSF_HOST = re.compile(r"executed on host\(s\) <(?P<list>[\w*.,-]+)>")
_NO_GPU = re.compile(
    r"GPU available: (?:False|True[^,]*), used: False|\bCUDA available: False\b", re.IGNORECASE
)
_CAPACITY = re.compile(
    r"\(GPU \d+; (?P<old>[\d.]+ [GM]iB) total capacity|"
    r"GPU \d+ has a total capacity of (?P<new>[\d.]+ [GM]iB)"
)
_NAMED = re.compile(
    rf"{_BRAND}|\b(?:RTX|GTX) ?\d{{3,4}}|\b[AHVLBPT]\d{{1,3}}[A-Z]?\b|\bMI\d{{3}}|\bTPU|\bApple M\d"
)
_COUNTS = {
    "world size": ("world size", ""), "distributed world size": ("world size", ""),
    "num nodes": ("node", ""), "nnodes": ("node", ""), "n nodes": ("node", ""),
    "num gpus": ("GPU", ""), "ngpus": ("GPU", ""), "gpu count": ("GPU", ""),
    "n gpu": ("GPU", " per process"), "gpus per node": ("GPU", " per node"),
    "n gpus per node": ("GPU", " per node"), "num gpus per node": ("GPU", " per node"),
    "nproc per node": ("process", " per node"), "num processes": ("process", ""),
}  # fmt: skip
"""Settings that count something: what, and of what."""


def hardware(material: Material) -> Fact | None:
    """Names and numbers first, then how they are used; without a name it is only half an answer."""
    named = (
        list(_devices(material))
        or list(_named_in_config(material))
        or list(_mentioned(material))
        or list(_without_gpu(material))
    )
    around = [*_memory(material), *_processes(material)] if not named else _processes(material)
    requested = list(_requested(material))
    fact = fact_of([*named, *around, *requested, *_places(material)])
    is_named = bool(named) or any(_REQUESTED_KIND.search(piece.text) for piece in requested)
    return fact if fact is None or is_named else fact.model_copy(update={"is_complete": False})


def _memory(material: Material) -> Iterator[Piece]:
    for line, found in _first(material, _CAPACITY):
        yield from_line(line, found, f"GPU with {found['old'] or found['new']}")


def _without_gpu(material: Material) -> Iterator[Piece]:
    for line, found in _first(material, _NO_GPU):
        yield from_line(line, found, "no GPU in use")
        return
    for setting in material.named("device", "accelerator", "device type"):
        # What is offloaded to the CPU has a device of its own further down.
        if setting.text == "cpu" and "." not in setting.path.removeprefix("trainer."):
            yield from_setting(setting, "CPU only")
            return
    for line, found in _first(material, _CPU):
        yield from_line(line, found, "CPU only")


def _mentioned(material: Material) -> Iterator[Piece]:
    """A device by name somewhere in a line, and the host that the line names beside it."""
    for line, found in material.search(_MENTIONED, _SPOKEN_OF):
        if found["tpu"]:
            yield from_line(line, found, found["tpu"])
            return
        count = int(found["before"] or found["after"] or 1)
        is_counted = bool(found["before"] or found["after"])
        # A100 alone may be a folder or a job; with its make, form or number it is a device.
        if not (found["brand"] or found["form"] or is_counted) or not 1 <= count <= 100_000:
            continue
        yield from_line(line, found, _shown(found["name"], count))
        if host := _BESIDE.search(line.text):
            yield from_line(line, host, f"on {tidy(host['list'], 60)}")
        return


def _devices(material: Material) -> Iterator[Piece]:
    """Devices by name: from a table of all of them, else from what one process says."""
    for read in (_from_smi, _from_list, _from_ranks):
        for _, lines in by_file(material.lines):
            if (piece := read(lines)) is not None:
                yield piece
                return
    for pattern in _SAID:
        hits = list(material.search(pattern))
        if not hits:
            continue
        line, found = hits[0]
        indices = {hit["index"] for _, hit in hits if "index" in hit.re.groupindex}
        memory = found["memory"] if "memory" in found.re.groupindex else ""
        yield from_line(line, found, _shown(found["name"], len(indices), memory))
        return


def _from_smi(lines: list[Line]) -> Piece | None:
    """The first table that `nvidia-smi` printed: what the node has."""
    rows: list[tuple[Line, re.Match[str]]] = []
    memory = ""
    for line in lines:
        if found := _SMI_ROW.search(line.text):
            if rows and int(found["index"]) <= int(rows[-1][1]["index"]):
                break
            rows.append((line, found))
        elif rows and not memory and (size := _SMI_MEMORY.search(line.text)):
            memory = f"{int(size['mib']) / 1024:.0f} GiB"
    if not rows:
        return None
    return from_line(*rows[0], _shown(rows[0][1]["name"], len(rows), memory))


def _from_list(lines: list[Line]) -> Piece | None:
    rows = [(line, found) for line in lines if (found := _LISTED.search(line.text))]
    if not rows:
        return None
    indices = {index for _, found in rows for index in found["index"].split(",")}
    return from_line(*rows[0], _shown(rows[0][1]["name"], len(indices)))


def _from_ranks(lines: list[Line]) -> Piece | None:
    rows = [(line, found) for line in lines if (found := _RANKED.search(line.text))]
    if not rows:
        return None
    ranks = {found["index"] for _, found in rows}
    return from_line(*rows[0], _shown(rows[0][1]["name"], len(ranks), rows[0][1]["memory"]))


def _shown(name: str, count: int = 1, memory: str = "") -> str:
    times = f"{count}x " if count > 1 else ""
    amount = f", {memory} each" if memory and count > 1 else f", {memory}" if memory else ""
    return f"{times}{tidy(name, 60)}{amount}"


def _named_in_config(material: Material) -> Iterator[Piece]:
    """What a tracker wrote down about the machine."""
    for setting in material.named("gpu", "gpu name", "gpu type", "device name", "accelerator name"):
        if isinstance(setting.value, str) and _NAMED.search(setting.value):
            yield from_setting(setting, tidy(setting.value, 60))
            return


def _processes(material: Material) -> Iterator[Piece]:
    stated: dict[tuple[str, str], Setting] = {}
    for setting in material.named(*_COUNTS):
        number = setting.number
        if number is not None and 1 <= number <= 100_000 and number.is_integer():
            stated.setdefault(_COUNTS[normalise(setting.path.rpartition(".")[2])], setting)
    for (noun, of_what), setting in stated.items():
        yield from_setting(setting, _counted(setting.number or 0, noun) + of_what)
    if ("world size", "") not in stated:
        for line, found in _first(material, _WORLD):
            yield from_line(line, found, _counted(int(found["count"]), "world size"))
    ranks = {found["rank"]: (line, found) for line, found in material.search(_PROCESS)}
    if len(ranks) > 1:
        yield from_line(*next(iter(ranks.values())), f"{len(ranks)} processes, a GPU each")
    for line, found in _first(material, _PER_NODE):
        yield from_line(line, found, _counted(int(found["count"]), "process") + " per node")
    for line, found in _first(material, _NUM_GPUS):
        yield from_line(line, found, _counted(int(found["n"]), "GPU"))
    for line, found in _first(material, _VISIBLE):
        yield from_line(line, found, f"{_counted(found['list'].count(',') + 1, 'GPU')} visible")


def _counted(number: float, noun: str) -> str:
    """8 GPUs, 1 node, world size 64."""
    if noun == "world size":
        return f"world size {number:.0f}"
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:.0f} {noun}{ending}"


def _requested(material: Material) -> Iterator[Piece]:
    for line, found in _first(material, _REQUESTED):
        yield from_line(line, found, f"requested {found['gres'] or found['gpus'] or found['lsf']}")


def _places(material: Material) -> Iterator[Piece]:
    for line, found in _first(material, _NODES):
        yield from_line(line, found, _counted(int(found["count"]), "node"))
    for pattern in (_NODE_LIST, _LSF_HOST):
        for line, found in _first(material, pattern):
            yield from_line(line, found, f"on {tidy(found['list'], 60)}")


def _first(material: Material, pattern: re.Pattern[str]) -> list[tuple[Line, re.Match[str]]]:
    hit = next(material.search(pattern), None)
    return [hit] if hit is not None else []
