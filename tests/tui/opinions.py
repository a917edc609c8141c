"""A made-up second opinion, as the engine would tell it, and the events on the way to it."""

from __future__ import annotations

from mltd.diagnosis.events import (
    Answered,
    Event,
    Retrying,
    Text,
    Thinking,
    ToolCalled,
    ToolDone,
    Usage,
)
from mltd.diagnosis.preview import Preview
from mltd.tui.engine.consult_protocol import (
    Cited,
    Consulted,
    Needed,
    OpinedCause,
    OpinedFix,
    OpinionPage,
    Packed,
    Stand,
)

MODEL = "claude-sonnet-5-5"
USED = Usage(18_204, 1_903, 41_220, 0.0342, 48.7)

GOOD = Cited(
    "log",
    "run1/train.log:812-815",
    "train.log:812-815",
    0,
    "step 24590 loss 18.42 grad_norm 913.4",
    "the loss leaves its range in one step",
)
CURVE = Cited(
    "series", "grad_norm@24580", "grad_norm@24580", 0, "37.2", "it rises ten steps before"
)
MOVED = Cited(
    "config",
    "config:optimizer.lr",
    "config:optimizer.lr",
    0,
    "0.01",
    "ten times the usual peak for a model of this size",
    "elsewhere",
    "it is called optimizer.lr here, not train.lr",
)
STRUCK = Cited(
    "log",
    "run1/train.log:799",
    "train.log:799",
    0,
    "gradient clipping disabled",
    "clipping was off",
    "wrong",
    "line 799 says: step 24577 loss 2.31 grad_norm 3.1",
)
UNSEEN = Cited(
    "source",
    "train.py:88",
    "",
    None,
    "torch.nn.utils.clip_grad_norm_",
    "",
    "unreadable",
    "train.py is not part of this session",
)
DOUBT = Cited("words", quote="The same peak did no harm in the run of Tuesday, on other data.")

LR = OpinedCause(
    "lr_too_high",
    "The peak learning rate of 0.01 made the gradients explode right after warm-up ended.",
    "critical",
    0.70,
    0.90,
    "inference",
    0.70,
    True,
    "Warm-up ends at step 24,500 with lr 0.01. The gradient norm rises from 3 to 37 within 80 "
    "steps, then the loss jumps from 2.3 to 18.4 and never comes back.\n\n"
    "- before: loss 2.31, grad_norm 3.1\n- after: loss 18.42, grad_norm 913",
    ("loss_divergence", "grad_norm_explosion"),
    (GOOD, CURVE, MOVED, STRUCK, UNSEEN),
    (DOUBT,),
    ("inference bears 0.70 at most",),
    '{"id": "H?"}',
)
DATA = OpinedCause(
    "corrupt_batch",
    "A batch of broken samples at step 24,590 may have started it.",
    "warning",
    0.30,
    0.30,
    "inference",
    0.70,
    False,
    explains=("loss_divergence",),
)
CLIP = OpinedFix(
    "Clip the gradients",
    "max_grad_norm 0 -> 1.0",
    "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()",
    "lr_too_high",
    "grad_norm stays below 1.0, and train/loss below 2.4 through step 26,000",
    "resume from the checkpoint of step 24,000 and watch grad_norm for 500 steps",
    "lower the peak learning rate to 3e-3",
    is_quick=True,
)
WIPE = OpinedFix(
    "Start afresh without the bad checkpoints",
    "remove every checkpoint after step 24,500",
    "rm -rf checkpoints/step-245*",
    "lr_too_high",
    is_reversible=False,
    dangers=("deletes files (rm -rf checkpoints/step-245*)",),
)
PAGE = OpinionPage(
    "needs_more_data",
    "The run diverged at step 24,590, 90 steps after warm-up reached its peak learning rate of "
    "0.01. The gradients grew first, so the optimiser and not the data is the likelier cause. "
    "Clip the gradients and resume from step 24,000.",
    "4 of 6 citations confirmed, 1 wrong, 1 could not be checked",
    (LR, DATA),
    (CLIP, WIPE),
    (
        Needed(
            "grad_norm per layer for 200 steps before the jump",
            "tells one bad layer from a learning rate that is too high for all",
            "probe.watch(model, optimizer, path) from step 24,300",
        ),
    ),
    (
        Stand(
            "agree", "cause", "lr_too_high", 0.78, "lr_too_high", 0.70, "the same chain of steps"
        ),
        Stand("disagree", "cause", "data_order", 0.41, "corrupt_batch", 0.30, "one batch, not all"),
        Stand("only Claude", "cause", claudes="weight_decay_off", claudes_confidence=0.2),
        Stand("only analyzers", "finding", "throughput_drop", 0.90),
        Stand("agree", "finding", "loss_divergence", 0.95),
    ),
    ("Two fixes were given twice; one of each is shown.",),
)
EVENTS: tuple[Event, ...] = (
    Thinking("The loss leaves its range at step 24,590. What happened to the gradients before? "),
    Thinking("Let me look at the lines around it, and at the series of grad_norm.\n" * 6),
    Text("I will look at the lines around the jump first."),
    ToolCalled("1", "read_lines", "run1/train.log 780-830"),
    ToolDone("1", "51 lines"),
    ToolCalled("2", "query_series", "grad_norm around 24590, 40 points on each side of it"),
    ToolDone("2", "81 points, 2.9 to 913.4"),
    ToolCalled("3", "read_source", "/etc/passwd"),
    ToolDone("3", "not part of this session", True),
    Retrying(12.0, "the service is overloaded (529)"),
    Usage(9_100, 700, 12_000, 0.012, 20.0),
    Text(" The gradients rise first; the config says why."),
)
DONE = (*EVENTS, Answered("{}"))


def packed(ticket: int = 1) -> Packed:
    """Evidence that is ready to be sent."""
    preview = Preview("api.anthropic.com", MODEL, 9_000, 12_000, 0.03, {}, (), (), 20_000)
    return Packed(ticket, preview, "the evidence")


def consulted(
    page: OpinionPage | None = PAGE,
    *,
    question: str = "",
    text: str = "",
    problem: str = "",
    hint: str = "",
    is_cancelled: bool = False,
) -> Consulted:
    """The end of a question."""
    return Consulted(1, question, text, USED, page, problem, hint, is_cancelled)
