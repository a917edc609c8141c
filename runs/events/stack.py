"""The grammar of Python tracebacks: frames, exception lines, what belongs to a message."""

from __future__ import annotations

import re

from ..event import EventKind, Frame

HEADER = re.compile(r"(?:Exception Group |Original )?Traceback \(most recent call")
CHAIN = re.compile(
    r"During handling of the above exception, another exception occurred"
    r"|The above exception was the direct cause of the following exception"
)
_FRAME = re.compile(
    r'^(?:> ?)?File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9})'
    r"(?:,? in (?P<function>.{1,300}))?"
)
_RICH_FRAME = re.compile(
    r"^[│┃|] (?P<file>\S{1,1000}\.\w{1,4}):(?P<line>\d{1,9}) in (?P<function>\S{1,200})"
)
_RAISED = re.compile(
    r"^(?P<type>[A-Za-z_][\w.]{0,200})(?: \([^()\n]{0,60}traceback[^()\n]{0,40}\)(?=:))?"
    r"(?:: ?(?P<message>.*)|:?\s*$)",
    re.DOTALL,
)
_SUFFIX = re.compile(
    r"(?:Error|Exception|Interrupt|Exit|Warning|Iteration|Failure|Fault|Abort|Timeout|Group"
    r"|Cancelled|Empty|Full|Invalid|Stop\w*)$"
)
_DOTTED = re.compile(
    r"^(?:[a-z_]\w{0,80}\.){1,10}(?:error|timeout|(?:[A-Z]\w{0,80})?(?:NotFound|BadZip[Ff]ile|"
    r"OutOfResources|OutOfMemory|DoesNotExist|Conflict|Mismatch|Denied|Expired|Refused|Required))$"
)
"""Types that only the module in front of them gives away."""
_NOT_A_TYPE = re.compile(
    r"(?:Epoch|Step|Iter|Iteration|Loss|Train|Test|Val|Validation|Rank|Batch|Time|Accuracy|Acc|Lr"
    r"|Warning|Info|Note|Namespace|Config)$"
)
_DOUBLED = re.compile(r"([A-Za-z_][\w.]{4,80}?[A-Za-z_])\1+")
_TORN = re.compile(r"^[\w.]{1,400}(?=:)")
_LOG_LINE = re.compile(
    r"""
    ^\s*(?:
        \[?\d{4}[-/]\d\d[-/]\d\d | \[?\d\d[-/]\d\d[ /-] | \[?\d\d:\d\d:\d\d
      | \[?[IWEF]\d{3,4}\ \d\d: | \[?(?:INFO|DEBUG|WARNING|WARN|ERROR|CRITICAL)\b
      | wandb: | srun: | slurmstepd | \[NeMo | \[rank | [={*_#-]{4,} | \{["'] | :::MLP
      | (?:[Ee]poch|EPOCH|[Ii]ter(?:ation)?|[Ss]tep|s:|tick)\b[\s:#\[]*\d
    )
    | \d{1,3}%\|[^|]*\| | (?:it/s|s/it)[\],] | \bloss[\w/]*['"]?\s*[:=]\s*['"]?[-\d]
    """,
    re.VERBOSE,
)
_EXPLANATION = re.compile(
    r"^(?:CUDA kernel errors|For debugging consider|Compile with `?TORCH|Device-side assert"
    r"|Search for `|nccl\w+:|Last error:|Original error|\[Errno|Exception raised from"
    r"|frame #\d|Parameter ind"
    r"|In addition, you can|loss_dict = |size mismatch for|Missing key|Unexpected key"
    r"|Detected at node|\(\d+\) )"
)
_DIGIT = re.compile(r"\d")
_OOM = re.compile(r"out of memory|OOM when allocating|can't allocate memory|Unable to allocate")
_OOM_TYPE = re.compile(r"(?:OutOfMemory|ResourceExhausted|^Memory|\.Memory)Error$")
_KERNEL = re.compile(r"out of resources?: .{0,80}Hardware limit")
"""What one block of a kernel may have on a device, not the device's memory."""
_NCCL = re.compile(r"\bNCCL\b|\bnccl[A-Z]|[Cc]ollective operation timeout")


def parse_frame(text: str) -> Frame | None:
    """The frame a line of a traceback describes, if it describes one."""
    found = _FRAME.match(text.lstrip()) or _RICH_FRAME.match(text.strip())
    if found is None:
        return None
    function = (found["function"] or "").strip()
    return Frame(found["file"], int(found["line"]), function)


def parse_raised(text: str, *, is_after_stack: bool) -> tuple[str, str] | None:
    """Type and message if a line names the exception that was raised."""
    if (torn := _TORN.match(text)) and _DOUBLED.search(torn[0]):
        kind = _DOUBLED.sub(r"\1", torn[0]).replace("..", ".")
        text = f"{kind}: {undouble(text[torn.end() :].lstrip(': '))}"
    found = _RAISED.match(text)
    if found is None:
        return None
    kind, message = found["type"], (found["message"] or "").strip()
    last = kind.rpartition(".")[2]
    if _SUFFIX.search(last):
        return (kind, message) if last != "Warning" else None
    if message and _DOTTED.match(kind):
        return kind, message
    is_class_like = last[:1].isupper() and not last.isupper() and not _NOT_A_TYPE.match(last)
    if is_after_stack and (is_class_like or "." in kind.strip(".")) and not _LOG_LINE.match(text):
        return kind, message
    return None


def undouble(text: str) -> str:
    """Half of a text that two processes wrote at the same time."""
    half, rest = divmod(len(text), 2)
    return text[:half] if not rest and text[:half] == text[half:] else text


def is_bar(text: str) -> bool:
    """Whether a line is a progress bar."""
    return "%|" in text or "it/s]" in text or "s/it]" in text


def is_log_line(text: str) -> bool:
    """Whether a line was surely written by something other than the traceback."""
    return _LOG_LINE.search(text[:2000]) is not None


def continues_message(previous: str, text: str) -> bool:
    """Whether a line goes on with an exception's message.

    Lines with numbers may be the next metrics, so they need a reason to belong here.
    """
    if is_log_line(text):
        return False
    if text.startswith(("\t", "  ")) or _EXPLANATION.match(text):
        return True
    end = previous.rstrip()[-1:]
    if end in (":", ",", "(", "[", "{", "\\") or _is_open(previous):
        return True
    return sum(map(str.isalpha, text[:500])) >= 12 and " " in text and not _DIGIT.search(text)


def _is_open(text: str) -> bool:
    tail = text[-4000:]
    return any(tail.count(a) > tail.count(b) for a, b in ("()", "[]", "{}"))


def kind_of(exception: str, message: str) -> EventKind:
    """OOM or NCCL where the exception says so, else EXCEPTION."""
    head = message[:2000]
    if _KERNEL.search(head):
        return EventKind.EXCEPTION
    if _OOM_TYPE.search(exception) or _OOM.search(head):
        return EventKind.OOM
    return EventKind.NCCL if _NCCL.search(head) else EventKind.EXCEPTION
