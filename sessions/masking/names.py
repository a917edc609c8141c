"""Names that announce a secret: `DB_PASSWORD`, `apiKey`, `hf_token`, but not `pad_token`."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from .word_set import words


class Doubt(IntEnum):
    """What a value must look like to be taken for the secret that its name announces."""

    NONE = 0
    """Any value is one."""
    SOME = 1
    """Any value but a number or a plain word."""
    MUCH = 2
    """Only what looks random."""
    MOST = 3
    """Only what looks random and is long: nothing but a space stands between name and value."""


class Named(NamedTuple):
    """What a name announces."""

    kind: str
    doubt: Doubt
    may_be_folder: bool = False
    """`pwd` is a password or the working directory: no path is the secret."""


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_GLUED = {
    "apikey": "api key", "apikeys": "api keys", "accesskey": "access key",
    "secretkey": "secret key", "privatekey": "private key", "accountkey": "account key",
    "sharedaccesskey": "access key", "authkey": "auth key", "accesstoken": "access token",
    "authtoken": "auth token", "apitoken": "api token", "refreshtoken": "refresh token",
    "bearertoken": "bearer token", "clientsecret": "client secret",
    "connectionstring": "connection string", "connstr": "connection string",
    "apisecret": "api secret", "accesskeyid": "access key id", "secretaccesskey": "secret key",
    "identitytoken": "identity token", "registrytoken": "registry token",
    "idtoken": "id token", "sessiontoken": "session token", "privatekeyid": "private key id",
    "setpassword": "set password",
}  # fmt: skip
_PASSWORDS = ("password", "passwords", "passwd", "passphrase", "passcode", "passwort")
_PASS_OWNERS = words(
    "db user mysql postgres pg smtp mail email redis ftp ssh admin root login auth proxy http "
    "https ldap rabbitmq mongo sudo database service account my"
)
_NO_SECRET_ENDS = words(
    "file files path paths dir folder url uri endpoint type types length len count counts size "
    "limit limits ids index idx embedding embeddings expiry expires expiration ttl version env "
    "field fields name names prompt policy manager provider helper class scope scopes attempts "
    "min max loss acc accuracy rate usage budget mask dropout dim list map column columns mode "
    "required error errors status format template pattern logits level per s sec second bucket "
    "seconds position positions span spans set sets seen used processed kwargs args init weight "
    "weights norm ratio counter stream parser callback hint generator prefix suffix"
)
_FLAG_STARTS = words(
    "is has use uses num n no need needs require requires required with without skip allow "
    "enable enabled total avg mean max min add remove"
)
_SURE_KEYS = words("api access secret private")
_LIKELY_KEYS = words(
    "signing encryption master account shared subscription license auth deploy service storage "
    "admin"
)
_POSSIBLE_KEYS = words(
    "openai anthropic claude wandb hf huggingface aws azure gcp google cohere replicate mlflow "
    "comet neptune kaggle ngc nvidia session user client app application"
)
_KEYS = {
    **dict.fromkeys(_SURE_KEYS, Doubt.NONE),
    **dict.fromkeys(_LIKELY_KEYS, Doubt.SOME),
    **dict.fromkeys(_POSSIBLE_KEYS, Doubt.MUCH),
}
_TOKEN_OWNERS = words(
    "access api auth bearer refresh session csrf xsrf security private personal bot app github "
    "gh gitlab hf hub huggingface wandb slack discord telegram npm pypi ci deploy oauth jwt "
    "login client service sas aws azure gcp google openai anthropic cohere replicate mlflow "
    "comet neptune kaggle sentry vault consul docker registry jupyter notebook ngc admin web "
    "webhook id account identity tracking workspace lightning clearml dagshub roboflow"
)
_TOKEN_OF_TEXT = words(
    "pad eos bos unk cls sep mask image img video audio vision special added per next prev "
    "previous new first last prompt input output target source src tgt text word sub subword "
    "start end stop begin class dist register reg decoder encoder context query each this that "
    "single one time seconds ms flops cost loss reserved fim middle boi eoi system assistant "
    "tool dummy empty blank extra think delimiter split newline sos go space current generated "
    "predicted trainable visual patch latent sink forced draft accepted active valid expected "
    "unexpected illegal invalid of padding unknown speech frame label role every a the "
    "keep drop max min num n total"
)
_PHRASE_OWNERS = words("seed recovery backup secret wallet mnemonic")
_LONGEST = 96


def split_words(name: str) -> list[str]:
    """The words of a name, however they are joined, in lower case."""
    found = (word.lower() for word in _WORDS.findall(name[-_LONGEST:]))
    return " ".join(_GLUED.get(word, word) for word in found).split()


def announced_by_key(key: str) -> Named | None:
    """What a key of a mapping announces: it has no other meaning than its value's name."""
    if key.lower() == "token":
        return Named("token", Doubt.NONE)
    named = announced(key)
    return Named(named.kind, Doubt.NONE) if named and named.doubt is Doubt.SOME else named


@lru_cache(maxsize=4096)
def announced(name: str) -> Named | None:
    """What kind of secret a name announces; None if it announces none."""
    words = split_words(name)
    if not words:
        return None
    found = _announced(words, name)
    if found is not None and words[0] in _FLAG_STARTS:
        return Named(found.kind, Doubt.MUCH)
    if found is not None and " " in name.strip():
        # Prose: "the access token: expired".
        return Named(found.kind, max(found.doubt, Doubt.SOME))
    return found


def _announced(words: list[str], name: str) -> Named | None:
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if last in _NO_SECRET_ENDS or (last.isdecimal() and len(words) == 1):
        return None
    if last.isdecimal():
        return _announced(words[:-1], name)
    if any(word.endswith(_PASSWORDS) for word in words):
        return Named("password", Doubt.NONE)
    if "pwd" in words:
        is_folder = words in (["pwd"], ["old", "pwd"], ["oldpwd"])
        return Named("password", Doubt.NONE, may_be_folder=is_folder)
    if last in ("pass", "pw") and before in _PASS_OWNERS:
        return Named("password", Doubt.NONE)
    if last in ("key", "keys") and before in _KEYS:
        return Named(f"{'API' if before == 'api' else before} key", _KEYS[before])
    if words[-3:] == ["access", "key", "id"]:
        return Named("access key", Doubt.NONE)
    if words[-3:] == ["private", "key", "id"]:
        return Named("private key id", Doubt.MUCH)
    if words[-3:] in (["client", "key", "data"], ["client", "certificate", "data"]):
        return Named(f"client {words[-2]}", Doubt.MUCH)
    if _is_phrase_name(words):
        return Named("recovery phrase", Doubt.NONE)
    if last in ("token", "tokens"):
        return _token(words, before, name)
    if "secret" in words or "secrets" in words:
        return Named("secret", Doubt.NONE if len(words) > 1 else Doubt.SOME)
    if last in ("credential", "credentials", "creds"):
        return Named("credentials", Doubt.SOME)
    if last in ("cookie", "cookies"):
        return Named("cookie", Doubt.SOME)
    if words[-2:] == ["connection", "string"] or words[-2:] == ["conn", "str"]:
        return Named("connection string", Doubt.NONE)
    if last == "authorization":
        return Named("authorization", Doubt.SOME)
    return Named("authorization", Doubt.MUCH) if last in ("auth", "bearer") else None


def _is_phrase_name(words: list[str]) -> bool:
    if words[-1] in ("phrase", "words") and len(words) > 1:
        return words[-2] in _PHRASE_OWNERS
    return words[-1] == "mnemonic"


def _token(words: list[str], before: str, name: str) -> Named | None:
    if "secret" in words:
        return Named("secret", Doubt.NONE)
    if words[-1] == "tokens":
        # Nearly always a number of them.
        return Named("token", Doubt.MUCH) if before in _TOKEN_OWNERS else None
    if before in _TOKEN_OF_TEXT:
        return None
    if before in _TOKEN_OWNERS:
        return Named("token", Doubt.NONE)
    return Named("token", Doubt.NONE if before and name.isupper() else Doubt.MUCH)
