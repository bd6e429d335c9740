"""Ray: data and services on one and two nodes, which are processes on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import pytest
from ray.cluster_utils import Cluster

from processes import descendants, title_of

pytestmark = pytest.mark.cluster

EXAMPLES = Path(__file__).parents[3] / "examples/clusters"
# Each node has two CPUs, whatever the machine has. With one, the actor would occupy it, and reading would wait forever.
NODE = {"num_cpus": 2, "object_store_memory": 100 << 20}
ACTOR = "ray::MapWorker"


@contextlib.contextmanager
def nodes(*environments: dict[str, str]) -> Iterator[str]:
    """Yields the address of a cluster with one node for each environment."""
    head, *others = ({**NODE, "env_vars": environment} for environment in environments)
    cluster = Cluster(initialize_head=True, head_node_args={**head, "include_dashboard": False})
    try:
        for other in others:
            cluster.add_node(**other)  # type: ignore[arg-type]
        yield cluster.address
    finally:
        cluster.shutdown()


def start(address: str, path: Path, table: Path, folder: Path, *arguments: object) -> subprocess.Popen[bytes]:
    """Starts the example for data, which writes FOLDER/out and logs to FOLDER/log."""
    given = [path, table, folder / "out", "--batch-size", 100, *arguments]
    call = [sys.executable, str(EXAMPLES / "ray_data.py"), *map(str, given)]
    with open(folder / "log", "wb") as log:
        return subprocess.Popen(call, env={**os.environ, "RAY_ADDRESS": address}, stdout=log, stderr=log)


def actors() -> dict[int, str]:
    """Returns the processes of this test's clusters that generate, with their titles, which say what they do."""
    titles = {process: title_of(process) for process in descendants(os.getpid())}
    return {process: title for process, title in titles.items() if title.startswith(ACTOR)}


@pytest.mark.parametrize("count", [1, 2])
def test_any_number_of_nodes_matches_the_command(
    count: int, path: Path, table: Path, tmp_path: Path, check: Callable[[Path], None]
) -> None:
    with nodes(*[{}] * count) as address:
        begin = time.monotonic()
        seen: set[int] = set()
        with start(address, path, table, tmp_path, "--actors", count) as job:
            while job.poll() is None:
                seen |= actors().keys()
                time.sleep(0.2)
        print(f"{count} nodes, {len(seen)} actors: {time.monotonic() - begin:.1f} s")
    assert job.returncode == 0, (tmp_path / "log").read_text()[-10_000:]
    assert len(seen) >= count
    check(tmp_path / "out")


def test_an_actor_that_is_killed_changes_nothing(
    path: Path, table: Path, tmp_path: Path, check: Callable[[Path], None]
) -> None:
    with nodes({}, {}) as address:
        killed = 0
        seen: set[int] = set()
        with start(address, path, table, tmp_path, "--actors", 2) as job:
            while job.poll() is None:
                now = actors()
                at_work = [process for process, title in now.items() if title.endswith(".submit")]  # works on a block
                if at_work and not killed:
                    killed = at_work[0]
                    os.kill(killed, signal.SIGKILL)
                seen |= now.keys()
                time.sleep(0.05)
    assert killed, "no actor was seen at work"
    log = (tmp_path / "log").read_text()
    print(f"{len(seen)} actors, of which one was killed")
    assert job.returncode == 0, log[-10_000:]
    check(tmp_path / "out")


def test_nodes_that_differ_are_told_and_refused(
    path: Path, table: Path, tmp_path: Path, example: Callable[..., str]
) -> None:
    limited = {"ENCDEC_MAX_ISA": "sse4.1"}
    with nodes(limited, limited) as address:
        fingerprint = example("fingerprints.py", path, RAY_ADDRESS=address).strip()
        assert len(fingerprint) == 32
    with nodes({}, limited) as address:
        environment = {**os.environ, "RAY_ADDRESS": address}
        call = [sys.executable, str(EXAMPLES / "fingerprints.py"), str(path)]
        done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        agrees = sorted(line.split()[0] == fingerprint for line in done.stdout.splitlines())
        assert agrees == [False, True]
        assert start(address, path, table, tmp_path, "--fingerprint", "0" * 32).wait() != 0
        assert "gives other results" in (tmp_path / "log").read_text()


def test_a_service_shares_batches_among_requests(
    path: Path, lines: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray
    from ray import serve

    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES))
    import ray_serve

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def ask() -> list[tuple[int, dict[str, str]]]:
        async def one(session: aiohttp.ClientSession, body: object) -> tuple[int, dict[str, str]]:
            async with session.post(f"http://127.0.0.1:{port}/", json=body) as response:
                return response.status, await response.json()

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=200)) as session:
            bodies: list[object] = [{"text": line} for line in lines[:100]]
            return await asyncio.gather(*(one(session, each) for each in [*bodies, {"text": "cat " * 10_000}, {}]))

    with nodes({}) as address:
        ray.init(address=address, runtime_env={"env_vars": {"PYTHONPATH": str(EXAMPLES)}})
        try:
            serve.start(http_options={"port": port})
            serve.run(ray_serve.app({"model": str(path), "precision": "int8"}))
            begin = time.monotonic()
            answers = asyncio.run(ask())
            print(f"{len(answers)} requests: {time.monotonic() - begin:.2f} s")
        finally:
            serve.shutdown()
            ray.shutdown()
    assert [status for status, _ in answers] == [200] * 100 + [400] * 2
    assert [answer["result"] for _, answer in answers[:100]] == expected[:100]
    assert "tokens" in answers[100][1]["error"]
