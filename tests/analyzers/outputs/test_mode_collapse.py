"""Collapsed outputs are seen where they last, and healthy ones are left alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mltd.analyzers.core.finding import Finding, Severity
from mltd.analyzers.diagnosis import diagnose
from mltd.analyzers.outputs.sample_text import repetition
from mltd.runs.run import Run
from tests.analyzers.made import falling, make_run, noisy, read_log


def found(run: Run) -> list[Finding]:
    told = diagnose(run)
    assert told.problems == ()
    return [finding for finding in told.findings if finding.id == "mode_collapse"]


def log_of(samples: list[str], every: int = 50) -> str:
    lines = []
    for number, sample in enumerate(samples):
        for step in range(number * every, (number + 1) * every, 5):
            lines.append(f"step {step + 5} loss {4 * 0.999**step:.4f}")
        lines.append(f"sample: {sample}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("::::::::::::", ":"),
        ("ROMEO::::::::::::::::", ":"),
        ("the the the the the the the", "the"),
        ("<unk> <unk> <unk> <unk> <unk> <unk>", "<unk>"),
        ("7, 7, 7, 7, 7, 7, 7", "7"),
    ],
)
def test_one_token_is_a_repetition(text: str, unit: str) -> None:
    seen = repetition(text)
    assert seen is not None
    assert seen.unit == unit
    assert not seen.is_phrase


@pytest.mark.parametrize(
    "text",
    [
        "the king of heaven and earth",
        "hello there my friend<pad><pad><pad><pad><pad><pad><pad><pad>",
        "ok </s> </s> </s> </s> </s> </s> </s> </s>",
        "00000000",
        ":::",
        "",
    ],
)
def test_text_padding_and_numbers_are_none(text: str) -> None:
    assert repetition(text) is None


def test_a_loop_over_a_phrase_is_told_from_a_token() -> None:
    seen = repetition("and the cat " * 10)
    assert seen is not None
    assert seen.is_phrase


@given(st.text(max_size=300))
def test_any_text_can_be_looked_at(text: str) -> None:
    seen = repetition(text)
    assert seen is None or (seen.unit and 0 < seen.share <= 1)


def test_samples_that_become_one_token_are_critical_since_the_first() -> None:
    good = ["the king of heaven", "my lord and lady come"]
    (finding,) = found(read_log(log_of([*good, *["::::::::::::"] * 3])))
    assert finding.severity is Severity.CRITICAL
    assert finding.first_step == 150
    assert "':'" in finding.title
    assert "3 samples" in finding.title


def test_a_model_that_has_learned_to_speak_is_healthy() -> None:
    assert found(read_log(log_of(["eeeeeeeeeeee", "eeeeeeeeeeee", "the king of heaven"]))) == []


def test_a_stammer_at_the_beginning_of_a_long_run_is_no_alarm() -> None:
    log = "max_steps: 100000\nstep 1/100000 loss 4.0\nstep 2/100000 loss 3.9\n"
    log += "sample: eeeeeeeeeeee\nstep 3/100000 loss 3.8\nsample: eeeeeeeeeeeeee\n"
    run = read_log(log)
    run.is_over = False
    assert [f for f in found(run) if f.is_alarm] == []


def test_a_greedy_loop_over_phrases_is_only_information() -> None:
    (finding,) = found(read_log(log_of(["and the cat " * 8] * 4)))
    assert finding.severity is Severity.INFO


def test_percent_and_share_are_the_same() -> None:
    for scale in (1.0, 100.0):
        share = [scale * 0.3] * 10 + [scale * 0.97] * 30
        (finding,) = found(make_run({"loss": falling(2, 1, 40), "top_class_share": share}))
        assert finding.first_step == 10


def test_a_share_that_comes_down_again_is_healthy() -> None:
    share = [0.97] * 30 + [0.4] * 5
    assert found(make_run({"loss": falling(2, 1, 35), "top_class_share": share})) == []


def test_distinct_words_that_vanish_are_seen() -> None:
    values = noisy(0.6, 30, 0.02) + noisy(0.05, 30, 0.005)
    (finding,) = found(make_run({"loss": falling(2, 1, 60), "distinct_2": values}))
    assert finding.is_alarm
    assert found(make_run({"loss": falling(2, 1, 60), "distinct_2": noisy(0.5, 60)})) == []


def test_embeddings_without_spread_are_seen() -> None:
    values = [1.0] * 20 + [1e-5] * 20
    (finding,) = found(make_run({"loss": falling(2, 1, 40), "embedding_std": values}))
    assert finding.details["way"] == "representation"


def test_a_critic_with_negative_losses_is_not_judged() -> None:
    game = {"d_loss": noisy(-8, 200, 2.0), "g_loss": falling(1, 9, 200)}
    assert found(make_run(game)) == []


def test_a_balanced_game_is_healthy_and_a_won_one_is_not() -> None:
    assert found(make_run({"d_loss": noisy(1.38, 200), "g_loss": noisy(0.7, 200)})) == []
    won = {"d_loss": falling(1.3, 0.01, 200, 0.001), "g_loss": falling(0.7, 8, 200)}
    (finding,) = found(make_run(won))
    assert finding.details["way"] == "adversarial"


def test_few_modes_are_seen() -> None:
    game = {"d_loss": noisy(1.3, 40), "g_loss": noisy(0.8, 40)}
    assert found(make_run({**game, "modes_covered": [2, 6, 8, 7] + [8] * 36})) == []
    (finding,) = found(make_run({**game, "modes_covered": [2, 6, 8, 7] + [1] * 36}))
    assert finding.first_step == 4


def test_a_solved_task_may_have_no_entropy() -> None:
    solved = {"entropy": np.geomspace(1.1, 0.02, 200).tolist(), "reward": falling(1, 12, 200, 0.3)}
    assert found(make_run(solved)) == []


def test_entropy_lost_before_learning_is_seen() -> None:
    lost = {"entropy": falling(1.1, 0.01, 20, 0) + [0.001] * 180, "reward": noisy(3, 200, 0.5)}
    (finding,) = found(make_run(lost))
    assert finding.details["way"] == "policy"


def test_an_ignored_code_is_seen_and_a_used_one_not() -> None:
    base = {"loss": falling(100, 60, 100), "recon": falling(100, 60, 100)}
    (finding,) = found(make_run({**base, "kl": [0.01] * 100}))
    assert finding.details["way"] == "latent"
    assert found(make_run({**base, "kl": noisy(6, 100, 0.3)})) == []


def test_a_code_that_is_lost_is_lost_from_where_it_left_its_level() -> None:
    fall = [20 * 0.3**n for n in range(1, 7)]
    run = make_run({"recon_loss": [3.0] * 40 + [25.0] * 60, "kl": [20.0] * 40 + fall + [0.01] * 54})
    (finding,) = found(run)
    assert finding.first_step == run.series[0].axis("step")[40]


@pytest.mark.parametrize("name", ["top_class_share", "distinct_1", "embedding_std", "kl", "modes"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308, -1e308, 0.0])
def test_odd_values_never_break_it(name: str, value: float) -> None:
    game = {"d_loss": [value] * 9, "g_loss": [value] * 9, "recon": [value] * 9}
    found(make_run({**game, name: [0.5, value] * 4 + [value]}))
