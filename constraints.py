"""Renew constraints.txt, and select from it what one target of the Makefile installs.

`python constraints.py renew` resolves all extras with the versions that are pinned now and
writes the file anew, with a hash for every file that a contributor may be given.
`python constraints.py select claude zstd` prints the pins that those extras need, but for torch.
`python constraints.py only torch` prints one pin, `version torch` prints it without hashes.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
FILE = ROOT / "constraints.txt"
BUILD_TOOL = "hatchling"
"""Installed with every selection: it builds the project itself."""
_ACCELERATORS = re.compile(r"(?:nvidia|cuda)-|triton\Z|intel-|pytorch-triton")
"""Brought by builds of torch for a GPU, which pins them itself; none is needed or tested here."""
_BUILT_TWICE = frozenset({"torch"})
"""One version has several builds: given hashes, pip never prefers one from a local folder."""
_UNUSABLE = re.compile(
    r"-(?:pp\d+|cp2\d+|cp3\d|cp310|py2)-"  # other interpreters than CPython from 3.11 on
    r"|[-_.](?:win32|win_amd64|win_arm64|win_ia64)\b"
    r"|-(?:ios|android|pyodide|emscripten|wasm)\w*|\.(?:exe|msi|egg|rpm|asc|metadata)\Z",
    re.ASCII,
)
"""Files that no supported system can install. `cp39-abi3` is kept: it serves later versions."""
_PIN = re.compile(r"^([A-Za-z0-9]\S*==\S+)((?:.*\\\n)*.*\n(?:[ ]+#.*\n)?)", re.MULTILINE)
_NEED = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[(?P<extras>[^]]*)\])?", re.ASCII)
_FOR_EXTRA = re.compile(r"extra == [\"']([\w.-]+)[\"']")
_STABLE_ABI = re.compile(r"-cp3\d+-abi3-")


class Pin(NamedTuple):
    """One package as it stands in the file."""

    name: str
    version: str
    hashes: tuple[str, ...]
    via: tuple[str, ...]
    """Who needs it: other packages, or an extra of ours in brackets."""

    def lines(self) -> str:
        """The pin as the file has it."""
        hashed = "".join(f" \\\n    --hash=sha256:{one}" for one in self.hashes)
        return f"{self.name}=={self.version}{hashed}\n    # via {', '.join(self.via)}\n"


def canonical(name: str) -> str:
    """The name that is the same for every spelling of a package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement: str) -> str:
    """The package that a requirement is about."""
    found = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
    return canonical(found.group()) if found else ""


def requirements() -> dict[str, list[str]]:
    """What pyproject.toml asks for, by extra; that of the app itself under an empty name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"": [*project["dependencies"], BUILD_TOOL], **project["optional-dependencies"]}


def read_pins(text: str) -> dict[str, Pin]:
    """The pins of the file, by canonical name."""
    pins: dict[str, Pin] = {}
    for head, body in re.findall(
        r"(?m)^([A-Za-z0-9]\S*==\S+)((?:.*\\\n)*.*\n(?:[ ]+#.*\n)?)", text
    ):
        name, _, version = head.partition("==")
        via = re.search(r"# via (.+)", body)
        hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", body))
        needed_by = tuple(via[1].split(", ")) if via else ()
        pins[canonical(name)] = Pin(name, version, hashes, needed_by)
    return pins


def selected(pins: dict[str, Pin], extras: Iterable[str]) -> list[Pin]:
    """All that the app with some extras needs, directly or not."""
    wanted = {"[app]", *(f"[{extra}]" for extra in extras)}
    while more := {name for name, pin in pins.items() if wanted & set(pin.via)} - wanted:
        wanted |= more
    return [pin for name, pin in pins.items() if name in wanted]


def resolved(pins: dict[str, Pin]) -> list[dict[str, Any]]:
    """What pip would install for all extras with the pinned versions: its own report."""
    asked = [one for group in requirements().values() for one in group]
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "plain.txt")
        plain.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in pins.values()))
        command = [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"),
            *("--ignore-installed", "--constraint", str(plain), "--report", "-", *asked),
        ]
        report = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    found: list[dict[str, Any]] = json.loads(report)["install"]
    return found


def needed_by(report: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Who asks for each package, with the extras of other packages that are asked for."""
    needs = {
        canonical(one["metadata"]["name"]): one["metadata"].get("requires_dist", [])
        for one in report
    }
    via: dict[str, set[str]] = {name: set() for name in needs}
    asked: dict[str, set[str]] = {name: set() for name in needs}
    todo = [(f"[{extra or 'app'}]", one) for extra, all_ in requirements().items() for one in all_]
    todo += [(name, one) for name, all_ in needs.items() for one in all_]
    is_new = True
    while is_new:
        is_new = False
        for who, requirement in todo:
            found, extra = _NEED.match(requirement), _FOR_EXTRA.search(requirement)
            name = canonical(found["name"]) if found else ""
            if not found or name not in needs or (extra and extra[1] not in asked.get(who, ())):
                continue
            extras = {one.strip() for one in (found["extras"] or "").split(",")} - {""}
            if who not in via[name] or not extras <= asked[name]:
                is_new = True
                via[name].add(who)
                asked[name] |= extras
    return via


class Sources:
    """Every file of a release that pip can find where it is configured to look."""

    def __init__(self) -> None:
        # pip has no public way to list files for other systems than its own.
        self._collector = import_module("pip._internal.index.collector")
        self._link = import_module("pip._internal.models.link").Link
        command = import_module("pip._internal.commands").create_command("download")
        options, _ = command.parse_args([])
        session = command._build_session(options)
        finder = command._build_package_finder(options, session)
        self._links = finder._link_collector
        self._scope = finder.search_scope

    def hashes(self, name: str, version: str) -> set[str]:
        """The SHA-256 of each file that a supported system can install."""
        files = (link for link in self._files(name) if is_release(link.filename, name, version))
        return {self._hash(link) for link in files if is_usable(link.filename)}

    def _files(self, name: str) -> Iterator[Any]:
        for url in self._scope.get_index_urls_locations(name):
            page = self._links.fetch_response(self._link(url))
            yield from self._collector.parse_links(page) if page is not None else ()
        for folder in self._scope.find_links:
            for path in Path(folder).glob("*") if Path(folder).is_dir() else ():
                yield self._link(path.resolve().as_uri())

    @staticmethod
    def _hash(link: Any) -> str:
        if link.is_file:
            return hashlib.sha256(Path(link.file_path).read_bytes()).hexdigest()
        if link.hash_name != "sha256":
            raise SystemExit(f"the index has no SHA-256 for {link.filename}")
        return str(link.hash)


def is_release(filename: str, name: str, version: str) -> bool:
    """True for a file of that version, or of a local build of it such as `2.13.0+cpu`."""
    stem = re.escape(name).replace(r"\-", "[-_.]+")
    end = r"(?:\+[A-Za-z0-9.]+)?(?:-|\.tar\.gz\Z|\.zip\Z)"
    return re.match(rf"{stem}-{re.escape(version)}{end}", filename, re.IGNORECASE) is not None


def is_usable(filename: str) -> bool:
    """True for a source or a wheel for a supported interpreter and system."""
    bare = _STABLE_ABI.sub("-abi3-", filename)
    return _UNUSABLE.search(bare) is None


def renew() -> None:
    """Write the file anew; its first lines, up to the first empty one, stay."""
    text = FILE.read_text()
    old = read_pins(text)
    report = resolved(old)
    via = needed_by(report)
    sources = Sources()
    pins = []
    for one in report:
        name, version = one["metadata"]["name"], one["metadata"]["version"].partition("+")[0]
        key = canonical(name)
        if _ACCELERATORS.match(key):
            continue
        known = old.get(key)
        # A build that is not found from here, such as torch for CPUs alone, stays known.
        kept = set(known.hashes) if known and known.version == version else set()
        hashes = sources.hashes(key, version) | kept
        if not hashes:
            raise SystemExit(f"no file of {name} {version} was found")
        by = sorted(needer for needer in via[key] if not _ACCELERATORS.match(needer))
        pins.append(Pin(known.name if known else name, version, tuple(sorted(hashes)), tuple(by)))
    pins.sort(key=lambda pin: canonical(pin.name))
    head = text.partition("\n\n")[0]
    FILE.write_text(f"{head}\n\n" + "".join(pin.lines() for pin in pins))


def main(arguments: list[str]) -> None:
    """Do what the first argument says."""
    match arguments:
        case ["renew"]:
            renew()
        case ["select", *extras]:
            pins = selected(read_pins(FILE.read_text()), extras)
            chosen = (pin for pin in pins if canonical(pin.name) not in _BUILT_TWICE)
            sys.stdout.write("".join(pin.lines() for pin in chosen))
        case ["only", name]:
            sys.stdout.write(read_pins(FILE.read_text())[canonical(name)].lines())
        case ["version", name]:
            pin = read_pins(FILE.read_text())[canonical(name)]
            sys.stdout.write(f"{pin.name}=={pin.version}\n")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
