# SPDX-License-Identifier: MIT
"""Helpers of reports: GPU platforms, nodes of ranks, files of tables."""
import json
import re
from collections.abc import Mapping
from pathlib import Path

from .. import _core


def add_gpu_arch_cli_args(parser):
    """Adds ``--gpu_arch_json_path`` and ``--gpu_arch_platform``, of which one may be given, to a command line."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--gpu_arch_json_path", metavar="FILE", help="add rooflines of the GPU that this file describes")
    group.add_argument("--gpu_arch_platform", metavar="NAME",
                       help=f"add rooflines of this GPU: {', '.join(_core.platforms())}")


def resolve_gpu_arch(*, gpu_arch_json_path=None, gpu_arch_platform=None, gpu_arch=None):
    """A GPU platform as a dict, from a JSON file, by name, or as given; None when nothing is given.

    ValueError when more than one is given or the file is no JSON object, KeyError for an unknown name."""
    if sum(given is not None for given in (gpu_arch_json_path, gpu_arch_platform, gpu_arch)) > 1:
        raise ValueError("at most one of gpu_arch_json_path, gpu_arch_platform and gpu_arch may be given")
    if gpu_arch_json_path is not None:
        gpu_arch = _read_arch(gpu_arch_json_path)
    if gpu_arch_platform is not None:
        return _core.platform(gpu_arch_platform)
    if gpu_arch is not None and not isinstance(gpu_arch, Mapping):
        raise ValueError(f"a GPU platform is a mapping, not {type(gpu_arch).__name__}")
    return gpu_arch


def _read_arch(path):
    with open(path, encoding="utf-8") as file:
        try:
            found = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: this is not JSON; a JSON object that describes a GPU is needed") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path}: a JSON object that describes a GPU is needed, not a {type(found).__name__}")
    return found


def detect_gpus_per_node(trace_filepath):
    """Number of GPUs that a trace knows of (``deviceProperties``), None when it does not say or cannot be read."""
    try:
        devices = _core.Trace.open(trace_filepath, keep_raw=False).metadata().get("deviceProperties")
    except (OSError, ValueError):
        return None
    return len(devices) if isinstance(devices, list) and devices else None


def _ranks(value):
    if isinstance(value, str):
        return [int(number) for number in re.findall(r"\d+", value)]
    try:
        return [int(number) for number in value]
    except (TypeError, ValueError):
        return []


def add_node_span_columns(df, gpus_per_node, world_size=None):
    """A copy of a table of collectives that says where they happen.

    ``node_id`` (with a column ``rank``) is the node of the rank, empty for ranks from ``world_size`` on; ``node_span``
    (with a column ``Process Group Ranks``, a list or its text) is ``intra_node``, ``inter_node`` or ``unknown``."""
    if not isinstance(gpus_per_node, int) or gpus_per_node <= 0:
        raise ValueError(f"gpus_per_node must be a positive integer, not {gpus_per_node!r}")
    made = df.copy()
    if "rank" in made:
        nodes = made["rank"] // gpus_per_node
        made["node_id"] = nodes if world_size is None else nodes.where(made["rank"] < world_size)
    if "Process Group Ranks" in made:
        spans = []
        for value in made["Process Group Ranks"]:
            nodes = {rank // gpus_per_node for rank in _ranks(value)}
            spans.append("unknown" if not nodes else "intra_node" if len(nodes) == 1 else "inter_node")
        made["node_span"] = spans
    return made


def export_data_df(data_df, output_folder_path, output_filename, output_table_format=(".xlsx", ".csv"),
                   suffix="_summary_statistics", verbose=0):
    """Writes a table, rounded to two decimals, to ``<output_filename><suffix>`` with each of the endings."""
    if verbose:
        print(f"Exporting data to {output_folder_path}")
    rounded = data_df.round(2)
    for ending in output_table_format:
        path = Path(output_folder_path) / f"{output_filename}{suffix}{ending}"
        if ending == ".csv":
            rounded.to_csv(path, index=False)
        elif ending == ".xlsx":
            rounded.to_excel(path, index=False)
        else:
            raise ValueError(f"tables are written as .xlsx or .csv, not {ending!r}")


def request_install(package_name):
    """Tells that a package is needed; nothing is installed behind anybody's back."""
    raise ImportError(f"this needs the Python package '{package_name}': pip install {package_name}")
