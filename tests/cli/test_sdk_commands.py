#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands that look into one trace: timeline, ops, roofline, tree, modules.

usage: test_sdk_commands.py TRACELENS_BINARY [unittest options]
"""
import csv
import io
import json
import os
import pty
import subprocess
import sys
import unittest

import test_command
import traces

COMMANDS = ("timeline", "ops", "roofline", "tree", "modules")
EXAMPLE = traces.EXAMPLE


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


class Common(test_command.Case):
    """What holds for each of them."""

    def test_help(self):
        listed = self.run_it("help")
        for command in COMMANDS:
            self.assertIn(f"  {command} ", listed)
            text = self.run_it("help", command)
            self.assertTrue(text.startswith(f"usage: tracelens {command} [OPTION ...] TRACE\n"))
            self.assertEqual(text, self.run_it(command, "--help"))
            self.assertEqual(text, self.run_it(command, "-h"))

    def test_wrong_usage(self):
        trace = self.trace()
        for command in COMMANDS:
            self.run_it(command, status=2)
            self.assert_one_line("which trace?", f"tracelens {command} --help")
            self.run_it(command, trace, trace, status=2)
            self.assert_one_line("one trace at a time")
            self.run_it(command, trace, "--no_such_option", status=2)
            self.assert_one_line("--no_such_option")
            self.run_it(command, trace, "--format", "xml", status=2)
            self.assert_one_line("xml")

    def test_input_that_cannot_be_read(self):
        with open(self.path("text"), "w") as f:
            f.write("hello")
        for command in COMMANDS:
            self.run_it(command, self.path("missing.json"), status=3)
            self.assert_one_line("missing.json")
            self.run_it(command, self.path("text"), status=3)
            self.assert_one_line("not JSON")
            self.assertEqual(self.out, "")

    def test_input_that_is_cut_off(self):
        text = traces.simple().text()
        with open(self.path("cut.json"), "w") as f:
            f.write(text[:-40])
        for command in COMMANDS:
            self.run_it(command, self.path("cut.json"), "-q", status=4)
            self.assert_one_line("cut off")

    def test_strict(self):
        text = traces.simple().text().replace('"aten::add"', '"aten::"add"')
        with open(self.path("broken.json"), "w") as f:
            f.write(text)
        for command in COMMANDS:
            self.run_it(command, self.path("broken.json"), "-q")
            self.run_it(command, self.path("broken.json"), "--strict", status=6)
            self.assertEqual(self.out, "")

    def test_standard_input_and_packed_files(self):
        trace = self.trace(name="step7.json.gz")
        for command in COMMANDS:
            expected = self.run_it(command, trace, "-q")
            with open(trace, "rb") as f:
                self.assertEqual(self.run_it(command, "-", "-q", stdin=f.read()), expected)

    def test_csv_and_json_are_the_same_table(self):
        for args in (["timeline"], ["ops"], ["ops", "--by", "args"], ["ops", "--by", "category"],
                     ["ops", "--op", "aten::mm"], ["roofline", "--category", "GEMM"]):
            table = json.loads(self.run_it(*args, EXAMPLE, "--format", "json"))
            listed = rows(self.run_it(*args, EXAMPLE, "--format", "csv"))
            self.assertEqual([c["name"] for c in table["columns"]], list(listed[0]))
            self.assertEqual(len(table["rows"]), len(listed))
            for cells, row in zip(table["rows"], listed):
                for column, cell in zip(table["columns"], cells):
                    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
                        self.assertEqual(float(row[column["name"]]), cell)

    def test_a_full_disk_is_told(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        for command in COMMANDS:
            for form in ("text", "json"):
                with open("/dev/full", "w") as full:
                    run = subprocess.run([test_command.BINARY, command, EXAMPLE, "-q", "--format", form], stdout=full,
                                         stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(run.returncode, 1, command)
                self.assertRegex(run.stderr, r"\Atracelens: cannot write [^\n]*\n\Z")  # once

    def test_a_reader_that_stops_is_no_crash(self):
        for command in COMMANDS:
            run = subprocess.Popen([test_command.BINARY, command, EXAMPLE, "-q"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
            run.stdout.close()
            err = run.stderr.read()
            run.stderr.close()
            self.assertIn(run.wait(timeout=60), (0, 1, -13), err)


class Timeline(test_command.Case):
    def test_figures(self):
        # kernels of 10, 11, 12 and 2.5 µs, each 100 µs after the other
        listed = rows(self.run_it("timeline", self.trace(), "--format", "csv"))
        times = {r["type"]: float(r["time ms"]) * 1000 for r in listed}
        for kind, time in (("computation_time", 35.5), ("busy_time", 35.5), ("total_time", 302.5), ("idle_time", 267),
                           ("total_comm_time", 0)):
            self.assertAlmostEqual(times[kind], time)
        self.assertEqual(self.err, "")

    def test_threshold(self):
        listed = rows(self.run_it("timeline", self.trace(), "--format", "csv", "--micro_idle_thresh_us", "89.5"))
        times = {r["type"]: float(r["time ms"]) * 1000 for r in listed}
        # gaps of 90, 89 and 88 µs
        self.assertAlmostEqual(times["micro_idle_time"], 177)
        self.assertAlmostEqual(times["macro_idle_time"], 90)
        self.run_it("timeline", self.trace(), "--micro_idle_thresh_us", "-1", status=2)

    def test_unlinked_events(self):
        trace = self.trace(traces.with_unlinked)
        without = self.run_it("timeline", trace)
        self.assert_one_line("1 GPU event (1.234 ms)", "--include_unlinked_kernels")
        self.assertIn("0.035", without)
        self.assertIn("1.270", self.run_it("timeline", trace, "--include_unlinked_kernels"))
        self.assertEqual(self.err, "")

    def test_nothing_on_the_gpu(self):
        self.run_it("timeline", self.trace(traces.host_only), status=5)
        self.assert_one_line("no GPU event")


class Ops(test_command.Case):
    def test_by_name(self):
        listed = rows(self.run_it("ops", self.trace(), "--format", "csv"))
        self.assertEqual([(r["name"], r["Count"]) for r in listed], [("aten::mm", "3"), ("aten::add", "1")])
        self.assertAlmostEqual(float(listed[0]["total_direct_kernel_time_ms"]), 0.033)
        text = self.run_it("ops", self.trace())
        self.assertRegex(text, r"\AOperations by kernel time  count     ms      %\n  aten::mm +3  0.033  92.96\n")

    def test_by_category_and_args(self):
        listed = rows(self.run_it("ops", self.trace(), "--by", "category", "--format", "csv"))
        self.assertEqual(listed[0]["op category"], "GEMM")
        self.assertIn("((4, 8), (8, 2))", self.run_it("ops", self.trace(), "--by", "args", env={"COLUMNS": "120"}))

    def test_one_operation(self):
        listed = rows(self.run_it("ops", self.trace(), "--op", "aten::mm", "--format", "csv"))
        self.assertEqual([r["name"] for r in listed], ["aten::mm"])
        self.assertEqual(listed[0]["operation_count"], "3")
        self.assertAlmostEqual(float(listed[0]["total_direct_kernel_time_median"]), 11)
        self.run_it("ops", self.trace(), "--op", "no::such", status=5)
        self.assert_one_line("no::such")
        self.run_it("ops", self.trace(), "--op", "aten::mm", "--by", "name", status=2)
        self.assert_one_line("--by")

    def test_a_name_that_is_nearly_one(self):
        for wrong, meant in (("aten::mn", "aten::mm"), ("mm", "aten::mm"), ("Aten::MM", "aten::mm"), ("ad", "aten::add")):
            self.assertEqual(self.run_it("ops", self.trace(), "--op", wrong, status=5), "")
            self.assert_one_line(f"did you mean '{meant}'?")
            self.run_it("tree", self.trace(), "--op", wrong, status=5)
            self.assert_one_line(f"did you mean '{meant}'?")
        for wrong, meant in (("GEM", "GEMM"), ("gemm", "GEMM"), ("Unaryelementwise", "UnaryElementwise")):
            self.run_it("roofline", self.trace(), "--category", wrong, status=2)
            self.assert_one_line(f"did you mean '{meant}'?")
        self.run_it("roofline", self.trace(), "--category", "something else", status=2)
        self.assert_one_line("there are GEMM, ")
        for command, option in (("ops", "--op"), ("tree", "--op"), ("modules", "--root")):
            for wrong in ("", "quite another name"):
                self.run_it(command, EXAMPLE, option, wrong, status=5)
                self.assertNotIn("did you mean", self.err)

    def test_top(self):
        self.assertEqual(len(self.run_it("ops", EXAMPLE, "--top", "3").splitlines()), 4)
        self.run_it("ops", EXAMPLE, "--top", "0", status=2)

    def test_nothing_launched(self):
        self.run_it("ops", self.trace(traces.host_only), status=5)
        self.run_it("ops", self.trace(traces.gpu_only), status=5)


class Roofline(test_command.Case):
    def test_one_family(self):
        listed = rows(self.run_it("roofline", self.trace(), "--category", "GEMM", "--format", "csv"))
        self.assertEqual([(r["param: M"], r["param: N"], r["param: K"]) for r in listed], [("4", "2", "8")])
        # 2 M N K FLOPs in 10, 11 and 12 µs
        self.assertAlmostEqual(float(listed[0]["GFLOPS_first"]), 128e-9)
        self.assertAlmostEqual(float(listed[0]["TFLOPS/s_mean"]), sum(128e-12 / (t * 1e-6) for t in (10, 11, 12)) / 3)

    def test_each_call(self):
        listed = rows(self.run_it("roofline", self.trace(), "--category", "GEMM", "--calls", "--format", "csv"))
        self.assertEqual([float(r["Kernel Time (\u00b5s)"]) for r in listed], [10, 11, 12])

    def test_all_families(self):
        text = self.run_it("roofline", self.trace())
        self.assertIn("GEMM ", text)
        self.assertIn("BinaryElementwise ", text)
        tables = json.loads(self.run_it("roofline", self.trace(), "--format", "json"))
        self.assertEqual([t["name"] for t in tables], ["GEMM", "BinaryElementwise"])
        self.run_it("roofline", self.trace(), "--format", "csv", status=2)
        self.assert_one_line("--category")

    def test_a_gpu(self):
        self.assertIn("% roof", self.run_it("roofline", EXAMPLE, "--gpu_arch_platform", "H100_SXM"))
        self.run_it("roofline", EXAMPLE, "--gpu_arch_platform", "ABACUS", status=2)
        self.assert_one_line("ABACUS")
        self.run_it("roofline", EXAMPLE, "--gpu_arch_platform", "H200", "--gpu_arch_json_path", "x", status=2)

    def test_nothing_to_show(self):
        self.run_it("roofline", self.trace(), "--category", "NOSUCH", status=2)
        self.assert_one_line("NOSUCH")
        self.run_it("roofline", self.trace(), "--category", "CONV", status=5)
        self.run_it("roofline", self.trace(traces.gpu_only), status=5)
        self.assertEqual(json.loads(self.run_it("roofline", self.trace(traces.gpu_only), "--format", "json", status=5)),
                         [])


class Tree(test_command.Case):
    def test_below_one_event(self):
        text = self.run_it("tree", EXAMPLE, "--op", "aten::mm", "--fields", "Input Dims, Input type", "-q")
        lines = text.splitlines()
        uid = int(lines[0].split(",")[0].split()[-1])
        self.assertEqual(lines[0], f"└── UID: {uid}, Category: cpu_op, Name: aten::mm")
        self.assertRegex(lines[1], r"    \|   Input Dims: \[\[\d+, \d+\], \[\d+, \d+\]\]")
        self.assertRegex(lines[2], r"    \|   Input type: \['")
        self.assertEqual(lines[3], "    |   ")
        self.assertEqual(text, self.run_it("tree", EXAMPLE, "--uid", str(uid), "--fields", "Input Dims,Input type"))

    def test_many_of_one_name(self):
        first = self.run_it("tree", EXAMPLE, "--op", "aten::mm")
        self.assert_one_line("52 events are named 'aten::mm'", "--every")
        every = self.run_it("tree", EXAMPLE, "--op", "aten::mm", "--every")
        self.assertTrue(every.startswith(first))
        self.assertEqual(every.count("Name: aten::mm\n"), 52)
        self.assertEqual(self.err, "")

    def test_parents_reach_up_to_python(self):
        plain = self.run_it("tree", EXAMPLE, "--op", "aten::addmm", "--parents", "-q")
        self.assertTrue(plain.startswith("Node:\n  UID: "))
        self.assertNotIn("python_function", plain)
        self.assertIn("nn.Module: ", self.run_it("tree", EXAMPLE, "--op", "aten::addmm", "--parents", "--python", "-q"))

    def test_any_argument_is_a_field(self):
        text = traces.simple()
        text.events[-1]["args"]["Ev Idx"] = {"deep": [1, 2.0, None]}
        path = text.write(self.path("fields.json"))
        self.assertIn("|   Ev Idx: {'deep': [1, 2.0, None]}\n",
                      self.run_it("tree", path, "--op", "aten::add", "--fields", "Ev Idx"))

    def test_the_whole_tree(self):
        text = self.run_it("tree", self.trace())
        self.assertEqual(text.count("└── UID:"), 12)  # four operations, launches and kernels
        nodes = json.loads(self.run_it("tree", self.trace(), "--format", "json"))
        self.assertEqual(len(nodes), 12)
        self.assertEqual(set(nodes[0]), {"UID", "name", "cat", "parent", "children", "gpu_events"})
        self.assertEqual([n["UID"] for n in nodes], sorted(n["UID"] for n in nodes))
        listed = rows(self.run_it("tree", self.trace(), "--format", "csv"))
        self.assertEqual([int(r["UID"]) for r in listed], [n["UID"] for n in nodes])

    def test_a_tree_that_shows_nothing_says_why(self):
        only = traces.Trace()
        only.events.append({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2})
        path = only.write(self.path("host.json"))
        self.assertEqual(self.run_it("tree", path), "")
        self.assert_one_line("no event leads to GPU work", "--all")
        self.assertEqual(self.run_it("tree", path, "--all"), "└── UID: 3, Category: cpu_op, Name: a\n")
        self.assertEqual(self.err, "")
        self.assertEqual(self.run_it("tree", path, "-q"), "")
        self.assertEqual(self.err, "")
        with open(path, "w", encoding="utf-8") as f:
            f.write("[]")
        self.assertEqual(self.run_it("tree", path), "")
        self.assert_one_line("no event")

    def test_data_of_a_part(self):
        nodes = json.loads(self.run_it("tree", self.trace(), "--format", "json"))
        top = next(n for n in nodes if n["name"] == "aten::add")
        below = json.loads(self.run_it("tree", self.trace(), "--op", "aten::add", "--format", "json"))
        self.assertEqual(sorted(n["name"] for n in below), ["add_kernel", "aten::add", "cudaLaunchKernel"])
        up = json.loads(self.run_it("tree", self.trace(), "--uid", str(top["gpu_events"][0]), "--parents",
                                    "--format", "json"))
        self.assertEqual([n["name"] for n in up], ["add_kernel", "cudaLaunchKernel", "aten::add"])

    def test_no_such_event(self):
        self.run_it("tree", self.trace(), "--uid", "99999", status=2)
        self.assert_one_line("99999")
        self.run_it("tree", self.trace(), "--op", "no::such", status=5)
        self.assert_one_line("no::such")
        for args in (["--uid", "1", "--op", "x"], ["--parents"], ["--every"], ["--uid", "-1"], ["--uid", "x"]):
            self.run_it("tree", self.trace(), *args, status=2)

    def test_a_name_cannot_steer_a_terminal(self):
        t = traces.Trace()
        t.op("bell\x07 and \x1b[31mred", "k")
        path = t.write(self.path("nasty.json"))
        self.assertIn("\x1b[31m", self.run_it("tree", path))  # in a pipe names stay as they are
        master, slave = pty.openpty()
        run = subprocess.Popen([test_command.BINARY, "tree", path], stdout=slave, stderr=slave, stdin=slave)
        os.close(slave)
        out = b""
        while True:
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            out += piece
        os.close(master)
        self.assertEqual(run.wait(timeout=60), 0)
        self.assertIn(b"bell? and ?[31mred", out)

    def test_deep_trees(self):
        t = traces.Trace()
        for i in range(3000):
            t.events.append({"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 10 + i,
                             "dur": 10000 - 2 * i, "args": {}})
        t.now = 4000
        t.kernel("k", 5)
        path = t.write(self.path("deep.json"))
        self.assertEqual(len(self.run_it("tree", path).splitlines()), 3002)
        self.assertEqual(len(json.loads(self.run_it("tree", path, "--format", "json"))), 3002)


class Modules(test_command.Case):
    def test_text(self):
        text = self.run_it("modules", EXAMPLE, "--root", "Attention_0")
        lines = text.splitlines()
        self.assertTrue(lines[0].endswith("(GPU Time \u03bcs)"))
        column = lines[0].index("(") + 2
        for line in lines[1:]:
            self.assertEqual(line.index(" (") + 1, column)
            self.assertRegex(line, r"── \S.* \.{5,} \(\d+\.\d\d\)\Z")
        self.assertIn("    └── Non-nn.Module GPU Ops ", lines[-1])
        self.assertEqual(text, self.run_it("modules", EXAMPLE, "--root", "nn.Module: Attention_0"))
        uid = json.loads(self.run_it("modules", EXAMPLE, "--root", "Attention_0", "--format", "json"))[0]["UID"]
        self.assertEqual(text, self.run_it("modules", EXAMPLE, "--uid", str(uid)))

    def test_depth(self):
        self.assertEqual(len(self.run_it("modules", EXAMPLE, "--depth", "0").splitlines()), 5)
        self.assertNotIn("MLP_0", self.run_it("modules", EXAMPLE, "--depth", "1"))
        self.assertIn("MLP_0", self.run_it("modules", EXAMPLE, "--depth", "2"))

    def test_csv_and_json(self):
        def flat(modules, parent, depth):
            for m in modules:
                yield m["UID"], m["name"], parent, depth, m["gpu_time_us"], m["remainder_us"]
                yield from flat(m["children"], m["UID"], depth + 1)
        tree = list(flat(json.loads(self.run_it("modules", EXAMPLE, "--format", "json")), None, 0))
        listed = rows(self.run_it("modules", EXAMPLE, "--format", "csv"))
        self.assertEqual(tree, [(int(r["UID"]), r["name"], int(float(r["parent UID"])) if r["parent UID"] else None,
                                 int(r["depth"]), float(r["GPU Time (\u00b5s)"]),
                                 float(r["Non-nn.Module GPU Time (\u00b5s)"])
                                 if r["Non-nn.Module GPU Time (\u00b5s)"] else None) for r in listed])

    def test_no_modules(self):
        self.assertEqual(self.run_it("modules", self.trace()), "")
        self.assert_one_line("no nn.Module")
        self.assertEqual(json.loads(self.run_it("modules", self.trace(), "--format", "json", "-q")), [])
        self.run_it("modules", EXAMPLE, "--root", "NoSuch_0", status=5)
        self.assert_one_line("NoSuch_0")
        root = json.loads(self.run_it("modules", EXAMPLE, "--format", "json"))[0]["name"]
        for wrong in (root[:-1], root.replace("nn.Module: ", "").lower(), root.replace("nn.Module: ", "")[1:]):
            self.run_it("modules", EXAMPLE, "--root", wrong, status=5)
            self.assert_one_line(f"did you mean '{root}'?")
        self.run_it("modules", EXAMPLE, "--uid", "1", status=2)
        self.assert_one_line(EXAMPLE)
        self.run_it("modules", EXAMPLE, "--uid", "99999999", status=2)
        self.assert_one_line("no event with UID 99999999; the trace has")
        self.run_it("modules", EXAMPLE, "--uid", "1", "--root", "x", status=2)
        self.run_it("modules", EXAMPLE, "--depth", "-1", status=2)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    test_command.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
