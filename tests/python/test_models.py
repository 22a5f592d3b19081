# SPDX-License-Identifier: MIT
"""Models of the user's in op_to_perf_model_class_map."""
import unittest
import warnings

import common
from TraceLens import TraceToTree, TreePerfAnalyzer


class Doubling:
    """FLOPs: twice the first size."""

    category = "mine"
    bwd_category = "mine_bwd"

    def __init__(self, event, arch=None, python_path=None):
        self.event = event
        self.param_details = self.get_param_details(event)

    @staticmethod
    def get_param_details(event):
        sizes = event["args"]["Input Dims"][0]
        return {"n": sizes[0], "shape": tuple(sizes), "kind": "x", "missing": None, "share": 0.5, "yes": True,
                "types": ("a", "b"), "sizes": [2, 3], "big": 2**70, "pairs": ((1, "x"), (2, None))}

    def flops(self):
        return 2e9 * self.param_details["n"]

    def bytes(self):
        return 1024 * 1024

    def flops_bwd(self):
        return 3 * self.flops()

    def bytes_bwd(self):
        return self.bytes()

    def get_compute_precision(self):
        return "bf16"

    def get_maf_type(self):
        return "matrix"


class Models(unittest.TestCase):
    def setUp(self):
        mapping = TreePerfAnalyzer(TraceToTree([])).op_to_perf_model_class_map
        before = dict(mapping)

        def restore():
            mapping.clear()
            mapping.update(before)

        self.addCleanup(restore)
        self.a = TreePerfAnalyzer(TraceToTree(common.small()))
        self.linear = self.a.tree.events[0]

    def test_metrics(self):
        self.a.op_to_perf_model_class_map["aten::linear"] = Doubling
        row = self.a.build_df_perf_metrics([self.linear]).iloc[0]
        self.assertEqual((row["GFLOPS"], row["Data Moved (MB)"], row["Compute Spec"]), (4, 1, "matrix_bf16"))
        self.assertEqual((row["param: n"], row["param: shape"], row["param: kind"]), (2, (2, 3), "x"))
        # what the library holds as text comes back as the model told it
        told = {"types": ("a", "b"), "sizes": [2, 3], "big": 2**70, "pairs": ((1, "x"), (2, None))}
        self.assertEqual({name: row[f"param: {name}"] for name in told}, told)
        alone = self.a.compute_perf_metrics(self.linear)
        self.assertEqual({name: alone[f"param: {name}"] for name in told}, told)
        again = self.a.build_df_perf_metrics([self.linear]).iloc[0]
        self.assertEqual(again["param: types"], ("a", "b"))
        summary = self.a.summarize_df_perf_metrics(self.a.build_df_perf_metrics([self.linear]), ["mean"])
        self.assertEqual(summary["param: types"].tolist(), ["('a', 'b')"])
        self.assertEqual(row["Kernel Time (µs)"], 45)
        self.assertEqual(self.a.compute_perf_metrics(self.linear)["param: yes"], True)
        self.assertEqual(self.a.compute_perf_metrics(self.linear)["param: missing"], None)
        unified = self.a.build_df_unified_perf_table()
        self.assertEqual(unified["name"].tolist(), ["aten::linear"])
        self.assertEqual(unified["op category"].tolist(), ["mine"])

    def test_for_one_call(self):
        row = self.a.build_df_perf_metrics([self.linear], dict_name_to_perf_model={"aten::linear": Doubling}).iloc[0]
        self.assertEqual(row["GFLOPS"], 4)
        self.assertEqual(self.a.compute_perf_metrics(self.linear, perf_model_class=Doubling)["GFLOPS"], 4)
        with self.assertRaises(TypeError):
            self.a.compute_perf_metrics(self.linear)

    def test_a_model_sees_the_event(self):
        seen = []

        class Looking(Doubling):
            def flops(self):
                seen.append(self.event)
                return self.event["dur"] + len(self.event["gpu_events"])

        self.a.op_to_perf_model_class_map["aten::linear"] = Looking
        self.assertEqual(self.a.compute_perf_metrics(self.linear)["GFLOPS"], 52 / 1e9)
        self.assertIs(seen[0], self.linear)

    def test_replaced_and_taken_back(self):
        mapping = self.a.op_to_perf_model_class_map
        before = mapping["aten::addmm"]
        mapping["aten::addmm"] = Doubling
        self.a.tree.events[1]["args"] = {"Input Dims": [[5, 2]]}
        self.assertEqual(self.a.compute_perf_metrics(self.a.tree.events[1])["GFLOPS"], 10)
        mapping["aten::addmm"] = before
        with self.assertRaises(NotImplementedError):
            self.a.compute_perf_metrics(self.a.tree.events[1])

    def test_failures(self):
        class Failing(Doubling):
            def flops(self):
                raise ZeroDivisionError("mine")

        class Declining(Doubling):
            def flops(self):
                raise NotImplementedError

        class Stopping(Doubling):
            def flops(self):
                raise KeyboardInterrupt

        class Nonsense(Doubling):
            def flops(self):
                return "many"

        mapping = self.a.op_to_perf_model_class_map
        mapping["aten::linear"] = Failing
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            self.a.compute_perf_metrics(self.linear)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertTrue(self.a.build_df_perf_metrics([self.linear]).empty)
        self.assertIn("ZeroDivisionError", str(caught[-1].message))
        mapping["aten::linear"] = Declining
        with self.assertRaises(NotImplementedError):
            self.a.compute_perf_metrics(self.linear)
        mapping["aten::linear"] = Stopping
        with self.assertRaises(KeyboardInterrupt):
            self.a.build_df_perf_metrics([self.linear])
        mapping["aten::linear"] = Nonsense
        with self.assertRaises(TypeError):
            self.a.build_df_perf_metrics([self.linear])
        mapping["aten::linear"] = Doubling
        self.assertEqual(len(self.a.build_df_perf_metrics([self.linear])), 1)

    def test_what_models_of_the_library_cannot_read(self):
        good = {"Input Dims": [[4, 8], [8, 2]], "Input type": ["float", "float"]}
        events = [common.event("aten::mm", "cpu_op", 100, 10, **good), common.event("aten::mm", "cpu_op", 200, 10),
                  common.event("aten::mm", "cpu_op", 300, 10),
                  common.event("cudaLaunchKernel", "cuda_runtime", 201, 1, correlation=1),
                  common.event("gemm", "kernel", 400, 5, tid=7, pid=0, correlation=1, stream=7),
                  common.event("cudaLaunchKernel", "cuda_runtime", 101, 1, correlation=2),
                  common.event("gemm", "kernel", 390, 5, tid=7, pid=0, correlation=2, stream=7)]
        a = TreePerfAnalyzer(TraceToTree(events))
        why = r"example event 1 \(aten::mm\): two matrix operands with dtypes are needed"
        with self.assertWarnsRegex(UserWarning, "2/3 events: the model failed; for " + why):
            self.assertEqual(len(a.build_df_perf_metrics([0, 1, 2])), 1)
        with self.assertWarnsRegex(UserWarning, "1/2 events: the model failed; for " + why):
            self.assertEqual(len(a.build_df_unified_perf_table()), 2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            a.build_df_perf_metrics([0])
            a.build_df_unified_perf_table(include_perf_metrics=False)
            a.collect_unified_perf_events()

    def test_a_model_may_not_work_on_the_tree(self):
        a = self.a

        class Recursing(Doubling):
            def flops(self):
                a.get_df_gpu_timeline()

        a.op_to_perf_model_class_map["aten::linear"] = Recursing
        with self.assertRaises(RuntimeError):
            a.compute_perf_metrics(self.linear)

    def test_backward(self):
        plain = common.small()
        plain += [common.event("cudaLaunchKernel", "cuda_runtime", 310, 5, tid=2, correlation=9),
                  common.event("bwd", "kernel", 400, 20, tid=7, pid=0, correlation=9, stream=7)]
        a = TreePerfAnalyzer(TraceToTree(plain))
        a.op_to_perf_model_class_map["aten::linear"] = Doubling
        row = a.build_df_bwd_perf_metrics([a.tree.events[0]]).iloc[0]
        self.assertEqual((row["GFLOPS"], row["Kernel Time (µs)"]), (12, 20))


if __name__ == "__main__":
    unittest.main()
