"""Random models in which every part has an effect on the output.

The weights are large on purpose. Biases, norm weights (of both signs), the logits bias and the padding row are random. So a
missing term or a wrong mask clearly changes the result. The weights come from NumPy generators with fixed seeds.
"""

import math

import numpy as np
import torch
from transformers import GenerationConfig

from maker.case import DECODER_ONLY, ENCODER_ONLY

EMBEDDINGS = ("shared.weight", "embed_tokens.weight", "lm_head.weight", "word_embeddings.weight", "wte.weight")
LARGE = ("relative_attention_bias.weight", "embed_positions.weight", "position_embeddings.weight", "wpe.weight")


def make_model(case, seed):
    """Returns a model in float32 whose weights are rounded to the type in which they will be stored."""
    family = case.family
    config = family.config_class(**family.config(case.config) | case.config)
    model = (family.head_class or family.model_class)(config).eval()
    if family.kind != ENCODER_ONLY:
        generation = family.generation(config) | case.generation
        model.generation_config = GenerationConfig.from_dict({k: v for k, v in generation.items() if v is not None})
    width = model.get_input_embeddings().weight.shape[1]
    computed = {f"{name}.weight" for name, module in model.named_modules() if "Sinusoidal" in type(module).__name__}
    random = np.random.default_rng([seed, sum(case.name.encode())])
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name in computed or name == "final_logits_bias":
                continue
            # Tied tensors share one storage, which keeps the values of the last name.
            tensor.copy_(torch.from_numpy(random_values(name, tuple(tensor.shape), width, random)).to(case.dtype))
        if case.adjust:
            case.adjust(model, random)
        if case.logits_bias and hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(balanced_logits_bias(case, model, random).to(case.dtype))
        elif family.kind != ENCODER_ONLY:
            # Without a logits bias, a longer row makes the end token likely enough.
            row = model.get_output_embeddings().weight[config.eos_token_id]
            row.copy_((row * 1.5).to(case.dtype))
    return model


def random_values(name, shape, width, random):
    if name.endswith(".bias"):
        return random.normal(0, 0.25, shape)
    if len(shape) == 1:
        # The weight of a norm. With positive signs only, the residual path would make a tied model repeat its last token.
        return random.uniform(0.4, 1.6, shape) * random.choice([-1, 1], shape)
    if name.endswith(EMBEDDINGS):
        # All rows have the same length. Otherwise the longest rows would win every argmax.
        values = random.normal(0, 1, shape)
        return values * math.sqrt(width) / np.linalg.norm(values, axis=1, keepdims=True)
    return random.normal(0, 1 if name.endswith(LARGE) else round(1 / math.sqrt(width), 2), shape)


def ordinary_ids(case, config):
    """Returns the range [first, end) of the ids that a text can have."""
    return case.family.first_id, config.pad_token_id if case.family.pad_is_last else config.vocab_size


def balanced_logits_bias(case, model, random):
    """Returns the bias with which all ids are about equally likely, and the end token wins `eos_rate` of the steps. So rows
    have various lengths."""
    config = model.config
    vocabulary, pad, eos = model.lm_head.out_features, config.pad_token_id, config.eos_token_id
    low, high = ordinary_ids(case, config)
    sources = torch.from_numpy(random.integers(low, high, (32, 6)))
    targets = torch.from_numpy(random.integers(low, min(high, vocabulary), (32, 12)))
    targets[:, 0] = config.decoder_start_token_id
    output = model(sources, attention_mask=torch.ones_like(sources), decoder_input_ids=targets)
    logits = output.logits.reshape(-1, vocabulary)
    bias = torch.from_numpy(random.normal(0, 0.3, vocabulary)).float() - logits.mean(0)
    logits += bias
    others = logits.clone()
    others[:, [eos, pad]] = -math.inf
    shortfall = (others.amax(1) - logits[:, eos]).sort().values
    bias[eos] += shortfall[int(case.eos_rate * len(shortfall))]
    return ((bias * 16).round() / 16)[None]  # rounded, so that it does not depend on this processor's last bits


def make_rows(case, model, seed):
    """Returns the source rows and decoder rows of `forward`. Decoder rows of an encoder-decoder begin with the start token."""
    config = model.config
    random = np.random.default_rng([seed, 7])
    low, high = ordinary_ids(case, config)
    rows = [random.integers(low, high, length).tolist() for length in case.source_lengths or case.family.source_lengths]
    if case.family.kind == DECODER_ONLY:
        return [], rows
    for row in rows:
        row[-1] = config.eos_token_id if len(row) > 1 and config.eos_token_id is not None else row[-1]
    if case.pad_inside_source:
        rows[1][3] = rows[3][0] = config.pad_token_id
    if case.tokenizer:
        rows = case.tokenizer.source_rows()
    if case.family.kind == ENCODER_ONLY:
        return rows, []
    targets, high = [], case.output_ids or model.get_output_embeddings().out_features
    for length in case.family.target_lengths:
        ids = random.integers(low, high, length - 1).tolist()
        targets.append([config.decoder_start_token_id] + ids)
    targets[0][2] = config.eos_token_id  # an end token in the middle is an ordinary input
    return rows, targets
