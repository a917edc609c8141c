"""Makes the runs: trains, gates, writes logs and labels, each in one move."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from .dialects import DIALECTS
from .families import recipe_of
from .faults import FAULTS
from .gate import has_effect
from .healthy import TRAPS
from .plan import COSTLY, Planned, config_style_of, style_of, voice_of
from .recipe import Recipe, config_of
from .scripts import SCRIPTS, run_script
from .trace import Trace
from .training import train
from .truth import Truth, read_truths
from .voice import Log, Voice, write_down

SEEDS = (0, 1, 2, 3, 4)
EPOCHS = 15
"""How many epochs a run has that logs once per epoch."""
DETAILS = frozenset({"layers", "update_ratio", "zero_share", "param_norm"})


@dataclass
class Maker:
    """Trains runs in this process and remembers the clean ones."""

    out: Path
    clean: dict[tuple[str, int], Trace] = field(default_factory=dict)

    def make(self, planned: Planned) -> Truth:
        """One run with its files and its label; the label comes last."""
        files, truth = self.train_one(planned)
        partial = self.out / "runs" / f".{planned.run_id}.part"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, text in files.items():
            (partial / name).write_bytes(text.encode())
        final = self.out / "runs" / planned.run_id
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
        truth.write(self.out / "truth")
        return truth

    def train_one(self, planned: Planned) -> tuple[dict[str, str], Truth]:
        """Files and label, by the kind of run."""
        if planned.source == "script":
            return _script(planned)
        return self.trap(planned) if planned.source == "trap" else self.fault(planned)

    def fault(self, planned: Planned) -> tuple[dict[str, str], Truth]:
        """A training with a fault, gated against its clean twin."""
        fault = FAULTS[planned.kind]
        recipe = recipe_of(planned.family, planned.seed)
        intended = recipe.clone()
        injection = fault.apply(recipe, planned.rng())
        voice = voice_of(planned, recipe, fault.needs)
        if voice.per_epoch:
            recipe.eval_every = recipe.steps // EPOCHS
        trace = train(recipe, injection.hooks, _wants(voice))
        finished = injection.finish(trace) if injection.finish else trace
        truth = _label(planned, voice, injection.silent_seconds)
        expect(truth)
        truth.verdict = "fault"
        if not fault.observable:
            truth.verdict = "unobservable"
        elif fault.is_gated:
            twin = None
            if injection.hooks and not voice.per_epoch and recipe != intended:
                twin = train(recipe, (), _wants(voice))
            truth.verdict = self.judge(planned, finished, voice, truth, twin)
        log = _log(planned, recipe, recipe if fault.in_config else intended, finished, voice)
        log.is_finished = injection.is_finished
        truth.onset = log.first_logged(injection.onset)
        return DIALECTS[voice.dialect](log), truth

    def judge(
        self, planned: Planned, trace: Trace, voice: Voice, truth: Truth, twin: Trace | None
    ) -> str:
        """The verdict of the effect gate and of the expert's eye.

        The twin has the same settings where the fault is not itself a setting.
        """
        fault = FAULTS[planned.kind]
        trace = _heard(trace, voice)
        healthy = [_heard(self.twin(planned.family, seed), voice) for seed in SEEDS]
        clean = _heard(twin, voice) if twin else healthy[planned.seed]
        own = healthy[0].steps == trace.steps
        effect, found, bar = has_effect(trace, clean, healthy, voice) if own else (True, 0.0, 0.0)
        truth.effect = [min(found, 1e9), bar]
        if not effect:
            return "inert"
        if fault.shows is not None and not fault.shows(trace, clean):
            return "ambiguous"
        return "fault"

    def twin(self, family: str, seed: int) -> Trace:
        """The family's clean run of a seed."""
        key = (family, seed)
        kept = self.out / "clean" / f"{family}-{seed}.pickle"
        if key not in self.clean and kept.exists():
            self.clean[key] = pickle.loads(kept.read_bytes())
        if key not in self.clean:
            wants = DETAILS | ({"memory"} if family in ("mlp", "chargpt", "recurrent") else set())
            self.clean[key] = train(recipe_of(family, seed), (), wants)
            partial = kept.with_suffix(f".{os.getpid()}.part")
            partial.write_bytes(pickle.dumps(self.clean[key]))
            partial.replace(kept)
        return self.clean[key]

    def trap(self, planned: Planned) -> tuple[dict[str, str], Truth]:
        """A healthy training."""
        trap = TRAPS[planned.kind]
        recipe = recipe_of(planned.family, planned.seed)
        injection = trap.apply(recipe, planned.rng())
        voice = voice_of(planned, recipe, trap.needs, trap.dialects, trap.voice)
        if voice.per_epoch:
            recipe.eval_every = recipe.steps // EPOCHS
        trace = train(recipe, injection.hooks, _wants(voice))
        if injection.finish:
            trace = injection.finish(trace)
        log = _log(planned, recipe, recipe, trace, voice)
        log.is_finished = injection.is_finished
        if trap.polish:
            trap.polish(log)
        truth = _label(planned, voice, injection.silent_seconds)
        truth.trap = trap.number
        return DIALECTS[voice.dialect](log), truth


def expect(truth: Truth) -> None:
    """Write the acceptable answers, as declared, into a label."""
    declared = FAULTS.get(truth.kind) or SCRIPTS.get(truth.kind)
    if declared is not None:
        truth.findings, truth.causes = list(declared.findings), list(declared.causes)
        truth.also, truth.done = list(declared.also), list(declared.named)


def _heard(trace: Trace, voice: Voice) -> Trace:
    """The part of a trace that reaches the log."""
    if voice.per_epoch:
        trace = replace(trace, steps_per_epoch=trace.steps // EPOCHS)
    return replace(trace, entries=write_down(trace, voice))


def _wants(voice: Voice) -> frozenset[str]:
    return frozenset(voice.signals & (DETAILS | {"memory"}))


def _log(planned: Planned, recipe: Recipe, configured: Recipe, trace: Trace, voice: Voice) -> Log:
    if voice.per_epoch:
        trace = replace(trace, steps_per_epoch=trace.steps // EPOCHS)
    size = trace.steps_per_epoch
    total = -(-recipe.steps // size) if voice.per_epoch else recipe.steps
    return Log(
        planned.run_id,
        voice,
        recipe,
        config_of(configured),
        write_down(trace, voice),
        size,
        total,
        config_style=config_style_of(planned),
    )


def _label(planned: Planned, voice: Voice, silent_seconds: float) -> Truth:
    return Truth(
        planned.run_id,
        planned.kind,
        "healthy",
        planned.split,
        planned.family,
        planned.seed,
        voice.dialect,
        interval=1 if voice.per_epoch else voice.interval,
        silent_seconds=silent_seconds,
        signals=sorted(voice.signals),
    )


def _script(planned: Planned) -> tuple[dict[str, str], Truth]:
    crash, style = SCRIPTS[planned.kind], style_of(planned)
    files, fail_at = run_script(crash, planned.seed, style)
    truth = _label(planned, Voice(style, frozenset({"loss", "lr"})), 60.0)
    truth.verdict = "fault" if crash.is_fault else "healthy"
    expect(truth)
    every = 10 if '"log_every": 10' in files["config.json"] else 5
    truth.interval = every
    truth.onset = -(-fail_at // every) * every if crash.has_onset else None
    return files, truth


def _work(task: tuple[list[Planned], Path]) -> list[str]:
    """Make a share of the runs; a run that cannot be made is named, the rest goes on."""
    torch.set_num_threads(1)
    planned, out = task
    maker, problems = Maker(out), []
    for place, one in enumerate(planned):
        start = time.monotonic()
        try:
            truth = maker.make(one)
        except Exception as problem:  # noqa: BLE001 - the bench goes on and reports it
            problems.append(
                f"{one.run_id} ({one.kind}, {one.family}, seed {one.seed}): {problem!r}"
            )
            print(problems[-1], file=sys.stderr, flush=True)
            continue
        took = time.monotonic() - start
        shown = f"{truth.verdict:12s} {one.kind:26s} {one.family:9s} {one.seed} {truth.dialect:9s}"
        print(f"[{place + 1}/{len(planned)}] {one.run_id} {shown} {took:5.1f} s", flush=True)
    return problems


def generate(planned: list[Planned], out: Path, jobs: int = 1) -> list[str]:
    """Make what is missing; returns what could not be made."""
    for name in ("runs", "truth", "clean"):
        (out / name).mkdir(parents=True, exist_ok=True)
    for truth in read_truths(out):
        expect(truth)
        truth.write(out / "truth")
    missing = [one for one in planned if not (out / "truth" / f"{one.run_id}.json").exists()]
    if jobs <= 1 or len(missing) < 2:
        return _work((missing, out))
    # Whole families to one process: it remembers their clean runs.
    shares: list[list[Planned]] = [[] for _ in range(jobs)]
    families = {one.family: [two for two in missing if two.family == one.family] for one in missing}
    for own in sorted(families.values(), key=_cost, reverse=True):
        min(shares, key=_cost).extend(own)
    tasks = [(share, out) for share in shares if share]
    # A pool's own processes may not start others, as trainings that measure memory must.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        return [text for part in pool.map(_work, tasks) for text in part]


def _cost(planned: list[Planned]) -> int:
    return sum(3 if one.family in COSTLY else 1 for one in planned)
