"""What tensors are for, in the wordings of well-known models."""

from __future__ import annotations

import pytest

from mltd.analyzers.weights import kinds_of

from .facts import summary, tensor

W, V, C = (64, 64), (64,), (64, 64, 3, 3)
WORDINGS: dict[str, dict[str, tuple[tuple[int, ...], str]]] = {
    "gpt2": {
        "transformer.wte.weight": ((1000, 64), "embedding"),
        "transformer.wpe.weight": ((128, 64), "embedding"),
        "transformer.h.0.ln_1.weight": (V, "norm"),
        "transformer.h.0.ln_1.bias": (V, "norm"),
        "transformer.h.0.attn.c_attn.weight": ((64, 192), "attention"),
        "transformer.h.0.attn.c_proj.weight": (W, "attention"),
        "transformer.h.0.attn.c_proj.bias": (V, "attention"),
        "transformer.h.0.mlp.c_fc.weight": ((64, 256), "feed-forward"),
        "transformer.h.0.mlp.c_proj.bias": (V, "feed-forward"),
        "transformer.ln_f.weight": (V, "norm"),
        "lm_head.weight": ((1000, 64), "head"),
    },
    "llama": {
        "model.embed_tokens.weight": ((1000, 64), "embedding"),
        "model.layers.0.self_attn.q_proj.weight": (W, "attention"),
        "model.layers.0.self_attn.o_proj.weight": (W, "attention"),
        "model.layers.0.mlp.gate_proj.weight": ((128, 64), "feed-forward"),
        "model.layers.0.mlp.down_proj.weight": ((64, 128), "feed-forward"),
        "model.layers.0.input_layernorm.weight": (V, "norm"),
        "model.layers.0.post_attention_layernorm.weight": (V, "norm"),
        "model.norm.weight": (V, "norm"),
        "lm_head.weight": ((1000, 64), "head"),
    },
    "llama as Meta saves it": {
        "tok_embeddings.weight": ((1000, 64), "embedding"),
        "layers.0.attention.wq.weight": (W, "attention"),
        "layers.0.feed_forward.w1.weight": ((128, 64), "feed-forward"),
        "layers.0.attention_norm.weight": (V, "norm"),
        "layers.0.ffn_norm.weight": (V, "norm"),
        "output.weight": ((1000, 64), "head"),
    },
    "bert": {
        "bert.embeddings.word_embeddings.weight": ((1000, 64), "embedding"),
        "bert.embeddings.position_embeddings.weight": ((128, 64), "embedding"),
        "bert.embeddings.LayerNorm.weight": (V, "norm"),
        "bert.encoder.layer.0.attention.self.query.weight": (W, "attention"),
        "bert.encoder.layer.0.attention.output.dense.weight": (W, "attention"),
        "bert.encoder.layer.0.attention.output.LayerNorm.weight": (V, "norm"),
        "bert.encoder.layer.0.intermediate.dense.weight": ((256, 64), "feed-forward"),
        "bert.encoder.layer.0.output.dense.weight": ((64, 256), "feed-forward"),
        "bert.encoder.layer.0.output.LayerNorm.bias": (V, "norm"),
        "classifier.weight": ((2, 64), "head"),
        "classifier.bias": ((2,), "head"),
    },
    "vit as timm saves it": {
        "cls_token": ((1, 1, 64), "embedding"),
        "pos_embed": ((1, 197, 64), "embedding"),
        "patch_embed.proj.weight": ((64, 3, 16, 16), "convolution"),
        "patch_embed.proj.bias": (V, "convolution"),
        "blocks.0.norm1.weight": (V, "norm"),
        "blocks.0.attn.qkv.weight": ((192, 64), "attention"),
        "blocks.0.attn.proj.weight": (W, "attention"),
        "blocks.0.mlp.fc1.weight": ((256, 64), "feed-forward"),
        "norm.weight": (V, "norm"),
        "head.weight": ((10, 64), "head"),
    },
    "vit as torchvision saves it": {
        "class_token": ((1, 1, 64), "embedding"),
        "conv_proj.weight": ((64, 3, 16, 16), "convolution"),
        "encoder.pos_embedding": ((1, 197, 64), "embedding"),
        "encoder.layers.encoder_layer_0.ln_1.weight": (V, "norm"),
        "encoder.layers.encoder_layer_0.self_attention.in_proj_weight": ((192, 64), "attention"),
        "encoder.layers.encoder_layer_0.mlp.0.weight": ((256, 64), "feed-forward"),
        "encoder.ln.weight": (V, "norm"),
        "heads.head.weight": ((10, 64), "head"),
    },
    "resnet": {
        "conv1.weight": ((64, 3, 7, 7), "convolution"),
        "bn1.weight": (V, "norm"),
        "bn1.running_mean": (V, "norm"),
        "layer1.0.conv1.weight": (C, "convolution"),
        "layer1.0.bn1.bias": (V, "norm"),
        "layer1.0.downsample.0.weight": ((64, 64, 1, 1), "convolution"),
        "layer1.0.downsample.1.weight": (V, "norm"),
        "layer1.0.downsample.1.running_mean": (V, "norm"),
        "fc.weight": ((10, 64), "head"),
        "fc.bias": ((10,), "head"),
    },
    "lstm": {
        "embedding.weight": ((1000, 64), "embedding"),
        "rnn.weight_ih_l0": ((256, 64), "recurrent"),
        "rnn.weight_hh_l0": ((256, 64), "recurrent"),
        "rnn.bias_ih_l0": ((256,), "recurrent"),
        "decoder.weight": ((1000, 64), "head"),
    },
    "language model of torch's examples": {
        "encoder.weight": ((1000, 64), "embedding"),
        "rnn.weight_ih_l0": ((256, 64), "recurrent"),
        "decoder.weight": ((1000, 64), "head"),
        "decoder.bias": ((1000,), "head"),
    },
    "t5": {
        "shared.weight": ((1000, 64), "embedding"),
        "encoder.block.0.layer.0.SelfAttention.q.weight": (W, "attention"),
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": (
            (32, 8),
            "attention",
        ),
        "encoder.block.0.layer.1.DenseReluDense.wi.weight": ((256, 64), "feed-forward"),
        "encoder.block.0.layer.1.layer_norm.weight": (V, "norm"),
    },
    "transformer of torch": {
        "layers.0.self_attn.in_proj_weight": ((192, 64), "attention"),
        "layers.0.self_attn.out_proj.weight": (W, "attention"),
        "layers.0.linear1.weight": ((256, 64), "feed-forward"),
        "layers.0.linear2.weight": ((64, 256), "feed-forward"),
        "layers.0.norm1.weight": (V, "norm"),
    },
    "adapters": {
        "model.layers.0.self_attn.q_proj.base_layer.weight": (W, "attention"),
        "model.layers.0.self_attn.q_proj.lora_A.default.weight": ((8, 64), "attention"),
        "model.layers.0.mlp.up_proj.lora_B.default.weight": ((64, 8), "feed-forward"),
    },
    "sequential": {
        "0.weight": ((64, 16), "feed-forward"),
        "1.weight": (V, "norm"),
        "1.bias": (V, "norm"),
        "3.weight": ((10, 64), "head"),
        "3.bias": ((10,), "head"),
    },
}
PREFIXES = ("", "module.", "_orig_mod.", "model.")


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("model", WORDINGS)
def test_each_tensor_of_a_known_model_gets_its_kind(model: str, prefix: str) -> None:
    wanted = {f"{prefix}{name}": kind for name, (_, kind) in WORDINGS[model].items()}
    made = summary(
        *(tensor(f"{prefix}{name}", shape) for name, (shape, _) in WORDINGS[model].items())
    )
    assert {name: kind.value for name, kind in kinds_of(made.model).items()} == wanted


def test_a_tied_head_that_was_saved_first_counts_as_the_table() -> None:
    made = summary(
        tensor("lm_head.weight", (1000, 64)),
        tensor("model.embed_tokens.weight", (1000, 64), tied_to="lm_head.weight"),
    )
    assert kinds_of(made.model)["lm_head.weight"].value == "embedding"
