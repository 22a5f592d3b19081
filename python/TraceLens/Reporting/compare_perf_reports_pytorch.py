# SPDX-License-Identifier: MIT
"""Finished reports side by side: sheet by sheet, with differences to the first one, the baseline."""
import argparse
import logging
import os
import sys
import warnings
import zipfile

from .. import _core, _models
from .._frame import frame
from ..PerfModel.torch_op_mapping import op_to_perf_model_class_map
from ..TreePerf import TreePerfAnalyzer
from . import _status
from ._status import CutOffWarning

logger = logging.getLogger("TraceLens.Reporting")

_GROUPS = ("gpu_timeline", "ops_summary", "kernel_summary", "ops_all", "roofline", "all")


def generate_compare_perf_reports_pytorch(reports, output: "str | os.PathLike | None" = "comparison.xlsx", names=None,
                                          sheets=("all",), output_csvs_dir=None):
    """Compares two or more reports and returns the result, sheet name -> DataFrame, in the order of the workbook.

    Parameters
    ----------
    reports : paths, the baseline first: workbooks (.xlsx), folders of CSV sheets, or traces, whose reports are made on
        the fly; in any mixture
    output : the workbook to write; None: none. Its first sheet names the reports and lists the largest differences
    names : tags of columns and sheets, one per report, all different; None: the names of the files without their ending
    sheets : any of ``gpu_timeline``, ``ops_summary``, ``kernel_summary``, ``ops_all``, ``roofline``; ``all``: what the
        reports have
    output_csvs_dir : a folder to write one CSV file per sheet into, too; made when missing

    Columns: keys (``name``, shapes, parameters of models), for each metric and report after the baseline
    ``metric__TAG_diff`` = TAG - baseline in the metric's unit and ``metric__TAG_pct`` = 100 * diff / baseline (empty
    where the baseline is 0), then ``TAG::column`` as the reports have them. ``ops_all`` and ``roofline`` give three
    sheets for each report after the baseline: ``..._intersect_TAG`` (rows of both), ``..._only_baseline_TAG``,
    ``..._only_variant_TAG``; columns that hold nothing are left out of them. What is left out or stands in for
    something else is told to the logger ``TraceLens.Reporting``; a trace that is cut off, of which what is there is
    compared, is a CutOffWarning.

    Raises OSError (cannot be read or written), ValueError (fewer than two reports, names that are not one per report, a
    group of sheets that a report lacks, a file that is no report).
    """
    paths = _texts(reports, "reports", os.fspath)
    names = None if names is None else _texts(names, "names")
    sheets = _texts([sheets] if isinstance(sheets, str) else sheets, "sheets")
    _check(paths, names, output, output_csvs_dir)
    comparison, cut_off = _compare(paths, names, sheets)
    comparison.write(None if output is None else os.fspath(output),
                     None if output_csvs_dir is None else os.fspath(output_csvs_dir))
    for note in comparison.notes():
        logger.info("note: %s", note)
    frames = {table.name: frame(table) for table in comparison.tables()}
    for sheet, table in frames.items():
        size = f"with {len(table)} rows × {len(table.columns)} columns"
        if output_csvs_dir is not None:
            logger.info("Wrote '%s.csv' %s", sheet, size)
        if output is not None:
            logger.info("Wrote sheet '%s' %s", sheet, size)
    if cut_off:
        warnings.warn(f"{cut_off} is cut off; what is there is compared", CutOffWarning, stacklevel=2)
    return frames


def _texts(values, what, convert=None):
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{what}: a list is needed, not {type(values).__name__}")
    return [convert(value) if convert else value for value in values]


def _check(paths, names, output, folder):
    """The reports must survive their comparison."""
    if len(paths) < 2:
        raise _status.failure("TL_EINVAL", "at least two reports are needed to compare")
    if names is not None and len(names) != len(paths):
        raise _status.failure("TL_EINVAL", f"{len(names)} names for {len(paths)} reports: names needs one per report")
    _status.check_outputs((output, folder), paths, "this is one of the reports, the comparison must go elsewhere")


def _compare(paths, names, sheets):
    """(comparison, what is cut off or None). Models in Python belong to the traces among the reports; without them the
    library does all of it."""
    if not _models.users_models(op_to_perf_model_class_map) or all(map(_is_finished, paths)):
        comparison = _core.compare_reports(paths, names, sheets)
        return comparison, "one of the traces" if comparison.is_truncated else None
    with_kernels = not sheets or not {"all", "kernel_summary"}.isdisjoint(sheets)
    made = [_core.read_report(path) if _is_finished(path) else _report_of(path, with_kernels) for path in paths]
    cut_off = ", ".join(os.fsdecode(path) for path, report in zip(paths, made) if report.is_truncated)
    return _core.compare_reports_made(made, [_tag(path) for path in paths] if names is None else names,
                                      sheets), cut_off or None


def _report_of(path, with_kernels):
    analyzer = TreePerfAnalyzer.from_file(path)
    report = _core.report_tree(analyzer._native(), {"enable_kernel_summary": with_kernels,
                                                    "disable_coll_analysis": True})
    if report.is_empty:
        raise _status.failure("TL_EEMPTY", f"{os.fsdecode(path)}: no GPU event with a usable time, nothing to compare "
                              "(was GPU activity switched on in the profiler?)")
    return report


def _is_finished(path):
    path = os.fsdecode(path)
    if os.path.isdir(path) or path.lower().endswith(".xlsx"):
        return True
    try:
        with zipfile.ZipFile(path) as file:
            return "[Content_Types].xml" in file.namelist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def _tag(path):
    """``runs/b.c.xlsx`` -> ``b.c``, ``step7.json.gz`` -> ``step7``."""
    name = os.path.basename(os.fsdecode(path).rstrip("/"))
    for ending in (".gz", ".zst", ".zip"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            name = name[: -len(ending)]
            return name[: -len(".json")] if name.lower().endswith(".json") and len(name) > len(".json") else name
    return os.path.splitext(name)[0]


# ---- pieces for scripts ----


def list_report_sheet_names(path):
    """Names of the sheets of a report: in the order of a workbook, sorted for a folder."""
    return [table.name for table in _core.read_report(path).tables()]


def load_sheet(path, sheet_name):
    """A sheet of a report (workbook or folder of CSV sheets) as a DataFrame. ValueError when there is none of that
    name."""
    for table in _core.read_report(path).tables():
        if table.name == sheet_name:
            return frame(table)
    raise ValueError(f"{os.fspath(path)} has no sheet named '{sheet_name}'")


# ---- command line ----


def _parser():
    parser = argparse.ArgumentParser(
        prog="TraceLens_compare_perf_reports_pytorch",
        description="Puts two or more reports side by side, sheet by sheet, with differences to the first one, the "
                    "baseline. Rows meet by name and arguments; where names differ between the runs, use TraceDiff.")
    add = parser.add_argument
    add("reports", nargs="+", metavar="REPORT",
        help="a workbook (.xlsx), a directory of CSV sheets, or a trace, whose report is made on the fly")
    add("-o", "--output", default="comparison.xlsx", metavar="FILE", help="the workbook to write (comparison.xlsx)")
    add("--output_csvs_dir", metavar="DIR", help="write one CSV file per sheet, too, into this directory")
    add("--names", nargs="*", metavar="NAME", help="what the reports are called, one per report (names of the files)")
    add("--sheets", nargs="+", default=["all"], choices=_GROUPS, metavar="SHEETS",
        help=f"any of {', '.join(_GROUPS[:-1])}; all (default): what the reports have")
    return parser


# of a comparison it is the fault of the options when something is not there, and of the input when it has no form
_SPECIAL = {"TL_ENOTFOUND": _status.USAGE, "TL_EUNSUPPORTED": _status.USAGE, "TL_EFORMAT": _status.UNREADABLE}


def main(arguments=None):
    """The command ``TraceLens_compare_perf_reports_pytorch``. Exit status as that of ``tracelens compare``: 0 fine, 1
    failed, 2 wrong usage, 3 unreadable input, 4 a trace is cut off (compared), 5 nothing to compare."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if len(given.reports) < 2:
        parser.error("Need at least two report files")
    if given.names and len(given.names) != len(given.reports):
        parser.error("--names count must equal number of reports")
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            generate_compare_perf_reports_pytorch(given.reports, given.output, given.names or None, given.sheets,
                                                  given.output_csvs_dir)
            status = _status.OK
        except (Exception, KeyboardInterrupt) as error:
            status = _status.complain(error, given.reports, _SPECIAL)
    for warning in raised:
        if warning.category is CutOffWarning or "TraceLens" in str(warning.filename):
            print(f"warning: {warning.message}", file=sys.stderr)
        if status == _status.OK and warning.category is CutOffWarning:
            status = _status.CUT_OFF
    return status


if __name__ == "__main__":
    sys.exit(main())
