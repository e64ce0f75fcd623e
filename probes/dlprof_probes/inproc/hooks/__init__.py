"""Where the probe attaches to Keras, the engines and `multiprocessing`, as soon as they are imported.

Keras' hooks are beside this file; those of an engine are in its own file below `inproc/engines`.
"""

from dlprof_probes.inproc.engines.base import Attachment
from dlprof_probes.inproc.hooks import keras_classic, keras_modern, workers


def attach_new(probe, modules, attached):
    """Attach to whatever of Keras and the engines has been imported since the last call: engines first.

    Args:
        probe: `Probe`.
        modules: `sys.modules`.
        attached: Set of those that were dealt with; added to.
    """
    for waiting in probe.engines.attachments:
        if waiting not in attached and waiting.module in modules and waiting.is_ready(modules):
            attached.add(waiting)
            waiting.attach(modules[waiting.module])
    for waiting in _BESIDE_ENGINES:
        if waiting not in attached and waiting.module in modules and waiting.is_ready(modules):
            attached.add(waiting)
            waiting.attach(probe, modules[waiting.module])


def _is_ready(modules):
    return keras_classic.ready(modules) or keras_modern.ready(modules)


def _attach(probe, keras):
    kind = keras_classic if keras_classic.ready({"keras": keras}) else keras_modern
    kind.attach(probe, keras)


_BESIDE_ENGINES = (
    Attachment("keras", _is_ready, _attach),
    Attachment("tf_keras", keras_modern.ready_tf_keras, keras_modern.attach),
    Attachment(workers.MODULE, workers.ready, workers.attach),
    Attachment(workers.SUBPROCESS, workers.subprocess_ready, workers.attach_subprocess),
)
