"""What a run states about its precision, activations, clipping and initialisation."""

from __future__ import annotations

import re

from mltd.runs.roles import normalise

from ..core.case import Case
from ..core.finding import Evidence, EvidenceKind
from ..core.settings_lookup import Setting

_HALF = re.compile(r"^(?:torch\.|tf\.|jnp\.)?(?:fp16|float16|half|16|16-mixed|f16|o[123])\b")
_BRAIN = re.compile(r"bf16|bfloat16")
_YES = ("true", "1", "yes", "on", "1.0")
_NO = ("none", "null", "false", "0", "0.0", "", "no", "-1", "inf")
_RECURRENT = re.compile(r"(?:^|[\s_\-./])(?:lstm|gru|rnn|recurrent|elman|seq2seq)", re.IGNORECASE)
_SQUASHING = ("sigmoid", "tanh", "softsign", "logistic", "hardtanh")


def half_precision(case: Case) -> Evidence | None:
    """Where the run says that it computes in float16; None if it does not say so."""
    for meaning in ("precision", "fp16", "half"):
        setting = case.setting(meaning)
        if setting is None:
            continue
        name = normalise(setting.path.rpartition(".")[2])
        if _HALF.match(setting.text) and not (name == "fp16" and setting.text == "16"):
            return setting.evidence
        if name in ("fp16", "half") and setting.text in _YES:
            return setting.evidence
    fp16 = next((s for s in case.view.settings if _leaf(s) == "fp16" and s.text in _YES), None)
    return fp16.evidence if fp16 is not None else None


def brain_precision(case: Case) -> Evidence | None:
    """Where the run says that it computes in bfloat16, which hardly over- or underflows."""
    setting = case.setting("precision")
    if setting is not None and _BRAIN.search(setting.text):
        return setting.evidence
    setting = case.setting("bf16")
    return setting.evidence if setting is not None and setting.text in _YES else None


def squashing_activation(case: Case) -> Setting | None:
    """The activation, if its slope goes to zero on both sides."""
    setting = case.setting("activation")
    is_squashing = setting is not None and any(word in setting.text for word in _SQUASHING)
    return setting if is_squashing else None


def plain_relu(case: Case) -> Setting | None:
    """The activation, if units of its kind can die."""
    setting = case.setting("activation")
    if setting is None or "relu" not in setting.text:
        return None
    return None if re.search(r"leaky|prelu|rrelu|celu", setting.text) else setting


def clipping(case: Case) -> tuple[Setting | None, bool]:
    """The clip setting, and whether gradients are clipped by it."""
    setting = case.setting("clip")
    if setting is None or setting.value is None or setting.text in _NO:
        return setting, False
    return setting, setting.number is None or setting.number > 0


def no_clipping(case: Case) -> Evidence | None:
    """Evidence that gradients are not clipped: a clip of 0, or a config that has none."""
    setting, is_on = clipping(case)
    if is_on or not case.view.settings:
        return None
    if setting is not None:
        return setting.evidence
    count = sum(1 for _ in case.view.settings)
    return Evidence(EvidenceKind.CONFIG, "config", f"no clipping among its {count} settings")


def recurrent_model(case: Case) -> Evidence | None:
    """Where the run says that its model is recurrent."""
    for setting in case.view.settings:
        leaf = _leaf(setting)
        if isinstance(setting.value, str) and len(setting.value) < 80:
            names = leaf.split()
            is_model = {"model", "arch", "architecture", "cell", "type", "kind", "name", "family"}
            if is_model.intersection(names) and _RECURRENT.search(f" {setting.value}"):
                return setting.evidence
        if _RECURRENT.search(f" {leaf}"):
            return setting.evidence
    return None


def odd_initialisation(case: Case) -> Setting | None:
    """A setting that initialises weights or biases far from the usual."""
    for setting in case.view.settings:
        words = set(_leaf(setting).split())
        number = setting.number
        if not words & {"init", "initializer", "initialization", "gain"} or number is None:
            continue
        if "bias" in words:
            if abs(number) >= 1:
                return setting
        elif words & {"gain", "scale", "factor", "mult"}:
            if number > 1.5 or 0 <= number < 0.3:
                return setting
        elif words & {"std", "range", "stddev", "sigma"} and (number > 0.15 or 0 <= number < 1e-3):
            return setting
    return None


def _leaf(setting: Setting) -> str:
    return normalise(setting.path.rpartition(".")[2])
