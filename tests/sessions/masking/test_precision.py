"""What is no secret stays: a report with holes is of no use."""

from __future__ import annotations

from pathlib import Path

import pytest

from mltd.sessions.masking import Masker, mask_secrets


@pytest.mark.parametrize(
    "text",
    [
        "commit 4f1c2ab9d0e84c7a5b6d3e2f1a0b9c8d7e6f5a4b (HEAD -> main)",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "md5=d41d8cd98f00b204e9800998ecf8427e  model.safetensors",
        "run id: 3k8f2n1q, wandb run 6ktyafba, job 48213",
        "run 123e4567-e89b-12d3-a456-426614174000 started",
        "step 24590 | loss=0.123 | tokens/sec: 1.2e6 | tokens_per_second=531.2",
        "tokens: 123, total_tokens=12_345, num_tokens: 77, token_count=3, max_tokens: 100",
        "n_tokens_seen 1048576 tokens_per_gpu=8192 tok/s: 17",
        "pad_token='<pad>', eos_token='</s>', bos_token: <s>, mask_token=[MASK], cls_token='[CLS]'",
        "pad_token_id: 0, eos_token_id=50256, image_token_index: 32000",
        "tokenizer: gpt2, tokenizer_name=bert-base-uncased, tokenizer_path: /data/tok.model",
        "token_embedding.weight: torch.Size([50257, 768]), keyframe: 5, monkey=banana",
        "tensor([[ 0.1, -2.3e-05], [nan, inf]], device='cuda:0', dtype=torch.float16)",
        "missing keys: ['head.weight'], unexpected key(s) in state_dict: \"a.b\"",
        "primary_key=id, cache_key: 3f2a1b, sort_key=loss, key: value, num_key_value_heads: 8",
        "aGVsbG8= is base64 of a short thing",
        "password=None api_key: null token='' secret=*** hf_token=<redacted> pwd: ${PWD}",
        "PWD=/home/x OLDPWD=/tmp pwd=runs/exp7 pwd: C:\\\\x pwd=~ pwd=. pwd = os.getcwd()",
        "my password is wrong, the password is required, our password was changed yesterday",
        "<token>hello</token> <pad_token>a1b2c3d4e5f6</pad_token> <password></password>",
        "token:\n  hello\ntoken:\n  step 12 a1b2c3d4e5f6\ntokens:\n  a1b2c3d4e5f6",
        "secrets:\n  db_key_2024_a:\n    name: x\npad_token:\n  'x-1-pad'\ntoken:\nloss=0.123456",
        "def connect(password: str, token: str | None = None) -> Session:",
        "client = connect(password=self.password, token=os.environ['TOKEN'], api_key=api_key)",
        "password=getpass.getpass() api_key=cfg.api_key",
        "wrong password: access denied; API key: not set; token: invalid",
        "author: jane, authored by, keyboard interrupt, passed: 3, pass=1, bypass: true",
        "use_auth_token=True, require_password: false, is_secret=1",
        "secret_name: my-secret, token_url=https://host/token, password_file: /run/secrets/x",
        "c10d::Token::kFoo at::native::key, std::string: x",
        "sk-learn-contrib-style-name and sk-resnet50",
        "SWANLAB_API_KEY:NameError: name is not defined",
        "Token indices sequence length is longer than the maximum (1024 > 512)",
        "checkpoint-24590/model-00001-of-00004.safetensors loaded in 3.2s",
        "https://host/path?epoch=3&lr=1e-3&page=2",
        "ratio=3/4 a:b:c 12:34:56 https://host:8080/a@b",
        'headers={"Authorization": f"Bearer {token}"}, token="hello", token: \'##ing\' token=▁the',
        "[('tokenizer', 'gpt2'), ('max_tokens', 5), ('password', None)] ('key', 'value')",
        "- name: LR\n  value: 3",
        "bearer of bad news, basic auth failed, cookie monster: 3",
    ],
)
def test_an_ordinary_line_is_left_alone(text: str) -> None:
    assert mask_secrets(text) == text


def test_no_line_of_a_real_log_loses_anything(corpus: Path) -> None:
    logs = sorted(path for path in corpus.glob("*/*") if path.is_file())
    assert logs
    for path in logs:
        text = path.read_text("utf-8", "replace")
        assert mask_secrets(text) == text, path.name


@pytest.mark.parametrize(
    "text",
    [
        "import torch.nn.functional as F; torch.distributed.run; self.net, args.local, x.internal",
        "torch 2.4.1, cuda 12.1, lr 1e-3, ratio 3/4, 2026-05-03 12:34:56, train/loss and/or N/A",
        "/train/loss fell, 5 it /s, 100 tokens/s, s/it, val/acc@1, mAP@.5:.95, NDCG@10, HR@10",
        "train/loss@24590..25010 config:optimizer.lr step-500.pt:blocks.0.weight job:48213",
        "nvidia-cublas-cu11==11.8.0.86 cudnn/8.0.4.30-cuda opencv-python 4.6.0.66 v1.2.3.4",
        "driver version 535.104.05.1, NCCL version 2.18.1.1, CUDA 11.8.0.86",
        "std::vector at::native c10::Error fe::x 12:34:56 1:2:3",
        "rank0 gpu0 cuda:0 worker3 layer12 resnet50 epoch12 fp16 bf16 cu118 sm80",
        "train.tok.clean.bpe.32000.de valid.en-de.fr data.train.io",
        "localhost:6006 127.0.0.1 0.0.0.0 ::1 https://pytorch.org/docs/stable/notes/cuda.html",
        "/dev/shm /dev/null /bin/bash /proc/meminfo /usr/bin/env /tmp",
        "x[0:4] layers[0-4] GPU[0-7] tensor[1,2]",
        "driver 535.104.05, nccl 2.18.3, cudnn 8.9.2.26, (11.8.0.86), libcudnn8-8.9.2.26-1+cuda11",
        "nvidia-curand-cu12==10.3.5.147 nvidia-curand-cu12   10.3.5.147 tensorrt==10.0.1.6",
        "nvidia_cufft_cu11-10.9.0.58-py3-none-manylinux1_x86_64.whl",
        "the user just logged in, a user has connected, User: what is it",
        "role: user, user: hello, the user said, on rank 3 from step 100 node 2",
        "adam and adamw, host memory, model.to(device), @torch.no_grad(), a@b, p@k",
    ],
)
def test_redaction_leaves_what_names_nobody(text: str) -> None:
    assert Masker(redact=True).clean(text) == text
