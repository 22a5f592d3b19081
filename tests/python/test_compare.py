# SPDX-License-Identifier: MIT
"""The comparison of reports: inputs of all kinds, figures, files, the command, and bad use."""
import contextlib
import csv
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

import common
from tracemaker import events, launch, op, write
import pandas as pd
from TraceLens import _core
from TraceLens.PerfModel.perf_model import UnaryElementwise
from TraceLens.PerfModel.torch_op_mapping import op_to_perf_model_class_map
from TraceLens.Reporting import compare_perf_reports_pytorch as module
from TraceLens.Reporting.compare_perf_reports_pytorch import (generate_compare_perf_reports_pytorch as compare,
                                                              list_report_sheet_names, load_sheet, main)
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch

SHAPES = dict(Input_Dims=[[8, 8], [8, 8]], Input_type=["float", "float"], Input_Strides=[[8, 1], [8, 1]],
              Concrete_Inputs=["", ""])


def trace(path, scale, extra=False):
    """Three operations, each with a kernel; ``extra`` has a fourth."""
    made = [("aten::mm", 30), ("aten::add", 10), ("aten::mul", 5)] + ([("aten::relu", 2)] if extra else [])
    return write(path, events(*(op(name, launch("cudaLaunchKernel", "k_" + name[6:], dur * scale), **SHAPES)
                                for name, dur in made)))


def same_cell(value, text):
    """Whether a cell of a DataFrame is what a CSV file shows; whole numbers are doubles where a column has gaps."""
    if value is None or (isinstance(value, float) and value != value):
        return text == ""
    if isinstance(value, str):
        return value == text
    if isinstance(value, float) and value.is_integer():
        return float(text) == value
    return repr(value.item() if hasattr(value, "item") else value) == text


def text_of(value):
    return "" if value is None or value != value else str(value)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.reader(file) if row]


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-compare-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.a, self.b = trace(self.path("a.json"), 1), trace(self.path("b.json"), 2, extra=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def report(self, name, **more):
        generate_perf_report_pytorch(self.path(name + ".json"), output_xlsx_path=self.path(name + ".xlsx"),
                                     output_csvs_dir=self.path(name + "_csv"), **more)

    def check_frames(self, frames, folder):
        """The frames are what a folder of CSV files holds."""
        self.assertEqual(sorted(f"{name}.csv" for name in frames), sorted(os.listdir(folder)))
        for name, table in frames.items():
            rows = read_csv(os.path.join(folder, f"{name}.csv"))
            self.assertEqual(rows[0] if rows else [], list(table.columns), name)
            self.assertEqual(max(len(rows) - 1, 0), len(table), name)
            for at, column in enumerate(table.columns):
                for cell, row in zip(table[column], rows[1:]):
                    self.assertTrue(same_cell(cell, row[at]), (name, column, cell, row[at]))


class Inputs(Case):
    def test_all_kinds_agree(self):
        self.report("a", kernel_summary=True)
        self.report("b", kernel_summary=True)
        kinds = {"traces": ("a.json", "b.json"), "books": ("a.xlsx", "b.xlsx"), "folders": ("a_csv", "b_csv"),
                 "mixed": ("a.xlsx", "b.json"), "slash": ("a_csv/", "b.xlsx")}
        got = {kind: compare([self.path(p) for p in paths], None, ["a", "b"]) for kind, paths in kinds.items()}
        for kind, frames in got.items():
            self.assertEqual(list(frames), list(got["traces"]), kind)
            for name, expected in got["traces"].items():
                table = frames[name]
                self.assertEqual(list(table.columns), list(expected.columns), (kind, name))
                self.assertEqual(len(table), len(expected))
                for column in table.columns:
                    for x, y in zip(table[column], expected[column]):
                        if isinstance(x, (int, float)) and isinstance(y, (int, float)):
                            self.assertTrue(abs(x - y) <= 1e-9 * max(1, abs(x)) or x != x and y != y,
                                            (kind, name, column))
                        else:
                            self.assertEqual(text_of(x), text_of(y), (kind, name, column))

    def test_a_workbook_by_content(self):
        self.report("a")
        shutil.copy(self.path("a.xlsx"), self.path("a.report"))
        self.assertTrue(compare([self.path("a.report"), self.b], None)["gpu_timeline"].shape[0])
        with mock.patch.dict(op_to_perf_model_class_map, {"mine::op": type("mine", (UnaryElementwise,), {})}):
            self.assertTrue(compare([self.path("a.report"), self.b], None)["gpu_timeline"].shape[0])

    def test_path_like_and_bytes(self):
        import pathlib

        for paths in ([pathlib.Path(self.a), pathlib.Path(self.b)], (self.a.encode(), self.b), iter([self.a, self.b])):
            frames = compare(paths, output=None, sheets="gpu_timeline")
            self.assertEqual(list(frames), ["gpu_timeline"])
            self.assertIn("time ms__b_diff", frames["gpu_timeline"])

    def test_names_of_files(self):
        for name, tag in (("run.v2", "run"), ("step7.json.gz", "step7"), ("b.c.xlsx", "b.c"), ("x.json.zst", "x"),
                          ("folder/", "folder"), (".hidden", ".hidden"), ("plain", "plain")):
            self.assertEqual(module._tag(self.path(name)), tag)
        os.mkdir(self.path("run.v2"))
        shutil.copy(self.a, self.path("run.v2/step.7.json"))
        frames = compare([self.b, self.path("run.v2/step.7.json")], None, sheets=["gpu_timeline"])
        self.assertIn("step.7::time ms", frames["gpu_timeline"])

    def test_models_in_python(self):
        class twice(UnaryElementwise):
            category = "elementwise"

            @staticmethod
            def get_param_details(event):
                args = event["args"]
                return {"op_shape": tuple(args["Input Dims"][0]), "dtype_in_out": (args["Input type"][0], None),
                        "stride_input": None, "stride_output": None}

            def flops(self):
                return 2 * self.nelems

        for name in ("a", "b"):
            write(self.path(name + ".json"), events(op("mine::twice", launch("cudaLaunchKernel", "k", 4), **SHAPES)))
        self.assertNotIn("un_eltwise_intersect_b", compare([self.a, self.b], None))
        with mock.patch.dict(op_to_perf_model_class_map, {"mine::twice": twice}):
            self.report("a")
            for paths in ((self.a, self.b), (self.path("a.xlsx"), self.b)):
                frames = compare(paths, None, ["a", "b"])
                row = frames["un_eltwise_intersect_b"].iloc[0]
                self.assertEqual(row["name"], "mine::twice")
                self.assertAlmostEqual(row["a::TFLOPS/s_mean"], 2 * 64 / 4e-6 / 1e12)
                self.assertEqual(row["TFLOPS/s_mean__b_diff"], 0)
            self.assertEqual("kernel_summary" in compare([self.a, self.b], None), True)
        self.assertNotIn("un_eltwise_intersect_b", compare([self.a, self.b], None))


class Figures(Case):
    def test_by_hand(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)
        frames = compare(["a.json", "b.json"])
        ops = frames["ops_summary"]
        self.assertEqual(list(ops["name"]), ["aten::mm", "aten::add", "aten::mul", "aten::relu"])
        self.assertEqual(list(ops.columns)[:5], ["name", "total_direct_kernel_time_ms__b_diff",
                                                 "total_direct_kernel_time_ms__b_pct", "Count__b_diff", "Count__b_pct"])
        mm = ops.iloc[0]
        self.assertAlmostEqual(mm["total_direct_kernel_time_ms__b_diff"], 0.03)
        self.assertAlmostEqual(mm["total_direct_kernel_time_ms__b_pct"], 100)
        self.assertTrue(pd.isna(ops.iloc[3]["total_direct_kernel_time_ms__b_diff"]))
        self.assertEqual(list(frames["kernel_summary"]["Kernel name"]), ["k_mm", "k_add", "k_mul", "k_relu"])
        self.assertEqual(list(frames["ops_unique_args_only_variant_b"]["name"]), ["aten::relu"])
        self.assertEqual(frames["ops_unique_args_only_baseline_b"].shape, (0, 0))
        with zipfile.ZipFile(self.path("comparison.xlsx")) as book:
            text = book.read("xl/workbook.xml").decode()
        self.assertEqual(text.count("<sheet "), len(frames) + 1)

    def test_files(self):
        frames = compare([self.a, self.b], self.path("x.xlsx"), output_csvs_dir=self.path("deep/csv"))
        self.check_frames(frames, self.path("deep/csv"))
        tabs = list_report_sheet_names(self.path("x.xlsx"))
        self.assertEqual([tab.split("~")[0][:20] for tab in tabs], [name[:20] for name in frames])
        self.assertTrue(all(len(tab) <= 31 for tab in tabs))
        self.assertEqual(list_report_sheet_names(self.path("deep/csv")), sorted(frames))
        table = load_sheet(self.path("deep/csv"), "gpu_timeline")
        self.assertTrue(table.equals(frames["gpu_timeline"][table.columns]) or
                        list(table["type"]) == list(frames["gpu_timeline"]["type"]))
        self.assertEqual(len(load_sheet(self.path("x.xlsx"), "ops_summary")), 4)
        with self.assertRaisesRegex(ValueError, "has no sheet named 'nothing'"):
            load_sheet(self.path("x.xlsx"), "nothing")
        before = sorted(os.listdir(self.dir))
        compare([self.a, self.b], output=None)
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_three(self):
        c = trace(self.path("c.json"), 3)
        frames = compare([self.a, self.b, c], None, sheets=["ops_all", "gpu_timeline"])
        self.assertEqual(list(frames)[0], "gpu_timeline")  # in the order of the workbook, whatever was asked for first
        self.assertEqual(list(frames["gpu_timeline"].columns),
                         ["type", "time ms__b_diff", "time ms__b_pct", "time ms__c_diff", "time ms__c_pct",
                          "a::time ms", "a::percent", "b::time ms", "b::percent", "c::time ms", "c::percent"])
        self.assertEqual(sum(name.endswith("_c") for name in frames), 6)

    def test_what_is_left_out_is_told(self):
        self.report("a")
        self.report("b")
        with self.assertLogs("TraceLens.Reporting", "INFO") as logs:
            compare([self.path("a_csv"), self.path("b.xlsx")], self.path("x.xlsx"), output_csvs_dir=self.path("x"))
        text = "\n".join(logs.output)
        self.assertIn("note: kernel_summary is left out", text)
        self.assertIn("--enable_kernel_summary", text)
        self.assertIn("Wrote sheet 'ops_summary' with 4 rows", text)
        self.assertIn("Wrote 'ops_summary.csv' with 4 rows", text)

    def test_largest_and_tags(self):
        made = _core.compare_reports([self.a, self.b])
        self.assertEqual(made.tags(), ["a", "b"])
        table = made.largest()
        self.assertEqual(table.cells("name")[0], "aten::mm")
        self.assertAlmostEqual(table.cells("diff ms")[0], 0.03)
        del made
        self.assertEqual(table.cells("report")[0], "b")


class Command(Case):
    """tracelens compare gives the same cells, to the byte."""

    def check(self, reports, names, *more, **options):
        command = os.environ.get("TL_COMMAND")
        if not command or not os.path.exists(command):
            self.skipTest("no command beside the package")
        here, there = tempfile.mkdtemp(dir=self.dir), tempfile.mkdtemp(dir=self.dir)
        frames = compare(reports, None, names, output_csvs_dir=here, **options)
        subprocess.run([command, "compare", *reports, "--names", *names, *more, "-o", self.path("z.xlsx"),
                        "--output_csvs_dir", there, "-q"], check=True, capture_output=True)
        self.assertEqual(sorted(os.listdir(here)), sorted(os.listdir(there)))
        for name in os.listdir(here):
            with open(os.path.join(here, name), "rb") as a, open(os.path.join(there, name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)
        self.check_frames(frames, there)

    def test_small(self):
        self.check([self.a, self.b], ["p", "q"])
        sheets = ["roofline", "gpu_timeline"]
        self.check([self.a, self.b], ["p", "q"], "--sheets", *sheets, sheets=sheets)

    def test_real(self):
        golden, names = os.path.join(common.corpus(), "golden"), ["h100", "mi300"]
        self.check([os.path.join(golden, f"pytorch_{gpu}_qwen1.5_0.5b") for gpu in names], names)
        traces = os.path.join(common.corpus(), "corpus", "pytorch")
        self.check([os.path.join(traces, "h100_timesformer.json.gz"),
                    os.path.join(golden, "pytorch_mi300_timesformer")], names)

    def test_goldens(self):
        folder = common.corpus()
        cases = sorted(n for n in os.listdir(os.path.join(folder, "golden")) if n.startswith("compare_"))
        self.assertTrue(cases)
        for case in cases:
            golden = os.path.join(folder, "golden", case)
            with open(os.path.join(golden, "COMMAND.txt"), encoding="utf-8") as file:
                words = shlex.split(file.read())[1:]
            out = self.path(case)
            with contextlib.redirect_stdout(io.StringIO()):
                given = [os.path.join(folder, w) if w.startswith("golden/") else w for w in words]
                self.assertEqual(main([*given, "-o", self.path("g.xlsx"), "--output_csvs_dir", out]), 0)
            tool = os.path.join(folder, "tools", "compare_tables.py")
            done = subprocess.run([sys.executable, tool, golden, out], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{case}:\n{done.stdout}{done.stderr}")


class ConsoleScript(Case):
    def run_it(self, *arguments, status=0):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([str(a) for a in arguments])
            except SystemExit as end:
                code = end.code
        self.assertEqual(code, status, err.getvalue())
        return out.getvalue(), err.getvalue()

    def test_it_writes(self):
        self.run_it(self.a, self.b, "-o", self.path("x.xlsx"))
        self.assertTrue(zipfile.is_zipfile(self.path("x.xlsx")))
        self.run_it(self.a, self.b, "--names", "--output", self.path("y.xlsx"), "--sheets", "all", "gpu_timeline")
        self.assertIn("a::time ms", load_sheet(self.path("y.xlsx"), "gpu_timeline"))

    def test_wrong_usage(self):
        for line, arguments in (("Need at least two report files", (self.a,)),
                                ("--names count must equal number of reports", (self.a, self.b, "--names", "x")),
                                ("invalid choice: 'everything'", (self.a, self.b, "--sheets", "everything")),
                                ("two reports are called 'a'", (self.a, self.a)),
                                ("this is one of the reports", (self.a, self.b, "-o", self.a))):
            self.assertIn(line, self.run_it(*arguments, status=2)[1])
        self.assertIn("usage:", self.run_it("--help")[0])

    def test_failures_are_one_line(self):
        self.report("a")
        os.mkdir(self.path("nothing"))
        os.mkdir(self.path("empty"))
        with open(self.path("empty/other.csv"), "w", encoding="utf-8") as file:
            file.write("a,b\n1,2\n")
        with open(self.path("text.xlsx"), "w", encoding="utf-8") as file:
            file.write("name,time\n")
        for name, line, status in (("absent.xlsx", "cannot open", 3), ("text.xlsx", "no workbook", 3),
                                   ("nothing", "no .csv file", 3)):
            err = self.run_it(self.path("a_csv"), self.path(name), "-o", self.path("x.xlsx"), status=status)[1]
            self.assertEqual(err.count("\n"), 1)
            self.assertIn(line, err)
            self.assertIn(name, err)
        shutil.copytree(self.path("empty"), self.path("empty2"))
        self.run_it(self.path("empty"), self.path("empty2"), "-o", self.path("x.xlsx"), status=5)
        self.run_it(self.path("a_csv"), self.b, "--sheets", "kernel_summary", "-o", self.path("x.xlsx"), status=2)
        self.assertFalse(os.path.exists(self.path("x.xlsx")))
        self.run_it(self.a, self.b, "-o", self.path("text.xlsx/x.xlsx"), status=1)


class Misuse(Case):
    def test_arguments(self):
        for error, pattern, arguments in (
                (ValueError, "at least two reports", ([self.a],)),
                (ValueError, "at least two reports", ([],)),
                (TypeError, "a list is needed", (self.a,)),
                (TypeError, "a list is needed", (None,)),
                (TypeError, "", ([self.a, None],)),
                (TypeError, "", ([self.a, 5],)),
                (ValueError, "null", ([self.a, "a\0b"], None)),
                (ValueError, "1 names for 2 reports", ([self.a, self.b], None, ["x"])),
                (TypeError, "a list is needed", ([self.a, self.b], None, "ab")),
                (TypeError, "names must be a str", ([self.a, self.b], None, ["x", 5])),
                (ValueError, "surrogate", ([self.a, self.b], None, ["x", "\ud800"])),
                (ValueError, "is empty", ([self.a, self.b], None, ["x", ""])),
                (ValueError, "two reports are called 'x'", ([self.a, self.b], None, ["x", "x"])),
                (ValueError, "unknown sheets 'everything'", ([self.a, self.b], None, None, ["everything"])),
                (TypeError, "a list is needed", ([self.a, self.b], None, None, None)),
                (TypeError, "sheets must be a str", ([self.a, self.b], None, None, [5])),
                (ValueError, "output is empty", ([self.a, self.b], "")),
                (TypeError, "", ([self.a, self.b], 5)),
                (ValueError, "one of the reports", ([self.a, self.b], self.b))):
            with self.assertRaisesRegex(error, pattern, msg=repr(arguments)):
                compare(*arguments)
        self.report("a")
        with self.assertRaisesRegex(ValueError, "one of the reports"):
            compare([self.path("a_csv"), self.b], None, output_csvs_dir=self.path("a_csv"))

    def test_a_group_that_is_missing(self):
        self.report("a")
        line = "a_csv: there is no sheet 'kernel_summary' .*--enable_kernel_summary"
        with self.assertRaisesRegex(ValueError, line) as e:
            compare([self.path("a_csv"), self.b], None, sheets=["kernel_summary"])
        self.assertEqual(e.exception.reason, "TL_ENOTFOUND")

    def test_files(self):
        with self.assertRaises(FileNotFoundError) as caught:
            compare([self.a, self.path("absent.xlsx")], None)
        self.assertEqual(caught.exception.filename, self.path("absent.xlsx"))
        with self.assertRaises(OSError):
            compare([self.a, self.b], os.path.join(self.a, "x.xlsx"))
        for name, content in (("cut.xlsx", b"PK\3\4abc"), ("old.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
                              ("words.json", b"hello"), ("nothing.json", b"")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            with self.assertRaisesRegex(ValueError, name):
                compare([self.a, self.path(name)], None)
            with self.assertRaises(ValueError):
                list_report_sheet_names(self.path(name))
        for wrong in (None, 5):
            with self.assertRaises(TypeError):
                list_report_sheet_names(wrong)

    def test_core(self):
        report = _core.read_report(self.report("a") or self.path("a.xlsx"))
        for wrong, error in ((([report, report], ["a"]), ValueError), (([report, report], ["a", "a"]), ValueError),
                             (([report], ["a"]), ValueError), (([report, None], ["a", "b"]), TypeError),
                             (([report, report], None), TypeError), ((None, []), TypeError),
                             (([report, report], ["a", "b"], "all"), TypeError)):
            with self.assertRaises(error, msg=repr(wrong)):
                _core.compare_reports_made(*wrong)
        made = _core.compare_reports_made([report, report], ["a", "b"])
        with self.assertRaisesRegex(ValueError, "handed out"):  # a report that is compared stays as it is
            report.add_table("x", 0, [])
        tables = made.tables()
        del made, report
        self.assertEqual(tables[0].name, "gpu_timeline")
        with self.assertRaises(TypeError):
            type(tables[0])
            _core.Comparison()

    @unittest.skipIf(common.SANITIZED, "skipped: a sanitizer keeps freed memory")
    def test_nothing_is_left_behind(self):
        self.report("a")

        def run():
            compare([self.a, self.path("a.xlsx")], None, ["p", "q"])
            for paths in ([self.a], [self.a, self.path("absent")], [self.a, self.a], [self.a, 5]):
                with contextlib.suppress(ValueError, OSError, TypeError):
                    compare(paths, None)

        self.assertFalse(common.grows(run, times=40))


if __name__ == "__main__":
    unittest.main()
