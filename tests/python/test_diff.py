# SPDX-License-Identifier: MIT
"""TraceDiff: matching, what the merged tree holds, tables, files, and bad use."""
import contextlib
import csv
import gc
import io
import json
import os
import subprocess
import tempfile
import threading
import unittest
import warnings
import weakref

import common
from tracemaker import events, launch, op, write
import pandas as pd
from TraceLens import TraceDiff, TraceToTree, TreePerfAnalyzer, _core
from TraceLens.Reporting.tracediff_comparison_extension import tracediff_perf_summary_from_diff_stats

FILES = ["cpu_op_map.json", "cpu_op_map_trace1.json", "cpu_op_map_trace2.json", "diff_stats.csv",
         "diff_stats_unique_args_summary.csv", "merged_tree_output.txt"]
STATS = ["name", "cpu_op_name", "cpu_op_uid", "source", "Input Dims", "Input Strides", "Input type", "Concrete Inputs",
         "kernel_time", "busy_time", "lowest_common_ancestor_name", "lowest_common_ancestor_id", "gpu_op_uid",
         "nn_module_stack", "nn_module_parent"]


def tree(*roots, **more):
    made = TraceToTree(events(*roots, **more))
    made.build_tree()
    return made


def diff(left, right, **more):
    return TraceDiff(tree(*left), tree(*right), **more)


def work(name, kernel="k", dur=1):
    return op(name, launch("cudaLaunchKernel", kernel, dur))


def uid(tree_, name, which=0):
    return [e["UID"] for e in tree_.events if e.get("name") == name][which]


def names(td):
    """(name in tree 1, name in tree 2) of the nodes of the merged tree, parents first."""
    def name(tree_, event):
        return None if event is None else tree_.events[event]["name"]

    nodes = sorted(td.merged_tree[0], key=lambda node: node["merged_id"])
    return [(name(td.baseline, n["uid1"]), name(td.variant, n["uid2"])) for n in nodes]


def printed(function, *args, **kwargs):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(*args, **kwargs)
    return text.getvalue()


def convolutions():
    """One convolution on two vendors' libraries, and an addition."""
    left = [op("aten::convolution", op("aten::_convolution",
                                       op("aten::miopen_convolution", launch("hipLaunchKernel", "igemm", 30),
                                          Input_Dims=[[1, 3], [3]], Input_type=["float", "float"]),
                                       op("aten::add_", launch("hipLaunchKernel", "addk", 5))))]
    right = [op("aten::convolution", op("aten::_convolution",
                                        op("aten::cudnn_convolution",
                                           launch("cudaMemsetAsync", "Memset (Device)", 1, cat="gpu_memset"),
                                           launch("cudaLaunchKernel", "sm90_conv", 20)),
                                        op("aten::add_", launch("cudaLaunchKernel", "addk", 6))))]
    return left, right


class Matching(unittest.TestCase):
    """Alignments worked out by hand; src/compare tests many more of them."""

    def test_an_operation_more_at_the_start_shifts_nothing(self):
        td = diff([work(n) for n in "ABC"], [work(n) for n in "ZABC"])
        self.assertEqual([pair for pair in names(td) if pair[0] != "k" and pair[1] != "k" and
                          "cudaLaunchKernel" not in pair], [(None, "Z"), ("A", "A"), ("B", "B"), ("C", "C")])
        for name in "ABC":
            self.assertEqual(td.get_corresponding_uid(1, uid(td.baseline, name)), uid(td.variant, name))
        self.assertEqual(td.get_corresponding_uid(2, uid(td.variant, "Z")), -1)

    def test_reordered(self):
        td = diff([op("p", work("A"), work("B"))], [op("p", work("B"), work("A"))])
        for name in "AB":
            self.assertEqual(td.get_corresponding_uid(1, uid(td.baseline, name)), uid(td.variant, name))
        self.assertEqual(td.totals["moved"], 1)

    def test_wrappers_on_one_side(self):
        td = diff([op("blk", op("W", work("T"), work("U")), work("V"))], [op("blk", work("T"), work("U"), work("V"))])
        for name in "TUV":
            self.assertEqual(td.get_corresponding_uid(1, uid(td.baseline, name)), uid(td.variant, name))
        self.assertEqual(td.totals["trace1"]["looked_through"], 1)
        with self.assertRaisesRegex(ValueError, "Could not find merged node"):
            td.print_merged_subtree(uid_tree1=uid(td.baseline, "W"))
        # with one way down only it stands for what is there
        td = diff([op("blk", op("W", op("W2", work("X"), work("Y"))))], [op("blk", work("X"), work("Y"))])
        self.assertEqual(td.get_corresponding_uid(1, uid(td.baseline, "X")), uid(td.variant, "X"))

    def test_twins(self):
        left, right = [work("mine::mm", "k", 1)], [work("aten::mm", "k", 3)]
        self.assertEqual(diff(left, right).totals["matched_operations"], 0)
        td = diff(left, right, twins="# ours\nmine::mm = aten::mm\n")
        self.assertEqual(td.totals["matched_operations"], 1)
        self.assertIn("combined: mine::mm | aten::mm\n", printed(td.print_merged_subtree, uid_tree1=0))
        for wrong, error in (("mine::mm", ValueError), (5, TypeError), ("\ud800 = a", ValueError)):
            with self.assertRaises(error):
                diff(left, right, twins=wrong)

    def test_every_event_has_an_answer(self):
        left, right = convolutions()
        made = (tree(*left, stray=[("lost", 4)]), tree(*right, stray=[("lost", 5), ("new", 1)]))
        td = TraceDiff(*made)
        for number, (mine, other) in ((1, made), (2, made[::-1])):
            for event in mine.events:
                found = td.get_corresponding_uid(number, event)
                self.assertEqual(found, td.get_corresponding_uid(number, event["UID"]))
                if found != -1:
                    self.assertEqual(td.get_corresponding_uid(3 - number, found), event["UID"])
                    self.assertEqual(other.events[found]["cat"], event["cat"])
        self.assertEqual(td.get_corresponding_uid(1, uid(made[0], "lost")), uid(made[1], "lost"))
        self.assertEqual(td.get_corresponding_uid(2, uid(made[1], "new")), -1)
        for nothing in (-1, 10**6, 10**30, float("nan"), 0.5):
            self.assertEqual(td.get_corresponding_uid(1, nothing), -1)
        self.assertEqual(td.get_corresponding_uid(1, 0.0), td.get_corresponding_uid(1, 0))

    def test_the_map(self):
        made = (tree(*convolutions()[0], stray=[("lost", 4)]), tree(*convolutions()[1]))
        td = TraceDiff(*made)
        table = dict(td.merged_uid_map)
        self.assertEqual(len(table), len(td.merged_uid_map))
        self.assertEqual(set(table), {(n, e["UID"]) for n, t in zip((1, 2), made) for e in t.events})
        self.assertEqual(table[1, uid(made[0], "aten::miopen_convolution")], uid(made[1], "aten::cudnn_convolution"))
        self.assertEqual(table[1, uid(made[0], "lost")], -1)
        self.assertEqual(table, td.merged_uid_map)
        for nothing in ((3, 0), (1, 99), (1, -1), (1, "a"), 1, None, (1,), (1, None), (1, 2, 3)):
            self.assertNotIn(nothing, td.merged_uid_map)
            with self.assertRaises(KeyError):
                td.merged_uid_map[nothing]
            self.assertIsNone(td.merged_uid_map.get(nothing))


class MergedTree(unittest.TestCase):
    def test_nodes(self):
        td = TraceDiff(tree(*convolutions()[0], stray=[("lost", 4)]), tree(*convolutions()[1]))
        nodes, roots = td.merged_tree
        self.assertEqual(sorted(node["merged_id"] for node in nodes), list(range(len(nodes))))
        self.assertEqual(set(nodes[0]), {"merged_id", "uid1", "uid2", "merged_type", "children", "nn_module_stack"})
        by_id = {node["merged_id"]: node for node in nodes}
        place = {node["merged_id"]: at for at, node in enumerate(nodes)}
        below = [child for node in nodes for child in node["children"]]
        self.assertEqual(sorted(below + roots), sorted(by_id))  # each below one other, or a root
        for node in nodes:
            for child in node["children"]:
                self.assertLess(node["merged_id"], child)
                self.assertGreater(place[node["merged_id"]], place[child])
        kinds = {(n["uid1"] is not None, n["uid2"] is not None): n["merged_type"] for n in nodes}
        self.assertEqual(kinds, {(True, True): "combined", (True, False): "trace1", (False, True): "trace2",
                                 (False, False): "combined"})
        self.assertEqual(by_id[roots[0]]["nn_module_stack"], ["root"])
        # every GPU event of both traces once
        for key, side in (("uid1", td.baseline), ("uid2", td.variant)):
            there = [n[key] for n in nodes if n[key] is not None and side.events[n[key]]["pid"] == 0]
            self.assertEqual(sorted(there), [e["UID"] for e in side.events if e["pid"] == 0])
        self.assertIs(td.merged_tree, td.merged_tree)
        self.assertEqual(td.merge_trees(), (nodes, roots))

    def test_the_text(self):
        td = TraceDiff(tree(op("aten::zeros"), *convolutions()[0]), tree(*convolutions()[1], stray=[("lost", 4)]))
        text = ("├── >> trace1: aten::zeros\n"
                "├── aten::convolution\n"
                "│   └── aten::_convolution\n"
                "│       ├── combined: aten::miopen_convolution | aten::cudnn_convolution\n"
                "│       │   ├── combined: hipLaunchKernel | cudaLaunchKernel\n"
                "│       │   │   ├── >> trace1: igemm\n"
                "│       │   │   └── << trace2: sm90_conv\n"
                "│       │   └── << trace2: cudaMemsetAsync\n"
                "│       │       └── << trace2: Memset (Device)\n"
                "│       └── aten::add_\n"
                "│           └── combined: hipLaunchKernel | cudaLaunchKernel\n"
                "│               └── addk\n"
                "└── (no launch in trace)\n"
                "    └── << trace2: lost\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tree.txt")
            td.print_merged_tree(path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), text)
            td.print_merged_tree(path, prune_non_gpu=True)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), text.split("\n", 1)[1])
        self.assertEqual(printed(td.print_merged_subtree, uid_tree1=uid(td.baseline, "aten::add_")),
                         "└── aten::add_\n    └── combined: hipLaunchKernel | cudaLaunchKernel\n        └── addk\n")
        self.assertEqual(printed(td.print_merged_subtree, uid_tree2=uid(td.variant, "lost")), "└── << trace2: lost\n")
        # tree 1 wins
        self.assertEqual(printed(td.print_merged_subtree, uid(td.baseline, "igemm"), uid(td.variant, "lost")),
                         "└── >> trace1: igemm\n")
        with self.assertRaisesRegex(ValueError, "At least one of uid_tree1 or uid_tree2"):
            td.print_merged_subtree()
        for nothing in (99, -1, float("nan")):
            with self.assertRaisesRegex(ValueError, "Could not find merged node"):
                td.print_merged_subtree(nothing)

    def test_where_the_trees_part(self):
        td = diff(*convolutions())
        a, b = td.baseline, td.variant
        self.assertEqual([e["name"] for e in td.db1], ["aten::miopen_convolution", "hipLaunchKernel", "igemm",
                                                       "hipLaunchKernel"])
        self.assertEqual([e["name"] for e in td.db2], ["aten::cudnn_convolution", "cudaMemsetAsync", "cudaLaunchKernel",
                                                       "sm90_conv", "cudaLaunchKernel"])
        self.assertEqual(td.pod1, {e["UID"] for e in td.db1})
        self.assertEqual(td.pod2, {*(e["UID"] for e in td.db2), uid(b, "Memset (Device)")})
        self.assertIs(td.db1[0], a.events[uid(a, "aten::miopen_convolution")])

    def test_lists_of_siblings(self):
        td = diff([work(n) for n in "ABCD"], [work(n) for n in "ZACE"])
        a = [uid(td.baseline, n) for n in "ABCD"]
        b = [uid(td.variant, n) for n in "ZACE"]
        steps = td.wagner_fischer(a, b, {})
        self.assertEqual([s for s in steps if s[0] == "match"], [("match", 0, 1), ("match", 2, 2)])
        self.assertEqual({s for s in steps if s[0] != "match"},
                         {("insert", None, 0), ("delete", 1, None), ("delete", 3, None), ("insert", None, 3)})
        self.assertEqual(td.wagner_fischer([], b), [("insert", None, j) for j in range(4)])
        self.assertEqual(td.wagner_fischer(a, []), [("delete", i, None) for i in range(4)])


class Tables(unittest.TestCase):
    def test_before_and_after(self):
        td = diff(*convolutions())
        for name in ("diff_stats_df", "diff_stats_summary_df", "diff_stats_unique_args_summary_df"):
            self.assertTrue(getattr(td, name).empty)
            with self.assertLogs("TraceLens.TraceDiff", "WARNING"):
                self.assertIsNone(getattr(td, f"get_{name}")())
        self.assertIsNone(td.generate_tracediff_report())
        for name in ("diff_stats_df", "diff_stats_summary_df", "diff_stats_unique_args_summary_df"):
            self.assertIs(getattr(td, f"get_{name}")(), getattr(td, name))
            self.assertIsInstance(getattr(td, name), pd.DataFrame)

    def test_one_row_a_gpu_event(self):
        td = diff(*convolutions())
        stats = td.generate_diff_stats()
        self.assertIs(stats, td.diff_stats_df)
        self.assertEqual(list(stats.columns), STATS)
        a, b = td.baseline, td.variant
        conv = "aten::miopen_convolution | aten::cudnn_convolution"
        node = {n["uid1"]: n["merged_id"] for n in td.merged_tree[0]}
        ids = (node[uid(a, "aten::miopen_convolution")], node[uid(a, "aten::add_")])
        self.assertEqual(sorted(zip(*(stats[c] for c in ("name", "cpu_op_name", "source", "kernel_time", "busy_time",
                                                         "lowest_common_ancestor_name", "lowest_common_ancestor_id",
                                                         "gpu_op_uid", "cpu_op_uid")))), sorted([
            ("igemm", "aten::miopen_convolution", "trace1", 30, 30, conv, ids[0], uid(a, "igemm"), 2),
            ("Memset (Device)", "aten::cudnn_convolution", "trace2", 1, 21, conv, ids[0], uid(b, "Memset (Device)"), 2),
            ("sm90_conv", "aten::cudnn_convolution", "trace2", 20, 21, conv, ids[0], uid(b, "sm90_conv"), 2),
            ("addk", "aten::add_", "trace1", 5, 5, "aten::add_", ids[1], uid(a, "addk"), uid(a, "aten::add_")),
            ("addk", "aten::add_", "trace2", 6, 6, "aten::add_", ids[1], uid(b, "addk"), uid(b, "aten::add_"))]))
        row = stats[stats["name"] == "igemm"].iloc[0]
        self.assertEqual((row["Input Dims"], row["Input type"]), (((1, 3), (3,)), ("float", "float")))
        self.assertEqual((row["nn_module_stack"], row["nn_module_parent"]), ("root", "root"))

    def test_by_unique_arguments(self):
        roots = [op("aten::mm", launch("cudaLaunchKernel", "gemm", dur), Input_Dims=[[m, 2]])
                 for m, dur in ((4, 10), (4, 20), (8, 7), (4, 60))] + [work("aten::add", "addk", 3)]
        td = diff(roots, [])
        made = td.get_df_diff_stats_unique_args()
        self.assertEqual(list(made.columns), [
            "name", "operation_count", "cpu_op_name", "cpu_op_uid", "source", "Input Dims", "Input Strides",
            "Input type", "Concrete Inputs", "busy_time", "lowest_common_ancestor_name", "nn_module_stack",
            "nn_module_parent", "kernel_time_mean", "kernel_time_sum"])
        self.assertEqual(list(zip(made["name"], made["Input Dims"], made["operation_count"], made["kernel_time_mean"],
                                  made["kernel_time_sum"])),
                         [("gemm", ((4, 2),), 3, 30, 90), ("gemm", ((8, 2),), 1, 7, 7), ("addk", None, 1, 3, 3)])
        self.assertIs(made, td.diff_stats_unique_args_summary_df)

        more = td.get_df_diff_stats_unique_args(agg_metrics=["max", "sum", "median", "std"])
        self.assertEqual(list(more.columns)[13:], ["kernel_time_max", "kernel_time_sum", "kernel_time_median",
                                                   "kernel_time_std"])
        self.assertEqual(list(more["kernel_time_max"]), [60, 7, 3])
        self.assertEqual(list(more["kernel_time_median"]), [20, 7, 3])
        self.assertAlmostEqual(more["kernel_time_std"][0], 700 ** 0.5)  # deviations -20, -10, 30
        self.assertTrue(pd.isna(more["kernel_time_std"][1]))

        one = td.get_df_diff_stats_unique_args("addk", ["min"])
        self.assertEqual(list(one["name"]), ["addk"])
        self.assertEqual(list(one.columns)[13:], ["kernel_time_min", "kernel_time_sum"])
        self.assertTrue(td.get_df_diff_stats_unique_args("nothing").empty)
        for wrong, error in ((dict(agg_metrics=["mode"]), ValueError), (dict(agg_metrics=5), TypeError),
                             (dict(op_name=5), TypeError)):
            with self.assertRaises(error):
                td.get_df_diff_stats_unique_args(**wrong)

    def test_maps(self):
        td = diff(*convolutions())
        self.assertEqual((td.cpu_op_map, len(td.cpu_op_map_trace1), len(td.cpu_op_map_trace2)), ({}, 0, 0))
        self.assertIsNone(td.get_cpu_op_to_kernels_json())
        self.assertEqual(td.cpu_op_map_trace1.index.name, "cpu_op_name")
        self.assertEqual(td.cpu_op_map_trace1.to_dict()["name"], {"aten::add_": ["addk"], "aten::miopen_convolution": ["igemm"]})
        self.assertEqual(td.cpu_op_map_trace2.to_dict()["name"], {
            "aten::add_": ["addk"], "aten::cudnn_convolution": ["Memset (Device)", "sm90_conv"]})
        entry = {"kernels": ["addk"], "nn_module_parents": ["root"]}
        self.assertEqual(td.cpu_op_map["aten::add_"], {"trace1": entry, "trace2": entry})
        self.assertEqual(list(td.cpu_op_map), ["aten::miopen_convolution", "aten::cudnn_convolution", "aten::add_"])

    def test_by_ancestor_and_totals(self):
        td = diff(*convolutions())
        td.generate_tracediff_report()
        made = td.diff_stats_summary_df
        self.assertEqual(list(made["delta"]), [-9, 1])
        self.assertEqual(list(made["kernel_time_trace1"]), [30, 5])
        self.assertEqual(list(made["kernel_time_trace2"]), [21, 6])
        totals = td.totals
        self.assertEqual((totals["matched_operations"], totals["identical"]), (4, False))
        self.assertEqual((totals["trace1"]["gpu_events"], totals["trace1"]["gpu_time_us"]), (2, 35))
        self.assertEqual((totals["trace2"]["gpu_events"], totals["trace2"]["gpu_time_us"]), (3, 27))
        self.assertIn("4 matched operations of 4 and 4", repr(td))

    def test_one_row_an_ancestor(self):
        left, right = convolutions()
        stats = diff([work("only1", "k", 15), *left], [*right, work("only2", "k", 7)]).generate_diff_stats()
        self.assertEqual(stats["lowest_common_ancestor_id"].isna().sum(), 2)
        made = tracediff_perf_summary_from_diff_stats(stats)
        self.assertEqual(list(made.columns), [
            "name", "lowest_common_ancestor_name", "lowest_common_ancestor_id", "nn_module_stack", "nn_module_parent",
            "Input Dims", "Input type", "Input Strides", "Concrete Inputs", "kernel_time_trace1_us",
            "kernel_time_trace2_us", "num_kernels_trace1", "num_kernels_trace2", "kernel_names_trace1",
            "kernel_names_trace2", "speedup (trace2/trace1)", "delta_us (trace2 - trace1)", "pct_of_trace1_total (%)",
            "cumulative_pct_trace1 (%)", "pct_of_trace2_total (%)"])
        first, second = made.to_dict("records")
        self.assertEqual((first["name"], first["lowest_common_ancestor_name"]), (
            "aten::miopen_convolution", "aten::miopen_convolution | aten::cudnn_convolution"))
        self.assertEqual(first["Input Dims"], ((1, 3), (3,)))
        self.assertEqual((first["kernel_time_trace1_us"], first["kernel_time_trace2_us"]), (30, 21))
        self.assertEqual((first["num_kernels_trace1"], first["num_kernels_trace2"]), (1, 2))
        self.assertEqual(first["kernel_names_trace1"], ["igemm"])
        self.assertEqual((first["speedup (trace2/trace1)"], first["delta_us (trace2 - trace1)"]), (0.7, -9))
        self.assertEqual((second["name"], second["delta_us (trace2 - trace1)"]), ("aten::add_", 1))
        self.assertAlmostEqual(first["pct_of_trace1_total (%)"], 30 / 35 * 100)
        self.assertAlmostEqual(first["pct_of_trace2_total (%)"], 21 / 27 * 100)
        self.assertAlmostEqual(second["cumulative_pct_trace1 (%)"], 100)
        self.assertTrue(tracediff_perf_summary_from_diff_stats(pd.DataFrame()).empty)
        self.assertTrue(tracediff_perf_summary_from_diff_stats(diff([work("A")], []).generate_diff_stats()).empty)
        # what only the variant has below an ancestor
        row = tracediff_perf_summary_from_diff_stats(
            diff([op("p", op("q"))], [op("p", work("r", "k", 2))]).generate_diff_stats()).iloc[0]
        self.assertEqual((row["name"], row["kernel_time_trace1_us"], row["kernel_time_trace2_us"]), ("r", 0, 2))
        self.assertTrue(pd.isna(row["speedup (trace2/trace1)"]))
        self.assertNotIn("pct_of_trace1_total (%)", row)
        with self.assertRaises(TypeError):
            tracediff_perf_summary_from_diff_stats([1])
        with self.assertRaisesRegex(ValueError, "no column"):
            tracediff_perf_summary_from_diff_stats(pd.DataFrame({"a": [1]}))

    def test_a_trace_with_itself(self):
        t = TreePerfAnalyzer.from_file(common.BUNDLED).tree
        td = TraceDiff(t, t)
        td.generate_tracediff_report()
        self.assertTrue(td.identical_traces)
        self.assertIs(td.baseline, td.variant)
        self.assertEqual(set(td.diff_stats_df["source"]), {"trace1", "trace2"})
        self.assertEqual(set(td.diff_stats_summary_df["delta"]), {0})
        self.assertTrue(all(mine[1] == other for mine, other in td.merged_uid_map.items()))
        self.assertEqual((td.db1, td.pod2), ([], set()))
        self.assertFalse(diff(*convolutions()).identical_traces)

    def test_nothing(self):
        for left, right in (([], []), ([op("aten::zeros")], [op("aten::zeros")]), ([], [work("A")])):
            td = diff(left, right)
            td.generate_tracediff_report()
            self.assertEqual(list(td.diff_stats_df.columns), STATS)
            self.assertEqual(len(td.diff_stats_df), len(right) if not left else 0)
            with tempfile.TemporaryDirectory() as folder:
                td.print_tracediff_report_files(folder)
                self.assertEqual(sorted(os.listdir(folder)), FILES)


class Frames(unittest.TestCase):
    def test_python_frames(self):
        plain = TreePerfAnalyzer.from_file(common.BUNDLED).tree
        deep = TreePerfAnalyzer.from_file(common.BUNDLED, add_python_func=True).tree
        td = TraceDiff(deep, deep)
        td.generate_tracediff_report()
        self.assertTrue(td.identical_traces)
        modules = set(zip(td.diff_stats_df["nn_module_stack"], td.diff_stats_df["nn_module_parent"]))
        self.assertIn(("nn.Module: VisionTransformer;nn.Module: Block;nn.Module: MLP;nn.Module: GELU",
                       "nn.Module: GELU"), modules)
        with self.assertWarnsRegex(UserWarning, "Python frames"):
            TraceDiff(plain, deep)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            TraceDiff(plain, plain)


class Trees(unittest.TestCase):
    """They stay as they are; and what is changed later is noticed."""

    def test_trees_are_not_modified(self):
        a, b = (TreePerfAnalyzer.from_file(common.BUNDLED, add_python_func=True).tree for _ in "ab")
        before = [[dict(e) for e in t.events] for t in (a, b)]
        td = TraceDiff(a, b)
        td.generate_tracediff_report()
        td.merge_trees(), td.db1, dict(td.merged_uid_map)
        self.assertEqual([[dict(e) for e in t.events] for t in (a, b)], before)
        self.assertFalse(a._core.edited or b._core.edited)

    def test_edits_are_seen(self):
        a, b = tree(work("A", "k", 5)), tree(work("B", "k", 5))
        b.events[0]["name"] = "A"  # before: part of the tree
        td = TraceDiff(a, b)
        self.assertEqual(td.get_corresponding_uid(1, 0), 0)
        td.generate_tracediff_report()
        b.events[0]["mine"] = 1  # a key of one's own changes nothing
        TreePerfAnalyzer(b).get_df_gpu_timeline()
        self.assertEqual(td.get_corresponding_uid(1, 0), 0)

        b.events[0]["name"] = "C"
        TreePerfAnalyzer(b).get_df_gpu_timeline()  # which takes the change over
        for call in (lambda: td.get_corresponding_uid(1, 0), td.generate_tracediff_report,
                     lambda: td.merged_uid_map[1, 0], lambda: td.print_merged_subtree(0),
                     lambda: td.print_merged_tree(os.devnull),
                     lambda: td.print_tracediff_report_files(tempfile.gettempdir()),
                     lambda: td.get_df_diff_stats_unique_args(), td.get_cpu_op_to_kernels_json, lambda: td.merged_tree):
            with self.assertRaisesRegex(ValueError, "tree 2 was changed after it was compared"):
                call()
        self.assertEqual(len(td.diff_stats_df), 2)  # what was made stays
        td.merge_trees()
        self.assertEqual(td.get_corresponding_uid(1, 0), -1)
        self.assertTrue(td.diff_stats_df.empty)

    def test_built_anew(self):
        a, b = (TreePerfAnalyzer.from_file(common.BUNDLED).tree for _ in "ab")
        td = TraceDiff(a, b)
        a.build_tree()  # it is that way already
        td.get_corresponding_uid(1, 0)
        a.build_tree(add_python_func=True)
        with self.assertRaisesRegex(ValueError, "tree 1 was changed"):
            td.generate_diff_stats()
        self.assertGreater(td.totals["trace1"]["gpu_events"], 0)

    def test_while_it_is_edited(self):
        a = tree(work("A"))
        edit = _core.Edit(a._core)
        with self.assertRaisesRegex(ValueError, "edited"):
            TraceDiff(a, a)
        edit.abort()
        td = TraceDiff(a, a)
        edit = _core.Edit(a._core)
        edit.rename(0, "B")
        self.assertEqual(td.get_corresponding_uid(1, 0), 0)
        edit.commit()
        with self.assertRaises(ValueError):
            td.get_corresponding_uid(1, 0)

    def test_trees_are_kept_alive(self):
        a, b = tree(work("A")), tree(work("A"))
        watch = weakref.ref(a._core)
        td = TraceDiff(a, b)
        core, table, mapping = td._diff, td._diff.stats(), td.merged_uid_map
        del a, b, td
        gc.collect()
        self.assertIsNotNone(watch())
        self.assertEqual(core.corresponding(1, 0), 0)
        self.assertEqual(mapping[1, 0], 0)
        del core, mapping
        gc.collect()
        self.assertIsNone(watch())
        self.assertEqual(table.cells("name"), ["k", "k"])

    def test_cycles_are_found(self):
        a = tree(work("A"))
        a.events[0]["mine"] = TraceDiff(a, a)
        watch = weakref.ref(a._core)
        del a
        gc.collect()
        self.assertIsNone(watch())

    def test_threads(self):
        a, b = (TreePerfAnalyzer.from_file(common.BUNDLED).tree for _ in "ab")
        reference = TraceDiff(a, b).generate_diff_stats()
        failures = []

        def run(left, right):
            try:
                for _ in range(4):
                    td = TraceDiff(left, right)
                    if not td.generate_diff_stats()["kernel_time"].equals(reference["kernel_time"]):
                        raise AssertionError("other figures")
                    TreePerfAnalyzer(left).get_df_gpu_timeline()
            except BaseException as error:  # noqa: B902
                failures.append(error)

        threads = [threading.Thread(target=run, args=pair) for pair in ((a, b), (b, a), (a, b), (b, a))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_threads_while_the_tree_changes(self):
        a, b = (TreePerfAnalyzer.from_file(common.BUNDLED).tree for _ in "ab")
        failures = []
        done = threading.Event()

        def read():
            try:
                while not done.is_set():
                    try:
                        td = TraceDiff(a, b)
                        td.generate_diff_stats(), dict(td.merged_uid_map), td.merged_tree
                    except ValueError as error:
                        if "changed after" not in str(error):
                            raise
            except BaseException as error:  # noqa: B902
                failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for with_python in (True, False) * 5:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                a._core.build(with_python)
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Misuse(unittest.TestCase):
    def test_trees(self):
        a = tree(work("A"))
        for wrong in (None, "a.json", 5, a._core, TreePerfAnalyzer(tree(work("A")))):
            for pair in ((a, wrong), (wrong, a)):
                with self.assertRaisesRegex(TypeError, "must be a TraceToTree"):
                    TraceDiff(*pair)
        with self.assertRaisesRegex(TypeError, "its .tree is one"):
            TraceDiff(TreePerfAnalyzer(tree(work("A"))), a)
        with self.assertRaisesRegex(ValueError, "not built"):
            TraceDiff(a, TraceToTree(events(work("A"))))
        with self.assertRaises(TypeError):
            TraceDiff(a)
        for wrong in ((), (a._core,), (a._core, None), (a, a)):
            with self.assertRaises(TypeError):
                _core.Diff(*wrong)

    def test_events(self):
        a, b, c = tree(work("A")), tree(work("A")), tree(work("A"))
        td = TraceDiff(a, b)
        self.assertEqual(td.get_corresponding_uid(1, a.events[0]), 0)
        for call in (lambda: td.get_corresponding_uid(1, b.events[0]), lambda: td.get_corresponding_uid(2, a.events[0]),
                     lambda: td.get_corresponding_uid(2, c.events[0]), lambda: td.print_merged_subtree(c.events[0])):
            with self.assertRaisesRegex(ValueError, "another tree"):
                call()
        for number in (0, 3, -1, 10**20):
            with self.assertRaises((ValueError, OverflowError)):
                td.get_corresponding_uid(number, 0)
        for number in (None, "1", 1.0, True, a):
            with self.assertRaises(TypeError):
                td.get_corresponding_uid(number, 0)
        for wrong in (None, "0", [0], {}):
            with self.assertRaises(TypeError):
                td.get_corresponding_uid(1, wrong)

    def test_core(self):
        core = diff(*convolutions())._diff
        for call, error in ((lambda: core.node_of(1, 99), KeyError), (lambda: core.node_of(0, 0), ValueError),
                            (lambda: core.node_of(1), TypeError), (lambda: core.print(False, 10**6), KeyError),
                            (lambda: core.print(False, -1), OverflowError), (lambda: core.print(False, "a"), TypeError),
                            (lambda: core.print(False, 10**30), OverflowError),
                            (lambda: core.write(5, False), TypeError), (lambda: core.write("a\0b", False), ValueError)):
            with self.assertRaises(error):
                call()
        self.assertEqual(len(core), len(core.nodes()))

    def test_files(self):
        td = diff(*convolutions())
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "a")
            with open(file, "w", encoding="utf-8"):
                pass
            for call in (lambda: td.print_tracediff_report_files(os.path.join(file, "b")),
                         lambda: td.print_merged_tree(os.path.join(file, "b")), lambda: td.print_merged_tree(folder)):
                with self.assertRaises(OSError):
                    call()
            with self.assertRaises(TypeError):
                td.print_tracediff_report_files(5)
            import pathlib
            td.print_tracediff_report_files(pathlib.Path(folder) / "made" / "deep")
            self.assertEqual(sorted(os.listdir(os.path.join(folder, "made", "deep"))), FILES)

    @unittest.skipIf(common.SANITIZED, "skipped: a sanitizer keeps freed memory")
    def test_nothing_is_left_behind(self):
        t = TreePerfAnalyzer.from_file(common.BUNDLED).tree

        def run():
            td = TraceDiff(t, t)
            td.generate_tracediff_report()
            td.merged_tree, td._diff.print(True), dict(td.merged_uid_map), td.totals
            for call in (lambda: td.get_corresponding_uid(5, 0), lambda: TraceDiff(t, None),
                         lambda: TraceDiff(t, t, twins="x"), lambda: td._diff.print(False, 10**6)):
                try:
                    call()
                except (ValueError, TypeError, KeyError):
                    pass

        self.assertFalse(common.grows(run, times=40))


def cell_text(column, value):
    """A cell of a DataFrame as CSV files have it; whole numbers are 12.0 where a cell of the column is empty."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if column.endswith(("_uid", "_id")):
        value = int(value)
    return value if isinstance(value, str) else repr(value.item() if hasattr(value, "item") else value)


class Command(unittest.TestCase):
    """tracelens diff gives the same files, to the byte, and the same cells."""

    def check(self, left, right, *options, python=False, prune=False):
        command = os.environ.get("TL_COMMAND")
        if not command or not os.path.exists(command):
            self.skipTest("no command beside the package")
        trees = [TreePerfAnalyzer.from_file(path, add_python_func=python).tree for path in (left, right)]
        td = TraceDiff(*trees)
        td.generate_tracediff_report()
        with tempfile.TemporaryDirectory() as folder:
            here, there = os.path.join(folder, "here"), os.path.join(folder, "there")
            td.print_tracediff_report_files(here, prune_non_gpu=prune)
            subprocess.run([command, "diff", left, right, "-o", there, "-q", *options], check=True, capture_output=True)
            self.assertEqual(sorted(os.listdir(here)), FILES)
            self.assertEqual(sorted(os.listdir(there)), FILES)
            for name in FILES:
                with open(os.path.join(here, name), "rb") as a, open(os.path.join(there, name), "rb") as b:
                    self.assertEqual(a.read(), b.read(), name)
            for name, table in (("diff_stats", td.diff_stats_df),
                                ("diff_stats_unique_args_summary", td.diff_stats_unique_args_summary_df)):
                with open(os.path.join(there, name + ".csv"), encoding="utf-8", newline="") as file:
                    rows = list(csv.reader(file))
                self.assertEqual(rows[0], list(table.columns))
                self.assertEqual(len(rows) - 1, len(table))
                for at, column in enumerate(table.columns):
                    self.assertEqual([cell_text(column, cell) for cell in table[column]],
                                     [row[at] for row in rows[1:]], column)
            for name in ("cpu_op_map", "cpu_op_map_trace1", "cpu_op_map_trace2"):
                with open(os.path.join(there, name + ".json"), encoding="utf-8") as file:
                    made = getattr(td, name)
                    self.assertEqual(json.load(file), made if isinstance(made, dict) else made["name"].to_dict())
        for number, name in ((1, "trace1"), (2, "trace2")):
            rows = td.diff_stats_df[td.diff_stats_df["source"] == name]
            gpu = [e for e in trees[number - 1].events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and
                   e.get("ph") == "X"]
            self.assertEqual(sorted(rows["gpu_op_uid"]), [e["UID"] for e in gpu])
            self.assertAlmostEqual(rows["kernel_time"].sum(), sum(e["dur"] for e in gpu), places=3)

    def test_small_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            left, right = convolutions()
            paths = (write(os.path.join(folder, "a.json"), events(op("aten::zeros"), *left)),
                     write(os.path.join(folder, "b.json"), events(*right, stray=[("lost", 3)])))
            self.check(*paths)
            self.check(*paths, "--prune_non_gpu", prune=True)

    def test_the_bundled_trace(self):
        self.check(common.BUNDLED, common.BUNDLED)
        self.check(common.BUNDLED, common.BUNDLED, "--python", python=True)

    def test_real_traces(self):
        folder = os.path.join(common.corpus(), "corpus", "pytorch")
        for left, right in (("mi300_qwen1.5_0.5b", "h100_qwen1.5_0.5b"), ("mi300_timesformer", "h100_timesformer"),
                            ("mi300_bert_small", "mi300_qwen1.5_0.5b")):
            with self.subTest(left=left, right=right):
                self.check(*(os.path.join(folder, name + ".json.gz") for name in (left, right)))

    def test_form_of_the_reference(self):
        golden = os.path.join(common.corpus(), "golden")
        for case in sorted(name for name in os.listdir(golden) if name.startswith("reference_tracediff_")):
            folder = os.path.join(golden, case)
            with open(os.path.join(folder, "diff_stats.csv"), encoding="utf-8") as file:
                self.assertEqual(next(csv.reader(file)), STATS)
            with open(os.path.join(folder, "diff_stats_unique_args_summary.csv"), encoding="utf-8") as file:
                header = next(csv.reader(file))
            self.assertEqual(list(diff(*convolutions()).get_df_diff_stats_unique_args().columns), header)
            self.assertEqual(sorted(n for n in os.listdir(folder) if "COMMAND" not in n), FILES)


if __name__ == "__main__":
    unittest.main()
