#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the programs of examples/ on the bundled trace and checks what they print against the trace itself.

usage: test_examples.py DIRECTORY_OF_PROGRAMS [unittest options]
"""
import gzip
import json
import os
import re
import subprocess
import sys
import unittest

ROOT = os.environ.get("TL_SOURCE_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACE = os.path.join(ROOT, "examples", "traces", "transformer_rank0.json.gz")
GPU = ("kernel", "gpu_memcpy", "gpu_memset")
DIRECTORY = ""


def union(intervals):
    """Length of a union of (start, end), in integers."""
    length, end = 0, None
    for a, b in sorted(intervals):
        if end is None or a > end:
            length, end = length + b - a, b
        elif b > end:
            length, end = length + b - end, b
    return length


def ps(number):
    """A decimal number of microseconds as whole picoseconds."""
    whole, _, fraction = str(number).partition(".")
    return int(whole) * 10**6 + int((fraction + "000000")[:6])


class Trace:
    def __init__(self):
        with gzip.open(TRACE, "rt", encoding="utf-8") as f:
            self.events = json.load(f, parse_float=str)["traceEvents"]
        launches = {e["args"]["correlation"] for e in self.events
                    if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
        self.linked = [e for e in self.events
                       if e.get("cat") in GPU and e["args"].get("correlation") in launches]

    @staticmethod
    def span(event):
        return ps(event["ts"]), ps(event["ts"]) + ps(event["dur"])


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trace = Trace()

    def run_example(self, name, *args, status=0):
        run = subprocess.run([os.path.join(DIRECTORY, "example_" + name), *args], capture_output=True, text=True,
                             encoding="utf-8", timeout=60)
        self.assertEqual(run.returncode, status, run.stderr)
        self.err = run.stderr
        return run.stdout

    def test_navigate(self):
        out = self.run_example("navigate", TRACE)
        named = [u for u, e in enumerate(self.trace.events) if e.get("name") == "aten::addmm"]
        self.assertIn(f"{len(named)} events are named aten::addmm\n", out)
        first = min(named, key=lambda u: ps(self.trace.events[u]["ts"]))
        self.assertIn(f"\n└── UID: {first}, Category: cpu_op, Name: aten::addmm\n", out)
        self.assertIn(f"\nNode:\n  UID: {first}, Category: cpu_op, Name: aten::addmm\n", out)
        dims = self.trace.events[first]["args"]["Input Dims"]
        self.assertIn(f"    |   Input Dims: {dims}\n", out)
        uid, name, dur = re.search(r"GPU events below it:\n  UID (\d+): (.*), ([\d.]+) us\n", out).groups()
        kernel = self.trace.events[int(uid)]
        self.assertEqual((kernel["name"], str(kernel["dur"])), (name, dur))
        modules = re.search(r"The modules that it works for:\n((?:  .*\n)+)", out).group(1).splitlines()
        self.assertEqual(modules[0], "  aten::addmm")
        start, end = self.trace.span(self.trace.events[first])
        around = [e["name"] for e in self.trace.events if e.get("name", "").startswith("nn.Module:")
                  and self.trace.span(e)[0] <= start and end <= self.trace.span(e)[1]]
        self.assertCountEqual([m.strip() for m in modules[1:]], around)

    def test_navigate_without_such_an_event(self):
        self.assertIn("0 events are named no::such", self.run_example("navigate", TRACE, "no::such"))

    def test_timeline(self):
        trace, plain = self.run_example("timeline", TRACE).split("A list of three events")
        spans = [self.trace.span(e) for e in self.trace.linked]
        busy, total = union(spans), max(b for _, b in spans) - min(a for a, _ in spans)
        self.assertIn(f"({len(spans)} GPU events)", trace)
        for name, time in ("busy", busy), ("idle", total - busy), ("total", total):
            self.assertRegex(trace, rf"  {name} +{time / 10**6:.3f} us +{100 * time / total:.2f} %\n")
        for line in ("computation +50.000 us +55.56", "exposed communication +10.000 us +11.11",
                     "exposed copies +10.000 us +11.11", "busy +70.000 us +77.78", "idle +20.000 us +22.22",
                     "total +90.000 us 100.00"):
            self.assertRegex(plain, line)

    def test_launchers(self):
        out = self.run_example("launchers", TRACE)
        calls = [e for e in self.trace.events if e.get("name") == "aten::mm"]
        shapes = {json.dumps(e["args"]["Input Dims"]) for e in calls}
        self.assertRegex(out, rf"  aten::mm +{len(calls)} ")
        rows = out.partition("aten::mm by its arguments\n")[2].strip().splitlines()[1:]
        self.assertEqual(len(rows), len(shapes))
        self.assertEqual(sum(int(r.split()[-3]) for r in rows), len(calls))

    def test_roofline(self):
        out = self.run_example("roofline", TRACE)
        calls = [e for e in self.trace.events if e.get("name") in ("aten::mm", "aten::addmm")]
        self.assertIn(f"{len(calls)} calls of the family GEMM\n", out)
        flops = set()
        for e in calls:
            a, b = e["args"]["Input Dims"][-2:] if e["name"] == "aten::mm" else e["args"]["Input Dims"][1:3]
            bias = a[0] * b[1] if e["name"] == "aten::addmm" else 0
            flops.add(f"{(2 * a[0] * a[1] * b[1] + bias) / 1e9:.3f}")
        self.assertEqual({line.split()[5] for line in out.splitlines()[1:]}, flops)
        for line in out.splitlines()[1:]:
            self.assertLess(0, float(line.split()[11]))

    def test_roofline_of_nothing(self):
        self.run_example("roofline", TRACE, "NOSUCH", status=1)
        self.assertIn("no family of operations 'NOSUCH'", self.err)

    def test_custom_op(self):
        out = self.run_example("custom_op", TRACE)
        size = {"float": 4, "c10::BFloat16": 2}
        calls = [e for e in self.trace.events if e.get("name") == "aten::copy_"]
        expected, inputs = [], set()
        for e in calls:
            shape, (to, source) = e["args"]["Input Dims"][0], e["args"]["Input type"][:2]
            elements = 1
            for n in shape:
                elements *= n
            expected.append(f"copy of {tuple(shape)}, {source} to {to}: {elements * (size[to] + size[source]) / 2**20:.6f} MB")
            inputs.add(json.dumps([e["args"].get(k) for k in ("Input Dims", "Input type", "Input Strides",
                                                              "Concrete Inputs")]))
        found = [line.partition(" in ")[0] for line in out.splitlines() if line.startswith("copy of ")]
        self.assertCountEqual(found, expected)
        self.assertIn(f"the model was asked about {len(inputs)} distinct inputs", out)
        self.assertRegex(out, r"(?m)^category optimizer +[\d.]+ ms$")
        self.assertRegex(out, r"(?m)^category copy +[\d.]+ ms$")

    def test_modules(self):
        out = self.run_example("modules", TRACE, "0")
        spans = [(e["name"], self.trace.span(e)) for e in self.trace.events
                 if e.get("name", "").startswith("nn.Module:")]
        outermost = [n for n, (a, b) in spans if not any(c < a and b < d for _, (c, d) in spans)]
        self.assertEqual(re.findall(r"── (nn\.Module: \w+) \.+ \([\d.]+\)\n", out), outermost)
        deep = self.run_example("modules", TRACE, "9")
        self.assertEqual(len(re.findall("── nn.Module: ", deep)), len(spans))

    def test_errors_are_told(self):
        for name in ("custom_op", "launchers", "modules", "navigate", "roofline", "timeline"):
            self.run_example(name, status=2)
            self.assertIn("usage: ", self.err)
            self.run_example(name, "/no/such/file", status=1)
            self.assertIn("/no/such/file", self.err)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    DIRECTORY = sys.argv.pop(1)
    unittest.main()
