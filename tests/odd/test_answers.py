#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small inputs from bug reports of other tools, and the right answers (numbers of the cases are those of the project's
collection). Times are in µs; expected values are worked by hand.

usage: test_answers.py TRACELENS_BINARY [unittest options]
"""
import json
import os
import sys
import unittest

from odd import Case, Settings, frame, kernel, launch, named, op, trace


class Timeline(Case):
    def test_1_kernel_of_no_duration(self):
        events = []
        for i, (name, ts, dur, stream) in enumerate((("A", 100, 10, 7), ("Z", 105, 0, 8), ("B", 120, 5, 7))):
            events += [launch(i + 1, 10 * i + 1, 5), kernel(name, ts, dur, stream, i + 1)]
        answer = self.report(trace(*events))
        self.assertEqual(answer.status, 0)
        self.assertEqual(answer.kernels, {"A": (1, 10), "Z": (1, 0), "B": (1, 5)})
        self.assertEqual((answer.timeline["total"], answer.timeline["busy"], answer.timeline["idle"]), (25, 15, 10))

    def test_2_kernel_that_overruns_its_stream(self):
        data = trace(*(kernel("K%d" % (i + 1), 10 * i, 5000 if i == 1 else 10) for i in range(4)))
        raw = self.report(data, "--include_unlinked_kernels")
        self.assertEqual(sum(total for _, total in raw.kernels.values()), 5030)
        self.assertEqual(raw.timeline["total"], 5010)
        finding = [row for row in raw.rows("trace_health") if row["kind"] == "stream_overrun"]
        self.assertEqual((finding[0]["count"], finding[0]["time ms"]), (1, 4.99))
        self.assertIn("--clip_stream_overruns", finding[0]["meaning"])
        self.assertIn("4.990 ms", finding[0]["meaning"])
        self.assertIn("by 4990 µs", finding[0]["example"])
        self.assertIn("K2", finding[0]["example"])
        clipped = self.report(data, "--include_unlinked_kernels", "--clip_stream_overruns")
        self.assertEqual(clipped.kernels, {name: (1, 10) for name in ("K1", "K2", "K3", "K4")})
        self.assertEqual((clipped.timeline["total"], clipped.timeline["busy"], clipped.timeline["idle"]), (40, 40, 0))
        self.assertEqual((clipped.health["clipped_overrun"], clipped.health.get("stream_overrun")), (1, None))
        run = self.run_it("timeline", "trace.json", "--include_unlinked_kernels", "--clip_stream", "--format", "csv")
        self.assertIn(b"total_time,0.04,", run.stdout)

    def test_23_durations_that_make_no_sense(self):
        events = [kernel("good%d" % i, 1000 + 200 * i, 100) for i in range(10)]
        events += [kernel("short", 500, -5), kernel("long", 600, 7.4e15)]
        answer = self.report(trace(*events), "--include_unlinked_kernels")
        self.assertEqual(answer.timeline["busy"], 1000)
        self.assertEqual(answer.timeline["total"], 1900)
        self.assertEqual(answer.health["negative_duration"] + answer.health["absurd_duration"], 2)
        # they are events all the same
        self.assertEqual(sum(count for count, _ in answer.kernels.values()), 12)
        self.assertEqual(sum(total for _, total in answer.kernels.values()), 1000)

    def test_33_times_as_texts(self):
        events = [kernel("k%d" % i, "1715591234567%03d.%d00" % (890 + (9 * i) // 10, (9 * i) % 10), "0.900")
                  for i in range(5)]
        answer = self.report(trace(*events), "--include_unlinked_kernels")
        self.assertEqual(answer.kernels, {"k%d" % i: (1, 0.9) for i in range(5)})
        self.assertEqual((answer.timeline["busy"], answer.timeline["total"], answer.timeline["idle"]), (4.5, 4.5, 0))
        # host events at such times stand side by side, too
        events = [json.dumps({"ph": "X", "cat": "cpu_op", "name": "op%d" % i, "pid": "1", "tid": "1",
                              "ts": "1715591234567890.%03d" % (900 * i), "dur": "0.900"}) for i in range(2)]
        self.assertEqual(self.parents(trace(*events)), {"op0": None, "op1": None})

    def test_39_communication_and_copies_beside_computation(self):
        data = trace(kernel("gemm", 0, 1626), kernel("ncclDevKernel_AllReduce", 400, 627, stream=9),
                     kernel("Memcpy DtoH", 2100, 250, stream=10, cat="gpu_memcpy"))
        line = self.report(data, "--include_unlinked_kernels").timeline
        self.assertEqual((line["total"], line["busy"]), (2350, 1626 + 250))
        self.assertEqual(round(100 * line["busy"] / line["total"], 1), 79.8)
        self.assertEqual((line["computation"], line["exposed_comm"], line["total_comm"]), (1626, 0, 627))
        self.assertEqual((line["exposed_memcpy"], line["total_memcpy"], line["idle"]), (250, 250, 474))


class Nesting(Case):
    def test_4_launch_that_outlives_its_neighbour(self):
        data = trace(op("A", 0, 100), op("C", 8, 82), op("D", 25, 9.4), launch(5, 34.1, 6.3, name="E"),
                     kernel("k", 50, 20, correlation=5))
        self.assertEqual(self.parents(data), {"A": None, "C": "A", "D": "C", "E": "C", "k": "E"})
        nodes = {n["name"]: n for n in self.tree(data).values()}
        self.assertEqual({name for name, n in nodes.items() if n["gpu_events"]}, {"A", "C", "E"})
        answer = self.report(data)
        self.assertEqual(answer.launchers, {"C": (1, 20)})
        self.assertEqual(answer.kernels, {"k": (1, 20)})

    def test_5_ends_that_are_equal_in_decimals_and_not_in_doubles(self):
        for base in (0, 1_000_000_000, -5834922471000):
            texts = ['{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %d.%s, "dur": %s}' %
                     (name, 5834922471100 + base + whole, digits, dur)
                     for name, whole, digits, dur in (("parent", 0, "043", "50.308"), ("child", 3, "075", "47.276"))]
            self.assertEqual(self.parents(trace(*texts)), {"parent": None, "child": "parent"}, base)
            self.assertEqual(self.health(trace(*texts)), {}, base)

    def test_6_python_span_that_is_too_long(self):
        data = trace(op("P", 0, 100), frame("PyCapsule", 10, 5000), op("Q", 20, 10), launch(1, 22, 2, name="launch q"),
                     op("R", 200, 10), launch(2, 202, 2, name="launch r"), kernel("kq", 300, 5, correlation=1),
                     kernel("kr", 310, 6, correlation=2))
        parents = self.parents(data, "--python")
        self.assertEqual(parents, {"P": None, "PyCapsule": "P", "Q": "P", "R": None, "launch q": "Q", "launch r": "R",
                                   "kq": "launch q", "kr": "launch r"})
        self.assertEqual(self.health(data), {"overlong_python": 1})
        answer = self.report(data)
        self.assertEqual(answer.health, {"overlong_python": 1})
        self.assertEqual(answer.launchers, {"Q": (1, 5), "R": (1, 6)})

    def test_35_builtins_that_never_end(self):
        events = []
        for i in range(5):
            events += [frame("<built-in method f%d>" % i, 10 * i, 1000 - 10 * i), op("op%d" % i, 10 * i + 2, 5)]
        data = trace(*events)
        expected = {}
        for i in range(5):
            expected["<built-in method f%d>" % i] = None
            expected["op%d" % i] = "<built-in method f%d>" % i
        self.assertEqual(self.parents(data, "--python"), expected)
        self.assertEqual(self.health(data), {"unfinished_span": 5})
        self.assertEqual(self.report(data).health, {"unfinished_span": 5})

    def test_32_threads_past_32_bits(self):
        for tids in ((139900000000128, 139900400000128), (4294967301, 5)):
            data = trace(op("a", 0, 100, tid=tids[0]), op("b", 50, 100, tid=tids[1]))
            self.assertEqual(self.parents(data), {"a": None, "b": None})
            self.assertEqual(self.health(data), {})


class Launches(Case):
    def test_8_graphs_of_many_kernels(self):
        """A tenth of the case's size in either direction; each kernel is attached once."""
        launches, kernels = 200, 100
        events = []
        for i in range(launches):
            at = 1000 + i * (kernels + 20)
            events.append(launch(i + 1, at, 5, name="hipGraphLaunch"))
            events += [kernel("k%d" % (k % 7), at + 10 + k, 0.9, correlation=i + 1) for k in range(kernels)]
        answer = self.report(trace(*events))
        total = launches * kernels * 0.9
        self.assertAlmostEqual(answer.timeline["busy"], total, 6)
        self.assertEqual(sum(count for count, _ in answer.kernels.values()), launches * kernels)
        self.assertAlmostEqual(sum(time for _, time in answer.kernels.values()), total, 6)
        nodes = self.tree(trace(*events))
        roots = [n for n in nodes.values() if n["parent"] is None]
        self.assertEqual((len(roots), {len(n["gpu_events"]) for n in roots}), (launches, {kernels}))
        self.assertEqual(len({k for n in roots for k in n["gpu_events"]}), launches * kernels)

    def test_11_operation_around_execute(self):
        data = trace(op("conv_bn_fused", 0, 100), op("execute", 10, 80), launch(1, 20, 5),
                     kernel("k", 200, 40, correlation=1))
        self.assertEqual(self.report(data).launchers, {"conv_bn_fused": (1, 40)})

    def test_15_packed_attention_in_training(self):
        shapes = {"Input Dims": [[1024, 16, 128]] * 3 + [[3], [3]], "Input type": ["c10::BFloat16"] * 3 + ["int"] * 2}
        step = json.dumps({"ph": "X", "cat": "user_annotation", "name": "execute_context_2(1024)_generation_0(0)",
                           "pid": 100, "tid": 100, "ts": -10, "dur": 500})
        for name in ("aiter::fmha_v3_varlen_fwd", "aiter::mha_varlen_fwd"):
            events = [op(name, 0, 50, **shapes), launch(1, 5, 2), kernel("fmha", 100, 10, correlation=1)]
            row = self.report(trace(*events)).rows("unified_perf_summary")[0]
            self.assertEqual(row["op category"], "SDPA_fwd")
            # two sequences of 512: 2 * 2 * 16 * 512 * 512 * (128 + 128)
            self.assertAlmostEqual(row["GFLOPS"], 4.294967296, 9)
            answer = self.report(trace(step, *events))
            self.assertEqual(answer.rows("unified_perf_summary")[0]["op category"], "InferenceAttention")
            self.assertEqual(answer.rows("ops_summary")[0]["Categories"], ["InferenceAttention"])


class Text(Case):
    def test_27_values_that_are_not_json(self):
        good = '"pid": 0, "tid": 7, "ts": %d, "dur": 5'
        events = ['{"ph": "X", "cat": "kernel", "name": "k", %s, "args": {"stream": 7, "Comms Id": '
                  '18446744073709551616}}' % (good % 10), named(b"\xff", 20), named('na"me', 30)]
        answer = self.report(trace(*events), "--include_unlinked_kernels")
        self.assertEqual({name: n for name, (n, _) in answer.kernels.items()}, {"k": 1, "\ufffd": 1, 'na"me': 1})
        repairs = {row["kind"]: row["count"] for row in answer.rows("trace_health") if row["repair"]}
        self.assertEqual(repairs, {"big_integer": 1, "bad_utf8": 1, "unescaped_quote": 1})

    def test_30_names_of_all_kinds_of_brokenness(self):
        odd = ['{"k": "v", "n": "w"}(3): go', 't = make("a", "b")\n(1): <module>', "pkg\\core\\__main__.py(4): boot",
               "q\x01z(8): f", b"\xf4\x80u(0): \xc0"]
        events = []
        for i, text in enumerate(odd):
            events += [named(text, 100 * i), kernel("clean%d" % i, 100 * i + 50, 5)]
        answer = self.report(trace(*events), "--include_unlinked_kernels")
        names = set(answer.kernels)
        self.assertEqual(len(names), 10)
        self.assertEqual(sum(count for count, _ in answer.kernels.values()), 10)
        self.assertLessEqual({t for t in odd if isinstance(t, str)}, names)
        self.assertLessEqual({"clean%d" % i for i in range(5)}, names)
        repairs = [row for row in answer.rows("trace_health") if row["repair"]]
        self.assertEqual(sum(row["count"] for row in repairs), 5)
        # the name over two lines counts by its quotes
        self.assertEqual({row["kind"]: row["count"] for row in repairs},
                         {"unescaped_quote": 2, "bad_escape": 1, "control_byte": 1, "bad_utf8": 1})
        self.assertEqual(self.run_it("report", "trace.json", "--strict", "--output_csvs_dir", "x").returncode, 6)


if __name__ == "__main__":
    Settings.binary = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
