"""Masking takes time in proportion to the text, whatever the text is."""

from __future__ import annotations

import pytest

from mltd.sessions.masking import Masker
from tests.blow_up import no_blow_up

LENGTH = 200_000
"""Characters: some tenths of a second; quadratic work would take minutes."""


@pytest.mark.parametrize(
    "unit",
    ["a", ":", "=", '"', "\\", '\\"', "a=", "token=", "password:", '"key":"', "-eyJabcdef", "sk-a1",
     "/a", "://a:b", "a@b.", "1.1.1.1 ", "[masked: ", "C:\\a\\", "?token=", "token%3D",
     "-----BEGIN PRIVATE KEY-----", "ABCDEFGHIJKLMNOPQRST\n-----END PRIVATE KEY-----", "Bearer a",
     "mysql ", "wandb key ", '"/a/b/c ', "connection_string=os.", "x[1-", "gpu-node-",
     "\u200btoken", "password='\\", "'\"", "2001:", "é", "<password>", "token:\n",
     "<a ", "a ", "User: a ", "10.0.0.1_", "my password is ",
     "A", "0", "_", "-", ".", "+", "/", "$", "~", "aA1", "aA1-", "a.A1.", "login(", "login('a', '",
     "connect(a, ", "auth=(", "a_ssh", "tskey-", "fw_aA1", "key-", "EAAA", "1//0a", "M1a.", "AKIA",
     "s.aA1", "%41sk-", "\\nghp_", "$6$a$", "Q~", "+ASt", ".atlasv1.", "eyJrIjoi", "t1.a.", "A3-",
     "mnemonic: above ", "seed phrase above, ", "above ", '"above", ', '"username":"a","key":"',
     "key=user=", "kind: Secret\ndata:\n a: ", 'kind":"Secret","data":{"a":"', "'kty' 'd': '",
     "a:5432:b:c:", ":5432:", "Authorization: a b=", 'Authorization: a b="', "BUNDLE_A__B: ",
     "openssl -k"],
)  # fmt: skip
def test_no_text_takes_more_than_its_length(unit: str) -> None:
    text = (unit * (LENGTH // len(unit) + 1))[:LENGTH]
    with no_blow_up():
        Masker(redact=True).clean(text + "!")


def test_a_line_of_a_megabyte_is_no_problem() -> None:
    text = "a" * 1_000_000
    with no_blow_up():
        assert Masker(redact=True).clean(text) == text
