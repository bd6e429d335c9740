"""Decoders with rotary positions (Llama and its relatives), and T5Gemma."""

from dataclasses import replace
from functools import partial

import transformers

from maker.case import DECODER_ONLY, Case, Tap, family, norm_first_taps


def norms_around_taps(prefix, parts, layer):
    """Returns the taps of a layer with norms on both sides. `parts` are (node, norm, norm after) of each sub-layer, in order."""
    found = []
    for i, (node, norm, after) in enumerate(parts):
        total = f"{prefix}.{node}_norm_after"
        found += [Tap(f"{prefix}.{node}_norm", norm), Tap(f"{prefix}.{node}", after, at="input")]
        found.append(Tap(total, parts[i + 1][1], at="input") if i + 1 < len(parts) else Tap(total, layer))
    return found


def stack_taps(name, stack, embedding_scale, parts_of):
    """Returns the taps of a stack. parts_of(layer) are its parts as norm_first_taps() or norms_around_taps() take them."""
    found = [Tap(f"{name}.embedding", stack.embed_tokens, scale=embedding_scale)]
    for i, layer in enumerate(stack.layers):
        parts = parts_of(layer)
        found += (norm_first_taps if len(parts[0]) == 2 else norms_around_taps)(f"{name}.{i}", parts, layer)
    return [*found, Tap(f"{name}.norm", stack.norm)]


def llama_parts(layer):
    return [("self_attention", layer.input_layernorm), ("feed_forward", layer.post_attention_layernorm)]


def gemma_parts(layer):
    return [("self_attention", layer.input_layernorm, layer.post_attention_layernorm),
            ("feed_forward", layer.pre_feedforward_layernorm, layer.post_feedforward_layernorm)]  # fmt: skip


def t5gemma_parts(layer):
    names = ["self", "cross"] if hasattr(layer, "cross_attn") else ["self"]
    attentions = [(f"{name}_attention", getattr(layer, f"pre_{name}_attn_layernorm"), getattr(layer, f"post_{name}_attn_layernorm"))
                  for name in names]  # fmt: skip
    return [*attentions, ("feed_forward", layer.pre_feedforward_layernorm, layer.post_feedforward_layernorm)]


def decoder_taps(model, parts_of, scaled):
    stack = getattr(model.model, "language_model", model.model)
    return stack_taps("decoder", stack, stack.config.hidden_size**0.5 if scaled else 1.0, parts_of)


def t5gemma_taps(model):
    encoder, decoder = model.model.encoder, model.model.decoder
    return [*stack_taps("encoder", encoder, encoder.config.hidden_size**0.5, t5gemma_parts),
            *stack_taps("decoder", decoder, decoder.config.hidden_size**0.5, t5gemma_parts)]  # fmt: skip


def t5gemma2_taps(model):
    return [*stack_taps("encoder", model.model.encoder.text_model, 1.0, t5gemma_parts),
            *stack_taps("decoder", model.model.decoder, 1.0, t5gemma_parts)]  # fmt: skip


def generation(config):
    return {"bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0, "max_length": 24}


# In rows of padding, the other attentions of transformers have other values.
SPECIAL = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2, "attn_implementation": "eager"}


def decoder(name, parts_of=llama_parts, scaled=False, head="ForCausalLM"):
    return family(name, head, partial(decoder_taps, parts_of=parts_of, scaled=scaled), kind=DECODER_ONLY,
                  config=lambda given: SPECIAL, generation=generation)  # fmt: skip


LLAMA, MISTRAL, QWEN2, QWEN3 = map(decoder, ("Llama", "Mistral", "Qwen2", "Qwen3"))
GEMMA2 = decoder("Gemma2", gemma_parts)
GEMMA3_TEXT = replace(decoder("Gemma3", gemma_parts), config_class=transformers.Gemma3TextConfig)
GEMMA3 = decoder("Gemma3", gemma_parts, head="ForConditionalGeneration")
T5GEMMA2 = family("T5Gemma2", "ForConditionalGeneration", t5gemma2_taps,
                  config=lambda given: SPECIAL | {"decoder_start_token_id": 2, "vocab_size": given["decoder"]["vocab_size"]},
                  generation=generation, unused=("vision_tower", "multi_modal_projector", "eoi_embedding"))
T5GEMMA = family("T5Gemma", "ForConditionalGeneration", t5gemma_taps,
                 config=lambda given: SPECIAL | {"decoder_start_token_id": 2, "vocab_size": given["decoder"]["vocab_size"]},
                 generation=generation)


def sizes(hidden_size, num_hidden_layers, heads, key_value_heads, intermediate_size, vocab_size, **more):
    return {"hidden_size": hidden_size, "num_hidden_layers": num_hidden_layers, "num_attention_heads": heads,
            "num_key_value_heads": key_value_heads, "intermediate_size": intermediate_size, "vocab_size": vocab_size} | more  # fmt: skip


def rope(theta, kind="default", **more):
    return {"rope_parameters": {"rope_theta": theta, "rope_type": kind} | more}


LLAMA3 = rope(500.0, "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)
KINDS = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4}
def shrink_embeddings(model, random):
    """Embeddings of Gemma are multiplied by the root of their width, and a tied model with long ones repeats its last token."""
    for name, tensor in model.named_parameters():
        if name.endswith("embed_tokens.weight"):
            tensor.mul_(0.3)


GEMMA = {"head_dim": 6, "query_pre_attn_scalar": 9, **KINDS, **SPECIAL}
GEMMA2_SIZES = sizes(12, 2, 4, 2, 20, 30, attn_logit_softcapping=2.0, final_logit_softcapping=5.0, **GEMMA)
GEMMA3_ROPE = {"rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 300.0},
                                   "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 2000.0}}}  # fmt: skip
GEMMA3_SIZES = sizes(12, 2, 4, 2, 20, 30, **GEMMA3_ROPE, **GEMMA)

TINY_VISION = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4, "image_size": 4,
               "patch_size": 2}

CASES = {
    "llama": [
        Case("llama3", LLAMA, sizes(16, 2, 4, 2, 26, 30, **LLAMA3)),
        Case("biases", LLAMA, sizes(12, 1, 3, 1, 20, 26, head_dim=6, attention_bias=True, mlp_bias=True, tie_word_embeddings=True)),
        Case("linear", LLAMA, sizes(12, 1, 2, 2, 20, 24, **rope(900.0, "linear", factor=4.0))),
    ],
    "mistral": [Case("window", MISTRAL, sizes(12, 2, 3, 1, 20, 26, head_dim=4, sliding_window=3))],
    "qwen2": [Case("windows", QWEN2, sizes(16, 3, 4, 2, 26, 28, use_sliding_window=True, sliding_window=4, max_window_layers=1))],
    "qwen3": [Case("tied", QWEN3, sizes(12, 2, 4, 2, 20, 30, head_dim=6, tie_word_embeddings=True))],
    "gemma2": [Case("base", GEMMA2, GEMMA2_SIZES, adjust=shrink_embeddings)],
    "gemma3_text": [Case("base", GEMMA3_TEXT, GEMMA3_SIZES, adjust=shrink_embeddings)],
    "t5gemma2": [
        Case("base", T5GEMMA2, {"encoder": {"text_config": GEMMA3_SIZES, "vision_config": TINY_VISION}, "decoder": GEMMA3_SIZES},
             adjust=shrink_embeddings, source_lengths=(9, 12, 1, 7)),
    ],
    "t5gemma": [
        Case("base", T5GEMMA, {"encoder": GEMMA2_SIZES, "decoder": GEMMA2_SIZES}, adjust=shrink_embeddings,
             source_lengths=(9, 12, 1, 7)),
        Case("sizes", T5GEMMA, {"encoder": sizes(8, 1, 2, 1, 14, 26, head_dim=4, **SPECIAL),
                                "decoder": GEMMA2_SIZES | {"vocab_size": 26}}, adjust=shrink_embeddings),  # fmt: skip
    ],
}
