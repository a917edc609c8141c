"""The guard against endless work ends it, and leaves nothing behind."""

from __future__ import annotations

import re
import signal

import pytest

from tests.blow_up import no_blow_up


def test_work_that_explodes_is_ended_and_fails() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(pytest.fail.Exception, match="still at it"), no_blow_up(0.1):
        re.search(r"(a+)+$", "a" * 60 + "b")
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
    assert signal.getsignal(signal.SIGPROF) is before


def test_work_that_ends_is_left_alone() -> None:
    with no_blow_up():
        assert re.search(r"(a+)+$", "b" + "a" * 60)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
