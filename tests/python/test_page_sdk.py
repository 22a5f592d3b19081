# SPDX-License-Identifier: MIT
"""What the manual page of the SDK promises, sample by sample, on the bundled trace: one rank of the training of a small
vision transformer, two steps, with Python frames and shapes."""
import contextlib
import functools
import gzip
import io
import json
import math
import os
import tempfile
import unittest
from unittest import mock

import common
from TraceLens import GPUEventAnalyser, TreePerfAnalyzer as FromTop
from TraceLens.PerfModel.perf_model import GEMM, UnaryElementwise
from TraceLens.PerfModel.torch_op_mapping import build_sheet_category_to_op_names
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch
from TraceLens.TreePerf import TreePerfAnalyzer

TRACE = common.BUNDLED


@functools.cache
def raw_events():
    with gzip.open(TRACE) as file:
        return json.load(file)["traceEvents"]


@functools.cache
def loaded():
    return TreePerfAnalyzer.from_file(TRACE, add_python_func=True)


def printed(function, *args, **kwargs):
    """(lines that a function prints, what it returns)"""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        result = function(*args, **kwargs)
    return text.getvalue().splitlines(), result


def first(tree, name):
    return next(event for event in tree.events if event["name"] == name)


class Tree(unittest.TestCase):
    def test_the_class_is_the_same_from_both_places(self):
        assert FromTop is TreePerfAnalyzer

    def test_subtree_from_operation_to_kernels(self):
        tree = loaded().tree
        operation = first(tree, "aten::convolution")
        lines, _ = printed(tree.traverse_subtree_and_print, operation)
        assert lines[0] == f"└── UID: {operation['UID']}, Category: cpu_op, Name: aten::convolution"
        assert lines[1].startswith("    └── UID: ") and "Name: aten::_convolution" in lines[1]
        launches = [line for line in lines if "Category: cuda_runtime" in line]
        kernels = [line for line in lines if "Category: kernel" in line]
        assert len(launches) == len(kernels) == len(tree.get_gpu_events(operation))
        for line, kernel in zip(kernels, tree.get_gpu_events(operation)):
            assert f"UID: {kernel['UID']}," in line and line.endswith(f"Duration: {kernel['dur']}")

    def test_parents_up_to_the_python_frame(self):
        tree = loaded().tree
        operation = first(tree, "aten::convolution")
        lines, root = printed(tree.traverse_parents_and_print, operation, cpu_op_fields=("Input Dims", "Input type"))
        assert lines[:2] == ["Node:", f"  UID: {operation['UID']}, Category: cpu_op, Name: aten::convolution"]
        assert lines[2] == f"    Input Dims: {operation['args']['Input Dims']}"
        assert lines[3].startswith("    Input type: [")
        assert lines[4:6] == ["1-up:", f"  UID: {tree.get_parent_event(operation)['UID']}, Category: cpu_op, "
                                       "Name: aten::conv2d"]
        assert any("Category: python_function, Name: nn.Module: Conv2d_0" in line for line in lines)
        assert any(": forward" in line for line in lines)
        assert root["cat"] == "python_function" and tree.get_parent_event(root) is None
        assert lines[-1].endswith(f"Name: {root['name']}")

    def test_parents_children_and_gpu_events(self):
        tree = loaded().tree
        operation = first(tree, "aten::convolution")
        children = tree.get_children_events(operation)
        assert [child["name"] for child in children] == ["aten::_convolution"]
        assert tree.get_parent_event(children[0]) is operation
        assert tree.get_UID2event(operation["UID"]) is operation is tree.events[operation["UID"]]
        kernels = tree.get_gpu_events(operation)
        assert kernels and all(kernel["cat"] == "kernel" for kernel in kernels)


def union(intervals):
    total, end = 0.0, -math.inf
    for start, stop in sorted(intervals):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def gpu_intervals(events, test=lambda event: True):
    return [(event["ts"], event["ts"] + event["dur"]) for event in events
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and test(event)]


class GpuTimeline(unittest.TestCase):
    def test_timeline(self):
        analyzer = loaded()
        raw = raw_events()
        frame = analyzer.get_df_gpu_timeline()
        assert list(frame.columns) == ["type", "time ms", "percent"]
        figures = dict(zip(frame["type"], frame["time ms"]))
        assert list(figures)[:6] == ["computation_time", "exposed_comm_time", "exposed_memcpy_time", "busy_time",
                                     "idle_time", "total_time"]
        assert math.isclose(figures["busy_time"], figures["computation_time"] + figures["exposed_comm_time"] +
                            figures["exposed_memcpy_time"])
        assert math.isclose(figures["total_time"], figures["busy_time"] + figures["idle_time"])
        # with all GPU events, also those without a launch, the figures follow from the file alone
        every = TreePerfAnalyzer.from_file(TRACE, include_unlinked_kernels=True).get_df_gpu_timeline()
        busy = every.set_index("type").loc["busy_time", "time ms"]
        assert math.isclose(busy, union(gpu_intervals(raw)) / 1000, rel_tol=1e-6)

    def test_timeline_of_a_plain_list(self):
        raw = raw_events()
        frame = GPUEventAnalyser(raw).get_breakdown_df()
        figures = dict(zip(frame["type"], frame["time ms"]))
        assert math.isclose(figures["busy_time"], union(gpu_intervals(raw)) / 1000, rel_tol=1e-6)
        communication = gpu_intervals(raw, lambda event: "nccl" in event["name"].lower())
        assert math.isclose(figures["total_comm_time"], union(communication) / 1000, rel_tol=1e-6)

    def test_timeline_of_another_format(self):
        class Mine(GPUEventAnalyser):
            def get_gpu_event_lists(self, gpu_pid=None, event_filter=None):
                events = [{"name": n, "ts": ts, "dur": d, "t_end": ts + d} for n, ts, d in self.events]
                return {"all_gpu": events, "computation": events[:1], "communication": events[1:], "memcpy": []}

        frame = Mine([("work", 0, 10), ("send", 5, 10)]).get_breakdown_df()
        figures = dict(zip(frame["type"], frame["time ms"]))
        assert figures["computation_time"] == 0.010 and figures["exposed_comm_time"] == 0.005
        assert figures["total_time"] == 0.015


class GpuTimeByOperation(unittest.TestCase):
    def test_time_by_operation(self):
        analyzer = loaded()
        launchers = analyzer.get_df_kernel_launchers(include_kernel_details=True)
        assert {"name", "total_direct_kernel_time", "kernel_details"} <= set(launchers.columns)
        for details, count in zip(launchers["kernel_details"], launchers["num_kernels"]):
            assert len(details) == count
        summary = analyzer.get_df_kernel_launchers_summary(launchers)
        assert {"name", "Count", "total_direct_kernel_time_ms", "Percentage (%)"} <= set(summary.columns)
        assert summary["total_direct_kernel_time_ms"].is_monotonic_decreasing
        assert math.isclose(summary["Percentage (%)"].sum(), 100)
        total = launchers[launchers["name"] == "aten::mm"]["total_direct_kernel_time"].sum()
        row = summary.set_index("name").loc["aten::mm"]
        assert row["Count"] == (launchers["name"] == "aten::mm").sum()
        assert math.isclose(row["total_direct_kernel_time_ms"], total / 1000)

    def test_one_operation_by_its_arguments(self):
        analyzer = loaded()
        launchers = analyzer.get_df_kernel_launchers(include_kernel_details=True)
        everything = analyzer.get_df_kernel_launchers_unique_args(launchers, include_pct=True)
        assert {"Percentage (%)", "Cumulative Percentage (%)"} <= set(everything.columns)
        products = analyzer.get_df_kernel_launchers_unique_args(launchers, event_name="aten::mm", include_pct=True)
        assert set(products["name"]) == {"aten::mm"}
        assert len(products) == (everything["name"] == "aten::mm").sum() > 1
        assert products["operation_count"].sum() == (launchers["name"] == "aten::mm").sum()


class RooflineMetrics(unittest.TestCase):
    def test_gemm_metrics(self):
        analyzer = loaded()
        categories = build_sheet_category_to_op_names(analyzer.op_to_perf_model_class_map)
        events = [event for event in analyzer.tree.events if event["name"] in categories["GEMM"]]
        assert events
        metrics = analyzer.build_df_perf_metrics(events, include_kernel_details=True)
        assert {"GFLOPS", "TFLOPS/s", "FLOPS/Byte", "TB/s", "param: M", "param: N", "param: K"} <= set(metrics.columns)
        for _, row in metrics.iterrows():
            flops = GEMM.flops_func(row["param: M"], row["param: N"], row["param: K"], row["param: bias"])
            assert math.isclose(row["GFLOPS"], flops * row["param: B"] / 1e9)
            assert math.isclose(row["TFLOPS/s"], row["GFLOPS"] / 1e3 / (row["Kernel Time (µs)"] / 1e6))
        summary = analyzer.summarize_df_perf_metrics(metrics, ["mean"])
        assert {"name", "param: M", "param: N", "param: K", "param: bias", "FLOPS/Byte_first",
                "TFLOPS/s_mean"} <= set(summary.columns)
        assert len(summary) < len(metrics)


class NewOperation(unittest.TestCase):
    def test_a_new_operation(self):
        analyzer = TreePerfAnalyzer.from_file(TRACE)
        events = [event for event in analyzer.tree.events if event["name"] == "aten::gelu"]
        assert events and len(analyzer.build_df_perf_metrics(events)) == 0

        class gelu(UnaryElementwise):
            category = "elementwise"

            @staticmethod
            def get_param_details(event):
                args = event["args"]
                return {"op_shape": tuple(args["Input Dims"][0]), "dtype_in_out": (args["Input type"][0], None),
                        "stride_input": tuple(args["Input Strides"][0]), "stride_output": None, "mine": [1, [2]]}

            def flops(self):
                return 8 * self.nelems

        with mock.patch.dict(analyzer.op_to_perf_model_class_map, {"aten::gelu": gelu}), \
                tempfile.TemporaryDirectory() as folder:
            metrics = analyzer.build_df_perf_metrics(events)
            for _ in range(2):  # what a script does to one table concerns no other
                unified = analyzer.build_df_unified_perf_table()
                params = unified[unified["name"] == "aten::gelu"]["perf_params"].iloc[0]
                assert params["mine"] == metrics["param: mine"].iloc[0] == [1, [2]]
                params["mine"][1].append(3)
                params["mine"] = [1, [2]]
            sheets = generate_perf_report_pytorch(TRACE, output_csvs_dir=folder)
            with open(os.path.join(folder, "UnaryElementwise.csv"), encoding="utf-8") as file:
                assert "aten::gelu" in file.read()
        elements = math.prod(events[0]["args"]["Input Dims"][0])
        assert len(metrics) == len(events)
        assert math.isclose(metrics["GFLOPS"].iloc[0], 8 * elements / 1e9)
        assert math.isclose(metrics["Data Moved (MB)"].iloc[0], elements * 4 / 2**20)
        # the unified table and the report know it, too
        assert unified[unified["name"] == "aten::gelu"]["has_perf_model"].all()
        for table in (unified, analyzer.summarize_df_unified_perf_table(unified), sheets["unified_perf_summary"]):
            params = table[table["name"] == "aten::gelu"]["perf_params"].iloc[0]
            dtype = events[0]["args"]["Input type"][0]
            assert params["op_shape"] == tuple(events[0]["args"]["Input Dims"][0])
            assert params["dtype_in_out"] == (dtype, None)
        rows = sheets["UnaryElementwise"]
        assert math.isclose(rows[rows["name"] == "aten::gelu"]["GFLOPS_first"].iloc[0], 8 * elements / 1e9)
        # and forget it with the entry
        assert len(analyzer.build_df_perf_metrics(events)) == 0


def walk(tree, event, lines, depth=0):
    """The page's module view, in a few lines."""
    lines.append(f"{'    ' * depth}{event['name']} ({event['GPU Time']:.2f})")
    children = [tree.get_UID2event(uid) for uid in tree.get_nn_module_children(event)]
    for child in children:
        walk(tree, child, lines, depth + 1)
    if children and event.get("Non-nn.Module GPU Time"):
        lines.append(f"{'    ' * (depth + 1)}Non-nn.Module GPU Ops ({event['Non-nn.Module GPU Time']:.2f})")


class Modules(unittest.TestCase):
    def test_module_latency_tree(self):
        analyzer = loaded()
        tree = analyzer.tree
        event = first(tree, "nn.Module: Block_1")
        analyzer.build_nn_module_latency_tree(event)
        children = [tree.get_UID2event(uid) for uid in tree.get_nn_module_children(event)]
        assert [child["name"].rsplit("_", 1)[0] for child in children] == [
            "nn.Module: LayerNorm", "nn.Module: Attention", "nn.Module: LayerNorm", "nn.Module: MLP"]
        parent = tree.get_UID2event(tree.get_nn_module_parent(event))
        assert parent["name"] == "nn.Module: VisionTransformer_0"
        assert all(tree.get_nn_module_parent(child) == event["UID"] for child in children)
        below = [(kernel["ts"], kernel["ts"] + kernel["dur"]) for kernel in tree.get_gpu_events(event)]
        assert math.isclose(event["GPU Time"], union(below), abs_tol=1e-3)
        # what the view's own walk reads
        assert event["nn_module_children"] == [child["UID"] for child in children]
        assert all(child["nn_module_parent"] == event["UID"] for child in children)
        assert children[0]["nn_module_children"] == []
        lines = []
        walk(tree, event, lines)
        assert lines[0] == f"nn.Module: Block_1 ({event['GPU Time']:.2f})"
        assert [line for line in lines if line.startswith("        nn.Module: Linear_")]
        # on one stream the modules and what belongs to none of them add up
        parts = sum(child["GPU Time"] for child in children) + event.get("Non-nn.Module GPU Time", 0)
        assert math.isclose(parts, event["GPU Time"], rel_tol=1e-6)

    def test_module_view_of_the_whole_model(self):
        analyzer = loaded()
        tree = analyzer.tree
        model = first(tree, "nn.Module: VisionTransformer_0")
        analyzer.build_nn_module_latency_tree(model)
        lines = []
        walk(tree, model, lines)
        assert sum("nn.Module: Block_" in line for line in lines) >= 3
        assert all(line.endswith(")") for line in lines)


if __name__ == "__main__":
    unittest.main()
