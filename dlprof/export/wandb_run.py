"""A run for Weights & Biases, through its own client: online, or into a folder that `wandb sync` sends later."""

from __future__ import annotations

import itertools
from types import ModuleType

from dlprof.errors import UnavailableError
from dlprof.export import tracked
from dlprof.export.tracked import Tracked
from dlprof.store.run import Run
from dlprof.units import safe


def send(run: Run, where: str | None) -> str:
    """Make a run of W&B of it, in the project that is named after the script.

    Args:
        run: The run.
        where: Folder that takes it, without anything being sent; None: as W&B is set (`WANDB_MODE`, `WANDB_DIR`, ...).

    Returns:
        How much it is, and where.

    Raises:
        NoInputError: It is not known when the run was.
        UnavailableError: W&B is not installed, or refuses.
    """
    wandb = _module()
    told = tracked.of_run(run)
    try:
        place = _logged(wandb, told, where)
    except (wandb.errors.Error, OSError) as error:
        why = safe(str(error).partition("\n")[0])[:300]
        raise UnavailableError(
            f"W&B refused the run: {why}", hint="wandb login, or -o FOLDER to send it later"
        ) from error
    return f"{told.said} in {place}"


def _module() -> ModuleType:
    try:
        import wandb  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "wandb":
            raise  # it is installed, and lacks something itself
        text = "The client of Weights & Biases is not installed."
        raise UnavailableError(text, hint="pip install 'dlprof[wandb]'") from None
    return wandb


def _logged(wandb: ModuleType, told: Tracked, where: str | None) -> str:
    # Nothing of this process is of interest: neither what it prints nor how busy the machine is now.
    settings = wandb.Settings(
        silent=True,
        console="off",
        disable_git=True,
        disable_code=True,
        x_disable_stats=True,
        x_disable_meta=True,
        x_save_requirements=False,
    )
    run = wandb.init(
        project=told.script.removesuffix(".py"),
        id=f"dlprof-{told.key}",
        name=told.name,
        notes=told.verdict,
        config=dict(told.parameters),
        dir=where,
        mode="offline" if where is not None else None,
        settings=settings,
    )
    for place, values in itertools.groupby(sorted(told.values, key=lambda one: one.place), key=lambda one: one.place):
        found = list(values)
        run.log({**{one.name: one.value for one in found}, "_timestamp": found[0].time_ms / 1000}, step=place)
    run.summary.update({f"dlprof/{name}": value for name, value in told.figures.items()})
    artifact = wandb.Artifact(f"dlprof-{told.key}", type="dlprof")
    for name, content in told.files.items():
        with artifact.new_file(name, mode="wb") as file:
            file.write(content)
    run.log_artifact(artifact)
    place = run.settings.sync_dir if run.offline else run.url
    run.finish(exit_code=1 if told.failed else 0)
    wandb.teardown()  # its helper writes the last part of the folder when it ends
    return str(place)
