"""The scripts, framework by framework, and the environments that they run in."""

from __future__ import annotations

from tests.public.case import Case
from tests.public.environments import Environment
from tests.public.tables import chainer, gluon, jax, keras, lasagne, lightning, theano, torch

ENVIRONMENTS: dict[str, Environment] = {
    "chainer": Environment("native-chainer", ("numpy==1.23.5", "matplotlib==3.8.4")),
    "jax": Environment("native-jax", jax.PACKAGES),
    "lasagne": Environment("native-lasagne"),
    "mxnet": Environment("native-gluon"),
    "tensorflow": Environment("tensorflow", ("matplotlib",)),
    "theano": Environment("native-theano", ("six",)),
    "torch": Environment("native-torch", torch.PACKAGES),
}

CASES: tuple[Case, ...] = (
    *torch.CASES,
    *lightning.CASES,
    *keras.CASES,
    *jax.CASES,
    *chainer.CASES,
    *gluon.CASES,
    *lasagne.CASES,
    *theano.CASES,
)
