# SPDX-License-Identifier: MIT
"""Operation models in Python: which ones the library asks, and how.

The library has its own models. `op_to_perf_model_class_map` names a class for each operation; as long as an entry is
the one that TraceLens put there, the library answers itself. An entry of the user's is made with the event, asked for
its numbers and its answer used in every table.
"""
from . import _core


class NativeModel:
    """Stands for a model of the library that has no class in Python."""

    category = None
    bwd_category = None
    sheet_category = None

    def __init__(self, event, arch=None, python_path=None, **kwargs):
        raise NotImplementedError("the model of this operation lives in the library: ask compute_perf_metrics")


_native = {}


def native_models():
    """Operation -> class, for the models of the library. The dict is a new one; its classes are always the same."""
    if not _native:
        _native.update(_classes())
    return dict(_native)


def _classes():
    """The classes of TraceLens.PerfModel where they are, else stand-ins."""
    try:
        from .PerfModel.torch_op_mapping import op_to_perf_model_class_map
    except ImportError:
        op_to_perf_model_class_map = {}
    classes, made = {}, {}
    for name, category, backward, family in _core.builtin_models():
        key = (category, backward, family)
        if key not in made:
            made[key] = type("NativeModel", (NativeModel,), {
                "category": category, "bwd_category": backward, "sheet_category": family})
        classes[name] = made[key]
    classes.update(op_to_perf_model_class_map)
    return classes


def note_native(mapping):
    """Declares entries of a mapping operation -> class as models of the library. For TraceLens.PerfModel."""
    _native.clear()
    _native.update(_classes())
    _native.update(mapping)


def users_models(mapping):
    """Entries of a mapping that the user put there, as a dict."""
    native = _native or native_models()
    return {name: cls for name, cls in mapping.items() if native.get(name) is not cls}


# ---- asking ----


def _made(cls, event, options):
    """An instance: with what analysis passes, or with the event alone where the class takes no more."""
    try:
        return cls(event, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        return cls(event)


def _cost(model, name):
    function = getattr(model, name, None)
    if function is None:
        return None
    try:
        return function()
    except NotImplementedError:
        return None


def _parameters(model, cls, event):
    details = getattr(model, "param_details", None)
    if details is None and hasattr(cls, "get_param_details"):
        details = cls.get_param_details(event)
    return dict(details or {})


def _text(model, name):
    function = getattr(model, name, None)
    if function is None:
        return None
    try:
        value = function()
    except NotImplementedError:
        return None
    return None if value is None else str(value)


def asker(cls, options, failures):
    """A function of an event for the library: asks the class, and keeps what failed in ``failures``."""

    def ask(event):
        try:
            model = _made(cls, event, options)
            flops = model.flops()
            moved = _cost(model, "bytes")
            backward = (_cost(model, "flops_bwd"), _cost(model, "bytes_bwd"))
            return (flops, moved, *backward, _parameters(model, cls, event), _text(model, "get_maf_type"),
                    _text(model, "get_compute_precision"))
        except NotImplementedError:
            return None
        except Exception as error:  # a row without metrics, as for models of the library
            failures.append((event["UID"], error))
            return f"{type(error).__name__}: {error}"

    return ask


def _attribute(cls, *names):
    for name in names:
        value = getattr(cls, name, None)
        if value is not None:
            return str(value)
    return None


def registrations(mapping, options, failures):
    """What _core.Analyzer.set_models takes, for the user's entries of a mapping."""
    return [(name, _attribute(cls, "category"), _attribute(cls, "bwd_category"),
             _attribute(cls, "sheet_category"), asker(cls, options, failures))
            for name, cls in users_models(mapping).items()]
