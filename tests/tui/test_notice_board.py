"""Which notices are in sight, and which can be looked up."""

from __future__ import annotations

from mltd.tui.notice_board import MOST_KEPT, MOST_SHOWN, SECONDS, NoticeBoard, NoticeRecord
from mltd.tui.widgets.notice_bar import line_of


def texts(notices: list[NoticeRecord]) -> list[str]:
    return [notice.text for notice in notices]


def test_a_notice_is_short() -> None:
    assert SECONDS["information"] <= 4 < SECONDS["warning"] <= SECONDS["error"] <= 8


def test_only_the_newest_are_in_sight_and_all_can_be_looked_up() -> None:
    board = NoticeBoard()
    for number in range(MOST_KEPT + 5):
        assert board.add(NoticeRecord(str(number)), can_show=True)
    assert texts(board.shown) == [str(MOST_KEPT + 5 - n) for n in range(MOST_SHOWN, 0, -1)]
    assert len(board.history) == MOST_KEPT


def test_what_is_said_again_is_in_sight_once() -> None:
    board = NoticeBoard()
    for text in ("a", "b", "a"):
        board.add(NoticeRecord(text), can_show=True)
    assert texts(board.shown) == ["b", "a"]
    assert texts(list(board.history)) == ["a", "b", "a"]


def test_a_notice_without_a_place_waits() -> None:
    board = NoticeBoard()
    assert not board.add(NoticeRecord("late"), can_show=False)
    assert board.shown == []
    assert texts(board.release()) == ["late"]
    assert texts(board.shown) == ["late"]
    assert board.release() == []


def test_what_the_user_looks_at_is_only_kept() -> None:
    board = NoticeBoard()
    about = frozenset({(0, "nan_loss")})
    assert not board.add(NoticeRecord("seen", findings=about), can_show=True, is_seen=True)
    assert (board.shown, texts(list(board.history))) == ([], ["seen"])
    board.add(NoticeRecord("shown", findings=about), can_show=True)
    board.add(NoticeRecord("waiting", findings=about), can_show=False)
    board.add(NoticeRecord("other", findings=frozenset({(1, "nan_loss")})), can_show=True)
    assert board.dismiss_about(0, "nan_loss")
    assert not board.dismiss_about(0, "nan_loss")
    assert texts(board.shown) == ["other"]
    assert board.release() == []


def test_an_expired_notice_goes_once() -> None:
    board, notice = NoticeBoard(), NoticeRecord("a")
    board.add(notice, can_show=True)
    assert board.dismiss(notice)
    assert not board.dismiss(notice)


def test_a_notice_is_one_line_with_one_glyph() -> None:
    told = line_of(NoticeRecord("loss is nan\nand 2 more", "✖ critical", "error")).plain
    assert told == "✖ critical: loss is nan; and 2 more"
    assert line_of(NoticeRecord("[b]full", severity="warning")).plain == "▲ [b]full"
