"""Writes a random model to a folder, and reads the oracle back."""

import torch
from safetensors.torch import save_file

from maker import write_json


def load(case, folder):
    """Returns the oracle: the stored model in float32 with eager attention. No tensor may be missing or unused."""
    model, info = case.family.model_class.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
    )
    missing = [name for name in info["missing_keys"] if not name.endswith(case.family.computed)]
    unexpected = [name for name in info["unexpected_keys"] if not any(part in name for part in case.family.unused)]
    assert not missing and not unexpected and not info["mismatched_keys"], info
    return model.eval()


def publish(case, model, folder, **options):
    """Writes the model with save_pretrained. Returns the oracle."""
    model.to(case.dtype).save_pretrained(folder, **options)
    model.float()
    if case.tokenizer:
        case.tokenizer.write(folder)
    return load(case, folder)


def write_folder(case, folder, tensors, config, generation=None):
    """Writes a folder in a form that save_pretrained cannot write. Returns the oracle."""
    folder.mkdir(parents=True)
    tensors = {name: tensor.to(case.dtype).clone().contiguous() for name, tensor in tensors.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    write_json(folder / "config.json", config)
    if generation is not None:
        generation.save_pretrained(folder)
    return load(case, folder)
