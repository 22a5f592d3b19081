# SPDX-License-Identifier: MIT
"""Asks the library's models about single events."""
import json
from functools import lru_cache

from .. import _core
from .._core import Event


class Parameters(dict):
    """Parameters of an operation as the library reads them, and all that it says of the operation (``answer``)."""

    __slots__ = ("answer",)

    def __init__(self, answer):
        super().__init__(answer["params"])
        self.answer = answer

    def __reduce__(self):
        return Parameters, (self.answer,)


def kernel_names(event):
    """Names of the GPU kernels of an event: its key ``kernel_names``, those in ``kernel_details``, or, for an event of
    a tree, those below it."""
    names = event.get("kernel_names")
    if names:
        return tuple(str(name) for name in names)
    details = event.get("kernel_details")
    if details:
        return tuple(str(kernel["name"]) for kernel in details)
    if isinstance(event, Event):
        tree = event._tree
        return tuple(tree.event(uid)["name"] for uid in tree.gpu_events(event) if tree.event(uid)["cat"] == "kernel")
    return ()


@lru_cache(maxsize=8192)
def _ask(operation, args, forward, kernels, annotation):
    return _core.model_evaluate(operation, args, forward, kernels, annotation)


def arguments(event):
    """The ``args`` of an event as JSON text; None without any."""
    args = event.get("args")
    return None if args is None else json.dumps(dict(args), default=str)


def parameters(operation, event, forward=None):
    """What the library's model of an operation reads from an event, as :class:`Parameters`.

    NotImplementedError when the model does not cover the event, ValueError when the event makes no sense to it.
    """
    annotation = event.get("annotation")
    answer = _ask(operation, arguments(event), forward, kernel_names(event),
                  annotation if isinstance(annotation, str) else None)
    if answer["status"] == "not modelled":
        raise NotImplementedError(f"the model of '{operation}' does not cover these arguments")
    if answer["status"] == "failed":
        raise ValueError(f"{operation}: {answer['why']}")
    return Parameters(answer)


def size(bytes_per_element):
    """Bytes per element as a value of a dtype parameter."""
    whole = int(bytes_per_element)
    return whole if whole == bytes_per_element else repr(float(bytes_per_element))


def estimate(family, which, **parameters):
    """FLOPs (``"flops"``) or bytes (``"bytes"``) of a family of operations from its parameters."""
    return _core.estimate(family, **parameters)[which]
