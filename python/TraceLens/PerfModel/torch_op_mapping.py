# SPDX-License-Identifier: MIT
"""Which operation has which model, category and sheet.

``op_to_perf_model_class_map`` is shared by all analysers: an operation of one's own is added with
``op_to_perf_model_class_map["my::op"] = MyModel``, and counts from the next analysis on.
"""
import re

from .. import _core, _models
from . import perf_model
from .extensions import get_pseudo_op_category_only_mappings, get_pseudo_op_mappings  # noqa: F401
from .families.registry import OP_TO_CLASS, sheet_of

#: Operation -> model, in the order of the sheets.
op_to_perf_model_class_map = {name: OP_TO_CLASS[name] for name, *_ in _core.builtin_models() if name in OP_TO_CLASS}

#: Operations that have a category but no model.
CATEGORY_ONLY_OP_MAPPING = get_pseudo_op_category_only_mappings()

#: Beginnings of names that decide the category.
OP_CATEGORY_PATTERNS = [(re.compile(f"^{begin}"), begin) for begin in ("triton", "record_param_comms")]


def _operations(*classes):
    return [name for name, cls in op_to_perf_model_class_map.items() if cls in classes]


unary_elemwise_ops = _operations(perf_model.aten_unary_elementwise)
binary_elemwise_ops = _operations(perf_model.aten_binary_elementwise)
reduce_ops = _operations(perf_model.aten_reduce)
replication_pad_ops = _operations(perf_model.aten_replication_pad)
upsample_ops = _operations(perf_model.aten_upsample_nearest)
norm_ops = {name: cls for name, cls in op_to_perf_model_class_map.items() if issubclass(cls, perf_model.Normalization)}

_perf_model_matchers = []


def register_perf_model_matcher(matcher):
    """Adds a function from the name of an operation to a class, or None, for names that are not in the map."""
    _perf_model_matchers.append(matcher)


def resolve_perf_model_class(name):
    """The model of an operation: that of the map, else the first one that a matcher knows; None when there is none."""
    found = op_to_perf_model_class_map.get(name)
    for matcher in () if found else _perf_model_matchers:
        found = found or matcher(name)
    return found


def get_perf_model_category(perf_model_class, bwd=False):
    """Category of a model, or that of its backward pass; None when it has none."""
    return getattr(perf_model_class, "bwd_category" if bwd else "category", None)


def sheet_category_from_final_category(category):
    """Family of a category: ``"CONV_fwd"`` and ``"CONV_bwd"`` belong to ``"CONV"``."""
    return sheet_of(category)


def get_perf_model_sheet_category(perf_model_class):
    """Family of a model, which names its sheet. ValueError for a model without a category."""
    sheet = getattr(perf_model_class, "sheet_category", None)
    category = get_perf_model_category(perf_model_class)
    if sheet is None and category is None:
        raise ValueError(f"the model {perf_model_class.__name__} has neither category nor sheet_category")
    return sheet if sheet is not None else sheet_of(category)


def build_sheet_category_to_op_names(op_to_perf_model_class_map):
    """Family -> names of its operations, in the order of the sheets, of a map operation -> model."""
    families = {}
    for name, cls in op_to_perf_model_class_map.items():
        families.setdefault(get_perf_model_sheet_category(cls), []).append(name)
    return families


def build_op_category_registry(op_to_perf_model_class_map, category_only_ops=None):
    """Operation -> category, of a map operation -> model and of operations without one."""
    registry = {}
    register_perf_model_categories(op_to_perf_model_class_map, registry)
    registry.update(category_only_ops or {})
    return registry


def register_perf_model_categories(perf_model_extension, registry):
    """Adds the categories of models to a registry operation -> category. ValueError for a model without one."""
    for name, cls in perf_model_extension.items():
        category = get_perf_model_category(cls)
        if category is None:
            raise ValueError(f"the model {cls.__name__} of '{name}' has no category")
        registry[name] = category


def register_op_categories(op_category_extension, registry):
    """Adds categories of operations to a registry operation -> category."""
    registry.update(op_category_extension)


#: Operation -> category.
OP_CATEGORY_REGISTRY = build_op_category_registry(op_to_perf_model_class_map, CATEGORY_ONLY_OP_MAPPING)
_LIBRARY_REGISTRY = dict(OP_CATEGORY_REGISTRY)


def _first_kernel(row):
    details = row.get("kernel_details") if hasattr(row, "get") else None
    if isinstance(details, (list, tuple)) and details:
        return details[0]["name"]
    return None


def categorize_torch_op(row):
    """Category of an operation: of an event or row with ``name``, and ``kernel_details`` when its kernels should decide
    where the name does not."""
    return _categorize_torch_op_from_registry(row, OP_CATEGORY_REGISTRY)


def _categorize_torch_op_from_registry(row, registry, patterns=OP_CATEGORY_PATTERNS):
    name = row["name"]
    if name in registry:
        return registry[name]
    for pattern, category in patterns:
        if pattern.match(name):
            return category
    if name in _LIBRARY_REGISTRY or any(pattern.match(name) for pattern, _ in OP_CATEGORY_PATTERNS):
        name = ""  # its kernels decide, as it was taken out of the registry
    return _core.model_category(name, _first_kernel(row))


_models.note_native(dict(op_to_perf_model_class_map))
