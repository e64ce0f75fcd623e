"""Models and methods of Keras that a script gives to tf.function as they are."""

import keras
import numpy
import tensorflow as tf


class Gate(keras.layers.Layer):
    def call(self, x):
        return x * 2.0


rows = numpy.arange(12, dtype="float32").reshape(4, 3)
model = keras.Sequential([keras.Input((3,)), Gate(), keras.layers.Dense(2, kernel_initializer="ones")])
optimizer = keras.optimizers.SGD(0.5)
optimizer.build(model.trainable_variables)
for function in (model, model.__call__, model.call, keras.layers.Dense(1, kernel_initializer="ones")):
    print(tf.function(function)(rows).numpy().tolist())
tf.function(optimizer.apply)([tf.ones_like(one) for one in model.trainable_variables])
print([one.numpy().tolist() for one in model.trainable_variables], int(optimizer.iterations.numpy()))
print(tf.autograph.to_code(Gate.call))
