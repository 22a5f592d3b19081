# SPDX-License-Identifier: MIT
"""The right answers for real traces, asked for from Python."""
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import common
from TraceLens import TreePerfAnalyzer
from TraceLens.TreePerf import _summaries


def cases(prefix):
    folder = os.path.join(common.corpus(), "golden")
    return sorted(name for name in os.listdir(folder) if name.startswith(prefix))


def trace_of(case, prefix):
    return os.path.join(common.corpus(), "corpus", "pytorch", case[len(prefix):] + ".json.gz")


class SDK(unittest.TestCase):
    """Tables as scripts get them."""

    def check(self, case):
        golden = os.path.join(common.corpus(), "golden", case)
        a = TreePerfAnalyzer.from_file(trace_of(case, "sdk_"), add_python_func=True)
        launchers = a.get_df_kernel_launchers(include_kernel_details=True)
        tables = {
            "gpu_timeline": a.get_df_gpu_timeline(),
            "kernel_launchers": launchers,
            "kernel_launchers_summary": a.get_df_kernel_launchers_summary(launchers),
            "kernel_launchers_unique_args": a.get_df_kernel_launchers_unique_args(launchers, include_pct=True),
        }
        prefix = "perf_metrics_"
        for name in os.listdir(golden):
            family = os.path.splitext(name)[0][len(prefix):]
            if not name.startswith(prefix) or family.startswith("summary_"):
                continue
            events = [e for e in a.tree.events if a._native().family_of(e["name"] or "") == family]
            metrics = a.build_df_perf_metrics(events, include_kernel_details=True)
            tables[prefix + family] = metrics
            tables[prefix + "summary_" + family] = a.summarize_df_perf_metrics(metrics, ["mean"])
        with tempfile.TemporaryDirectory() as folder:
            for name, table in tables.items():
                table.to_csv(os.path.join(folder, name + ".csv"), index=False)
            tool = os.path.join(common.corpus(), "tools", "compare_tables.py")
            done = subprocess.run([sys.executable, tool, golden, folder], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{case}:\n{done.stdout}{done.stderr}")

    def test_tables(self):
        for case in cases("sdk_"):
            with self.subTest(case):
                self.check(case)


class Trees(unittest.TestCase):
    """Events, printed trees and nn.Modules."""

    def check_nodes(self, golden, tree):
        path = os.path.join(golden, "nodes.json")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            nodes = json.load(file)
        for node in nodes:
            event = tree.get_UID2event(node["UID"])
            got = {key: event.get(key, [] if key in ("children", "gpu_events") else None) for key in node}
            self.assertEqual(got, node)
        self.assertEqual([e["UID"] for e in tree.events if e.get("tree")], [n["UID"] for n in nodes])

    def check_modules(self, a, node, parent):
        event = a.tree.get_UID2event(node["UID"])
        self.assertEqual(event["name"], node["name"])
        self.assertAlmostEqual(event["GPU Time"], node["gpu_time_us"], places=6)
        self.assertAlmostEqual(event.get("Non-nn.Module GPU Time", 0), node["remainder_us"] or 0, places=6)
        self.assertEqual(event["nn Parent GPU Time"], None if parent is None else parent["GPU Time"])
        children = a.tree.get_nn_module_children(event)
        self.assertEqual(children, [child["UID"] for child in node["children"]])
        for child in node["children"]:
            self.assertEqual(a.tree.get_nn_module_parent(a.tree.get_UID2event(child["UID"])), node["UID"])
            self.check_modules(a, child, event)

    def check_printed(self, golden, name, show):
        with open(os.path.join(golden, name), encoding="utf-8") as file:
            text = file.read()
        for part in re.split(r"^# UID ", text, flags=re.MULTILINE)[1:]:
            uid, expected = part.split("\n", 1)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                show(int(uid))
            self.assertEqual(out.getvalue(), expected)

    def test_trees(self):
        fields = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
        for case in cases("tree_"):
            with self.subTest(case):
                golden = os.path.join(common.corpus(), "golden", case)
                a = TreePerfAnalyzer.from_file(trace_of(case, "tree_"), add_python_func=True)
                tree = a.tree
                self.check_nodes(golden, tree)
                self.check_printed(golden, "subtrees.txt",
                                   lambda uid: tree.traverse_subtree_and_print(tree.events[uid]))
                self.check_printed(golden, "parents.txt",
                                   lambda uid: tree.traverse_parents_and_print(tree.events[uid], cpu_op_fields=fields))
                with open(os.path.join(golden, "modules.json"), encoding="utf-8") as file:
                    for root in json.load(file):
                        a.build_nn_module_latency_tree(tree.get_UID2event(root["UID"]))
                        self.check_modules(a, root, None)


class Whole(unittest.TestCase):
    """Every event of a real trace against json.load, and summaries in pandas against those of the library."""

    def test_every_event(self):
        import gzip

        path = os.path.join(common.corpus(), "corpus", "pytorch", "mi300_bert_small.json.gz")
        with gzip.open(path) as file:
            plain = json.load(file)
        a = TreePerfAnalyzer.from_file(path)
        metadata = {key: value for key, value in plain.items() if key != "traceEvents"}
        self.assertEqual(a.tree.trace_metadata, metadata)
        self.assertEqual(len(a.tree.events), len(plain["traceEvents"]))
        for expected, event in zip(common.with_stream_index(plain["traceEvents"]), a.tree.events):
            got = {key: event[key] for key in expected}
            self.assertEqual(json.dumps(got), json.dumps(expected))

    def test_summaries(self):
        for case in cases("sdk_"):
            a = TreePerfAnalyzer.from_file(trace_of(case, "sdk_"))
            table = a.build_df_unified_perf_table()
            made = a.summarize_df_unified_perf_table(table, agg_metrics=["mean", "median", "std", "min", "max"])
            self.assertEqual(made["operation_count"].sum(), len(table))
            self.assertAlmostEqual(made["Kernel Time (µs)_sum"].sum(), table["Kernel Time (µs)"].sum(), places=6)
            self.assertAlmostEqual(made["Percentage (%)"].sum(), 100)
            self.assertTrue(made["Kernel Time (µs)_sum"].is_monotonic_decreasing)
            events = a.collect_unified_perf_events()
            self.assertEqual([e["UID"] for e in events], table["UID"].tolist())
            self.assertEqual([e["name"] for e in events], table["name"].tolist())
            kernels = [k["gpu_op_uid"] for ks in table["kernel_details"] for k in ks]
            self.assertEqual(len(kernels), len(set(kernels)))

    def test_kernels(self):
        a = TreePerfAnalyzer.from_file(trace_of("sdk_mi300_qwen1.5_0.5b", "sdk_"), add_python_func=True)
        options = dict(launcher_detail=True, cpu_op_detail=True, nn_module_detail=True)
        table = a.get_df_kernels(**options)
        for row in table.iloc[:: max(1, len(table) // 40)].to_dict("records"):
            details = a.get_kernel_details(a.tree.get_UID2event(int(row["UID"])), **options)
            for key, value in details.items():
                if isinstance(value, float):
                    self.assertAlmostEqual(row[key], value, places=6, msg=key)
                elif value is not None:
                    self.assertEqual(row[key], value, key)
        copy = next(e for e in a.tree.events if e["cat"] == "gpu_memcpy")
        self.assertIsNone(a.get_kernel_details(copy))

    def test_recompute(self):
        path = os.path.join(common.corpus(), "corpus", "pytorch", "mi300_resnet_checkpointing.json.gz")
        a = TreePerfAnalyzer.from_file(path, detect_recompute=True)
        table = a.get_df_gpu_timeline()
        self.assertEqual(table["is_recompute"].tolist(), [False] * 8 + [True] * 8)
        launchers = a.get_df_kernel_launchers()
        self.assertIn("is_recompute", launchers)
        self.assertIn("is_recompute", a.get_df_kernel_launchers_summary(launchers))
        marked = [e for e in a.tree.events if e.get("is_recompute")]
        self.assertTrue(any("recompute_fn" in e["name"] for e in marked))
        self.assertTrue(any(e["cat"] == "kernel" for e in marked))

    def test_summary_of_kernels(self):
        lists = [[{"name": "b", "dur": 2.0, "stream": 1, "gpu_op_uid": 5}, {"name": "a", "dur": 1.0, "stream": 2}],
                 [{"name": "b", "dur": 4.0, "stream": 1}, {"name": "a", "dur": 2.0, "stream": 2}],
                 [], None, [{"name": "b", "dur": 4.0, "stream": 1}]]
        with self.assertWarns(UserWarning):
            got = _summaries.summarize_kernels(lists, ["mean", "std"])
        self.assertEqual(got, [
            {"name": "a", "stream": 2, "count": 2, "total_duration_us": 3.0, "mean_duration_us": 1.5,
             "std_dev_duration_us": 0.5},
            {"name": "b", "stream": 1, "count": 2, "total_duration_us": 6.0, "mean_duration_us": 3.0,
             "std_dev_duration_us": 1.0}])


if __name__ == "__main__":
    unittest.main()
