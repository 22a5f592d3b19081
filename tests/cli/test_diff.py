#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracelens diff as users meet it: files, coverage, messages, exit status.

usage: test_diff.py TRACELENS_BINARY [unittest options]
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = ""
FILES = ["cpu_op_map.json", "cpu_op_map_trace1.json", "cpu_op_map_trace2.json", "diff_stats.csv",
         "diff_stats_unique_args_summary.csv", "merged_tree_output.txt"]
STATS = ["name", "cpu_op_name", "cpu_op_uid", "source", "Input Dims", "Input Strides", "Input type", "Concrete Inputs",
         "kernel_time", "busy_time", "lowest_common_ancestor_name", "lowest_common_ancestor_id", "gpu_op_uid",
         "nn_module_stack", "nn_module_parent"]


class Events:
    """A trace in the making; `convolution` calls one backend."""

    def __init__(self):
        self.events, self.at, self.gpu = [], 0, 1000

    def add(self, name, cat, dur, **args):
        self.events.append({"ph": "X", "name": name, "cat": cat, "pid": 1, "tid": 1, "ts": self.at, "dur": dur,
                            "args": args})
        self.at += 1

    def launch(self, call, kernel, dur):
        link = len(self.events) + 1
        self.add(call, "cuda_runtime", 1, correlation=link)
        self.events.append({"ph": "X", "name": kernel, "cat": "kernel", "pid": 0, "tid": 7, "ts": self.gpu, "dur": dur,
                            "args": {"correlation": link, "stream": 7}})
        self.gpu += dur
        self.at += 2

    def convolution(self, backend, call, kernel, dur):
        self.add("aten::convolution", "cpu_op", 5, **{"Input Dims": [[1, 3, 8, 8]]})
        self.add(f"aten::{backend}_convolution", "cpu_op", 4)
        self.launch(call, kernel, dur)
        self.at += 10


class Diff(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-diff-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, events):
        with open(self.path(name), "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        return self.path(name)

    def pair(self):
        a, b = Events(), Events()
        a.convolution("miopen", "hipLaunchKernel", "igemm", 30)
        b.add("aten::zeros", "cpu_op", 1)
        b.at += 10
        b.convolution("cudnn", "cudaLaunchKernel", "sm90", 20)
        b.events.append({"ph": "X", "name": "stray", "cat": "kernel", "pid": 0, "tid": 7, "ts": 5000, "dur": 4,
                         "args": {"stream": 7, "correlation": 77}})
        return self.write("a.json", a.events), self.write("b.json", b.events)

    def run_it(self, *args, status=0):
        run = subprocess.run([BINARY, "diff", *args], capture_output=True, timeout=60, cwd=self.dir,
                             env={**os.environ, "COLUMNS": "80"})
        self.out, self.err = run.stdout.decode(), run.stderr.decode()
        self.assertEqual(run.returncode, status, self.err)
        return self.out

    def read(self, *names):
        with open(self.path(os.path.join(*names)), encoding="utf-8") as f:
            return f.read()

    def test_files(self):
        self.run_it(*self.pair(), "-o", "out/deep")
        self.assertEqual(sorted(os.listdir(self.path("out/deep"))), FILES)
        rows = list(csv.DictReader(self.read("out/deep", "diff_stats.csv").splitlines()))
        self.assertEqual(list(rows[0]), STATS)
        times = {s: sum(float(r["kernel_time"]) for r in rows if r["source"] == s) for s in ("trace1", "trace2")}
        self.assertEqual(times, {"trace1": 30, "trace2": 24})
        self.assertEqual(rows[0]["lowest_common_ancestor_name"], "aten::miopen_convolution | aten::cudnn_convolution")
        self.assertEqual(rows[2]["cpu_op_name"], "(no launch in trace)")
        self.assertEqual(self.read("out/deep", "merged_tree_output.txt"),
                         "├── << trace2: aten::zeros\n"
                         "├── aten::convolution\n"
                         "│   └── combined: aten::miopen_convolution | aten::cudnn_convolution\n"
                         "│       └── combined: hipLaunchKernel | cudaLaunchKernel\n"
                         "│           ├── >> trace1: igemm\n"
                         "│           └── << trace2: sm90\n"
                         "└── (no launch in trace)\n"
                         "    └── << trace2: stray\n")
        text = self.read("out/deep", "cpu_op_map.json")
        self.assertEqual(json.loads(text)["aten::cudnn_convolution"],
                         {"trace2": {"kernels": ["sm90"], "nn_module_parents": ["root"]}})
        self.assertEqual(text, json.dumps(json.loads(text), indent=2))
        text = self.read("out/deep", "cpu_op_map_trace1.json")
        self.assertEqual(text, json.dumps({"aten::miopen_convolution": ["igemm"]}, indent=2))

    def test_pruned(self):
        self.run_it(*self.pair(), "-o", "out", "--prune_non_gpu")
        self.assertNotIn("aten::zeros", self.read("out", "merged_tree_output.txt"))

    def test_terminal(self):
        out = self.run_it(*self.pair(), "-q")
        self.assertEqual(self.err, "")
        self.assertRegex(out, r"all +1 +0\.030 +100\.0 +2 +0\.024 +100\.0\n")
        self.assertRegex(out, r"no launch in the trace +0 +0\.000 +0\.0 +1 +0\.004 +16\.7\n")
        self.assertRegex(out, r"aten::miopen_convolution[^\n]* 1 +30\.000 +20\.000 +-10\.000")

        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_what_is_equal_is_no_difference(self):
        a, b = self.pair()
        out = self.run_it(a, a, "-q")
        self.assertIn("No difference of GPU time.\n", out)
        self.assertNotIn("Largest", out)
        self.assertEqual(len(json.loads(self.run_it(a, a, "-q", "--format", "json"))["rows"]), 1)
        a, b = Events(), Events()
        for made, dur in ((a, 5), (b, 9)):
            made.convolution("same", "cudaLaunchKernel", "same", 5)
            made.convolution("slower", "cudaLaunchKernel", "slower", dur)
        out = self.run_it(self.write("a.json", a.events), self.write("b.json", b.events), "-q")
        self.assertRegex(out, r"aten::slower_convolution +1 +5\.000 +9\.000 +4\.000\n\Z")
        self.assertNotIn("aten::same", out)

    def test_names_that_are_cut_are_told_apart(self):
        a, b = Events(), Events()
        for made, dur in ((a, 10), (b, 20)):
            for name in ("first", "second", "third"):
                made.add(f"aten::_scaled_dot_product_efficient_attention_{name}", "cpu_op", 5)
                made.launch("cudaLaunchKernel", f"k_{name}", dur)
                made.at += 10
        out = self.run_it(self.write("a.json", a.events), self.write("b.json", b.events), "-q")
        shown = [line.split()[0] for line in out.splitlines() if "aten::" in line]
        self.assertEqual(len(set(shown)), 3)
        for name in ("first", "second", "third"):
            self.assertEqual([text.endswith(name) for text in shown].count(True), 1, shown)
        self.assertTrue(all(text.startswith("aten::_scal") and "…" in text for text in shown), shown)

    def test_a_part_is_never_all(self):
        """99.97 % of the time is not 100.0 %, or nobody would look for the rest."""
        a, b = Events(), Events()
        for events in (a, b):
            events.add("aten::mm", "cpu_op", 5)
            events.launch("cudaLaunchKernel", "k", 99970)
            events.at += 100000
        a.add("aten::relu", "cpu_op", 5)
        a.launch("cudaLaunchKernel", "r", 30)
        out = self.run_it(self.write("a.json", a.events), self.write("b.json", b.events))
        self.assertRegex(out, r"  of both traces +1 +99\.970 +99\.9 +1 +99\.970 +100\.0\n")

    def test_a_line_is_a_node_whatever_its_name(self):
        names = ("line\nbreak", "nul\0byte", "\x1b[31mred", "tab\tbed", "del\x7f")
        events = Events()
        for name in names:
            events.add(name, "cpu_op", 5)
            events.launch("cudaLaunchKernel", "k " + name, 1)
            events.at += 10
        path = self.write("a.json", events.events)
        self.run_it(path, path, "-o", "out")
        lines = self.read("out", "merged_tree_output.txt").split("\n")
        self.assertEqual(len(lines) - 1, 3 * len(names))
        self.assertTrue(all(line.isprintable() for line in lines), lines)
        with open(self.path("out/diff_stats.csv"), newline="", encoding="utf-8") as f:
            self.assertEqual({r["cpu_op_name"] for r in csv.DictReader(f)}, set(names))  # data stay what they are

    def test_files_come_together_or_not_at_all(self):
        a, b = self.pair()
        os.makedirs(self.path("in_the_way/diff_stats.csv"))
        self.run_it(a, b, "-o", "in_the_way", status=1)
        self.assertEqual(self.err, "tracelens: cannot write 'in_the_way/diff_stats.csv': Is a directory\n")
        self.assertEqual(os.listdir(self.path("in_the_way")), ["diff_stats.csv"])
        # as if the disk were full: the merged tree has room, the tables have none
        self.run_it(a, b, "-o", "old")
        old = {name: self.read("old", name) for name in os.listdir(self.path("old"))}
        few = Events()
        for _ in range(40):
            few.convolution("miopen", "hipLaunchKernel", "igemm" * 9, 30)
        many = self.write("many.json", few.events)
        for folder, kept in (("old", old), ("new/er", None)):
            run = subprocess.run(["sh", "-c", 'ulimit -f 16; exec "$@"', "sh", BINARY, "diff", many, many, "-o", folder, "-q"],
                                 capture_output=True, timeout=60, cwd=self.dir, text=True, check=False)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertRegex(run.stderr, f"^tracelens: cannot write '{folder}/[a-z_]*\\.[a-z]*': File too large\n$")
            if kept:
                self.assertEqual({name: self.read("old", name) for name in os.listdir(self.path("old"))}, kept)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_findings_are_told(self):
        a, b = self.pair()
        with open(a, encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        for event in events:
            if event["cat"] == "kernel":
                event["dur"] = -3
        path = self.write("bad.json", events)
        self.run_it(b, path)
        self.assertEqual(self.err, f"tracelens: {path}: 1 x negative_duration ('tracelens health' says what that is)\n")
        self.run_it(b, path, "-q")
        self.assertEqual(self.err, "")
        self.run_it(b, b)
        self.assertEqual(self.err, "")

    def test_data(self):
        table = list(csv.DictReader(self.run_it(*self.pair(), "--format", "csv").splitlines()))
        self.assertEqual([r["delta"] for r in table], ["-10.0", "4.0"])

    def test_twins(self):
        a, b = Events(), Events()
        a.add("mine::mm", "cpu_op", 5)
        a.launch("cudaLaunchKernel", "k", 1)
        b.add("aten::mm", "cpu_op", 5)
        b.launch("cudaLaunchKernel", "k", 3)
        paths = self.write("a.json", a.events), self.write("b.json", b.events)
        self.assertIn("Matched operations: 0 ", self.run_it(*paths))
        with open(self.path("twins"), "w", encoding="utf-8") as f:
            f.write("# ours\nmine::mm = aten::mm\n")
        self.assertIn("Matched operations: 1 ", self.run_it(*paths, "--twins", "twins"))
        with open(self.path("twins"), "w", encoding="utf-8") as f:
            f.write("mine::mm\n")
        self.run_it(*paths, "--twins", "twins", status=2)
        self.assertIn("twins: line 1", self.err)
        self.run_it(*paths, "--twins", "missing", status=2)
        self.assertIn("missing", self.err)

    def test_refusals(self):
        a, b = self.pair()
        self.run_it(a, status=2)
        self.run_it(a, b, a, status=2)
        self.run_it("-", "-", status=2)
        self.run_it(a, b, "-o", "", status=2)
        self.run_it(a, "missing.json", status=3)
        self.run_it(a, b, "-o", "a.json/x", status=1)
        self.run_it(self.write("c.json", []), self.write("d.json", []), status=5)

    def test_nothing(self):
        host = Events()
        host.add("aten::zeros", "cpu_op", 1)
        path = self.write("host.json", host.events)
        self.run_it(path, path, "-o", "out", status=5)
        self.assertEqual(self.read("out", "diff_stats.csv").split("\n")[0].split(","), STATS)
        self.assertIn("same operations in the same places", self.out)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
