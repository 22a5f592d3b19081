# SPDX-License-Identifier: MIT
"""Bad use is answered by an exception that says what is wrong."""
import gc
import os
import tempfile
import threading
import unittest
import warnings

import common
import pandas as pd
import TraceLens
from TraceLens import DataLoader, TraceToTree, TreePerfAnalyzer, _core


class Files(unittest.TestCase):
    def test_missing_and_broken(self):
        with self.assertRaises(FileNotFoundError) as caught:
            TreePerfAnalyzer.from_file("/no/such/file.json")
        self.assertEqual(caught.exception.filename, "/no/such/file.json")
        with self.assertRaises(OSError):
            TreePerfAnalyzer.from_file(tempfile.gettempdir())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.json")
            for text in ("", "hello", "\x00\x01\x02"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                with self.assertRaises(ValueError, msg=repr(text)):
                    TreePerfAnalyzer.from_file(path)
            with self.assertRaises(ValueError):
                DataLoader.load_data(path)
        for wrong in (None, 5, ["a"]):
            with self.assertRaises(TypeError):
                TreePerfAnalyzer.from_file(wrong)
        with self.assertRaisesRegex(NotImplementedError, "JAX.*jax=True"):
            TreePerfAnalyzer.from_file(common.BUNDLED, jax=True)
        with self.assertRaisesRegex(NotImplementedError, "JAX.*jax=True"):
            TreePerfAnalyzer(TraceToTree([]), jax=True)
        with self.assertRaisesRegex(NotImplementedError, "captures/.*capture_trace_filepath"):
            TreePerfAnalyzer.from_file(common.BUNDLED, "captures/")

    def test_path_like(self):
        import pathlib

        a = TreePerfAnalyzer.from_file(pathlib.Path(common.BUNDLED))
        self.assertGreater(len(a.tree.events), 100)

    def test_plain_loading(self):
        data = DataLoader.load_data(common.BUNDLED)
        self.assertEqual(len(data["traceEvents"]), len(TreePerfAnalyzer.from_file(common.BUNDLED).tree.events))

    def test_progress_that_raises(self):
        def stop(done, total):
            raise ZeroDivisionError("enough")

        try:
            _core.Trace.open(common.BUNDLED, progress=stop)  # a short file may be loaded before the first call
        except ZeroDivisionError as error:
            self.assertEqual(str(error), "enough")
        with self.assertRaises(TypeError):
            _core.Trace.open(common.BUNDLED, progress=3)


class Calls(unittest.TestCase):
    def setUp(self):
        self.a = TreePerfAnalyzer(TraceToTree(common.small()))

    def test_lists_of_events(self):
        for wrong in (None, "text", {"a": 1}, b"x", 5):
            with self.assertRaises(TypeError):
                TraceToTree(wrong)
        for wrong in ([1], ["a"], [None]):
            with self.assertRaises(TypeError):
                TraceToTree(wrong)
        with self.assertRaises(TypeError):
            TraceToTree([{"name": object()}])
        with self.assertRaises(TypeError):
            TreePerfAnalyzer([])
        self.assertEqual(len(TraceToTree([]).events), 0)

    def test_empty_trace(self):
        a = TreePerfAnalyzer(TraceToTree([]))
        self.assertTrue(a.gpu_only)
        with self.assertRaisesRegex(ValueError, "No GPU events"):
            a.get_df_gpu_timeline()
        self.assertEqual(len(a.get_df_kernel_launchers()), 0)
        self.assertEqual(len(a.get_df_kernels()), 0)
        self.assertEqual(a.tree.cpu_root_nodes, [])

    def test_wrong_events(self):
        tree = self.a.tree
        for wrong, error in ((99, KeyError), (-1, KeyError), ("x", TypeError), (None, TypeError), (1.5, TypeError),
                             ({"name": "a"}, ValueError)):
            with self.assertRaises(error, msg=repr(wrong)):
                tree.get_children_events(wrong)
        with self.assertRaises(KeyError):
            tree.get_UID2event(13)
        with self.assertRaises(IndexError):
            tree.events[13]
        with self.assertRaises(TypeError):
            tree.events["a"]
        with self.assertRaises(TypeError):
            tree.events.append(5)
        with self.assertRaises(TypeError):
            tree.traverse_subtree_and_print(tree.events[0], cpu_op_fields="Input Dims")
        with self.assertRaises(TypeError):
            tree.traverse_subtree_and_print(tree.events[0], cpu_op_fields=(5,))
        for wrong in ("nn.Module", b"x", (5,)):
            with self.assertRaises(TypeError):
                tree.traverse_parents_and_get_callstack(tree.events[0], filter=wrong)
        for wrong in (None, 5, "text"):
            with self.assertRaises(TypeError):
                self.a.build_df_perf_metrics(wrong)
        with self.assertRaises(ValueError):
            self.a.build_nn_module_latency_tree(tree.events[0])

    def test_wrong_tables(self):
        a = self.a
        for call in (a.get_df_kernel_launchers_summary, a.get_df_kernel_launchers_summary_by_category,
                     a.get_df_kernel_launchers_unique_args, a.get_df_kernel_launchers_summary_module,
                     a.summarize_df_unified_perf_table):
            with self.assertRaises(ValueError):
                call(pd.DataFrame({"a": [1]}))
            with self.assertRaises(TypeError):
                call([1])
        with self.assertRaises(ValueError):
            a.get_df_kernel_launchers_unique_args(a.get_df_kernel_launchers(), agg_metrics=["mode"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertTrue(a.build_df_perf_metrics([]).empty)
            self.assertTrue(a.summarize_df_perf_metrics(pd.DataFrame()).empty)
        self.assertEqual(len(caught), 2)
        with self.assertRaises(TypeError):
            a.compute_perf_metrics(a.tree.events[0])
        with self.assertRaises(ValueError):
            TreePerfAnalyzer(TraceToTree(common.small()), arch={"mem_bw_gbps": -5}).get_df_gpu_timeline()

    def test_what_outlives_what(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED)
        tree, events = a.tree, a.tree.events
        table = a._native().launchers()
        event = events[5]
        del a
        gc.collect()
        self.assertEqual(event["UID"], 5)
        del tree
        gc.collect()
        self.assertGreater(len(table), 0)
        self.assertEqual(table.cells("UID")[0], table.cells(2)[0])
        self.assertIs(events[5], event)

    def test_edits_end_once(self):
        core = self.a.tree._core
        edit = _core.Edit(core)
        with self.assertRaises(ValueError):
            _core.Edit(core)
        with self.assertRaisesRegex(ValueError, "edited"):
            self.a.get_df_gpu_timeline()
        edit.commit()
        for call in (edit.commit, edit.count):
            with self.assertRaisesRegex(ValueError, "ended"):
                call()
        self.assertEqual(len(self.a.get_df_gpu_timeline()), 8)

    def test_threads(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED)
        failures = []

        def work():
            try:
                for _ in range(5):
                    a.get_df_kernel_launchers()
                    a.get_df_gpu_timeline()
                    [e["name"] for e in a.tree.events]
            except BaseException as error:  # noqa: B902
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_events_of_another_tree(self):
        other = TreePerfAnalyzer(TraceToTree(common.small())).tree.events[0]
        a = self.a
        for call in (a.build_df_perf_metrics, a.build_df_unified_perf_table):
            with self.assertRaisesRegex(ValueError, "another tree", msg=call.__name__):
                call([other])
            for wrong in (None, "x", 1.5):
                with self.assertRaises(TypeError, msg=call.__name__):
                    call([wrong])

    def test_reading_while_another_thread_edits(self):
        tree = self.a.tree
        stop, failures = threading.Event(), []

        def read():
            while not stop.is_set():
                try:
                    for event in tree.events:
                        event.get("name"), event.get("children"), event.get("args")
                except BaseException as error:  # noqa: B902
                    failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for number in range(400):  # enough for the tree's arrays to move
                tree.events.append({"name": f"new {number}", "parent": 0, "children": [], "gpu_events": []})
                self.a.get_df_gpu_timeline()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(tree.events), 413)
        self.assertEqual(len(tree.get_children_events(tree.events[0])), 402)

    def test_names_are_where_scripts_look(self):
        from TraceLens.Trace2Tree.trace_to_tree import TraceToTree as one
        from TraceLens.TreePerf import GPUEventAnalyser as two
        from TraceLens.TreePerf.gpu_event_analyser import PytorchGPUEventAnalyser as three
        from TraceLens.TreePerf.tree_perf import TreePerfAnalyzer as four
        from TraceLens.util import TraceEventUtils as five

        self.assertEqual([one, two, three, four, five], [
            TraceLens.TraceToTree, TraceLens.GPUEventAnalyser, TraceLens.PytorchGPUEventAnalyser,
            TraceLens.TreePerfAnalyzer, TraceLens.TraceEventUtils])
        self.assertEqual(five.TraceKeys.UID, "UID")
        self.assertTrue(five.is_communication_string("ncclKernel"))
        self.assertFalse(five.is_communication_string("gemm") or five.is_communication_string(""))
        self.assertTrue(five.is_rocm_legacy_memcpy("__amd_rocclr_copyBuffer.kd"))
        self.assertTrue(five.is_rocm_legacy_memset("__amd_rocclr_fillBufferAligned"))
        self.assertFalse(five.is_rocm_legacy_memcpy("memcpy_mine"))


if __name__ == "__main__":
    unittest.main()
