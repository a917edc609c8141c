"""What names mean, in the languages and spellings that logs have."""

from __future__ import annotations

import pytest

from mltd.runs.roles import shipped


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("train/CrossEntropyLoss", "train/loss"),
        ("metrics/eval/LanguageCrossEntropy", "val/loss"),
        ("Validation-cross-entropy", "val/loss"),
        ("xent", "train/loss"),
        ("neg_log_likelihood", "train/loss"),
        ("policy_entropy", "entropy"),
        ("entropy_loss", "entropy"),
        ("targets/neg_log_perplexity", "log_likelihood"),
        ("perplexity", "train/perplexity"),
        ("optim/learning_rate_group0", "lr"),
        ("optim0_lr0", "lr"),
        ("critic/rewards/mean", "reward"),
        ("x/lr0", "lr"),
        ("Train loss_scale (avg)", "loss_scale"),
    ],
)
def test_what_a_name_means(name: str, role: str) -> None:
    assert shipped().role_of(name) == role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("last_data_time", "data_time"),
        ("loader_time", "data_time"),
        ("avg_loader_time", "data_time"),
        ("perf/dataloader_time", "data_time"),
        ("last_time", "step_time"),
        ("iter time (s)", "step_time"),
        ("train_step_timing in s", "step_time"),
        ("l2_norm/grad/global", "grad_norm"),
        ("Train l2_norm/grad/global", "grad_norm"),
        ("mAP50", "score"),
        ("mAP50-95)", "score"),
        ("metrics/mAP50-95(B)", "score"),
        ("bbox/AP75", "score"),
        ("eval_sts-dev_spearman_cosine", "val/score"),
        ("actor_ent", "entropy"),
        ("charts/SPS", "throughput"),
        ("Worker 0 memory usage", "memory"),
        ("[valid] cer_ctc", "val/error_rate"),
        ("DEV f1-score (micro avg)", "val/score"),
        ("test-mlogloss", "test/loss"),
        ("fps total", "throughput"),
        ("Initial learn rate", None),
        ("gpu_0_memory_MB", "memory"),
        ("throughput/total_tokens", None),
        ("throughput/device/tokens_per_second", "throughput"),
    ],
)
def test_what_names_of_frameworks_mean(name: str, role: str | None) -> None:
    assert shipped().role_of(name) == role


@pytest.mark.parametrize(
    ("name", "axis"), [("steps_completed", "step"), ("dev_other_num_updates", "step")]
)
def test_names_of_coordinates(name: str, axis: str) -> None:
    assert shipped().axis_of(name) == axis


@pytest.mark.parametrize("name", ["val_best_epoch", "train_time_step", "other_num_updates"])
def test_a_coordinate_within_a_longer_name_is_none(name: str) -> None:
    assert shipped().axis_of(name) is None


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("训练损失", "train/loss"),
        ("验证损失", "val/loss"),
        ("损失值", "train/loss"),
        ("验证准确率", "val/accuracy"),
        ("梯度范数", "grad_norm"),
        ("検証損失", "val/loss"),
        ("학습률", "lr"),
        ("Trainingsverlust", "train/loss"),
        ("Validierungsverlust", "val/loss"),
        ("Lernrate", "lr"),
        ("perte d'entraînement", "train/loss"),
        ("perte de validation", "val/loss"),
        ("потери (валидация)", "val/loss"),
        ("pérdida_val", "val/loss"),
    ],
)
def test_other_languages_are_read_also_where_they_write_words_together(
    name: str, role: str
) -> None:
    assert shipped().role_of(name) == role


@pytest.mark.parametrize("name", ["val_loss_freq", "loss weight", "loss (change)"])
def test_how_often_how_heavy_and_how_much_more_is_no_loss(name: str) -> None:
    assert shipped().role_of(name) is None


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("gn", "grad_norm"),
        ("Grad", "grad_norm"),
        ("infonce", "train/loss"),
        ("‖g‖", "grad_norm"),
        ("‖∇L‖", "grad_norm"),
        ("‖w‖", "param_norm"),
        ("vloss", "val/loss"),
        ("trainacc", "train/accuracy"),
        ("tppl", "train/perplexity"),
        ("lossD", "train/loss"),
        ("kld", "kl"),
        ("ep_ret", "reward"),
        ("sec/batch", "step_time"),
        ("sec", "step_time"),
        ("ms", "step_time"),
        ("holdout_loss", "val/loss"),
        ("metrics/loss/total", "train/loss"),
        ("stats/eval/accuracy", "val/accuracy"),
        ("metrics/colour", None),
    ],
)
def test_short_names(name: str, role: str | None) -> None:
    assert shipped().role_of(name) == role
