#!/usr/bin/env python3
"""Compares the Python packages of encdec and other engines, from text to text, with the same random model, texts and lengths.

  compare_python.py --folder /tmp/peers                       all cells; needs all engines
  compare_python.py --folder /tmp/peers --cells 32-int8 tasks --rounds 7 --encdec build/release/bin/encdec
  compare_python.py --folder /tmp/peers --cells embed --python torch=/opt/st/bin/python --python onnx=... --python openvino=...

Cells:
  BATCH-PRECISION  one call of encdec's translate(), or of CTranslate2's translate_batch() with sentencepiece on both sides
  command          the texts of cell 32-int8, translated by `encdec generate`, without the time to load
  tasks            200 concurrent callers, each with one text and its own length: encdec's agenerate(), CTranslate2's asynchronous
                   calls, and `in turn`, encdec with sequential calls
  embed            5,000 sentences through a random BERT with the sizes of MiniLM-L6, float32, in batches of 32: encdec, and
                   sentence-transformers with its backends torch, onnx and openvino

In each round every engine runs once, in its own process, in a rotated order. A run of `tasks` or `embed` is one call; any other run is
the best of three calls. The table contains the best time in seconds, and the median over the rounds of the ratio to encdec.

Needs encdec. The model (peers/make_model.py) needs ctranslate2, torch, transformers and sentencepiece. `embed` needs
sentence-transformers[onnx,openvino]; the Python of engine torch also makes the model for `embed`.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers.turns import in_turns

TOOLS = Path(__file__).resolve().parent
REPOSITORY = TOOLS.parents[1]
TOKENS = 64  # tokens generated for each text
WORDS = 24  # words of each text
PIECES = 4000
CALLERS = 200
SENTENCES = 5000
BACKENDS = ("torch", "onnx", "openvino")  # backends of sentence-transformers
ENGINES = {"command": ["encdec", "command"], "tasks": ["encdec", "ctranslate2", "in turn"], "embed": ["encdec", *BACKENDS]}
CELLS = ("1-float32", "32-float32", "1-int8", "32-int8", "command", "tasks", "embed")


def add_tokenizer(folder):
    """Trains a sentencepiece model on the repository's documents, and adds it to the folder's models.

    Ids without a sentencepiece piece keep their names, such as t17."""
    import sentencepiece

    corpus = folder / "corpus.txt"
    if (folder / "corpus.model").exists():
        return
    lines = [line for path in sorted(REPOSITORY.glob("**/*.md")) if "build" not in path.parts for line in path.read_text().splitlines()]
    corpus.write_text("\n".join(line for line in lines if line.strip()))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "corpus"), vocab_size=PIECES, hard_vocab_limit=False, bos_id=-1, minloglevel=2
    )
    model = sentencepiece.SentencePieceProcessor(str(folder / "corpus.model"))
    pieces = ["</s>", "<unk>"] + [p for p in map(model.id_to_piece, range(model.vocab_size())) if p not in ("</s>", "<unk>")]
    size = json.loads((folder / "hf/config.json").read_text())["vocab_size"]
    names = [*pieces, *(f"t{i}" for i in range(len(pieces), size - 1)), "<pad>"]
    for name in ("source.spm", "target.spm"):
        (folder / "hf" / name).write_bytes((folder / "corpus.model").read_bytes())
    (folder / "hf/vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    (folder / "hf/tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "MarianTokenizer"}))
    for path in folder.glob("ct2-*/shared_vocabulary.json"):
        path.write_text(json.dumps(names))


def make_embedder(folder):
    """Makes a sentence-transformers folder with random weights and a WordPiece vocabulary of the corpus."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    target = folder / "minilm"
    if target.exists():
        return
    torch.manual_seed(1)
    words = sorted({word.lower() for word in (folder / "corpus.txt").read_text().split() if word.isalpha()})
    letters = [chr(i) for i in range(33, 127)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters), *words]
    vocabulary = list(dict.fromkeys(vocabulary))
    raw = folder / "minilm.raw"
    raw.mkdir(exist_ok=True)
    (raw / "vocab.txt").write_text("\n".join(vocabulary))
    config = BertConfig(
        vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, max_position_embeddings=512
    )
    BertModel(config).save_pretrained(raw)
    BertTokenizerFast(str(raw / "vocab.txt")).save_pretrained(raw)
    transformer = Transformer(str(raw), max_seq_length=256)
    SentenceTransformer(modules=[transformer, Pooling(384), Normalize()]).save(str(target))


def sentences_of(folder):
    words = (folder / "corpus.txt").read_text().split()
    rng = random.Random(3)
    return [" ".join(rng.choices(words, k=rng.randint(4, 30))) for _ in range(SENTENCES)]


def backend_call(folder, backend, threads):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    arguments = {}
    if backend == "onnx":
        import onnxruntime

        session = onnxruntime.SessionOptions()
        session.intra_op_num_threads = threads
        arguments = {"provider": "CPUExecutionProvider", "session_options": session}
    elif backend == "openvino":
        arguments = {"ov_config": {"INFERENCE_NUM_THREADS": str(threads), "INFERENCE_PRECISION_HINT": "f32"}}
    model = SentenceTransformer(str(folder / "minilm"), backend=backend, device="cpu", model_kwargs=arguments)
    sentences = sentences_of(folder)
    return lambda: model.encode(sentences, batch_size=32)


def texts_of(folder, count):
    words = (folder / "corpus.txt").read_text().split()
    rng = random.Random(1)
    return [" ".join(rng.choices(words, k=WORDS)) for _ in range(count)]


def lengths_of(count):
    rng = random.Random(2)
    return [rng.randint(8, 96) for _ in range(count)]


def encdec_call(folder, cell, threads):
    import encdec

    if cell == "embed":
        model = encdec.Model(folder / "minilm", threads=threads)
        sentences = sentences_of(folder)
        return lambda: model.encode(sentences)
    precision = "int8" if cell.startswith("tasks") else cell.split("-")[1]
    model = encdec.Model(folder / "hf", precision=precision, threads=threads)
    if cell.startswith("tasks"):
        work = list(zip(texts_of(folder, CALLERS), lengths_of(CALLERS)))
        if cell == "tasks-in-turn":
            return lambda: [model.translate(text, min_new_tokens=n, max_new_tokens=n) for text, n in work]

        async def gather():
            calls = (model.agenerate(text, min_new_tokens=n, max_new_tokens=n) for text, n in work)
            return [results[0].text for results in await asyncio.gather(*calls)]

        return lambda: asyncio.run(gather())
    texts = texts_of(folder, int(cell.split("-")[0]))
    return lambda: model.translate(texts, min_new_tokens=TOKENS, max_new_tokens=TOKENS)


def ctranslate2_call(folder, cell, threads):
    import ctranslate2
    import sentencepiece

    precision = "int8" if cell == "tasks" else cell.split("-")[1]
    sp = sentencepiece.SentencePieceProcessor(str(folder / "corpus.model"))
    converted = folder / f"ct2-{precision}"
    translator = ctranslate2.Translator(str(converted), compute_type=precision, inter_threads=1, intra_threads=threads)

    def tokens(text):
        return [*sp.encode(text, out_type=str), "</s>"]

    def decode(results):
        return [sp.decode(result.hypotheses[0]) for result in results]

    if cell == "tasks":
        work = list(zip(texts_of(folder, CALLERS), lengths_of(CALLERS)))

        def run():
            pending = [
                translator.translate_batch([tokens(text)], beam_size=1, min_decoding_length=n, max_decoding_length=n, asynchronous=True)
                for text, n in work
            ]
            return decode([each[0].result() for each in pending])

        return run
    texts = texts_of(folder, int(cell.split("-")[0]))
    return lambda: decode(
        translator.translate_batch(
            [tokens(text) for text in texts],
            beam_size=1,
            min_decoding_length=TOKENS,
            max_decoding_length=TOKENS,
            max_batch_size=len(texts),
        )
    )


def command_seconds(program, folder, threads):
    """Returns the seconds of `encdec generate` for 32 texts, from --stats, without the time to load."""
    with tempfile.TemporaryDirectory() as temporary:
        stats = Path(temporary) / "stats.json"
        command = [program, "generate", "--model", folder / "hf", "--precision", "int8", "--threads", threads, "--batch-size", 32]
        command += ["--min-new-tokens", TOKENS, "--max-new-tokens", TOKENS, "--stats", stats, "--quiet"]
        text = "".join(line + "\n" for line in texts_of(folder, 32) * 3)
        subprocess.run([str(each) for each in command], input=text, text=True, check=True, capture_output=True)
        found = json.loads(stats.read_text())
        return (found["total_seconds"] - found["load_seconds"]) / 3


def worker(engine, folder, cell, threads):
    if cell == "make":
        return make_embedder(folder)
    if engine in BACKENDS:
        call = backend_call(folder, engine, threads)
    else:
        call = (ctranslate2_call if engine == "ctranslate2" else encdec_call)(folder, cell, threads)
    is_long = cell.startswith("tasks") or cell == "embed"
    if not is_long:
        call()
    times = []
    for _ in range(1 if is_long else 3):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    print(min(times))


def measure(options, engine, cell):
    if engine == "command":
        return command_seconds(options.encdec, options.folder, options.threads)
    if engine == "in turn":
        engine, cell = "encdec", "tasks-in-turn"
    command = [options.python.get(engine, sys.executable), __file__, "--folder", options.folder, "--threads", options.threads]
    command = [str(each) for each in [*command, "--worker", engine, cell]]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return float(found[-1]) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=CELLS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--encdec", type=Path, default=REPOSITORY / "build/release/bin/encdec", help="the command encdec")
    parser.add_argument("--python", action="append", default=[], metavar="ENGINE=PYTHON", help="Python of an engine; can be repeated")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.worker[0], options.folder, options.worker[1], options.threads)
    options.python = dict(each.split("=", 1) for each in options.python)
    python = options.python.get("ctranslate2", sys.executable)
    subprocess.run([python, TOOLS / "peers/make_model.py", options.folder], check=True)
    add_tokenizer(options.folder)

    if "embed" in options.cells:
        measure(options, "torch", "make")
    print("| cell | engine | seconds | ratio to encdec | rounds |\n|---|---|---:|---:|---|")
    for cell in options.cells:
        engines = ENGINES.get(cell, ["encdec", "ctranslate2"])
        measured = "32-int8" if cell == "command" else cell
        seconds = {engine: [] for engine in engines}
        for engine in in_turns(engines, options.rounds):
            seconds[engine].append(measure(options, engine, measured))
        for engine, times in seconds.items():
            ratios = [time / own for time, own in zip(times, seconds["encdec"])]
            shown = " ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"| {cell} | {engine} | {min(times):.3f} | {statistics.median(ratios):.3f} | {shown} |", flush=True)


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
