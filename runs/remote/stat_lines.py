"""One line of `stat` or `ls` from over there, and the file that it speaks of."""

from __future__ import annotations

import calendar
import re
import stat
import time
from dataclasses import dataclass

from .far_numbers import LATEST_TIME, whole_number

_STAT = re.compile(rb"([0-9A-Fa-f]{1,8}) (\d{1,20}) (-?\d{1,18})(?:\.\d+)? (-?\d{1,20}) (\d{1,20})")
_LS = re.compile(
    rb" *(?P<inode>\d{1,20}) +(?P<type>[-bcdlpsD])\S+ +\d+ +\S+ +\S+ +"
    rb"(?:\d+, *)?(?P<size>\d{1,20}) +(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) +"
    rb"(?:(?P<hour>\d\d):(?P<minute>\d\d)|(?P<year>\d{4}))(?: .*)?",
    re.DOTALL,
)
_TYPES = {
    b"-": stat.S_IFREG,
    b"d": stat.S_IFDIR,
    b"l": stat.S_IFLNK,
    b"p": stat.S_IFIFO,
    b"s": stat.S_IFSOCK,
    b"b": stat.S_IFBLK,
    b"c": stat.S_IFCHR,
}
_MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a file over there."""

    mode: int
    size: int
    modified: int
    """Seconds since 1970 by the clock over there."""
    device: int
    inode: int
    is_link: bool = False
    """True if a link was followed to get here."""

    @property
    def is_file(self) -> bool:
        """True for a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        """True for a directory."""
        return stat.S_ISDIR(self.mode)

    @property
    def identity(self) -> tuple[int, int]:
        """The same for two names of one file."""
        return self.device, self.inode


def read_line(line: bytes, now: float) -> Entry | None:
    """The file of a line; None if it is gone or the line cannot be read."""
    if plain := _STAT.fullmatch(line):
        size = whole_number(plain[2])
        modified, device, inode = (int(plain[field]) for field in range(3, 6))
        mode = int(plain[1], 16)
        return None if size is None else Entry(mode, size, _possible(modified), device, inode)
    listed = _LS.fullmatch(line)
    size = None if listed is None else whole_number(listed["size"])
    if listed is None or size is None:
        return None
    mode = _TYPES.get(listed["type"], 0)
    return Entry(mode, size, _possible(_moment(listed, now)), 0, int(listed["inode"]))


def _possible(modified: int) -> int:
    """A time that calendars and file systems can hold."""
    return min(max(modified, 0), LATEST_TIME)


def _moment(listed: re.Match[bytes], now: float) -> int:
    """When it was changed, to the minute, or to the day for what is older than half a year."""
    if listed["month"] not in _MONTHS or listed["year"] == b"0000":
        return 0
    month, day = _MONTHS.index(listed["month"]) + 1, int(listed["day"])
    if listed["year"]:
        return calendar.timegm((int(listed["year"]), month, day, 0, 0, 0))
    year = time.gmtime(now).tm_year
    clock = int(listed["hour"]), int(listed["minute"]), 0
    moment = calendar.timegm((year, month, day, *clock))
    # A day is allowed for clocks that differ.
    return moment if moment <= now + _DAY else calendar.timegm((year - 1, month, day, *clock))
