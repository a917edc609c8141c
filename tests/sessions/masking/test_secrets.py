"""Secrets of every kind never survive; what is around them does."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mltd.sessions.masking import mask_secrets

from . import planting

FEW = settings(max_examples=25)


@FEW
@pytest.mark.parametrize("kind", planting.SHAPES)
@given(data=st.data())
def test_a_secret_known_by_its_shape_never_survives(kind: str, data: st.DataObject) -> None:
    secret = data.draw(planting.SHAPES[kind])
    before = data.draw(planting.SURROUNDINGS) + data.draw(st.sampled_from([" ", "\n", "=", '"']))
    after = data.draw(st.sampled_from([" ", "\n", '"', ""])) + data.draw(planting.SURROUNDINGS)
    masked = mask_secrets(before + secret + after)
    assert secret not in masked
    assert "[masked: " in masked
    assert mask_secrets(masked) == masked


@FEW
@pytest.mark.parametrize("form", planting.FORMS)
@given(
    name=st.sampled_from(planting.SURE_NAMES),
    secret=planting.PASSWORDS | planting.TOKENS,
    before=planting.SURROUNDINGS,
    edge=planting.EDGES,
)
@example(name="password", secret="hunter2", before="", edge="")
def test_a_secret_that_is_named_never_survives(
    form: str, name: str, secret: str, before: str, edge: str
) -> None:
    line = form.format(name=name, secret=secret)
    text = f"{before}\n{edge}{line}"
    masked = mask_secrets(text)
    assert secret not in masked
    assert mask_secrets(masked) == masked


@FEW
@pytest.mark.parametrize("form", planting.FORMS)
@given(name=st.sampled_from(planting.UNSURE_NAMES), secret=planting.TOKENS)
def test_a_vague_name_is_enough_for_what_looks_random(form: str, name: str, secret: str) -> None:
    assert secret not in mask_secrets(form.format(name=name, secret=secret))


@given(
    user=st.sampled_from(["joe", "", "oauth2"]),
    secret=planting.TOKENS,
    host=st.sampled_from(["h", "h.org:5432"]),
)
def test_passwords_in_urls_never_survive(user: str, secret: str, host: str) -> None:
    for scheme in ("https", "postgres", "ssh", "redis", "mongodb+srv", "amqp"):
        masked = mask_secrets(f"see {scheme}://{user}:{secret}@{host}/x?y=1 now")
        assert secret not in masked
        assert masked.endswith(f"@{host}/x?y=1 now")
    assert secret not in mask_secrets(f"postgres%3A%2F%2F{user}%3A{secret}%40h%2Fdb")


@pytest.mark.parametrize(
    "name",
    ["X-Amz-Signature", "X-Goog-Signature", "Signature", "sig", "token", "X-Amz-Security-Token"],
)
@given(secret=planting.TOKENS)
def test_signed_urls_lose_their_signature_and_nothing_else(name: str, secret: str) -> None:
    url = f"https://bucket.s3.amazonaws.com/run/ckpt.pt?part=3&{name}={secret}&expires=60"
    masked = mask_secrets(f"GET {url} 200")
    assert masked.startswith("GET https://bucket.s3.amazonaws.com/run/ckpt.pt?part=3&")
    assert masked.endswith("&expires=60 200")
    assert secret not in masked


KEY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"] * 5)


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----",
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{KEY}",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY}",
        f"{KEY}\n-----END EC PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\n" + KEY.replace("\n", "\\n"),
        '{"key": "-----BEGIN PRIVATE KEY-----\\n' + KEY.replace("\n", "\\n") + "\\n-----END PRIVATE"
        ' KEY-----\\n", "x": 1}',
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{KEY}\n"
        "-----END PGP PRIVATE KEY BLOCK-----",
        "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 5\n" + KEY + "\nPrivate-MAC: 12",
    ],
)
def test_private_keys_go_whole_or_cut_off(text: str) -> None:
    masked = mask_secrets(f"step 1\n{text}\nstep 2")
    assert "MIIE" not in masked
    assert masked.startswith("step 1\n")
    assert masked.endswith("step 2")
    assert mask_secrets(masked) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Basic am9lOnB3", "Authorization: Basic [masked: authorization]"),
        ("Authorization: Bearer abcd1234", "Authorization: Bearer [masked: authorization]"),
        ("'Authorization': 'token abcdef12'", "'Authorization': 'token [masked: authorization]'"),
        ("Cookie: sid=31d4; theme=dark", "Cookie: [masked: cookie]"),
        ("Set-Cookie: a=b; Path=/", "Set-Cookie: [masked: cookie]"),
        ("wandb login 0123456789abcdef0123456789abcdef01234567", "wandb login [masked: W&B key]"),
        ("machine api.wandb.ai login user password abc", "machine api.wandb.ai login user password "
         "[masked: password]"),
        ("sshpass -p geheim ssh h", "sshpass -p [masked: password] ssh h"),
        ("mysql -u root -pgeheim db", "mysql -u root -p[masked: password] db"),
        ("curl -u joe:geheim https://h", "curl -u joe:[masked: password] https://h"),
        ("Server=x;Uid=j;Pwd=geheim;Db=y", "Server=x;Uid=j;Pwd=[masked: password];Db=y"),
        ("AccountName=a;AccountKey=Zm9vYmFyYg==;B=c", "AccountName=a;AccountKey=[masked: account "
         "key];B=c"),
        ("password: correct horse battery # x", "password: [masked: password] # x"),
        ('{"password": "a\\"b", "lr": 1}', '{"password": "[masked: password]", "lr": 1}'),
        ("pwd=shortpw", "pwd=[masked: password]"),
        ("my password is geheim, ok", "my password is [masked: password], ok"),
        ("my wifi password is: geheim", "my wifi password is: [masked: password]"),
        ("the password is hunter22", "the password is [masked: password]"),
        ("<password>abc</password>", "<password>[masked: password]</password>"),
        ("<api_key a='x'>\n abc\n</api_key>", "<api_key a='x'>\n [masked: API key]\n</api_key>"),
        ("token:\n  a1b2c3d4e5f6\nx", "token:\n  [masked: token]\nx"),
        ("token:\na1b2c3d4e5f6", "token:\n[masked: token]"),
        ("token: |\r\n  a1b2c3d4e5f6==\r\n", "token: |\r\n  [masked: token]\r\n"),
        ('"token":\n  "my-tok",\n', '"token":\n  "[masked: token]",\n'),
        ("your API key:\n  zz9a1b2c3\n", "your API key:\n  [masked: API key]\n"),
        ("your API key is s3cr3tk3y9876", "your API key is [masked: API key]"),
        ("AKIAABCDEFGHIJKLMNOP wJalrXUtnFEMIwJalrXUtnFEMIwJalrXUtnFEMI0", "[masked: AWS secret "
         "key]"),
    ],
)  # fmt: skip
def test_the_mask_says_what_was_there_and_leaves_the_rest(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked
    assert mask_secrets(masked) == masked


@given(secret=planting.SHAPES["github"], at=st.integers(1, 38))
def test_characters_without_width_hide_nothing(secret: str, at: int) -> None:
    for invisible in ("\u200b", "\u2060", "\ufeff", "\u00ad", "\u202e"):
        hidden = secret[:at] + invisible + secret[at:]
        masked = mask_secrets(f"use {hidden} here")
        assert masked == "use [masked: GitHub token] here"


def test_a_secret_behind_a_character_without_width_is_seen() -> None:
    text = "abc\u200bghp_0123456789abcdefghijABCDEFGHIJ012345 x"
    assert mask_secrets(text) == "abc\u200b[masked: GitHub token] x"


def test_characters_without_width_stay_where_there_is_no_secret() -> None:
    text = "family \U0001f468\u200d\U0001f469 and \u200fright to left"
    assert mask_secrets(text) == text


@given(st.text(max_size=200))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask_secrets(text)
    assert mask_secrets(once) == once


@given(st.lists(st.sampled_from(
    ["password", "token", "=", ":", " ", '"', "'", "\\", "\n", "[masked: ", "x7a9b2c4d6e8", "]",
     "://", "@", "&", "?", "sig=", "%3D", "sk-", "Bearer ", "Cookie: ", "--", ",", "a", "$", "{"]
), max_size=14).map("".join))  # fmt: skip
def test_masking_twice_is_masking_once_for_pieces_of_secrets(text: str) -> None:
    once = mask_secrets(text)
    assert mask_secrets(once) == once
