#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The worked example of docs/comparing.md: its commands print what it says, and the files hold what it says of them.

usage: test_comparing_doc.py TRACELENS_BINARY DOCUMENT [unittest options]

What the change between the two traces must amount to is worked out here from the baseline and the factors alone.
"""
import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = DOCUMENT = ""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FACTORS = {"flash_bwd": 1.5, "vectorized_layer_norm": 0.5}
LAYERS, STEPS = 3, 2


def blocks(text):
    """[(command, lines of its output)] of the section, in order."""
    section = text.split("\n## A worked example\n")[1].split("\n## ")[0]
    found = []
    for line in section.split("\n"):
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
        elif not line and found and found[-1][1]:
            found[-1][1].append("")  # inside a block, or behind it: taken off below
        elif line and found:
            found.append((None, []))
    for _, lines in found:
        while lines and not lines[-1]:
            lines.pop()
    return [(command, lines) for command, lines in found if command]


def kernels(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return [(e["name"], float(e["dur"])) for e in json.load(f)["traceEvents"] if e.get("cat") == "kernel"]


class WorkedExample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="tl-example-")
        bin_dir = os.path.join(cls.dir, "bin")
        os.mkdir(bin_dir)
        os.symlink(os.path.abspath(BINARY), os.path.join(bin_dir, "tracelens"))
        os.symlink(os.path.join(ROOT, "scripts"), os.path.join(cls.dir, "scripts"))
        cls.env = {**os.environ, "PATH": bin_dir + os.pathsep + os.environ["PATH"], "COLUMNS": "80"}
        with open(DOCUMENT, encoding="utf-8") as f:
            cls.blocks = blocks(f.read())
        cls.results = [subprocess.run(command, shell=True, cwd=cls.dir, env=cls.env, capture_output=True, text=True,
                                      encoding="utf-8", check=False) for command, _ in cls.blocks]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def table(self, name):
        with open(os.path.join(self.dir, name), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def change(self, word):
        """Time of the kernels with this word in both traces, µs, by the factor; times are rounded to a nanosecond."""
        times = [dur for name, dur in kernels(os.path.join(self.dir, "baseline.json.gz")) if word in name]
        self.assertTrue(times)
        return sum(times), sum(times) * FACTORS[word], 0.0005 * (1 + FACTORS[word]) * len(times)

    # ---- the document ----

    def test_commands_are_there(self):
        words = [command.split()[0:2] for command, _ in self.blocks]
        for expected in (["python3", "scripts/make_trace.py"], ["tracelens", "diff"], ["tracelens", "report"],
                         ["tracelens", "compare"]):
            self.assertIn(expected, words)
        for name, factor in FACTORS.items():
            self.assertIn(f"--slower {name}={factor}", self.blocks[1][0])

    def test_commands_print_what_the_document_shows(self):
        for (command, expected), result in zip(self.blocks, self.results):
            with self.subTest(command=command):
                self.assertEqual(result.returncode, 0, result.stderr)
                shown = result.stdout.split("\n")
                if not expected:
                    self.assertEqual(result.stdout, "")
                    continue
                if expected[-1] == "...":
                    expected = expected[:-1]
                else:
                    self.assertEqual(len(shown) - 1, len(expected), result.stdout)
                for line, got in zip(expected, shown):
                    if line.endswith("..."):
                        self.assertTrue(got.startswith(line[:-3]), got)
                    else:
                        self.assertEqual(got, line)

    def test_the_bundled_trace_is_the_baseline(self):
        with gzip.open(os.path.join(ROOT, "examples", "traces", "transformer_rank0.json.gz")) as f, \
                gzip.open(os.path.join(self.dir, "baseline.json.gz")) as made:
            self.assertEqual(f.read(), made.read())

    # ---- what it says of the files ----

    def test_differences_are_the_factors(self):
        rows = self.table("rprt_diff/diff_stats.csv")
        self.assertEqual(len(rows), 440)
        for word, op, count in (("flash_bwd", "aten::_flash_attention_backward", 2 * LAYERS * STEPS),
                                ("vectorized_layer_norm", "aten::native_layer_norm", (2 * LAYERS + 1) * STEPS)):
            before, after, rounding = self.change(word)
            for source, time in (("trace1", before), ("trace2", after)):
                found = [float(r["kernel_time"]) for r in rows if r["source"] == source and r["cpu_op_name"] == op]
                self.assertEqual(len(found), count)
                self.assertAlmostEqual(sum(found), time, delta=rounding)
        # everything else takes the time it took
        rest = {source: sum(float(r["kernel_time"]) for r in rows if r["source"] == source and
                            not any(word in r["name"] for word in FACTORS)) for source in ("trace1", "trace2")}
        self.assertAlmostEqual(rest["trace1"], rest["trace2"], places=6)

    def test_every_line_of_the_tree_is_in_both(self):
        with open(os.path.join(self.dir, "rprt_diff", "merged_tree_output.txt"), encoding="utf-8") as f:
            text = f.read()
        for mark in (">> trace1", "<< trace2", "combined:"):
            self.assertNotIn(mark, text)

    def test_one_thread_gives_the_same(self):
        for folder, options in (("many", ()), ("one", ("--single-thread",))):
            subprocess.run([BINARY, "diff", "baseline.json.gz", "variant.json.gz", "-q", "-o", folder, *options], cwd=self.dir,
                           check=True, capture_output=True)
        for name in os.listdir(os.path.join(self.dir, "many")):
            with open(os.path.join(self.dir, "many", name), "rb") as many, \
                    open(os.path.join(self.dir, "one", name), "rb") as one:
                self.assertEqual(many.read(), one.read(), name)

    def test_summary_has_the_larger_kernel(self):
        rows = [r for r in self.table("rprt_diff/diff_stats_unique_args_summary.csv") if "flash_bwd_dq_dk" in r["name"]]
        times = [dur for name, dur in kernels(os.path.join(self.dir, "baseline.json.gz")) if "flash_bwd_dq_dk" in name]
        self.assertEqual({(r["source"], r["operation_count"]) for r in rows}, {("trace1", "6"), ("trace2", "6")})
        sums = {r["source"]: float(r["kernel_time_sum"]) for r in rows}
        self.assertAlmostEqual(sums["trace1"], sum(times), places=6)
        self.assertAlmostEqual(sums["trace2"], 1.5 * sum(times), delta=0.0005 * 6)
        with open(DOCUMENT, encoding="utf-8") as f:
            self.assertIn(f"is {sums['trace1']:.3f} in trace1 and {sums['trace2']:.3f} in trace2", f.read())

    def test_maps_are_equal(self):
        maps = []
        for side in (1, 2):
            with open(os.path.join(self.dir, "rprt_diff", f"cpu_op_map_trace{side}.json"), encoding="utf-8") as f:
                maps.append(json.load(f))
        self.assertEqual(maps[0], maps[1])

    def test_timeline(self):
        rows = {r["type"]: r for r in self.table("comparison/gpu_timeline.csv")}
        more = sum(self.change(word)[1] - self.change(word)[0] for word in FACTORS)
        self.assertAlmostEqual(float(rows["computation_time"]["time ms__variant_diff"]) * 1000, more, delta=0.02)
        for kind in ("total_comm_time", "total_memcpy_time"):
            self.assertEqual(float(rows[kind]["time ms__variant_diff"]), 0)
        for kind in ("idle_time", "exposed_comm_time"):
            self.assertNotEqual(float(rows[kind]["time ms__variant_diff"]), 0)

    def test_two_operations_differ(self):
        rows = self.table("comparison/ops_summary.csv")
        times = [float(r["baseline::total_direct_kernel_time_ms"]) for r in rows]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual({r["name"] for r in rows if float(r["total_direct_kernel_time_ms__variant_diff"])},
                         {"aten::_flash_attention_backward", "aten::native_layer_norm"})

    def test_rates(self):
        [sdpa] = self.table("comparison/SDPA_bwd_intersect_variant.csv")
        self.assertAlmostEqual(float(sdpa["TFLOPS/s_mean__variant_pct"]), 100 / 1.5 - 100, delta=0.01)
        for row in self.table("comparison/Normalization_intersect_variant.csv"):
            expected = 0 if "backward" in row["name"] else 100 / 0.5 - 100
            self.assertAlmostEqual(float(row["TB/s_mean__variant_pct"]), expected, delta=0.05)

    def test_no_operation_is_alone(self):
        names = [name for name in os.listdir(os.path.join(self.dir, "comparison")) if "_only_" in name]
        self.assertTrue(names)
        for name in names:
            self.assertEqual(self.table(f"comparison/{name}"), [], name)


if __name__ == "__main__":
    BINARY, DOCUMENT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
