"""Objectives whose loss is not meant to fall: adversarial, reinforcement, and the like."""

from __future__ import annotations

import re

import numpy as np

from mltd.runs.roles import normalise

from ..core.facts import Facts
from ..core.view import RunView

_ADVERSARIAL = re.compile(
    r"\b(?:gan|discriminator|generator|d loss|g loss|loss d|loss g|errd|errg|d real|d fake|critic "
    r"loss|gen loss|disc loss|adv loss|loss (?:gen|disc)|lossd|lossg|scores (?:real|fake)|"
    r"dis loss|loss dis|net ?[dg] loss|loss net ?[dg]|[dg] (?:total|adv) loss|net[dg])\b"
)
_REINFORCEMENT = re.compile(
    r"\b(?:policy (?:gradient )?loss|policy|value loss|actor loss|critic loss|vf loss|pg loss|"
    r"loss (?:actor|critic|policy|pi|q)|pi loss|clip ?frac|ep ret|rollout|"
    r"ppo|dqn|a2c|sac|td3|reinforce|ep rew mean|ep len mean|episode (?:reward|return|length)|"
    r"reward|clip fraction|explained variance|advantage)\b"
)
_SELF_SUPERVISED = re.compile(
    r"\b(?:contrastive|nt ?xent|(?:info ?)?nce|simclr|moco|byol|dino|simsiam|barlow)\b"
)
_VARIATIONAL = re.compile(r"\b(?:kl (?:loss|div|weight)|elbo|vae|beta vae|kld)\b")
_KINDS = (
    (_ADVERSARIAL, "an adversarial objective: its losses balance rather than fall"),
    (_REINFORCEMENT, "reinforcement learning: the loss says little, the reward counts"),
    (_SELF_SUPERVISED, "a self-supervised objective: its loss need not fall steadily"),
    (_VARIATIONAL, "a variational objective: the KL term may rise while the model learns"),
)
_RAISED = re.compile(r"(?:.* )?(?:elbo|log ?likelihood|ll|log ?prob\w*)(?: (?:mean|avg))?")
_ESTIMATE = re.compile(
    r"(?:.* )?(?:q(?:f?[12])?(?: ?(?:mean|max|avg|values?))?|(?:mean|avg|max) q|qmax|qmean)"
)
_EXPLORES = re.compile(r"(?:.* )?(?:eps|epsilon)|explor\w*")
_EARNS = re.compile(
    r"(?:.* )?returns?|r|ret|rew|score|(?:avg|mean|ma)(?: (?:r|ret|rew|score))? ?\d+"
)
_OF_AGENTS = (_ESTIMATE, _EXPLORES, _EARNS)
"""Letters that mean little by themselves; two kinds of them are those of an agent."""
_MODEL_WORDS = ("model", "loss", "objective", "algorithm")


def non_monotone(view: RunView, facts: Facts) -> None:
    """Guard 10: rules for falling losses do not apply to these."""
    names = [(series.name, normalise(series.name)) for series in view.series]
    for pattern, sentence in _KINDS:
        for raw, name in names:
            if pattern.search(name):
                facts.is_monotone = facts.is_monotone and pattern is _VARIATIONAL
                facts.objective = facts.objective or f"{raw} is logged: {sentence}"
                series = next(s for s in view.series if s.name == raw)
                facts.notes.setdefault("objective", view.curve_of(series).remark(facts.objective))
                break
    loss = view.curve("train/loss")
    if loss is not None and _RAISED.fullmatch(normalise(loss.name)) and np.all(loss.y[:3] < 0):
        # Written with its own sign; those who minimise it write it as a positive number.
        facts.is_monotone = False
        facts.objective = f"{loss.name} is negative: a bound that is raised"
    _agents(view, names, facts)
    for meaning in _MODEL_WORDS:
        setting = view.settings.get(meaning)
        if setting is None or not isinstance(setting.value, str):
            continue
        for pattern, sentence in _KINDS[:3]:
            if pattern.search(normalise(setting.value)):
                facts.is_monotone = False
                facts.objective = (
                    facts.objective or f"{setting.path} is {setting.value}: {sentence}"
                )
                facts.notes.setdefault("objective", setting.evidence)


def _agents(view: RunView, names: list[tuple[str, str]], facts: Facts) -> None:
    """Logs of agents whose columns have one letter each: `eps` and `R`, `Q` and `avg50`."""
    found = [
        next((raw for raw, name in names if letters.fullmatch(name)), None)
        for letters in _OF_AGENTS
    ]
    known = [raw for raw in found if raw is not None]
    if len(known) < 2:
        return
    facts.is_monotone = False
    facts.objective = facts.objective or f"{known[1]} and {known[0]} are logged: {_KINDS[1][1]}"
    series = next(s for s in view.series if s.name == known[0])
    facts.notes.setdefault("objective", view.curve_of(series).remark(facts.objective))
