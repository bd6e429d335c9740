#!/usr/bin/env python3
"""Makes a random Marian checkpoint for speed comparisons, and converts it for CTranslate2.

  make_model.py FOLDER                                     Transformer-base in FOLDER/hf, FOLDER/ct2-float32, FOLDER/ct2-int8
  make_model.py FOLDER --vocabulary 8000 --formats hf      another size, one format

Skips formats that already exist. There is no tokenizer: tokens are ids, and id 17 is the token `t17` of CTranslate2.

The weights do not affect the speed. They are chosen so that the tokens of different engines can be compared:
- The padding token, which also starts the target, has a zero embedding and is never generated.
- No end token is forced.
- Generated tokens depend on the position more than on the previous token, so that one different token does not change all later ones.

Needs torch and transformers, and ctranslate2 for the conversions.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

END, UNKNOWN = 0, 1
FORMATS = ("hf", "ct2-float32", "ct2-int8")
SIZES = {"layers": 6, "model_dim": 512, "hidden_dim": 2048, "heads": 8, "vocabulary": 32000}
POSITIONS = 1024


def add_size_options(parser):
    """Adds options --layers, --model-dim, ... The defaults are the sizes of Transformer-base."""
    for name, value in SIZES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value, metavar="N")


def sizes_of(options):
    """Returns the sizes among parsed options."""
    return {name: getattr(options, name) for name in SIZES}


def size_arguments(sizes):
    """Returns the command-line arguments for these sizes."""
    return [text for name, value in sizes.items() for text in (f"--{name.replace('_', '-')}", str(value))]


def random_model(sizes, seed):
    """Returns a MarianMTModel with normally distributed weights."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    pad = sizes["vocabulary"] - 1
    torch.manual_seed(seed)
    config = MarianConfig(
        vocab_size=sizes["vocabulary"],
        decoder_vocab_size=sizes["vocabulary"],
        d_model=sizes["model_dim"],
        encoder_layers=sizes["layers"],
        decoder_layers=sizes["layers"],
        encoder_attention_heads=sizes["heads"],
        decoder_attention_heads=sizes["heads"],
        encoder_ffn_dim=sizes["hidden_dim"],
        decoder_ffn_dim=sizes["hidden_dim"],
        activation_function="swish",
        scale_embedding=True,
        max_position_embeddings=POSITIONS,
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=END,
        forced_eos_token_id=None,
    )
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "embed_positions" not in name:
                gain = 0.2 if "shared" in name else 0.3 if "out_proj" in name else 1.0
                parameter.normal_(0, gain / parameter.shape[1] ** 0.5)
        model.model.shared.weight[pad] = 0
        model.final_logits_bias[0, pad] = -1e4
        # A random network makes the vectors of all positions similar: subtract the mean of the activations. A last state that resembles
        # the embedding of the previous token would repeat this token: give the last states random signs.
        mean = torch.nn.functional.silu(torch.randn(100_000)).mean()
        for layer in [*model.model.encoder.layers, *model.model.decoder.layers]:
            layer.fc2.bias.copy_(-mean * layer.fc2.weight.sum(1))
        signs = model.model.decoder.layers[-1].final_layer_norm.weight
        signs.copy_(torch.randint(0, 2, signs.shape) * 2.0 - 1)
    return model


class Vocabulary:
    """The part of a tokenizer that CTranslate2's loader uses."""

    eos_token, unk_token, pad_token, bos_token = "</s>", "<unk>", "<pad>", None

    def __init__(self, size):
        self.pad_token_id = size - 1

    def get_vocab(self):
        special = {self.eos_token: END, self.unk_token: UNKNOWN, self.pad_token: self.pad_token_id}
        return special | {f"t{i}": i for i in range(UNKNOWN + 1, self.pad_token_id)}


def write_hugging_face(folder, sizes, seed):
    random_model(sizes, seed).save_pretrained(folder)


def write_ctranslate2(folder, checkpoint, quantization):
    from ctranslate2.converters.transformers import MarianMTLoader
    from transformers import MarianMTModel

    model = MarianMTModel.from_pretrained(checkpoint)
    spec = MarianMTLoader()(model, Vocabulary(model.config.vocab_size))
    spec.validate()
    spec.optimize(quantization=quantization)
    folder.mkdir(parents=True)
    spec.save(str(folder))


def write_whole(folder, write):
    """Calls write(folder) unless the folder exists. Renames the folder to its final name when it is complete."""
    if folder.exists():
        return
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    write(partial)
    partial.rename(folder)
    print(f"made {folder}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    add_size_options(parser)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    options.folder.mkdir(parents=True, exist_ok=True)
    made_with = options.folder / "sizes.json"
    wanted = sizes_of(options) | {"seed": options.seed}
    found = json.loads(made_with.read_text()) if made_with.exists() else wanted
    if found != wanted:
        sys.exit(f"{options.folder}: made with {found}, expected {wanted}; choose another folder")
    made_with.write_text(json.dumps(wanted) + "\n")
    checkpoint = options.folder / "hf"
    write_whole(checkpoint, lambda folder: write_hugging_face(folder, sizes_of(options), options.seed))
    for name in options.formats:
        if name.startswith("ct2-"):
            quantization = None if name == "ct2-float32" else name.removeprefix("ct2-")
            write_whole(options.folder / name, lambda folder: write_ctranslate2(folder, checkpoint, quantization))


if __name__ == "__main__":
    main()
