"""Models by name, from a cache that huggingface_hub itself has written."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import encdec
from fixtures import BUNDLED

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """The part of the hub that snapshot_download() asks: the list of files of a model, and the files."""

    files = {each.name: each.read_bytes() for each in BUNDLED.iterdir() if each.is_file()}

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, with_body: bool) -> None:
        if "/tree/" in self.path:
            entries = [{"type": "file", "path": n, "size": len(c), "oid": COMMIT} for n, c in self.files.items()]
            content = json.dumps(entries).encode()
        elif self.path.startswith("/api/"):
            content = json.dumps({"id": "me/g2p", "sha": COMMIT, "siblings": []}).encode()
        else:
            content = self.files[self.path.rpartition("/")[2]]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def downloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("hf")
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        script = f"""
import os
os.environ.update(HF_ENDPOINT="http://127.0.0.1:{hub.server_port}", HF_HOME={str(home)!r}, HF_HUB_DISABLE_XET="1")
for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
    os.environ.pop(name, None)
import huggingface_hub
huggingface_hub.snapshot_download("me/g2p")
"""
        subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
        hub.shutdown()
    return home


@pytest.fixture
def cache(downloaded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HOME", str(downloaded))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return downloaded


def test_a_model_by_name_is_the_snapshot(cache: Path) -> None:
    model = encdec.Model("me/g2p")
    assert model.path == "me/g2p"
    assert model.translate("attention") == encdec.Model(BUNDLED).translate("attention")
    assert encdec.open_model("me/g2p") is encdec.open_model("me/g2p")


def test_an_unfinished_download_is_named(cache: Path) -> None:
    (weights,) = cache.glob("hub/models--me--g2p/snapshots/*/model.safetensors")
    blob = weights.resolve()
    unfinished = blob.with_name(blob.name + ".incomplete")
    blob.rename(unfinished)
    try:
        with pytest.raises(encdec.FileError, match="me/g2p: the copy in the cache is not complete: .*hf download me/g2p"):
            encdec.Model("me/g2p")
    finally:
        unfinished.rename(blob)
