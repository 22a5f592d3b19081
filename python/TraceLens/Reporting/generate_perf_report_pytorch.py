# SPDX-License-Identifier: MIT
"""The performance report of a PyTorch trace: a table a sheet, as DataFrames, CSV files, a workbook or JSON."""
import argparse
import json
import logging
import os
import sys
import warnings

import pandas as pd

from .. import _core, _models
from .._frame import frame
from ..PerfModel.torch_op_mapping import op_to_perf_model_class_map
from ..Trace2Tree import TraceToTree
from ..TreePerf import TreePerfAnalyzer
from . import _extension, _status
from ._status import CutOffWarning, NothingToAnalyseWarning
from .reporting_utils import add_gpu_arch_cli_args, resolve_gpu_arch

logger = logging.getLogger("TraceLens.Reporting")


class ModelFailedWarning(UserWarning):
    """Operation models could not read the arguments of operations in the trace."""


def generate_perf_report_pytorch(
        profile_json_path, output_xlsx_path=None, output_csvs_dir=None, include_unlinked_kernels=False,
        enable_pseudo_ops=False, micro_idle_thresh_us=None, collective_analysis=True, include_overlap_info=False,
        include_first_occurrence_time=False, kernel_summary=False, short_kernel_study=False,
        short_kernel_threshold_us=10, short_kernel_histogram_bins=100, topk_short_kernels=None, topk_ops=None,
        topk_roofline_ops=None, comparison_json_path=None, extension_file=None, python_path=None,
        gpu_arch_json_path=None, gpu_arch_platform=None, gpu_arch=None, inductor_cache_dir=None,
        group_by_num_kernels=False, enable_origami=False, detect_recompute=False, include_call_stack=False,
        output_json_path=None, clip_stream_overruns=False, strict=False):
    """Makes the report of a trace and returns its tables, sheet name -> DataFrame, in the order of the workbook.

    Parameters
    ----------
    profile_json_path : the trace: JSON, plain or packed with gzip, zstd or zip
    output_xlsx_path, output_csvs_dir, output_json_path : what to write: a workbook, one CSV file per sheet into a
        directory, one JSON file. Without any of them a workbook beside the trace, ``<trace>_perf_report.xlsx``
    include_unlinked_kernels : count GPU events whose launch is not in the trace in the timeline
    enable_pseudo_ops : add operations that serving frameworks do not record
    micro_idle_thresh_us : split idle time into gaps below so many µs and the others
    collective_analysis : add ``coll_analysis``
    include_overlap_info : add the sheets ``..._kl_overlap``: also by kernels that run at the same time
    include_first_occurrence_time : add to ``ops_unique_args`` when each row occurs first (µs)
    kernel_summary, short_kernel_study : add ``kernel_summary``; ``short_kernel_histogram`` and ``short_kernels_summary``
        of kernels shorter than ``short_kernel_threshold_us``, in ``short_kernel_histogram_bins`` bins, the
        ``topk_short_kernels`` heaviest rows (None: all)
    topk_ops, topk_roofline_ops : rows to keep of ``ops_unique_args`` and of sheets of model families (None: all)
    comparison_json_path : another trace to compare with, which gets the same options: speedup, delta and lowest common
        ancestors in ``unified_perf_summary`` (trace1 is the trace of the report, trace2 this one), and the sheets
        ``diff_stats`` and ``comparison_health`` (docs/comparing.md). ValueError when it is cut off or has no GPU work
    extension_file : a Python file (``tree_postprocess_extension``, ``perf_model_extension``, ``op_category_extension``,
        ``get_additional_dataframes_extension``) or a Lua file (docs/extending.md)
    gpu_arch_json_path, gpu_arch_platform, gpu_arch : the GPU of rooflines: a file, a name or a dict; one of them
    inductor_cache_dir : where Inductor keeps the kernels that it compiled
    group_by_num_kernels : separate rows for operations that launch different numbers of kernels
    detect_recompute : tell apart what activation checkpointing computes again (``is_recompute``)
    include_call_stack : say in ``unified_perf_summary`` where operations are called
    python_path, enable_origami : accepted; there is no simulator here
    clip_stream_overruns : end GPU events that overrun the next one on their stream where that one starts
    strict : ValueError for a trace that needs a repair

    Raises OSError (cannot be read or written), ValueError (no trace, options or extension that make no sense).
    """
    _check_rows(topk_ops=(topk_ops, 1), topk_roofline_ops=(topk_roofline_ops, 1),
                topk_short_kernels=(topk_short_kernels, 0))
    if comparison_json_path is not None and not os.fspath(comparison_json_path):
        raise _status.failure("TL_EINVAL", "the name of the trace to compare with is empty")
    _status.check_outputs((output_xlsx_path, output_csvs_dir, output_json_path),
                          [path for path in (profile_json_path, comparison_json_path) if path is not None])
    arch = resolve_gpu_arch(gpu_arch_json_path=gpu_arch_json_path, gpu_arch_platform=gpu_arch_platform,
                            gpu_arch=gpu_arch)
    options = {
        "arch": None if arch is None else json.dumps(dict(arch)),
        "include_unlinked_kernels": include_unlinked_kernels,
        "enable_pseudo_ops": enable_pseudo_ops,
        "micro_idle_thresh_us": micro_idle_thresh_us,
        "disable_coll_analysis": not collective_analysis,
        "include_overlap_info": include_overlap_info,
        "include_first_occurrence_time": include_first_occurrence_time,
        "enable_kernel_summary": kernel_summary,
        "short_kernel_study": short_kernel_study,
        "short_kernel_threshold_us": short_kernel_threshold_us,
        "short_kernel_histogram_bins": short_kernel_histogram_bins,
        "topk_short_kernels": topk_short_kernels,
        "topk_ops": topk_ops,
        "topk_roofline_ops": topk_roofline_ops,
        "comparison_json_path": None if comparison_json_path is None else os.fsdecode(comparison_json_path),
        "python_path": python_path,
        "inductor_cache_dir": None if inductor_cache_dir is None else os.fspath(inductor_cache_dir),
        "group_by_num_kernels": group_by_num_kernels,
        "enable_origami": enable_origami,
        "detect_recompute": detect_recompute,
        "include_call_stack": include_call_stack,
        "clip_stream_overruns": clip_stream_overruns,
        "model": os.environ.get("TL_MODEL") or None,
        "tp": _whole(os.environ.get("TL_TP")),
        "strict": strict,
    }
    path = os.fspath(profile_json_path)
    extension = None if extension_file is None else os.fspath(extension_file)
    lua = extension is not None and extension.endswith(".lua")
    in_python = (extension is not None and not lua) or bool(_models.users_models(op_to_perf_model_class_map))
    if in_python:
        report, own = _with_python(path, extension, options, arch, lua)
    else:
        report, own = _of_file(path, [extension] if lua else [], options), {}
    tables = report.tables()
    if strict:
        _check_strict(path, tables, "trace_health")
        if comparison_json_path is not None:
            _check_strict(options["comparison_json_path"], tables, "comparison_health")
    if not (output_xlsx_path or output_csvs_dir or output_json_path):
        output_xlsx_path = default_workbook(path)
    report.write(output_csvs_dir, output_xlsx_path, output_json_path, path, _command(options, extension))
    frames = {table.name: own[table.name.lower()] if table.name.lower() in own else frame(table)
              for table in tables}
    _say_what_was_written(frames, output_csvs_dir, output_xlsx_path, output_json_path)
    _warn_of_failed_models(path, tables)
    if report.is_truncated:
        warnings.warn(f"{path}: the file is cut off; the report covers what is there", CutOffWarning, stacklevel=2)
    if report.is_empty:
        warnings.warn(f"{path}: no GPU event with a usable time, nothing to analyse (was GPU activity switched on in "
                      "the profiler?)", NothingToAnalyseWarning, stacklevel=2)
    return frames


def _check_strict(path, tables, sheet):
    health = next(table for table in tables if table.name == sheet)
    repairs = [kind for kind, repair in zip(health.cells("kind"), health.cells("repair")) if repair]
    if repairs:
        raise _status.failure("TL_ESTRICT",
                              f"{path}: the trace needs repairs, which strict refuses: {', '.join(repairs)}")


def _check_rows(**limits):
    for name, (given, least) in limits.items():
        if given is not None and given < least:
            raise _status.failure("TL_EINVAL", f"{name}: {given} is too small, the least is {least}")


def _warn_of_failed_models(path, tables):
    health = next((table for table in tables if table.name == "trace_health"), None)
    if health is None or not {"kind", "count", "meaning"} <= set(health.columns):
        return  # an extension put another table in its place
    for kind, count, meaning in zip(*(health.cells(name) for name in ("kind", "count", "meaning"))):
        if kind == "model_failed":
            warnings.warn(f"{path}: {count} x {meaning}", ModelFailedWarning, stacklevel=3)


def _whole(text):
    try:
        return int(text)
    except (TypeError, ValueError):
        return 0


def default_workbook(path):
    """``step7.json.gz`` -> ``step7_perf_report.xlsx``."""
    base = path
    for ending in (".gz", ".zst", ".zip"):
        if base.lower().endswith(ending):
            base = base[: -len(ending)]
            break
    if base.lower().endswith(".json"):
        base = base[: -len(".json")]
    return base + "_perf_report.xlsx"


def _of_file(path, lua_files, options):
    report, notes = _core.report_file(path, options, lua_files)
    for note in notes:
        logger.info("%s", note)
    return report


def _with_python(path, extension, options, arch, lua):
    """(report, tables of the extension by lower-case name), where Python takes part."""
    if lua:
        raise ValueError(f"{extension}: an extension file in Lua does not go with models in Python, which "
                         "op_to_perf_model_class_map holds")
    module = None if extension is None else _extension.load(extension)
    paths = [path] if options["comparison_json_path"] is None else [path, options["comparison_json_path"]]
    trees = [TraceToTree._of_trace(_core.Trace.open(one)) for one in paths]
    # Python frames are in both trees or in none
    frames_too = options["include_call_stack"] or options["detect_recompute"] or (
        options["enable_pseudo_ops"] and any(tree._core.pseudo_need_python() for tree in trees))
    analyzer, *other = [TreePerfAnalyzer(
        tree, enable_pseudo_ops=options["enable_pseudo_ops"], add_python_func=bool(frames_too), arch=arch,
        python_path=options["python_path"], include_unlinked_kernels=options["include_unlinked_kernels"],
        detect_recompute=options["detect_recompute"], enable_origami=options["enable_origami"],
        inductor_cache_dir=options["inductor_cache_dir"], clip_stream_overruns=options["clip_stream_overruns"])
        for tree in trees]
    frames = {}
    if module is not None:
        _extension.apply(analyzer, module, extension)
        frames = _extension.additional_frames(analyzer.tree, module, extension)
        for one in other:
            _extension.edit_tree(one, module, extension)
    report = _core.report_tree(analyzer._native(), options, *(one.tree._sealed() for one in other))
    for name, table in frames.items():
        report.add_table(name, len(table), _columns(table))
    return report, {name.lower(): table for name, table in frames.items()}


def _columns(table):
    """A DataFrame as (name, type, cells) for the library."""
    columns, taken = [], set()
    for at, name in enumerate(table.columns):
        cells = table.iloc[:, at]
        label = str(name) or f"column {at}"
        while label in taken:
            label += "_"
        taken.add(label)
        if pd.api.types.is_bool_dtype(cells) and not cells.isna().any():
            columns.append((label, "bool", [bool(cell) for cell in cells]))
        elif pd.api.types.is_integer_dtype(cells) and (cells.abs() < 2**63).all():
            columns.append((label, "int64", [None if pd.isna(cell) else int(cell) for cell in cells]))
        elif pd.api.types.is_float_dtype(cells):
            columns.append((label, "double", [None if pd.isna(cell) else float(cell) for cell in cells]))
        else:
            columns.append((label, "string", [None if _is_missing(cell) else str(cell) for cell in cells]))
    return columns


def _is_missing(cell):
    return cell is None or (pd.api.types.is_scalar(cell) and pd.isna(cell))


def _command(options, extension):
    """The options of a report as one line, for the workbook's first sheet."""
    parts = []
    for name, value in options.items():
        if name in ("arch", "model", "tp") or value in (None, False):
            continue
        if (name, value) in (("short_kernel_threshold_us", 10), ("short_kernel_histogram_bins", 100)):
            continue
        parts.append(f"--{name}" if value is True else f"--{name} {value}")
    if options["arch"] is not None:
        parts.append(f"--gpu_arch {json.loads(options['arch']).get('name', '')}".rstrip())
    if extension is not None:
        parts.append(f"--extension_file {extension}")
    return " ".join(parts)


def _say_what_was_written(frames, csvs, xlsx, json_path):
    for sheet in frames if csvs else ():
        logger.info("DataFrame '%s' written to %s", sheet, os.path.join(csvs, f"{sheet}.csv"))
    for path in (xlsx, json_path):
        if path:
            logger.info("DataFrames successfully written to %s", path)


# ---- pieces for scripts ----


def apply_extension(perf_analyzer, extension_path):
    """Applies an extension file to an analyser: changes of the tree, models, categories. ValueError when the file
    defines something of another kind."""
    _extension.apply(perf_analyzer, _extension.load(extension_path), extension_path)


def get_dfs_short_kernels(perf_analyzer, short_kernel_threshold_us=10, histogram_bins=100, topk=None):
    """(histogram, summary) of the kernels shorter than a threshold (µs): ``bin_start``, ``bin_end`` (µs), ``count``; and
    by operation, arguments and kernel the sum, count, mean (µs) and percent of the total time, ``topk`` rows."""
    native = perf_analyzer._native()
    threshold = float(short_kernel_threshold_us)
    histogram = native.short_kernels(True, threshold, histogram_bins)
    summary = native.short_kernels(False, threshold, histogram_bins, topk or 0)
    return frame(histogram), frame(summary)


def _shortened(text, length):
    return text if len(text) <= length else text[:length] + "..."


def trunc_kernel_details(row, kernel_detail_col, trunc_length=64):
    """The kernels in a cell of a row with names of at most ``trunc_length`` characters, stream and mean duration (µs);
    None for an empty cell."""
    details = row.get(kernel_detail_col)
    if details is None or isinstance(details, float) or not len(details):
        return None
    return [{"name": _shortened(kernel["name"], trunc_length), "stream": kernel.get("stream"),
             "mean_duration_us": kernel.get("mean_duration_us", 0)} for kernel in details]


def add_truncated_kernel_details(df, source_col="kernel_details", new_col_name=None, trunc_length=64):
    """Adds to a table a column of :func:`trunc_kernel_details`, ``trunc_...`` by name. Returns the table with it right of
    the column that it comes from. Warns and changes nothing when there is no such column."""
    if source_col not in df.columns:
        warnings.warn(f"the table has no column '{source_col}', nothing is shortened", stacklevel=2)
        return df
    name = new_col_name or f"trunc_{source_col}"
    cells = [trunc_kernel_details({source_col: cell}, source_col, trunc_length) for cell in df[source_col]]
    df[name] = pd.Series(cells, index=df.index, dtype=object)
    columns = [column for column in df.columns if column != name]
    columns.insert(columns.index(source_col) + 1, name)
    return df[columns]


# ---- command line ----


def _cache_from_environment():
    """Set for all programs, it may name a directory that is not there (yet): that is no mistake of this command."""
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")
    return folder if os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK) else None


def _parser():
    parser = argparse.ArgumentParser(
        prog="TraceLens_generate_perf_report_pytorch",
        description="Makes the performance report of a PyTorch trace: a workbook, CSV files or JSON.")
    add = parser.add_argument
    add("--profile_json_path", required=True, metavar="TRACE", help="JSON, plain or packed with gzip, zstd or zip")
    add("--output_xlsx_path", metavar="FILE", help="write a workbook; without any output TRACE_perf_report.xlsx")
    add("--output_csvs_dir", metavar="DIR", help="write one CSV file per sheet")
    add("--output_json_path", metavar="FILE", help="write all tables as one JSON object")
    add("--include_unlinked_kernels", action="store_true",
        help="count GPU events whose launch is not in the trace in the timeline")
    add("--micro_idle_thresh_us", type=float, metavar="N", help="split idle time into gaps below N µs and the others")
    add("--disable_coll_analysis", action="store_true", help="leave coll_analysis out")
    add("--enable_kernel_summary", action="store_true", help="add kernel_summary")
    add("--short_kernel_study", action="store_true", help="add short_kernel_histogram and short_kernels_summary")
    add("--short_kernel_threshold_us", type=float, default=10, metavar="N", help="a kernel is short below N µs (10)")
    add("--short_kernel_histogram_bins", type=int, default=100, metavar="N", help="bins of the histogram (100)")
    add("--topk_short_kernels", type=int, metavar="N", help="rows to keep of short_kernels_summary")
    add("--enable_pseudo_ops", action="store_true",
        help="add operations that serving frameworks do not record")
    add("--topk_ops", type=int, metavar="N", help="rows to keep of ops_unique_args")
    add("--topk_roofline_ops", type=int, metavar="N", help="rows to keep of each sheet of a model family")
    add("--comparison_json_path", metavar="TRACE",
        help="compare with this trace: speedup, delta and common ancestors in unified_perf_summary, diff_stats")
    add("--extension_file", metavar="FILE", help="a Python or Lua file with models, categories, changes of the tree")
    add("--python_path", metavar="FILE", help="accepted without effect: interpreter of a simulator, which is not part of this package")
    add_gpu_arch_cli_args(parser)
    add("--group_by_num_kernels", action="store_true",
        help="separate rows for operations that launch different numbers of kernels")
    add("--enable-origami", action="store_true", help="accepted without effect: a simulator, which is not part of this package")
    add("--inductor_cache_dir", metavar="DIR", default=_cache_from_environment(),
        help="directory of the code that Inductor generated ($TORCHINDUCTOR_CACHE_DIR)")
    add("--include_overlap_info", action="store_true", help="add ..._kl_overlap sheets")
    add("--detect_recompute", action="store_true", help="tell apart what activation checkpointing computes again (column is_recompute)")
    add("--include_first_occurrence_time", action="store_true",
        help="add to ops_unique_args the time at which each row first occurs")
    add("--include_call_stack", action="store_true", help="add to unified_perf_summary the Python frame that calls each operation, and its call stack")
    add("--clip_stream_overruns", action="store_true",
        help="end GPU events that overrun the next one on their stream by 1 ms or more where that one starts")
    add("--strict", action="store_true", help="refuse a trace that needs a repair")
    return parser


def main(arguments=None):
    """The command ``TraceLens_generate_perf_report_pytorch``. Exit status as that of ``tracelens report``: 0 fine, 1
    failed, 2 wrong usage, 3 unreadable input, 4 the trace is cut off (reported), 5 nothing to analyse (reported), 6
    refused by ``--strict``."""
    given = vars(_parser().parse_args(arguments))
    try:
        given["gpu_arch"] = resolve_gpu_arch(gpu_arch_json_path=given.pop("gpu_arch_json_path"),
                                             gpu_arch_platform=given.pop("gpu_arch_platform"))
    except (OSError, ValueError, KeyError) as error:
        _status.complain(error, ())
        return _status.USAGE
    inputs = [given["profile_json_path"], given["comparison_json_path"] or ""]
    given["collective_analysis"] = not given.pop("disable_coll_analysis")
    given["kernel_summary"] = given.pop("enable_kernel_summary")
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            generate_perf_report_pytorch(**given)
            status = _status.OK
        except (Exception, KeyboardInterrupt) as error:
            status = _status.complain(error, inputs)
    for warning in raised:
        if not issubclass(warning.category, DeprecationWarning) or "TraceLens" in str(warning.filename):
            print(f"warning: {warning.message}", file=sys.stderr)
        if status == _status.OK:
            status = {CutOffWarning: _status.CUT_OFF, NothingToAnalyseWarning: _status.EMPTY}.get(warning.category, 0)
    return status


if __name__ == "__main__":
    sys.exit(main())
