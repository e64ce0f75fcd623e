"""Where the probe attaches to Keras and to the engines: one file each, loaded when they are imported."""

from dlprof_probes.inproc.hooks import (
    chainer,
    cntk,
    jax,
    keras_classic,
    keras_modern,
    mxnet,
    openvino,
    tensorflow,
    theano,
    torch,
)


def attach_new(probe, modules, attached):
    """Attach to whatever of Keras and the engines has been imported since the last call.

    Args:
        probe: `Probe`.
        modules: `sys.modules`.
        attached: Set of the names already dealt with; added to.
    """
    for name, ready, attach in _HOOKS:
        if name not in attached and name in modules and ready(modules):
            attached.add(name)
            attach(probe, modules[name])


_HOOKS = (
    ("tensorflow", tensorflow.ready, tensorflow.attach),
    ("mxnet", mxnet.ready, mxnet.attach),
    ("theano", theano.ready, theano.attach),
    ("chainer", chainer.ready, chainer.attach),
    ("cntk", cntk.ready, cntk.attach),
    ("openvino", openvino.ready, openvino.attach),
    ("torch", torch.ready, torch.attach),
    (torch.DYNAMO, torch.dynamo_ready, torch.attach_dynamo),
    ("jax", jax.ready, jax.attach),
    ("keras", keras_classic.ready, keras_classic.attach),
    ("keras", keras_modern.ready, keras_modern.attach),
    ("tf_keras", keras_modern.ready_tf_keras, keras_modern.attach),
)
