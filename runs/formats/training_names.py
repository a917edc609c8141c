"""Do these field names come from a training run, or from any other table of numbers?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..roles import shipped
from .axis_names import axis_of, is_counter

# Words that hardly any other table has; the vocabulary in `roles` also knows "score" or "cost".
_METRIC = re.compile(
    r"(?<![a-z])(loss|losses|logloss|acc|accuracy|lr|learning[_ ]?rate|grad[_ ]?norm|ppl|"
    r"perplexity|bleu|rouge|wer|f1|auc|auroc|miou|iou|psnr|fid|rmse|mae|mse|mape|ndcg|reward|"
    r"fitness|"
    r"cross[_ ]?entropy|ep_rew\w*|kl|elbo|nll|bpb|pearson|spearman|loss_scale|weight[_ ]?decay)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_AMBIGUOUS = {
    "loss",
    "losses",
    "reward",
    "acc",
    "accuracy",
    "kl",
    "lr",
    "learning_rate",
    "weight_decay",
}
_UNMISTAKABLE_AXIS = re.compile(
    r"_?(?:(?:train|trainer|training)[/_])?(?:global_|current_)?(?:step|epoch|iter|iteration)", re.I
)
_MANY_METRICS = 4


def is_training_axis(name: str) -> bool:
    """True for names that hardly anything but an optimiser's loop has, such as `epoch`."""
    return _UNMISTAKABLE_AXIS.fullmatch(name.strip()) is not None


def _is_loss_of_split(name: str) -> bool:
    """True for `Trainingsverlust`: a loss, in whatever language, that names its data."""
    roles = shipped()
    role = roles.role_of(name) or ""
    return role.endswith("/loss") and bool(roles.split_of(name))


def training_likeness(names: Sequence[str]) -> float:
    """How much (0..1) the fields of a record look like a training log."""
    roles = shipped()
    values = [name for name in names if name.strip() and axis_of(name) is None]
    axes = {axis_of(name) for name in names} & {"step", "epoch"}
    has_training_axis = any(is_training_axis(name) for name in names)
    metrics = [name for name in values if _METRIC.search(name) or _is_loss_of_split(name)]
    if not values:
        return 0.0
    if metrics and axes:
        return 0.95
    if metrics and len(names) > 1 and is_counter(names[0]):
        return 0.75
    if has_training_axis and any(roles.is_known(name) for name in values):
        return 0.85
    if has_training_axis and ("epoch" in axes or any(roles.split_of(name) for name in values)):
        return 0.75
    if has_training_axis:
        return 0.5
    clear = [name for name in metrics if name.strip().lower() not in _AMBIGUOUS]
    is_mostly_metrics = len(clear) * 2 >= len(values) or len(clear) >= _MANY_METRICS
    if is_mostly_metrics or any(roles.split_of(name) for name in metrics):
        return 0.6
    return 0.0
