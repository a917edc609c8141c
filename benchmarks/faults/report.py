"""The score as text for a terminal and as Markdown for the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .metrics import Figure, Judged, claims, figures, mean, recall_by_class, reliability
from .truth import Truth

BEGIN, END = "<!-- accuracy:begin -->", "<!-- accuracy:end -->"


def text(judged: Sequence[Judged], split: str, *, misses: bool) -> str:
    """Everything a developer wants to see."""
    lines = [_counts(judged, split), *_broken(judged), ""]
    lines += [_figure_line(one) for one in figures(judged)]
    lines += [
        "",
        "class                        runs found  top1  top3  onset",
        *_class_lines(judged),
    ]
    lines += ["", "false alarms by finding:", *_false_alarms(judged)]
    lines += ["", "alarms on faulty runs beyond the acceptable ones:", *_extras(judged)]
    lines += [
        "",
        "reliability (said, right, count): "
        + "  ".join(f"{a:.2f}>{b:.2f} ({n})" for a, b, n in reliability(claims(judged))),
    ]
    times = [one.seconds for one in judged]
    lines += ["", f"seconds per run: mean {mean(times):.2f}, most {max(times):.2f}"]
    raised = [one for one in judged if one.problem]
    lines += [f"raised: {one.truth.run_id} ({one.truth.kind}): {one.problem}" for one in raised]
    split_up = [one for one in judged if one.runs != 1]
    lines += [
        f"read as {one.runs} runs: {one.truth.run_id} ({one.truth.dialect})" for one in split_up
    ]
    if misses:
        lines += ["", *_misses(judged)]
    return "\n".join(lines)


def _broken(judged: Sequence[Judged]) -> Iterator[str]:
    failures = Counter(problem for one in judged for problem in one.broken)
    if failures:
        yield "ANALYZERS FAILED; these figures are not those of a working program:"
    for problem, count in failures.most_common():
        yield f"  {count} runs: {problem}"


def _counts(judged: Sequence[Judged], split: str) -> str:
    verdicts = Counter(one.truth.verdict for one in judged)
    shown = ", ".join(f"{count} {name}" for name, count in verdicts.most_common())
    return f"split {split}: {len(judged)} runs ({shown})"


def _figure_line(one: Figure) -> str:
    bar = "" if one.bar is None else f"   bar {'<=' if one.is_ceiling else '>='} {one.bar:g}"
    met = {True: "   met", False: "   MISSED", None: ""}[one.is_met]
    return f"{one.name:34s} {one.value:7.3f}  [{one.low:.3f}, {one.high:.3f}]{bar}{met}"


def _class_lines(judged: Sequence[Judged]) -> Iterator[str]:
    for kind, recall in recall_by_class(judged).items():
        own = [one for one in judged if one.truth.kind == kind and one.truth.verdict == "fault"]
        errors = [one.onset_error for one in own if one.onset_error is not None]
        onset = f"{max(errors):5.0f}" if errors else "    -"
        first, three = (
            mean([float(one.names_cause(1)) for one in own]),
            mean([float(one.names_cause(3)) for one in own]),
        )
        yield f"{kind:28s} {len(own):4d} {recall:5.2f} {first:5.2f} {three:5.2f} {onset}"


def _false_alarms(judged: Sequence[Judged]) -> Iterator[str]:
    quiet = [one for one in judged if one.truth.expects_silence]
    ids = Counter(alarm["id"] for one in quiet for alarm in one.findings)
    for name, count in ids.most_common():
        where = [
            f"{one.truth.run_id} ({one.truth.kind})"
            for one in quiet
            if any(alarm["id"] == name for alarm in one.findings)
        ]
        yield f"  {name:22s} {count:3d}  {', '.join(where[:6])}"
    if not ids:
        yield "  none"


def _extras(judged: Sequence[Judged]) -> Iterator[str]:
    extra = Counter(
        (alarm["id"], one.truth.kind)
        for one in judged
        if one.truth.verdict == "fault"
        for alarm in one.findings
        if alarm["id"] not in {*one.truth.findings, *one.truth.also}
    )
    for (name, kind), count in extra.most_common(25):
        yield f"  {name:22s} on {kind:28s} {count:3d}"
    if not extra:
        yield "  none"


def _misses(judged: Sequence[Judged]) -> Iterator[str]:
    for one in judged:
        truth = one.truth
        if truth.verdict != "fault":
            continue
        said = (
            ", ".join(f"{alarm['id']} {alarm['confidence']:.2f}" for alarm in one.findings)
            or "nothing"
        )
        causes = ", ".join(cause["id"] for cause in one.causes[:3]) or "none"
        name = f"{truth.run_id} {truth.kind} ({truth.family}, {truth.dialect})"
        if not one.is_found:
            yield f"missed   {name}: said {said}; causes {causes}"
        elif not one.names_cause(1):
            yield f"cause    {name}: causes {causes}; wanted {', '.join(truth.causes[:1])}"
        error = one.onset_error
        if error is not None and error > 5:
            yield f"onset    {name}: off by {error:.0f} steps (logged every {truth.interval})"
        elif one.is_found and truth.onset is not None and error is None:
            yield f"onset    {name}: no step named, it began at {truth.onset}"


def explain(truth: Truth, document: dict[str, Any]) -> str:
    """The label of one run beside what we say about it."""
    lines = [
        f"{truth.run_id}: {truth.kind}, {truth.verdict}, split {truth.split}",
        f"  {truth.family}, seed {truth.seed}, written as {truth.dialect}",
        f"  expected findings {', '.join(truth.findings) or 'none'}",
        f"  expected causes   {', '.join(truth.causes) or 'none'}",
        f"  onset {truth.onset}, logged every {truth.interval}; effect and bar {truth.effect}",
        f"  logged signals    {', '.join(truth.signals)}",
        "we say:",
    ]
    for one in document["findings"]:
        mark = "+" if one["id"] in truth.findings else "-"
        told = f"{one['id']} {one['confidence']:.2f} from {one['first_step']}: {one['title']}"
        lines.append(f"  {mark} {one['severity']:8s} {told}")
    for place, one in enumerate(document["root_causes"][:5], start=1):
        mark = "+" if one["id"] in truth.causes else "-"
        lines.append(f"  {mark} cause {place}  {one['id']} {one['confidence']:.2f}: {one['issue']}")
    return "\n".join(lines)


def markdown(judged: Sequence[Judged], split: str) -> str:
    """The figures for the documentation, misses named."""
    lines = [
        _counts(judged, split) + ".",
        "",
        "| figure | value | 95 % interval | bar | met |",
        "|---|---|---|---|---|",
    ]
    for one in figures(judged):
        bar = "" if one.bar is None else f"{'≤' if one.is_ceiling else '≥'} {one.bar:g}"
        met = {True: "yes", False: "**no**", None: ""}[one.is_met]
        lines.append(
            f"| {one.name} | {one.value:.3f} | {one.low:.3f} to {one.high:.3f} | {bar} | {met} |"
        )
    lines += [
        "",
        "| fault class | runs | found | cause first | cause in three |",
        "|---|---|---|---|---|",
    ]
    for kind, recall in recall_by_class(judged).items():
        own = [one for one in judged if one.truth.kind == kind and one.truth.verdict == "fault"]
        first, three = (
            mean([float(one.names_cause(1)) for one in own]),
            mean([float(one.names_cause(3)) for one in own]),
        )
        lines.append(f"| {kind} | {len(own)} | {recall:.2f} | {first:.2f} | {three:.2f} |")
    lines += ["", "False alarms:", "", "```text", *_false_alarms(judged), "```"]
    missed = [line for line in _misses(judged) if line.startswith("missed")]
    lines += ["", "Missed:", "", "```text", *(missed or ["none"]), "```"]
    return "\n".join(lines)


def update_file(path: Path, content: str) -> None:
    """Replace what stands between the markers, or append it with markers."""
    old = path.read_text("utf-8") if path.exists() else "# How accurate the diagnosis is\n"
    block = f"{BEGIN}\n{content}\n{END}"
    if BEGIN in old and END in old:
        head, _, rest = old.partition(BEGIN)
        new = head + block + rest.partition(END)[2]
    else:
        new = old.rstrip("\n") + f"\n\n{block}\n"
    path.write_text(new, "utf-8")
