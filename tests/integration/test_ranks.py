"""Trainings of two processes under torchrun: each rank is told, and nothing of theirs changes."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from dlprof.backends import registry as backends
from dlprof.launch import environments
from tests.integration import runner

pytestmark = pytest.mark.integration

TRAIN = """
    import datetime, itertools, os, sys, time
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, Dataset

    how = sys.argv[1]
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=6 if how == "hangs" else 300))
    rank = dist.get_rank()
    torch.manual_seed(0)

    class Rows(Dataset):
        def __len__(self):
            return 65536
        def __getitem__(self, index):
            if how == "loader" and rank == 1:
                time.sleep(0.001)
            return torch.full((256,), index / 65536), torch.tensor(index % 10)

    def validate():
        time.sleep(0.6)

    def main():
        net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
        model = DistributedDataParallel(net)
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        size = 1024 if how == "batches" and rank == 1 else 32
        loader = DataLoader(Rows(), batch_size=size)
        total = torch.zeros(())
        for number, (rows, labels) in enumerate(itertools.islice(loader, 60)):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(rows), labels)
            loss.backward()
            optimizer.step()
            total += loss.detach()
            if how == "dies" and rank == 1 and number == 40:
                os._exit(3)
            if how == "validates" and rank == 0 and number % 20 == 10:
                validate()
            if how == "hangs" and rank == 1 and number == 50:
                time.sleep(1000)
        dist.all_reduce(total)
        if rank == 0:
            print("loss %.9f" % (total.item() / 120))

    main()
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # gloo of torch 2.13 aborts now and then while a process ends, also bare
"""
SLEEP_LINE, VALIDATE_LINE, LOADER_LINE, HANG_LINE = 18, 22, 29, 42
"""Where the script sleeps for a row, validates, makes its loader, and stands for good."""


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter with torch."""
    return str(environments.ensure(backends.get("native-torch"), report=print).python)


def torchrun(python: str, *words: str) -> list[str]:
    """The launcher, without a number of its own for a port."""
    return [python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *words]


def followed(folder: Path, python: str, how: str) -> runner.Result:
    """The script with a planted cause, below a dlprof that follows the launcher."""
    runner.write(folder, "train.py", TRAIN)
    command = [*runner.DLPROF, "trace", "-o", "run", "--no-report", "--exec", "--"]
    return runner.run([*command, *torchrun(python, "train.py", how)], cwd=folder)


def first_finding(folder: Path) -> dict[str, Any]:
    """The first of `dlprof diagnose run`."""
    return runner.asked("diagnose", "run", cwd=folder)["findings"][0]  # type: ignore[no-any-return]


def test_each_rank_below_the_launcher_is_a_run_of_one(tmp_path: Path, python: str) -> None:
    """With the output of the bare training, exact steps, waits in collectives, and the ranks in every table."""
    runner.write(tmp_path, "train.py", TRAIN)
    dlprof = [*runner.DLPROF, "trace", "train.py", "--python", python, "-o", "run", "--", "plain"]

    bare = runner.run(torchrun(python, "train.py", "plain"), cwd=tmp_path)
    traced = runner.run(torchrun(python, "--no-python", *dlprof), cwd=tmp_path)

    assert (traced.code, traced.out) == (bare.code, bare.out) == (0, bare.out), traced.err
    assert traced.out.startswith("loss ")
    assert traced.err.count("2 ranks on ") == 1, traced.err
    told = runner.report(tmp_path)
    assert [(one["rank"], one["run"], one["steps"], one["ended"]) for one in told["ranks"]] == [
        (0, "rank-000", 60, "exit code 0"),
        (1, "rank-001", 60, "exit code 0"),
    ]
    assert all(one["collective_wait_ns"] is not None and one["median_ns"] > 0 for one in told["ranks"])
    assert (told["clock"]["offset_ns"], told["skew_how"]) == (0, "arrivals")
    query = "SELECT rank, kind, count(*) AS n, max(bytes) AS bytes FROM collectives GROUP BY ALL ORDER BY ALL"
    gradients = 4 * (256 * 256 + 256 + 256 * 10 + 10)
    assert runner.sql(tmp_path, query) == [
        {"rank": rank, "kind": kind, "n": count, "bytes": size}
        for rank in (0, 1)
        for kind, count, size in (("all_reduce", 1, 4), ("backward", 60, gradients), ("barrier", 1, None))
    ]


@pytest.mark.measured
def test_the_rank_whose_input_is_slow_is_named_with_its_line(tmp_path: Path, python: str) -> None:
    """Below a dlprof that follows the launcher."""
    done = followed(tmp_path, python, "loader")
    assert done.code == 0, done.err
    told = runner.report(tmp_path)
    assert [one["steps"] for one in told["ranks"]] == [60, 60]
    assert (told["straggler"]["rank"], told["straggler"]["part"]) == (1, "input")
    found = first_finding(tmp_path)
    assert (found["slug"], found["file"], found["line"]) == ("unbalanced-input", "train.py", SLEEP_LINE)
    assert found["claim"].startswith("Rank 1 takes ")


@pytest.mark.measured
def test_the_rank_whose_batches_are_larger_is_named(tmp_path: Path, python: str) -> None:
    """With the line that makes its loader."""
    assert followed(tmp_path, python, "batches").code == 0
    found = first_finding(tmp_path)
    assert (found["slug"], found["file"], found["line"]) == ("uneven-batches", "train.py", LOADER_LINE)
    assert "its batches have 1024 rows, the others' 32" in found["claim"]


def test_a_training_that_lost_a_rank_still_reports(tmp_path: Path, python: str) -> None:
    """It ends as without dlprof, and the rank that died is named."""
    assert followed(tmp_path, python, "dies").code == 1
    assert [one["rank"] for one in runner.report(tmp_path)["ranks"]] == [0, 1]
    found = first_finding(tmp_path)
    assert found["slug"] == "rank-failed"
    assert found["claim"].startswith("Rank 1 ended with exit code 3 after 4"), found["claim"]


@pytest.mark.measured
def test_what_one_rank_does_alone_is_named_with_its_line(tmp_path: Path, python: str) -> None:
    """A validation of rank 0 after every twentieth step, for which the other one waits in its next."""
    assert followed(tmp_path, python, "validates").code == 0
    found = first_finding(tmp_path)
    assert (found["slug"], found["file"], found["line"]) == ("lone-work", "train.py", VALIDATE_LINE)
    assert found["claim"].startswith("Rank 0 worked alone in validate() (evaluation) 3 times"), found["claim"]
    assert found["at_stake_ns"] == pytest.approx(1_800_000_000, rel=0.25)


def test_a_rank_that_stands_for_good_is_named_with_its_line(tmp_path: Path, python: str) -> None:
    """Though the other one ends first, when it has waited long enough."""
    assert followed(tmp_path, python, "hangs").code == 1
    found = first_finding(tmp_path)
    assert (found["slug"], found["file"], found["line"]) == ("rank-hung", "train.py", HANG_LINE)
    assert found["claim"].startswith("Rank 1 stood in main() for the last "), found["claim"]


STARTS_ITSELF = """
    import os, sys
    import multiprocessing
    import torch
    import torch.distributed as dist
    import torch.multiprocessing
    from torch.nn.parallel import DistributedDataParallel

    def work(rank, folder, fails):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + folder + "/meet", rank=rank, world_size=2)
        torch.manual_seed(0)
        model = DistributedDataParallel(torch.nn.Linear(64, 8))
        optimizer = torch.optim.SGD(model.parameters(), 0.05)
        for step in range(40):
            optimizer.zero_grad()
            loss = model(torch.full((16, 64), step / 40)).square().mean()
            loss.backward()
            optimizer.step()
            if fails and rank == 1 and step == 30:
                raise LookupError("of the script")
        dist.barrier()
        print("loss %.9f" % loss.item(), flush=True)
        os._exit(0)  # gloo of torch 2.13 aborts now and then while a process ends, also bare

    if __name__ == "__main__":
        how, fails = sys.argv[1], sys.argv[2] == "fails"
        if how == "torch":
            torch.multiprocessing.spawn(work, args=(os.getcwd(), fails), nprocs=2)
        else:
            context = multiprocessing.get_context(how)
            ranks = [context.Process(target=work, args=(rank, os.getcwd(), fails)) for rank in range(2)]
            for one in ranks:
                one.start()
            for one in ranks:
                one.join()
"""
RAISE_LINE = 21


def starts_itself(folder: Path, python: str, *words: str) -> runner.Result:
    """A script that starts its ranks, followed."""
    runner.write(folder, "train.py", STARTS_ITSELF)
    return runner.run(
        [*runner.DLPROF, "trace", "--follow", "train.py", "--python", python, "-o", "run", "--no-report", "--", *words],
        cwd=folder,
    )


@pytest.mark.parametrize("how", ["torch", "spawn", "fork", "forkserver"])
def test_ranks_that_a_script_starts_itself_are_ranks(tmp_path: Path, python: str, how: str) -> None:
    """With all their steps and waits, whichever way the processes were started."""
    done = starts_itself(tmp_path, python, how, "well")

    assert done.code == 0, done.err
    losses = re.findall(r"loss (\d\.\d{9})", done.out)  # two processes print: their line ends may come late
    assert (len(losses), len(set(losses))) == (2, 1), done.out
    told = runner.report(tmp_path)
    assert [(one["rank"], one["steps"], one["ended"]) for one in told["ranks"]] == [
        (0, 40, "exit code 0"),
        (1, 40, "exit code 0"),
    ]
    assert all(one["collective_wait_ns"] is not None for one in told["ranks"])


@pytest.mark.parametrize("how", ["torch", "fork"])
def test_the_exception_of_a_rank_that_a_script_started_is_named(tmp_path: Path, python: str, how: str) -> None:
    """It failed first, and has the line; no hook of Python's is called in such a process."""
    starts_itself(tmp_path, python, how, "fails")

    told = runner.report(tmp_path)
    assert told["first_failed"] == 1
    assert (told["ranks"][1]["error"], told["ranks"][1]["error_line"]) == ("LookupError", RAISE_LINE)
    found = first_finding(tmp_path)
    assert (found["slug"], found["file"], found["line"]) == ("rank-failed", "train.py", RAISE_LINE)


STARTS_TWO = """
    import multiprocessing, socket

    def free_port():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    if __name__ == "__main__":
        ports, context = [free_port(), free_port()], multiprocessing.get_context("spawn")
        ranks = [context.Process(target=work, args=(rank, ports)) for rank in range(2)]
        for one in ranks:
            one.start()
        for one in ranks:
            one.join()
        raise SystemExit(max(one.exitcode for one in ranks))
"""
WORK = {
    "jax": """
        import numpy as np

        def work(rank, ports):
            import jax
            import jax.numpy as jnp
            from jax.sharding import Mesh, NamedSharding, PartitionSpec

            jax.distributed.initialize("127.0.0.1:%d" % ports[0], 2, rank)
            split = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))

            @jax.jit
            def train_step(weights, rows):
                loss, gradient = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(rows @ w) ** 2))(weights)
                return weights - 0.1 * gradient, loss

            weights = jnp.full((32, 8), 0.05)
            for step in range(40):
                rows = jax.make_array_from_process_local_data(split, np.full((16, 32), step / 40, "float32"))
                weights, loss = train_step(weights, rows)
                value = float(loss)
            print("loss %.6f" % value, flush=True)
    """,
    "tensorflow": """
        import json, os
        import numpy as np

        def work(rank, ports):
            cluster = {"worker": ["127.0.0.1:%d" % port for port in ports]}
            os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": rank}})
            import tensorflow as tf

            strategy = tf.distribute.MultiWorkerMirroredStrategy()
            with strategy.scope():
                weights = tf.Variable(np.full((32, 8), 0.05, "float32"), aggregation=tf.VariableAggregation.MEAN)

            def on_worker(rows):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.tanh(rows @ weights) ** 2)
                weights.assign_sub(0.1 * tape.gradient(loss, weights))
                return loss

            @tf.function
            def train_step(rows):
                return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(on_worker, args=(rows,)), axis=None)

            rows = np.linspace(0, 1, 640 * 32, dtype="float32").reshape(640, 32)
            data = strategy.distribute_datasets_from_function(
                lambda _context: tf.data.Dataset.from_tensor_slices(rows).batch(16)
            )
            for batch in data:
                loss = train_step(batch)
                value = float(loss.numpy())
            print("loss %.6f" % value, flush=True)
    """,
}
"""What a rank does, by engine."""


@pytest.mark.parametrize("engine", list(WORK))
def test_workers_of_other_engines_make_themselves_ranks_too(tmp_path: Path, engine: str) -> None:
    """By `jax.distributed.initialize`, and by a strategy for what TF_CONFIG tells; with all their steps."""
    runner.write(tmp_path, "train.py", textwrap.dedent(WORK[engine]) + textwrap.dedent(STARTS_TWO))
    words = ["trace", "--follow", "train.py", "--backend", engine, "-o", "run", "--no-report"]
    done = runner.run([*runner.DLPROF, *words], cwd=tmp_path)

    assert done.code == 0, done.err
    assert len(re.findall(r"loss \d\.\d{6}", done.out)) == 2, done.out
    ranks = runner.report(tmp_path)["ranks"]
    assert [(one["rank"], one["steps"], one["ended"]) for one in ranks] == [
        (0, 40, "exit code 0"),
        (1, 40, "exit code 0"),
    ]
