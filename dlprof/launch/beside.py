"""What looks at a process from outside while it runs: the sampler of cores and GPUs, and py-spy."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec.structs import replace

from dlprof.config import TraceConfig
from dlprof.launch.recorded import ProbeStates
from dlprof.launch.sampler import SAMPLED, Sampler, config_of
from dlprof.launch.sampler import outcome as sampler_outcome
from dlprof.launch.stack_sampling import StackSampling
from dlprof.rundir import RunDir
from dlprof.schema.vocabulary import ProbeState

_STOP_S = 5.0


class Beside:
    """Looks at one process that dlprof did not start itself; nothing ends it.

    Args:
        config: How to look.
        run: The run folder.
        pid: The process.
        states: Takes what became of each probe.
        in_child: Called in each helper between fork and exec.
        program: What dlprof started, and the process is below; None: dlprof started none.
    """

    def __init__(
        self,
        config: TraceConfig,
        run: RunDir,
        pid: int,
        states: ProbeStates,
        in_child: Callable[[], None] | None = None,
        *,
        program: int | None = None,
    ) -> None:
        self._config = config
        self._run = run
        self._pid = pid
        self._states = states
        self._in_child = in_child
        self._program = program
        self._sampler: Sampler | None = None
        self._sampler_pid: int | None = None
        self._stacks: StackSampling | None = None

    def start(
        self,
        python: Callable[[], int | None],
        *,
        tree: bool,
        below: bool = True,
        apart: Callable[[], Collection[int]] = frozenset,
    ) -> None:
        """Begin.

        Args:
            python: Gives the process whose stacks are sampled; None: there is none yet.
            tree: The program need not be a Python itself.
            below: Sample every Python below it too.
            apart: Gives the processes among those below that have a sampler of their own.
        """
        self._harmless(self._start_sampler, *SAMPLED)
        if self._config.wants("stacks"):
            self._stacks = StackSampling(self._run, self._config, python, tree=tree, below=below, apart=apart)

    def tick(self) -> None:
        """To be called some times a second."""
        if self._stacks is not None:
            self._harmless(self._stacks.tick, "stacks")

    def helpers(self) -> tuple[int, ...]:
        """Its own processes."""
        found = (self._sampler_pid, self._stacks.pid if self._stacks is not None else None)
        return tuple(pid for pid in found if pid is not None)

    @property
    def samples_stacks(self) -> bool:
        """Whether py-spy looks at the process."""
        return self._stacks is not None and self._stacks.pid is not None

    def stop(self) -> None:
        """End it, and say what became of its probes."""
        self._harmless(self._stop_sampler, *SAMPLED)
        if self._stacks is not None:
            self._harmless(self._stop_stacks, "stacks")
        self._harmless(self._judge_sampler, *SAMPLED)

    def _start_sampler(self) -> None:
        config = config_of(self._config, self._run.raw, self._pid)
        if config is None:
            return
        self._sampler = Sampler(replace(config, program=self._program, ends_traced=False), in_child=self._in_child)
        self._sampler.prepare()
        self._sampler_pid = self._sampler.start()

    def _harmless(self, work: Callable[[], object], *probes: str) -> None:
        """Do some work; where that fails, these probes have failed, and the others go on."""
        try:
            work()
        except Exception as error:  # noqa: BLE001  (whatever it is, what is measured beside is kept)
            for name in probes:
                if self._config.wants(name):
                    self._states.note(name, ProbeState.FAILED, f"{type(error).__name__}: {error}")

    def _stop_sampler(self) -> None:
        if self._sampler is not None:
            self._sampler.stop(_STOP_S)

    def _stop_stacks(self) -> None:
        assert self._stacks is not None  # noqa: S101  (asked by the caller)
        self._stacks.stop(_STOP_S)
        self._states.put(self._stacks.outcome())

    def _judge_sampler(self) -> None:
        if self._sampler is None:
            return
        reports, ended, disk_full = self._sampler.reports(), self._sampler.ended, self._run.disk_full()
        for name in SAMPLED:
            if self._config.wants(name) and self._states.get(name) is None:
                self._states.put(sampler_outcome(name, reports.get(name), ended, disk_full))
