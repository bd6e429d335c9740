"""Marian's own files: NAME.npz with Marian's tensor names, decoder.yml, vocabularies in YAML.

Matrices are [in, out], vectors [1, n], and layers are numbered from 1. The tensor special:model.yml holds the options as bytes.
There is no pad id: the decoder starts from a zero embedding. In the oracle this is the start token, whose id is one past the
target vocabulary. There are no generation settings: greedy search stops at the end token or after 20 new ids. The files are
checked by converting and running them with CTranslate2, which computes positions and norms as transformers does. The oracle of
the expected values computes them as Marian does: see compute_as_marian().
"""

import math
import tempfile
from functools import partial

import numpy as np
import torch
from ctranslate2.converters import OpusMTConverter

from maker.families import marian
from maker.formats.ctranslate2 import MARIAN_IDS, check_by_running, marian_case, numbered_words
from maker.marian_options import marian_options
from maker.publish import load

ATTENTION = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}


def publish(case, model, folder, save=np.savez):
    config = model.config
    sizes = config.vocab_size - 1, (config.decoder_vocab_size or config.vocab_size) - 1
    folder.mkdir(parents=True)
    tensors = tensors_of(model, sizes) | {"special:model.yml": options(config, sizes)}
    save(folder / "model.npz", **tensors)
    files = ["vocab.yml", "vocab.yml"] if config.share_encoder_decoder_embeddings else ["vocab.src.yml", "vocab.trg.yml"]
    for file, size in zip(files, sizes):
        write_vocabulary(folder / file, numbered_words(MARIAN_IDS, size).tokens)
    lines = ["relative-paths: true", "models:", "  - model.npz", "vocabs:"] + [f"  - {file}" for file in files]
    (folder / "decoder.yml").write_text("\n".join(lines + ["beam-size: 6", "normalize: 1", "word-penalty: 0"]) + "\n")
    with tempfile.TemporaryDirectory() as temporary:
        model.save_pretrained(temporary)
        oracle = load(case, temporary)
    marian.hide_start(oracle)
    with tempfile.TemporaryDirectory() as temporary:
        OpusMTConverter(str(folder)).convert(temporary, force=True)
        check_by_running(case, oracle, temporary, numbered_words(MARIAN_IDS, max(sizes)), around=((), [marian.EOS]))
    compute_as_marian(oracle)
    return oracle


@torch.no_grad()
def compute_as_marian(oracle):
    """Sets the formulas of marian-dev, src/models/transformer.h and src/graph/node_initializers.cpp (sinusoidalPositionEmbeddings):
    angles of position / 10000^(i / (d/2 - 1)), and layer norms with epsilon 1e-6. transformers has 10000^(2i / d) and 1e-5."""
    for stack in oracle.model.encoder, oracle.model.decoder:
        positions = stack.embed_positions.weight
        half = positions.shape[1] // 2
        angles = torch.arange(len(positions))[:, None] * torch.exp(torch.arange(half) * (-math.log(10000) / (half - 1)))
        positions.copy_(torch.cat([torch.sin(angles), torch.cos(angles)], 1))
    for module in oracle.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-6


def tensors_of(model, sizes):
    found = {}

    def vector(name, tensor):
        found[name] = tensor.detach().numpy()[None]

    def linear(name, letter, module):
        found[f"{name}_W{letter}"] = np.ascontiguousarray(module.weight.detach().numpy().T)
        vector(f"{name}_b{letter}", module.bias)

    def norm(name, module):
        vector(f"{name}_ln_scale", module.weight)
        vector(f"{name}_ln_bias", module.bias)

    tied = model.config.share_encoder_decoder_embeddings
    for side, stack, size in zip(("encoder", "decoder"), (model.model.encoder, model.model.decoder), sizes):
        found["Wemb" if tied else f"{side}_Wemb"] = stack.embed_tokens.weight.detach().numpy()[:size]
        for i, layer in enumerate(stack.layers, 1):
            blocks = {"self": (layer.self_attn, layer.self_attn_layer_norm)}
            if side == "decoder":
                blocks["context"] = layer.encoder_attn, layer.encoder_attn_layer_norm
            for block, (attention, attention_norm) in blocks.items():
                name = f"{side}_l{i}_{block}"
                for projection, letter in ATTENTION.items():
                    linear(name, letter, getattr(attention, projection))
                norm(f"{name}_Wo", attention_norm)
            linear(f"{side}_l{i}_ffn", "1", layer.fc1)
            linear(f"{side}_l{i}_ffn", "2", layer.fc2)
            norm(f"{side}_l{i}_ffn_ffn", layer.final_layer_norm)
    found["decoder_ff_logit_out_b"] = model.final_logits_bias.numpy()[:, : sizes[1]]
    return found


# Other options that Marian v1.9 and later write.
UNUSED = {
    "bert-train-type-embeddings": "true", "bert-type-vocab-size": 2, "dec-cell": "gru", "dec-cell-base-depth": 2,
    "dec-cell-high-depth": 1, "dim-rnn": 1024, "enc-cell": "gru", "enc-cell-depth": 1, "enc-type": "bidirectional",
    "input-types": "[]", "layer-normalization": "false", "lemma-dim-emb": 0, "right-left": "false", "skip": "false",
    "tied-embeddings-src": "false", "transformer-aan-activation": "swish", "transformer-aan-depth": 2,
    "transformer-aan-nogate": "false", "transformer-decoder-autoreg": "self-attention", "transformer-depth-scaling": "false",
    "transformer-dim-aan": 2048, "ulr": "false", "ulr-dim-emb": 0, "ulr-trainable-transformation": "false", "version": "v1.9.0",
}  # fmt: skip


def options(config, sizes):
    text = marian_options(
        (config.encoder_layers, config.decoder_layers), config.d_model, config.encoder_ffn_dim, config.encoder_attention_heads, sizes,
        config.share_encoder_decoder_embeddings, UNUSED | {"transformer-ffn-activation": config.activation_function},
    )  # fmt: skip
    return np.frombuffer(text, np.int8)


def write_vocabulary(path, tokens):
    lines = [f'"{token}": {i}' if token in MARIAN_IDS else f"{token}: {i}" for i, token in enumerate(tokens)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


TIED = marian.scaled("swish", 12, (2, 1), (3, 3), (22, 22), 26)
SEPARATE = marian.scaled("relu", 16, (1, 2), (4, 4), (19, 19), 23, decoder_start_token_id=27, **marian.two_vocabularies(28))
CASES = {
    "npz": [
        marian_case("tied_all", TIED, publish, 25),
        marian_case("separate_vocabulary", SEPARATE, partial(publish, save=np.savez_compressed), 27, bad_words_ids=[[27]]),
    ],
}
