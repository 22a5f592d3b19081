#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options that add sheets, columns or keys to the PyTorch report, each on a trace made for it.

usage: test_report_options.py TRACELENS_BINARY [unittest options]
"""
import csv
import json
import os
import sys
import unittest

import test_command
import traces


class ReportOptions(test_command.Case):
    def sheets(self, trace, *args, env=None):
        """Runs a report; returns {sheet: rows as dicts}."""
        self.run_it("report", trace.write(self.path("t.json")), "--output_csvs_dir", "csv", *args, env=env)
        out = {}
        for name in self.files("csv"):
            with open(self.path("csv", name), encoding="utf-8", newline="") as f:
                out[name[:-4]] = list(csv.DictReader(f))
            os.remove(self.path("csv", name))
        return out

    def kernel(self, trace, **changes):
        """The kernel that was made last, changed."""
        kernel = [e for e in trace.events if e.get("cat") == "kernel"][-1]
        kernel["args"]["stream"] = changes.pop("stream", 7)
        kernel.update(changes)
        return kernel

    def frame(self, trace, name, ts, dur, number, parent):
        trace.events.append({"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur,
                             "args": {"Python id": number, "Python parent id": parent}})

    def test_nothing_of_it_unasked(self):
        sheets = self.sheets(traces.simple())
        self.assertFalse([s for s in sheets if s.endswith("_kl_overlap")])
        for rows in sheets.values():
            for column in ("is_recompute", "first_occurrence_time", "num_kernels", "entry_point", "call_stack_full"):
                self.assertNotIn(column, rows[0] if rows else {})

    def test_heaviest_rows_only(self):
        full = self.sheets(traces.simple())
        self.assertEqual([r["name"] for r in full["ops_unique_args"]], ["aten::mm", "aten::add"])
        cut = self.sheets(traces.simple(), "--topk_ops", "1")
        self.assertEqual(cut["ops_unique_args"], full["ops_unique_args"][:1])  # percentages of all rows, too
        self.assertAlmostEqual(float(cut["ops_unique_args"][0]["Percentage (%)"]), 33 / 35.5 * 100)
        self.assertEqual(cut["unified_perf_summary"], full["unified_perf_summary"])
        trace = traces.simple()
        trace.op("aten::mm", "gemm_kernel", dur=90, dims=((8, 8), (8, 8)))
        full, cut = self.sheets(trace), self.sheets(trace, "--topk_roofline_ops=1")
        self.assertEqual(len(full["GEMM"]), 2)
        self.assertEqual(cut["GEMM"], full["GEMM"][:1])
        self.assertEqual(cut["GEMM"][0]["Kernel Time (µs)_sum"], "90.0")
        self.assertEqual(cut["ops_unique_args"], full["ops_unique_args"])

    def test_cutting_to_nothing_is_refused(self):
        trace = self.trace()
        for option in ("--topk_ops", "--topk_roofline_ops"):
            self.run_it("report", trace, option, "0", status=2)
            self.assert_one_line("too small")

    def test_first_occurrence(self):
        rows = self.sheets(traces.simple(), "--include_first_occurrence_time")["ops_unique_args"]
        self.assertEqual([(r["name"], r["first_occurrence_time"]) for r in rows],
                         [("aten::mm", "0.0"), ("aten::add", "300.0")])

    def test_number_of_kernels_as_a_key(self):
        def trace():
            t = traces.Trace()
            t.op("aten::mm", "k")
            t.now += 4
            t.kernel("split", 40)  # launched by the next operation, too
            t.now -= 4
            t.op("aten::mm", "k")
            return t

        plain = self.sheets(trace())
        self.assertEqual(len(plain["ops_unique_args"]), 1)
        self.assertEqual(len(plain["GEMM"]), 1)
        sheets = self.sheets(trace(), "--group_by_num_kernels")
        self.assertEqual([r["num_kernels"] for r in sheets["ops_unique_args"]], ["2", "1"])
        self.assertEqual([r["num_kernels"] for r in sheets["GEMM"]], ["2", "1"])
        self.assertEqual(len(sheets["unified_perf_summary"]), 1)

    def test_overlapping_kernels(self):
        trace = traces.Trace()
        trace.op("aten::mm", "mm_kernel", dur=100)
        self.kernel(trace, ts=2000, stream=7)
        trace.op("aten::add", "add_kernel", dur=150)
        self.kernel(trace, ts=2050, stream=8, tid=8)
        sheets = self.sheets(trace, "--include_overlap_info")
        by_name = {r["name"]: r for r in sheets["ops_unique_args_kl_overlap"]}
        self.assertEqual(by_name["aten::mm"]["overlapping_kernel_names"], "['add_kernel']")
        self.assertEqual(by_name["aten::mm"]["overlap_pct_mean"], "0.5")
        self.assertEqual(by_name["aten::add"]["overlap_pct_mean"], "0.33")
        self.assertEqual(sheets["GEMM_kl_overlap"][0]["overlapping_kernel_names_first"], "['add_kernel']")
        self.assertEqual(len(sheets["unified_perf_summary_kl_overlap"]), 2)
        self.assertNotIn("overlap_pct_mean", sheets["ops_unique_args"][0])
        self.run_it("report", self.path("t.json"), "--include_overlap_info", "--output_json_path", "r.json")
        self.assertEqual([t["name"] for t in json.loads(self.read("r.json"))["tables"]][3:9],
                         ["ops_unique_args", "ops_unique_args_kl_overlap", "unified_perf_summary",
                          "unified_perf_summary_kl_overlap", "GEMM", "GEMM_kl_overlap"])

    def python_trace(self):
        trace = traces.Trace()
        self.frame(trace, "train.py(3): main", 900, 1000, 1, None)
        self.frame(trace, "nn.Module: Net_0", 910, 900, 2, 1)
        self.frame(trace, "torch/nn/modules/module.py(1): _call_impl", 920, 800, 3, 2)
        self.frame(trace, "model/net.py(7): forward", 930, 700, 4, 3)
        trace.op("aten::mm", "gemm_kernel_0")
        return trace

    def test_call_stacks(self):
        row = self.sheets(self.python_trace(), "--include_call_stack")["unified_perf_summary"][0]
        self.assertEqual(row["entry_point"], "model/net.py(7): forward")
        # no module, operation or path: train.py is left out; numbers of modules go, those of kernels stay
        self.assertEqual(row["call_stack_full"],
                         "['nn.Module: Net', 'torch/nn/modules/module.py(1): _call_impl', 'model/net.py(7): forward', "
                         "'aten::mm', 'gemm_kernel_0']")
        self.assertNotIn("call_stack", row["kernel_details_summary"])
        self.assertNotIn("wrappers", row)
        sheets = self.sheets(self.python_trace(), "--include_call_stack", "--include_overlap_info")
        self.assertIn("entry_point", sheets["unified_perf_summary"][0])
        self.assertNotIn("entry_point", sheets["unified_perf_summary_kl_overlap"][0])
        self.assertNotIn("call_stack", sheets["unified_perf_summary_kl_overlap"][0]["kernel_details_summary"])
        for value, there in (("", False), ("1", True)):
            row = self.sheets(self.python_trace(), "--include_call_stack",
                              env={"TRACELENS_DEBUG": value})["unified_perf_summary"][0]
            self.assertEqual("wrappers" in row, there)
        self.assertEqual((row["num_wrappers"], row["traversal"], row["wrappers"]),
                         ("0", "outward", "['model/net.py(7): forward', 'aten::mm']"))

    def test_recomputation(self):
        trace = traces.Trace()
        trace.op("aten::mm", "gemm_kernel", dur=10)
        start = trace.now
        trace.op("aten::mm", "gemm_kernel", dur=15)
        self.frame(trace, "torch/utils/checkpoint.py(1500): recompute_fn", start - 5, 80, 1, None)
        sheets = self.sheets(trace, "--detect_recompute", "--short_kernel_study")
        flags = [(r["type"], r["time ms"], r["is_recompute"]) for r in sheets["gpu_timeline"] if r["type"] == "busy_time"]
        self.assertEqual(flags, [("busy_time", "0.01", "False"), ("busy_time", "0.015", "True")])
        for sheet in ("ops_summary_by_category", "ops_summary", "ops_unique_args", "unified_perf_summary", "GEMM"):
            self.assertEqual([r["is_recompute"] for r in sheets[sheet]], ["True", "False"], sheet)
        # a trace without such frames has the column, too
        rows = self.sheets(traces.simple(), "--detect_recompute")["gpu_timeline"]
        self.assertEqual([r["is_recompute"] for r in rows], ["False"] * 8)

    def test_simulators_are_announced_as_missing(self):
        trace = traces.simple()
        for args, word in ((["--enable-origami"], "--enable-origami"), (["--python_path", "python3"], "--python_path")):
            health = self.sheets(trace, *args)["trace_health"]
            self.assertEqual([r["kind"] for r in health], ["no_simulator"])
            self.assertEqual(health[0]["repair"], "False")
            self.assert_one_line("note", word, "simulator")
        self.run_it("report", self.path("t.json"), "--enable_origami", "--quiet")
        self.assertEqual(self.err, "")
        self.run_it("report", self.path("t.json"), "--enable_origami", "--strict", "-q")

    def moe_trace(self):
        """A layer of experts in three kernels, and an operation with a running number in its name."""
        trace = traces.Trace()
        trace.op("sglang_profiler::gelu_17", "gelu", dur=4)
        start = trace.now
        kernels = ("_matmul_ogs_mxfp4_swiglu", "_matmul_ogs_mxfp4", "_finalize_matmul_scatter")
        for name, dur in zip(kernels, (40, 20, 5)):
            trace.kernel(name, dur)
            trace.now += 100
        trace.events.append({"ph": "X", "cat": "cpu_op", "name": "vllm::moe_forward", "pid": 1, "tid": 1, "ts": start,
                             "dur": 290, "args": {"Input Dims": [[32, 2880], [32, 128]],
                                                  "Input type": ["c10::BFloat16", "c10::BFloat16"]}})
        return trace

    def test_pseudo_operations(self):
        names = ["pseudo_op::moe_triton_unfused_" + part for part in ("up", "down", "finalize_matmul_scatter")]
        trace = self.moe_trace()
        without = {r["name"] for r in self.sheets(trace)["ops_unique_args"]}
        self.assertEqual(without, {"vllm::moe_forward", "sglang_profiler::gelu_17"})
        sheets = self.sheets(trace, "--enable_pseudo_ops")
        self.assertNotIn("pseudo_op_skipped", [r["kind"] for r in sheets["trace_health"]])
        # all sheets agree on what each kernel belongs to
        for sheet, time in (("ops_summary", "total_direct_kernel_time_sum"), ("ops_unique_args",
                            "total_direct_kernel_time_sum"), ("unified_perf_summary", "Kernel Time (µs)_sum")):
            times = {r["name"]: float(r[time]) for r in sheets[sheet]}
            self.assertEqual(times, dict(zip(names + ["sglang_profiler::gelu"], (40, 20, 5, 4))), sheet)
        # worked numbers of the specification: M 32, K 2880, 128 experts, 4 a token, gated up
        rows = {r["name"]: r for r in sheets["unified_perf_summary"]}
        for name, flops, moved in ((names[0], 4246732800, 678216781.925), (names[1], 2123366400, 339569190.963)):
            self.assertAlmostEqual(float(rows[name]["GFLOPS"]), flops / 1e9)
            self.assertAlmostEqual(float(rows[name]["Data Moved (MB)"]), moved / 2**20, places=5)
        self.assertEqual(rows[names[0]]["op category"], "MoE_unfused")

    def test_pseudo_operations_read_frames_where_they_need_them(self):
        trace = traces.Trace()
        trace.kernel("mla_stage1", 30)
        at = {"pid": 1, "tid": 1}
        trace.events.append({"ph": "X", "cat": "cpu_op", "name": "aiter::mla_decode_stage1_asm_fwd", "ts": 1000, "dur": 9,
                             "args": {"Input Dims": [[4, 16, 576]], "Input type": ["c10::BFloat16"]}, **at})
        self.frame(trace, "aiter/mla.py(160): mla_decode_fwd", 990, 100, 1, None)
        rows = self.sheets(trace, "--enable_pseudo_ops")["unified_perf_summary"]
        self.assertEqual([r["name"] for r in rows], ["pseudo_mla_decode_fwd"])

    WRAPPER = """# Topologically Sorted Source Nodes: [a], Original ATen: [aten.add]
triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''
    size_hints={'x': 1000},
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}},
''', device_str='cuda')
"""

    def test_inductor_cache(self):
        trace = traces.Trace()
        trace.op("triton_poi_fused_add_0", "triton_poi_fused_add_0", dims=(), types=())
        os.makedirs(self.path("cache", "ab"))
        with open(self.path("cache", "ab", "wrapper.py"), "w", encoding="utf-8") as f:
            f.write(self.WRAPPER)

        def row(*args, env=None):
            return self.sheets(trace, *args, env=env)["unified_perf_summary"][0]

        self.assertNotIn("GFLOPS", row())
        for found in (row("--inductor_cache_dir", "cache"), row(env={"TORCHINDUCTOR_CACHE_DIR": self.path("cache")})):
            self.assertEqual((found["GFLOPS"], found["Data Moved (MB)"], found["Compute Spec"]),
                             ("1e-06", str(8000 / 2**20), "vector_fp32"))
        self.assertNotIn("GFLOPS", row(env={"TORCHINDUCTOR_CACHE_DIR": self.path("none")}))
        self.run_it("report", self.path("t.json"), "--inductor_cache_dir", "none", status=1)
        self.assert_one_line("Inductor cache 'none'")


if __name__ == "__main__":
    test_command.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
