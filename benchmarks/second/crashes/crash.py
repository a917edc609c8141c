"""A training script with one mistake, and the answers that are right about its end."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.faults.truth import Truth

TEMPLATE = (Path(__file__).parent / "train.txt").read_text("utf-8")
RATE = "opt.param_groups[0]['lr']"
LINES = {
    "plain": (
        'f"step {step:5d} | loss {loss:.4f} | grad_norm {norm:.3f} | lr {'
        + RATE
        + ':.1e} | {(time.time() - start) / step * 1000:.1f} ms/step"'
    ),
    "dict": (
        '{"loss": round(loss, 4), "grad_norm": round(norm, 4), "learning_rate": '
        + RATE
        + ', "epoch": round(step / 125, 2)}'
    ),
    "json": 'json.dumps({"step": step, "train_loss": loss, "lr": ' + RATE + "})",
    "short": 'f"[{epoch}][{step}] loss={loss:.3f}"',
}
"""What the script prints of a step."""
INTERVALS = (5, 10, 20, 25)
FIRST_NUMBER = 900
"""Where numbers begin, beyond those of trained runs."""


@dataclass(frozen=True)
class Crash:
    """One such script."""

    id: str
    line: str
    changes: dict[str, str]
    """Code for the marked places of the template."""
    findings: tuple[str, ...]
    causes: tuple[str, ...]
    also: tuple[str, ...] = ()
    workers: int = 0
    """Processes that load data."""
    ranks: int = 1
    """With more, torchrun starts them."""
    number: int = 0
    seed_base: int = 0
    done: tuple[str, ...] = field(default=())

    @property
    def run_id(self) -> str:
        """A name that tells nothing."""
        name = f"{self.seed_base}/{FIRST_NUMBER + self.number}/{self.id}"
        return "r" + hashlib.sha256(name.encode()).hexdigest()[:8]

    @property
    def seed(self) -> int:
        """Of the script."""
        return self.seed_base + self.number

    @property
    def every(self) -> int:
        """Steps between two logged ones."""
        return INTERVALS[self.number % len(INTERVALS)]

    @property
    def family(self) -> str:
        """What the script trains."""
        return "lstm"

    @property
    def cost(self) -> int:
        """About as long as so many steps of the other runs."""
        return 2000

    def source(self) -> str:
        """The script."""
        facts = {
            "SEED": self.seed,
            "WORKERS": self.workers,
            "EVERY": self.every,
            "LINE": LINES[self.line],
        }
        text = TEMPLATE
        for mark in re.findall(r"@[A-Z]+@", TEMPLATE):
            name = mark.strip("@")
            if name in facts:
                text = text.replace(mark, str(facts[name]))
            elif name in self.changes:
                text = text.replace(mark, self.changes[name])
            else:
                text = re.sub(rf"\n *{mark}", "", text)
        return text

    def truth(self, split: str) -> Truth:
        """The label."""
        return Truth(
            self.run_id,
            self.id,
            "fault",
            split,
            self.family,
            self.seed,
            "torchrun" if self.ranks > 1 else self.line,
            findings=list(self.findings),
            causes=list(self.causes),
            done=list(self.done or self.causes[:1]),
            also=["exception", *self.also],
            interval=self.every,
        )
