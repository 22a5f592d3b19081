# SPDX-License-Identifier: MIT
"""Exit statuses of the commands of the package: as documented, the same as those of ``tracelens``, one line for a failure,
and what was to be read is still there afterwards."""
import contextlib
import errno
import hashlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from tracemaker import events, launch, op, write
from TraceLens import _core
from TraceLens.PerfModel.perf_model import UnaryElementwise
from TraceLens.PerfModel.torch_op_mapping import op_to_perf_model_class_map
from TraceLens.Reporting.compare_perf_reports_pytorch import (CutOffWarning, generate_compare_perf_reports_pytorch,
                                                              main as compare)
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch, main as report

OK, FAILED, USAGE, UNREADABLE, CUT_OFF, EMPTY, STRICT = range(7)


def cut(text):
    """Without its end, in the middle of the last event."""
    return text[:text.rindex('"ts"')]


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-status-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)
        made = events(op("aten::mm", launch("cudaLaunchKernel", "gemm", 30), Input_Dims=[[8, 8], [8, 8]],
                         Input_type=["float", "float"], Input_Strides=[[8, 1], [8, 1]], Concrete_Inputs=["", ""]),
                      op("aten::relu", launch("cudaLaunchKernel", "relu", 3)), op("aten::relu"))
        write("fine.json", made)
        with open("fine.json", encoding="utf-8") as file:
            text = file.read()
        host = [event for event in made if event["cat"] != "kernel"]
        double = json.loads(text)
        double["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "late", "pid": 0, "tid": 7, "ts": 9_000_000,
                                      "dur": "five", "args": {"stream": 7}})
        for name, content in (("cut.json", cut(text)), ("host.json", json.dumps({"traceEvents": host})),
                              ("cut_host.json", cut(json.dumps({"traceEvents": host}))),
                              ("repair.json", json.dumps(double)), ("text.json", "hello"), ("text.xlsx", "hello"),
                              ("none.json", ""), ("arch.json", "{"), ("list.json", "[]"),
                              ("word.json", '{"name": "x", "mem_bw_gbps": "fast"}'), ("bad.lua", "error('no')"),
                              ("bad.py", "perf_model_extension = 3\n"), ("file", "")):
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
        os.mkdir("folder")

    def contents(self):
        found = {}
        for name in os.listdir("."):
            if os.path.isfile(name):
                with open(name, "rb") as file:
                    found[name] = hashlib.sha256(file.read()).hexdigest()
        return found

    def run_both(self, command, main, status, command_line, package_line=None):
        """The arguments of the package where they differ."""
        line = command_line if package_line is None else package_line
        before = self.contents()
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(line)
            except SystemExit as end:
                code = end.code
        self.assertEqual(code, status, f"{line}: {err.getvalue()}")
        if code not in (OK, CUT_OFF, EMPTY) and "usage:" not in err.getvalue():
            self.assertRegex(err.getvalue(), r"\Aerror: [^\n]+\n\Z")
        before.pop("out.xlsx", None)
        after = self.contents()
        self.assertEqual([name for name in before if after.get(name) != before[name]], [])
        if os.environ.get("TL_COMMAND") and command_line is not None:
            done = subprocess.run([os.environ["TL_COMMAND"], *command, *command_line], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, f"tracelens {command_line}: {done.stderr}")
        return err.getvalue()


class Report(Case):
    def check(self, status, trace, *options, output=("--output_csvs_dir", "out")):
        line = ["--profile_json_path", trace, *options, *output]
        return self.run_both(["report", "pytorch"], report, status, line)

    def test_traces(self):
        for name, status in (("fine.json", OK), ("absent.json", UNREADABLE), ("folder", UNREADABLE),
                             ("text.json", UNREADABLE), ("none.json", UNREADABLE), ("cut.json", CUT_OFF),
                             ("host.json", EMPTY), ("cut_host.json", CUT_OFF)):
            with self.subTest(name):
                self.check(status, name)
        self.assertIn("absent.json", self.check(UNREADABLE, "absent.json"))

    def test_strict(self):
        self.check(OK, "fine.json", "--strict")
        self.check(STRICT, "cut.json", "--strict")
        self.check(STRICT, "repair.json", "--strict")
        self.check(STRICT, "fine.json", "--comparison_json_path", "repair.json", "--strict")

    def test_the_other_trace(self):
        for name, status in (("fine.json", OK), ("absent.json", UNREADABLE), ("cut.json", UNREADABLE),
                             ("text.json", UNREADABLE), ("host.json", EMPTY), ("", USAGE)):
            with self.subTest(name):
                self.check(status, "fine.json", "--comparison_json_path", name)
        self.check(CUT_OFF, "cut.json", "--comparison_json_path", "fine.json")
        self.check(EMPTY, "host.json", "--comparison_json_path", "fine.json")

    def test_options(self):
        for options in (("--nosuch",), ("--topk_ops", "x"), ("--topk_ops", "-1"), ("--topk_ops", "0"),
                        ("--topk_roofline_ops", "-1"), ("--short_kernel_study", "--topk_short_kernels", "-1"),
                        ("--short_kernel_study", "--short_kernel_histogram_bins", "0"),
                        ("--short_kernel_study", "--short_kernel_histogram_bins", "10000000000"),
                        ("--short_kernel_study", "--short_kernel_threshold_us", "-2"),
                        ("--micro_idle_thresh_us", "-1"), ("--micro_idle_thresh_us", "nan"),
                        ("--gpu_arch_platform", "nosuch"), ("--gpu_arch_platform", ""),
                        ("--gpu_arch_json_path", "absent.json"), ("--gpu_arch_json_path", "arch.json"),
                        ("--gpu_arch_json_path", "list.json"), ("--gpu_arch_json_path", "word.json")):
            with self.subTest(options):
                said = self.check(USAGE, "fine.json", *options)
                if options[0] == "--gpu_arch_json_path" and options[1] != "word.json":
                    self.assertIn(options[1], said)
        self.check(FAILED, "fine.json", "--inductor_cache_dir", "absent")
        self.check(FAILED, "fine.json", "--inductor_cache_dir", "absent", "--comparison_json_path", "fine.json")

    def test_extensions(self):
        for name in ("absent.lua", "bad.lua"):
            self.check(FAILED, "fine.json", "--extension_file", name)
        for name in ("absent.py", "bad.py"):  # the command takes none in Python
            line = ["--profile_json_path", "fine.json", "--extension_file", name]
            self.run_both([], report, FAILED, None, line)

    def test_extensions_in_python_keep_the_status(self):
        with open("own.py", "w", encoding="utf-8") as file:
            file.write("op_category_extension = {'aten::relu': 'mine'}\n")
        for name, status in (("fine.json", OK), ("absent.json", UNREADABLE), ("cut.json", CUT_OFF),
                             ("host.json", EMPTY), ("cut_host.json", CUT_OFF)):
            with self.subTest(name):
                self.run_both([], report, status, None,
                              ["--profile_json_path", name, "--extension_file", "own.py", "--output_csvs_dir", "out"])
        self.run_both([], report, STRICT, None,
                      ["--profile_json_path", "repair.json", "--extension_file", "own.py", "--strict"])

    def test_outputs(self):
        for option in ("--output_csvs_dir", "--output_xlsx_path", "--output_json_path"):
            for name, status in (("file/x", FAILED), ("/proc/x", FAILED), ("", USAGE), ("fine.json", USAGE),
                                 ("./fine.json", USAGE), ("folder", OK if "csvs" in option else FAILED)):
                with self.subTest((option, name)):
                    self.check(status, "fine.json", output=(option, name))
        self.check(USAGE, "fine.json", output=("--output_xlsx_path", "z", "--output_json_path", "z"))
        self.check(USAGE, "fine.json", "--comparison_json_path", "repair.json",
                   output=("--output_json_path", "repair.json"))
        self.assertFalse(os.path.exists("z"))

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk(self):
        for option in ("--output_xlsx_path", "--output_json_path"):
            self.assertIn("No space left", self.check(FAILED, "fine.json", output=(option, "/dev/full")))

    def test_interrupted(self):
        with mock.patch.object(_core, "report_file", side_effect=KeyboardInterrupt):
            self.run_both([], report, 130, None, ["--profile_json_path", "fine.json"])


class Compare(Case):
    def setUp(self):
        super().setUp()
        for name in "ab":
            generate_perf_report_pytorch(
                "fine.json", output_xlsx_path=f"{name}.xlsx", output_csvs_dir=f"{name}_csv")

    def check(self, status, *line, output=("-o", "out.xlsx")):
        return self.run_both(["compare"], compare, status, [*line, *output])

    def test_reports(self):
        for name, status in (("b.xlsx", OK), ("b_csv", OK), ("fine.json", OK), ("cut.json", CUT_OFF),
                             ("absent.xlsx", UNREADABLE), ("absent.json", UNREADABLE), ("text.json", UNREADABLE),
                             ("text.xlsx", UNREADABLE), ("none.json", UNREADABLE), ("folder", UNREADABLE),
                             ("host.json", EMPTY), ("cut_host.json", EMPTY), ("a.xlsx", USAGE)):
            with self.subTest(name):
                self.check(status, "a.xlsx", name)
        self.check(CUT_OFF, "cut.json", "a.xlsx")
        self.check(CUT_OFF, "cut.json", "a.xlsx", "b.xlsx")

    def test_options(self):
        for line in ((), ("a.xlsx",), ("a.xlsx", "b.xlsx", "--names", "x"), ("a.xlsx", "b.xlsx", "--names", "", "y"),
                     ("a.xlsx", "b.xlsx", "--sheets", "nosuch"), ("a.xlsx", "b.xlsx", "--sheets", "kernel_summary"),
                     ("a.xlsx", "b.xlsx", "--nosuch")):
            with self.subTest(line):
                self.check(USAGE, *line)
        self.check(OK, "a.xlsx", "b.xlsx", "--names")

    def test_outputs(self):
        for name, status in (("file/x", FAILED), ("/proc/x", FAILED), ("", USAGE), ("folder", FAILED),
                             ("a.xlsx", USAGE), ("./a.xlsx", USAGE)):
            with self.subTest(name):
                self.check(status, "a.xlsx", "b_csv", output=("-o", name))
        for name, status in (("file/x", FAILED), ("/proc/x", FAILED), ("", USAGE), ("file", FAILED),
                             ("a.xlsx", USAGE), ("b_csv", USAGE), ("new", OK)):
            with self.subTest(name):
                self.check(status, "a.xlsx", "b_csv", output=("-o", "out.xlsx", "--output_csvs_dir", name))

    def test_models_in_python_keep_the_status(self):
        class Twice(UnaryElementwise):
            def flops(self):
                return 2 * super().flops()

        with mock.patch.dict(op_to_perf_model_class_map, {"aten::relu": Twice}):
            for name, status in (("fine.json", OK), ("cut.json", CUT_OFF), ("host.json", EMPTY),
                                 ("absent.json", UNREADABLE)):
                with self.subTest(name):
                    self.run_both([], compare, status, None,
                                  ["a.xlsx", name, "-o", "out.xlsx"])

    def test_errors_are_those_of_the_system(self):
        for error, output in ((NotADirectoryError, "file/x"), (IsADirectoryError, "folder"),
                              (FileNotFoundError, "absent/x")):
            with self.assertRaises(error) as caught:
                generate_compare_perf_reports_pytorch(["a.xlsx", "b.xlsx"], output)
            self.assertEqual((caught.exception.filename, caught.exception.reason), (output, "TL_EIO"))
        with self.assertRaises(FileNotFoundError) as caught:
            generate_compare_perf_reports_pytorch(["a.xlsx", "absent.json"], None)
        self.assertEqual((caught.exception.filename, caught.exception.file), ("absent.json",) * 2)
        if os.path.exists("/dev/full"):
            with self.assertRaises(OSError) as caught:
                generate_compare_perf_reports_pytorch(["a.xlsx", "b.xlsx"], "/dev/full")
            self.assertEqual(caught.exception.errno, errno.ENOSPC)

    def test_a_cut_trace_is_told_to_callers(self):
        with self.assertWarnsRegex(CutOffWarning, "cut off"):
            generate_compare_perf_reports_pytorch(["a.xlsx", "cut.json"], None)

    def test_interrupted(self):
        with mock.patch.object(_core, "compare_reports", side_effect=KeyboardInterrupt):
            self.run_both([], compare, 130, None, ["a.xlsx", "b.xlsx"])


if __name__ == "__main__":
    unittest.main()
