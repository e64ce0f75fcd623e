"""Kill -9 of one process at a random moment of a short run, again and again; what is left must open and be right.

python -m tests.conformance.kills --count 200 --seed 1 [--plain]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any

import psutil

from tests.conformance import interpreters
from tests.conformance.case import Case
from tests.conformance.place import Place

_GONE_S = 10
_ENDS_S = 240
_EARLY = 0.15
"""Share of the kills that may come before the script has begun."""


class Victim(StrEnum):
    """Who is killed."""

    DLPROF = "dlprof"
    SCRIPT = "script"
    SAMPLER = "sampler"
    PY_SPY = "py-spy"
    ALL = "all"


_WORDS = {Victim.SCRIPT: "inproc/start.py", Victim.SAMPLER: "dlprof_probes.sidecar", Victim.PY_SPY: "py-spy"}
"""A word of the command line of each."""


@dataclass(frozen=True)
class Program:
    """What is run.

    Attributes:
        case: The script, and on what.
        out: What it prints when it is left alone; None: that of a bare run is not known here.
        code: Its exit code.
        seconds: About how long the script takes.
    """

    case: Case
    out: str | None
    code: int
    seconds: float


PLAIN = Program(Case("marked", "marked.py"), "trained\n", 7, 1.4)
ENGINES = tuple(
    Program(Case(f"train-{name}", "train_keras.py", ("plain",), backend=name), None, 3, 8.0)
    for name in ("mxnet", "jax", "torch", "tensorflow")
)


@dataclass(frozen=True)
class Drill:
    """One kill.

    Attributes:
        program: What runs.
        victim: Who is killed.
        after_s: How long after the victim has begun, or dlprof.
        early: After dlprof has begun: most likely there is no victim yet.
    """

    program: Program
    victim: Victim
    after_s: float
    early: bool = False


@dataclass(frozen=True)
class Killed:
    """What a drill came to.

    Attributes:
        drill: The drill.
        hit: Whether the victim was there, while the script ran.
        opened: Whether there was a run to be opened.
        problems: What is wrong; empty: nothing.
    """

    drill: Drill
    hit: bool
    opened: bool
    problems: tuple[str, ...]


def draw(count: int, seed: int, *, plain: bool) -> list[Drill]:
    """`count` drills: each victim as often as the others, moments at random; every fifth program is a real training."""
    rng = random.Random(seed)
    drills = []
    for number in range(count):
        program = PLAIN if plain or number % 5 else ENGINES[number // 5 % len(ENGINES)]
        victim = list(Victim)[(number + number // 5) % len(Victim)]
        drills.append(Drill(program, victim, rng.uniform(0, program.seconds), early=rng.random() < _EARLY))
    return drills


def kill_once(drill: Drill, path: Path) -> Killed:
    """Do one drill in a folder at `path`."""
    place = Place(path)
    case = drill.program.case
    place.make(case)
    environment = _environment(case, place, traced=True)
    own = {*place.files(), *_of_bare(case.name)}
    process = subprocess.Popen(
        interpreters.command(case, place, traced=True),
        cwd=place.work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    if not drill.early:
        _wait_for(process, drill.victim)
    time.sleep(drill.after_s)
    hit = _kill(process, drill.victim)
    try:
        out, err = process.communicate(timeout=_ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += "(it did not end)"
    left = _left_after(place)
    seen = _Seen(drill, place, hit, process.returncode, out, err, left, _strays(own, place))
    return Killed(drill, hit, place.run.exists(), tuple(seen.problems()))


def _environment(case: Case, place: Place, *, traced: bool) -> dict[str, str]:
    found = place.environment(case, interpreters.environment(case, traced=traced))
    return {**found, "KERAS_HOME": str(place.path / "keras"), "TF_CPP_MIN_LOG_LEVEL": "3"}


@cache
def _of_bare(name: str) -> frozenset[str]:
    """What a program leaves behind by itself: libraries make folders when they are imported."""
    case = next(program.case for program in (PLAIN, *ENGINES) if program.case.name == name)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "bare")
        place.make(case)
        command = interpreters.command(case, place, traced=False)
        environment = _environment(case, place, traced=False)
        subprocess.run(command, cwd=place.work, env=environment, capture_output=True, check=False)
        return frozenset(place.files())


def _wait_for(process: subprocess.Popen[str], victim: Victim) -> None:
    """Until the victim runs, and the script: as good a moment as any other on a machine that is busy."""
    wanted = {Victim.SCRIPT, *({victim} & set(_WORDS))}
    try:
        while process.poll() is None:
            below = psutil.Process(process.pid).children(recursive=True)
            if all(any(_is(one, other) for one in below) for other in wanted):
                return
            time.sleep(0.02)
    except psutil.NoSuchProcess:
        return


def _kill(process: subprocess.Popen[str], victim: Victim) -> bool:
    """Whether there was somebody to be killed, and a script that ran."""
    try:
        below = psutil.Process(process.pid).children(recursive=True)
        runs = any(_is(one, Victim.SCRIPT) for one in below)
        if victim in (Victim.DLPROF, Victim.ALL):
            found = [psutil.Process(process.pid), *(below if victim is Victim.ALL else [])]
        else:
            found = [one for one in below if _is(one, victim)]
        for one in found:
            one.kill()
    except psutil.NoSuchProcess:
        return False
    return bool(found) and runs


def _is(process: psutil.Process, victim: Victim) -> bool:
    try:
        return _WORDS[victim] in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _left_after(place: Place) -> list[str]:
    """What still runs some seconds later, which is then ended."""
    end = time.monotonic() + _GONE_S
    while (left := place.processes()) and time.monotonic() < end:
        time.sleep(0.05)
    names = [" ".join(one.cmdline())[:200] for one in left]
    for one in left:
        one.kill()
    return names


def _strays(own: Collection[str], place: Place) -> list[str]:
    """Files that are no script's: neither below the caches of engines nor compiled ones."""
    return [line for line in place.files() if line not in own and "__pycache__" not in line and " home/." not in line]


@dataclass(frozen=True)
class _Seen:
    drill: Drill
    place: Place
    hit: bool
    code: int
    out: str
    err: str
    left: list[str]
    strays: list[str]

    def problems(self) -> list[str]:
        found = [f"left running: {one}" for one in self.left]
        found += [f"stray {one[:120]}" for one in self.strays]
        if "Traceback" in self.err or "did not end" in self.err or "bug" in self.err:
            found.append(f"said: {self.err[-600:]}")
        return [*found, *self._of_ending(), *self._of_run()]

    def _of_ending(self) -> list[str]:
        """The script's code and output are kept where it lived."""
        if self.drill.victim in (Victim.DLPROF, Victim.ALL):
            return []
        wanted = 137 if self.drill.victim is Victim.SCRIPT and self.hit else self.drill.program.code
        found = [] if self.code == wanted else [f"exit code {self.code} instead of {wanted}"]
        if wanted != 137 and self.drill.program.out not in (None, self.out):
            found.append(f"printed {self.out!r}")
        return found

    def _of_run(self) -> list[str]:
        if not self.place.run.exists():
            return [] if self.drill.victim in (Victim.DLPROF, Victim.ALL) and not self.hit else ["there is no run"]
        done = subprocess.run(
            [*interpreters.dlprof(), "report", str(self.place.run), "--json"],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.place.path,
        )
        if done.returncode or "Traceback" in done.stderr:
            early = "has no manifest" in done.stderr or "There is no run" in done.stderr
            return [] if early and not self.hit else [f"report: {done.returncode} {done.stderr[-600:]}"]
        return self._of_report(json.loads(done.stdout))

    def _of_report(self, content: dict[str, Any]) -> list[str]:
        found = []
        top = sum(phase["dur_ns"] for phase in content["phases"] if phase["parent"] is None)
        if content["wall_ns"] is not None and top + (content["unattributed_ns"] or 0) != content["wall_ns"]:
            found.append(f"phases {top} + unattributed {content['unattributed_ns']} != wall {content['wall_ns']}")
        return found + (self._of_told(content) if self.hit else [])

    def _of_told(self, content: dict[str, Any]) -> list[str]:
        """The report says who was killed."""
        probes = {probe["name"]: probe for probe in content["probes"]}
        slugs = [entry["slug"] for entry in content["health"]]
        told = {
            Victim.DLPROF: "dlprof-killed" in slugs,
            Victim.ALL: "dlprof-killed" in slugs,
            Victim.SCRIPT: (content["exit"] or {}).get("signal") == 9,
            Victim.SAMPLER: "signal 9" in str(probes.get("cores", {}).get("reason")),
            Victim.PY_SPY: "signal 9" in str(probes.get("stacks", {}).get("reason")),
        }
        if told[self.drill.victim]:
            return []
        return [f"not told: state {content['state']}, exit {content['exit']}, probes {_brief(probes)}, health {slugs}"]


def _brief(probes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (one["state"], one["reason"]) for name, one in probes.items() if one["state"] != "on" or one["reason"]
    }


def main() -> int:
    """1 when anything is wrong after any kill."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="no engine: a script with marks only")
    parser.add_argument("-n", type=int, default=2, metavar="JOBS")
    args = parser.parse_args()
    drills = draw(args.count, args.seed, plain=args.plain)
    with tempfile.TemporaryDirectory(prefix="dlprof-kills-") as folder, ThreadPoolExecutor(args.n) as pool:
        results = list(pool.map(partial(_told, Path(folder)), range(len(drills)), drills))
    bad = [one for one in results if one.problems]
    hits = Counter(one.drill.victim.value for one in results if one.hit)
    print(f"\n{len(results)} kills; {sum(hits.values())} while the script ran ({dict(hits)}); ", end="")
    print(f"{sum(one.opened for one in results)} left a run; {len(bad)} with something wrong")
    return 1 if bad else 0


def _told(folder: Path, number: int, drill: Drill) -> Killed:
    killed = kill_once(drill, folder / str(number))
    words = f"{number:>4} {drill.program.case.name:<17} {drill.victim:<8} at {drill.after_s:5.2f} s {'hit' if killed.hit else '   '}"
    print("\n       ".join([f"{words}  {'wrong' if killed.problems else 'right'}", *killed.problems]), flush=True)
    return killed


if __name__ == "__main__":
    sys.exit(main())
