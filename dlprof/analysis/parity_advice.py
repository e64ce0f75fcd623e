"""What makes two runs comparable that are not: how scripts get the same initial weights, and how they keep one name."""

from __future__ import annotations

from dlprof.engines import registry
from dlprof.engines.base import EngineSpec
from dlprof.store.run import Run

_SEEDS_ALL = (2, 7)
"""From this version of Keras on one call seeds all that it draws from."""
OF_SCRIPTS = (
    "scripts: of one before and after a change this is expected. Their times can be compared all the same "
    "(dlprof gate BASE NEW --anyway judges them), but that both do the same work is known only as far as the rest was "
    "checked. Where both keep one file name, in two folders, only their text is said to differ."
)

OF_ONE_RUN = "that: name another run as one of them (dlprof runs lists all), or trace the script again."


def of_weights(a: Run, b: Run) -> str:
    """How both get the same initial weights: by one seed, but of two engines by weights that are kept."""
    engines = _engine(a), _engine(b)
    if None in engines or engines[0] != engines[1]:
        return (
            "initial weights: engines draw other numbers from one and the same seed. Start both from the same saved "
            "weights, and trace both again."
        )
    told = dict.fromkeys(how for run in (a, b) if (how := _seeding(run)) is not None)
    how = ", ".join(told) or "seed what they are drawn from"
    return f"initial weights: {how}, in both scripts before the model is made, and trace both again."


def _engine(run: Run) -> str | None:
    spec = _spec(run)
    return spec.name if spec is not None else None


def _spec(run: Run) -> EngineSpec | None:
    keras, engine = run.manifest.keras, run.manifest.engine
    if keras is not None and keras.backend is not None:
        return registry.under_keras(keras.backend, keras.version)
    return registry.find(engine.name, engine.version) if engine is not None else None


def _seeding(run: Run) -> str | None:
    """What fixes the numbers that weights are drawn from; None: not known."""
    keras, spec = run.manifest.keras, _spec(run)
    of_engine = spec.seeding if spec is not None else None
    if keras is None or keras.backend is None:
        return of_engine
    if _version(keras.version) >= _SEEDS_ALL:
        return "call keras.utils.set_random_seed(0)"
    of_numpy = "call numpy.random.seed(0)"
    return of_numpy if of_engine in (None, of_numpy) else f"{of_numpy} and {of_engine.removeprefix('call ')}"


def _version(text: str | None) -> tuple[int, ...]:
    """The first two numbers of a version; none: it is not known, or is no such one."""
    parts = (text or "").split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()
