"""A discriminator that wins, early or late."""

from __future__ import annotations

from tests.analyzers.loss.judging import alarms


def test_a_discriminator_that_was_right_from_the_start_has_won() -> None:
    won = "d_loss: 0.05>0.001*30 0.001>0.1*30 ; g_loss: 6>9~0.5*60 ; d_acc: 1.0*40 0.975*20"
    assert "mode_collapse" in alarms(won)
    even = "d_loss: 1.38~0.05*60 ; g_loss: 0.7~0.05*60 ; d_acc: 0.55~0.03*60"
    assert "mode_collapse" not in alarms(even)


def test_scores_that_are_apart_all_the_time_are_a_lost_contest() -> None:
    losses = "d_loss: 0.02>0.0001*30 0.02>0.1*30 ; g_loss: 3>13*30 13>7*30"
    lost = f"{losses} ; D(x): 0.97~0.005*60 ; D(G(z)): 0.03~0.005*60"
    assert "mode_collapse" in alarms(lost)
    even = f"{losses} ; D(x): 0.7>0.97*60 ; D(G(z)): 0.3>0.04*60"
    assert "mode_collapse" not in alarms(even)


def test_a_discriminator_at_the_floor_of_smoothed_labels_has_won() -> None:
    won = "d_loss: 0.49 0.36 0.33~0.001*100 ; g_loss: 2>11~0.2*102"
    assert "mode_collapse" in alarms(won)
    contest = "d_loss: 0.49 0.36 0.33~0.05*100 ; g_loss: 2>4~0.2*102"
    assert "mode_collapse" not in alarms(contest)


def test_a_generator_that_jumps_between_single_modes_has_collapsed() -> None:
    losses = "d_loss: 1.39~0.03*60 ; g_loss: 0.8~0.03*60"
    assert "mode_collapse" in alarms(f"{losses} ; modes: 0 0 1 2 1 1 0 2 0 1")
    assert "mode_collapse" in alarms(f"{losses} ; modes: 0*10")
    assert "mode_collapse" not in alarms(f"{losses} ; modes: 0 0 1 2 3 4 6 7 8 8")
    assert "mode_collapse" not in alarms(f"{losses} ; modes: 0*5")


def test_a_certain_policy_with_a_reward_that_never_moved_has_collapsed() -> None:
    assert "mode_collapse" in alarms("entropy: 1.4 0.9 0.4 0.1 0*60 ; reward: -0.6*64")


def test_a_policy_that_is_certain_at_once_and_gets_no_gradient_has_collapsed() -> None:
    certain = "entropy: 1.1 0.02 0*98 ; reward: -6 2 -2 -4 -1>4~2*96 ; grad_norm: 0.2 "
    assert "mode_collapse" in alarms(certain + "0.02 0*98")
    assert "mode_collapse" not in alarms(certain + "0.2~0.05*99")
