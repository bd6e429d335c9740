#!/usr/bin/env python3
"""Runs another engine on a checkpoint of make_model.py, and prints a JSON object on one line.

  peer.py ENGINE FOLDER --prepare                          exports the model for the engine, unless done; prints the engine's version
  peer.py ENGINE FOLDER --sources FILE --precision P ...   times whole generate calls, like `encdec bench`

FILE contains the token ids of one source per line. All sources have the same length and form one batch. The engine generates exactly
--target-length tokens for each, with greedy or beam search. The first call is not timed. Exit status 3: the engine is not installed.

Engines:

  ctranslate2    pip install ctranslate2
  transformers   pip install torch transformers
  onnxruntime    pip install optimum-onnx onnxruntime torch 'transformers<5'
  openvino       pip install optimum-intel openvino torch 'transformers<5'
"""

import argparse
import importlib.metadata
import json
import os
import statistics
import sys
import time
from pathlib import Path

NOT_INSTALLED = 3


class CTranslate2:
    package = "ctranslate2"

    def __init__(self, folder, precision, threads):
        import ctranslate2

        name = "ct2-int8" if precision == "int8" else "ct2-float32"
        self.translator = ctranslate2.Translator(
            str(folder / name), compute_type=precision, inter_threads=1, intra_threads=threads
        )

    @staticmethod
    def prepare(folder):
        import ctranslate2  # noqa: F401  make_model.py made the conversions

    def generate(self, sources, num_beams, target_length):
        lines = [[token_of(i) for i in source] for source in sources]
        results = self.translator.translate_batch(
            lines,
            beam_size=num_beams,
            min_decoding_length=target_length,
            max_decoding_length=target_length,
            max_batch_size=len(lines),
        )
        return [[id_of(token) for token in result.hypotheses[0]] for result in results]


def token_of(token_id):
    return {0: "</s>", 1: "<unk>"}.get(token_id, f"t{token_id}")


def id_of(token):
    return {"</s>": 0, "<unk>": 1}.get(token) if token[0] == "<" else int(token[1:])


class TorchGenerate:
    """An engine with the generate function of transformers."""

    model = None

    def generate(self, sources, num_beams, target_length):
        import torch

        ids = torch.tensor(sources)
        with torch.inference_mode():
            result = self.model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                num_beams=num_beams,
                min_new_tokens=target_length,
                max_new_tokens=target_length,
                do_sample=False,
            )
        return result[:, 1:].tolist()


class Transformers(TorchGenerate):
    package = "transformers"

    def __init__(self, folder, precision, threads):
        import torch
        from transformers import MarianMTModel

        torch.set_num_threads(threads)
        self.model = MarianMTModel.from_pretrained(folder / "hf", dtype=getattr(torch, precision)).eval()

    @staticmethod
    def prepare(folder):
        import torch  # noqa: F401
        import transformers  # noqa: F401


class OnnxRuntime(TorchGenerate):
    package = "onnxruntime"

    def __init__(self, folder, precision, threads):
        import onnxruntime
        import torch
        from optimum.onnxruntime import ORTModelForSeq2SeqLM

        torch.set_num_threads(threads)
        session = onnxruntime.SessionOptions()
        session.intra_op_num_threads = threads
        self.model = ORTModelForSeq2SeqLM.from_pretrained(folder / "onnx", session_options=session)

    @staticmethod
    def prepare(folder):
        from optimum.onnxruntime import ORTModelForSeq2SeqLM

        export(ORTModelForSeq2SeqLM, folder / "hf", folder / "onnx")


class OpenVino(TorchGenerate):
    package = "openvino"

    def __init__(self, folder, precision, threads):
        import torch
        from optimum.intel import OVModelForSeq2SeqLM

        torch.set_num_threads(threads)
        hint = {"float32": "f32", "bfloat16": "bf16"}[precision]
        settings = {"INFERENCE_NUM_THREADS": str(threads), "INFERENCE_PRECISION_HINT": hint}
        self.model = OVModelForSeq2SeqLM.from_pretrained(folder / "openvino", ov_config=settings)

    @staticmethod
    def prepare(folder):
        from optimum.intel import OVModelForSeq2SeqLM

        export(OVModelForSeq2SeqLM, folder / "hf", folder / "openvino")


def export(model_class, checkpoint, folder):
    """Exports a checkpoint to `folder` unless it exists. Renames the folder to its final name when it is complete."""
    if not folder.exists():
        partial = folder.with_name(folder.name + ".partial")
        model_class.from_pretrained(checkpoint, export=True).save_pretrained(partial)
        partial.rename(folder)


ENGINES = {
    "ctranslate2": CTranslate2,
    "transformers": Transformers,
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
}


def memory(key):
    """Returns the bytes of VmRSS (current resident memory) or VmHWM (maximum resident memory)."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":"))


def measure(engine_class, options):
    """Returns the results that `encdec bench` also has, and the generated ids."""
    sources = [[int(i) for i in line.split()] for line in options.sources.read_text().splitlines()]
    engine_class.prepare(options.folder)  # imports the libraries; the exports already exist
    before = memory("VmRSS")
    start = time.perf_counter()
    engine = engine_class(options.folder, options.precision, options.threads)
    load_seconds = time.perf_counter() - start
    seconds = []
    for _ in range(options.repetitions + 1):
        start = time.perf_counter()
        ids = engine.generate(sources, options.num_beams, options.target_length)
        seconds.append(time.perf_counter() - start)
    timed = seconds[1:]
    return {
        "best_seconds": min(timed),
        "median_seconds": statistics.median(timed),
        "step_milliseconds": min(timed) / options.target_length * 1e3,
        "load_seconds": load_seconds,
        "library_bytes": before,
        "peak_resident_bytes": memory("VmHWM"),
        "token_ids": ids,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--num-beams", type=int, default=1)
    parser.add_argument("--target-length", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    engine_class = ENGINES[options.engine]
    try:
        if options.prepare:
            engine_class.prepare(options.folder)
            result = {"version": importlib.metadata.version(engine_class.package)}
        else:
            result = measure(engine_class, options)
    except ImportError as error:
        print(f"{options.engine}: {error}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
