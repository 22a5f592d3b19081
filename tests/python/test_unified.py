# SPDX-License-Identifier: MIT
"""The unified table and its summary: which events, what of them, how they are grouped. Expected values by hand."""
import unittest
import warnings

import common
from TraceLens import TraceToTree, TreePerfAnalyzer

SHAPES = {"Input Dims": [[64, 32], [32, 16]], "Input type": ["c10::BFloat16", "c10::BFloat16"],
          "Input Strides": [[32, 1], [16, 1]], "Concrete Inputs": ["", ""]}
GFLOPS = 2 * 64 * 16 * 32 / 1e9


def launched(name, at, start, dur, link, stream=7):
    return [common.event("cudaLaunchKernel", "cuda_runtime", at, 1, correlation=link),
            common.event(name, "kernel", start, dur, tid=stream, pid=0, correlation=link, stream=stream)]


def mixed():
    """An operation with a kernel of its own around an aten::mm, one that communicates, aten::mm of one and of two kernels,
    an operation and an aten::mm without GPU work, and communication that no operation launched."""
    return [
        common.event("outer", "cpu_op", 0, 100),                                 # 0
        *launched("extra", 1, 1000, 20, 1),                                      # 1, 2
        common.event("aten::mm", "cpu_op", 50, 10, **SHAPES),                    # 3
        *launched("gemm", 52, 1100, 10, 2),                                      # 4, 5
        common.event("c10d::allreduce_", "cpu_op", 200, 100),                    # 6
        *launched("ncclDevKernel_AllReduce", 210, 1105, 500, 3, stream=8),       # 7, 8
        common.event("aten::mm", "cpu_op", 400, 10, **SHAPES),                   # 9
        *launched("gemm", 402, 2000, 30, 4),                                     # 10, 11
        common.event("aten::mm", "cpu_op", 500, 10, **SHAPES),                   # 12
        *launched("gemm", 502, 2100, 4, 5),                                      # 13, 14
        *launched("reduce", 504, 2110, 2, 6),                                    # 15, 16
        common.event("aten::empty", "cpu_op", 600, 3),                           # 17
        common.event("aten::mm", "cpu_op", 700, 3, **SHAPES),                    # 18
        *launched("ncclDevKernel_Alone", 800, 3000, 7, 7, stream=8),             # 19, 20
    ]


def analyzer(events=None, **options):
    return TreePerfAnalyzer(TraceToTree(mixed() if events is None else events), **options)


def rows(frame, *columns):
    return list(zip(*(frame[name] for name in columns)))


class WhichEvents(unittest.TestCase):
    def test_communication_is_left_out_unless_asked_for(self):
        a = analyzer()
        expected = [("aten::mm", 3), ("aten::mm", 9), ("aten::mm", 12), ("outer->extra (Synthetic Op)", 21)]
        self.assertEqual(rows(a.build_df_unified_perf_table(), "name", "UID"), expected)
        self.assertEqual([(e["name"], e["UID"]) for e in a.collect_unified_perf_events()], expected)

    def test_communication(self):
        a = analyzer()
        made = a.build_df_unified_perf_table(include_nccl=True)
        self.assertEqual(rows(made, "name", "UID", "Kernel Time (µs)"), [
            ("aten::mm", 3, 10), ("c10d::allreduce_", 6, 500), ("aten::mm", 9, 30), ("aten::mm", 12, 6),
            ("cudaLaunchKernel->ncclDevKernel_Alone (Synthetic Op)", 21, 7), ("outer->extra (Synthetic Op)", 22, 20)])
        collected = a.collect_unified_perf_events(include_nccl=True)
        self.assertEqual([e["UID"] for e in collected], list(made["UID"]))
        self.assertEqual(collected[-1]["gpu_events"], [2])
        again = a.build_df_unified_perf_table(collected)
        self.assertEqual(rows(again, "name", "UID", "Kernel Time (µs)"), rows(made, "name", "UID", "Kernel Time (µs)"))

    def test_every_gpu_event_counts_once(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED)
        for communication in (False, True):
            made = a.build_df_unified_perf_table(include_nccl=communication)
            seen = [kernel["gpu_op_uid"] for details in made["kernel_details"] for kernel in details]
            self.assertEqual(len(seen), len(set(seen)))
            names = [a.tree.get_UID2event(uid)["name"] for uid in seen]
            self.assertEqual(communication, any("nccl" in name.lower() for name in names))
        linked = [e["UID"] for e in a.tree.events if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")
                  and e.get("tree")]
        self.assertEqual(set(seen), set(linked))

    def test_chosen_events(self):
        a = analyzer()
        events = a.tree.events
        made = a.build_df_unified_perf_table([events[12], events[0], 17, dict(events[18]), events[6], events[12]])
        self.assertEqual(list(made["UID"]), [12, 0, 17, 18, 6, 12])
        self.assertEqual(list(made["name"]), ["aten::mm", "outer", "aten::empty", "aten::mm", "c10d::allreduce_",
                                              "aten::mm"])
        self.assertEqual(list(made["has_perf_model"]), [True, False, False, True, False, True])
        self.assertEqual(list(made["Kernel Time (µs)"].fillna(-1)), [6, 30, -1, 0, 500, 6])
        self.assertEqual(list(made["GFLOPS"].fillna(-1)), [GFLOPS, -1, -1, GFLOPS, -1, GFLOPS])
        self.assertEqual(list(made["duration_us"]), [10, 100, 3, 3, 100, 10])
        self.assertEqual([k["gpu_op_uid"] for k in made["kernel_details"][1]], [2, 5])
        self.assertIsNone(made["kernel_details"][2])
        self.assertEqual(made["perf_params"][0]["M"], 64)

    def test_chosen_gpu_events(self):
        a = analyzer()
        made = a.build_df_unified_perf_table([a.tree.events[5], 20])
        self.assertEqual(rows(made, "name", "UID", "Kernel Time (µs)"), [
            ("aten::mm->gemm (Synthetic Op)", 5, 10),
            ("cudaLaunchKernel->ncclDevKernel_Alone (Synthetic Op)", 20, 7)])

    def test_a_backward_operation_by_itself(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED)
        whole = a.build_df_unified_perf_table()
        backward = whole[whole["op category"].str.endswith("_bwd") & whole["has_perf_model"]]
        self.assertTrue(len(backward))
        some = a.build_df_unified_perf_table(list(backward["UID"])[::-1])
        columns = ("UID", "op category", "has_perf_model", "GFLOPS", "Kernel Time (µs)")
        self.assertEqual(rows(some, *columns), rows(backward[::-1], *columns))

    def test_nonsense(self):
        a = analyzer()
        with self.assertWarns(UserWarning):
            self.assertEqual(len(a.build_df_unified_perf_table([])), 0)
        for wrong in ([99], [-1], [{"UID": 99}], [{"UID": 99, "gpu_events": [2, 5]}]):
            with self.assertRaises(ValueError):
                a.build_df_unified_perf_table(wrong)
        with self.assertRaises(ValueError):
            a.build_df_unified_perf_table([{"name": "aten::mm"}])
        for wrong in ("aten::mm", 7, a.tree.events[3]):
            with self.assertRaises(TypeError):
                a.build_df_unified_perf_table(wrong)

    def test_columns(self):
        a = analyzer()
        head = ["name", "op category", "UID", "pid", "tid", "process_name", "process_label", "thread_name",
                "External id", "overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct"]
        arguments = ["Input Dims", "Input type", "Input Strides", "Concrete Inputs"]
        metrics = ["GFLOPS", "Kernel Time (µs)", "TFLOPS/s", "Data Moved (MB)", "FLOPS/Byte", "TB/s", "Compute Spec",
                   "perf_params"]
        made = a.build_df_unified_perf_table()
        self.assertEqual(list(made), [*head, *arguments, "duration_us", "has_perf_model", *metrics, "kernel_details"])
        made = a.build_df_unified_perf_table(include_args=False, include_perf_metrics=False)
        self.assertEqual(list(made), [*head, "duration_us", "has_perf_model", "kernel_details"])
        made = a.build_df_unified_perf_table(include_kernel_details=False)
        self.assertEqual(list(made), [*head, *arguments, "duration_us", "has_perf_model", *metrics])

    def test_overlaps(self):
        # gemm runs 1100..1110, the communication 1105..1605: 5 of its 10 µs
        made = analyzer().build_df_unified_perf_table()
        self.assertEqual(list(made["overlap_pct"].fillna(-1)), [0.5, -1, -1, -1])
        self.assertEqual(made["overlapping_kernel_names"][0], ["ncclDevKernel_AllReduce"])
        self.assertIsNone(made["overlapping_kernel_names"][1])
        self.assertEqual(made["overlapping_kernels_details"][0],
                         [{"name": "ncclDevKernel_AllReduce", "dur": 500, "stream": 8, "overlap_pct": 0.5}])


class Summary(unittest.TestCase):
    def test_groups(self):
        a = analyzer()
        made = a.summarize_df_unified_perf_table(a.build_df_unified_perf_table())
        self.assertEqual(rows(made, "name", "operation_count", "Kernel Time (µs)_sum"),
                         [("aten::mm", 3, 46), ("outer->extra (Synthetic Op)", 1, 20)])
        self.assertNotIn("num_kernels", made)

    def test_groups_by_number_of_kernels(self):
        a = analyzer()
        table = a.build_df_unified_perf_table()
        made = a.summarize_df_unified_perf_table(table, group_by_num_kernels=True)
        self.assertEqual(rows(made, "name", "num_kernels", "operation_count", "Kernel Time (µs)_sum"),
                         [("aten::mm", 1, 2, 40), ("outer->extra (Synthetic Op)", 1, 1, 20), ("aten::mm", 2, 1, 6)])
        names = list(made)
        self.assertEqual(names.index("num_kernels"), names.index("Concrete Inputs") + 1)
        # a column of that name counts where there is one, and without either nothing changes
        plain = a.summarize_df_unified_perf_table(table.drop(columns="kernel_details"), group_by_num_kernels=True)
        self.assertEqual(len(plain), 2)
        named = a.summarize_df_unified_perf_table(table.assign(num_kernels=[5, 6, 7, 8]), group_by_num_kernels=True)
        self.assertEqual(sorted(named["num_kernels"]), [5, 6, 7, 8])

    def test_rows_of_one_operation_stay_together_beside_their_overlaps(self):
        a = analyzer()
        made = a.summarize_df_unified_perf_table(a.build_df_unified_perf_table(), include_overlapping_kernels=True)
        # 36 and 10 µs of one operation with these arguments, then 20 of another one
        self.assertEqual(rows(made, "name", "Kernel Time (µs)_sum"),
                         [("aten::mm", 36), ("aten::mm", 10), ("outer->extra (Synthetic Op)", 20)])
        self.assertEqual(list(made["overlap_pct_mean"].fillna(-1)), [-1, 0.5, -1])
        metrics = a.build_df_perf_metrics([a.tree.events[uid] for uid in (3, 9, 12)])
        made = a.summarize_df_perf_metrics(metrics, ["mean"], include_overlapping_kernels=True)
        self.assertEqual(list(made["Kernel Time (µs)_sum"]), [36, 10])

    def test_empty(self):
        import pandas as pd
        with self.assertWarns(UserWarning):
            self.assertEqual(len(TreePerfAnalyzer.summarize_df_unified_perf_table(pd.DataFrame())), 0)


def framed():
    """An operation below an nn.Module and a frame, beside a frame without any of the marks."""
    return [
        common.event("run", "python_function", 0, 900),
        common.event("nn.Module: Linear_3", "python_function", 10, 800),
        common.event("torch/nn/linear.py(1): forward", "python_function", 20, 700),
        common.event("aten::mm", "cpu_op", 50, 100, **SHAPES),
        *launched("gemm", 52, 1100, 10, 2),
        *launched("split_k", 54, 1120, 5, 3),
    ]


class CallStacks(unittest.TestCase):
    STACK = ["nn.Module: Linear", "torch/nn/linear.py(1): forward", "aten::mm"]

    def test_of_kernel_details(self):
        a = analyzer(framed(), add_python_func=True)
        table = a.build_df_unified_perf_table()
        made = a.summarize_df_unified_perf_table(table, include_call_stack=True)
        self.assertEqual(made["call_stack_full"][0], str([*self.STACK, ["split_k"], ["gemm"]]))
        self.assertNotIn("call_stack", made["kernel_details_summary"][0][0])

    def test_looked_up_in_a_tree(self):
        a = analyzer(framed(), add_python_func=True)
        table = a.build_df_unified_perf_table(include_kernel_details=False)
        made = a.summarize_df_unified_perf_table(table, include_call_stack=True, tree=a.tree)
        self.assertEqual(made["call_stack_full"][0], str([*self.STACK, ["gemm"], ["split_k"]]))
        far = a.summarize_df_unified_perf_table(table.assign(UID=99), include_call_stack=True, tree=a.tree)
        self.assertEqual(far["call_stack_full"][0], "Not found")

    def test_not_to_be_had(self):
        a = analyzer(framed(), add_python_func=True)
        table = a.build_df_unified_perf_table(include_kernel_details=False)
        with self.assertWarns(UserWarning):
            made = a.summarize_df_unified_perf_table(table, include_call_stack=True)
        self.assertNotIn("call_stack_full", made)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = a.summarize_df_unified_perf_table(table, tree=a.tree)
        self.assertNotIn("call_stack_full", made)


if __name__ == "__main__":
    unittest.main()
