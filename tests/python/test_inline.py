# SPDX-License-Identifier: MIT
"""Reports that compare with another trace: figures, the command's tables, extensions on both sides, bad traces."""
import csv
import gzip
import io
import json
import os
import subprocess
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout

import common
import pandas as pd
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch, main

TRACE = common.BUNDLED
T1, T2 = "lca_total_kernel_time_trace1_us", "lca_total_kernel_time_trace2_us"
SPEEDUP, DELTA = "speedup (trace2/trace1)", "delta_us (trace2 - trace1)"
GPU = ("kernel", "gpu_memcpy", "gpu_memset")

EXTENSION = """
seen = []


def tree_postprocess_extension(tree):
    seen.append(len(tree.events))
    for event in tree.events:
        if event["name"] in ("aten::gelu", "mine::gelu"):
            event["name"] = "ours::gelu"
"""


def ps(cells):
    """Cells in µs as whole picoseconds, added up."""
    return sum(round(cell * 1e6) for cell in cells)


class Inline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.other = self.path("other.json")
        with gzip.open(TRACE, "rt", encoding="utf-8") as file:
            self.trace = json.load(file)
        self.write(self.other, self.slower)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    @staticmethod
    def slower(event):
        """GEMMs take twice their time."""
        if event.get("cat") in GPU and "gemm" in event["name"].lower():
            event["dur"] *= 2

    def write(self, path, change):
        trace = json.loads(json.dumps(self.trace))
        for event in trace["traceEvents"]:
            change(event)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        return trace

    def report(self, other=None, **options):
        return generate_perf_report_pytorch(TRACE, output_csvs_dir=self.path("csv"),
                                            comparison_json_path=other or self.other, **options)

    def check(self, sheets):
        """Sums and signs; sums from the GPU events of diff_stats, which are those of the trace."""
        unified, stats = sheets["unified_perf_summary"], sheets["diff_stats"]
        for column, source in ((T1, "trace1"), (T2, "trace2")):
            mine = stats[(stats["source"] == source) & (stats["cpu_op_name"] != "(no launch in trace)")]
            assert ps(unified[column]) == ps(mine["kernel_time"])
            assert (stats["source"] == source).sum() == sum(e.get("cat") in GPU for e in self.trace["traceEvents"])
        assert ((unified[SPEEDUP] > 1) == (unified[DELTA] > 0)).all()
        assert ((unified[SPEEDUP] < 1) == (unified[DELTA] < 0)).all()

    def test_columns_and_figures(self):
        sheets = self.report()
        names = list(sheets)
        assert names[names.index("unified_perf_summary") + 1] == "diff_stats" and names[-1] == "comparison_health"
        unified = sheets["unified_perf_summary"]
        at = list(unified.columns).index("Kernel Time (µs)_sum")
        assert list(unified.columns)[at + 1:at + 8] == [SPEEDUP, DELTA, "lca_count_trace2", "lca_id", "lca_name", T1, T2]
        self.check(sheets)
        doubled = unified[unified["op category"] == "GEMM"]
        assert len(doubled) > 0 and (doubled[SPEEDUP] > 1.5).all()
        assert (unified[unified["name"] == "aten::layer_norm"][SPEEDUP] == 1.0).all()

    def test_the_tables_of_the_command(self):
        command = os.environ.get("TL_COMMAND")
        if not command:
            self.skipTest("no command beside the package")
        sheets = self.report(include_unlinked_kernels=True)
        subprocess.run([command, "report", TRACE, "--comparison_json_path", self.other, "-q",
                        "--include_unlinked_kernels", "--output_csvs_dir", self.path("command")], check=True)
        assert set(os.listdir(self.path("command"))) == {name + ".csv" for name in sheets}
        for name in sheets:
            with open(self.path("command", name + ".csv"), encoding="utf-8") as one, \
                    open(self.path("csv", name + ".csv"), encoding="utf-8") as two:
                assert list(csv.reader(one)) == list(csv.reader(two)), name

    def test_with_itself(self):
        for options in ({}, {"include_call_stack": True}, {"detect_recompute": True, "enable_pseudo_ops": True}):
            sheets = self.report(other=TRACE, **options)
            unified = sheets["unified_perf_summary"]
            assert (unified[SPEEDUP] == 1.0).all() and (unified[DELTA] == 0.0).all()
            self.check(sheets)

    def test_extensions_get_both_trees(self):
        def other_name(event):
            if event.get("name") == "aten::gelu":
                event["name"] = "mine::gelu"
        self.write(self.other, other_name)
        only = self.report()["unified_perf_summary"]
        assert set(only[only["name"].str.endswith("::gelu")]["name"]) == {"aten::gelu", "mine::gelu"}
        extension = self.path("extension.py")
        with open(extension, "w", encoding="utf-8") as file:
            file.write(EXTENSION)
        sheets = self.report(extension_file=extension)
        unified = sheets["unified_perf_summary"]
        gelu = unified[unified["name"].str.endswith("::gelu")]
        assert set(gelu["name"]) == {"ours::gelu"} and (gelu[SPEEDUP] == 1.0).all()
        self.check(sheets)

    def test_an_extension_that_does_nothing_changes_nothing(self):
        extension = self.path("nothing.py")
        open(extension, "w", encoding="utf-8").close()
        plain, through = self.report(), self.report(extension_file=extension)
        assert list(plain) == list(through)
        for name in plain:
            pd.testing.assert_frame_equal(plain[name], through[name])

    def test_bad_traces(self):
        with open(self.other, encoding="utf-8") as file:
            text = file.read()

        def bad(name, content):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(content)
            return self.path(name)
        extension = self.path("nothing.py")
        open(extension, "w", encoding="utf-8").close()
        os.mkdir(self.path("out"))
        for options in ({}, {"extension_file": extension}):
            with self.assertRaises(FileNotFoundError) as caught:
                self.report(other=self.path("gone.json"), **options)
            assert caught.exception.filename == self.path("gone.json")
            for path, words in ((bad("cut.json", text[:len(text) // 2]), "cut off"), (bad("words.json", "words"), ""),
                                (bad("host.json", json.dumps({"traceEvents": [
                                    common.event("aten::mm", "cpu_op", 1, 2)]})), "no GPU event")):
                with self.assertRaises(ValueError) as caught:
                    self.report(other=path, **options)
                assert words in str(caught.exception)
                if not options or words:
                    assert path in str(caught.exception), caught.exception
        assert not os.path.exists(self.path("csv"))

    def test_health_and_strict(self):
        with open(self.other, encoding="utf-8") as file:
            text = file.read().rstrip()
        with open(self.other, "w", encoding="utf-8") as file:
            file.write(text[:-1] + ",}")
        health = self.report()["comparison_health"]
        assert list(health["kind"][health["repair"]]) == ["misplaced_comma"]
        extension = self.path("nothing.py")
        open(extension, "w", encoding="utf-8").close()
        for options in ({}, {"extension_file": extension}):
            with self.assertRaises(ValueError) as caught:
                self.report(strict=True, **options)
            assert "misplaced_comma" in str(caught.exception) and self.other in str(caught.exception)

    def test_command(self):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            assert main(["--profile_json_path", TRACE, "--comparison_json_path", self.other, "--output_csvs_dir",
                         self.path("csv")]) == 0
            assert main(["--profile_json_path", TRACE, "--comparison_json_path", self.path("gone.json"),
                         "--output_csvs_dir", self.path("no")]) == 3
        assert os.path.exists(self.path("csv", "diff_stats.csv")) and not os.path.exists(self.path("no"))
        assert "No such file" in err.getvalue()

    def test_workbook_names_the_other_trace(self):
        xlsx, text = self.path("r.xlsx"), self.path("r.json")
        generate_perf_report_pytorch(TRACE, output_xlsx_path=xlsx, output_json_path=text, comparison_json_path=self.other)
        with open(text, encoding="utf-8") as file:
            told = json.load(file)
        assert told["comparison"]["trace"] == self.other and not told["comparison"]["gpu_time_trace1_us"] == 0
        assert "--comparison_json_path " + self.other in told["options"]
        extension = self.path("nothing.py")
        open(extension, "w", encoding="utf-8").close()
        generate_perf_report_pytorch(TRACE, output_json_path=text, comparison_json_path=self.other,
                                     extension_file=extension)
        with open(text, encoding="utf-8") as file:
            assert json.load(file)["comparison"] == told["comparison"]


if __name__ == "__main__":
    unittest.main()
