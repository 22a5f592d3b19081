# SPDX-License-Identifier: MIT
"""Extension files in Python: what they may define, and how it is used.

``tree_postprocess_extension(tree)`` edits the tree. ``perf_model_extension`` maps operations to model classes,
``op_category_extension`` operations to categories. ``get_additional_dataframes_extension(tree)`` gives tables by name,
which are added to the report or replace its sheets. A file is run with all rights of the program that reads it.
"""
import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Mapping

import pandas as pd

logger = logging.getLogger("TraceLens.Reporting")


def load(path):
    """The module of an extension file. OSError when it cannot be read; what the file raises is raised."""
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"the extension file {path} does not exist")
    name = "tracelens_extension_" + "".join(c if c.isalnum() else "_" for c in os.path.abspath(path))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ValueError(f"{path}: an extension file is a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes of the file can be pickled
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _mapping(module, symbol):
    value = getattr(module, symbol, None)
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"Expected {symbol} to be a dict, got {type(value)}")
    return value


def _function(module, symbol):
    value = getattr(module, symbol, None)
    if value is not None and not callable(value):
        raise ValueError(f"Expected {symbol} to be a function, got {type(value)}")
    return value


def edit_tree(analyzer, module, path):
    """Calls the tree function of an extension, if it has one."""
    postprocess = _function(module, "tree_postprocess_extension")
    if postprocess is not None:
        logger.info("Applying tree postprocess extension from %s", path)
        postprocess(analyzer.tree)
        analyzer.tree.label_non_gpu_paths()


def apply(analyzer, module, path):
    """Applies tree function, models and categories of an extension to an analyser."""
    models = _mapping(module, "perf_model_extension")
    categories = _mapping(module, "op_category_extension")
    edit_tree(analyzer, module, path)
    if models:
        logger.info("Applying perf model extension from %s", path)
        for name, cls in models.items():
            if not isinstance(name, str) or not isinstance(cls, type):
                raise ValueError(f"Expected perf_model_extension to map names to classes, got {name!r}: {cls!r}")
        # a map of its own, so that other analysers do not see it
        analyzer.op_to_perf_model_class_map = {**analyzer.op_to_perf_model_class_map, **models}
    if categories:
        logger.info("Applying op category extension from %s", path)
        for name, category in categories.items():
            if not isinstance(name, str) or not isinstance(category, str) or not category:
                raise ValueError(f"Expected op_category_extension to map names to categories, got {name!r}: "
                                 f"{category!r}")
        analyzer.op_categories = {**analyzer.op_categories, **categories}
    if hasattr(module, "dict_cat2names_extension"):
        warnings.warn("dict_cat2names_extension is deprecated and ignored: the category of a model says where it "
                      "belongs", DeprecationWarning, stacklevel=3)


def additional_frames(tree, module, path):
    """Tables of an extension, by name."""
    make = _function(module, "get_additional_dataframes_extension")
    if make is None:
        return {}
    logger.info("Getting additional DataFrames from extension: %s", path)
    frames = make(tree)
    if frames is None:
        return {}
    if not isinstance(frames, Mapping):
        raise ValueError(f"Expected get_additional_dataframes_extension to return a dict, got {type(frames)}")
    for name, value in frames.items():
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(f"a sheet cannot be named {name!r}")
        if not isinstance(value, pd.DataFrame):
            raise ValueError(f"Expected sheet '{name}' to be a DataFrame, got {type(value)}")
    logger.info("Added %d additional sheets from extension", len(frames))
    return dict(frames)
