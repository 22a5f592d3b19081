# SPDX-License-Identifier: MIT
"""What models of all families share."""
from typing import TYPE_CHECKING, Any

from .._evaluate import parameters, size
from ..utils import name2bpe, torch_dtype_map
from .registry import operations_of


def _is_ours(cls, name):
    """Whether a method of a class is that of this package, not of a subclass."""
    owner = next(base for base in cls.__mro__ if name in vars(base))
    return owner.__module__.startswith("TraceLens.PerfModel")


class Model:
    """What all models share."""

    #: Category of the operation, and of its backward pass.
    category = None
    bwd_category = None
    #: An operation whose arguments the library reads for this class.
    operation = None
    #: The unit that computes.
    _unit = "vector"
    #: The parameter with the dtypes.
    _dtypes = None

    def __init__(self, event, arch=None, python_path=None, **kwargs):
        self.event = event
        self.arch = arch
        self.python_path = python_path
        self.param_details = self.get_param_details(event)
        self._told = None
        self._set_up()
        self._answer = getattr(self.param_details, "answer", None)
        if self._answer is not None and dict(self.param_details) != self._answer["params"]:
            self._answer = None  # a subclass changed what the library read
        self._told = self._state()

    @classmethod
    def get_param_details(cls, event):
        """Parameters of the operation as a dict, in the order of their columns."""
        operation = cls._operation_of(event)
        if operation is None:
            raise NotImplementedError(f"{cls.__name__} does not say how to read events: override get_param_details")
        return parameters(operation, event)

    if TYPE_CHECKING:  # for subclasses it is a static function of the event

        @staticmethod
        def get_param_details(event: Any) -> Any: ...

    @classmethod
    def _operation_of(cls, event):
        name = event.get("name")
        return name if name in cls.operations() else cls.operation

    @classmethod
    def operations(cls):
        """Operations that the library reads for this class."""
        return operations_of(cls.operation)

    def _set_up(self):
        """Parameters as attributes."""
        for name, value in self.param_details.items():
            if name.isidentifier() and not hasattr(type(self), name):
                setattr(self, name, value)

    def _state(self):
        """What the answer of the library holds for: as long as it is unchanged."""
        attributes = vars(self)
        return [(name, value, attributes.get(name)) for name, value in self.param_details.items()]

    def _cost(self, which, *functions):
        """The library's answer for the event; for parameters that a subclass read or changed the formula itself."""
        if self._answer is not None and self._state() == self._told and all(
                _is_ours(type(self), name) for name in functions):
            value = self._answer[which]
            if value == "not modelled":
                raise NotImplementedError(f"{which} of {type(self).__name__} is not modelled")
            if value == "failed":
                raise ValueError(f"{which} of {type(self).__name__} cannot be told for these arguments")
            return value
        return getattr(self, "_" + which)()

    def _flops(self):
        raise NotImplementedError(f"{type(self).__name__} does not tell its FLOPs")

    def _bytes(self):
        raise NotImplementedError(f"{type(self).__name__} does not tell its bytes")

    def _flops_bwd(self):
        raise NotImplementedError(f"the backward pass of {type(self).__name__} is not modelled")

    def _bytes_bwd(self):
        raise NotImplementedError(f"the backward pass of {type(self).__name__} is not modelled")

    def flops(self):
        """Floating point operations."""
        return self._cost("flops")

    def bytes(self):
        """Bytes that are read and written at least; None when a dtype is unknown."""
        return self._cost("bytes")

    def get_maf_type(self):
        """``"matrix"`` or ``"vector"``, the unit that computes; None when there is none."""
        if self._answer is not None and self._state() == self._told:
            return self._answer["unit"]
        return self._unit

    def get_compute_precision(self):
        """Precision of the computation (``"bf16"``), None when unknown."""
        if self._answer is not None and self._state() == self._told:
            return self._answer["precision"]
        dtype = self._dtype()
        return torch_dtype_map(dtype) if isinstance(dtype, str) else None

    def _dtype(self, index=0):
        """A dtype among the parameters, None when there is none."""
        dtypes = self.param_details.get(self._dtypes)
        if isinstance(dtypes, (tuple, list)):
            return dtypes[index] if index < len(dtypes) else None
        return dtypes if index == 0 else None

    def _bpe(self, index=0):
        return name2bpe(self._dtype(index))

    def _value(self, name, default=None):
        """A parameter: as attribute, which scripts may have changed, else as it was read."""
        return vars(self).get(name, self.param_details.get(name, default))


class NoBackward:
    """Makes models whose backward pass has no methods of its own."""

    def flops_bwd(self):
        """FLOPs of the backward pass."""
        return self._cost("flops_bwd")

    def bytes_bwd(self, bytes_per_element=None):
        """Bytes of the backward pass."""
        return self._cost("bytes_bwd")


class Sized(Model):
    """Models whose bytes count the first dtype of the event."""

    def _dtype(self, index=0):
        types = (self.event.get("args") or {}).get("Input type") or ()
        return types[index] if index < len(types) else None

    def _element(self):
        return size(self._bpe() or 2)
