"""The same model gives the same bytes, in one process and in two."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

SCRIPT = """
import sys, torch, trec
from concurrent.futures import ThreadPoolExecutor
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
        self.norm = nn.BatchNorm1d(3)
        self.branches = nn.ModuleDict({name: nn.Linear(4, 4) for name in sorted({"a", "b", "c"})})
        self.kinds = {object(), object()}

    def forward(self, batch, *, flags):
        x = self.layer(self.norm(self.lstm(batch["x"])[0]))
        x[:, 0] = batch["y"]
        x = nn.functional.dropout(x) + torch.rand_like(x)
        made = nn.Linear(4, 4)
        results = {name: branch(made(x)) for name, branch in self.branches.items()}
        results["vmap"] = torch.vmap(torch.sin)(x)
        results["item"] = x * x.sum().item()
        return results

torch.manual_seed(int(sys.argv[1]))
net = Net()
for level in ("module", "function", "aten"):
    batch = {"x": torch.randn(2, 3, 4), "y": torch.randn(2, 4)}
    trec.capture(net, args=(batch,), kwargs={"flags": {1, 2}}, level=level).save(f"{sys.argv[2]}-{level}.trec")
"""


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    root = str(Path(__file__).parents[2])
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
        command = [sys.executable, "script.py", "5", f"run{seed}"]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    for level in ("module", "function", "aten"):
        first, second = (tmp_path / f"run{seed}-{level}.trec" for seed in ("0", "4711"))
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 500
