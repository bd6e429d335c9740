"""CTranslate2 folders, written by CTranslate2's own converter and checked by running them with CTranslate2.

Such a folder has no generation settings: greedy search stops at the end token or after 20 new ids. Marian models have no pad id
there: the decoder starts from a zero embedding. In the oracle this is the start token, whose id is one past the vocabulary.
"""

import json
import struct
import tempfile
from pathlib import Path

import ctranslate2
import numpy as np
import torch
from ctranslate2.converters import TransformersConverter

from maker import write_json
from maker.case import DECODER_ONLY, ENCODER_ONLY, Case
from maker.expected import run_forward, run_greedy
from maker.families import bart, bert, gpt2, marian, t5
from maker.publish import load

MARIAN_IDS = ["</s>", "<unk>"]
BART_IDS = ["<s>", "<pad>", "</s>", "<unk>"]
T5_IDS = ["<pad>", "</s>", "<unk>"]
BERT_IDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


class Vocabulary:
    """The part of a tokenizer that the converter uses."""

    special_tokens_map = {}
    all_special_tokens = []

    def __init__(self, tokens):
        self.tokens = tokens

    def get_vocab(self):
        return {token: i for i, token in enumerate(self.tokens)}

    def convert_ids_to_tokens(self, ids):
        return self.tokens[ids] if isinstance(ids, int) else [self.tokens[i] for i in ids]

    def convert_tokens_to_ids(self, token):
        return self.tokens.index(token)


ROLES = {
    "pad_token": ("<pad>", "[PAD]"),
    "unk_token": ("<unk>", "[UNK]", "<|endoftext|>", "UNK"),
    "bos_token": ("<s>", "<|endoftext|>", "BOS"),
    "eos_token": ("</s>", "[SEP]", "<|endoftext|>", "EOS"),
}


def numbered_words(specials, size, last=None):
    """Returns a vocabulary of special tokens and numbered words. `last` is the last token if it is a special one."""
    tokens = specials + [f"\u2581w{i}" for i in range(len(specials), size)]
    vocabulary = Vocabulary([*tokens[:-1], last] if last else tokens)
    for role, names in ROLES.items():
        setattr(vocabulary, role, next((name for name in names if name in vocabulary.tokens), None))
    vocabulary.unk_token_id = vocabulary.tokens.index(vocabulary.unk_token)
    return vocabulary


class Converter(TransformersConverter):
    """A converter with a vocabulary instead of tokenizer files."""

    def __init__(self, folder, vocabulary):
        super().__init__(folder)
        self.vocabulary = vocabulary

    def load_tokenizer(self, *arguments, **options):
        return self.vocabulary

    def load_model(self, *arguments, **options):
        model = super().load_model(*arguments, **options)
        # The converter takes tie_word_embeddings for "the logits of T5 are scaled". In transformers 5 another key says this.
        if hasattr(model.config, "scale_decoder_outputs"):
            model.config.tie_word_embeddings = model.config.scale_decoder_outputs
        return model


def convert(case, model, folder, vocabulary, quantization=None, **settings):
    """Converts a model. `settings` are keys of config.json in published files that the converter needs. Returns the oracle."""
    with tempfile.TemporaryDirectory() as temporary:
        model.save_pretrained(temporary)
        oracle = load(case, temporary)
        path = Path(temporary) / "config.json"
        write_json(path, json.loads(path.read_text()) | settings)
        Converter(temporary, vocabulary).convert(str(folder), quantization=quantization)
    return oracle


def converted(specials, quantization=None, last=None, **settings):
    def publish(case, model, folder):
        vocabulary = numbered_words(specials, model.config.vocab_size, last)
        oracle = convert(case, model, folder, vocabulary, quantization, **settings)
        if case.family is marian.MARIAN:
            read_back(oracle, read_model(folder / "model.bin"))
        check_by_running(case, oracle, folder, vocabulary)
        return oracle

    return publish


DTYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16, 5: np.uint16}


def read_variables(path):
    """Returns two maps of a model.bin: name -> array as stored (bfloat16 as the upper halves of float32), and alias -> name."""
    data, position = path.read_bytes(), 0

    def take(form):
        nonlocal position
        values = struct.unpack_from("<" + form, data, position)
        position += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def text():
        return take(f"{take('H')}s")[:-1].decode()

    assert take("I") == 6
    text(), take("I")
    variables = {}
    for _ in range(take("I")):
        name = text()
        shape = [take("I") for _ in range(take("B"))]
        kind, size = take("B"), take("I")
        variables[name] = np.frombuffer(data, DTYPES[kind], size // DTYPES[kind]().itemsize, position).reshape(shape)
        position += size
    aliases = {text(): text() for _ in range(take("I"))}
    assert position == len(data)
    return variables, aliases


def read_model(path):
    """Returns the float32 arrays of a model.bin by name. A quantised array is integer / scale."""
    variables, aliases = read_variables(path)
    found = {}
    for name, values in variables.items():
        if values.dtype == np.uint16:
            values = (values.astype(np.uint32) << 16).view(np.float32)
        found[name] = values.astype(np.float32)
    for name in [name for name in found if name.endswith("weight_scale")]:
        scale = found.pop(name)
        target = name.removesuffix("_scale")
        rows = scale.reshape(-1, *[1] * (found[target].ndim - 1)) if scale.ndim else scale
        found[target] = found[target] / rows
    return found | {alias: found[name] for alias, name in aliases.items()}


@torch.no_grad()
def read_back(oracle, found):
    """Sets a Marian oracle to the weights of the file. The pad id, which the file lacks, keeps a zero row and never wins."""
    for side, stack, table in ("encoder", oracle.model.encoder, "embeddings_0"), ("decoder", oracle.model.decoder, "embeddings"):
        table = found[f"{side}/{table}/weight"]
        stack.embed_tokens.weight[: len(table)] = torch.from_numpy(table)
        set_layers(found, side, stack)
    output = found["decoder/projection/weight"]
    oracle.lm_head.weight[: len(output)] = torch.from_numpy(output)
    oracle.final_logits_bias[0, : len(output)] = torch.from_numpy(found["decoder/projection/bias"])
    marian.hide_start(oracle)


def set_layers(found, side, stack):
    """Sets the positions and the layers of a stack of Marian, BART or Whisper."""
    positions = torch.from_numpy(found[f"{side}/position_encodings/encodings"])
    stack.embed_positions.weight.copy_(positions[: len(stack.embed_positions.weight)])
    for i, layer in enumerate(stack.layers):
        name, own = f"{side}/layer_{i}", layer.self_attn
        set_linears(found, f"{name}/self_attention/linear_0", own.q_proj, own.k_proj, own.v_proj)
        set_linears(found, f"{name}/self_attention/linear_1", own.out_proj)
        set_norm(found, f"{name}/self_attention/layer_norm", layer.self_attn_layer_norm)
        if side == "decoder":
            cross = layer.encoder_attn
            set_linears(found, f"{name}/attention/linear_0", cross.q_proj)
            set_linears(found, f"{name}/attention/linear_1", cross.k_proj, cross.v_proj)
            set_linears(found, f"{name}/attention/linear_2", cross.out_proj)
            set_norm(found, f"{name}/attention/layer_norm", layer.encoder_attn_layer_norm)
        set_linears(found, f"{name}/ffn/linear_0", layer.fc1)
        set_linears(found, f"{name}/ffn/linear_1", layer.fc2)
        set_norm(found, f"{name}/ffn/layer_norm", layer.final_layer_norm)


def set_linears(found, name, *modules):
    """Sets modules whose rows are stored in one matrix."""
    sizes = [len(module.weight) for module in modules]
    weights, biases = (torch.from_numpy(found[f"{name}/{kind}"]).split(sizes) for kind in ("weight", "bias"))
    for module, weight, bias in zip(modules, weights, biases):
        module.weight.copy_(weight.reshape(module.weight.shape))
        if module.bias is not None:
            module.bias.copy_(bias)


def set_norm(found, name, module):
    module.weight.copy_(torch.from_numpy(found[f"{name}/gamma"]))
    module.bias.copy_(torch.from_numpy(found[f"{name}/beta"]))


def check_by_running(case, oracle, folder, vocabulary, around=((), ())):
    """Checks that the results of CTranslate2 in float32 with the folder equal those of the oracle.

    `around` are the ids that CTranslate2 itself puts before and after every source.
    """
    options = {"device": "cpu", "compute_type": "float32", "intra_threads": 1}
    random = np.random.default_rng(3)
    low, high = case.family.first_id, min(case.output_ids or len(vocabulary.tokens), oracle.config.vocab_size)
    rows = [random.integers(low, high - 1, length).tolist() for length in (5, 3)]
    tokens = [[vocabulary.tokens[i] for i in row] for row in rows]
    kind = case.family.kind
    if kind == ENCODER_ONLY:
        found = ctranslate2.Encoder(str(folder), **options).forward_batch(rows).last_hidden_state
        expected = run_forward(case.family, oracle, rows, []).output
        worst = np.abs(np.array(found)[1, :3] - expected[1, :3].numpy()).max()
        assert worst < 1e-3, f"CTranslate2 computes hidden states that differ by {worst}"
        return
    search = {"beam_size": 1, "length_penalty": 0, "return_scores": True}
    if kind == DECODER_ONLY:
        model = ctranslate2.Generator(str(folder), **options)
        found = model.score_batch(tokens)
        logits = run_forward(case.family, oracle, [], rows).output
        predicted, inputs = [row[1:] for row in rows], rows
        generated = [model.generate_batch([row], max_length=20, include_prompt_in_result=False, **search)[0] for row in tokens]
        hypotheses = [result.sequences[0] for result in generated]
    else:
        model = ctranslate2.Translator(str(folder), **options)
        found = model.score_batch(tokens, tokens)
        start = oracle.generation_config.decoder_start_token_id
        inputs = [list(around[0]) + row + list(around[1]) for row in rows]
        logits = run_forward(case.family, oracle, inputs, [[start] + row for row in rows]).output
        predicted = [row + [oracle.config.eos_token_id] for row in rows]
        generated = [model.translate_batch([row], min_decoding_length=0, max_decoding_length=20, **search)[0] for row in tokens]
        hypotheses = [result.hypotheses[0] for result in generated]
    for result, row, values in zip(found, predicted, logits):
        scores = torch.log_softmax(values, -1)[range(len(row)), row].numpy()
        worst = np.abs(np.array(result.log_probs) - scores).max()
        assert len(result.log_probs) == len(row) and worst < 1e-3, f"CTranslate2 computes scores that differ by {worst}"
    for row, hypothesis, result in zip(inputs, hypotheses, generated):
        greedy = run_greedy(case.family, oracle, row)
        if oracle.config.pad_token_id in greedy.ids:  # not usable, see is_usable()
            continue
        expected = [vocabulary.tokens[i] for i in greedy.ids if i != oracle.config.eos_token_id]
        assert hypothesis == expected, f"CTranslate2 generates {hypothesis}, not {expected}"
        worst = abs(result.scores[0] - greedy.score)
        assert worst < 1e-3, f"CTranslate2 generates with a score that differs by {worst}"


NO_SETTINGS = {"max_length": None, "forced_eos_token_id": None}
NORM_LAST = {"normalize_before": False, "normalize_embedding": True}
NORM_FIRST = {"normalize_before": True, "normalize_embedding": False}
MBART_50 = {"normalize_before": True, "normalize_embedding": True, "tokenizer_class": "MBart50Tokenizer"}


def case(name, family, sizes, publish, generation=NO_SETTINGS, **more):
    return Case(name, family, sizes, generation, publish=publish, nodes=False, **more)


def marian_case(name, sizes, publish, start, **generation):
    """Returns a case of a file without the start token, which is the last token of the target vocabulary."""
    return case(name, marian.MARIAN, sizes, publish, NO_SETTINGS | generation, adjust=marian.zero_start, output_ids=start,
                same_model=False)  # fmt: skip


def quantized_case(name, quantization):
    sizes = marian.scaled("swish", 16, (2, 1), (4, 4), (19, 26), 25)
    return marian_case(name, sizes, converted(MARIAN_IDS, quantization, last="<pad>"), start=24)


CASES = {
    "ctranslate2": [
        quantized_case("marian", None),
        *(quantized_case(f"marian_{kind}", kind) for kind in ("float16", "bfloat16", "int16", "int8")),
        case("bart", bart.BART, bart.sizes(12, (1, 2), (3, 3), (20, 20), 24), converted(BART_IDS, **NORM_LAST)),
        case("mbart", bart.MBART, bart.sizes(12, (2, 1), (3, 3), (20, 20), 24, decoder_start_token_id=2, **bart.RELU),
             converted(BART_IDS, **MBART_50)),
        case("m2m_100", bart.M2M_100, bart.sizes(12, (1, 2), (2, 2), (20, 20), 26), converted(BART_IDS)),
        case("pegasus", bart.PEGASUS, bart.sizes(12, (1, 1), (2, 2), (20, 20), 24, **bart.RELU), converted(T5_IDS, **NORM_FIRST)),
        case("t5", t5.T5, t5.sizes(12, (1, 2), 3, 4, 21, 24), converted(T5_IDS)),
        case("t5_v1_1", t5.T5, t5.sizes(12, (2, 1), 3, 4, 21, 24, **t5.V1_1), converted(T5_IDS), adjust=t5.own_lm_head),
        case("gpt2", gpt2.GPT2, gpt2.sizes(12, 2, 3, 24, n_inner=21), converted([], last="<|endoftext|>")),
        case("bert", bert.BERT.base, bert.sizes(12, 2, 3, 21, 24), converted(BERT_IDS, position_embedding_type="absolute")),
    ],
}
