"""Trains a scenario's model for some steps with floats of a type, then says what the engine itself counts of a step.

python truth.py mlp float32 16       model, type of floats, batch; prints one line of JSON
"""

import importlib
import json
import os
import sys

import numpy as np

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scenarios")
sys.path.insert(0, SCENARIOS)

import keras  # noqa: E402
import workload  # noqa: E402

SIZES = {
    "mlp": [], "cnn": [], "lstm": ["--tokens", "20", "--words", "500"], "transformer": ["--tokens", "32", "--words", "500"],
    "resnet50": ["--image-size", "64"],
}  # fmt: skip
STEPS = 16


def main():
    """Train, count, print."""
    name, kind, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
    model, rows, labels = made(name, kind, batch)
    model.fit(rows, labels, batch_size=batch, epochs=2, shuffle=False, verbose=0)
    told = {
        "parameters": int(model.count_params()),
        "trained": sum(int(np.prod(shape(one))) for one in model.trainable_weights),
    }
    counter = COUNTERS[keras.backend.backend()]
    told.update(counter(model, rows[:batch], labels[:batch]))
    print(json.dumps(told))


def shape(weight):
    """Of Keras 2 and 3."""
    return tuple(int(length) for length in getattr(weight, "_keras_shape", weight.shape))


def made(name, kind, batch):
    """A compiled model with data, as the scenario makes them."""
    keras.backend.set_floatx(kind)
    if hasattr(keras, "config"):
        keras.config.set_dtype_policy(kind)
    caught = []
    module = importlib.import_module(name)
    workload.run = lambda model, rows, labels, args: caught.extend((model, rows, labels))
    if name == "mlp":
        module.train = lambda model, rows, labels, epochs, size: caught.extend((model, rows, labels)) or 0.0
    sys.argv = [name, "--samples", str(STEPS * batch), "--batch-size", str(batch), "--no-dropout", *SIZES[name]]
    module.main()
    model, rows, labels = caught[:3]
    rows, labels = (one.astype(kind) if one.dtype.kind == "f" else one for one in (rows, labels))
    return model, rows, labels


def of_torch(model, rows, labels):
    """`flop_counter` of a forward and a backward pass; distinct storages that hooks of saved tensors are given."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    own = {one.value.untyped_storage().data_ptr() for one in model.weights}
    saved = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes()
            kept.append(tensor.detach())  # so that no other one takes its place
        return tensor.detach()

    kept = []
    x, y = keras.ops.convert_to_tensor(rows), keras.ops.convert_to_tensor(labels)
    with FlopCounterMode(display=False) as counter, torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one):
        loss = model.compute_loss(x, y, model(x, training=True), None, training=True)
        held = sum(saved.values())
        loss.backward()
    return {"flops": counter.get_total_flops(), "kept": held}


def of_jax(model, rows, labels):
    """XLA's cost analysis and memory analysis of the gradients; what differentiation saves, by JAX's own account."""
    import jax
    from jax._src.ad_checkpoint import saved_residuals

    fixed = [one.value for one in model.non_trainable_variables]

    def loss(weights, x, y):
        told, _ = model.stateless_call(weights, fixed, x, training=True)
        return model.compute_loss(x, y, told)

    weights = [one.value for one in model.trainable_variables]
    compiled = jax.jit(jax.grad(loss)).lower(weights, rows, labels).compile()
    cost = compiled.cost_analysis()
    cost = cost[0] if isinstance(cost, list) else cost
    residuals = [one for one, what in saved_residuals(loss, weights, rows, labels) if "argument" not in what]
    kept = sum(int(np.prod(one.shape)) * one.dtype.itemsize for one in residuals)
    return {"flops": cost["flops"], "temporary": compiled.memory_analysis().temp_size_in_bytes, "kept": kept}


def of_tensorflow(model, rows, labels):
    """The profiler's count of the graph of the gradients; values of the forward pass that gradients of the graph take."""
    import tensorflow as tf

    @tf.function
    def gradients(x, y):
        with tf.GradientTape() as tape:
            loss = model.compute_loss(x, y, model(x, training=True), None, training=True)
        return tape.gradient(loss, model.trainable_variables)

    concrete = gradients.get_concrete_function(tf.constant(rows), tf.constant(labels))
    graph = concrete.graph
    options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
    options["output"] = "none"
    counted = tf.compat.v1.profiler.profile(graph, options=options)
    kept = {}
    for operation in graph.get_operations():
        for tensor in operation.inputs if "gradient_tape" in operation.name else ():
            of_forward = "gradient_tape" not in tensor.op.name and tensor.op.type not in FREE
            if of_forward and tensor.dtype.is_floating and tensor.shape.is_fully_defined():
                kept[source(tensor).name] = tensor.shape.num_elements() * tensor.dtype.size
    return {"flops": counted.total_float_ops, "kept": sum(kept.values())}


FREE = ("Placeholder", "Const", "ReadVariableOp", "VariableV2", "Cast")


def source(tensor):
    """What a tensor is another name of."""
    while tensor.op.type in ("Identity", "Reshape", "ReadVariableOp", "Squeeze", "ExpandDims") and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def of_mxnet(model, rows, labels):
    """The plan of the executor that was bound for training."""
    import re

    module = model._module
    module = getattr(module, "_buckets", {}).get("train", None) or getattr(module, "_curr_module", None) or module
    planned = [
        int(re.search(r"Total (\d+) MB allocated", one.debug_str()).group(1)) for one in module._exec_group.execs
    ]
    return {"temporary": sum(planned) << 20}


COUNTERS = {"torch": of_torch, "jax": of_jax, "tensorflow": of_tensorflow, "mxnet": of_mxnet}

if __name__ == "__main__":
    main()
