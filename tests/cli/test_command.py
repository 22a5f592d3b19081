#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command as users meet it: exit status, standard output and error, files.

usage: test_command.py TRACELENS_BINARY [unittest options]
"""
import gzip
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

import traces

BINARY = ""


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-cli-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def trace(self, make=traces.simple, name="step7.json"):
        return make().write(self.path(name))

    def run_it(self, *args, status=0, stdin=None, env=None, binary=None, cwd=None):
        """Runs the command and checks the exit status; what it printed is in self.out and self.err."""
        clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "TERM")}
        run = subprocess.run([binary or BINARY, *args], input=stdin, capture_output=True, timeout=60,
                             env={**clean, **(env or {})}, cwd=cwd or self.dir)
        self.out, self.err = run.stdout.decode(), run.stderr.decode()
        self.assertEqual(run.returncode, status, f"{args}: {self.err}")
        return self.out

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as f:
            return f.read()

    def files(self, *names):
        return sorted(os.listdir(self.path(*names)))

    def assert_one_line(self, *parts):
        """Standard error is one line of ours that holds these words."""
        self.assertRegex(self.err, r"\Atracelens: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, self.err)


class Words(Case):
    """Commands, options, help."""

    def test_version(self):
        self.assertRegex(self.run_it("--version"), r"\Atracelens \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.out, self.run_it("version"))

    def test_help_of_everything(self):
        self.assertIn("report", self.run_it("help"))
        self.assertEqual(self.out, self.run_it("--help"))
        self.assertIn("--output_xlsx_path", self.run_it("help", "report"))
        self.assertEqual(self.out, self.run_it("report", "pytorch", "-h"))
        self.assertIn("--output_csv_path", self.run_it("health", "--help"))
        self.assertEqual(self.err, "")

    def test_help_of_the_report(self):
        self.run_it("report", "--help")
        for flag in ("--enable_kernel_summary", "--comparison_json_path"):
            self.assertIn(flag, self.out)

    def test_help_keeps_to_the_width(self):
        self.run_it("report", "--help", env={"COLUMNS": "100"})
        self.assertLessEqual(max(map(len, self.out.splitlines())), 110)

    def test_no_command_is_wrong_usage(self):
        self.run_it(status=2)
        self.assertIn("usage:", self.out)

    def test_unknown_command(self):
        self.run_it("reprot", status=2)
        self.assert_one_line("unknown command 'reprot'", "did you mean 'report'?")
        self.run_it("help", "xyzzy", status=2)
        self.assert_one_line("unknown command 'xyzzy'")
        self.run_it("--frobnicate", status=2)
        self.assert_one_line("--frobnicate")

    def test_unknown_option(self):
        self.run_it("report", self.trace(), "--output_cvs_dir", "x", status=2)
        self.assert_one_line("unknown option --output_cvs_dir; did you mean --output_csvs_dir?")
        self.assertEqual(self.files(), ["step7.json"])

    def test_gpu_architecture(self):
        trace = self.trace()
        self.run_it("report", trace, "--gpu_arch_platform", "mi-300x", "--output_csvs_dir", "csv")
        self.assertIn("Roofline  MI300X, 5300 GB/s; ", self.out)
        self.assertIn("Pct Roofline_mean", self.read("csv", "unified_perf_summary.csv"))
        with open(self.path("mine.json"), "w", encoding="utf-8") as f:
            f.write('{"name": "Mine", "mem_bw_gbps": 10, "max_achievable_tflops": {"matrix_fp32": 3}, "more": 1}')
        self.run_it("report", trace, "--gpu_arch_json_path", "mine.json", "--output_json_path", "out.json")
        self.assertIn("Roofline  Mine, 10 GB/s; ", self.out)
        self.assertEqual(json.loads(self.read("out.json"))["roofline"]["platform"], "Mine")

    def test_wrong_gpu_architecture(self):
        trace = self.trace()
        with open(self.path("bad.json"), "w", encoding="utf-8") as f:
            f.write('{"mem_bw_gbps": "5300"}')
        for args, words in ((["--gpu_arch_platform", "MI9000"], ("unknown GPU platform 'MI9000'", "MI300X", "H100_SXM")),
                            (["--gpu_arch_json_path", "none.json"], ("none.json", "No such file")),
                            (["--gpu_arch_json_path", self.dir], ("directory",)),
                            (["--gpu_arch_json_path", "bad.json"], ("bad.json", "mem_bw_gbps", "not a text")),
                            (["--gpu_arch_platform", "MI300X", "--gpu_arch_json_path", "bad.json"], ("exclude",))):
            self.run_it("report", trace, *args, "--output_csvs_dir", "csv", status=2)
            self.assert_one_line(*words)
        self.assertEqual(self.files(), ["bad.json", "step7.json"])

    def test_wrong_values(self):
        trace = self.trace()
        for args, word in ((["--short_kernel_histogram_bins", "0"], "too small"), (["--micro_idle", "x"], "not a number"),
                           (["--topk_short", "-1"], "too small"), (["--color", "blue"], "not one of"),
                           (["--output_xlsx_path"], "needs a value"), (["--short_kernel"], "could be any of")):
            self.run_it("report", trace, *args, status=2)
            self.assert_one_line(word, "tracelens report --help")

    def test_which_trace(self):
        self.run_it("report", status=2)
        self.assert_one_line("which trace?")
        self.run_it("report", "pytorch", status=2)
        self.assert_one_line("which trace?")
        self.run_it("report", "a.json", "b.json", status=2)
        self.assert_one_line("one trace at a time", "b.json")
        self.run_it("report", "--profile_json_path", "a.json", "b.json", status=2)
        self.assert_one_line("one at a time")

    def test_formats_that_come_later(self):
        for word in ("jax", "rocprof", "pftrace"):
            self.run_it("report", word, "--profile_json_path", "x", status=2)
            self.assert_one_line(word, "not available yet")


class Input(Case):
    def test_trace_by_option_and_position_give_the_same(self):
        trace = self.trace()
        for out, args in (("a", ["pytorch", "--profile_json_path", trace]), ("b", [trace]), ("c", ["pytorch", trace]),
                          ("d", ["--profile=" + trace]), ("e", ["--quiet", "--", trace])):
            self.run_it("report", "--output_csvs_dir", self.path(out), *args)
            self.assertEqual(self.files(out), self.files("a"))
            for name in self.files("a"):
                self.assertEqual(self.read("a", name), self.read(out, name))

    def test_standard_input(self):
        packed = gzip.compress(traces.simple().text().encode())
        self.run_it("report", "-", "--output_csvs_dir", "out", stdin=packed)
        self.assertIn("gpu_timeline.csv", self.files("out"))
        self.run_it("report", "-", stdin=packed)
        self.assertIn("stdin_perf_report.xlsx", self.files())

    def test_name_of_the_reference_script(self):
        alias = self.path("TraceLens_generate_perf_report_pytorch")
        os.symlink(os.path.abspath(BINARY), alias)
        self.run_it("--profile_json_path", self.trace(), "--output_csvs_dir", "out", binary=alias)
        self.assertIn("ops_summary.csv", self.files("out"))

    def unreadable(self, name, content, *words):
        path = self.path(name)
        if content is not None:
            with open(path, "wb") as f:
                f.write(content)
        before = self.files()
        for args in (["pytorch", path], [path]):
            self.run_it("report", *args, status=3)
            self.assert_one_line(name, *words)
        self.run_it("health", path, status=3)
        self.assert_one_line(name, *words)
        self.assertEqual(self.files(), before)

    def test_unreadable_files(self):
        self.unreadable("missing.json", None, "No such file")
        self.unreadable("empty.json", b"")
        self.unreadable("words.json", b"this is no trace at all")
        self.unreadable("picture.json", bytes(range(256)) * 16)
        self.unreadable("object.json", b'{"a": 1}')
        os.mkdir(self.path("folder.json"))
        self.unreadable("folder.json", None)

    def test_a_name_with_control_characters_cannot_steer_the_terminal(self):
        self.run_it("report", self.path("a\x1b[31m\nb.json"), status=3)
        self.assert_one_line("a?[31m?b.json")

    def test_other_formats_are_recognised(self):
        for name, content, word in (("r.json", b'{"rocprofiler-sdk-tool":[{"metadata":{}}]}', "rocprof"),
                                    ("x.pb", b"\x0a\x12\x08\x01\x12\x0e/host:metadata\x22", "JAX"),
                                    ("t.pftrace", b"\x0a\x04\x40\x01\x50\x02", "Perfetto"),
                                    ("d.db", b"SQLite format 3\x00" + bytes(100), "SQLite")):
            with open(self.path(name), "wb") as f:
                f.write(content)
            self.run_it("report", self.path(name), status=3)
            self.assert_one_line(name, word, "not available yet")

    def test_corpus_traces_of_other_formats_are_recognised(self):
        for name, word in (("rocprof/908_results.json.gz", "rocprof"), ("jax/conv_minimal_08.xplane.pb", "JAX")):
            path = traces.corpus(name)
            if not path:
                self.skipTest("no corpus")
            self.run_it("report", path, status=3)
            self.assert_one_line(word, "not available yet")

    def test_cut_off_trace_is_reported(self):
        text = traces.simple().text()
        with open(self.path("cut.json"), "w") as f:
            f.write(text[:text.rindex('"cat"')])
        self.run_it("report", "cut.json", "--output_csvs_dir", "out", status=4)
        self.assert_one_line("cut.json", "cut off")
        self.assertIn("ops_summary.csv", self.files("out"))
        self.assertIn("truncated", self.read("out", "trace_health.csv"))
        self.run_it("health", "cut.json", status=4)
        self.assertIn("truncated", self.out)

    def test_cut_off_without_gpu_is_cut_off(self):
        text = traces.host_only().text()
        with open(self.path("cut.json"), "w") as f:
            f.write(text[:-3])
        self.run_it("report", "cut.json", "--output_csvs_dir", "out", status=4)
        self.assert_one_line("cut.json", "cut off", "no GPU event")
        self.run_it("timeline", "cut.json", status=4)
        self.assert_one_line("cut.json", "cut off", "no GPU event")
        self.run_it("ops", "cut.json", status=4)
        self.assert_one_line("cut.json", "cut off")

    def test_wrong_checksum_is_no_cut(self):
        data = bytearray(gzip.compress(traces.simple().text().encode()))
        data[-8] ^= 1
        with open(self.path("t.json.gz"), "wb") as f:
            f.write(data)
        self.run_it("report", "t.json.gz", "--output_csvs_dir", "out")
        self.assertIn("bad_container,1", self.read("out", "trace_health.csv"))
        self.assertNotIn("truncated", self.read("out", "trace_health.csv"))
        self.run_it("report", "t.json.gz", "--strict", status=6)
        with open(self.path("u.json.gz"), "wb") as f:
            f.write(data[:15])
        self.run_it("report", "u.json.gz", status=3)
        self.assert_one_line("u.json.gz", "cut off")

    def test_ranks_that_cannot_be_told_apart(self):
        words = "left out because several processes use the same correlation ids"
        trace = self.trace(traces.two_ranks)
        self.run_it("report", trace, "--output_csvs_dir", "out", status=5)
        self.assert_one_line("2 GPU events", words, "report each rank's file by itself")
        self.assertIn(words, self.read("out", "trace_health.csv"))
        self.assertNotIn("whose launch is not in the trace", self.out + self.read("out", "trace_health.csv"))
        self.run_it("timeline", trace, status=5)
        self.assert_one_line("2 GPU events", words)
        self.run_it("report", trace, "--include_unlinked_kernels")
        self.run_it("timeline", trace, "--include_unlinked_kernels")
        self.run_it("report", traces.two_ranks(True).write(self.path("more.json")))
        self.assertIn(words, " ".join(self.out.split()))
        self.assertNotIn("launch is not in the trace", " ".join(self.out.split()))

    def test_nothing_on_the_gpu(self):
        self.run_it("report", self.trace(traces.host_only), "--output_csvs_dir", "out", status=5)
        self.assert_one_line("step7.json", "nothing to analyse")
        rows = self.read("out", "gpu_timeline.csv").splitlines()
        self.assertEqual(rows[0], "type,time ms,percent")
        self.assertEqual(len(rows), 9)
        for row in rows[1:]:
            self.assertEqual(row.split(",")[1], "0.0", row)
        self.assertIn("trace_health.csv", self.files("out"))

    def test_strict(self):
        trace = self.trace()
        self.run_it("report", trace, "--strict", "--output_csvs_dir", "fine")
        text = self.read("step7.json")
        with open(self.path("odd.json"), "w") as f:
            f.write(text[:-2] + ",]}")
        self.run_it("report", "odd.json", "--output_csvs_dir", "repaired")
        self.run_it("report", "odd.json", "--strict", "--output_csvs_dir", "refused", status=6)
        self.assert_one_line("odd.json")
        self.assertNotIn("refused", self.files())


class Output(Case):
    def test_default_workbook_names(self):
        text = traces.simple().text().encode()
        with zipfile.ZipFile(self.path("zipped.json.zip"), "w") as z:
            z.writestr("inner.json", text)
        self.trace(name="a.json")
        self.trace(name="b.json.gz")
        self.trace(name="c.json.bak.json.gz")
        self.trace(name="d.trace")
        self.trace(name="e.pt.trace.json.GZ")
        for name, expected in (("a.json", "a"), ("b.json.gz", "b"), ("c.json.bak.json.gz", "c.json.bak"),
                               ("d.trace", "d.trace"), ("e.pt.trace.json.GZ", "e.pt.trace"), ("zipped.json.zip", "zipped")):
            before = set(self.files())
            self.run_it("report", name)
            self.assertEqual(set(self.files()) - before, {expected + "_perf_report.xlsx"})
            self.assertIn(expected + "_perf_report.xlsx", self.out)

    def test_empty_names_are_wrong_usage(self):
        trace = self.trace()
        for option in ("output_json_path", "output_xlsx_path", "output_csvs_dir"):
            self.run_it("report", trace, "--" + option, "", status=2)
            self.assert_one_line("the name of an output is empty")
        self.run_it("health", trace, "--output_csv_path=", status=2)
        self.assert_one_line("the name of an output is empty")
        self.assertEqual(self.files(), ["step7.json"])

    def test_which_outputs_are_made(self):
        trace = self.trace()
        for args, made in ((["--output_csvs_dir", "d"], {"d"}), (["--output_json_path", "r.json"], {"r.json"}),
                           (["--output_xlsx_path", "w.xlsx"], {"w.xlsx"}),
                           (["--output_csvs_dir", "x/y", "--output_xlsx_path", "v.xlsx"], {"x", "v.xlsx"})):
            before = set(self.files())
            self.run_it("report", trace, *args)
            self.assertEqual(set(self.files()) - before, made)
        self.assertNotIn("step7_perf_report.xlsx", self.files())

    def test_sheets_and_their_order(self):
        self.run_it("report", self.trace(), "--output_json_path", "-", "--enable_kernel_summary",
                    "--short_kernel_study")
        names = [t["name"] for t in json.loads(self.out)["tables"]]
        self.assertEqual(names, ["gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args",
                                 "unified_perf_summary", "GEMM", "BinaryElementwise", "kernel_summary",
                                 "short_kernel_histogram", "short_kernels_summary", "trace_health"])
        self.run_it("report", self.trace(traces.gpu_only), "--output_json_path", "-", "--enable_kernel_summary",
                    "--short_kernel_study")
        names = [t["name"] for t in json.loads(self.out)["tables"]]
        self.assertEqual(names, ["gpu_timeline", "kernel_summary", "short_kernel_histogram", "short_kernels_summary",
                                 "trace_health"])

    def test_short_kernel_sheets_are_there_even_when_empty(self):
        self.run_it("report", self.trace(), "--short_kernel_study", "--short_kernel_threshold_us=0.5",
                    "--output_csvs_dir", "out")
        self.assertEqual(self.read("out", "short_kernel_histogram.csv"), "bin_start,bin_end,count\n")
        self.assertIn("short_kernels_summary.csv", self.files("out"))

    def test_short_kernel_options(self):
        # kernels of 10, 11, 12 and 2.5 µs
        self.run_it("report", self.trace(), "--short_kernel_study", "--short_kernel_threshold_us", "12",
                    "--short_kernel_histogram_bins", "4", "--topk_short_kernels=1", "--output_json_path", "-")
        tables = {t["name"]: t for t in json.loads(self.out)["tables"]}
        self.assertEqual([row[2] for row in tables["short_kernel_histogram"]["rows"]], [1, 0, 0, 2])
        self.assertEqual(len(tables["short_kernels_summary"]["rows"]), 1)

    def test_micro_idle(self):
        self.run_it("report", self.trace(), "--micro_idle_thresh_us", "5", "--output_json_path", "-")
        rows = [row[0] for row in json.loads(self.out)["tables"][0]["rows"]]
        self.assertEqual(rows[4:6], ["micro_idle_time", "macro_idle_time"])

    def test_unlinked_events_are_announced_and_can_be_included(self):
        trace = self.trace(traces.with_unlinked)
        self.run_it("report", trace, "--output_csvs_dir", "out")
        words = " ".join(self.out.split())
        self.assertRegex(words, r"1 GPU event \(1\.23[45] ms\)")  # 1.2345, a tie
        self.assertIn("--include_unlinked_kernels", words)
        health = self.read("out", "trace_health.csv")
        self.assertIn("no_launch,1,1.2345,", health)
        self.assertIn("--include_unlinked_kernels", health)
        # 10 + 11 + 12 + 2.5 µs of launched kernels, and 1234.5 of the other
        self.assertIn("busy_time,0.0355,", self.read("out", "gpu_timeline.csv"))
        self.run_it("report", trace, "--include_unlinked", "--output_csvs_dir", "all")
        self.assertIn("busy_time,1.27,", self.read("all", "gpu_timeline.csv"))
        self.assertNotIn("Left out", self.out)

    def test_json_on_standard_output_is_alone_there(self):
        self.run_it("report", self.trace(), "--output_json_path", "-", "--disable_coll", "--micro_idle=2")
        data = json.loads(self.out)
        self.assertEqual(data["options"], "--micro_idle_thresh_us 2 --disable_coll_analysis")
        self.assertTrue(data["trace"].endswith("step7.json"))
        self.assertEqual(self.err, "")

    def test_quiet_and_no_summary(self):
        trace = self.trace()
        self.run_it("report", trace, "-q")
        self.assertEqual((self.out, self.err), ("", ""))
        self.run_it("report", trace, "--no-summary")
        self.assertEqual(len(self.out.splitlines()), 1)
        self.assertEqual(self.err, "")

    def test_summary(self):
        self.run_it("report", self.trace(traces.nasty), env={"COLUMNS": "60"})
        for word in ("GPU timeline", "busy_time", "Categories", "Operations", "aten::mm", "Workbook:"):
            self.assertIn(word, self.out)
        self.assertNotIn("\x1b", self.out)
        self.assertNotIn("\x07", self.out)
        summary = self.out[:self.out.index("\nWorkbook:")]
        self.assertLessEqual(max(map(len, summary.splitlines()[1:])), 60)

    def test_a_long_path_ends_with_the_name_of_its_file(self):
        os.makedirs(self.path("a" * 60))
        trace = os.path.join(self.path("a" * 60), "rank7.json")
        traces.simple().write(trace)
        self.run_it("report", trace, env={"COLUMNS": "60"})
        first = self.out.splitlines()[0]
        self.assertEqual(len(first), 60)
        self.assertEqual(first[:30] + first[30] + first[-10:], trace[:30] + "…" + "rank7.json")

    def test_colours(self):
        trace = self.trace()
        self.assertNotIn("\x1b[", self.run_it("report", trace))
        self.assertIn("\x1b[", self.run_it("report", trace, "--color", "always"))
        self.assertIn("\x1b[", self.run_it("report", trace, "--color=always", env={"NO_COLOR": "1"}))

    def terminal(self, *args, env=()):
        """Standard output of the command when that is a terminal."""
        master, slave = pty.openpty()
        run = subprocess.Popen([BINARY, *args], stdout=slave, stderr=subprocess.DEVNULL, cwd=self.dir,
                               env={**os.environ, "TERM": "xterm", **dict(env)})
        os.close(slave)
        data = b""
        try:
            while True:
                block = os.read(master, 65536)
                if not block:
                    break
                data += block
        except OSError:  # the other side is closed
            pass
        os.close(master)
        self.assertEqual(run.wait(60), 0)
        return data

    def test_colours_on_a_terminal(self):
        trace = self.trace()
        os.environ.pop("NO_COLOR", None)
        self.assertIn(b"\x1b[1m", self.terminal("report", trace))
        self.assertNotIn(b"\x1b[", self.terminal("report", trace, env={"NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b[", self.terminal("report", trace, env={"TERM": "dumb"}))
        self.assertNotIn(b"\x1b[", self.terminal("report", trace, "--color", "never"))

    def report_on_a_terminal(self, text, wait):
        """What a report writes to a terminal as standard error when the rest of its input comes after `wait` seconds,
        and how long it took."""
        master, slave = pty.openpty()
        began = time.monotonic()
        run = subprocess.Popen([BINARY, "report", "-", "--output_csvs_dir", "out"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=slave, cwd=self.dir)
        os.close(slave)
        run.stdin.write(text[:100].encode())
        run.stdin.flush()
        time.sleep(wait)
        run.stdin.write((text[100:] + " " * 3000000).encode())
        run.stdin.close()
        data = b""
        try:
            while True:
                data += os.read(master, 65536)
        except OSError:
            pass
        os.close(master)
        self.assertEqual(run.wait(60), 0)
        return data, time.monotonic() - began

    def test_progress_only_on_a_terminal_and_only_when_slow(self):
        text = traces.simple().text()
        data, _ = self.report_on_a_terminal(text, 1.5)
        self.assertTrue(b"reading" in data or b"analysing" in data, data)
        self.assertTrue(data.endswith(b"\r\x1b[K"), data)
        for _ in range(20):  # on a busy machine a report may take long once
            data, took = self.report_on_a_terminal(text, 0)
            if took < 1:  # from then on there is progress to see
                break
        else:
            self.skipTest("skipped: this machine takes a second for the smallest report")
        self.assertNotIn(b"reading", data)
        self.assertNotIn(b"analysing", data)

    def test_places_that_cannot_be_written(self):
        trace = self.trace()
        open(self.path("file"), "w").close()
        before = self.files()
        for args, word in ((["--output_xlsx_path", "no/w.xlsx"], "no/w.xlsx"), (["--output_json_path", "no/r.json"], "no/r.json"),
                           (["--output_csvs_dir", "file"], "file"), (["--output_csvs_dir", "file/x"], "file"),
                           (["--output_xlsx_path", self.dir], "directory"),
                           (["--output_csvs_dir", "new/dir", "--output_json_path", "/dev/full"], "/dev/full")):
            self.run_it("report", trace, *args, status=1)
            self.assert_one_line(word)
            self.assertEqual(self.files(), before, args)

    def test_the_trace_is_not_overwritten(self):
        trace = self.trace()
        for option in ("--output_json_path", "--output_xlsx_path", "--output_csvs_dir"):
            self.run_it("report", trace, option, trace, status=2)
            self.assert_one_line("this is the trace")
        self.run_it("report", trace, "--output_json_path", "z", "--output_xlsx_path", "z", status=2)
        self.assert_one_line("different names")
        self.run_it("report", trace, "-q")

    def test_full_standard_output(self):
        trace = self.trace()
        with open("/dev/full", "w") as full:
            run = subprocess.run([BINARY, "report", trace, "--output_csvs_dir", self.path("out")], stdout=full,
                                 stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"standard output", run.stderr)

    def test_old_files_are_replaced_and_others_stay(self):
        trace = self.trace()
        os.mkdir(self.path("out"))
        for name in ("ops_summary.csv", "notes.txt"):
            with open(self.path("out", name), "w") as f:
                f.write("old")
        self.run_it("report", trace, "--output_csvs_dir", "out")
        self.assertEqual(self.read("out", "notes.txt"), "old")
        self.assertNotEqual(self.read("out", "ops_summary.csv"), "old")
        self.assertFalse([n for n in self.files("out") if n.startswith(".")])


class Health(Case):
    def test_a_clean_trace(self):
        self.run_it("health", self.trace())
        self.assertIn("Nothing to report", self.out)

    def test_findings(self):
        trace = self.trace(traces.with_unlinked)
        self.assertRegex(self.run_it("health", trace), re.compile(r"^1 x no_launch: ", re.M))
        self.run_it("health", trace, "--output_csv_path", "h.csv")
        self.assertTrue(self.read("h.csv").startswith("kind,count,"))

    def test_usage(self):
        self.run_it("health", status=2)
        self.assert_one_line("which trace?")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
