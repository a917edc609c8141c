"""Tuning of the pretrained character model towards a crude reward, by policy gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..clock import Clock
from ..hook import Hook
from ..job import Job, Row
from ..tasks.finetuning import load_pretrained
from ..tasks.text import decode, encode

PROMPTS = ("def ", "self", "    ", "The ", "is n", "for ", "retu", "in t") * 3
ASKED = 4
"""Characters of a prompt."""
ANSWERED = 20
SAMPLE_EVERY = 4
"""Logged steps between two shown samples."""


def reward(text: str) -> float:
    """Share of frequent letters: easy to satisfy by repeating one of them."""
    return sum(letter in "eta" for letter in text) / len(text)


def distinct_pairs(texts: Sequence[str]) -> float:
    """Different pairs of letters among all pairs."""
    pairs = [text[place : place + 2] for text in texts for place in range(len(text) - 1)]
    return len(set(pairs)) / len(pairs)


class RewardTuning:
    """The model and its frozen reference; the option `leash` weighs their distance."""

    def __init__(self, job: Job) -> None:
        self.job = job
        torch.manual_seed(job.seed)
        self.model = load_pretrained(job.options["weights"])
        self.reference = load_pretrained(job.options["weights"])
        self.optimizer = torch.optim.Adam(self.model.parameters(), job.lr)
        self.leash: float = job.options.get("leash", 0.05)

    def answer(self) -> Tensor:
        """Prompts with what the model adds to them."""
        numbers = torch.stack([encode(prompt) for prompt in PROMPTS])
        with torch.no_grad():
            for _ in range(ANSWERED):
                odds = self.model(numbers)[:, -1].softmax(-1)
                numbers = torch.cat([numbers, torch.multinomial(odds, 1)], 1)
        return numbers

    def iterate(self) -> tuple[dict[str, float], str]:
        """One update: what there is to log, and a sample."""
        numbers = self.answer()
        texts = [decode(line) for line in numbers.tolist()]
        answers = [text[ASKED:] for text in texts]
        rewards = torch.tensor([reward(text) for text in answers])
        odds = self.model(numbers[:, :-1])[:, ASKED - 1 :].log_softmax(-1)
        with torch.no_grad():
            usual = self.reference(numbers[:, :-1])[:, ASKED - 1 :].log_softmax(-1)
        taken = numbers[:, ASKED:, None]
        own, theirs = odds.gather(2, taken)[..., 0], usual.gather(2, taken)[..., 0]
        distance = (odds.exp() * (odds - usual)).sum(-1).sum(1)
        entropy = -(odds.exp() * odds).sum(-1).mean()
        score = rewards - self.leash * (own - theirs).detach().sum(1)
        better = (score - score.mean()) / (score.std() + 1e-4)
        loss = -(own.sum(1) * better).mean() + self.leash * distance.mean()
        self.optimizer.zero_grad()
        torch.autograd.backward([loss])
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.job.clip or 1e9)
        self.optimizer.step()
        return {
            "loss": loss.item(),
            "lr": self.job.lr,
            "grad_norm": norm.item(),
            "rewards/mean": rewards.mean().item(),
            "rewards/std": rewards.std().item(),
            "objective/kl": distance.mean().item(),
            "policy/entropy": entropy.item(),
            "distinct_2": distinct_pairs(answers),
        }, texts[0]


def reward_tuning(job: Job) -> list[Row]:
    """Everything that such a job logs."""
    tuning, clock = RewardTuning(job), Clock(job, Hook())
    rows: list[Row] = []
    for step in range(1, job.last_step + 1):
        values, sample = tuning.iterate()
        seconds = clock.tick(step)
        if step % job.every == 0 or step == 1:
            machine = {"step_time": seconds, "tps": len(PROMPTS) * ANSWERED / seconds}
            rows.append(Row("train", step, clock.now, {**values, **machine, "mem": job.memory}))
        if step % (job.every * SAMPLE_EVERY) == 0:
            rows.append(Row("sample", step, clock.now, text=sample))
    return rows
