"""GPT-2: decoder-only, norm first, matrices stored as [in, out]."""

import torch

from maker.case import DECODER_ONLY, Case, Tap, family, norm_first_taps
from maker.publish import write_folder


def taps(model):
    stack = model.transformer
    found = [Tap("decoder.embedding", stack.wte), Tap("decoder.positional_encoding", stack.h[0], at="input")]
    for i, block in enumerate(stack.h):
        found += norm_first_taps(f"decoder.{i}", [("self_attention", block.ln_1), ("feed_forward", block.ln_2)], block)
    return found + [Tap("decoder.norm", stack.ln_f)]


def generation(config):
    return {"bos_token_id": config.bos_token_id, "eos_token_id": config.eos_token_id, "pad_token_id": config.eos_token_id,
            "max_length": 20}  # fmt: skip


# Published models have no pad token, and their last id is both begin and end token.
GPT2 = family("GPT2", "LMHeadModel", taps, kind=DECODER_ONLY, generation=generation, first_id=0,
              config=lambda given: {key: given["vocab_size"] - 1 for key in ("bos_token_id", "eos_token_id")})  # fmt: skip


def sizes(n_embd, n_layer, n_head, vocab_size, **more):
    return {"n_embd": n_embd, "n_layer": n_layer, "n_head": n_head, "vocab_size": vocab_size, "n_positions": 30} | more


def publish_original(case, model, folder):
    """Writes the form of the original files: names without `transformer.`, stored causal masks, no generation_config.json."""
    tensors = dict(model.transformer.state_dict())
    size = model.config.n_positions
    for i in range(model.config.n_layer):
        tensors[f"h.{i}.attn.bias"] = torch.ones(size, size).tril()[None, None]
    settings = model.config.to_dict()
    for key in "dtype", "transformers_version", "n_inner", "scale_attn_weights", "scale_attn_by_inverse_layer_idx":
        settings.pop(key)
    settings |= {"architectures": ["GPT2LMHeadModel"], "n_ctx": size, "task_specific_params": {"text-generation": {}}}
    return write_folder(case, folder, tensors, settings)


CASES = {
    "gpt2": [
        Case("with_prefix", GPT2, sizes(12, 2, 3, 26, n_inner=31)),
        # No file has a maximum length, so the default of 20 new ids applies.
        Case("without_prefix", GPT2, sizes(10, 1, 2, 24), {"max_length": None}, publish=publish_original),
        Case("inverse_layer_scale", GPT2,
             sizes(12, 3, 2, 23, n_inner=17, scale_attn_by_inverse_layer_idx=True, activation_function="gelu"),
             {"max_length": None, "max_new_tokens": 11}),
        Case("unscaled_attention", GPT2, sizes(15, 1, 5, 25, n_inner=22, scale_attn_weights=False, activation_function="relu")),
    ],
}
