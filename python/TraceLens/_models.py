# SPDX-License-Identifier: MIT
"""Operation models in Python: which ones the library asks, and how.

The library has its own models. `op_to_perf_model_class_map` names a class for each operation; as long as an entry is
the one that TraceLens put there, the library answers itself. An entry of the user's is made with the event, asked for
its numbers and its answer used in every table.
"""
_native = {}


def native_models():
    """Operation -> class: the map of TraceLens.PerfModel.torch_op_mapping, which all analysers share."""
    from .PerfModel.torch_op_mapping import op_to_perf_model_class_map
    return op_to_perf_model_class_map


def models_are_loaded():
    """Whether the map was made: before, nobody can have changed it."""
    return bool(_native)


def note_native(mapping):
    """Declares the entries of a mapping operation -> class to be the library's own models. For TraceLens.PerfModel."""
    _native.update(mapping)


def users_models(mapping):
    """Entries of a mapping that the user put there, as a dict."""
    if mapping and not _native:
        native_models()
    return {name: cls for name, cls in mapping.items() if _native.get(name) is not cls}


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


class Notes(dict):
    """UID -> what a model raised; ``parameters``: UID -> parameters (by column) that the library does not hold as
    they are, such as lists: it has tuples, or texts of what JSON does not know."""

    def __init__(self):
        super().__init__()
        self.parameters = {}


def _is_held(value):
    if type(value) is tuple:
        return len(value) <= 64 and all(type(item) is int and -2**63 <= item < 2**63 for item in value)
    return value is None or type(value) in (bool, float, str) or type(value) is int and -2**63 <= value < 2**63


def asker(cls, options, failures):
    """A function of an event for the library: asks the class, and writes :class:`Notes` about what it cannot be told."""

    def ask(event):
        uid = event["UID"]
        failures.pop(uid, None)
        failures.parameters.pop(uid, None)
        try:
            model = _made(cls, event, options)
            flops = model.flops()
            moved = _cost(model, "bytes")
            backward = (_cost(model, "flops_bwd"), _cost(model, "bytes_bwd"))
            parameters = _parameters(model, cls, event)
            others = {f"param: {key}": value for key, value in parameters.items() if not _is_held(value)}
            if others:
                failures.parameters[uid] = others
            return (flops, moved, *backward, parameters, _text(model, "get_maf_type"),
                    _text(model, "get_compute_precision"))
        except NotImplementedError:
            return None
        except Exception as error:  # a row without metrics, as for models of the library
            failures[uid] = error
            return f"{type(error).__name__}: {error}"

    return ask


def _attribute(cls, *names):
    for name in names:
        value = getattr(cls, name, None)
        if value is not None:
            return str(value)
    return None


def _sheet(cls):
    """The family of a class: what it says, else its category without the direction."""
    category = _attribute(cls, "category")
    return _attribute(cls, "sheet_category") or (category and category.removesuffix("_fwd").removesuffix("_bwd"))


def registrations(mapping, options, failures):
    """What _core.Analyzer.set_models takes, for the user's entries of a mapping."""
    return [(name, _attribute(cls, "category"), _attribute(cls, "bwd_category"),
             _sheet(cls), asker(cls, options, failures))
            for name, cls in users_models(mapping).items()]
