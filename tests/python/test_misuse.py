# SPDX-License-Identifier: MIT
"""Bad use is answered by an exception that says what is wrong."""
import errno
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import weakref

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

    def test_errors_are_those_of_the_system(self):
        """The class of an OSError is that of the errno, whatever words stand in the name of the file."""
        with tempfile.TemporaryDirectory() as folder:
            def path(*parts):
                return os.path.join(folder, *parts)
            odd = "No such file or directory"
            os.mkdir(path(odd))
            with open(path("file"), "w", encoding="utf-8") as file:
                file.write("words")
            os.symlink("loop", path("loop"))
            analyzer = TreePerfAnalyzer.from_file(common.BUNDLED)
            table = analyzer._native().timeline(None)
            for name, kind, number in ((odd, IsADirectoryError, errno.EISDIR), ("gone", FileNotFoundError, errno.ENOENT),
                                       ("file/x", NotADirectoryError, errno.ENOTDIR), ("loop", OSError, errno.ELOOP),
                                       ("n" * 300, OSError, errno.ENAMETOOLONG)):
                with self.subTest(name):
                    with self.assertRaises(kind) as caught:
                        TreePerfAnalyzer.from_file(path(name))
                    self.assertEqual((caught.exception.errno, caught.exception.filename, caught.exception.reason),
                                     (number, path(name), "TL_EIO"))
            for name, kind, number in ((odd, IsADirectoryError, errno.EISDIR),
                                       ("file/x", NotADirectoryError, errno.ENOTDIR),
                                       ("gone/x", FileNotFoundError, errno.ENOENT)):
                with self.subTest(name):
                    with self.assertRaises(kind) as caught:
                        table.to_csv(path(name))
                    self.assertEqual((caught.exception.errno, caught.exception.filename), (number, path(name)))
            with self.assertRaises(FileNotFoundError) as caught:  # an error that names no file
                TreePerfAnalyzer.from_file(common.BUNDLED, inductor_cache_dir=path("gone"))._native()
            self.assertEqual(caught.exception.errno, errno.ENOENT)

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
        for wrong, error in ((99, KeyError), (-1, KeyError), ("x", TypeError), (None, TypeError), (1.5, KeyError),
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

    def test_reading_overlaps_while_analysers_come_and_go(self):
        tree = TreePerfAnalyzer.from_file(common.BUNDLED).tree
        kernels = [event for event in tree.events if event.get("cat") == "kernel"]
        stop, failures, switch = threading.Event(), [], sys.getswitchinterval()

        def read():
            while not stop.is_set():
                try:
                    for event in kernels:
                        event.get("overlapping_uids")
                except BaseException as error:  # noqa: B902
                    failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        sys.setswitchinterval(1e-6)
        for thread in threads:
            thread.start()
        try:
            for number in range(30):  # each analyser goes while somebody waits for it
                TreePerfAnalyzer(tree).get_df_gpu_timeline()
                kernels[0]["dur"] = 5 + number
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            sys.setswitchinterval(switch)
        self.assertEqual(failures, [])

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


class Hostile(unittest.TestCase):
    """Code of the user's that runs in the middle of things: none of it may find freed memory."""

    def test_a_callback_for_an_event_that_goes(self):
        tree = TreePerfAnalyzer(TraceToTree(common.small())).tree
        seen = []
        for keep in (False, True):
            event = tree.events[0]

            def gone(_, keep=keep):
                again = tree.events[0]
                seen.append(again if keep else again["name"])

            watch = weakref.ref(event, gone)
            del event
            gc.collect()
            self.assertIsNone(watch())
        self.assertEqual(seen[0], "aten::linear")
        self.assertIs(seen[1], tree.events[0])
        self.assertEqual(seen[1]["name"], "aten::linear")

    def test_keys_that_compare_by_code(self):
        tree = TreePerfAnalyzer(TraceToTree(common.small())).tree

        class Key(str):
            __hash__ = str.__hash__

            def __eq__(self, other):
                for event in tree.events:  # what was parsed last is forgotten
                    dict(event)
                tree.events[0].pop("mine", None)
                tree._core.overlay.pop(0, None)
                gc.collect()
                return str.__eq__(self, other)

        for key in ("args", "mine", "ph", "nothing"):
            tree.events[0]["mine"] = [1]
            tree.events[0].get(Key(key))
            dict(tree.events[0])
            Key(key) in tree.events[0]

    def test_lists_that_change_while_they_are_read(self):
        a = TreePerfAnalyzer(TraceToTree(common.small()))
        uids = []

        class Shrinks:
            def __index__(self):
                uids.clear()
                gc.collect()
                return 0

        uids += [Shrinks()] + [10**6 + i for i in range(100)]
        with self.assertRaises(KeyError):
            a._native().metrics(uids)
        plain = []

        class Grows(dict):
            def __getitem__(self, key):
                plain.extend({"ts": 0, "dur": 1} for _ in range(100))
                return super().__getitem__(key)

        plain += [Grows(ts=0, dur=2), {"ts": 1, "dur": 3}]
        self.assertEqual(_core.breakdown(plain, [], [], [], None)["busy_time"], 4)
        fields = ["Input Dims", "Input type"]

        self.assertIn("Input Dims", a.tree._core.print(0, fields, True, False))

    def test_options_that_are_neither_true_nor_false(self):
        with self.assertRaises((TypeError, ValueError)):
            _core.report_file(common.BUNDLED, {"enable_kernel_summary": pd.Series([True, False])}, [])

    @unittest.skipUnless(hasattr(os, "mkfifo"), "skipped: no pipes with names")
    def test_interrupted(self):
        """Ctrl-C ends the loading of a trace, also that for a report."""
        one = (json.dumps(common.event("aten::add", "cpu_op", 0, 1)) + ",").encode() * 200
        for call in ("from TraceLens import TreePerfAnalyzer; TreePerfAnalyzer.from_file(path)",
                     "from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch as make; "
                     "make(path, output_csvs_dir=path + '.csvs')"):
            with self.subTest(call), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "pipe.json")
                os.mkfifo(path)
                child = subprocess.Popen([sys.executable, "-c", f"path = {path!r}; {call}"], stderr=subprocess.PIPE)
                with open(path, "wb", buffering=0) as pipe:
                    pipe.write(b'{"traceEvents": [')
                    end = time.monotonic() + 0.3
                    asked = False
                    for _ in range(2000):
                        try:
                            pipe.write(one)
                        except BrokenPipeError:
                            break
                        if not asked and time.monotonic() > end:
                            child.send_signal(signal.SIGINT)
                            asked = True
                        time.sleep(0.01)
                    else:
                        self.fail("the loading went on")
                    errors = child.communicate(timeout=60)[1].decode()
                self.assertIn("KeyboardInterrupt", errors)
                self.assertNotEqual(child.returncode, 0)
                self.assertFalse(os.path.exists(path + ".csvs"))


if __name__ == "__main__":
    unittest.main()
