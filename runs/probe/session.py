"""What a probe does at each step: when it records, what it takes, how often from then on."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .activations import Activations
from .context import learning_rates, loss_scale, memory_in_use, steps_done
from .gathering import Gathering, Measured, step_record
from .heading import heading
from .layers import LayerList, find_layers, unwrap
from .nonfinite import Sentinel, bad_buffer, describe
from .options import Options
from .skipping import SkippedSteps
from .writer import Writer, number

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer

BURST = 3
"""Steps recorded in a row after something that is not finite turned up."""
MOST_BURSTS = 20


class Session:
    """One recording of one model."""

    def __init__(
        self,
        model: Any,
        writer: Writer,
        options: Options,
        ranks: tuple[int, int],
        on_error: Callable[[Exception], None],
    ) -> None:
        plain = unwrap(model)
        self._model = weakref.ref(plain)
        self._held: nn.Module | None = plain
        """A container made for us alone, such as a dict of two models, is gone otherwise."""
        self._writer = writer
        self._options = options
        self._ranks = ranks
        self._layers: LayerList | None = None
        self._sentinel: Sentinel | None = None
        self._gathering: Gathering | None = None
        self._optimizers: list[weakref.ref[Optimizer]] = []
        self._step: int | None = options.step
        self._every = options.every
        self._urgent = 1
        """Steps to record whatever their number: the first one, and after a NaN."""
        self._bursts = 0
        self._was_bad = False
        self._skips = SkippedSteps(options.scaler, options.every, self._record_skipped, on_error)
        self.activations = Activations(plain, options.wanted(), on_error)
        self.activations.arm()

    # -- which steps ----------------------------------------------------------------------

    def is_stepped_by(self, optimizer: Optimizer) -> bool:
        """True if an optimizer has parameters of this model."""
        model = self._model()
        if model is None:
            return False
        own = {id(parameter) for parameter in model.parameters()}
        return any(id(p) in own for group in optimizer.param_groups for p in group["params"])

    def _is_due(self, step: int) -> bool:
        return self._urgent > 0 or step % self._every == 0

    def before(self, optimizer: Optimizer, *, is_main: bool, has_closure: bool) -> None:
        """An optimizer is about to step."""
        if self._step is None:
            self._step = steps_done(optimizer)
        if all(known() is not optimizer for known in self._optimizers):
            self._optimizers.append(weakref.ref(optimizer))
        layers = self._find_layers()
        step = self._step + 1
        if not self._is_due(step):
            is_scaled = getattr(optimizer, "grad_scale", None) is not None
            if not is_main or has_closure or is_scaled or self._sentinel is None:
                return
            if not self._sentinel.look(step):
                self._was_bad = False
                return
            if not self._start_burst():
                return
        if self._gathering is None:
            self._gathering = Gathering(layers, is_first=not self._writer.has_header)
        self._gathering.take_weights(optimizer)
        if not has_closure:
            self._gathering.take_gradients(optimizer, _scale_in(optimizer))

    def after(self, optimizer: Optimizer, *, is_main: bool, has_closure: bool) -> None:
        """An optimizer has stepped."""
        if self._step is None:
            return
        gathering = self._gathering
        if gathering is not None:
            if has_closure:
                gathering.take_gradients(optimizer, _scale_in(optimizer))
            gathering.take_updates()
        if not is_main:
            return
        self._step += 1
        self._skips.note_step()
        if gathering is not None:
            self._urgent = max(0, self._urgent - 1)
            self._record(gathering.measure(), is_skipped=_is_skipped(optimizer))
        elif has_closure and self._sentinel is not None and self._sentinel.look(self._step):
            self._start_burst()
        self._gathering = None
        if self._is_due(self._step + 1):
            self.activations.arm()
        else:
            self.activations.drop()

    def _start_burst(self) -> bool:
        """Record now and the next steps, too; not again before it has been well in between."""
        if self._was_bad or self._bursts >= MOST_BURSTS:
            return False
        self._was_bad = True
        self._bursts += 1
        self._urgent = BURST + 1
        return True

    # -- records --------------------------------------------------------------------------

    def _find_layers(self) -> LayerList:
        """The layers, looked for at the first step: lazy ones have their sizes by then."""
        if self._layers is None:
            model = self._held or self._model()
            assert model is not None
            self._layers = find_layers(model, self._options.wanted())
            # From here on the layers are known one by one, and nothing is kept alive.
            self._held = None
        return self._layers

    def _write_header(self) -> None:
        layers = self._find_layers()
        # Only now: a step with a closure does its forward pass inside of the step.
        layers.put_in_order(self.activations.put_in_order())
        self._sentinel = Sentinel(layers)
        optimizers = [one for known in self._optimizers if (one := known()) is not None]
        self._writer.write_header(
            heading(
                layers,
                self.activations,
                optimizers,
                every=self._options.every,
                ranks=self._ranks,
            )
        )

    def watch_skipped_steps(self, optimizer: Optimizer) -> None:
        """With a scaler, notice backward passes that no step follows."""
        self._skips.watch(optimizer)

    def _record_skipped(self, scale: float) -> None:
        gathering = Gathering(self._find_layers())
        gathering.take_gradients(None, scale)
        self._record(gathering.measure(), is_skipped=True)
        self.activations.arm()

    def _record(self, measured: Measured, *, is_skipped: bool) -> None:
        layers = self._find_layers()
        if not self._writer.has_header:
            self._write_header()
        outputs, bad_outputs = self.activations.take()
        if is_skipped:
            measured.updates.clear()
        record = step_record(self._step or 0, measured, outputs, layers, self.activations.modules)
        optimizers = [one for known in self._optimizers if (one := known()) is not None]
        record["lr"] = [number(rate) for rate in learning_rates(optimizers)]
        scale = loss_scale(self._options.scaler, optimizers[0] if optimizers else None)
        if scale is not None:
            record["loss_scale"] = number(scale)
        memory = memory_in_use()
        if memory is not None:
            record["memory"] = memory
        if is_skipped:
            record["skipped"] = True
        self._add_bad(record, measured, bad_outputs)
        self._writer.write(record)
        self.activations.keep_entrances()
        self._thin()

    def _add_bad(
        self,
        record: dict[str, object],
        measured: Measured,
        outputs: dict[str, tuple[int, int]],
    ) -> None:
        listed = self._find_layers()
        layers = listed.layers
        gradients = listed.sort(_bad_layers(measured.gradients))
        before = listed.sort(_bad_layers(measured.weights))
        weights = listed.sort([*before, *_bad_layers(measured.updates)])
        since = self._sentinel.since() if self._sentinel is not None else None
        if not (outputs or gradients or weights or since is not None):
            return
        model = self._model()
        found = describe(
            outputs,
            [layers[n].name for n in gradients],
            [layers[n].name for n in before or ([] if gradients else weights)],
            layers=len(measured.gradients),
            buffer=bad_buffer(model) if model is not None and not outputs else "",
            behind=self.activations.before_bad() if outputs else "",
            between=self.activations.bad_gradient() if gradients and not outputs else None,
        )
        if weights and "weights" not in found:
            names = [layers[n].name for n in weights]
            found["weights"] = {"count": len(names), "layers": names[:20], "after_step": True}
        if since is not None:
            found["since"] = since
        record["nonfinite"] = found

    def _thin(self) -> None:
        every = self._options.every * self._writer.thinning
        if every != self._every:
            self._every = every
            reason = "the file fills up: fewer steps are recorded"
            note = {"kind": "note", "step": self._step, "every": every, "reason": reason}
            self._writer.write(note)

    def end(self, reason: str) -> None:
        """Leave the model alone and write the last record, if that is still possible."""
        self.activations.close()
        self._skips.close()
        self._gathering = None
        try:
            if not self._writer.has_header:
                self._write_header()
            last = {"kind": "end", "step": self._step, "reason": reason[:500]}
            self._writer.write(last, is_last=True)
        except Exception:  # noqa: BLE001 - it was said on stderr; there is nobody else to tell
            return


def _bad_layers(by_layer: dict[int, float]) -> list[int]:
    return [place for place, value in by_layer.items() if not math.isfinite(value)]


def _scale_in(optimizer: Optimizer) -> float:
    """What a fused optimizer's gradients are still multiplied with during its step."""
    scale = getattr(optimizer, "grad_scale", None)
    return 1.0 if scale is None else float(scale)


def _is_skipped(optimizer: Optimizer) -> bool:
    """True if a fused optimizer left the weights alone because of an overflow."""
    overflow = getattr(optimizer, "found_inf", None)
    return overflow is not None and float(overflow) > 0
