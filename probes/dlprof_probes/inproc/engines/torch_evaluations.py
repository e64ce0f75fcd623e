"""Evaluations in PyTorch that no loader feeds: what a program does under `no_grad`, and Keras' models on torch."""

import os
from sys import _getframe

from dlprof_probes.inproc.growing_inputs import Asked
from dlprof_probes.inproc.patching import each_definer

_SWITCHES = ("no_grad", "inference_mode")
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_FRAMES = 8
"""Between what switches gradients on again and the line of the program that asks for that, at most."""
_WRAPPERS = "<frozen importlib._bootstrap>"


def watch(probe, torch, growing=None):
    """Listen to gradients that are switched off, by a `with` or a decorator, and on again.

    Args:
        probe: `Probe`.
        torch: The module.
        growing: `torch_growing.CallsWithoutGradients`, which is told that they are off; None: nobody is.
    """
    grad_mode, own = getattr(torch.autograd, "grad_mode", None), probe.own_loops
    through = (_OWN, os.path.join(os.path.dirname(torch.__file__), "utils", "_contextlib.py"), _WRAPPERS)

    def is_by_program(frame):
        """Not by the engine itself, as in each step of some optimisers."""
        for _ in range(_FRAMES):
            path = frame.f_code.co_filename
            if not path.startswith(through):
                return probe.is_user_file(path)
            frame = frame.f_back
            if frame is None:
                break
        return False

    def switched_off(_result, args):
        own.gradients_off(args[0])
        if growing is not None and not growing.is_on and is_by_program(_getframe(1)):
            growing.gradients_off()

    off = probe.guard(switched_off)
    on = probe.guard(lambda _result, args: own.gradients_on(args[0], is_by_program))
    for name in _SWITCHES:
        switch = getattr(grad_mode, name, None)
        if switch is not None:
            probe.replace(switch, "__enter__", lambda f: probe.wrappers.after(f, off))
            probe.replace(switch, "__exit__", lambda f: probe.wrappers.after(f, on))


def watch_keras(probe, torch, layer):
    """Listen to calls of Keras' layers: no `eval()` says of its models that they are not trained."""
    own, is_grad_enabled = probe.own_loops, getattr(torch, "is_grad_enabled", None)
    if is_grad_enabled is None:
        return

    def called(_args, keywords):
        if own.is_silent():
            return
        if keywords.get("training") is False:
            own.evaluating()
        elif is_grad_enabled():
            own.training()
        else:
            own.asks_only()

    hook = probe.guard(called, goes_on=True)
    asked = Asked(lambda: not is_grad_enabled())
    for owner in each_definer([layer], "__call__"):
        probe.replace(owner, "__call__", lambda f: probe.wrappers.with_arguments(f, hook), again=True)
        probe.growing.watch(owner, "__call__", asked)
