"""BART and its relatives: one tensor naming, norms before or after, learned or computed positions."""

from golden.case import Tap


def sizes(d_model, layers, heads, ffn, vocab_size, **more):
    """layers, heads, ffn: encoder and decoder."""
    return {
        "d_model": d_model,
        "encoder_layers": layers[0],
        "decoder_layers": layers[1],
        "encoder_attention_heads": heads[0],
        "decoder_attention_heads": heads[1],
        "encoder_ffn_dim": ffn[0],
        "decoder_ffn_dim": ffn[1],
        "vocab_size": vocab_size,
    } | more


def taps(model):
    """The stacks differ only in the norms that they have and in where those stand."""
    found = []
    for side, stack in ("encoder", model.model.encoder), ("decoder", model.model.decoder):
        norm_first = hasattr(stack, "layer_norm")
        found += embedding_taps(side, stack)
        for i, layer in enumerate(stack.layers):
            found += (norm_first_taps if norm_first else norm_last_taps)(f"{side}.{i}", layer)
        if norm_first:
            found.append(Tap(f"{side}.norm", stack.layer_norm))
    return found


def embedding_taps(side, stack):
    # Blenderbot-small's decoder has an embed_scale but does not use it.
    unscaled = type(stack).__name__ == "BlenderbotSmallDecoder"
    scale = 1.0 if unscaled else getattr(stack, "embed_scale", 1.0)
    embedding = Tap(f"{side}.embedding", stack.embed_tokens, scale=scale)
    positions = Tap(f"{side}.positional_encoding", stack.layers[0], at="input")
    if not hasattr(stack, "layernorm_embedding"):
        return [embedding, positions]
    norm = Tap(f"{side}.embedding_norm", stack.layernorm_embedding)
    if type(stack).__name__ == "BlenderbotSmallDecoder":  # the norm comes before the positions
        return [embedding, norm, positions]
    return [embedding, Tap(f"{side}.positional_encoding", stack.layernorm_embedding, at="input"), norm]


def sub_layers(layer):
    """(node, what it does, its norm), in order."""
    found = [("self_attention", layer.self_attn, layer.self_attn_layer_norm)]
    if hasattr(layer, "encoder_attn"):
        found.append(("cross_attention", layer.encoder_attn, layer.encoder_attn_layer_norm))
    return found + [("feed_forward", layer.fc2, layer.final_layer_norm)]


def norm_last_taps(prefix, layer):
    found = []
    for node, function, norm in sub_layers(layer):
        found += [Tap(f"{prefix}.{node}", function), Tap(f"{prefix}.{node}_norm", norm)]
    return found


def norm_first_taps(prefix, layer):
    """The sum with the residual is what the next norm reads, or what the layer gives."""
    parts = sub_layers(layer)
    found = []
    for (node, _, norm), following in zip(parts, parts[1:] + [None]):
        total = Tap(f"{prefix}.{node}", following[2], at="input") if following else Tap(f"{prefix}.{node}", layer)
        found += [Tap(f"{prefix}.{node}_norm", norm), total]
    return found


def cases():
    return []
