"""Processes on one node that share a folder of packed weights."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from processes import proportional_bytes

pytestmark = pytest.mark.cluster

PROCESSES = 4
WORKER = """
import encdec, sys
print(flush=True)
sys.stdin.readline()
model = encdec.Model(sys.argv[1], threads=1, weights_cache=sys.argv[2])
print(model.generate([[5, 6, 7, 0]], max_new_tokens=4)[0].hypotheses[0].token_ids, *model.notes, flush=True)
sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def large(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled model enlarged to the sizes of Transformer-base, with 30 million random weights."""
    folder = tmp_path_factory.mktemp("large")
    config = json.loads((path / "config.json").read_text())
    sizes = {config["d_model"]: 512, config["encoder_ffn_dim"]: 2048}
    config |= {"d_model": 512, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048}
    (folder / "config.json").write_text(json.dumps(config))
    weights = (path / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", weights[:8])
    random, header, data = numpy.random.default_rng(1), {}, bytearray()
    for name, tensor in json.loads(weights[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        shape = [sizes.get(size, size) for size in tensor["shape"]]
        values = random.normal(0, 0.05, shape).astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    return folder


def start(count: int, model: Path, cache: Path) -> tuple[list[str], int, int]:
    """Starts processes that load the model at the same time.

    Returns their outputs, their memory, and the part of the memory that does not belong to files.
    """
    call = [sys.executable, "-c", WORKER, str(model), str(cache)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    processes = [subprocess.Popen(call, text=True, **pipes) for _ in range(count)]  # type: ignore[call-overload]
    for process in processes:
        process.stdout.readline()  # type: ignore[union-attr]
    for process in processes:
        process.stdin.write("\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    said = [process.stdout.readline().strip() for process in processes]  # type: ignore[union-attr]
    memory = [proportional_bytes(process.pid) for process in processes]
    for process in processes:
        process.communicate("\n")
    return said, sum(each["Pss"] for each in memory), sum(each["Pss_Anon"] for each in memory)


def test_processes_that_start_together_share_what_one_packs(large: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = start(PROCESSES, large, cache)
    [file] = cache.iterdir()
    packed = file.stat()
    again = start(PROCESSES, large, cache)
    alone = start(1, large, cache)
    for name, (_, total, anonymous) in {"4 packing": first, "4": again, "1": alone}.items():
        print(f"{name}: {total >> 20} MiB, {anonymous >> 20} of it anonymous; the file has {packed.st_size >> 20} MiB")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (packed.st_ino, packed.st_mtime_ns)
    assert set(first[0]) == set(again[0]) == set(alone[0]) and len(set(alone[0])) == 1
    # The packed weights are in memory once for all processes.
    assert max(first[1], again[1]) < PROCESSES * alone[1] - (PROCESSES - 1.5) * packed.st_size
