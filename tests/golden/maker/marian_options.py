"""Marian's options, which its files hold as special:model.yml."""

COMMON = {
    "transformer-ffn-depth": 2, "transformer-guided-alignment-layer": "last", "transformer-no-projection": "false",
    "transformer-postprocess": "dan", "transformer-postprocess-emb": "d", "transformer-postprocess-top": '""',
    "transformer-preprocess": '""', "transformer-tied-layers": "\n  []", "transformer-train-position-embeddings": "false",
    "type": "transformer",
}  # fmt: skip


def marian_options(layers, dim, hidden, heads, vocabularies, tied, more):
    """Returns the options as bytes with a NUL at the end. `layers` and `vocabularies` are pairs: encoder, decoder."""
    values = COMMON | {
        "enc-depth": layers[0], "dec-depth": layers[1], "dim-emb": dim, "transformer-dim-ffn": hidden, "transformer-heads": heads,
        "dim-vocabs": f"\n  - {vocabularies[0]}\n  - {vocabularies[1]}",
        "tied-embeddings": str(not tied).lower(), "tied-embeddings-all": str(tied).lower(),
    } | more  # fmt: skip
    return "".join(f"{key}: {value}\n" for key, value in sorted(values.items())).encode() + b"\0"
