"""Signals of all kinds, to dlprof as they would come to the script: caught, ignored, blocked, left alone."""

from __future__ import annotations

from tests.conformance.acts import HangUp, Keys, Resize, Signal, StopAndContinue
from tests.conformance.case import Case
from tests.conformance.world import World

CAUGHT = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGWINCH", "SIGIO", "SIGURG", "SIGCONT",
          "SIGPROF", "SIGVTALRM", "SIGXCPU", "SIGPIPE", "SIGTSTP", "SIGRTMIN", "SIGRTMIN+5", "SIGRTMAX")  # fmt: skip
DEFAULT = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGRTMIN", "SIGPROF")
NO_CORES = World(limits={"RLIMIT_CORE": 0})
TERMINAL = World(terminal=True, limits={"RLIMIT_CORE": 0})


def _case(name: str, how: str, signal: str, *acts: object, world: World = NO_CORES, more: tuple[str, ...] = ()) -> Case:
    return Case(f"signals/{name}", "signals.py", (how, signal, *more), world, tuple(acts))  # type: ignore[arg-type]


CASES = [
    *(_case(f"caught/{name}", "caught", name, Signal(name)) for name in CAUGHT),
    *(_case(f"left-alone/{name}", "default", name, Signal(name)) for name in DEFAULT),
    *(_case(f"group/{name}", "caught", name, Signal(name, to="group")) for name in ("SIGINT", "SIGUSR1")),
    *(_case(f"ignored/{name}", "ignored", name, Signal(name, lets_go=True)) for name in ("SIGUSR1", "SIGHUP", "SIGQUIT")),
    *(_case(f"blocked/{name}", "blocked", name, Signal(name)) for name in ("SIGINT", "SIGTERM", "SIGUSR1")),
    *(_case(f"to-the-script/{name}", "caught", name, Signal(name, to="script")) for name in ("SIGINT", "SIGUSR1", "SIGTERM")),
    *(_case(f"timer/{name}", "timer", name) for name in ("SIGALRM", "SIGPROF", "SIGVTALRM")),
    _case("nohup/SIGHUP", "ignored", "SIGHUP", Signal("SIGHUP", lets_go=True), world=World(ignored=("SIGHUP",))),
    _case("background/SIGINT", "ignored", "SIGINT", Signal("SIGINT", to="group", lets_go=True), world=World(ignored=("SIGINT", "SIGQUIT"))),
    _case("polite/SIGINT", "interrupted", "SIGINT", Signal("SIGINT")),
    _case("polite/SIGINT/group", "interrupted", "SIGINT", Signal("SIGINT", to="group")),
    _case("slow/SIGTERM", "slow", "SIGTERM", Signal("SIGTERM")),
    _case("slow/SIGINT", "slow", "SIGINT", Signal("SIGINT")),
    _case("wakeup/SIGUSR1", "pipe", "SIGUSR1", Signal("SIGUSR1")),
    _case("twice/SIGUSR1", "caught", "SIGUSR1", Signal("SIGUSR1"), Signal("SIGUSR1"), more=("2",)),
    _case("twice/SIGINT", "caught", "SIGINT", Signal("SIGINT"), Signal("SIGINT"), more=("2",)),
    _case("twice/SIGTERM", "caught", "SIGTERM", Signal("SIGTERM"), Signal("SIGTERM"), more=("2",)),
    Case("signals/stopped/program", "helpers_gone.py", acts=(StopAndContinue(),)),
    Case("signals/stopped/script", "helpers_gone.py", acts=(StopAndContinue(to="script"),)),
    _case("keys/interrupt", "caught", "SIGINT", Keys(b"\x03"), world=TERMINAL),
    _case("keys/interrupt/left-alone", "default", "SIGINT", Keys(b"\x03"), world=TERMINAL),
    _case("keys/interrupt/polite", "interrupted", "SIGINT", Keys(b"\x03"), world=TERMINAL),
    _case("keys/quit", "caught", "SIGQUIT", Keys(b"\x1c"), world=TERMINAL),
    _case("keys/quit/left-alone", "default", "SIGQUIT", Keys(b"\x1c"), world=TERMINAL),
    _case("keys/suspend", "default", "SIGCHLD", Keys(b"\x1a"), world=TERMINAL),
    _case("keys/suspend/caught", "caught", "SIGTSTP", Keys(b"\x1a"), world=TERMINAL),
    _case("keys/suspend/continue-caught", "caught", "SIGCONT", Keys(b"\x1a"), world=TERMINAL),
    _case("terminal/resized", "caught", "SIGWINCH", Resize(77, 33), world=TERMINAL),
    _case("terminal/hung-up", "default", "SIGHUP", HangUp(), world=TERMINAL),
    _case("terminal/hung-up/nohup", "ignored", "SIGHUP", HangUp(lets_go=True), world=World(terminal=True, ignored=("SIGHUP",))),
    _case("terminal/kill", "default", "SIGTERM", Signal("SIGTERM"), world=TERMINAL),
    _case("terminal/kill/USR1", "caught", "SIGUSR1", Signal("SIGUSR1"), world=TERMINAL),
]  # fmt: skip
