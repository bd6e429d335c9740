#!/usr/bin/env python3
"""A FastAPI server of one model around another engine, as users write it, for compare_servers.py.

  http_server.py ctranslate2 FOLDER --precision int8 --port 8001      POST /translate {"text", "tokens"}
  http_server.py onnx FOLDER --port 8001                              POST /embed {"texts"}; also torch, openvino

Each request is one call of the engine, in one of FastAPI's threads. The engine has one thread for each CPU.
"""

import argparse
import os
import threading
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Text(BaseModel):
    text: str
    tokens: int


class Texts(BaseModel):
    texts: list[str]


def add_translation(app, folder, precision, cpus):
    import ctranslate2
    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(str(folder / "corpus.model"))
    # One worker for each CPU is faster for many requests than one worker with many threads.
    translator = ctranslate2.Translator(str(folder / f"ct2-{precision}"), compute_type=precision, inter_threads=cpus, intra_threads=1)

    @app.post("/translate")
    def translate(request: Text):
        tokens = [*pieces.encode(request.text, out_type=str), "</s>"]
        result = translator.translate_batch(
            [tokens], beam_size=1, min_decoding_length=request.tokens, max_decoding_length=request.tokens
        )
        return {"text": pieces.decode(result[0].hypotheses[0])}


def add_embedding(app, folder, backend, cpus):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(cpus)
    arguments = {}
    if backend == "onnx":
        arguments = {"provider": "CPUExecutionProvider"}
    model = SentenceTransformer(str(folder / "minilm"), backend=backend, device="cpu", model_kwargs=arguments)

    # The tokenizer fails if two threads use it at the same time.
    lock = threading.Lock()

    @app.post("/embed")
    def embed(request: Texts):
        with lock:
            return model.encode(request.texts).tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=("ctranslate2", "torch", "onnx", "openvino"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    app = FastAPI()
    cpus = len(os.sched_getaffinity(0))
    if options.engine == "ctranslate2":
        add_translation(app, options.folder, options.precision, cpus)
    else:
        add_embedding(app, options.folder, options.engine, cpus)

    @app.get("/ready")
    def ready():
        return {}

    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
