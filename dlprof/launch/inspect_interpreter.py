"""Run by the interpreter that is asked about, not imported: prints facts about it as JSON (Python 3.6)."""

import importlib.util
import json
import os
import platform
import sys
import sysconfig

# The folder of this file must not answer for what is installed.
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != os.path.dirname(os.path.abspath(__file__))]

NAMES = {
    "keras": ("keras", "keras-mxnet", "Keras"), "tf_keras": ("tf-keras",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu"), "jax": ("jax",), "torch": ("torch",),
    "mxnet": ("mxnet", "mxnet-mkl"), "theano": ("Theano", "theano"), "cntk": ("cntk",), "openvino": ("openvino",),
    "numpy": ("numpy",), "line_profiler": ("line_profiler", "line-profiler"),
}  # fmt: skip


def found(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def version(distributions):
    try:
        from importlib import metadata
    except ImportError:
        return None
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pass
    return None


packages = dict((name, version(distributions)) for name, distributions in NAMES.items() if found(name))
facts = {
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "platform": sysconfig.get_platform(),
    "machine": platform.machine(),
    "prefix": sys.prefix,
    "packages": packages,
}
print("DLPROF" + json.dumps(facts))
