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
from .rounds import Draft, Rounds
from .sharding import whole_sizes
from .skipping import SkippedSteps
from .writer import Writer, number

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer

BURST = 3
"""Steps recorded in a row after something that is not finite turned up."""
MOST_BURSTS = 20
NEVER_STEPPED = "no step of an optimizer of torch was seen"
MOST_HEADERS = 20
"""Of a model whose layers come and go; some are frozen and released on every step."""


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
        self._sizes = whole_sizes(model)
        self._model = weakref.ref(plain)
        self._held: nn.Module | None = plain
        """A container made for us alone, such as a dict of two models, is gone otherwise."""
        self._writer = writer
        self._options = options
        self._ranks = ranks
        self._layers: LayerList | None = None
        self._sentinel: Sentinel | None = None
        self._gathering: Gathering | None = None
        self._rounds = Rounds()
        self._draft: Draft | None = None
        self._late: Gathering | None = None
        """What an optimizer does that steps after the main one."""
        self._shape: tuple[int, ...] = ()
        self._headers = 0
        self._needs_header = True
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

    def expect(self, optimizers: list[Optimizer]) -> None:
        """These will step the model; with a scaler, steps of the first may be skipped."""
        self._rounds.add(optimizers)
        self._skips.watch(optimizers[0])

    def before(self, optimizer: Optimizer, *, is_main: bool, has_closure: bool) -> None:
        """An optimizer is about to step."""
        if self._step is None:
            self._step = steps_done(optimizer)
        self._rounds.add([optimizer])
        layers = self._find_layers()
        if is_main:
            self._finish()
        elif self._rounds.main_leads:
            if self._draft is None or id(optimizer) not in self._draft.missing:
                return
            self._late = Gathering(layers)
            self._take(self._late, optimizer, has_closure)
            return
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
            self._gathering = Gathering(layers, is_first=self._needs_header)
        self._take(self._gathering, optimizer, has_closure)

    def _take(self, gathering: Gathering, optimizer: Optimizer, has_closure: bool) -> None:
        gathering.take_weights(optimizer)
        if not has_closure:
            gathering.take_gradients(optimizer, _scale_in(optimizer))

    def after(self, optimizer: Optimizer, *, is_main: bool, has_closure: bool) -> None:
        """An optimizer has stepped."""
        if self._step is None:
            return
        late, self._late = self._late, None
        gathering = late or self._gathering
        if gathering is not None and id(optimizer) in gathering.taken:
            if has_closure:
                gathering.take_gradients(optimizer, _scale_in(optimizer))
            gathering.take_updates()
        if not is_main:
            self._rounds.note_other()
            if late is not None and self._draft is not None:
                self._draft.add(optimizer, late.measure())
                if not self._draft.missing:
                    self._finish()
            return
        self._step += 1
        self._skips.note_step()
        missing = self._rounds.note_main(gathering.taken if gathering is not None else set())
        if gathering is not None:
            self._urgent = max(0, self._urgent - 1)
            self._record(gathering.measure(), missing, is_skipped=_is_skipped(optimizer))
        elif has_closure and self._sentinel is not None and self._sentinel.look(self._step):
            self._start_burst()
        self._gathering = None
        if self._is_due(self._step + 1):
            self._look_again()
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
            self._layers = find_layers(model, self._options.wanted(), self._sizes)
            self._shape = self._measure_shape(self._layers)
            # From here on the layers are known one by one, and nothing is kept alive.
            self._held = None
        return self._layers

    def _measure_shape(self, layers: LayerList) -> tuple[int, ...]:
        """Changes when layers or optimizers come or go, or are frozen or released."""
        learning = sum(t.requires_grad for _, layer in layers.measured() for t in layer.tensors())
        groups = [group for one in self._rounds.alive() for group in one.param_groups]
        return learning, sum(len(group["params"]) for group in groups)

    def _look_again(self) -> None:
        """If the model is another one by now, find its layers and say so in a new header."""
        model = self._model()
        if model is None or self._layers is None or self._headers >= MOST_HEADERS:
            return
        if self._measure_shape(self._layers) != self._shape:
            self._layers = None
            self._needs_header = True
            self.activations.look_again(model)

    def _write_header(self) -> None:
        layers = self._find_layers()
        # Only now: a step with a closure does its forward pass inside of the step.
        layers.put_in_order(self.activations.put_in_order())
        self._sentinel = Sentinel(layers)
        self._needs_header = False
        self._headers += 1
        self._writer.write_header(
            heading(
                layers,
                self.activations,
                self._rounds.alive(),
                every=self._options.every,
                ranks=self._ranks,
            )
        )

    def _record_skipped(self, scale: float) -> None:
        self._finish()
        gathering = Gathering(self._find_layers())
        gathering.take_gradients(None, scale)
        self._record(gathering.measure(), set(), is_skipped=True)
        self.activations.arm()

    def _record(self, measured: Measured, missing: set[int], *, is_skipped: bool) -> None:
        if self._needs_header:
            self._write_header()
        outputs, bad_outputs = self.activations.take()
        if is_skipped:
            measured.updates.clear()
        self._draft = Draft(
            self._step or 0,
            measured,
            outputs,
            bad_outputs,
            is_skipped=is_skipped,
            missing=missing,
            layers=self._find_layers(),
            modules=self.activations.modules,
        )
        if not missing:
            self._finish()
        self.activations.keep_entrances()

    def _finish(self) -> None:
        """Write the record that waits for optimizers, whether or not all have stepped."""
        draft, self._draft = self._draft, None
        if draft is None:
            return
        record = step_record(draft.step, draft.measured, draft.outputs, draft.layers, draft.modules)
        optimizers = self._rounds.alive()
        record["lr"] = [number(rate) for rate in learning_rates(optimizers)]
        scale = loss_scale(self._options.scaler, optimizers[0] if optimizers else None)
        if scale is not None:
            record["loss_scale"] = number(scale)
        memory = memory_in_use()
        if memory is not None:
            record["memory"] = memory
        if draft.is_skipped:
            record["skipped"] = True
        self._add_bad(record, draft)
        self._writer.write(record)
        self._thin()

    def _add_bad(self, record: dict[str, object], draft: Draft) -> None:
        measured, outputs, listed = draft.measured, draft.bad_outputs, draft.layers
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
        if self._step is None and reason == "closed":
            reason = NEVER_STEPPED
        try:
            self._finish()
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
