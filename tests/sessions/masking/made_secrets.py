"""Made-up secrets as a table: vendor tokens, credential documents and calls.

A slot such as `{A36}` in a template stands for 36 random characters of one alphabet. The lists
follow the kinds that the public secret scanners know; no template is a real secret.
"""

from __future__ import annotations

import random
import re
import string
import uuid
from typing import NamedTuple

_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "B": string.ascii_letters + string.digits + "-_",
    "S": string.ascii_letters + string.digits + "+/",
    "U": string.ascii_uppercase + string.digits,
    "L": string.ascii_lowercase + string.digits,
    "H": "0123456789abcdef",
    "D": string.digits,
    "E": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "P": string.ascii_letters + string.digits + "!@$^*+_~",
}
"""The alphabets of slots; `{G}` is a UUID and `{P12}` a password as people choose it."""
_SLOT = re.compile(r"\{([ABSULHDEP])(\d+)\}|\{(G)\}")


class Made(NamedTuple):
    """A text with secrets in it."""

    text: str
    secrets: tuple[str, ...]
    """What was put into the slots."""
    literals: tuple[str, ...]
    """What stands around the slots."""


def fill(template: str, seed: int) -> Made:
    """The template with random characters in its slots, the same ones for the same seed."""
    source = random.Random(f"{template} {seed}")
    secrets: list[str] = []

    def filled(slot: re.Match[str]) -> str:
        secrets.append(_random_text(source, slot[1], int(slot[2])) if slot[1] else _uuid(source))
        return secrets[-1]

    text = _SLOT.sub(filled, template)
    literals = tuple(part for part in _SLOT.sub("\0", template).split("\0") if part)
    return Made(text, tuple(secrets), literals)


def _random_text(source: random.Random, alphabet: str, length: int) -> str:
    while True:
        text = "".join(source.choices(_ALPHABETS[alphabet], k=length))
        # One text in some thousands has no digit or ends in a mark: no generator of keys avoids
        # that, but a table that is drawn anew for each seed would be a matter of luck.
        has_digit = any(c.isdigit() for c in text)
        has_letter = alphabet == "D" or any(c.isalpha() for c in text)
        if has_digit and has_letter and text[0].isalnum() and text[-1].isalnum():
            return text


def _uuid(source: random.Random) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))


VENDOR_TOKENS: dict[str, str] = {
    # Models and training
    "openai": "sk-{A20}T3BlbkFJ{A20}",
    "openai project": "sk-proj-{B74}T3BlbkFJ{B74}",
    "openai service account": "sk-svcacct-{B74}T3BlbkFJ{B58}",
    "openai admin": "sk-admin-{B58}T3BlbkFJ{B58}",
    "anthropic": "sk-ant-api03-{B93}AA",
    "anthropic admin": "sk-ant-admin01-{B93}AA",
    "anthropic oauth": "sk-ant-oat01-{B93}AA",
    "hugging face": "hf_{A34}",
    "hugging face organization": "api_org_{A34}",
    "deepseek": "sk-{L32}",
    "openrouter": "sk-or-v1-{H64}",
    "langfuse": "sk-lf-{G}",
    "langsmith": "lsv2_pt_{H32}_{H10}",
    "replicate": "r8_{A37}",
    "groq": "gsk_{A52}",
    "xai": "xai-{A80}",
    "perplexity": "pplx-{A48}",
    "fireworks": "fw_{A22}",
    "fireworks long": "fw_{A24}",
    "together": "tgp_v1_{B43}",
    "cerebras": "csk-{L48}",
    "voyage": "pa-{B43}",
    "jina": "jina_{A32}{B24}",
    "tavily": "tvly-{A32}",
    "tavily development": "tvly-dev-{A32}",
    "firecrawl": "fc-{H32}",
    "elevenlabs": "sk_{H48}",
    "pinecone": "pcsk_{A6}_{A63}",
    "nvidia": "nvapi-{B64}",
    "modal token": "ak-{A22}",
    "modal secret": "as-{A22}",
    "runpod": "rpa_{U40}{L6}",
    "kaggle": "KGAT_{H32}",
    "weights and biases": "wandb_v1_{A27}_{A46}",
    "neptune": "eyJhcGlfYWRkcmVzcyI6Imh0dHBzOi8v{A60}{A40}==",
    "databricks": "dapi{H32}",
    "databricks azure": "dapi{H32}-2",
    "e2b": "e2b_{H40}",
    "anyscale": "esecret_{A26}",
    "helicone": "sk-helicone-{L7}-{L7}-{L7}-{L7}",
    "aws bedrock": "ABSK{S120}=",
    "prefect": "pnu_{A36}",
    "salad": "salad_cloud_{A5}_{A40}",
    "apify": "apify_api_{A36}",
    "scale": "live_{H32}",
    # Code hosts and packages
    "github": "ghp_{A36}",
    "github oauth": "gho_{A36}",
    "github user": "ghu_{A36}",
    "github server": "ghs_{A36}",
    "github refresh": "ghr_{A36}",
    "github fine-grained": "github_pat_{A22}_{A59}",
    "gitlab": "glpat-{B20}",
    "gitlab routable": "glpat-{B27}.01.{L9}",
    "gitlab deploy": "gldt-{B20}",
    "gitlab runner": "glrt-{B20}",
    "gitlab job": "glcbt-{A2}_{B20}",
    "gitlab trigger": "glptt-{H40}",
    "gitlab scim": "glsoat-{B20}",
    "gitlab feed": "glft-{B20}",
    "gitlab mail": "glimt-{B25}",
    "gitlab agent": "glagent-{B50}",
    "gitlab application": "gloas-{H64}",
    "gitlab registration": "GR1348941{B20}",
    "gitlab feature flag": "glffct-{B20}",
    "bitbucket": "ATBB{A32}",
    "bitbucket access": "ATCTT3xFfG{B160}={U8}",
    "atlassian": "ATATT3{B180}={U8}",
    "npm": "npm_{A36}",
    "pypi": "pypi-AgEIcHlwaS5vcmc{B120}",
    "pypi test": "pypi-AgENdGVzdC5weXBpLm9yZw{B100}",
    "rubygems": "rubygems_{H48}",
    "nuget": "oy2{L43}",
    "clojars": "CLOJARS_{L60}",
    "docker": "dckr_pat_{B27}",
    "docker organization": "dckr_oat_{B32}",
    "artifactory": "AKCp{A69}",
    "artifactory reference": "cmVmdGtu{A56}",
    "sourcegraph": "sgp_{H16}_{H40}",
    "sonar": "squ_{H40}",
    "sonar project": "sqp_{H40}",
    "circleci": "CCIPAT_{A22}_{H40}",
    "buildkite": "bkua_{L40}",
    "postman": "PMAK-{H24}-{H34}",
    "infracost": "ico-{A32}",
    "octopus": "API-{U26}",
    # Clouds
    "aws id": "AKIA{U16}",
    "aws temporary id": "ASIA{U16}",
    "google api": "AIza{B35}",
    "google access": "ya29.{B120}",
    "google client secret": "GOCSPX-{B28}",
    "google refresh": "1//0e{B90}",
    "azure client secret": "{A3}8Q~{A34}",
    "azure storage": "{S76}+ASt{A6}==",
    "azure registry": "{S42}+ACR{A6}",
    "azure devops": "{A52}JQQJ99{A10}AAAA{A4}AZDO{A4}",
    "alibaba id": "LTAI{A20}",
    "tencent id": "AKID{A32}",
    "digitalocean": "dop_v1_{H64}",
    "digitalocean oauth": "doo_v1_{H64}",
    "digitalocean refresh": "dor_v1_{H64}",
    "fly": "fm2_{S120}==",
    "fly oauth": "fo1_{B43}",
    "heroku": "HRKU-AA{B58}",
    "netlify": "nfp_{A36}",
    "supabase": "sbp_{H40}",
    "supabase secret": "sb_secret_{B22}_{A8}",
    "planetscale": "pscale_tkn_{A43}",
    "planetscale password": "pscale_pw_{A43}",
    "neon": "napi_{L64}",
    "clickhouse": "4b1d{A38}",
    "doppler": "dp.pt.{A43}",
    "doppler service": "dp.st.prd.{A43}",
    "vault": "hvs.{B95}",
    "vault batch": "hvb.{B140}",
    "vault old": "s.{A24}",
    "terraform": "{A14}.atlasv1.{A67}",
    "pulumi": "pul-{H40}",
    "1password account": "A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}",
    "1password service": "ops_eyJ{S250}",
    "age": "AGE-SECRET-KEY-1{E58}",
    "openshift": "sha256~{B43}",
    "portainer": "ptr_{S44}",
    "tailscale": "tskey-auth-{A12}CNTRL-{A32}",
    "tailscale api": "tskey-api-{A12}CNTRL-{A32}",
    "tailscale client": "tskey-client-{A12}CNTRL-{A32}",
    "cloudflare origin": "v1.0-{H24}-{H146}",
    "cloudflare user": "cfut_{A40}{H8}",
    "scalingo": "tk-us-{B48}",
    "harness": "pat.{A22}.{H24}.{A20}",
    "yandex": "AQVN{B36}",
    "yandex iam": "t1.{B60}.{B86}",
    # Messages, payments, operations
    "slack bot": "xoxb-{D12}-{D13}-{A24}",
    "slack user": "xoxp-{D12}-{D12}-{D12}-{H32}",
    "slack app": "xapp-1-A{U10}-{D13}-{H64}",
    "slack refresh": "xoxe-1-{A146}",
    "slack configuration": "xoxe.xoxp-1-{A166}",
    "discord bot": "MT{A24}.G{A5}.{B38}",
    "telegram": "{D10}:AA{B33}",
    "twilio": "SK{H32}",
    "sendgrid": "SG.{B22}.{B43}",
    "mailgun": "key-{H32}",
    "mailchimp": "{H32}-us12",
    "brevo": "xkeysib-{H64}-{A16}",
    "stripe": "sk_live_{A24}",
    "stripe long": "sk_live_51{A97}",
    "stripe test": "sk_test_{A24}",
    "stripe restricted": "rk_live_{A24}",
    "stripe webhook": "whsec_{A32}",
    "square": "sq0atp-{B22}",
    "square secret": "sq0csp-{B43}",
    "square access": "EAAA{B60}",
    "shopify": "shpat_{H32}",
    "shopify secret": "shpss_{H32}",
    "facebook": "EAAC{A120}",
    "twitter bearer": "AAAAAAAAAAAAAAAAAAAAA{A30}%2B{A50}",
    "linear": "lin_api_{A40}",
    "notion": "ntn_{D11}{A35}",
    "notion old": "secret_{A43}",
    "airtable": "pat{A14}.{H64}",
    "clickup": "pk_{D8}_{U32}",
    "figma": "figd_{B40}",
    "dropbox": "sl.{B136}",
    "asana": "1/{D16}:{H32}",
    "contentful": "CFPAT-{B43}",
    "typeform": "tfp_{A59}",
    "frame.io": "fio-u-{B64}",
    "readme": "rdme_{L70}",
    "sentry organization": "sntrys_eyJpYXQiO{S120}=_{S43}",
    "sentry user": "sntryu_{H64}",
    "grafana service": "glsa_{A32}_{H8}",
    "grafana cloud": "glc_{S90}=",
    "grafana old": "eyJrIjoi{A90}==",
    "new relic": "NRAK-{U27}",
    "new relic licence": "{H32}FFFFNRAL",
    "dynatrace": "dt0c01.{U24}.{U64}",
    "datadog": "ddp_{A36}",
    "posthog": "phx_{A43}",
    "launchdarkly": "sdk-{G}",
    "rootly": "rootly_{H64}",
    "adafruit": "aio_{A28}",
    "easypost": "EZAK{A54}",
    "shippo": "shippo_live_{H40}",
    "duffel": "duffel_live_{B43}",
    "flutterwave": "FLWSECK-{L32}-X",
    "salesforce": "00D{A12}!{A96}",
    "maxmind": "{A6}_{A29}_mmk",
    "adobe": "p8e-{B32}",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJ{B60}.{B43}",
    "extended private key": "xprv9s21ZrQH143K{A96}",
}
"""Known by their shape, whatever stands around them."""

CONTEXTS = (
    "{secret}",
    "2026-11-18 10:00:00 INFO using {secret} for this run",
    "VALUE={secret}",
    '{{"lr": 0.1, "value": "{secret}", "seed": 1}}',
    "logger:\n  value: {secret}\n  name: base\n",
    "Namespace(lr=0.1, value='{secret}', seed=1)",
    "GET https://api.example.org/v1/runs?value={secret}&page=2 200",
    "x-custom: {secret}\r\nhost: example.org",
    'export VALUE="{secret}"',
    "(`{secret}`)",
    '  File "train.py", line 3, in main\n    connect("{secret}")\nValueError: '
    "bad value '{secret}'",
    "['train.py', '--value', '{secret}', '--lr', '3']",
    "│ value │ {secret} │",
    "value: {secret}, lr: 0.1",
    "<value>{secret}</value>",
    '{{\\"value\\": \\"{secret}\\"}}',
)
"""Places without a word that announces a secret."""

DOCUMENTS: dict[str, str] = {
    "kubeconfig key":
        "users:\n- name: admin\n  user:\n    client-certificate-data: {S400}==\n"
        "    client-key-data: {S400}==\n",
    "kubeconfig key in JSON": '{"user": {"client-key-data": "{S400}=="}}',
    "kubeconfig token": "users:\n- name: admin\n  user:\n    token: {A60}\n",
    "kubeconfig provider":
        "auth-provider:\n  config:\n    access-token: {A80}\n    id-token: {A80}\n"
        "    refresh-token: {A80}\n    expiry: 2026\n",
    "kubernetes secret":
        "kind: Secret\nmetadata:\n  name: wandb\ndata:\n  wandb: {S54}==\ntype: "
        "Opaque\n",
    "service account":
        '{\n  "type": "service_account",\n  "project_id": "vision",\n  "private_key_id": '
        '"{H40}",\n  "private_key": "-----BEGIN PRIVATE KEY-----\\n{S64}\\n{S64}\\n-----END '
        'PRIVATE KEY-----\\n",\n  "universe_domain": "googleapis.com"\n}',
    "service account repr":
        "{'type': 'service_account', 'project_id': 'vision', 'private_key_id': '{H40}',"
        " 'token_uri': 'x'}",
    "application default":
        '{"client_id": "7", "client_secret": "{A24}", "refresh_token": "{B60}", '
        '"type": "authorized_user"}',
    "kaggle": '{"username":"joe","key":"{H32}"}',
    "kaggle spaced": '{\n  "username": "joe",\n  "key": "{H32}"\n}',
    "kaggle repr": "{'username': 'joe', 'key': '{H32}'}",
    "kaggle reversed": '{"key": "{H32}", "username": "joe"}',
    "kaggle environment": "KAGGLE_USERNAME=joe\nKAGGLE_KEY={H32}\n",
    "docker config": '{"auths": {"registry.example.org": {"auth": "{S40}=="}}}',
    "docker identity": '{"auths": {"r.example.org": {"identitytoken": "{A60}"}}}',
    "netrc": "machine api.wandb.ai\n  login user\n  password {H40}\n",
    "netrc in one line": "machine api.wandb.ai login user password {H40}",
    "pgpass": "db.example.org:5432:metrics:joe:{P14}\n",
    "aws credentials":
        "[default]\naws_access_key_id = AKIA{U16}\naws_secret_access_key = {S40}\n"
        "aws_session_token = {S200}\n",
    "boto": "[Credentials]\ngs_secret_access_key = {S40}\n",
    "npmrc": "//registry.npmjs.org/:_authToken={G}\n",
    "npmrc basic": "//registry.example.org/:_auth={S40}==\n_password={S20}==\n",
    "pypirc": "[pypi]\nusername = joe\npassword = {P16}\n",
    "pip configuration": "[global]\nindex-url = https://joe:{A24}@pypi.example.org/simple\n",
    "git credentials": "https://joe:{A24}@git.example.org\n",
    "rsa key":
        "-----BEGIN RSA PRIVATE KEY-----\n{S64}\n{S64}\n{S40}=\n-----END RSA PRIVATE "
        "KEY-----\n",
    "openssh key":
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{S70}\n{S70}\n-----END OPENSSH PRIVATE "
        "KEY-----\n",
    "pgp key":
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{S64}\n{S64}\n={S4}\n-----END "
        "PGP PRIVATE KEY BLOCK-----\n",
    "putty key":
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n"
        "{S48}\nPrivate-MAC: 0123\n",
    "wireguard": "[Interface]\nAddress = 10.0.0.2/32\nPrivateKey = {S43}=\n",
    "json web key":
        '{"kty": "RSA", "kid": "one", "d": "{B86}", "p": "{B43}", "q": "{B43}", '
        '"e": "AQAB"}',
    "azure storage":
        "DefaultEndpointsProtocol=https;AccountName=vision;AccountKey={S86}==;EndpointSuffix=cor"
        "e.windows.net",
    "azure service bus":
        "Endpoint=sb://vision.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={S43}"
        "=",
    "azure sas":
        "https://vision.blob.core.windows.net/runs/a.ckpt?sv=2023-01-03&se=2026-12-01&"
        "sr=b&sp=r&sig={A42}%3D",
    "aws presigned":
        "https://b.s3.amazonaws.com/a.ckpt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=60&"
        "X-Amz-Signature={H64}",
    "google signed":
        "https://storage.googleapis.com/b/a.ckpt?X-Goog-Algorithm=GOOG4-RSA-SHA256&"
        "X-Goog-Signature={H256}",
    "slack webhook": "url: https://hooks.slack.com/services/T{U9}/B{U9}/{A24}",
    "slack workflow": "https://hooks.slack.com/workflows/T{U9}/A{U9}/{D18}/{A24}",
    "discord webhook": "https://discord.com/api/webhooks/{D19}/{B68}",
    "discord old webhook": "https://discordapp.com/api/webhooks/{D18}/{B68}",
    "teams webhook":
        "https://example.webhook.office.com/webhookb2/{G}@{G}/IncomingWebhook/{H32}/{G}",
    "zapier webhook": "https://hooks.zapier.com/hooks/catch/{D7}/{L7}/",
    "telegram address": "https://api.telegram.org/bot{D10}:AA{B33}/sendMessage",
    "sentry address": "https://{H32}@o1.ingest.sentry.io/7",
    "postgres": "postgresql://joe:{P14}@db.example.org:5432/metrics",
    "mongo": "mongodb+srv://joe:{A16}@cluster.example.net/?retryWrites=true",
    "redis": "redis://:{A24}@cache.example.org:6379/0",
    "amqp": "amqps://joe:{A24}@queue.example.org/vhost",
    "mysql": "mysql+pymysql://joe:{A14}@db.example.org/runs",
    "odbc": "Driver={ODBC};Server=db.example.org;Uid=joe;Pwd={A14};Encrypt=yes",
    "sql server": "Server=db.example.org;Database=runs;User Id=joe;Password={A14};",
    "jdbc": "jdbc:postgresql://db.example.org/runs?user=joe&password={A14}&ssl=true",
    "libpq": "host=db.example.org port=5432 user=joe password={A14} dbname=runs",
    "snowflake": "snowflake://joe:{A14}@account/runs",
    "basic": "Authorization: Basic {S32}==",
    "bearer": "Authorization: Bearer {B60}",
    "token scheme": "authorization: token {A40}",
    "digest": 'Authorization: Digest username="joe", realm="r", nonce="{H32}", response="{H32}"',
    "aws signature":
        "Authorization: AWS4-HMAC-SHA256 Credential=AKIA{U16}/20261118/eu/s3/aws4_request,"
        " SignedHeaders=host, Signature={H64}",
    "unknown scheme": "Authorization: Snowflake Token=\"{A60}\"",
    "proxy authorization": "Proxy-Authorization: Basic {S32}==",
    "api key header": "X-Api-Key: {A32}",
    "private token header": "PRIVATE-TOKEN: {A20}",
    "vault header": "X-Vault-Token: {A24}",
    "auth token header": "X-Auth-Token: {A32}",
    "session token header": "x-amz-security-token: {S200}",
    "cookie": "Cookie: sessionid={L32}; csrftoken={A64}",
    "set-cookie": "Set-Cookie: session={B60}; Path=/; HttpOnly",
    "header dictionary": "headers={'Authorization': 'Bearer {A40}', 'Accept': 'json'}",
    "curl header": "curl -H 'Authorization: Bearer {A40}' https://api.example.org/v1",
    "curl user": "curl -u joe:{A16} https://api.example.org/v1",
    "git extra header": "http.extraheader=AUTHORIZATION: basic {S40}==",
    "terraform": 'credentials "app.terraform.io" {\n  token = "{A14}.atlasv1.{A67}"\n}',
    "htpasswd": "joe:$2y$10${A53}",
    "shadow": "joe:$6${A16}${A86}:19000:0:99999:7:::",
    "ini password": "[database]\nuser = joe\npasswd = {P12}\n",
    "smtp environment": "SMTP_USER=joe\nSMTP_PASS={P12}\n",
    "wandb settings": "wandb: Appending key for api.wandb.ai to your netrc file: {H40}",
    "jupyter": "http://node:8888/lab?token={H48}",
    "jupyter password":
        "c.NotebookApp.password = 'argon2:$argon2id$v=19$m=10240,t=10,p=8${S22}${S43}'",
    "comet": "[comet]\napi_key={A25}\nworkspace=joe\n",
    "clearml":
        "api {\n  credentials {\n    \"access_key\" = \"{U20}\"\n    \"secret_key\" "
        "= \"{A50}\"\n  }\n}",
    "mlflow": "MLFLOW_TRACKING_USERNAME=joe\nMLFLOW_TRACKING_PASSWORD={P14}\n",
    "rclone": "[s3]\ntype = s3\nsecret_access_key = {S40}\n",
    "s3cmd": "[default]\nsecret_key = {S40}\n",
    "lambda cloud": "LAMBDA_API_KEY=secret_vision_{H32}.{A32}",
    "mistral": "MISTRAL_API_KEY={A32}",
    "cohere": "CO_API_KEY={A40}",
    "vast": "vast_api_key: {H64}",
    "ray": "RAY_AUTH_TOKEN={H64}",
    "sidekiq": "BUNDLE_GEMS__CONTRIBSYS__COM: {H8}:{H8}",
    "ethereum": "PRIVATE_KEY=0x{H64}",
    "facebook secret": "facebook_app_secret: {H32}",
    "twilio token": "TWILIO_AUTH_TOKEN={H32}",
    "datadog keys": "DD_API_KEY={H32} DD_APP_KEY={H40}",
    "mailgun": "MAILGUN_API_KEY={H32}-{H8}-{H8}",
    "django": "SECRET_KEY = 'django-insecure-{A50}'",
    "one-time password": "otpauth://totp/joe?secret={U32}&issuer=example",
    "vnc": "x11vnc -passwd {A12} -display :0",
    "sshpass": "sshpass -p {A12} ssh joe@node",
    "mysql command": "mysql -u joe -p{A12} runs",
    "openssl": "openssl enc -k {A16} -in a",
    "docker login": "docker login -u joe -p {A16} registry.example.org",
    "wandb login": "wandb login {H40}",
    "huggingface login": "huggingface-cli login --token {A40}",
}  # fmt: skip
"""Files, addresses, headers and commands with secrets that only their place gives away."""

CALLS: dict[str, str] = {
    "smtp": "smtp.login('bob', '{P12}')",
    "smtp double quotes": 'server.login("bob@example.org", "{P12}")',
    "smtp variable user": "smtp.login(user, '{P12}')",
    "imap": "M.login('bob', '{P14}')  # mail",
    "ftp": "FTP('ftp.example.org', 'bob', '{P12}')",
    "ftp login": "ftp.login(user='bob', passwd='{P12}')",
    "hub login": 'login(token="{A37}")',
    "hub login positional": "huggingface_hub.login('{A37}')",
    "wandb login": "wandb.login(key='{H40}')",
    "wandb login positional": 'wandb.login("{H40}")',
    "hub api": "HfApi(token='{A37}')",
    "paramiko": "client.connect('node', username='bob', password='{P12}')",
    "paramiko positional": "client.connect('node', 22, 'bob', '{P12}')",
    "psycopg": "psycopg2.connect(host='db', user='bob', password='{P12}')",
    "mysql": "MySQLdb.connect('db', 'bob', '{P12}', 'runs')",
    "openai attribute": "openai.api_key = '{A48}'",
    "openai client": "OpenAI(api_key='{A48}')",
    "set password": "user.set_password('{P12}')",
    "requests tuple": "requests.get(url, auth=('bob', '{P12}'))",
    "basic auth": "HTTPBasicAuth('bob', '{P12}')",
    "token auth": "HTTPTokenAuth('{A40}')",
    "pinecone": "pinecone.init(api_key='{G}', environment='us')",
    "comet": "Experiment(api_key='{A25}', project_name='x')",
    "neptune": "neptune.init_run(project='a/b', api_token='{A60}')",
    "environment": "os.environ['WANDB_API_KEY'] = '{H40}'",
    "environment default": "os.environ.setdefault('HF_TOKEN', '{A37}')",
    "putenv": "os.putenv('DB_PASSWORD', '{P12}')",
    "getenv default": "os.getenv('API_KEY', '{A40}')",
    "boto3": "boto3.client('s3', aws_access_key_id='AKIA{U16}', aws_secret_access_key='{S40}')",
    "minio": "Minio('play.example.org', access_key='{U20}', secret_key='{A40}')",
    "keyring": "keyring.set_password('wandb', 'bob', '{P14}')",
    "fernet": "Fernet(b'{B43}=')",
    "header tuple": "request.add_header('Authorization', 'Basic {S30}==')",
    "session headers": "session.headers['PRIVATE-TOKEN'] = '{A20}'",
    "pymongo": "db.authenticate('bob', '{P12}')",
    "sqlalchemy": "URL.create('postgresql', username='bob', password='{P12}', host='db')",
    "ldap": "conn.simple_bind_s('cn=bob', '{P12}')",
    "zip": "archive.setpassword(b'{P12}')",
    "ssh key": "RSAKey.from_private_key_file('id', password='{P12}')",
    "traceback":
        '  File "mail.py", line 3, in send\n    smtp.login(\'bob\', \'{P12}\')\n'
        'smtplib.SMTPAuthenticationError: (535)',
}  # fmt: skip
"""Program text with secrets as arguments."""
