"""Recordings of jobs of several processes, made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

JOB = Path(__file__).with_name("job.py")
ROOT = JOB.parents[2]


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `job.py` saves, in a folder for each scheme and number of ranks."""
    directory = tmp_path_factory.mktemp("jobs")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    logs = [(directory / f"{rank}.log").open("w+", encoding="utf-8") for rank in range(4)]
    processes = [
        subprocess.Popen(
            [sys.executable, str(JOB), str(directory), str(rank)], env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        for rank, log in enumerate(logs)
    ]
    try:
        codes = [process.wait(2 * LONGEST) for process in processes]
    finally:
        for process in processes:
            process.kill()
        for log in logs:
            log.close()
    if any(codes):
        pytest.fail("\n".join([(directory / f"{rank}.log").read_text(encoding="utf-8")[-3000:] for rank in range(4)]))
    return directory


@pytest.fixture
def recorded(jobs: Path) -> Callable[[str, int], list[Graph]]:
    """The graphs of all ranks of a job, given scheme and number of ranks."""
    from trec import load

    def read(scheme: str, world: int) -> list[Graph]:
        return [load(jobs / f"{scheme}{world}" / f"rank{rank}.trec") for rank in range(world)]

    return read
