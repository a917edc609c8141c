"""Harm stays harm however it is written: quoted, hidden, continued, or in the seventh line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mltd.diagnosis.citations import dangers_of_text

from .advice import HARMFUL, HARMLESS, LONG_HARMLESS

COMMANDS = (
    "rm -rf {}", "cp good.pt {}", "mv {} old.pt", "unlink {}", "shred -u {}", "truncate -s 0 {}",
    "scp good.pt host:{}", "rsync -a good/ {}", "tar xf b.tar -C {}", "ln -sf good.pt {}",
    "kubectl delete -f {}", "python fix.py {}", "sbatch {}", "dvc remove {}", "vim {}",
    "frobnicate --all {}", "gcloud storage cp good.pt {}", "patch -p1 {}", "sed -i s/a/b/ {}",
)  # fmt: skip
CODE = (
    "torch.save(model.state_dict(), '{}')", "os.remove('{}')", "shutil.rmtree('{}')",
    "Path('{}').unlink()", "np.save('{}', x)", "df.to_csv('{}')", "open('{}', 'w').close()",
    "model.save_pretrained('{}')", "shutil.copy('good.pt', '{}')", "wipe('{}')",
)  # fmt: skip
PATHS = st.sampled_from(
    ["last.pt", "checkpoints", "./out", "/scratch/me/run 7/last.pt", "~/runs/*", "$OUT/ckpt", "a/b"]
)
QUOTES = st.sampled_from(["{}", '"{}"', "'{}'"])
WHERE = st.sampled_from(["", "/bin/", "/usr/bin/", "~/bin/", "../tools/", "\\", "command ", "env "])
HIDDEN = st.sampled_from(["\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u202e"])
DASHES = st.sampled_from("-\u2010\u2011\u2012\u2013\u2014\u2212\uff0d")
GAPS = st.sampled_from([" ", "  ", "\t", "\u00a0", "\u2003", " \\\n  "])
MILD = st.sampled_from([one for one in HARMLESS if "`" not in one])


@given(st.sampled_from(COMMANDS), PATHS, QUOTES, WHERE, GAPS, DASHES)
def test_a_command_is_known_however_it_is_typed(
    command: str, path: str, quote: str, where: str, gap: str, dash: str
) -> None:
    program, *words = command.format(quote.format(path)).split(" ")
    typed = where + program + gap + " ".join(words).replace(" -", f" {dash}")
    assert dangers_of_text(typed), typed


@given(st.sampled_from(COMMANDS), PATHS, HIDDEN, st.integers(0, 40))
def test_marks_that_nobody_sees_hide_nothing(command: str, path: str, mark: str, at: int) -> None:
    typed = command.format(path)
    at = min(at, len(typed))
    assert dangers_of_text(typed[:at] + mark + typed[at:])


@given(st.sampled_from((*COMMANDS, *CODE)), PATHS, st.lists(MILD, max_size=9), st.data())
def test_one_bad_line_among_good_ones_is_enough(
    bad: str, path: str, good: list[str], data: st.DataObject
) -> None:
    lines = list(good)
    lines.insert(data.draw(st.integers(0, len(lines))), bad.format(path))
    breaks = data.draw(st.sampled_from(["\n", "\r\n", "\r", "\u2028", "\n\n"]))
    assert dangers_of_text(breaks.join(lines))


@given(MILD, st.sampled_from(["; ", ";", " && ", " ; "]), st.sampled_from(COMMANDS), PATHS)
def test_nothing_hides_behind_a_good_beginning(
    good: str, sign: str, command: str, path: str
) -> None:
    assert dangers_of_text(good.partition("#")[0] + sign + command.format(path))


@given(st.sampled_from(CODE), PATHS, st.sampled_from(["    ", "\t", "        "]))
def test_a_block_hides_nothing(code: str, path: str, indent: str) -> None:
    body = code.format(path)
    assert dangers_of_text(f"for step in range(10):\n{indent}loss.backward()\n{indent}{body}")
    assert dangers_of_text(f"with torch.no_grad():\n{indent}{body}")
    assert dangers_of_text(f"def forward(self, x):\n{indent}{body}\n{indent}return x")
    assert dangers_of_text(f"hook = lambda *_: {body}")


@given(st.sampled_from(HARMFUL), st.sampled_from(["", " ", "\n", "\t", "\n\n"]))
def test_space_around_it_changes_nothing(text: str, space: str) -> None:
    assert dangers_of_text(space + text + space)


@given(MILD, st.sampled_from(["", " ", "\n", "\n\n"]))
def test_space_around_good_advice_changes_nothing(text: str, space: str) -> None:
    assert dangers_of_text(space + text + space) == ()


@given(st.lists(st.sampled_from([*HARMLESS, *LONG_HARMLESS]), min_size=2, max_size=5))
def test_good_advice_stays_good_in_company(lines: list[str]) -> None:
    assert dangers_of_text("\n".join(lines)) == ()


@given(st.text(max_size=300))
def test_any_text_gets_an_answer(text: str) -> None:
    for one in dangers_of_text(text):
        assert one.reason
        assert "\n" not in one.match


@given(st.text("()[]{}'\"`$;|&<>#\\ \nab=:.-", max_size=200))
def test_any_heap_of_signs_gets_an_answer(text: str) -> None:
    dangers_of_text(text)
