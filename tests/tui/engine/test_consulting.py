"""From a run that is followed to a page on the screen, through the real SDK."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mltd.analyzers.core.finding import Evidence, EvidenceKind
from mltd.diagnosis.events import Text, ToolCalled, ToolDone, Usage
from mltd.sessions.model.hypothesis import Hypothesis
from mltd.tui.engine.consult_protocol import (
    Cited,
    Consult,
    FollowUp,
    KeptOpinions,
    OpinionRequest,
)
from mltd.tui.evidence_place import LinePlace, SeriesPlace, place_of
from mltd.tui.run_book import RunBook
from tests.diagnosis.messages_server import MessagesServer, answer, text, texts_of, tool
from tests.diagnosis.second_opinions import (
    BAD_LINE,
    BAD_LINE_NUMBER,
    INVENTED,
    SECRETS,
    submission,
    write_log,
)

from .consult_scene import Scene, cause, lines, point, session_of

# -- packing -----------------------------------------------------------------------------------


def test_a_pack_is_told_and_nothing_is_sent(scene: Scene, server: MessagesServer) -> None:
    packed = scene.pack()
    assert not packed.problem
    assert packed.preview is not None
    host = server.url.removeprefix("http://")
    assert (packed.preview.host, packed.preview.is_redacted) == (host, False)
    assert packed.preview.characters == len(packed.text)
    assert BAD_LINE in packed.text, "what is evidence is quoted from the log"
    assert "nan_loss" in packed.text
    assert not [secret for secret in SECRETS if secret in packed.text]
    assert server.requests == []


def test_a_pack_has_the_runs_of_the_session_and_says_which_are_gone(
    scene: Scene, server: MessagesServer, log: Path, tmp_path: Path
) -> None:
    session = session_of(log, tmp_path / "gone.log")
    packed = scene.pack(session=session, runs=(("R1", 0),))
    assert "R1/train.log" in packed.text
    assert "run R2 (gone.log) of the session is not open" in packed.text


def test_names_are_masked_on_demand(scene: Scene, server: MessagesServer, log: Path) -> None:
    assert str(log.parent) in scene.pack().text
    packed = scene.pack(is_redacted=True)
    assert packed.preview is not None
    assert packed.preview.is_redacted
    assert str(log.parent) not in packed.text


def test_added_folders_of_code_can_be_read(
    scene: Scene, server: MessagesServer, tmp_path: Path
) -> None:
    code = tmp_path / "project"
    code.mkdir()
    (code / "loop.py").write_text("rate = 0.003\n")
    server.script = [answer(tool("read_source", path="project/loop.py")), answer(submission())]
    scene.ask(sources=(str(code),))
    assert "rate = 0.003" in texts_of(server.messages[-1])


# -- asking ------------------------------------------------------------------------------------


def test_both_kinds_of_tools_are_called_on_a_run_that_grows(
    scene: Scene, server: MessagesServer, log: Path
) -> None:
    server.script = [
        answer(
            text("Let me look."),
            tool("query_series", "a", name="lr"),
            tool("read_lines", "b", artifact="run1/train.log", first=-1),
            tool("read_config", "c"),
            tool("grep", "d", artifact="run1/train.log", pattern="loss nan"),
        ),
        answer(submission()),
    ]
    scene.pack()
    scene.grow(log, *(f"step {step} loss nan lr 0.5" for step in range(121, 150)))
    scene.until(lambda: scene.step_of() == 149)
    ended = scene.consult(Consult(1))
    said = texts_of(server.messages[-1])
    looked = texts_of(server.messages[-1][-1:])
    assert "149 points" in looked, "the columns are those of now"
    assert "step 149 loss nan lr 0.5" in said, "so is the file"
    called = [event.name for event in scene.events() if isinstance(event, ToolCalled)]
    assert called == ["query_series", "read_lines", "read_config", "grep"]
    looks = json.loads(ended.body)["looks"]
    assert [look.split()[0] for look in looks] == called
    assert all(" -> " in look for look in looks)


def test_an_opinion_is_checked_and_laid_out(scene: Scene, server: MessagesServer) -> None:
    server.script = [answer(text("Let me look."), submission())]
    ended = scene.ask()
    assert (ended.problem, ended.is_cancelled, ended.question) == ("", False, "")
    assert ended.text == "Let me look."
    assert ended.usage.input == 100
    page = ended.page
    assert page is not None
    assert ended.status == page.status
    assert page.tally == "1 of 2 citations confirmed, 1 wrong"
    (found,) = page.causes
    true, false = found.evidence
    assert (true.verdict, true.ref, true.run) == ("confirmed", f"train.log:{BAD_LINE_NUMBER}", 0)
    assert (false.verdict, false.quote) == ("wrong", INVENTED)
    assert false.reason
    assert found.against == (Cited("words", shows="grad_norm is not logged"),)
    assert (found.said, found.confidence, found.ceiling, found.is_known) == (0.9, 0.9, 0.95, True)
    assert [fix.title for fix in page.fixes] == ["Lower the rate"]
    assert any(stand.subject == "finding" and stand.ours == "nan_loss" for stand in page.stands)


def test_what_happens_is_told_before_the_end_and_nothing_is_lost(
    scene: Scene, server: MessagesServer
) -> None:
    words = "Let me look at this log. " * 20
    server.script = [answer(text(words), tool("findings")), answer(submission())]
    scene.ask()
    events = scene.events()
    assert "".join(event.text for event in events if isinstance(event, Text)) == words
    kinds = [type(event) for event in events]
    assert kinds.index(Text) < kinds.index(ToolCalled) < kinds.index(ToolDone)
    assert kinds.count(Usage) == 2, "one for each turn"
    last = [type(item).__name__ for item in scene.news if type(item).__name__.startswith("Consult")]
    assert last[-1] == "Consulted"


def test_quick_and_dangerous_fixes_are_told_as_such(scene: Scene, server: MessagesServer) -> None:
    server.script = [answer(submission(quick_fixes=["rm -rf checkpoints", "set lr to 3e-4"]))]
    page = scene.ask().page
    assert page is not None
    bad, good, third = page.fixes
    assert bad.is_quick
    assert "rm" in bad.dangers[0]
    assert (good.is_quick, good.dangers, third.is_quick) == (True, (), False)


def test_the_next_question_goes_on_in_the_same_conversation(
    scene: Scene, server: MessagesServer
) -> None:
    server.script = [answer(submission()), answer(text("Because it is high."))]
    scene.ask()
    ended = scene.consult(FollowUp(1, f"why? TOKEN={SECRETS[0]}"))
    assert (ended.status, ended.page, ended.problem) == ("replied", None, "")
    assert ended.text == "Because it is high."
    body = json.loads(ended.body)
    assert body["question"].startswith("why?")
    assert SECRETS[0] not in ended.body
    assert "opinion" not in body
    assert len(server.messages[-1]) > len(server.messages[0])


def test_a_changed_opinion_in_a_later_answer_is_checked_too(
    scene: Scene, server: MessagesServer
) -> None:
    server.script = [answer(submission()), answer(submission(summary="Something else."))]
    scene.ask()
    ended = scene.consult(FollowUp(1, "are you sure?"))
    assert ended.page is not None
    assert ended.page.summary == "Something else."


def test_a_later_question_is_told_what_the_analyzers_say_by_then(
    scene: Scene, server: MessagesServer, log: Path
) -> None:
    server.script = [answer(submission()), answer(tool("findings")), answer(text("I see."))]
    scene.ask()
    scene.grow(log, "Traceback (most recent call last):", '  File "train.py", line 3, in <module>',
               "    main()", "RuntimeError: it broke", "")  # fmt: skip
    scene.until(lambda: any("it broke" in str(news) for news in scene.news))
    scene.consult(FollowUp(1, "and now?"))
    assert "it broke" in texts_of(server.messages[-1])


# -- places ------------------------------------------------------------------------------------


def test_places_lead_where_the_screen_finds_them(server: MessagesServer, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    first = write_log(tmp_path / "first" / "train.log")
    second = write_log(tmp_path / "second" / "other.log")
    with second.open("a") as file:
        file.write("args: Namespace(seed=42, lr=0.003)\n")
    evidence = [
        lines("R2/other.log", 90, BAD_LINE),
        point("loss", 50, "1.6667", run="R2"),
        point("R1/loss", 50, "9.9", run="R1"),
        {"kind": "config", "run": "R2", "key": "seed", "value": "42"},
        {"kind": "finding", "id": "nan_loss"},
        lines("R9/nowhere.log", 3, "no such file at all"),
    ]
    server.script = [answer(submission(root_causes=[cause(*evidence)]))]
    scene = Scene()
    try:
        scene.open(first, second)
        session = session_of(first, second)
        ended = scene.ask(session=session, runs=(("R1", 0), ("R2", 1)))
    finally:
        scene.close()
    assert ended.page is not None
    (found,) = ended.page.causes
    told = [(one.verdict, one.ref, one.run) for one in found.evidence]
    assert told == [
        ("elsewhere", "other.log:101", 1),
        ("confirmed", "loss@50", 1),
        ("wrong", "loss@50", 0),
        ("confirmed", "", 1),
        ("confirmed", "", 0),
        ("wrong", "", None),
    ]
    assert found.evidence[0].place == "R2/other.log:101"

    book = RunBook()
    for news in scene.news:
        book.learn(news)
    log_place, series_place = (_place(one) for one in found.evidence[:2])
    assert isinstance(log_place, LinePlace)
    assert book.find_path(1, log_place.name) == str(second)
    assert isinstance(series_place, SeriesPlace)
    info = book.find_series(1, series_place.name)
    assert info is not None
    assert info.role == "train/loss"
    assert series_place.x == 50

    hypothesis = Hypothesis.model_validate_json(found.hypothesis)
    assert (hypothesis.source, hypothesis.run) == ("claude", "R2")
    assert [(one.kind.value, one.ref, one.run) for one in hypothesis.evidence] == [
        ("log", "other.log:101", "R2"),
        ("series", "loss@50", "R2"),
        ("config", "config:seed", "R2"),
    ]
    assert hypothesis.confidence.value == found.confidence


def _place(cited: Cited) -> object:
    kind = EvidenceKind.SERIES if cited.kind == "series" else EvidenceKind.LOG
    return place_of(Evidence(kind, cited.ref, cited.quote))


def test_an_unnamed_run_is_the_one_that_logs_the_value(
    server: MessagesServer, tmp_path: Path
) -> None:
    logs = []
    for name, rate in (("a", 0.1), ("b", 0.2)):
        log = tmp_path / f"{name}.log"
        log.write_text("".join(f"step {n} loss {rate * n:.2f} lr {rate}\n" for n in range(1, 90)))
        logs.append(log)
    server.script = [answer(submission(root_causes=[cause(point("loss", 50, "10.00"))]))]
    scene = Scene()
    try:
        scene.open(*logs)
        ended = scene.ask(session=session_of(*logs), runs=(("R1", 0), ("R2", 1)))
    finally:
        scene.close()
    assert ended.page is not None
    (cited,) = ended.page.causes[0].evidence
    assert (cited.verdict, cited.ref, cited.run) == ("confirmed", "loss@50", 1)


def test_source_code_has_no_place_on_the_screen(server: MessagesServer, tmp_path: Path) -> None:
    code = tmp_path / "train.py"
    code.write_text("import torch\n\nraise RuntimeError('the loss is nan')\n")
    log = tmp_path / "train.log"
    log.write_text(
        "step 1 loss 1.0\nTraceback (most recent call last):\n"
        f'  File "{code}", line 3, in <module>\n'
        "    raise RuntimeError('the loss is nan')\nRuntimeError: the loss is nan\nbye\n"
    )
    quote = "raise RuntimeError('the loss is nan')"
    evidence = lines("run1/train.py", 3, quote, kind="source")
    server.script = [answer(submission(root_causes=[cause(evidence)]))]
    scene = Scene()
    try:
        scene.open(log)
        ended = scene.ask()
    finally:
        scene.close()
    assert ended.page is not None
    (cited,) = ended.page.causes[0].evidence
    assert (cited.verdict, cited.place, cited.ref) == ("confirmed", "run1/train.py:3", "")
    hypothesis = Hypothesis.model_validate_json(ended.page.causes[0].hypothesis)
    assert [one.ref for one in hypothesis.evidence] == ["run1/train.py:3"]


# -- what is kept ------------------------------------------------------------------------------


@pytest.mark.parametrize("is_redacted", [False, True])
def test_a_kept_opinion_is_laid_out_as_it_was(
    scene: Scene, server: MessagesServer, log: Path, is_redacted: bool
) -> None:
    server.script = [answer(text("Let me look."), tool("findings"), tool("grep", artifact="x")),
                     answer(_about_r1())]  # fmt: skip
    session, runs = session_of(log), (("R1", 0),)
    ended = scene.ask(session=session, runs=runs, is_redacted=is_redacted)
    assert ended.page is not None
    assert ended.page.causes[0].evidence[0].ref
    bodies = (ended.body, "{}", "no JSON", json.dumps({"opinion": 7}))
    scene.wish(OpinionRequest(8, 0, session, runs, bodies))
    scene.until(lambda: scene.of(KeptOpinions))
    (kept,) = scene.of(KeptOpinions)
    assert kept == KeptOpinions(8, (ended.page, None, None, None))


def test_an_opinion_about_runs_that_are_gone_is_laid_out_without_places(
    scene: Scene, server: MessagesServer, log: Path
) -> None:
    server.script = [answer(_about_r1())]
    session = session_of(log)
    ended = scene.ask(session=session, runs=(("R1", 0),))
    scene.wish(OpinionRequest(8, 7, session, (), (ended.body,)))
    scene.until(lambda: scene.of(KeptOpinions))
    (page,) = scene.of(KeptOpinions)[0].pages
    assert page is not None
    assert [(one.ref, one.run) for one in page.causes[0].evidence] == [("", None)] * 2
    assert page.causes[0].evidence[0].verdict == "confirmed", "it was checked then"


def _about_r1() -> dict[str, object]:
    return submission(
        root_causes=[
            cause(
                lines("R1/train.log", BAD_LINE_NUMBER, BAD_LINE), lines("R1/train.log", 7, INVENTED)
            )
        ]
    )


def test_what_is_kept_says_who_was_asked_and_holds_no_secret(
    scene: Scene, server: MessagesServer
) -> None:
    leak = f"API_KEY={SECRETS[1]}"
    server.script = [answer(text(f"\ud800 {leak}"), submission(summary=f"It says {leak}"))]
    ended = scene.ask()
    body = json.loads(ended.body)
    assert (body["model"], body["host"], body["is_redacted"]) == (
        "claude-sonnet-5-5", server.url.removeprefix("http://"), False,
    )  # fmt: skip
    assert body["usage"]["output"] > 0
    assert (body["question"], body["error"], body["looks"]) == ("", None, [])
    assert ended.page is not None
    whole = f"{ended.body} {ended.page} {ended.text}"
    assert SECRETS[1] not in whole
    assert "[masked" in ended.page.summary
    whole.encode()
