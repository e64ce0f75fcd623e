"""Lets Keras 2.2 and 2.3, MXNet 1.9 and Theano 1.0 run on Pythons and NumPys that are newer than they are.

Copied into their managed environments, where a .pth file imports it at every interpreter start,
so that plain runs and spawned workers have it too. Names that were removed are put back as they were:

- Python 3.10 removed the aliases of `collections.abc` in `collections`; 3.11 `inspect.getargspec`.
- NumPy 1.24 removed `numpy.bool` and its kin (deprecated, with a warning, since 1.20).
- h5py 3 returns text where Keras 2 expects bytes that it can `decode`.
- Theano's C code for loops was generated for Pythons before 3.11; without it, Theano runs loops in Python.
- Theano 1.0 dropped `theano.tensor.signal.downsample`, which Lasagne 0.1 imports.
- SciPy 1.8 warns at each use of `scipy.sparse.csr`, which MXNet uses at each conversion of an array.

It imports nothing itself, because it runs at every start of Python: each module is mended right after
the program has imported it, or at once where that has happened already.
"""

import sys


def _mend_collections(collections):
    # `os` has loaded this one at start; `collections.abc` is another name for it.
    abc = sys.modules["_collections_abc"]
    for name in abc.__all__:
        collections.__dict__.setdefault(name, getattr(abc, name))


def _mend_inspect(inspect):
    if hasattr(inspect, "getargspec"):
        return
    from collections import namedtuple  # noqa: PLC0415  (not at start: see above)

    arg_spec = namedtuple("ArgSpec", "args varargs keywords defaults")

    def getargspec(function):
        spec = inspect.getfullargspec(function)
        return arg_spec(spec.args, spec.varargs, spec.varkw, spec.defaults)

    inspect.getargspec = getargspec


def _mend_numpy(numpy):
    for kind in (bool, int, float, complex, object, str):
        numpy.__dict__.setdefault(kind.__name__, kind)


def _mend_h5py(attributes):
    original = attributes.AttributeManager.__getitem__

    def getitem(self, name):
        return _as_bytes(original(self, name))

    attributes.AttributeManager.__getitem__ = getitem


def _as_bytes(value):
    """`value` as h5py 2 gave it: arrays of bytes; single texts get a `decode`."""
    if isinstance(value, str):
        return _Text(value)
    if getattr(value, "dtype", None) == object and value.size and isinstance(value.flat[0], str):
        encoded = [item.encode("utf-8") for item in value.flat]
        return value.astype("S%d" % max([1] + [len(item) for item in encoded]))
    return value


class _Text(str):
    """Text that can be decoded once more, as bytes can."""

    def decode(self, *_args):
        return str(self)


def _mend_scipy_sparse(sparse):
    """Put the classes where MXNet looks for them, so that SciPy's own stand-in need not warn."""
    for name in ("csr", "csc"):
        module = getattr(sparse, name, None)
        for owned in ("csr_matrix", "csc_matrix"):
            if module is not None and hasattr(sparse, owned):
                module.__dict__.setdefault(owned, getattr(sparse, owned))


def _mend_theano_signal(signal):
    """Lasagne 0.1 imports a module that Theano 1.0 dropped; what it had is in `pool`, under newer names."""
    name = signal.__name__ + ".downsample"
    if name in sys.modules:
        return
    downsample = type(sys)(name)

    def max_pool_2d(input, ds, ignore_border=True, st=None, padding=(0, 0), mode="max"):  # noqa: A002
        from theano.tensor.signal.pool import pool_2d  # noqa: PLC0415

        return pool_2d(input, ws=ds, ignore_border=ignore_border, stride=st, pad=padding, mode=mode)

    downsample.max_pool_2d = max_pool_2d
    signal.downsample = sys.modules[name] = downsample


_NOT_FOR_THIS_PYTHON = ("theano.scan_module.scan_perform_ext",) if sys.version_info >= (3, 11) else ()

_MENDERS = {
    "collections": _mend_collections,
    "inspect": _mend_inspect,
    "numpy": _mend_numpy,
    "h5py._hl.attrs": _mend_h5py,
    "scipy.sparse": _mend_scipy_sparse,
    "theano.tensor.signal": _mend_theano_signal,
}


def _mend(name, module):
    try:
        _MENDERS[name](module)
    except Exception as error:
        sys.stderr.write("dlprof: cannot adapt %s to Keras 2: %s\n" % (name, error))


class _Mender:
    """Has the modules of `_MENDERS` found as they would be without it, and mended once they are loaded."""

    def find_spec(self, name, path=None, target=None):
        """The spec of a module to mend, with a loader that mends; None for all others."""
        if name in _NOT_FOR_THIS_PYTHON:
            raise ImportError("%s does not compile on this Python" % name)
        if name not in _MENDERS:
            return None
        spec = self._found_by_others(name, path, target)
        load = getattr(spec and spec.loader, "exec_module", None)
        if load is None:
            return None

        def exec_module(module):
            load(module)
            _mend(name, module)

        spec.loader.exec_module = exec_module
        return spec

    def _found_by_others(self, name, path, target):
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None


def _install():
    for name in _MENDERS:
        if name in sys.modules:
            _mend(name, sys.modules[name])
    sys.meta_path.insert(0, _Mender())


_install()
