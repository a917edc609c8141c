"""The probe as a callback of Lightning: `Trainer(callbacks=[ProbeCallback()])`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import DEFAULT_PATH, watch
from .options import check_names

if TYPE_CHECKING:
    from .recorder import Probe

    Base = object
else:
    try:
        from lightning.pytorch.callbacks import Callback as Base
    except ImportError:
        from pytorch_lightning.callbacks import Callback as Base


class ProbeCallback(Base):
    """Records from the first training step to the last; takes the options of `probe.watch`."""

    def __init__(self, path: str | os.PathLike[str] | None = None, **options: Any) -> None:
        super().__init__()
        self._path = path
        check_names(options)
        self._options = options
        self.probe: Probe | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Optimizers exist and the checkpoint is loaded: begin."""
        self._close()
        plugin = getattr(trainer, "precision_plugin", None)
        options = {
            "scaler": getattr(plugin, "scaler", None),
            "step": _steps(trainer),
            **self._options,
        }
        # Without any optimizer (a manual loop may make its own) whichever steps is watched.
        optimizers = list(getattr(trainer, "optimizers", ()) or ()) or None
        self.probe = watch(pl_module, optimizers, self._path or _folder(trainer), **options)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """The last step was made."""
        self._close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """The training broke off."""
        self._close()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Whatever happened, nothing stays on the model."""
        self._close()

    def _close(self) -> None:
        if self.probe is not None:
            self.probe.close()


def _steps(trainer: Any) -> int | None:
    """Steps done before; with several optimizers Lightning counts those of all of them."""
    count = getattr(trainer, "global_step", None)
    several = len(getattr(trainer, "optimizers", ()) or ()) > 1
    return None if several or not isinstance(count, int) else count


def _folder(trainer: Any) -> str:
    """Beside the logs of the run."""
    folder = getattr(trainer, "log_dir", None) or getattr(trainer, "default_root_dir", None)
    return os.path.join(folder or ".", DEFAULT_PATH)
