# SPDX-License-Identifier: MIT
"""A million events are not a million dicts, and nothing is left behind."""
import gc
import json
import sys
import unittest
import weakref

import common
from TraceLens import GPUEventAnalyser, TraceToTree, TreePerfAnalyzer, _core


@unittest.skipIf(common.SANITIZED, "skipped: a sanitizer keeps freed memory")
class Memory(unittest.TestCase):
    def test_a_million_events(self):
        one = json.dumps(common.event("aten::add", "cpu_op", 0, 1, **{"Input Dims": [[2, 3]], "External id": 1}))
        head, tail = one.split('"ts": 0')
        n = 1_000_000
        text = '{"traceEvents": [' + ",".join(f'{head}"ts": {2 * i}{tail}' for i in range(n)) + "]}"
        data = text.encode()
        del text
        before = common.resident()
        tree = TraceToTree._of_trace(_core.Trace.open_memory(data))
        tree.build_tree()
        built = common.resident()
        self.assertLess(built - before, 200 * n)
        self.assertEqual(sum(e["name"] == "aten::add" for e in tree.events), n)
        self.assertEqual(sum(len(e["args"]) for e in tree.events[: n // 100]), n // 50)
        walked = common.resident()
        self.assertLess(walked - built, 40 * n)  # a pointer an event, and what the allocator keeps
        held = list(tree.events)
        self.assertLess(common.resident() - walked, 160 * n)
        self.assertLess(sys.getsizeof(held[0]), 100)
        self.assertEqual(held[n - 1]["args"]["Input Dims"], [[2, 3]])

    def test_growth_is_seen(self):
        kept = []
        self.assertTrue(common.grows(lambda: kept.append(bytearray(10_000))))
        self.assertTrue(common.grows(lambda: kept.append([[] for _ in range(100)])))
        self.assertTrue(common.grows(lambda: kept.append(bytearray(1 << 20)), times=1))
        self.assertFalse(common.grows(lambda: kept.append(bytearray(100))))

    def test_loading(self):
        self.assertFalse(common.grows(lambda: TreePerfAnalyzer.from_file(common.BUNDLED).get_df_gpu_timeline()))

    def test_tables(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED, add_python_func=True)

        def work():
            frame = a.get_df_kernel_launchers(include_kernel_details=True, include_call_stack=True, id_cols=True)
            a.get_df_kernel_launchers_unique_args(frame)
            a.build_df_unified_perf_table()
            a._native().launchers().__arrow_c_stream__()

        self.assertFalse(common.grows(work))

    def test_events(self):
        tree = TreePerfAnalyzer.from_file(common.BUNDLED, add_python_func=True).tree

        def work():
            for event in tree.events:
                dict(event), event.get("args"), event["name"], "x" in event
            tree._core.print(0, (), True, True)

        self.assertFalse(common.grows(work, times=20))

    def test_edits(self):
        a = TreePerfAnalyzer(TraceToTree(common.small()))
        e = a.tree.events[4]

        def work():
            for i in range(50):
                e["dur"] = i
                e["name"] = f"addmm {i}"
                e["note"] = [i]
                a.get_df_gpu_timeline()
            try:
                e["children"] = [99]
            except KeyError:
                pass

        self.assertFalse(common.grows(work, times=20))

    def test_plain_lists(self):
        plain = common.small() * 50
        self.assertFalse(common.grows(lambda: GPUEventAnalyser(plain).get_breakdown_df()))
        self.assertFalse(common.grows(lambda: TraceToTree(plain).build_tree()))

    def test_failures(self):
        a = TreePerfAnalyzer(TraceToTree(common.small()))
        path = "/no/such/file" * 20

        def work():
            for _ in range(200):
                for call in (lambda: _core.Trace.open(path), lambda: a.tree.events[0]["x"],
                             lambda: a.tree.get_UID2event(99), lambda: _core.Trace.open_memory(b"{"),
                             lambda: a._native().metrics(["x"]), lambda: _core.breakdown([1], [], [], [], None)):
                    try:
                        call()
                    except Exception:
                        pass

        self.assertFalse(common.grows(work, times=20))

    def test_references(self):
        uid = 10**6
        before = sys.getrefcount(uid), sys.getrefcount(None)
        tree = TraceToTree(common.small())
        for _ in range(1000):
            tree.events[0].get("nothing", uid)
            tree.events[0]["mine"] = uid
        del tree.events[0]["mine"]
        gc.collect()
        self.assertLessEqual(sys.getrefcount(uid), before[0] + 1)
        self.assertLess(abs(sys.getrefcount(None) - before[1]), 200)

    def test_cycles_are_found(self):
        tree = TraceToTree(common.small())
        tree.build_tree()
        event = tree.events[0]
        event["myself"] = event
        event["args"]["tree"] = tree
        watch = weakref.ref(tree._core)
        del tree, event
        gc.collect()
        self.assertIsNone(watch())

        a = TreePerfAnalyzer(TraceToTree(common.small()))
        a.get_df_gpu_timeline()
        a.tree.events[0]["analyzer"] = a
        watch = weakref.ref(a)
        del a
        gc.collect()
        self.assertIsNone(watch())


if __name__ == "__main__":
    unittest.main()
