"""Hostile and unusual logs of any size, each made by a generator that never ends by itself."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO

WORDS = [
    "the", "model", "was", "trained", "with", "data", "from", "many", "sources", "and", "we",
    "found", "that", "loader", "shards", "are", "slow", "when", "cache", "misses", "happen",
    "while", "tokens", "of", "each", "document", "wait", "for", "workers", "on", "node",
]  # fmt: skip
FRAMES = 50
"""Frames of a long traceback."""

Generator = Callable[[random.Random], Iterator[str | bytes]]


# -- ordinary ------------------------------------------------------------------------------


def ordinary(rng: random.Random) -> Iterator[str]:
    """A log as the logging module prints it, with a validation and a warning now and then."""
    for step in count(1):
        yield (
            f"2024-01-{1 + step // 86400 % 28:02d} {step // 3600 % 24:02d}:"
            f"{step // 60 % 60:02d}:{step % 60:02d},123 - trainer - INFO - "
            f"step {step}/9000000: loss {3 / step + rng.random() / 9:.4f}, "
            f"grad_norm {rng.random() * 3:.3f}, lr {1e-4:.3e}, tok/s {1e5 + rng.random():.1f}\n"
        )
        if step % 1000 == 0:
            yield f"validation at step {step}: val_loss {rng.random():.4f}\n"
            yield "WARNING - trainer - the data loader is slow, 3 workers are not enough\n"


# -- names ---------------------------------------------------------------------------------


def _letters(number: int, length: int = 5) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(length))


def names(rng: random.Random) -> Iterator[str]:
    """A new metric name in every line."""
    for index in count():
        yield f"step {index} metric_{index:05d}_value {rng.random():.4f}\n"


def names_in_letters(rng: random.Random) -> Iterator[str]:
    """A new metric name without digits in every line."""
    for index in count():
        yield f"step={index} {_letters(index)}_loss={rng.random():.4f}\n"


def names_three_times(rng: random.Random) -> Iterator[str]:
    """Metric names that each come three times in a row, so that all are metrics."""
    for index in count():
        yield f"step {index} metric_{index // 3}_loss {rng.random():.4f}\n"


def names_repeated(rng: random.Random) -> Iterator[str]:
    """5,000 metric names, one per line, repeated."""
    for index in count():
        yield f"step {index // 5000} expert_{index % 5000}/load={rng.random():.4f}\n"


def names_of_losses(rng: random.Random) -> Iterator[str]:
    """30,000 losses of training and validation, one per line, repeated."""
    for index in count():
        split = ("train", "val", "test")[index % 3]
        yield f"step {index // 30000} {split}/task_{index % 30000}/loss={rng.random():.4f}\n"


def tags(rng: random.Random) -> Iterator[str]:
    """Tags as TensorBoard has them, one per line."""
    for index in count():
        yield (
            f"train/block_{index % 97}/expert_{index // 97 % 311}/head_{index % 13}/entropy: "
            f"{rng.random():.5f} (step {index // 30167})\n"
        )


def accuracies(rng: random.Random) -> Iterator[str]:
    """New names of accuracies, three times each, above 100 %."""
    for index in count():
        yield f"step {index} task_{index // 3}/accuracy {rng.random() * 900:.2f}\n"


def units(rng: random.Random) -> Iterator[str]:
    """One name with a unit, a split or a word of its own in every line."""
    for index in count():
        yield f"step {index} time {rng.random():.3f} {_letters(index)}/s\n"


def no_separators(rng: random.Random) -> Iterator[str]:
    """Pairs without anything between them."""
    for index in count():
        yield "".join(f"key{index}n{n}={rng.random():.3f}" for n in range(20)) + "\n"


# -- templates -----------------------------------------------------------------------------


def templates(rng: random.Random) -> Iterator[str]:
    """A new shape in every line."""
    for index in count():
        yield (
            f"the {_letters(index)} of {rng.choice(WORDS)} is now {rng.random():.3f} "
            f"after {index}\n"
        )


def templates_of_metrics(rng: random.Random) -> Iterator[str]:
    """A new shape in every line, each with a step and a loss."""
    for index in count():
        yield f"{_letters(index)} step {index} loss {rng.random():.3f} of {_letters(index)}\n"


def word_templates(rng: random.Random) -> Iterator[str]:
    """Distinct lines of words without numbers."""
    for _ in count():
        yield " ".join(rng.choice(WORDS) + rng.choice(WORDS) for _ in range(6)) + "\n"


def prose(rng: random.Random) -> Iterator[str]:
    """Distinct sentences with many numbers."""
    for _ in count():
        words = (
            str(rng.randrange(10 ** rng.randrange(1, 6)))
            if rng.random() < 0.3
            else rng.choice(WORDS)
            for _ in range(rng.randrange(8, 25))
        )
        yield " ".join(words) + ".\n"


def plain_prose(rng: random.Random) -> Iterator[str]:
    """Distinct sentences without a number."""
    for _ in count():
        yield " ".join(rng.choice(WORDS) for _ in range(rng.randrange(8, 25))) + ".\n"


def dates(rng: random.Random) -> Iterator[str]:
    """Dates in many formats."""
    for index in count():
        day, hour, second = 1 + index % 28, index % 24, index % 60
        form = (
            f"2024-01-{day:02d}T{hour:02d}:00:{second:02d}.123Z",
            f"[{day:02d}/Jan/2024:{hour:02d}:00:{second:02d} +0000]",
            f"Jan {day:2d} {hour:02d}:00:{second:02d}",
            f"{day:02d}.01.2024 {hour:02d}:00",
            f"Mon Jan {day} {hour:02d}:00:{second:02d} 2024",
            f"1/{day}/24 {hour % 12 + 1}:00 PM",
            f"{1704067200 + index}.{second:03d}",
            f"I01{day:02d} {hour:02d}:00:{second:02d}.000000 4711 file.cc:{index}]",
            f"2024{1 + index % 12:02d}{day:02d}-{hour:02d}00{second:02d}",
        )[rng.randrange(9)]
        yield f"{form} {rng.choice(WORDS)} {rng.choice(WORDS)} loss {rng.random():.3f}\n"


def timestamps(rng: random.Random) -> Iterator[str]:
    """Lines of a server with addresses and identifiers."""
    for index in count():
        yield (
            f"2024-01-01T00:{index // 60 % 60:02d}:{index % 60:02d}Z host{index % 977} "
            f"request={rng.randrange(1 << 60):x} GET /v1/{rng.randrange(1 << 40):x} "
            f"10.{index % 256}.3.{index % 251} {rng.randrange(999)} bytes\n"
        )


def digits(rng: random.Random) -> Iterator[str]:
    """Digits and nothing else."""
    while True:
        yield f"{rng.randrange(10**78)}\n"


def numbers(rng: random.Random) -> Iterator[str]:
    """Rows of numbers without names."""
    for _ in count():
        yield " ".join(f"{rng.random():.4f}" for _ in range(rng.randrange(1, 40))) + "\n"


# -- ranks and layers ----------------------------------------------------------------------


def ranks(rng: random.Random) -> Iterator[str]:
    """A rank of its own in every line."""
    for index in count():
        yield f"[rank{index}]: step 3 loss {rng.random():.3f}\n"


def ranks_repeated(rng: random.Random) -> Iterator[str]:
    """2,048 ranks, each with every step."""
    for index in count():
        yield f"[rank{index % 2048}]: step {index // 2048} loss {rng.random():.3f}\n"


def ranks_many(rng: random.Random) -> Iterator[str]:
    """100,000 ranks with two metrics, repeated."""
    for index in count():
        yield (
            f"[rank{index % 100_000}]: step {index // 100_000} loss {rng.random():.3f} "
            f"time {rng.random():.3f}\n"
        )


def ranks_and_errors(rng: random.Random) -> Iterator[str]:
    """Ranks that each report an error."""
    for index in count():
        yield f"[rank{index}]: RuntimeError: CUDA out of memory {rng.random():.2f} GiB\n"


def layers(rng: random.Random) -> Iterator[str]:
    """A layer of its own in every line."""
    for index in count():
        yield f"step 10 grad_norm/layer.{index}.weight: {rng.random():.4f}\n"


def layers_repeated(rng: random.Random) -> Iterator[str]:
    """The gradient norms of 30,000 layers, one per line, again at every step."""
    for index in count():
        yield (
            f"step {index // 30_000} layer.{index % 30_000}.attn.q.weight "
            f"grad_norm={rng.random():.4f}\n"
        )


def layers_wide(rng: random.Random) -> Iterator[str]:
    """Steps that print the gradient norm of 1,000 layers in one line."""
    for step in count():
        norms = (f"grad_norm/layers.{layer}.weight={rng.random():.4f}" for layer in range(1000))
        yield f"step {step} " + " ".join(norms) + "\n"


def layers_few(rng: random.Random) -> Iterator[str]:
    """The gradient norms of 600 layers, one per line, again at every step."""
    for index in count():
        yield f"step {index // 600} grad_norm/layers.{index % 600}.weight {rng.random():.4f}\n"


# -- events --------------------------------------------------------------------------------


def _frames(index: int, number: int) -> Iterator[str]:
    for frame in range(number):
        yield f'  File "/home/user/part_{index}.py", line {frame}, in call_{index}_{frame}\n'
        yield f"    return call_{index}_{frame + 1}(batch, depth={frame})\n"


def traceback(_: random.Random) -> Iterator[str]:
    """One traceback that never ends."""
    yield "Traceback (most recent call last):\n"
    for index in count():
        yield f'  File "/home/user/project/recursion_{index}.py", line {index}, in call_{index}\n'
        yield f"    return call_{index + 1}(batch, depth={index})\n"


def traceback_same(_: random.Random) -> Iterator[str]:
    """One traceback of two frames, repeated without end."""
    yield "Traceback (most recent call last):\n"
    while True:
        yield '  File "/home/user/project/model.py", line 12, in forward\n'
        yield "    return self.inner(batch)\n"
        yield '  File "/home/user/project/inner.py", line 31, in inner\n'
        yield "    return self.forward(batch)\n"


def exceptions(rng: random.Random) -> Iterator[str]:
    """Short tracebacks, each of an exception of its own."""
    for index in count():
        yield "Traceback (most recent call last):\n"
        yield from _frames(index, 1)
        yield f"Problem{index}Error: {rng.choice(WORDS)} {index} is broken\n"


def exceptions_deep(rng: random.Random) -> Iterator[str]:
    """Tracebacks of 50 frames, each of an exception of its own."""
    for index in count():
        yield "Traceback (most recent call last):\n"
        yield from _frames(index, FRAMES)
        yield f"{_letters(index).title()}Error: {rng.choice(WORDS)} {index} is broken\n"


def exceptions_chained(rng: random.Random) -> Iterator[str]:
    """One chain of exceptions that never ends."""
    for index in count():
        yield "Traceback (most recent call last):\n"
        yield from _frames(index, 3)
        yield f"{_letters(index).title()}Error: {rng.choice(WORDS)} {index} is broken\n\n"
        yield "During handling of the above exception, another exception occurred:\n\n"


def exceptions_of_ranks(_: random.Random) -> Iterator[str]:
    """The same traceback from every one of 100,000 ranks."""
    for rank in count():
        prefix = f"[rank{rank}]: "
        yield prefix + "Traceback (most recent call last):\n"
        yield from (prefix + line for line in _frames(0, 3))
        yield prefix + "ValueError: the batch is empty\n"


def warnings(rng: random.Random) -> Iterator[str]:
    """Warnings that are all different."""
    for index in count():
        word = rng.choice(WORDS) + rng.choice(WORDS) + str(index)
        yield f"WARNING:root:/opt/site/{word}.py:{index}: UserWarning: {word} is deprecated\n"


def warnings_same(_: random.Random) -> Iterator[str]:
    """One short warning in every line."""
    while True:
        yield "WARNING: slow\n"


def errors(rng: random.Random) -> Iterator[str]:
    """Errors that are all different."""
    for index in count():
        word = rng.choice(WORDS) + rng.choice(WORDS) + str(index)
        yield f"ERROR: {word} failed with code {index}: CUDA error in {word}\n"


def errors_in_words(_: random.Random) -> Iterator[str]:
    """Errors without digits that are all different."""
    for index in count():
        yield f"RuntimeError: CUDA error: {_letters(index)} failed in {_letters(index * 7)}\n"


def checkpoints(_: random.Random) -> Iterator[str]:
    """A checkpoint in every line."""
    for index in count():
        yield f"Saving model checkpoint to /scratch/run/checkpoint-{index}\n"


def evaluations(rng: random.Random) -> Iterator[str]:
    """A step and a heading of an evaluation, in turns."""
    for index in count():
        yield f"step {index} loss {rng.random():.3f}\n"
        yield f"***** Running Evaluation {index} *****\n"
        yield f"  accuracy = {rng.random():.3f}\n"


# -- settings ------------------------------------------------------------------------------


def config(_: random.Random) -> Iterator[str]:
    """A dump of settings without an end."""
    yield "Config:\n"
    for index in count():
        yield f"  model.layer_{index}.dropout: 0.{index}\n"


def arguments(_: random.Random) -> Iterator[str]:
    """Arguments as argparse prints them, without an end."""
    for index in count():
        yield f"  argument_{index} ................ {index}\n"


def namespaces(_: random.Random) -> Iterator[str]:
    """Settings as a namespace in every line, with names of their own."""
    for index in count():
        yield f"Namespace(lr_{index}=0.1, batch_{index}=32, name_{index}='{_letters(index)}')\n"


def namespace_open(_: random.Random) -> Iterator[str]:
    """A namespace over many lines that is never closed."""
    yield "Namespace(\n"
    for index in count():
        yield f"  option_{index}=Inner(value={index}, name='{_letters(index)}'),\n"


def yaml_dump(_: random.Random) -> Iterator[str]:
    """Nested settings as YAML."""
    for index in count():
        yield f"section_{index}:\n  optimizer:\n    lr: 0.{index}\n    betas:\n    - 0.9\n"


def statements(_: random.Random) -> Iterator[str]:
    """A number of parameters in every line."""
    for index in count():
        yield f"number of parameters: {index * 1000} in {_letters(index)} on cuda:{index % 64}\n"


# -- counters ------------------------------------------------------------------------------


def restarts(rng: random.Random) -> Iterator[str]:
    """A step that starts over every other line."""
    for index in count():
        yield f"step {index % 2} loss {rng.random():.4f}\n"


def backwards(rng: random.Random) -> Iterator[str]:
    """Steps that only ever go down."""
    for index in count():
        yield f"step {100_000_000 - index} loss {rng.random():.4f}\n"


def same_step(rng: random.Random) -> Iterator[str]:
    """One metric, always at the same step."""
    while True:
        yield f"step 7 loss {rng.random():.4f}\n"


def epochs(_: random.Random) -> Iterator[str]:
    """Headings of epochs, one after the other."""
    for index in count(1):
        yield f"===== Epoch {index}/1000000 =====\n"


def epochs_and_restarts(rng: random.Random) -> Iterator[str]:
    """Epochs of two batches, and validations whose loops start over."""
    for index in count():
        yield f"Epoch {index} [1/2] loss {rng.random():.3f}\n"
        yield f"Epoch {index} [2/2] loss {rng.random():.3f}\n"
        yield f"Test: [1/1] acc {rng.random():.3f}\n"


def bad_numbers(_: random.Random) -> Iterator[str]:
    """NaN and infinities in every line."""
    for index in count():
        yield f"step {index} loss nan grad_norm inf lr -inf\n"


def bad_numbers_at_times(rng: random.Random) -> Iterator[str]:
    """A loss that is NaN every other line."""
    for index in count():
        yield f"step {index} loss {'nan' if index % 2 else f'{rng.random():.3f}'}\n"


def huge_numbers(rng: random.Random) -> Iterator[str]:
    """Values and steps close to the largest number."""
    for _ in count():
        yield f"step {rng.randrange(10**300)} loss {rng.random():.3f}e{rng.randrange(300)}\n"


def spikes(rng: random.Random) -> Iterator[str]:
    """A loss and a learning rate that jump at every step."""
    for index in count():
        loss, rate = 10 ** rng.uniform(-8, 8), 10 ** rng.uniform(-8, 0)
        yield f"step {index} loss {loss:.4g} lr {rate:.4g}\n"


# -- lines ---------------------------------------------------------------------------------


def rewrites(rng: random.Random) -> Iterator[str]:
    """A progress bar that rewrites its line without end."""
    for step in count():
        at = f"{step % 101:3d}%|####      | {step}/90000"
        yield f"\r{at} [00:12<01:40, 88.2it/s, loss={rng.random():.3f}]"


def rewrites_of_widths(rng: random.Random) -> Iterator[str]:
    """Progress bars whose widths, names and totals change with every redraw."""
    for step in count():
        bar = "#" * (step % 37) + " " * (step % 23)
        total = step % 101 + 1
        yield f"\r{step % total * 100 // total:3d}%|{bar}| {step % total}/{total} "
        yield f"[00:{step % 60:02d}<01:40, {rng.random() * 99:.2f}it/s, loss={rng.random():.3f}]"


def returns_only(rng: random.Random) -> Iterator[str]:
    """Carriage returns between short texts."""
    while True:
        yield f"{rng.choice(WORDS)}\r"


def backspaces(_: random.Random) -> Iterator[str]:
    """Text that is erased with backspaces."""
    for index in count():
        yield f"loading {index}" + "\b" * 40


def escapes(rng: random.Random) -> Iterator[str]:
    """Escape sequences around every character."""
    for index in count():
        text = f"step {index} loss {rng.random():.3f}"
        yield "".join(f"\x1b[{30 + n % 8};1m{c}\x1b[0m" for n, c in enumerate(text)) + "\n"


def escapes_open(_: random.Random) -> Iterator[str]:
    """Escape sequences that never end."""
    while True:
        yield "\x1b]0;title\x1b[" + "1;" * 40


def long_line(rng: random.Random) -> Iterator[str]:
    """One line of pairs without an end."""
    for index in count():
        yield f"key_{index}={rng.random():.3f} "


def long_lines(rng: random.Random) -> Iterator[str]:
    """Lines of 60 kB, full of pairs whose names are new."""
    for line in count():
        yield " ".join(f"k{line}_{n}={rng.random():.3f}" for n in range(3500)) + "\n"


def long_word(_: random.Random) -> Iterator[str]:
    """One word without an end."""
    while True:
        yield "x7" * 512


def brackets(_: random.Random) -> Iterator[str]:
    """Brackets that are never closed."""
    for index in count():
        yield "([{(" * 100 + f" loss={index}\n"


def brackets_long(_: random.Random) -> Iterator[str]:
    """One line of brackets that are never closed."""
    while True:
        yield "([{(" * 256


def quotes(_: random.Random) -> Iterator[str]:
    """Quotes that are never closed."""
    for index in count():
        yield "'\"`" * 60 + f"{{'loss': '{index}\n"


def dicts_nested(_: random.Random) -> Iterator[str]:
    """Dictionaries within dictionaries, printed."""
    for index in count():
        yield "{'a': " * 80 + str(index) + "}" * 80 + "\n"


def dict_open(_: random.Random) -> Iterator[str]:
    """A dictionary over many lines that is never closed."""
    yield "config = {\n"
    for index in count():
        yield f"    'key_{index}': {{'value': {index},\n"


def empty_lines(_: random.Random) -> Iterator[str]:
    """Empty lines."""
    while True:
        yield "\n" * 4096


def short_lines(_: random.Random) -> Iterator[str]:
    """Lines of one character."""
    for index in count():
        yield chr(97 + index % 26) + "\n"


def indented(_: random.Random) -> Iterator[str]:
    """Lines that are indented further and further."""
    for index in count():
        yield " " * (index % 400) + f"part_{index}: {index}\n"


def combining(rng: random.Random) -> Iterator[str]:
    """Letters with dozens of combining characters."""
    for index in count():
        marks = "".join(chr(0x300 + rng.randrange(0x60)) for _ in range(40))
        yield f"step {index} lo{marks}ss {rng.random():.3f}\n"


def wide_characters(rng: random.Random) -> Iterator[str]:
    """Words in many scripts."""
    for _ in count():
        yield "".join(chr(rng.randrange(0x3040, 0x9FFF)) for _ in range(60)) + " 损失: 0.1\n"


def nul_bytes(_: random.Random) -> Iterator[str]:
    """NUL bytes between all characters of a log."""
    for index in count():
        yield "\0".join(f"step {index} loss 0.{index}") + "\0\n"


def nul_hole(_: random.Random) -> Iterator[str]:
    """A hole of NUL bytes behind one line."""
    yield "step 1 loss 0.1\n"
    while True:
        yield "\0" * 4096


def bytes_at_random(rng: random.Random) -> Iterator[bytes]:
    """Bytes of every kind but NUL."""
    while True:
        yield bytes(rng.randrange(1, 256) for _ in range(400)) + b"\n"


def utf_16(rng: random.Random) -> Iterator[bytes]:
    """New metric names in UTF-16."""
    yield b"\xff\xfe"
    for index in count():
        yield f"step {index} metric_{index}_value {rng.random():.4f}\n".encode("utf-16-le")


# -- tables --------------------------------------------------------------------------------


def tables(rng: random.Random) -> Iterator[str]:
    """Printed tables, each with a heading of its own."""
    for index in count():
        yield f"| step | loss_{index} | accuracy_{index} |\n"
        yield f"| {index} | {rng.random():.3f} | {rng.random():.3f} |\n"


def tables_of_spaces(rng: random.Random) -> Iterator[str]:
    """Tables of aligned words, each with a header of its own."""
    for index in count():
        yield f"{'epoch':>10}{_letters(index):>12}{'loss':>10}{'mAP50':>10}\n"
        yield f"{index:>10}{rng.random():>12.4f}{rng.random():>10.4f}{rng.random():>10.4f}\n"


def tables_boxed(rng: random.Random) -> Iterator[str]:
    """Tables of names and values with a frame, with names of their own."""
    for index in count():
        yield "-" * 40 + "\n"
        for row in range(5):
            yield f"| rollout/{_letters(index * 5 + row):<12} | {rng.random():<9.4g} |\n"


def table_endless(rng: random.Random) -> Iterator[str]:
    """One table with a frame that is never closed."""
    yield "-" * 40 + "\n"
    for index in count():
        yield f"| value_{index:<12} | {rng.random():<9.4g} |\n"


# -- files with a format of their own ------------------------------------------------------


def json_keys(rng: random.Random) -> Iterator[str]:
    """JSON lines, each with keys of its own, nested."""
    for index in count():
        record = {"step": index, f"group_{index}": {f"part_{index}": {"value": rng.random()}}}
        yield json.dumps(record) + "\n"


def json_wide(rng: random.Random) -> Iterator[str]:
    """JSON lines of 5,000 keys."""
    for step in count():
        yield json.dumps({"step": step} | {f"k/{i}": rng.random() for i in range(5000)}) + "\n"


def json_deep(_: random.Random) -> Iterator[str]:
    """JSON lines that are nested 500 deep."""
    for step in count():
        yield f'{{"step": {step}, "a": ' + '{"b": ' * 500 + "1.5" + "}" * 501 + "\n"


def json_long_lists(rng: random.Random) -> Iterator[str]:
    """JSON lines with lists of 1,000 numbers."""
    for step in count():
        yield json.dumps({"step": step, "losses": [round(rng.random(), 4) for _ in range(1000)]})
        yield "\n"


def json_in_text(rng: random.Random) -> Iterator[str]:
    """JSON objects behind a prefix, each with keys of its own."""
    for index in count():
        record = {"step": index, f"group_{index}": {f"part_{_letters(index)}": rng.random()}}
        yield f"INFO {json.dumps(record)}\n"


def json_document(rng: random.Random) -> Iterator[str]:
    """A JSON document of records with keys of their own, cut off."""
    yield "[\n"
    for index in count():
        yield json.dumps({"epoch": index, f"loss_{index}": rng.random()}) + ",\n"


def csv_wide(rng: random.Random) -> Iterator[str]:
    """A table of 20,000 columns."""
    yield "step," + ",".join(f"column_{index}" for index in range(20_000)) + "\n"
    for step in count():
        yield f"{step}," + ",".join(f"{rng.random():.3f}" for _ in range(20_000)) + "\n"


def csv_header_only(_: random.Random) -> Iterator[str]:
    """A header of a table without an end."""
    yield "step,loss"
    for index in count():
        yield f",column_{index}"


def csv_headers(rng: random.Random) -> Iterator[str]:
    """A table whose header changes every other line."""
    for index in count():
        yield f"step,loss_{index},accuracy_{index}\n{index},{rng.random():.3f},0.5\n"


def csv_ragged(rng: random.Random) -> Iterator[str]:
    """A table whose rows have every length, with texts and quotes."""
    yield "step,loss,name\n"
    for index in count():
        yield f'{index},{rng.random():.3f},"{_letters(index)},""x"""' + ",1" * (index % 50) + "\n"


# -- compressed ----------------------------------------------------------------------------


def repetitive(_: random.Random) -> Iterator[str]:
    """A log of which every line is the same."""
    while True:
        yield "step 1 loss 0.5 lr 0.1\n" * 4096


@dataclass(frozen=True)
class Shape:
    """A log that is generated: its name, the end of its file name, its content."""

    make: Generator
    suffix: str = "log"
    pack: Callable[[BinaryIO, Iterator[bytes], int], None] | None = None
    """Writes the content compressed; None if it is written as it is."""
    base: str = "ordinary"
    """The shape with which it is compared."""

    @property
    def text(self) -> str:
        """What it holds, in a sentence."""
        return (self.make.__doc__ or "").partition("\n")[0]

    def write(self, path: Path, size: int) -> Path:
        """Write so many bytes, or a little more."""
        parts = _encoded(self.make(random.Random(1)))
        with path.open("wb") as file:
            if self.pack is not None:
                self.pack(file, parts, size)
            else:
                _write_plain(file, parts, size)
        return path


def _encoded(parts: Iterator[str | bytes]) -> Iterator[bytes]:
    for part in parts:
        yield part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part


def _write_plain(file: BinaryIO, parts: Iterator[bytes], size: int) -> None:
    while file.tell() < size:
        file.write(b"".join(islice(parts, 64)))


def _as_gzip(file: BinaryIO, parts: Iterator[bytes], size: int) -> None:
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
        while file.tell() < size:
            packed.write(b"".join(islice(parts, 64)))


def _as_members(file: BinaryIO, parts: Iterator[bytes], size: int) -> None:
    member = gzip.compress(b"".join(islice(parts, 128)))
    while file.tell() < size:
        file.write(member)


def _as_tiny_members(file: BinaryIO, parts: Iterator[bytes], size: int) -> None:
    member = gzip.compress(next(parts)[:23])
    while file.tell() < size:
        file.write(member)


def _as_bzip2(file: BinaryIO, parts: Iterator[bytes], size: int) -> None:
    member = bz2.compress(b"".join(islice(parts, 512)))
    while file.tell() < size:
        file.write(member)


def _as_xz(file: BinaryIO, parts: Iterator[bytes], size: int) -> None:
    member = lzma.compress(b"".join(islice(parts, 512)), preset=1)
    while file.tell() < size:
        file.write(member)


def _as_zstd(file: BinaryIO, parts: Iterator[bytes], size: int) -> None:
    import zstandard

    member = zstandard.ZstdCompressor().compress(b"".join(islice(parts, 2048)))
    while file.tell() < size:
        file.write(member)


_GENERATED: tuple[tuple[str, tuple[Generator, ...]], ...] = (
    (
        "log",
        (
            names, names_in_letters, names_three_times, names_repeated, names_of_losses, tags,
            accuracies, units, no_separators, templates, templates_of_metrics, word_templates,
            prose, plain_prose, dates, timestamps, digits, numbers, ranks, ranks_repeated,
            ranks_many, ranks_and_errors, layers, layers_repeated, layers_wide, layers_few,
            traceback, traceback_same, exceptions, exceptions_deep, exceptions_chained,
            exceptions_of_ranks, warnings, warnings_same, errors, errors_in_words, checkpoints,
            evaluations, config, arguments, namespaces, namespace_open, yaml_dump, statements,
            restarts, backwards, same_step, epochs, epochs_and_restarts, bad_numbers,
            bad_numbers_at_times, huge_numbers, spikes, rewrites, rewrites_of_widths,
            returns_only, backspaces, escapes, escapes_open, long_line, long_lines, long_word,
            brackets, brackets_long, quotes, dicts_nested, dict_open, empty_lines, short_lines,
            indented, combining, wide_characters, nul_bytes, nul_hole, bytes_at_random, utf_16,
            tables, tables_of_spaces, tables_boxed, table_endless, json_in_text,
        ),
    ),
    ("jsonl", (json_keys, json_wide, json_deep, json_long_lists)),
    ("json", (json_document,)),
    ("csv", (csv_wide, csv_header_only, csv_headers, csv_ragged)),
)  # fmt: skip

BASES = {"ordinary": Shape(ordinary), "ordinary_gzip": Shape(ordinary, "log.gz", _as_gzip)}
"""Ordinary logs, with which the others are compared."""
SHAPES: dict[str, Shape] = {
    make.__name__: Shape(make, suffix) for suffix, group in _GENERATED for make in group
} | {
    "gzip_repetitive": Shape(repetitive, "log.gz", _as_gzip, "ordinary_gzip"),
    "gzip_of_names": Shape(names, "log.gz", _as_members, "ordinary_gzip"),
    "gzip_members": Shape(repetitive, "log.gz", _as_members, "ordinary_gzip"),
    "gzip_tiny_members": Shape(repetitive, "log.gz", _as_tiny_members, "ordinary_gzip"),
    "bzip2_repetitive": Shape(repetitive, "log.bz2", _as_bzip2, "ordinary_gzip"),
    "xz_repetitive": Shape(repetitive, "log.xz", _as_xz, "ordinary_gzip"),
    "zstd_repetitive": Shape(repetitive, "log.zst", _as_zstd, "ordinary_gzip"),
}
