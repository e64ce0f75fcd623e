"""Names of the sections of a report, for `dlprof report RUN SECTION`."""

from __future__ import annotations

from collections.abc import Mapping

SECTIONS: Mapping[str, str] = {
    "findings": "causes of lost time",
    "phases": "the wall time by phase",
    "steps": "step times, epochs, what was compiled again, what a step consists of",
    "kernels": "kernels by layer, and when GPUs were idle",
    "lines": "the hottest lines",
    "stacks": "the hottest stacks of each phase",
    "input": "loaders and their workers, stages of tf.data: where their time went, from the source to the step",
    "processes": "what the script started: workers and other processes",
    "followed": "Pythons below the program that were traced as runs of their own",
    "machine": "cores, memory and GPUs",
    "memory": "memory by phase, what holds it, whether it grows",
    "costs": "what each probe cost",
    "health": "what was dropped, cut, killed or odd",
    "sources": "the files that an imported run was made of",
}
"""Each section and what it tells."""
