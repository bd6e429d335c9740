"""Spark: in one process, and with two executors that are processes on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java: default-jre-headless"),
]


def run(example: Callable[..., str], master: str, *arguments: object, **options: str) -> str:
    options = {"spark.ui.enabled": "false", "spark.sql.execution.arrow.maxRecordsPerBatch": "200", **options}
    given = " ".join(f"--conf {name}={value}" for name, value in options.items())
    return example(
        "spark.py", *arguments,
        PYSPARK_SUBMIT_ARGS=f"--master {master} {given} pyspark-shell", PYSPARK_PYTHON=sys.executable,
        SPARK_HOME=os.path.dirname(pyspark.__file__), SPARK_LOCAL_IP="127.0.0.1",
    )  # fmt: skip


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_executors_give_what_the_command_gives(
    master: str, example: Callable[..., str], path: Path, table: Path, tmp_path: Path, check: Callable[[Path], None]
) -> None:
    cache = tmp_path / "cache"
    run(example, master, path, table, tmp_path / "out", "--weights-cache", cache)
    check(tmp_path / "out")
    assert len(list((tmp_path / "out").glob("*.parquet"))) >= 2  # each executor has written a part
    assert len(list(cache.iterdir())) == 1


def test_an_executor_that_differs_is_refused(
    example: Callable[..., str], path: Path, table: Path, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match="gives other results: "):
        run(
            example, "local[1]", path, table, tmp_path / "out", "--fingerprint", "0" * 32,
            **{"spark.executorEnv.ENCDEC_MAX_ISA": "sse4.1"},
        )  # fmt: skip
