"""Keras says that the data ran out: an epoch without training is a fault, a whole one is none."""

from __future__ import annotations

from mltd.analyzers.diagnosis import diagnose
from tests.analyzers.made import read_log

_SAID = (
    "/lib/keras/src/trainers/epoch_iterator.py:164: UserWarning: Your input ran out of data; "
    "interrupting training. Make sure that your dataset or generator can generate at least "
    "`steps_per_epoch * epochs` batches.\n  self._interrupted_warning()\n"
)


def _alarms(eighth: str) -> list[str]:
    text = ""
    for epoch in range(1, 16):
        loss = 0.3 + 1 / epoch
        whole = f"20/20 - 0s 2ms/step - loss: {loss:.4f} - val_loss: {loss + 0.02:.4f}\n"
        last = f"{_SAID}20/20 - 0s 2ms/step - {eighth}\n" if epoch == 8 else whole
        text += f"Epoch {epoch}/15\n{last}"
    return [finding.id for finding in diagnose(read_log(text)).findings if finding.is_alarm]


def test_an_epoch_that_was_only_evaluated_is_told() -> None:
    assert _alarms("val_loss: 0.4629") == ["empty_data"]


def test_an_epoch_that_was_trained_is_not() -> None:
    assert _alarms("loss: 0.4250 - val_loss: 0.4450") == []
