"""What fixes say with the account's numbers; how sure a cause is does not depend on them."""

from __future__ import annotations

from mltd.analyzers.core.cause import RootCause
from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.made import read_log

from .accounts import oom

MODEL = "number of parameters: 1000M\n"
ADAM: dict[str, object] = {"optimizer": "adamw", "precision": "32", "batch_size": 16}


def cause(identity: str, log: str, config: dict[str, object] | None = None) -> RootCause:
    run = read_log(log)
    run.add_config(config or {})
    return next(one for one in diagnose(run).root_causes if one.id == identity)


def test_a_smaller_batch_shows_what_it_would_leave() -> None:
    fix = cause("batch_too_large", MODEL + oom(), ADAM).fixes[0]
    assert "batch_size 16 -> 8" in fix.change
    assert "80 GiB - 30.5 GiB = 49.5 GiB of 79.2 GiB: fits" in fix.expected_impact
    assert "(estimated)" in fix.expected_impact


def test_where_nothing_is_known_the_fix_stays_as_it_was() -> None:
    fixes = cause("batch_too_large", oom()).fixes
    assert all("Here, " not in fix.expected_impact for fix in fixes)


def test_states_that_exceed_the_device_come_before_the_batch() -> None:
    found = cause("batch_too_large", "number of parameters: 9500M\n" + oom(), ADAM)
    assert "optimizer state alone take 142 GiB (derived)" in found.issue
    assert "optimizer state per device" in found.fixes[0].change
    text = found.fixes[0].expected_impact
    assert "ZeRO stage 3 or FSDP over 8 devices: 142 GiB - 124 GiB = 18.2 GiB" in text
    assert "fits, activations not counted" in text


def test_fragmentation_names_the_share_of_idle_memory() -> None:
    message = oom(request="10.74 GiB", allocated="57.91 GiB", idle="18.59 GiB")
    fix = cause("fragmentation", message).fixes[0]
    assert "18.6 GiB idle (23% of the device) against 10.7 GiB" in fix.expected_impact


def test_numbers_in_texts_do_not_change_how_sure_a_cause_is() -> None:
    settings: dict[str, object] = {"batch_size": 16}
    plain = cause("batch_too_large", oom(), settings)
    told = cause("batch_too_large", MODEL + oom(), {**ADAM, **settings})
    assert plain.confidence == told.confidence
    assert plain.evidence[0].quote == told.evidence[0].quote
