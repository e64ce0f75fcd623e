"""Our sums by operator against those of the engines' own summaries, over one and the same trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.backends import registry
from dlprof.launch import environments
from tests.integration import runner

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

TORCH = """
import json, torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.RMSprop(model.parameters())
x, y = torch.rand(64, 256), torch.randint(0, 10, (64,))
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as prof:
    for _ in range(5):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
prof.export_chrome_trace("trace.json")
rows = {e.key: [e.count, e.cpu_time_total, e.self_cpu_time_total] for e in prof.key_averages()}
json.dump(rows, open("theirs.json", "w"))
"""
MXNET = """
import json, os
os.environ["MXNET_EXEC_BULK_EXEC_TRAIN"] = "0"  # operators one by one
import mxnet as mx
from mxnet import profiler
data = mx.sym.Variable("data")
net = mx.sym.FullyConnected(mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=256), act_type="relu"), num_hidden=10)
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
module.bind([("data", (64, 256))], [("softmax_label", (64,))])
module.init_params()
module.init_optimizer()
batch = mx.io.DataBatch([mx.nd.ones((64, 256))], [mx.nd.ones((64,))])
mx.nd.waitall()
profiler.set_config(filename="trace.json", profile_symbolic=True, profile_imperative=True, profile_api=False,
                    profile_memory=False, aggregate_stats=True)
profiler.set_state("run")
for _ in range(5):
    module.forward(batch, is_train=True); module.backward(); module.update(); mx.nd.waitall()
profiler.set_state("stop")
sums = json.loads(profiler.dumps(format="json"))["Time"]
rows = {name: [row["Count"], row["Total"]] for domain in sums.values() for name, row in domain.items()}
json.dump(rows, open("theirs.json", "w"))
"""


def both(backend: str, script: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The engine's sums, and ours by operator of the same trace."""
    runner.write(folder, "script.py", script)
    python = environments.ensure(registry.get(backend), report=print).python
    done = runner.run([str(python), "script.py"], cwd=folder)
    assert done.code == 0, done.err
    assert runner.ask("import", "trace.json", "-o", "run", cwd=folder).code == 0
    ours = runner.asked("kernels", "run", "--by", "op", cwd=folder)
    rows = {row["op"]: row for row in ours["rows"] if row["kind"] == "operator"}
    return json.loads((folder / "theirs.json").read_text()), rows


def test_operators_of_torch_agree_with_key_averages(tmp_path: Path) -> None:
    """Counts to the last one; total and own time of each operator above 50 us within 1 %."""
    theirs, ours = both("torch", TORCH, tmp_path)
    compared = [name for name in theirs if name in ours and theirs[name][1] > 50]

    assert len(compared) > 15
    assert {name: ours[name]["count"] for name in compared} == {name: theirs[name][0] for name in compared}
    for name in compared:
        assert ours[name]["total_ns"] / 1e3 == pytest.approx(theirs[name][1], rel=0.01), name
        assert ours[name]["self_ns"] / 1e3 == pytest.approx(theirs[name][2], rel=0.01, abs=1), name


def test_operators_of_mxnet_agree_with_its_aggregate(tmp_path: Path) -> None:
    """Counts to the last one, and the sum over all operators within 1 %; MXNet rounds each time to a microsecond."""
    theirs, ours = both("mxnet", MXNET, tmp_path)
    compared = [name for name in theirs if name in ours]

    assert {"FullyConnected", "Activation", "SoftmaxOutput"} <= set(compared)
    assert {name: ours[name]["count"] for name in compared} == {name: theirs[name][0] for name in compared}
    total = sum(ours[name]["total_ns"] for name in compared) / 1e6
    assert total == pytest.approx(sum(theirs[name][1] for name in compared), rel=0.01)
