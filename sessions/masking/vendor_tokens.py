"""Table of vendor tokens: what each one begins with and how it goes on.

A body is a sequence of slots and literals, separated by spaces. A slot is the letter of an alphabet
and a length: `A36` is exactly 36 letters and digits, `A22-30` a range, `A36+` at least that many.
Where a prefix is short or an ordinary word, the alphabet demands upper case, lower case and digits
(`M`, `V`, `T`) or digits (`N`, `K`), so that names of layers, files and functions stay. A prefix
after `^` must not follow a hyphen, a dot or an underscore.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ALPHABETS = {
    "A": "A-Za-z0-9",
    "W": "A-Za-z0-9_-",
    "N": "A-Za-z0-9_-",
    "K": "A-Za-z0-9_-",
    "M": "A-Za-z0-9",
    "V": "A-Za-z0-9_-",
    "S": "A-Za-z0-9+/=",
    "T": "A-Za-z0-9+/=",
    "Q": "A-Za-z0-9_.=-",
    "H": "0-9a-f",
    "X": "0-9A-Fa-f",
    "L": "0-9a-z",
    "U": "0-9A-Z",
    "D": "0-9",
}
_LOOKED_AT = 48
"""Characters in which a slot that demands several classes must show them."""
_DIGIT = rf"(?=[A-Za-z_+/-]{{0,{_LOOKED_AT}}}+[0-9])"
_MIXED = (
    _DIGIT + rf"(?=[a-z0-9_+/-]{{0,{_LOOKED_AT}}}+[A-Z])(?=[A-Z0-9_+/-]{{0,{_LOOKED_AT}}}+[a-z])"
)
_DEMANDS = {
    "N": _DIGIT,
    "M": _MIXED,
    "V": _MIXED,
    "T": _MIXED,
    "K": r"(?=[\w-]{0,40}?[A-Za-z0-9]{10})(?=[\w-]{0,60}?\d)",
}
_SLOT = re.compile(r"([A-Z])(\d+)(?:(\+)|-(\d+))?")


class VendorToken(NamedTuple):
    """A kind of token, its prefixes and its body."""

    kind: str
    prefixes: str
    body: str


VENDOR_TOKENS: tuple[VendorToken, ...] = tuple(
    VendorToken(*row)
    for row in (
        # Models, training and data
        ("API key", "sk-ant-", "W12+"),
        ("API key", "sk-helicone-", "W24+"),
        ("API key", "sk-", "K18+"),
        ("API key", "gsk_ xai- pplx- nvapi- csk-", "N30+"),
        ("API key", "r8_", "V30+"),
        ("API key", "^sk_", "H48"),
        ("Hugging Face token", "hf_ api_org_", "A24+"),
        ("LangSmith key", "lsv2_pt_ lsv2_sk_", "H32 _ H10"),
        ("Fireworks key", "fw_", "M22-32"),
        ("Together key", "tgp_v1_", "W40+"),
        ("Voyage key", "^pa-", "V43"),
        ("Jina key", "jina_", "N40+"),
        ("Tavily key", "tvly-dev- tvly-prod- tvly-", "N24+"),
        ("Firecrawl key", "^fc-", "H32"),
        ("Pinecone key", "pcsk_", "A5-6 _ A40+"),
        ("Modal token", "^ak- ^as-", "M22"),
        ("RunPod key", "rpa_", "A36+"),
        ("Kaggle key", "KGAT_", "H32"),
        ("W&B key", "wandb_v1_", "W30+"),
        ("Neptune token", "eyJhcGlfYWRkcmVzcyI6", "S40+"),
        ("Databricks token", "dapi", "H32"),
        ("E2B key", "e2b_", "H40"),
        ("Anyscale key", "esecret_", "A20+"),
        ("AWS Bedrock key", "ABSK", "S100+"),
        ("AWS Bedrock key", "bedrock-api-key-", "S40+"),
        ("Prefect key", "pnu_ pnb_", "A36"),
        ("Salad key", "salad_cloud_", "A1-7 _ A7+"),
        ("Apify token", "apify_api_", "A30+"),
        ("Scale key", "^live_", "H32"),
        # Code hosts, packages and builds
        ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "A20+"),
        ("GitHub token", "github_pat_", "W20+"),
        ("GitLab token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent- gloas- "
         "glffct- glwt-", "Q16+"),
        ("GitLab token", "GR1348941", "W20+"),
        ("Bitbucket token", "ATBB", "M32"),
        ("Atlassian token", "ATATT3 ATCTT3", "Q60+"),
        ("npm token", "npm_", "A30+"),
        ("PyPI token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", "W20+"),
        ("PyPI token", "pypi-", "N40+"),
        ("RubyGems key", "rubygems_", "H48"),
        ("NuGet key", "oy2", "L43"),
        ("Clojars token", "CLOJARS_", "L60"),
        ("Docker token", "dckr_pat_ dckr_oat_", "W20+"),
        ("Artifactory key", "AKCp", "M60+"),
        ("Artifactory token", "cmVmdGtu", "A56"),
        ("Sourcegraph token", "sgp_", "W40+"),
        ("Sourcegraph token", "slk_", "H64"),
        ("Sonar token", "squ_ sqp_ sqa_", "H40"),
        ("CircleCI token", "CCIPAT_ CCIPRJ_", "A22 _ H40"),
        ("Buildkite token", "bkua_", "L40"),
        ("Postman key", "PMAK-", "H24 - H34"),
        ("Infracost key", "ico-", "M32"),
        ("Octopus key", "API-", "U25-36"),
        # Clouds
        ("AWS key id", "AKIA ASIA ABIA ACCA", "U16"),
        ("Google key", "AIza", "W35+"),
        ("Google token", "ya29. GOCSPX-", "W20+"),
        ("Google token", "^1//0", "W40+"),
        ("Alibaba key id", "LTAI", "M17-21"),
        ("Tencent key id", "AKID", "M32"),
        ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "H60+"),
        ("Fly token", "fo1_", "W43+"),
        ("Fly token", "fm1a_ fm1r_ fm2_", "S60+"),
        ("Heroku key", "HRKU-", "N36+"),
        ("Netlify token", "nfp_", "A36+"),
        ("Supabase key", "sbp_", "H40"),
        ("Supabase key", "sb_secret_", "W20+"),
        ("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "Q32+"),
        ("Neon key", "napi_", "L48+"),
        ("ClickHouse key", "4b1d", "M38"),
        ("Doppler token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", "A40+"),
        ("Doppler token", "dp.st.", "Q40+"),
        ("Vault token", "hvs. hvb. hvr.", "W20+"),
        ("Vault token", "^s.", "M24"),
        ("Pulumi token", "pul-", "H40"),
        ("1Password key", "A3-", "U6 - U6 - U5 - U5 - U5 - U5"),
        ("1Password key", "A3-", "U6 - U11 - U5 - U5 - U5"),
        ("1Password token", "ops_eyJ", "S60+"),
        ("age key", "AGE-SECRET-KEY-1", "U50+"),
        ("OpenShift token", "sha256~", "W43"),
        ("Portainer token", "ptr_", "T40-64"),
        ("Tailscale key", "tskey-", "L2-12 - W16+"),
        ("Cloudflare key", "v1.0-", "H24 - H100+"),
        ("Cloudflare token", "cfut_ cfat_ cfk_", "A48"),
        ("Scalingo token", "tk-us-", "N48"),
        ("Harness token", "pat. sat.", "W22 . A24 . A20"),
        ("Yandex key", "AQVN", "V35-38"),
        ("Yandex token", "t1.", "W20+ S0+ . W86 S0+"),
        # Messages, payments, work and monitoring
        ("Slack token", "xoxe.xoxb- xoxe.xoxp- xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- "
         "xoxs- xapp-", "W10+"),
        ("Discord token", "^M ^N ^O", "V23-27 . W6 . W27-40"),
        ("Twilio key", "^SK", "H32"),
        ("SendGrid key", "SG.", "W20-24 . W39-50"),
        ("Mailgun key", "^key-", "H32"),
        ("Brevo key", "xkeysib- xsmtpsib-", "H64 - A16"),
        ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_", "A10+"),
        ("Square token", "sq0atp- sq0csp-", "W22+"),
        ("Square token", "^EAAA", "V60"),
        ("Facebook token", "^EAAC ^EAAG ^EAAM", "M80+"),
        ("Shopify token", "shpat_ shpca_ shppa_ shpss_", "X32"),
        ("Linear key", "lin_api_ lin_oauth_", "A32+"),
        ("Notion token", "ntn_", "A40+"),
        ("Notion token", "secret_", "M43"),
        ("Airtable token", "^pat", "A14 . H64"),
        ("ClickUp token", "pk_", "D7-9 _ U32"),
        ("Figma token", "figd_ figp_ figo_ figu_", "W40+"),
        ("Dropbox token", "sl.", "Q100+"),
        ("Asana token", "^0/ ^1/ ^2/", "D15-20 : H32"),
        ("Contentful token", "CFPAT-", "W43"),
        ("Typeform token", "tfp_", "Q40+"),
        ("Frame.io token", "fio-u-", "W64"),
        ("ReadMe key", "rdme_", "L64+"),
        ("Sentry token", "sntrys_eyJ", "S40+ _ S0+"),
        ("Sentry token", "sntryu_ sntrya_", "H64"),
        ("Grafana token", "glsa_", "A32 _ X8"),
        ("Grafana token", "glc_", "S40+"),
        ("Grafana token", "eyJrIjoi", "S60+"),
        ("New Relic key", "NRAK- NRII- NRIQ-", "W25-40"),
        ("Dynatrace token", "dt0c01. dt0s01. dt0s16.", "A24 . A64"),
        ("Datadog token", "ddp_ ddw_ ddpat_", "A36"),
        ("PostHog key", "phx_", "A40+"),
        ("LaunchDarkly key", "sdk-", "H8 - H4 - H4 - H4 - H12"),
        ("Rootly key", "rootly_", "H64"),
        ("Adafruit key", "aio_", "M28"),
        ("EasyPost key", "EZAK EZTK", "M54"),
        ("Shippo token", "shippo_live_ shippo_test_", "X40"),
        ("Duffel token", "duffel_live_ duffel_test_", "W43"),
        ("Flutterwave key", "FLWSECK- FLWSECK_TEST-", "L32 -X"),
        ("Salesforce token", "00D", "A12 ! Q80+"),
        ("Adobe secret", "p8e-", "N32"),
        ("private key", "xprv yprv zprv", "A107-108"),
    )
)  # fmt: skip


def compile_tokens(before: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """One pattern for all tokens after `before`, and the kind of each of its groups in order."""
    branches: dict[str, list[tuple[str, str, str]]] = {}
    for kind, prefixes, body in VENDOR_TOKENS:
        for prefix in prefixes.split():
            name = prefix.removeprefix("^")
            # The first letter is tried once for all of its tokens; most text has no other chance.
            guard = "" if name == prefix else rf"(?<![\w.-]{re.escape(name[0])})"
            rest = guard + re.escape(name[1:]) + _body_pattern(body)
            branches.setdefault(name[0], []).append((name, rest, kind))
    kinds: list[str] = []
    letters: list[str] = []
    for letter, tokens in branches.items():
        # Of two prefixes the longer one says more.
        ordered = sorted(tokens, key=lambda token: -len(token[0]))
        kinds += (kind for _, _, kind in ordered)
        letters.append(f"{re.escape(letter)}(?:{'|'.join(f'({rest})' for _, rest, _ in ordered)})")
    return re.compile(f"{before}(?:{'|'.join(letters)})", re.ASCII), tuple(kinds)


def _body_pattern(body: str) -> str:
    pattern = end = ""
    for part in body.split():
        slot = _SLOT.fullmatch(part)
        if slot is None:
            pattern += re.escape(part)
            end = "(?![A-Za-z0-9])"
            continue
        letter, least, is_open, most = slot.groups()
        alphabet = _ALPHABETS[letter]
        length = f"{least}," if is_open else f"{least},{most or least}"
        # Possessive, so that no text is tried twice.
        pattern += f"{_DEMANDS.get(letter, '')}[{alphabet}]{{{length}}}+"
        end = "" if is_open else f"(?![A-Za-z0-9{alphabet}])"
    return pattern + end
