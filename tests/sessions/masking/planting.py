"""Secrets of every kind, made up at random, and the forms in which they are written down."""

from __future__ import annotations

import random
import string

from hypothesis import strategies as st

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"


def random_text(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    """Text as a generator of keys makes it, with a digit and a letter in it at least."""

    def made(seed: int, length: int) -> str:
        text = "".join(random.Random(seed).choices(alphabet, k=length - 2))
        return f"{text[: least // 2]}7a{text[least // 2 :]}"

    return st.builds(made, st.integers(0, 2**32), st.integers(least, most or least))


def _with(prefix: str, body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return body.map(lambda text: prefix + text)


def _joined(*parts: st.SearchStrategy[str] | str) -> st.SearchStrategy[str]:
    made = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*made).map("".join)


_BASE64URL = _ALNUM + "-_"
SHAPES: dict[str, st.SearchStrategy[str]] = {
    "openai": _with("sk-", random_text(_ALNUM, 48)),
    "openai project": _with("sk-proj-", random_text(_ALNUM, 60, 120)),
    "anthropic": _with("sk-ant-api03-", random_text(_BASE64URL, 90)),
    "aws id": _with("AKIA", random_text(string.ascii_uppercase + string.digits, 16).map(str.upper)),
    "aws temporary": _with("ASIA", st.text(string.ascii_uppercase, min_size=16, max_size=16)),
    "github": _with("ghp_", random_text(_ALNUM, 36)),
    "github oauth": _with("gho_", random_text(_ALNUM, 36)),
    "github fine": _with("github_pat_", random_text(_ALNUM + "_", 82)),
    "gitlab": _with("glpat-", random_text(_BASE64URL, 20)),
    "hugging face": _with("hf_", st.text(string.ascii_letters, min_size=34, max_size=34)),
    "slack": _with("xoxb-", random_text(_ALNUM + "-", 40)),
    "slack hook": _with(
        "https://hooks.slack.com/services/",
        _joined("T", random_text(_ALNUM, 8), "/B", random_text(_ALNUM, 8), "/",
                random_text(_ALNUM, 24)),
    ),
    "google": _with("AIza", random_text(_BASE64URL, 35)),
    "stripe": _with("sk_live_", random_text(_ALNUM, 24)),
    "stripe restricted": _with("rk_test_", random_text(_ALNUM, 24)),
    "npm": _with("npm_", random_text(_ALNUM, 36)),
    "pypi": _with("pypi-AgEIcHlwaS5vcmc", random_text(_BASE64URL, 100)),
    "ngc": _with("nvapi-", random_text(_BASE64URL, 64)),
    "groq": _with("gsk_", random_text(_ALNUM, 52)),
    "jwt": _joined("eyJ", random_text(_BASE64URL, 20), ".eyJ", random_text(_BASE64URL, 40), ".",
                   random_text(_BASE64URL, 43)),
    "databricks": _with("dapi", st.text(_HEX, min_size=32, max_size=32)),
    "vault": _with("hvs.", random_text(_BASE64URL, 24)),
}  # fmt: skip
"""Known by their shape: they need no name."""

PASSWORDS = random_text(_ALNUM + "!@$%^*+-_.~", 8, 24).filter(
    lambda text: text[0] not in "-.*$%" and not text.endswith(".")
)
TOKENS = random_text(_ALNUM, 20, 48)

SURE_NAMES = (
    "password", "PASSWORD", "db_password", "DB_PASSWORD", "mysqlPassword", "passwd", "passphrase",
    "api_key", "apiKey", "API_KEY", "X-Api-Key", "OPENAI_API_KEY", "WANDB_API_KEY", "apikey",
    "access_key", "aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "secret_key", "client_secret",
    "clientSecret", "FOO_TOKEN", "HF_TOKEN", "access_token", "auth_token", "refresh-token",
    "AccountKey", "private_key", "trainer.logger.api_key", "GITHUB_TOKEN", "user_pwd",
)  # fmt: skip
UNSURE_NAMES = ("token", "Token", "secret", "credentials", "my_token", "openai_key", "auth")

FORMS = (
    "{name}={secret}", "{name}: {secret}", "{name} = {secret}", 'export {name}="{secret}"',
    "export {name}={secret}", "'{name}': '{secret}'", '"{name}": "{secret}"', '"{name}":"{secret}"',
    '{{"a": 1, "{name}": "{secret}", "b": 2}}', "Namespace(lr=0.1, {name}='{secret}', seed=1)",
    "config({name}={secret}, lr=3)", "--{name} {secret}", "--{name}={secret}",
    '["--{name}", "{secret}"]', "  {name}: '{secret}'  # from vault", "{name} => {secret}",
    '{{\\"{name}\\": \\"{secret}\\"}}', "{name}%3D{secret}%26x%3D1", "?{name}={secret}&x=1",
    "  {name} ......................... {secret}", "│ {name} │ {secret} │", "{name}:{secret}",
    "setenv {name} {secret}", "d['{name}'] = '{secret}'", "{name}: str = '{secret}'",
    "{name}=b'{secret}'", "{{'{name}': b\"{secret}\"}}", "[db]\n{name} = {secret}\nport=1",
    "[('lr', 0.1), ('{name}', '{secret}')]", "env:\n- name: {name}\n  value: {secret}\n",
    "-e {name}={secret} image", "a=1;{name}={secret};b=2", "a=1,{name}={secret},b=2",
)  # fmt: skip
"""Shell, YAML, JSON, Python, INI, URLs, tables: name and secret as people write them."""

SURROUNDINGS = st.lists(
    st.sampled_from([*" \n\t=:;,.\"'`()[]{}<>|/\\@#-_%&?!", "step", "loss", "a", "0", "é", "▇"]),
    max_size=20,
).map("".join)
EDGES = st.sampled_from(["", " ", "\n", "\t", "2026-01-01 10:00:00 INFO ", "[rank0]: ", "(", "> "])
"""What may stand right before: anything else would be a part of the name."""
