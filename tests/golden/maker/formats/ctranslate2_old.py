"""CTranslate2 folders in the formats of its converters from 2018 to 2022, checked by running them with the current CTranslate2.

The weights come from the current converter. The older layouts are taken from the project's history: the variables and their
names, the head of the file, and the names of the vocabularies.
"""

import struct
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import torch

from maker.families import bart, gpt2
from maker.formats.ctranslate2 import DTYPES, NORM_FIRST, NORM_LAST, case, check_by_running, convert, numbered_words, read_variables

OPENNMT_TF_IDS = ["<blank>", "<s>", "</s>", "<unk>"]
OPENNMT_PY_IDS = ["<unk>", "<blank>", "<s>", "</s>"]
OTHER_IDS = ["BOS", "PAD", "EOS", "UNK"]
PUBLISHED = {"bart": NORM_LAST, "pegasus": NORM_FIRST}
WEIGHTS = ("/weight", "/bias", "/gamma", "/beta", "/encodings")


@dataclass
class Layout:
    """The layout of the files of one version of the converter."""

    version: int  # version of the format
    revision: int
    specials: list
    spec: str = ""
    settings: dict = field(default_factory=dict)  # variables with options: name -> number or text
    rename: object = lambda name: name  # current name of a variable -> its name in this layout
    scale: int = 0  # scale of quantised weights; 0: not quantised
    dtype: type = np.float32  # type of weights
    stores_scale: bool = True
    stores_positions: bool = True
    vocabularies: tuple = ("source_vocabulary", "target_vocabulary")
    around: tuple = ((), ())  # ids that are put before and after a source
    last: str | None = None  # the last token


def publish(case, model, folder, layout):
    vocabulary = numbered_words(layout.specials, model.config.vocab_size, layout.last)
    if layout.scale:
        round_weights(model, layout.scale)
    with tempfile.TemporaryDirectory() as temporary:
        converted = Path(temporary) / "converted"
        oracle = convert(case, model, converted, vocabulary, **PUBLISHED.get(case.family.config_class.model_type, {}))
        variables, aliases = read_variables(converted / "model.bin")
    folder.mkdir(parents=True)
    write_model(folder / "model.bin", layout, *laid_out(layout, variables, aliases))
    for name in layout.vocabularies:
        (folder / f"{name}.txt").write_text("".join(f"{token}\n" for token in vocabulary.tokens), encoding="utf-8")
    check_by_running(case, oracle, folder, vocabulary, layout.around)
    return oracle


@torch.no_grad()
def round_weights(model, scale):
    """Rounds the matrices to multiples of 1 / scale."""
    for name, tensor in model.state_dict().items():
        if tensor.ndim == 2 and "embed_positions" not in name and name != "final_logits_bias":
            tensor.copy_((tensor * scale).round() / scale)


def laid_out(layout, variables, aliases):
    """Returns the variables and the aliases of the old layout."""
    if layout.version < 3:  # the format has no aliases
        variables, aliases = variables | {alias: variables[name] for alias, name in aliases.items()}, {}
    found = {}
    for name, values in variables.items():
        if not name.endswith(WEIGHTS) or (name.endswith("/encodings") and not layout.stores_positions):
            continue
        if name.endswith("/weight"):
            stored = (values * layout.scale).round().astype(layout.dtype) if layout.scale else values.astype(layout.dtype)
            assert np.abs(stored / (layout.scale or 1) - values).max() < 1e-6, f"{name} is not stored as it is"
            values = stored
            if layout.scale and layout.stores_scale:
                shape = values.shape[:1] if layout.dtype == np.int8 else ()
                found[layout.rename(name) + "_scale"] = np.full(shape, layout.scale, np.float32)
        elif layout.dtype == np.float16:
            values = values.astype(layout.dtype)
        found[layout.rename(name)] = values
    for name, value in layout.settings.items():
        found[name] = np.frombuffer(value.encode(), np.int8) if isinstance(value, str) else np.int8(value)
    aliases = {layout.rename(alias): layout.rename(name) for alias, name in aliases.items()}
    return found, {alias: name for alias, name in aliases.items() if name in found and alias.endswith(WEIGHTS)}


def write_model(path, layout, variables, aliases):
    text = lambda value: struct.pack("<H", len(value) + 1) + value.encode() + b"\0"
    data = struct.pack("<I", layout.version)
    if layout.version >= 2:
        data += text(layout.spec) + struct.pack("<I", layout.revision)
    data += struct.pack("<I", len(variables))
    kinds = {dtype: number for number, dtype in DTYPES.items()}
    for name, values in sorted(variables.items()):
        data += text(name) + struct.pack(f"<B{values.ndim}I", values.ndim, *values.shape)
        of_type = (kinds[values.dtype.type], values.nbytes) if layout.version >= 4 else (values.itemsize, values.size)
        data += struct.pack("<BI", *of_type) + values.tobytes()
    if layout.version >= 3:
        data += struct.pack("<I", len(aliases)) + b"".join(text(a) + text(b) for a, b in sorted(aliases.items()))
    path.write_bytes(data)


def name_of_opennmt_tf(name):
    """Returns TensorFlow's name of a variable of OpenNMT-tf 1."""
    attention = "multi_head" if name.startswith("encoder") else "masked_multi_head"
    for now, old in {
        "embeddings_0/weight": "w_embs", "embeddings/weight": "w_embs", "self_attention": attention, "/attention": "/multi_head",
        "layer_norm": "LayerNorm", "projection": "dense", "linear_0": "conv1d", "linear_": "conv1d_", "weight": "kernel",
    }.items():  # fmt: skip
        name = name.replace(now, old)
    return f"transformer/{name}:0"


def name_with_one_embedding(name):
    return name.replace("embeddings_0", "embeddings")


def old_case(name, family, sizes, layout, **more):
    return case(name, family, sizes, partial(publish, layout=layout), same_model=not layout.scale, **more)


TF_IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
PY_IDS = {"pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2}
RELU = {"activation_function": "relu", "scale_embedding": True, "max_position_embeddings": 22}
SHARED = ("shared_vocabulary",)
SETTINGS_3 = {"num_heads": 3, "with_relative_position": 0, "with_source_bos": 1, "with_source_eos": 1}
SETTINGS_3 |= {f"{side}/embeddings/multiply_by_sqrt_depth": 0 for side in ("encoder", "decoder")}
SETTINGS_4 = {
    "num_heads": 2, "pre_norm": 0, "activation": 3, "alignment_layer": -1, "alignment_heads": 1, "with_relative_position": 0,
    "embeddings_merge": 0, "layernorm_embedding": 1, "encoder/scale_embeddings": 0, "decoder/scale_embeddings": 0,
    "unk_token": "UNK", "bos_token": "BOS", "eos_token": "EOS", "user_decoder_start_tokens": 0, "with_source_bos": 1,
    "with_source_eos": 1, "with_target_bos": 0,
}  # fmt: skip
DECODER_SETTINGS = {
    "num_heads": 4, "pre_norm": 1, "activation": 1, "with_relative_position": 0, "layernorm_embedding": 0, "no_final_norm": 0,
    "project_in_out": 0, "decoder/scale_embeddings": 0, "unk_token": "<|endoftext|>", "bos_token": "<|endoftext|>",
    "eos_token": "<|endoftext|>",
}  # fmt: skip

CASES = {
    "ctranslate2_old": [
        old_case("opennmt_tf", bart.M2M_100, bart.sizes(16, (1, 1), (8, 8), (19, 21), 24, tie_word_embeddings=False, **TF_IDS),
                 Layout(1, 1, OPENNMT_TF_IDS, rename=name_of_opennmt_tf, scale=1000, dtype=np.int16, stores_scale=False,
                        stores_positions=False)),
        old_case("base", bart.PEGASUS, bart.sizes(16, (1, 1), (8, 8), (19, 19), 24, **RELU, **PY_IDS),
                 Layout(2, 2, OPENNMT_PY_IDS, "TransformerBase", rename=name_with_one_embedding, scale=32, dtype=np.int8)),
        old_case("big", bart.PEGASUS, bart.sizes(16, (1, 1), (16, 16), (19, 19), 24, **RELU, **PY_IDS),
                 Layout(3, 2, OPENNMT_PY_IDS, "TransformerBig", rename=name_with_one_embedding, scale=1024, dtype=np.int16,
                        vocabularies=SHARED)),
        old_case("revision_3", bart.M2M_100, bart.sizes(12, (1, 2), (3, 3), (19, 19), 24, scale_embedding=False, **TF_IDS),
                 Layout(4, 3, OPENNMT_TF_IDS, "TransformerSpec", SETTINGS_3, name_with_one_embedding, dtype=np.float16,
                        stores_positions=False, vocabularies=SHARED, around=([1], [2])),
                 dtype=torch.float16),
        old_case("revision_4", bart.BART, bart.sizes(8, (1, 1), (2, 2), (13, 14), 24),
                 Layout(5, 4, OTHER_IDS, "TransformerSpec", SETTINGS_4, vocabularies=SHARED, around=([0], [2]))),
        old_case("decoder", gpt2.GPT2, gpt2.sizes(8, 2, 4, 24, n_inner=15),
                 Layout(5, 1, [], "TransformerDecoderSpec", DECODER_SETTINGS, vocabularies=("vocabulary",), last="<|endoftext|>")),
    ],
}
