"""A discriminator that wins, early or late."""

from __future__ import annotations

from tests.analyzers.loss.judging import alarms


def test_a_discriminator_that_was_right_from_the_start_has_won() -> None:
    won = "d_loss: 0.05>0.001*30 0.001>0.1*30 ; g_loss: 6>9~0.5*60 ; d_acc: 1.0*40 0.975*20"
    assert "mode_collapse" in alarms(won)
    even = "d_loss: 1.38~0.05*60 ; g_loss: 0.7~0.05*60 ; d_acc: 0.55~0.03*60"
    assert "mode_collapse" not in alarms(even)
