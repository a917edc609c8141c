"""Absolute paths, cut down to the parts that say something about the run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .common_words import is_pseudonym, is_telling
from .host_names import NO_HOSTS
from .pseudonyms import Pseudonyms
from .word_set import words

_PART = r"(?:[\w\ufffd.+@%=~#*-]|,(?=\w))"
_POSIX = re.compile(rf"(?:(?<![\w.…/~\]\)}}%$*-])|(?<=\\[nrt])|(?<=-[ILR]))(?:/{_PART}++)++/?")
_QUOTED = re.compile(
    r"(?P<quote>[\"'])(?P<path>(?:/[^\"'/\n]{1,100}){3,30}|[A-Za-z]:(?:\\{1,2}[^\"'\\\n]{1,100}){2,30})"
    r"(?P=quote)"
)
_WINDOWS = re.compile(
    rf"(?<![A-Za-z0-9])[A-Za-z]:(?:(?:\\{{1,2}}|/){_PART}++){{2,60}}|"
    rf"(?<![\\\w])\\\\{{1,3}}[A-Za-z][\w.-]{{2,60}}(?:\\{{1,2}}[\w$.-]{{2,100}}){{2,60}}"
)
_ENDS = re.compile(r"[\w.+-]{1,80}\.[A-Za-z][A-Za-z0-9]{0,9}")
_HOMES = words("home homes Users users user scratch nobackup u linkhome zhome")
_IMPERSONAL = words("workspace app opt usr code src build srv")
_SYSTEM = words("dev proc sys bin sbin etc")
_ROOTS = _HOMES | _IMPERSONAL | words(
    "mnt data work tmp var root gpfs lustre nfs storage project projects export exports share "
    "fast ssd nvme media net local cluster datasets shared Volumes private lib lib64"
)  # fmt: skip
_NO_ROOTS = words(
    "train val valid validation eval test loss metrics s sec second step iter it epoch gpu rank "
    "h hr min day ms token tokens sample samples batch perf or and a"
)
_DATA_SHARES = words("data dataset datasets model models checkpoints software logs runs tools apps")
_PACKAGES = re.compile(r"(?:site|dist)-packages|python\d(?:\.\d+)?")


class PathShortener:
    """Shortens paths, and learns the names of users on the way."""

    def __init__(self, names: Pseudonyms, known_paths: Sequence[str] = ()) -> None:
        self._names = names
        known = {path.rstrip("/\\") for path in known_paths if "://" not in path}
        longest = sorted((p for p in known if re.match(r"/.|[A-Za-z]:[\\/]", p)), key=len)[::-1]
        self._labels = _labels(longest, self)
        union = "|".join(map(re.escape, longest))
        self._known = re.compile(rf"(?<![\w.…/-])(?:{union})(?![\w.-])") if longest else None

    def shorten_all(self, text: str) -> str:
        """Shorten every absolute path in a text."""
        if self._known is not None:
            text = self._known.sub(lambda found: self._labels[found.group()], text)
        if "/" in text or "\\" in text:
            text = _QUOTED.sub(self._quoted, text)
        if "\\" in text or ":/" in text:
            text = _WINDOWS.sub(lambda found: self.shorten(found.group()), text)
        return _POSIX.sub(self._posix, text) if "/" in text else text

    def shorten(self, path: str) -> str:
        """One path: its last one or two parts, or what it is within a package."""
        parts = [part for part in re.split(r"[\\/]+", path) if part]
        if parts and re.fullmatch(r"[A-Za-z]:", parts[0]):
            parts = parts[1:]
        slash = "/" if path[-1] in "\\/" else ""
        packages = [at for at, part in enumerate(parts) if _PACKAGES.fullmatch(part)]
        owner = self._owner(parts)
        if packages and packages[-1] < len(parts) - 1:
            kept = parts[packages[-1] :]
        elif owner is not None and owner == len(parts) - 1:
            kept = [self._names.user(parts[owner])]
        elif owner is not None:
            kept = parts[owner + 1 :][-2:]
        elif path.startswith("\\\\") and _is_of_a_person(parts):
            kept = [self._names.user(parts[-1])]
        else:
            kept = parts[1:][-2:] if parts[0] in _IMPERSONAL and len(parts) > 2 else parts[-1:]
        return "…/" + "/".join(kept) + slash

    def _quoted(self, found: re.Match[str]) -> str:
        path = found["path"]
        if " " not in path or not _looks_like_path([p for p in re.split(r"[\\/]+", path) if p]):
            return found.group()
        return f"{found['quote']}{self.shorten(path)}{found['quote']}"

    def _posix(self, found: re.Match[str]) -> str:
        whole = found.group()
        path = whole.rstrip(".,")
        parts = [part for part in path.split("/") if part]
        if not _looks_like_path(parts) or _is_system(parts):
            return whole
        return self.shorten(path) + whole[len(path) :]

    def _owner(self, parts: list[str]) -> int | None:
        """Where in a path the folder of a user stands; its name is known from then on."""
        for at, part in enumerate(parts[:-1][:5]):
            is_home = part in _HOMES or part.endswith(("scratch", "home"))
            if not is_home:
                continue
            at += 1
            while at < len(parts) - 1 and len(parts[at]) < 3:
                at += 1  # /users/9/jdoe: folders by the first letter, or numbered.
            if parts[at] in _HOMES or (at == len(parts) - 1 and _ENDS.fullmatch(parts[at])):
                continue
            self._names.know_user(parts[at])
            return at
        return None


def _looks_like_path(parts: list[str]) -> bool:
    first = parts[0] if parts else ""
    if not first or first in _NO_ROOTS or not (first[0].isalpha() or first[0] in "._"):
        return False
    return len(parts) > 1 or (first in _ROOTS and first not in ("data", "share", "local"))


def _is_of_a_person(parts: list[str]) -> bool:
    r"""True for `\\server\share\jdoe`: what lies on a share and is not named after data."""
    if len(parts) != 3 or parts[1].lower() in _DATA_SHARES or _ENDS.fullmatch(parts[2]):
        return False
    return is_telling(parts[2]) and not is_pseudonym(parts[2]) and parts[2].lower() not in NO_HOSTS


def _is_system(parts: list[str]) -> bool:
    if parts[0] == "usr":
        return len(parts) > 1 and (parts[1] in _SYSTEM or parts[1:3] == ["local", "bin"])
    return parts[0] in _SYSTEM or parts == ["tmp"]


def _labels(paths: Sequence[str], shortener: PathShortener) -> dict[str, str]:
    """A short name for each known path; two different ones never share theirs."""
    labels: dict[str, str] = {}
    for path in paths:
        short = shortener.shorten(path)
        count = sum(1 for label in labels.values() if label.partition("~")[0] == short)
        labels[path] = f"{short}~{count + 1}" if count else short
    return labels
