"""Made-up secrets of the kinds that scanners know do not survive; harmless texts do."""

from __future__ import annotations

import json
import random
import re
from itertools import product

import pytest

from mltd.sessions.masking import Masker, mask_secrets

from . import made_secrets
from .harmless import HARMLESS

SEEDS = range(3)
_MASK = re.compile(r"\[masked: [^\[\]\n]{1,40}\]")
_LEAST_TELLING = 6
"""Shorter parts of a token tell nothing, and appear by chance."""
_SWALLOWED = re.compile(
    r"hooks\.|discord|webhook|PRIVATE KEY|ookie: |Digest |AWS4|Snowflake Token|atlasv1"
    r"|argon2|secret_vision|django-insecure|AKIA|^\+|^,|^\$|^:$|^\.$"
)
"""Kinds whose mask covers more than the random part: a whole address, block or header."""


@pytest.mark.parametrize("kind", made_secrets.VENDOR_TOKENS)
def test_a_vendor_token_does_not_survive_anywhere(kind: str) -> None:
    for seed, context in product(SEEDS, made_secrets.CONTEXTS):
        made = made_secrets.fill(made_secrets.VENDOR_TOKENS[kind], seed)
        masked = mask_secrets(context.format(secret=made.text))
        assert made.text not in masked, context
        assert not [part for part in made.secrets if len(part) >= _LEAST_TELLING and part in masked]
        assert mask_secrets(masked) == masked, context
        rest = [part for part in context.format(secret="\0").split("\0") if part]
        assert not [part for part in rest if part not in masked], context


@pytest.mark.parametrize(
    "template",
    [*made_secrets.DOCUMENTS.values(), *made_secrets.CALLS.values()],
    ids=[*made_secrets.DOCUMENTS, *(f"call {kind}" for kind in made_secrets.CALLS)],
)
def test_a_secret_of_a_document_or_call_does_not_survive(template: str) -> None:
    for seed in SEEDS:
        made = made_secrets.fill(template, seed)
        masked = mask_secrets(f"step 1 loss=0.5\n{made.text}\nstep 2 loss=0.4")
        assert not [secret for secret in made.secrets if len(secret) > 4 and secret in masked]
        assert masked.startswith("step 1 loss=0.5\n")
        assert masked.endswith("\nstep 2 loss=0.4")
        assert mask_secrets(masked) == masked
        if not _SWALLOWED.search(template):
            kept = [word for part in made.literals for word in re.findall(r"\w{3,}", part)]
            assert not [word for word in kept if word not in masked]


_WORDS = [
    "legal", "winner", "thank", "year", "wave", "sausage", "worth", "useful", "yellow", "letter",
    "advice", "cage", "absurd", "amount", "doctor", "acoustic", "avoid", "zoo", "wrong", "able",
]  # fmt: skip


@pytest.mark.parametrize("count", [12, 15, 18, 21, 24])
@pytest.mark.parametrize(
    "form",
    [
        "mnemonic: {phrase}",
        "MNEMONIC='{phrase}'",
        'export WALLET_MNEMONIC="{phrase}"',
        '{{"mnemonic": "{phrase}", "index": 0}}',
        "seed phrase: {phrase}",
        "seed_phrase = '{phrase}'",
        "SEED_PHRASE={phrase}",
        "my recovery phrase is {phrase}.",
        "Recovery phrase:\n{phrase}\n",
        "backup phrase => {phrase}",
        "Account.from_mnemonic('{phrase}')",
        "seed = '{phrase}'",
        "wallet: {phrase}",
        "mnemonic {phrase}",
    ],
)
def test_a_recovery_phrase_with_a_name_does_not_survive(form: str, count: int) -> None:
    for seed in SEEDS:
        phrase = " ".join(random.Random(f"{count} {seed}").choices(_WORDS, k=count))
        masked = mask_secrets(f"step 1\n{form.format(phrase=phrase)}\nstep 2")
        assert masked == f"step 1\n{form.format(phrase='[masked: recovery phrase]')}\nstep 2"
        assert mask_secrets(masked) == masked


def test_a_recovery_phrase_is_masked_in_json_values_too() -> None:
    phrase = " ".join(_WORDS[:12])
    cleaned = Masker().clean_value({"wallet": {"mnemonic": phrase}, "mnemonic": "mov"})
    assert cleaned == {"wallet": {"mnemonic": "[masked: recovery phrase]"}, "mnemonic": "mov"}


@pytest.mark.parametrize("user", ["username", "user"])
def test_the_key_of_a_user_is_masked_in_json_values_too(user: str) -> None:
    made = made_secrets.fill("{H32}", 1).text
    cleaned = Masker().clean_value({user: "joe", "key": made})
    assert cleaned == {user: "joe", "key": "[masked: API key]"}
    harmless = {"key": made, "value": 1}
    assert Masker().clean_value(harmless) == harmless
    named = {user: "joe", "key": "attn.key.weight"}
    assert Masker().clean_value(named) == named


@pytest.mark.parametrize("kind", ["kubeconfig key in JSON", "service account", "kaggle"])
def test_credential_files_are_masked_as_json_values_too(kind: str) -> None:
    made = made_secrets.fill(made_secrets.DOCUMENTS[kind], 0)
    cleaned = json.dumps(Masker().clean_value(json.loads(made.text)))
    assert not [secret for secret in made.secrets if secret in cleaned]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_text_stays_byte_for_byte(text: str) -> None:
    assert mask_secrets(text) == text
    assert mask_secrets(f"2026-11-18 10:00:00 INFO {text}") == f"2026-11-18 10:00:00 INFO {text}"
    assert mask_secrets(f"step 1\n{text}\nstep 2") == f"step 1\n{text}\nstep 2"


@pytest.mark.parametrize(
    "template",
    ["{H7}", "{H8}", "{H16}", "{H32}", "{H40}", "{H64}", "{G}", "{L8}", "{D6}", "{D13}", "{S44}=",
     "{S88}==", "{S400}", "{A22}", "{A43}", "sha256:{H64}", "GPU-{G}", "model-{H8}.pth",
     "cache-{H16}.arrow", "{H32}-12", "runs/{L8}/files", "{D4}-{D2}-{D2}", "0x{H16}", "v{D4}"],
)  # fmt: skip
def test_a_random_id_or_digest_without_a_name_stays(template: str) -> None:
    for seed, context in product(range(10), made_secrets.CONTEXTS):
        text = context.format(secret=made_secrets.fill(template, seed).text)
        assert mask_secrets(text) == text


def test_the_tables_have_their_size() -> None:
    kinds = len(made_secrets.VENDOR_TOKENS) + len(made_secrets.DOCUMENTS) + len(made_secrets.CALLS)
    assert kinds >= 300
    assert len(set(HARMLESS)) == len(HARMLESS) >= 150


def test_a_mask_names_the_vendor_and_leaves_the_sentence() -> None:
    key = made_secrets.fill(made_secrets.VENDOR_TOKENS["tailscale"], 0).text
    assert mask_secrets(f"joined with {key}.") == "joined with [masked: Tailscale key]."
    assert _MASK.search(mask_secrets(f"%3D{key}")) is not None
    assert mask_secrets(f"a\\n{key}") == "a\\n[masked: Tailscale key]"
