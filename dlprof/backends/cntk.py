"""Keras 2.3 on CNTK, whose last wheels are for Python 3.6."""

from dlprof.backends.base import COMPAT, LOCKS, BackendSpec

SPEC = BackendSpec(
    name="cntk",
    title="Keras 2.3 on CNTK 2.7 (CPU; wants a C compiler)",
    lock=LOCKS / "cntk.txt",
    python=">=3.6,<3.7",
    keras_backend="cntk",
    engine="cntk",
    finish=COMPAT / "cntk_mpi.py",
    how_to_get_python="pyenv install 3.6.15 (or conda create -p DIR python=3.6, and DLPROF_PYTHONS=DIR/bin/python)",
)
