"""The probe as a callback of transformers: `Trainer(..., callbacks=[ProbeCallback()])`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import DEFAULT_PATH, watch
from .options import check_names

if TYPE_CHECKING:
    from .recorder import Probe

    Base = object
else:
    from transformers import TrainerCallback as Base


class ProbeCallback(Base):
    """Records from the first training step to the last; takes the options of `probe.watch`."""

    def __init__(self, path: str | os.PathLike[str] | None = None, **options: Any) -> None:
        self._path = path
        check_names(options)
        self._options = options
        self.probe: Probe | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, **given: Any
    ) -> None:
        """The model is wrapped and the checkpoint is loaded: begin."""
        self._close()  # a training that broke off, which nobody tells callbacks
        if model is None:
            return
        optimizer = given.get("optimizer")
        options = {
            "scaler": getattr(optimizer, "scaler", None),
            "step": int(getattr(state, "global_step", 0) or 0),
            **self._options,
        }
        folder = getattr(args, "output_dir", None) or "."
        path = self._path or os.path.join(folder, DEFAULT_PATH)
        # An optimizer of DeepSpeed is none of torch's; then whichever steps is watched.
        self.probe = watch(model, optimizer if _is_known(optimizer) else None, path, **options)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """The last step was made."""
        self._close()

    def _close(self) -> None:
        if self.probe is not None:
            self.probe.close()


def _is_known(optimizer: Any) -> bool:
    from .context import plain_optimizers

    try:
        return bool(plain_optimizers(optimizer))
    except TypeError:
        return False
