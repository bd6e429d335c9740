#!/usr/bin/env python3
"""Makes the small weight files in tests/golden/checkpoint, with PyTorch, NumPy and CTranslate2 themselves.

Beside every FILE, FILE.safetensors has the tensors that a reader must return:
- a strided tensor is stored contiguously
- a tensor of a type that encdec does not support is stored as its bytes (uint8)
- the scales of a quantised tensor NAME are in NAME_scale, one per row
The files in pytorch_legacy have the same content as those in pytorch with the same names.
"""

import collections
import io
import shutil
import tempfile
import zipfile
from pathlib import Path
from unittest import mock

import maker
import numpy as np
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch
from transformers import MarianConfig, MarianMTModel, T5Config, T5ForConditionalGeneration, WhisperConfig
from transformers import WhisperForConditionalGeneration

from maker.formats.ctranslate2 import Converter, Vocabulary, read_variables

HERE = Path(__file__).parent / "checkpoint"
NUMPY_TYPES = (torch.float32, torch.float16, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64,
               torch.uint8, torch.bool)


def write_legacy(path, content, **options):
    """Writes the format of torch before 1.6, which names each storage by its address and sorts by these names. Here descending
    numbers replace the addresses, which would differ from run to run."""
    keys = {}

    class Key:
        def __new__(cls, address):
            return keys.setdefault(address, str(94_000_000_000_000 - 64 * len(keys)))

    saved = io.BytesIO()
    with mock.patch("torch.serialization.str", Key, create=True):
        torch.save(content, saved, _use_new_zipfile_serialization=False, **options)
    path.write_bytes(saved.getvalue())


def write_torch(name, content, tensors, **options):
    folder = HERE / "pytorch"
    # The archive's top folder has the name of the file.
    torch.save(content, folder / f"{name}.bin", **options)
    write_legacy(HERE / "pytorch_legacy" / f"{name}.bin", content, **options)

    keep = {}
    for key, tensor in tensors.items():
        tensor = tensor.detach().clone(memory_format=torch.contiguous_format)
        is_known = tensor.dtype in (*NUMPY_TYPES, torch.bfloat16) and tensor.dim() <= 4
        keep[key] = tensor if is_known else tensor.reshape(-1).view(torch.uint8)
    save_torch(keep, f"{folder / name}.bin.safetensors")


def make_torch():
    torch.manual_seed(0)
    matrix = torch.randn(3, 4)
    plain = collections.OrderedDict(weight=matrix, bias=torch.randn(3), steps=torch.arange(5))
    plain._metadata = collections.OrderedDict([("", {"version": 1})])
    write_torch("plain", plain, plain)
    write_torch("protocol_4", plain, plain, pickle_protocol=4)

    types = {str(kind): torch.arange(6).reshape(2, 3).to(kind) for kind in NUMPY_TYPES + (
        torch.bfloat16, torch.float8_e4m3fn, torch.complex64, torch.uint16)}
    types |= {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "rank_5": torch.randn(1, 2, 1, 2, 1)}
    write_torch("types", types, types)

    base = torch.randn(4, 5)
    views = {"whole": base, "tied": base, "rows": base[1:3], "columns": base[:, 1:4], "transposed": base.t(),
             "steps": base[::2, ::3], "repeated": torch.ones(1).expand(2, 3), "parameter": torch.nn.Parameter(base.t()),
             "half_transposed": torch.randn(2, 3).half().t(), "swapped": torch.randn(2, 1, 3).permute(2, 1, 0)}
    write_torch("views", views, views)

    named = torch.nn.Parameter(matrix)
    named.tag = "a python attribute"
    nested = {"epoch": 3, "lr": 0.5, "huge": 1 << 80, "shape": torch.Size([3, 4]), "type": torch.float16,
              "state_dict": {"named": named, "bias": torch.zeros(2), "note": "text"}}
    write_torch("nested", nested, {"named": matrix, "bias": torch.zeros(2)})

    for folder, save in (("pytorch_sharded", torch.save), ("pytorch_sharded_legacy", lambda x, p: write_legacy(p, x))):
        sharded = HERE / folder
        save({"a": matrix}, sharded / "pytorch_model-00001-of-00002.bin")
        save({"b": matrix[0], "c": matrix[1]}, sharded / "pytorch_model-00002-of-00002.bin")
        (sharded / "pytorch_model.bin.index.json").write_text(
            '{"metadata": {"total_size": 80}, "weight_map": {"a": "pytorch_model-00001-of-00002.bin", '
            '"b": "pytorch_model-00002-of-00002.bin", "c": "pytorch_model-00002-of-00002.bin"}}\n')

    refused = HERE / "pytorch_refused"
    torch.save({"x": torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2))}, refused / "sparse.bin")
    torch.save({"x": torch.quantize_per_tensor(matrix, 0.1, 0, torch.qint8)}, refused / "quantized.bin")
    torch.save(torch.nn.Linear(2, 2), refused / "module.bin")


def write_npz(path, arrays, compression, version=(1, 0)):
    """Writes the format of numpy.savez, with the same date for all entries."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = compression
            with archive.open(info, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, version=version)


def make_numpy():
    random = np.random.default_rng(0)
    folder = HERE / "npz"
    kinds = ("f4", "f2", "f8", "i1", "i2", "i4", "i8", "u1", "b1")
    arrays = {kind: np.arange(6).reshape(2, 3).astype(kind) for kind in kinds}
    arrays |= {"columns_first": np.asfortranarray(random.normal(size=(3, 2, 2)).astype("f4")),
               "vector": np.asfortranarray(random.normal(size=(1, 4)).astype("f4")),
               "scalar": np.float32(2.5), "empty": np.zeros((0, 3), "f4")}
    expected = dict(arrays)
    arrays |= {"u4": np.arange(3, dtype="u4"), "rank_5": np.arange(4, dtype="f4").reshape(1, 2, 1, 2, 1)}
    expected |= {name: np.frombuffer(arrays[name].tobytes(), np.uint8) for name in ("u4", "rank_5")}
    expected = {name: np.ascontiguousarray(array).reshape(np.shape(array)) for name, array in expected.items()}
    for name, compression, version in (("stored", zipfile.ZIP_STORED, (1, 0)), ("deflated", zipfile.ZIP_DEFLATED, (2, 0)),
                                       ("version_3", zipfile.ZIP_STORED, (3, 0))):
        write_npz(folder / f"{name}.npz", arrays, compression, version)
        save_file(expected, folder / f"{name}.npz.safetensors")

    marian = HERE / "marian_npz"
    options = "bert-train-type-embeddings: true\ndim-emb: 4\ndim-vocabs:\n  - 6\n  - 6\nenc-depth: 1\ntype: transformer\n"
    model = {"Wemb": random.normal(size=(6, 4)).astype("f4"), "encoder_l1_self_Wq": np.eye(4, dtype="f4"),
             "decoder_ff_logit_out_b": random.normal(size=(1, 6)).astype("f4"),
             "special:model.yml": np.frombuffer(options.encode() + b"\0", np.int8)}
    write_npz(marian / "model.npz", model, zipfile.ZIP_STORED)
    write_npz(marian / "other.npz", {"x": np.zeros(2, "f4")}, zipfile.ZIP_STORED)
    (marian / "decoder.yml").write_text("models:\n  - model.npz\nvocabs:\n  - vocab.yml\n  - vocab.yml\nbeam-size: 6\n")
    (marian / "vocab.yml").write_text('</s>: 0\n<unk>: 1\n▁the: 2\n",": 3\n"\\x85": 4\n.: 5\n')


class Tokens(Vocabulary):
    bos_token, eos_token, unk_token, pad_token = "<s>", "</s>", "<unk>", "<pad>"

    def __init__(self, size, first):
        super().__init__((first + [f"t{i}" for i in range(size)])[: size - 1] + ["<pad>" if "<pad>" not in first else "z"])


def write_expected_model(path):
    variables, aliases = read_variables(path)
    tensors = {name: torch.from_numpy(values.copy()) for name, values in variables.items()}
    tensors = {name: value.view(torch.bfloat16) if value.dtype == torch.uint16 else value for name, value in tensors.items()}
    for alias, target in aliases.items():
        tensors[alias] = tensors[target]
        if f"{target}_scale" in tensors:
            tensors[f"{alias}_scale"] = tensors[f"{target}_scale"]
    for name, scale in list(tensors.items()):
        tensor = tensors.get(name.removesuffix("_scale"))
        if name.endswith("_scale") and tensor is not None and tensor.dim() == 3:
            tensors[name] = scale.repeat_interleave(tensor.shape[1])
    save_torch({name: tensor.clone() for name, tensor in tensors.items()}, f"{path}.safetensors")


def make_ctranslate2():
    blocks = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
              "encoder_ffn_dim": 12, "decoder_ffn_dim": 12}  # fmt: skip
    marian = MarianConfig(vocab_size=11, d_model=8, **blocks, max_position_embeddings=6, init_std=0.5, pad_token_id=10,
                          decoder_start_token_id=10, eos_token_id=0, forced_eos_token_id=0)  # fmt: skip
    t5 = T5Config(vocab_size=11, d_model=8, d_kv=3, d_ff=12, num_layers=2, num_heads=2, num_decoder_layers=1,
                  decoder_start_token_id=0, relative_attention_num_buckets=8)  # fmt: skip
    whisper = WhisperConfig(vocab_size=11, d_model=8, **blocks, num_mel_bins=4, max_source_positions=5, max_target_positions=6,
                            pad_token_id=1, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3,
                            begin_suppress_tokens=None)  # fmt: skip
    models = {
        "marian": (MarianMTModel(marian), ["</s>", "<unk>"]),
        "t5": (T5ForConditionalGeneration(t5), ["<pad>", "</s>", "<unk>"]),
        "whisper": (WhisperForConditionalGeneration(whisper), ["a", "<pad>", "</s>", "<s>", "<unk>"]),
    }
    wanted = (("marian", None), ("marian", "int8"), ("marian", "int16"), ("t5", "bfloat16"), ("t5", "int8_float16"),
              ("whisper", "int8"))
    for name, quantization in wanted:
        model, first = models[name]
        with torch.no_grad():
            random = torch.Generator().manual_seed(1)
            for parameter in model.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=random))
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            output = HERE / "ctranslate2" / f"{name}_{quantization or 'float32'}"
            Converter(folder, Tokens(11, first)).convert(str(output), quantization=quantization, force=True)
        write_expected_model(output / "model.bin")


FOLDERS = """
    pytorch pytorch_legacy pytorch_sharded pytorch_sharded_legacy pytorch_refused npz marian_npz ctranslate2
""".split()


def main():
    maker.prepare()
    for folder in FOLDERS:
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir()
    make_torch()
    make_numpy()
    make_ctranslate2()


if __name__ == "__main__":
    main()
