#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracelens report --comparison_json_path as users meet it: sheets, sums, options, bad traces.

usage: test_inline_diff.py TRACELENS_BINARY [unittest options]
"""
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import traces

BINARY = ""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
T1, T2 = "lca_total_kernel_time_trace1_us", "lca_total_kernel_time_trace2_us"
SPEEDUP, DELTA = "speedup (trace2/trace1)", "delta_us (trace2 - trace1)"
COLUMNS = [SPEEDUP, DELTA, "lca_count_trace2", "lca_id", "lca_name", T1, T2]
GPU = ("kernel", "gpu_memcpy", "gpu_memset")


def ps(text):
    """A cell in µs as whole picoseconds."""
    return round(float(text) * 1e6)


def variant():
    """As traces.simple(), with other times, without one of the products, and with one operation more."""
    t = traces.Trace()
    for i in range(2):
        t.op("aten::mm", "sm90_gemm", dur=5 + i)
    t.op("aten::add", "add_kernel", dims=((4, 2), (4, 2), ()), types=("float", "float", "Scalar"), dur=4)
    t.op("aten::gelu", "gelu_kernel", dims=((4, 2),), types=("float",), dur=7)
    return t


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-inline-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def trace(self, make=traces.simple, name="here.json"):
        return make().write(self.path(name))

    def run_it(self, *args, status=0, stdin=None, command="report", width="200"):
        run = subprocess.run([BINARY, command, *args], input=stdin, capture_output=True, timeout=60, cwd=self.dir,
                             env={**os.environ, "COLUMNS": width, "NO_COLOR": "1"})
        self.out, self.err = run.stdout.decode(), run.stderr.decode()
        self.assertEqual(run.returncode, status, f"{args}: {self.err}")
        return self.out

    def compare(self, here, there, *options, **how):
        """Rows of unified_perf_summary."""
        self.run_it(here, "--comparison_json_path", there, "--output_csvs_dir", self.path("csv"), *options, **how)
        rows = self.rows("csv", "unified_perf_summary")
        for row in rows:
            delta, speedup = float(row[DELTA]), row[SPEEDUP]
            self.assertEqual(ps(row[T2]) - ps(row[T1]), ps(row[DELTA]))
            if speedup:
                self.assertEqual((float(speedup) > 1) - (float(speedup) < 1), (delta > 0) - (delta < 0), row)
            else:
                self.assertTrue(ps(row[T1]) == 0 and delta > 0, row)
        return rows

    def rows(self, *names):
        with open(self.path(*names) + ".csv", encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def assert_one_line(self, *parts):
        self.assertRegex(self.err, r"\Atracelens: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, self.err)


class Tables(Case):
    def test_columns_and_rows(self):
        rows = self.compare(self.trace(), self.trace(variant, "there.json"))
        head = list(rows[0])
        at = head.index("Kernel Time (µs)_sum")
        self.assertEqual(head[at + 1:at + 8], COLUMNS)
        by_name = {row["name"]: row for row in rows}
        self.assertEqual([row["name"] for row in rows], ["aten::mm", "aten::add", "aten::gelu"])
        # 10 + 11 + 12 here, 5 + 6 there: two of the products have a partner, the third has none
        mm = by_name["aten::mm"]
        self.assertEqual((mm[T1], mm[T2], mm["lca_count_trace2"]), ("33.0", "11.0", "2"))
        self.assertEqual(float(mm[SPEEDUP]), 11 / 33)
        self.assertIn("aten::mm (only trace1)", mm["lca_name"])
        self.assertEqual(len(mm["lca_id"].split("; ")), 2)
        add = by_name["aten::add"]
        self.assertEqual((add[T1], add[T2], add[DELTA], add[SPEEDUP]), ("2.5", "4.0", "1.5", "1.6"))
        gelu = by_name["aten::gelu"]
        self.assertEqual((gelu[T1], gelu[T2], gelu[SPEEDUP], gelu["operation_count"]), ("0.0", "7.0", "", "0"))
        self.assertEqual((gelu["Input Dims"], gelu["lca_name"]), ("((4, 2),)", "aten::gelu (only trace2)"))
        self.assertEqual((gelu["ex_UID"], gelu["Kernel Time (µs)_sum"], gelu["Percentage (%)"]), ("", "", ""))
        # what the report says of its own trace does not change
        self.run_it("here.json", "--output_csvs_dir", "plain")
        plain = self.rows("plain", "unified_perf_summary")
        for one, other in zip(plain, rows):
            self.assertEqual(one, {k: other[k] for k in one})
        self.assertEqual(sorted(set(os.listdir(self.path("csv"))) - set(os.listdir(self.path("plain")))),
                         ["comparison_health.csv", "diff_stats.csv"])
        for name in os.listdir(self.path("plain")):
            if name != "unified_perf_summary.csv":
                with open(self.path("plain", name)) as a, open(self.path("csv", name)) as b:
                    self.assertEqual(a.read(), b.read(), name)

    def test_diff_stats_are_those_of_the_diff(self):
        self.compare(self.trace(), self.trace(variant, "there.json"))
        self.run_it("here.json", "there.json", "-o", "diff", "-q", command="diff")
        with open(self.path("csv", "diff_stats.csv")) as a, open(self.path("diff", "diff_stats.csv")) as b:
            self.assertEqual(a.read(), b.read())

    def test_all_writers(self):
        self.compare(self.trace(), self.trace(variant, "there.json"), "--output_json_path", "r.json",
                     "--output_xlsx_path", "r.xlsx")
        with open(self.path("r.json"), encoding="utf-8") as f:
            told = json.load(f)
        self.assertEqual(told["comparison"], {
            "trace": self.path("there.json"), "gpu_events_trace1": 4, "gpu_time_trace1_us": 35.5,
            "gpu_events_trace2": 4, "gpu_time_trace2_us": 22.0, "identical": False})
        names = [table["name"] for table in told["tables"]]
        self.assertEqual(names[names.index("unified_perf_summary") + 1], "diff_stats")
        self.assertEqual(names[-1], "comparison_health")
        unified = next(table for table in told["tables"] if table["name"] == "unified_perf_summary")
        self.assertIn({"name": DELTA, "type": "double", "unit": "µs"},
                      [{k: c[k] for k in ("name", "type", "unit")} for c in unified["columns"]])
        with zipfile.ZipFile(self.path("r.xlsx")) as book:
            sheets = book.read("xl/workbook.xml").decode()
            first = book.read("xl/worksheets/sheet1.xml").decode()
        self.assertIn('name="diff_stats"', sheets)
        self.assertIn('name="comparison_health"', sheets)
        self.assertIn("Compared with (trace2)", first)
        self.assertIn("there.json", first)
        # and the comparison of reports reads such a workbook
        self.run_it("here.json", "r.xlsx", "--names", "a", "b", "-o", "c.xlsx", command="compare")

    def test_deltas_are_coloured_in_the_workbook(self):
        rows = self.compare(self.trace(), self.trace(variant, "there.json"), "--output_xlsx_path", "r.xlsx")
        with zipfile.ZipFile(self.path("r.xlsx")) as book:
            names = re.findall('<sheet name="([^"]*)"', book.read("xl/workbook.xml").decode())
            sheets = {name: book.read(f"xl/worksheets/sheet{i}.xml").decode() for i, name in enumerate(names, 1)}
        scales = {name: re.findall("<conditionalFormatting.*?</conditionalFormatting>", text)
                  for name, text in sheets.items() if "<conditionalFormatting" in text}
        self.assertEqual(list(scales), ["unified_perf_summary"])
        self.assertEqual(len(scales["unified_perf_summary"]), 1)
        scale = scales["unified_perf_summary"][0]
        column = list(rows[0]).index(DELTA)
        letter = ("A" if column >= 26 else "") + chr(ord("A") + column % 26)
        self.assertEqual(re.findall('sqref="([^"]*)"', scale), [f"{letter}2:{letter}{len(rows) + 1}"])
        # aten::mm takes 22 µs less in trace2, so this trace is the slower one there: red
        self.assertEqual(re.findall('val="([^"]*)"', scale), ["-22", "0", "22"])
        self.assertEqual(re.findall('rgb="FF([^"]*)"', scale), ["F8696B", "FFFFFF", "63BE7B"])

    def test_summary(self):
        self.compare(self.trace(), self.trace(variant, "there.json"))
        self.assertIn("Compared with  " + self.path("there.json"), self.out)
        self.assertRegex(self.out, r"GPU time: 0\.03[56] ms in this trace \(trace1\), 0\.022 ms in that one \(trace2\)")
        self.assertIn("this one is the slower one", self.out)
        self.assertRegex(self.out, r"aten::mm +33\.000 +11\.000 +-22\.000 +0\.3333\n +aten::gelu +0\.000 +7\.000")
        for width in ("40", "80"):
            self.compare("here.json", "there.json", width=width)
            self.assertLessEqual(max(len(line) for line in self.out.split("\n\nCSV files")[0].splitlines()), int(width))
        self.run_it("here.json", "--comparison", "there.json", "-q", "--output_csvs_dir", "quiet")
        self.assertEqual(self.out + self.err, "")

    def test_communication_is_in_the_sums(self):
        def with_communication(factor):
            t = traces.simple()
            t.op("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_bf16", dur=40 * factor)
            return t
        rows = self.compare(self.trace(lambda: with_communication(1)),
                            self.trace(lambda: with_communication(2), "there.json"))
        row = rows[-1]
        self.assertEqual((row["name"], row[T1], row[T2]), ("c10d::allreduce_", "40.0", "80.0"))
        self.assertEqual((row["operation_count"], row["Kernel Time (µs)_sum"]), ("1", ""))

    def test_unlinked(self):
        here, there = self.trace(traces.with_unlinked), self.trace(variant, "there.json")
        rows = self.compare(here, there)
        self.assertEqual(sum(ps(row[T1]) for row in rows), ps("35.5"))
        self.assertRegex(self.out, r"Left out of the comparison: GPU events whose launch is not in their trace, 1 here "
                                   r"\(1\.23[45] ms\), 0 there \(0\.000 ms\)")
        rows = self.compare(here, there, "--include_unlinked_kernels")
        self.assertEqual(rows[2]["name"], "(no launch in trace)")
        self.assertEqual(sum(ps(row[T1]) for row in rows), ps("1270"))

    def test_extensions_change_both_trees(self):
        def renamed():
            t = traces.simple()
            for event in t.events:
                if event["name"] == "aten::add":
                    event["name"] = "mine::add"
            return t
        here, there = self.trace(), self.trace(renamed, "there.json")
        names = {row["name"] for row in self.compare(here, there)}
        self.assertEqual(names, {"aten::mm", "aten::add", "mine::add"})
        with open(self.path("ours.lua"), "w") as f:
            f.write("tree(function(t)\n  for _, name in ipairs { 'aten::add', 'mine::add' } do\n"
                    "    for _, e in ipairs(t:events(name)) do e.name = 'ours::add' end\n  end\nend)\n")
        rows = self.compare(here, there, "--extension_file", "ours.lua")
        self.assertEqual({row["name"]: row[SPEEDUP] for row in rows}, {"aten::mm": "1.0", "ours::add": "1.0"})
        with open(self.path("bad.lua"), "w") as f:
            f.write("tree(function(t)\n  t:event(1):frobnicate()\nend)")
        self.run_it(here, "--comparison", there, "--extension_file", "bad.lua", status=1)
        self.assert_one_line("bad.lua:2: ")

    def test_health_of_the_other_trace(self):
        here, there = self.trace(), self.trace(traces.with_unlinked, "there.json")
        with open(self.path("odd.json"), "w") as f:
            f.write(variant().text()[:-2] + ",]}")
        self.compare(here, self.path("odd.json"))
        self.assertIn("Health of the trace compared with (trace2)", self.out)
        health = self.rows("csv", "comparison_health")
        self.assertIn("True", [row["repair"] for row in health])
        self.assertEqual(self.rows("csv", "trace_health"), [])
        self.run_it(here, "--comparison", "odd.json", "--strict", "--output_csvs_dir", "refused", status=6)
        self.assert_one_line("odd.json")
        self.assertFalse(os.path.exists(self.path("refused")))
        self.compare(here, there)
        self.assertIn("compared in diff_stats only", self.rows("csv", "comparison_health")[0]["meaning"])
        self.compare(here, there, "--include_unlinked_kernels")
        self.assertIn("compared in a row of their own", self.rows("csv", "comparison_health")[0]["meaning"])

    def test_with_itself(self):
        here = self.trace(traces.with_unlinked)
        for option in ("--include_overlap_info", "--include_unlinked_kernels"):
            for row in self.compare(here, here, option):
                self.assertEqual((row[SPEEDUP], row[DELTA]), ("1.0", "0.0"))
            self.assertIn("same operations in the same places", self.out)

    def test_names_that_no_cell_likes(self):
        self.compare(self.trace(traces.nasty), self.trace(traces.nasty, "there.json"), "--output_xlsx_path", "r.xlsx",
                     "--output_json_path", "r.json")
        with open(self.path("r.json"), encoding="utf-8") as f:
            self.assertTrue(json.load(f)["comparison"]["identical"])

    def test_a_trace_without_operations(self):
        self.run_it(self.trace(traces.gpu_only), "--comparison", self.trace(variant, "there.json"), "--output_csvs_dir",
                    "csv")
        self.assertEqual(len(self.rows("csv", "diff_stats")), 7)
        self.assertFalse(os.path.exists(self.path("csv", "unified_perf_summary.csv")))
        self.assertIn("no operations to compare", self.out)
        # and one without anything on the GPU: what the other one does is all new
        self.run_it(self.trace(traces.host_only), "--comparison", "there.json", "--output_csvs_dir", "csv", status=5)
        self.assertEqual(sum(ps(row[T2]) for row in self.rows("csv", "unified_perf_summary")), ps("22"))


class Input(Case):
    def test_forms(self):
        here, there = self.trace(), self.trace(variant, "there.json.gz")
        with open(there, "rb") as f:
            packed = f.read()
        expected = self.compare(here, there)
        self.assertEqual(self.compare(here, "-", stdin=packed), expected)
        self.assertEqual(self.compare("-", there, stdin=traces.simple().text().encode()), expected)
        self.assertEqual(self.compare(here, there, "--single-thread"), expected)
        self.run_it("-", "--comparison", "-", status=2, stdin=packed)
        self.assert_one_line("standard input")

    def refused(self, name, content, *words, status=3):
        if content is not None:
            with open(self.path(name), "wb") as f:
                f.write(content)
        before = sorted(os.listdir(self.dir))
        for args in (["here.json"], ["pytorch", "--profile_json_path", "here.json"]):
            self.run_it(*args, "--comparison_json_path", name, status=status)
            self.assert_one_line(name, *words)
            self.assertEqual(self.out, "")
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_bad_traces(self):
        self.trace()
        text = variant().text().encode()
        self.refused("missing.json", None, "No such file")
        self.refused("empty.json", b"")
        self.refused("words.json", b"this is no trace at all")
        self.refused("picture.json", bytes(range(256)) * 16)
        self.refused("object.json", b'{"a": 1}')
        self.refused("cut.json", text[:text.rindex(b'"cat"')], "cut off", "a comparison needs all of the trace")
        self.refused("host.json", traces.host_only().text().encode(), "no GPU event", status=5)
        self.refused("rocprof.json", b'{"rocprofiler-sdk-tool":[{"metadata":{}}]}', "rocprof")
        os.mkdir(self.path("folder.json"))
        self.refused("folder.json", None)

    def test_wrong_usage(self):
        here, there = self.trace(), self.trace(variant, "there.json")
        self.run_it(here, "--comparison_json_path", "", status=2)
        self.assert_one_line("empty")
        for option in ("--output_xlsx_path", "--output_json_path"):
            self.run_it(here, "--comparison_json_path", there, option, there, status=2)
            self.assert_one_line("there.json", "this is the trace")
        with open(there, encoding="utf-8") as f:
            self.assertEqual(f.read(), variant().text())

    def test_a_bad_trace_is_told_by_its_own_name(self):
        """The trace of the report is the one that is broken."""
        there = self.trace(variant, "there.json")
        self.run_it("gone.json", "--comparison_json_path", there, status=3)
        self.assert_one_line("gone.json")
        text = traces.simple().text()
        with open(self.path("cut.json"), "w") as f:
            f.write(text[:text.rindex('"cat"')])
        self.run_it("cut.json", "--comparison_json_path", there, "--output_csvs_dir", "csv", status=4)
        self.assert_one_line("cut.json", "cut off")
        self.assertTrue(self.rows("csv", "diff_stats"))


class Generated(Case):
    """Traces whose difference is known: made by scripts/make_trace.py."""

    def make(self, name, *args):
        subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "make_trace.py"), self.path(name), *args],
                       check=True, capture_output=True)
        with open(self.path(name), encoding="utf-8") as f:
            return [e for e in json.load(f)["traceEvents"] if e.get("cat") in GPU]

    def check_sums(self, rows, *traces_of_gpu, unlinked=False):
        """Of every GPU event, from the files: those with a launch are all but those with the correlations of lost ones."""
        for column, events in zip((T1, T2), traces_of_gpu):
            every = sum(ps(e["dur"]) for e in events)
            lost = sum(ps(row["kernel_time"]) for row in self.rows("csv", "diff_stats")
                       if row["cpu_op_name"] == "(no launch in trace)" and row["source"] == ("trace1" if column == T1
                                                                                            else "trace2"))
            self.assertEqual(sum(ps(row[column]) for row in rows), every if unlinked else every - lost)

    def test_slower_kernels(self):
        here = self.make("here.json")
        there = self.make("there.json", "--slower", "flash_bwd=1.5", "--slower", "vectorized_layer_norm=0.5")
        rows = self.compare(self.path("here.json"), self.path("there.json"))
        self.check_sums(rows, here, there)
        changed = {}
        for row in rows:
            if row[SPEEDUP] != "1.0":
                changed.setdefault(row["name"], []).append(float(row[SPEEDUP]))
        # backward attention and forward layer norm, and nothing else; durations have three decimals of µs
        self.assertEqual(sorted(changed), ["ScaledDotProductFlashAttentionBackward0", "aten::layer_norm"])
        for name, factor in (("ScaledDotProductFlashAttentionBackward0", 1.5), ("aten::layer_norm", 0.5)):
            for speedup in changed[name]:
                self.assertAlmostEqual(speedup, factor, delta=1e-3)

    def test_options(self):
        here, there = self.make("here.json"), self.make("there.json", "--slower", "gemm=1.25", "--layers", "4")
        for options in (["--include_unlinked_kernels"], ["--include_call_stack"], ["--detect_recompute"],
                        ["--enable_pseudo_ops"], ["--include_overlap_info"], ["--group_by_num_kernels"],
                        ["--gpu_arch_platform", "MI300X"], ["--clip_stream_overruns"], ["--disable_coll_analysis"],
                        ["--enable_kernel_summary", "--short_kernel_study", "--topk_ops", "2"]):
            rows = self.compare(self.path("here.json"), self.path("there.json"), *options)
            self.check_sums(rows, here, there, unlinked="--include_unlinked_kernels" in options)
            for row in self.compare(self.path("here.json"), self.path("here.json"), *options):
                self.assertEqual((row[SPEEDUP], row[DELTA]), ("1.0", "0.0"), options)

    def test_other_sizes(self):
        """More layers and steps, either way round; and a rank of several, whose communication counts."""
        pairs = [(["--layers", "2"], ["--layers", "3", "--steps", "3"]), (["--steps", "1"], ["--rank", "1"]),
                 (["--rank", "0", "--world-size", "4"], ["--rank", "3", "--world-size", "4", "--slower", "nccl=2"])]
        random.Random(5).shuffle(pairs)
        for one, two in pairs:
            here, there = self.make("here.json", *one), self.make("there.json", *two)
            self.check_sums(self.compare(self.path("here.json"), self.path("there.json")), here, there)
            self.check_sums(self.compare(self.path("there.json"), self.path("here.json")), there, here)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
