# SPDX-License-Identifier: MIT
"""The table of kernels, and single kernels, with what is above them. Expected values follow from the events by hand."""
import unittest

import common
import pandas as pd
from TraceLens import TraceToTree, TreePerfAnalyzer


def python(name, ts, dur, tid=1):
    return common.event(name, "python_function", ts, dur, tid)


def launched(name, at, start, dur, link, tid=1, stream=7):
    """A kernel and its launch."""
    return [common.event("cudaLaunchKernel", "cuda_runtime", at, 2, tid, correlation=link, grid=[1, 2, 3],
                         block=[64, 1, 1]),
            common.event(name, "kernel", start, dur, tid=stream, pid=0, correlation=link, stream=stream)]


def modules():
    """nn.Module: Block_0 around Linear_0, which runs one kernel of 30 µs, and an add of two: 10 and 5 µs, the latter on
    another stream within the former; one kernel outside of modules, one without a launch."""
    return [
        python("nn.Module: Block_0", 0, 500),
        python("nn.Module: Linear_0", 10, 100),
        common.event("aten::mm", "cpu_op", 20, 50, **{"Input Dims": [[4, 8], [8, 2]], "Input type": ["float", "float"],
                                                       "Input Strides": [[8, 1], [2, 1]], "Concrete Inputs": ["", ""]}),
        *launched("gemm", 25, 1000, 30, 1),
        common.event("aten::add", "cpu_op", 200, 50),
        *launched("add", 205, 1100, 10, 2),
        *launched("add", 215, 1104, 5, 3, stream=8),
        common.event("aten::mul", "cpu_op", 600, 20),
        *launched("mul", 605, 1200, 4, 4),
        common.event("lost", "kernel", 1300, 3, tid=7, pid=0, correlation=99, stream=7),
    ]


def analyzer(events, **options):
    return TreePerfAnalyzer(TraceToTree(events), **options)


MODULE = ["Parent nn.Module UID", "Parent nn.Module", "Parent nn.Module kernel count",
          "Parent nn.Module GPU busy time (µs)", "Percent of Parent nn.Module busy time (%)"]


class Kernels(unittest.TestCase):
    def test_table_with_modules(self):
        made = analyzer(modules(), add_python_func=True).get_df_kernels(True, True, True)
        self.assertEqual(list(made.columns), [
            "UID", "Kernel name", "Kernel t start", "Kernel duration (µs)", "Kernel stream", "Launcher UID", "Launcher",
            "Grid", "Block", "Parent cpu_op UID", "Parent cpu_op", "Input dims", "Input types", "Input strides",
            "Concrete Inputs", "kernel_file", "Parent cpu_op busy time (µs)", "Parent cpu_op kernel count",
            "Percent of Parent cpu_op busy time (%)", "Parent op category", *MODULE])
        self.assertEqual(list(made["Kernel name"]), ["gemm", "add", "add", "mul", "lost"])
        self.assertEqual(made["Grid"][0], (1, 2, 3))
        self.assertEqual(list(made["Parent nn.Module"][:3]), ["nn.Module: Linear_0", "nn.Module: Block_0",
                                                              "nn.Module: Block_0"])
        self.assertEqual(list(made["Parent nn.Module UID"][:3]), [1, 0, 0])
        self.assertEqual(list(made["Parent nn.Module kernel count"][:3]), [1, 3, 3])
        self.assertEqual(list(made["Parent nn.Module GPU busy time (µs)"][:3]), [30, 40, 40])
        self.assertEqual(list(made["Percent of Parent nn.Module busy time (%)"][:3]), [100, 25, 12.5])
        for name in MODULE:
            self.assertTrue(made[name][3:].isna().all(), name)
        for name in ("Parent nn.Module UID", "Parent nn.Module kernel count"):
            self.assertEqual(str(made[name].dtype), "Int64")
        self.assertTrue(made["Launcher UID"].isna()[4])

    def test_modules_need_python_frames_in_the_tree(self):
        made = analyzer(modules()).get_df_kernels(nn_module_detail=True)
        self.assertFalse(set(MODULE) & set(made.columns))
        some = analyzer(modules())
        self.assertFalse(set(MODULE) & set(some.get_kernel_details(some.tree.events[4], nn_module_detail=True)))

    def test_no_kernel_below_a_module(self):
        events = [e for e in modules() if "nn.Module" not in e["name"]] + [python("nn.Module: Dropout_0", 700, 5)]
        made = analyzer(events, add_python_func=True).get_df_kernels(nn_module_detail=True)
        self.assertFalse(set(MODULE) & set(made.columns))

    def test_one_kernel(self):
        a = analyzer(modules(), add_python_func=True)
        self.assertEqual(a.get_kernel_details(a.tree.events[7], True, True, True), {
            "UID": 7, "Kernel name": "add", "Kernel t start": 1100, "Kernel duration (µs)": 10, "Kernel stream": 7,
            "Launcher UID": 6, "Launcher": "cudaLaunchKernel", "Grid": (1, 2, 3), "Block": (64, 1, 1),
            "Parent cpu_op UID": 5, "Parent cpu_op": "aten::add", "Input dims": None, "Input types": None,
            "Input strides": None, "Concrete Inputs": None, "kernel_file": None, "Parent cpu_op busy time (µs)": 10,
            "Parent cpu_op kernel count": 2, "Percent of Parent cpu_op busy time (%)": 100,
            "Parent op category": "elementwise", "Parent nn.Module UID": 0, "Parent nn.Module": "nn.Module: Block_0",
            "Parent nn.Module kernel count": 3, "Parent nn.Module GPU busy time (µs)": 40,
            "Percent of Parent nn.Module busy time (%)": 25})
        self.assertIsNone(a.get_kernel_details(a.tree.events[3]))
        self.assertEqual(list(a.get_kernel_details(a.tree.events[13], True, True, True)),
                         ["UID", "Kernel name", "Kernel t start", "Kernel duration (µs)", "Kernel stream"])

    def test_table_and_single_kernels_agree(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED, add_python_func=True)
        made = a.get_df_kernels(True, True, True)
        self.assertTrue(made["Parent nn.Module"].notna().any() and made["Parent nn.Module"].isna().any())
        for at in range(0, len(made), 17):
            row = {name: value for name, value in made.iloc[at].items()}
            one = a.get_kernel_details(int(row["UID"]), True, True, True)
            for name, value in row.items():
                if name not in one:
                    self.assertTrue(value is pd.NA or value is None or value != value, (name, value))
                elif isinstance(value, float):
                    self.assertAlmostEqual(one[name], value, places=6, msg=name)
                else:
                    self.assertEqual(one[name], value, name)

    def test_times_follow_an_edit(self):
        a = analyzer(modules(), add_python_func=True)
        kernel = a.tree.events[4]
        self.assertEqual(a.get_kernel_details(kernel, nn_module_detail=True)["Parent nn.Module GPU busy time (µs)"], 30)
        kernel["dur"] = 60
        self.assertEqual(a.get_kernel_details(kernel, nn_module_detail=True)["Parent nn.Module GPU busy time (µs)"], 60)
        self.assertEqual(a.get_df_kernels(nn_module_detail=True)[MODULE[3]][0], 60)


class Launchers(unittest.TestCase):
    def test_communication(self):
        events = [common.event("c10d::allreduce_", "cpu_op", 0, 100),
                  *launched("ncclDevKernel", 1, 1000, 500, 1, stream=8), *launched("prepare", 10, 1100, 5, 2),
                  *launched("ncclDevKernel", 200, 2000, 7, 3, stream=8)]
        a = analyzer(events)
        names = ("name", "total_direct_kernel_time", "total_subtree_kernel_time", "direct_kernel_count")
        found = [tuple(event[name] for name in names) for event in a.get_kernel_launchers(include_nccl=True)]
        self.assertEqual(found, [("c10d::allreduce_", 500, 500, 2), ("cudaLaunchKernel", 7, 7, 1)])
        self.assertEqual([k["name"] for k in a.tree.events[0]["kernel_details"]], ["ncclDevKernel", "prepare"])
        found = [tuple(event[name] for name in names) for event in a.get_kernel_launchers()]
        self.assertEqual(found, [("c10d::allreduce_", 5, 500, 1)])
        self.assertEqual(list(a.get_df_kernel_launchers()["direct_kernel_count"]), [1])


if __name__ == "__main__":
    unittest.main()
