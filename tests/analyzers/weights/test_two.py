"""Two checkpoints: what moved, what never did, and what does not fit."""

from __future__ import annotations

from pathlib import Path

from mltd.analyzers.core.finding import Severity
from mltd.analyzers.weights import inspect_weights
from mltd.runs.run import Run
from tests.runs.checkpoints.looking import look

from .models import Gpt, inspected, made, save, torch, train


def test_a_layer_that_never_moved_in_the_middle_is_named(tmp_path: Path) -> None:
    model = made("gpt")
    first = save(tmp_path / "a.pt", model, step=0)
    model.h[2].requires_grad_(False)
    train(model, 12)
    second = save(tmp_path / "b.pt", model, step=12)
    found = inspected(first, second)
    (finding,) = found.findings
    assert (finding.id, finding.severity) == ("frozen_layers", Severity.WARNING)
    assert "h.2.ln_1, h.2.ln_2, h.2.attn and 3 more" in finding.title
    assert finding.evidence[0].ref == "b.pt:h.2.ln_1.weight"
    assert {move.name for move in found.moves if move.is_still} == {
        f"h.2.{name}"
        for name in ("ln_1", "ln_2", "attn", "attn.out_proj", "mlp.c_fc", "mlp.c_proj")
    }
    moved = next(move for move in found.moves if move.name == "h.0.mlp.c_fc")
    assert moved.relative is not None
    assert 0 < moved.relative < 1
    assert found.causes[0].id == "frozen_parameters"


def test_a_layer_that_the_optimizer_was_not_given_is_an_alarm(tmp_path: Path) -> None:
    model = made("mlp")
    first = save(tmp_path / "a.pt", model, step=0)
    named = [(name, p) for name, p in model.named_parameters() if "net.2" not in name]
    optimizer = torch.optim.Adam(named)
    for _ in range(12):
        optimizer.zero_grad()
        model(torch.rand(8, 16)).square().mean().backward()
        optimizer.step()
    found = inspected(first, save(tmp_path / "b.pt", model, optimizer, 12))
    (finding,) = [f for f in found.findings if f.is_alarm]
    assert finding.id == "frozen_layers"
    assert finding.title == (
        "1 layer did not move at all (76% of the parameters; the optimizer does not hold them): "
        "net.2"
    )


def test_the_update_of_a_layer_is_that_of_all_its_tensors(tmp_path: Path) -> None:
    model = made("mlp")
    first = save(tmp_path / "a.pt", model)
    before = [p.detach().clone() for p in model.net[2].parameters()]
    train(model, 5)
    found = inspected(first, save(tmp_path / "b.pt", model))
    moved = next(move for move in found.moves if move.name == "net.2")
    after = list(model.net[2].parameters())
    update = sum(float((b - a).detach().square().sum()) for a, b in zip(before, after, strict=True))
    assert abs(moved.update - update**0.5) < 1e-5


def test_nothing_moved_in_many_steps_is_critical_and_in_none_is_not(tmp_path: Path) -> None:
    model = made("mlp")
    first = save(tmp_path / "a.pt", model, step=0)
    (finding,) = inspected(first, save(tmp_path / "b.pt", model, step=500)).findings
    assert (finding.id, finding.severity) == ("frozen_layers", Severity.CRITICAL)
    assert "changed in 500 steps" in finding.title
    (finding,) = inspected(first, save(tmp_path / "c.pt", model, step=0)).findings
    assert finding.severity is Severity.INFO


def test_a_nan_between_two_checkpoints_is_placed_between_their_steps(tmp_path: Path) -> None:
    model = made("mlp")
    first = save(tmp_path / "a.pt", model, step=100)
    train(model, 3)
    with torch.no_grad():
        model.net[2].bias[1] = float("nan")
    found = inspected(first, save(tmp_path / "b.pt", model, step=200))
    (finding,) = [f for f in found.findings if f.is_alarm]
    assert finding.title == (
        "1 tensor became NaN or infinite between steps 100 and 200: net.2.bias"
    )
    assert finding.first_step == 100


def test_a_prefix_is_told_with_the_line_that_strips_it(tmp_path: Path) -> None:
    model = made("mlp")
    torch.save(model.state_dict(), tmp_path / "a.pt")
    wrapped = {f"module.{name}": value for name, value in model.state_dict().items()}
    torch.save(wrapped, tmp_path / "b.pt")
    found = inspected(tmp_path / "a.pt", tmp_path / "b.pt")
    (finding,) = [f for f in found.findings if f.is_alarm]
    assert finding.id == "checkpoint_mismatch"
    assert "all names of the second begin with 'module.'" in finding.title
    assert found.causes[0].id == "incompatible_checkpoint"
    assert "removeprefix('module.')" in found.fixes[0].example


def test_names_and_shapes_that_differ_come_with_the_closest_names(tmp_path: Path) -> None:
    state = made("gpt").state_dict()
    torch.save(dict(state), tmp_path / "a.pt")
    state["ln_final.weight"] = state.pop("ln_f.weight")
    state["wpe.weight"] = torch.randn(32, 32)
    torch.save(dict(state), tmp_path / "b.pt")
    found = inspected(tmp_path / "a.pt", tmp_path / "b.pt")
    (finding,) = [f for f in found.findings if f.is_alarm]
    assert "1 tensor has two shapes (wpe.weight: 16 x 32 and 32 x 32)" in finding.title
    quotes = {e.ref: e.quote for e in finding.evidence}
    assert quotes["a.pt:wpe.weight"] == "16 x 32, 32 x 32 in the other"
    assert "closest there: ln_final.weight (the same shape)" in quotes["a.pt:ln_f.weight"]
    assert "[32, 32] there and [16, 32] here" in found.causes[0].issue


def test_with_a_log_causes_weigh_both(tmp_path: Path) -> None:
    torch.manual_seed(0)
    path = save(tmp_path / "m.pt", Gpt(words=2000, layers=1))
    alone = inspect_weights(look(path))
    assert [finding.id for finding in alone.findings] == ["param_imbalance"]
    assert alone.causes == ()
    run = Run("with settings")
    run.add_config({"vocab_size": 2000})
    together = inspect_weights(look(path), run=run)
    assert "vocab_size 2000 -> 256" in together.fixes[0].change


def test_a_layer_of_which_only_the_bias_stood_still_has_moved(tmp_path: Path) -> None:
    model = made("mlp")
    first = save(tmp_path / "a.pt", model, step=0)
    with torch.no_grad():
        model.net[2].weight.add_(0.1)
    found = inspected(first, save(tmp_path / "b.pt", model, step=12))
    (finding,) = [one for one in found.findings if one.id == "frozen_layers"]
    assert "net.2.bias" in finding.title
    assert "net.0" in finding.title


def test_two_models_that_were_started_apart_are_told_from_one_training(tmp_path: Path) -> None:
    model = made("gpt")
    first = save(tmp_path / "a.pt", model)
    train(model, 5)
    later = save(tmp_path / "b.pt", model)
    torch.manual_seed(99)
    other = save(tmp_path / "c.pt", Gpt())
    said = [
        any("one training" in r for r in inspected(first, two).remarks) for two in (later, other)
    ]
    assert said == [False, True]
