# SPDX-License-Identifier: MIT
"""Events as mappings over the store."""
import collections
import copy
import gc
import json
import pickle
import pprint
import unittest
from collections.abc import MutableMapping

import common
from TraceLens import TraceToTree, TreePerfAnalyzer


class Mapping(unittest.TestCase):
    def setUp(self):
        self.plain = common.small()
        self.tree = TraceToTree(self.plain)
        self.tree.build_tree()

    def test_what_the_file_says_comes_back(self):
        for plain, event in zip(common.with_stream_index(self.plain), self.tree.events):
            for key, value in plain.items():
                self.assertEqual(event[key], value)
                self.assertIs(type(event[key]) in (int, float), type(value) in (int, float))

    def test_integers_and_fractions(self):
        tree = TraceToTree([common.event("a", "cpu_op", 3, 3.0, x=2**70), common.event("b", "cpu_op", 4.5, 1)])
        a, b = tree.events
        self.assertEqual([repr(v) for v in (a["ts"], a["dur"], b["ts"], b["dur"])], ["3", "3.0", "4.5", "1"])
        self.assertEqual(a["args"]["x"], 2**70)
        self.assertEqual((a["t_end"], b["t_end"]), (6.0, 5.5))

    def test_order_of_keys(self):
        keys = list(self.tree.events[0])
        self.assertEqual(keys[:8], list(self.plain[0]))
        self.assertEqual(keys[8:], ["UID", "t_end", "tree", "nn_module_stack", "cpu_op_root", "children", "gpu_events",
                                    "bwd_events"])
        self.tree.events[0]["mine"] = 1
        self.assertEqual(list(self.tree.events[0])[-1], "mine")
        self.assertEqual(len(self.tree.events[0]), 17)

    def test_what_the_tree_says(self):
        e = self.tree.events
        self.assertEqual(e[0]["children"], [1, 3])
        self.assertEqual(e[0]["gpu_events"], [4, 5])
        self.assertEqual((e[1]["parent"], e[2]["children"], e[4]["parent"]), (0, [4], 2))
        self.assertEqual((e[0]["bwd_events"], e[11]["fwd_event"]), ([11], 0))
        self.assertTrue(all("non_gpu_path" in e[i] for i in (6, 7, 8, 9, 11)))
        self.assertNotIn("parent", e[0])
        self.assertNotIn("tree", e[10])
        self.assertIsNone(e[12]["cat"])

    def test_as_a_dict(self):
        event = self.tree.events[0]
        plain = dict(event)
        self.assertEqual(list(reversed(event)), list(reversed(plain)))
        self.assertEqual(event | {"name": "n", "x": 1}, plain | {"name": "n", "x": 1})
        self.assertEqual({"name": "n", "x": 1} | event, {"name": "n", "x": 1} | plain)
        self.assertIs(type(event | event), dict)
        with self.assertRaises(TypeError):
            event | [1]
        same = event
        event |= {"x": 1}
        self.assertIs(event, same)
        self.assertEqual(self.tree.events[0]["x"], 1)
        self.assertEqual(event.popitem(), ("x", 1))
        self.assertNotIn("x", event)
        with self.assertRaisesRegex(ValueError, "UID"):
            event.clear()
        self.assertEqual([name for name in dir(dict) if not name.startswith("__") and not hasattr(event, name)],
                         ["fromkeys"])

    def test_all_events_as_a_list(self):
        events = self.tree.events
        everything = list(events)
        self.assertEqual([events.index(event) for event in everything], list(range(13)))
        self.assertEqual((events.index(dict(events[3])), events.index(events[3], -10, 4)), (3, 3))
        for wrong, *span in ((events[3], 4), (events[3], 0, 3), ({"UID": 3},), (5,), (TraceToTree([everything[0]]).events[0],)):
            with self.assertRaises(ValueError):
                events.index(wrong, *span)
        self.assertEqual((events.count(events[3]), events.count(5)), (1, 0))
        self.assertEqual(list(reversed(events)), everything[::-1])
        self.assertEqual([events.copy(), copy.copy(events)], [everything, everything])
        self.assertEqual(events + [5], everything + [5])
        self.assertEqual([5] + events, [5] + everything)
        self.assertEqual(len(events + events), 26)
        with self.assertRaises(TypeError):
            events + (5,)
        self.assertTrue(events == self.tree.events and not events != self.tree.events)
        self.assertFalse(events == TraceToTree(self.plain).events)

    def test_mappings_of_other_kinds(self):
        class Own(collections.UserDict):
            pass

        tree = TraceToTree(self.plain)
        tree.build_tree()
        tree.events.append(Own(name="new", parent=0))
        tree.events[0]["args"] = Own(tree.events[0]["args"], more=1)
        self.assertEqual((tree.events[13]["name"], tree.events[0]["args"]["more"]), ("new", 1))
        for wrong in ("x", b"x", [1], (1, 2), 5, None):
            with self.assertRaisesRegex(TypeError, "mapping", msg=repr(wrong)):
                tree.events[0]["args"] = wrong
            with self.assertRaisesRegex(TypeError, "mapping", msg=repr(wrong)):
                tree.events.append(wrong)

    def test_identity(self):
        tree = self.tree
        for uid in range(len(tree.events)):
            self.assertIs(tree.events[uid], tree.get_UID2event(uid))
        held = tree.events[3]
        self.assertIs(held, tree.events_by_uid[3])
        self.assertIs(held, tree.get_children_events(tree.events[0])[1])
        self.assertIs(tree.events[-1], tree.events[12])
        self.assertEqual([x["UID"] for x in tree.events[1:6:2]], [1, 3, 5])

    def test_added_keys_outlive_the_object(self):
        self.tree.events[5]["note"] = {"a": [1]}
        gc.collect()
        self.assertEqual(self.tree.events[5]["note"], {"a": [1]})
        del self.tree.events[5]["note"]
        self.assertNotIn("note", self.tree.events[5])
        with self.assertRaises(KeyError):
            del self.tree.events[5]["note"]

    def test_uids_as_tables_have_them(self):
        tree = self.tree
        for uid in (4, 4.0):
            self.assertIs(tree.get_UID2event(uid), tree.events[4])
            self.assertIn(uid, tree.events_by_uid)
            self.assertEqual(tree.get_gpu_events(tree.get_UID2event(uid)), [])
        for wrong in (4.5, -1.0, float("nan"), float("inf"), 99, None):
            with self.assertRaises(KeyError):
                tree.get_UID2event(wrong)
            self.assertNotIn(wrong, tree.events_by_uid)
            self.assertIsNone(tree.events_by_uid.get(wrong))
        with self.assertRaisesRegex(TypeError, "an event or its UID is needed, not str"):
            tree.get_UID2event("4")

    def test_printed_like_a_dict(self):
        event = self.tree.events[0]
        self.assertEqual(pprint.pformat(event, width=40), pprint.pformat(dict(event), width=40))
        self.assertGreater(len(pprint.pformat([event], width=40).splitlines()), 5)

    def test_methods_of_mappings(self):
        e = self.tree.events[4]
        self.assertIsInstance(e, MutableMapping)
        self.assertEqual(e.get("nothing"), None)
        self.assertEqual(e.get("nothing", 5), 5)
        self.assertEqual(e.get("name"), "gemm")
        self.assertTrue("args" in e and "nothing" not in e)
        self.assertEqual(dict(e), e.copy())
        self.assertEqual({**e}, dict(e))
        self.assertEqual(list(e.keys()), list(e))
        self.assertEqual(dict(e.items()), dict(zip(e.keys(), e.values())))
        self.assertEqual(e.setdefault("x", 1), 1)
        self.assertEqual(e.setdefault("x", 2), 1)
        self.assertEqual(e.pop("x"), 1)
        self.assertEqual(e.pop("x", None), None)
        e.update({"x": 1}, y=2)
        self.assertEqual((e["x"], e["y"]), (1, 2))
        with self.assertRaises(KeyError) as caught:
            e["nothing"]
        self.assertEqual(caught.exception.args, ("nothing",))
        with self.assertRaises(TypeError):
            hash(e)
        self.assertTrue(e)

    def test_copies_need_no_trace(self):
        e = self.tree.events[4]
        for other in (copy.copy(e), copy.deepcopy(e), pickle.loads(pickle.dumps(e))):
            self.assertIs(type(other), dict)
            self.assertEqual(other, dict(e))
            self.assertEqual(e, other)
            self.assertEqual(other, e)
        self.assertEqual(json.loads(json.dumps(dict(e))), dict(e))
        self.assertEqual(repr(e), repr(dict(e)))

    def test_equality(self):
        other = TraceToTree(self.plain)
        other.build_tree()
        self.assertEqual(self.tree.events[4], other.events[4])
        self.assertNotEqual(self.tree.events[4], self.tree.events[5])
        self.assertNotEqual(self.tree.events[4], 4)
        self.assertIn(self.tree.events[4], self.tree.events)
        self.assertNotIn(other.events[4], self.tree.events)

    def test_the_callers_list_stays_as_it_is(self):
        before = json.dumps(self.plain)
        analyzer = TreePerfAnalyzer(self.tree)
        analyzer.get_kernel_launchers()
        self.tree.events[0]["args"]["Input Dims"] = []
        self.assertEqual(json.dumps(self.plain), before)

    def test_an_event_keeps_its_tree(self):
        e = TraceToTree(self.plain).events[4]
        gc.collect()
        self.assertEqual(e["name"], "gemm")


class Tree(unittest.TestCase):
    def setUp(self):
        self.tree = TraceToTree(common.small(), trace_metadata={"schemaVersion": 1})
        self.tree.build_tree()

    def test_navigation(self):
        tree = self.tree
        linear, addmm = tree.events[0], tree.events[1]
        self.assertIs(tree.get_parent_event(addmm), linear)
        self.assertIsNone(tree.get_parent_event(linear))
        self.assertEqual([e["UID"] for e in tree.get_gpu_events(linear)], [4, 5])
        self.assertEqual(tree.get_children_events(tree.events[4]), [])
        self.assertEqual(tree.cpu_root_nodes, [0, 11])
        self.assertEqual(tree.name2event_uids["cudaLaunchKernel"], [2, 3])
        self.assertEqual(tree.name2event_uids["nothing"], [])
        self.assertEqual(tree.get_seq_nums_for_node_subtree(0), {7})
        self.assertEqual(tree.get_subtree_bwd_events(0), [11])
        self.assertIs(tree.get_node_by_ext_id_pid_tid(2, 1, 1), addmm)
        self.assertIsNone(tree.get_node_by_ext_id_pid_tid(2, 1, 9))
        self.assertEqual(tree.linking_key, "correlation")
        without = [event for event in common.small() if event.get("cat") != "cuda_runtime"]
        self.assertEqual(TraceToTree(without).linking_key, "External id")
        self.assertEqual(TraceToTree(without, linking_key="mine").linking_key, "mine")
        self.assertEqual(tree.metadata, {1: {0: {"process_name": "python"}}})
        self.assertEqual(tree.trace_metadata, {"schemaVersion": 1})
        self.assertEqual(dict(tree.seq_num2event_uids_map), {7: [0, 11]})
        self.assertEqual(tree.runtime_event_uids, [2, 3])
        self.assertEqual(set(tree.ac2g_event_map["start"]), {1, 2})
        self.assertEqual([e["UID"] for e in tree.linking_id_to_gpu_events[1]], [4])
        self.assertEqual({k: e["UID"] for k, e in tree.dict_stream_index2event.items()},
                         {(7, 0): 4, (8, 0): 5, (7, 1): 10})
        self.assertEqual(list(tree.events_by_uid), list(range(13)))

    def test_building_again_changes_nothing(self):
        before = [dict(e) for e in self.tree.events]
        self.tree.build_tree()
        self.assertEqual([dict(e) for e in self.tree.events], before)
        self.tree.build_tree(add_python_func=True)
        self.assertTrue(self.tree.add_python_func)

    def test_before_building(self):
        tree = TraceToTree(common.small())
        self.assertEqual(tree.events[0]["name"], "aten::linear")
        self.assertNotIn("children", tree.events[0])
        self.assertEqual(tree.get_children_events(tree.events[0]), [])
        with self.assertRaisesRegex(ValueError, "not built"):
            tree.traverse_subtree_and_print(tree.events[0])

    def test_annotations(self):
        tree = TraceToTree([common.event("op", "cpu_op", 10, 5), common.event("step", "user_annotation", 0, 100),
                            common.event("op2", "cpu_op", 110, 5)])
        tree.build_tree()
        tree.apply_annotation(["op"])
        self.assertEqual([e.get("annotation") for e in tree.events], ["step", None, "NA"])

    def test_modules_need_python(self):
        with self.assertRaisesRegex(ValueError, "add_python_func"):
            self.tree.get_nn_module_children(self.tree.events[0])

    def test_own_categories(self):
        plain = common.small()
        for e in plain:
            if e.get("cat") == "cpu_op":
                e["cat"] = "operation"
        tree = TraceToTree(plain, event_to_category=lambda e: "cpu_op" if e.get("cat") == "operation" else e.get("cat"))
        tree.build_tree()
        self.assertEqual(tree.events[0]["children"], [1, 3])


class Streams(unittest.TestCase):
    """The argument stream_index: where on its stream a GPU event is."""

    def events(self):
        kernel = lambda name, ts, pid, stream, **more: common.event(name, "kernel", ts, 5, pid=pid, stream=stream, **more)
        return [kernel("third", 30, 0, 7), kernel("first", 10, 0, 7), kernel("other stream", 20, 0, 8),
                kernel("second", 20.5, 0, 7), kernel("other device", 5, 1, 7), kernel("tie", 30, 0, 7),
                common.event("text", "kernel", 1, 1, pid=0, stream="main"),
                common.event("none", "kernel", 1, 1, pid=0), common.event("host", "cpu_op", 1, 1, stream=7),
                common.event("already", "gpu_memcpy", 40, 1, pid=0, stream=8, stream_index=99)]

    def test_by_start_on_each_stream_of_a_device(self):
        tree = TraceToTree(self.events())
        expected = {"third": 2, "first": 0, "other stream": 0, "second": 1, "other device": 0, "tie": 3, "text": 0,
                    "none": None, "host": None, "already": 1}
        for _ in range(2):
            self.assertEqual({e["name"]: e["args"].get("stream_index") for e in tree.events}, expected)
            self.assertEqual({e["name"]: dict(e)["args"].get("stream_index") for e in tree.events}, expected)
            tree.build_tree()
        self.assertEqual(self.events()[1]["args"], {"stream": 7})

    def test_it_is_no_argument_of_ones_own(self):
        tree = TraceToTree(self.events())
        tree.build_tree()
        event = tree.events[0]
        event["args"] = {**event["args"], "note": "x"}
        self.assertEqual(event["args"]["stream_index"], 2)
        tree._sealed()
        self.assertEqual(event["args"], {"stream": 7, "note": "x", "stream_index": 2})

    def test_index_of_streams(self):
        plain = common.small()
        tree = TraceToTree(plain)
        tree.build_tree()
        self.assertEqual({key: event["UID"] for key, event in tree.dict_stream_index2event.items()},
                         {(7, 0): 4, (7, 1): 10, (8, 0): 5})


class Overlapping(unittest.TestCase):
    """The key overlapping_uids of GPU events, once an analysis has looked at overlaps."""

    def test_by_hand(self):
        # gemm 200..230 (of aten::addmm) and the collective 220..245 (of aten::linear) share 10 µs on two streams; the
        # copy 260..265 has no launch
        a = TreePerfAnalyzer(TraceToTree(common.small()))
        self.assertTrue(all("overlapping_uids" not in event for event in a.tree.events))
        a.get_df_gpu_timeline()
        found = {e["UID"]: e["overlapping_uids"] for e in a.tree.events if "overlapping_uids" in e}
        self.assertEqual(found, {4: {5}, 5: {4}})
        events = common.small()
        events[3]["ts"] = 120  # now both are of aten::addmm
        a = TreePerfAnalyzer(TraceToTree(events))
        a.get_kernel_launchers()
        self.assertEqual(a.tree.events[4]["overlapping_uids"], set())
        a = TreePerfAnalyzer(TraceToTree(common.small()), include_unlinked_kernels=True)
        a.compute_overlapping_kernels([])
        found = {e["UID"]: e["overlapping_uids"] for e in a.tree.events if "overlapping_uids" in e}
        self.assertEqual(found, {4: {5}, 5: {4}, 10: set()})
        self.assertEqual(dict(a.tree.events[5])["overlapping_uids"], {4})
        self.assertEqual(list(a.tree.events[5])[-1], "overlapping_uids")

    def test_both_ways_and_as_the_launchers_say(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED)
        launchers = a.get_df_kernel_launchers(include_kernel_details=True)
        gpu = [e for e in a.tree.events if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset") and e.get("tree")]
        pairs = {(e["UID"], other) for e in gpu for other in e["overlapping_uids"]}
        self.assertTrue(pairs)
        self.assertEqual(pairs, {(b, a) for a, b in pairs})
        for one, other in pairs:
            one, other = a.tree.get_UID2event(one), a.tree.get_UID2event(other)
            shared = min(one["ts"] + one["dur"], other["ts"] + other["dur"]) - max(one["ts"], other["ts"])
            self.assertGreater(shared, 1 - 1e-3)
            self.assertNotEqual(one["args"]["stream"], other["args"]["stream"])
        launched = {launcher["UID"]: launcher for launcher in a.get_kernel_launchers()}
        for uid, names in zip(launchers["UID"], launchers["overlapping_kernel_names"]):
            kernels = [e for e in a.tree.get_gpu_events(launched[uid]) if a._launcher_of(a.tree._core, e["UID"]) == uid
                       and "nccl" not in e["name"]]
            found = {a.tree.get_UID2event(u)["name"] for kernel in kernels for u in kernel["overlapping_uids"]}
            self.assertEqual(found, set(names or ()))

    def test_it_goes_with_its_analyzer(self):
        tree = TraceToTree(common.small())
        a = TreePerfAnalyzer(tree)
        a.get_df_gpu_timeline()
        self.assertIn("overlapping_uids", tree.events[4])
        tree.events[4]["overlapping_uids"] = {1}
        self.assertEqual(tree.events[4]["overlapping_uids"], {1})
        del a
        self.assertNotIn("overlapping_uids", tree.events[5])

    def test_models_may_copy_events(self):
        from TraceLens.PerfModel.perf_model import aten_mm

        class Copying(aten_mm):
            def __init__(self, event, **options):
                super().__init__(dict(event), **options)
                seen.append([dict(tree.events[uid]).get("overlapping_uids") for uid in event["gpu_events"]])

        seen = []
        a = TreePerfAnalyzer.from_file(common.BUNDLED)
        tree = a.tree
        a.get_df_gpu_timeline()
        event = next(e for e in tree.events if e["name"] == "aten::mm" and "gpu_events" in e)
        made = a.build_df_perf_metrics([event], dict_name_to_perf_model={"aten::mm": Copying})
        self.assertEqual(len(made), 1)
        self.assertEqual(seen[0], [None] * len(event["gpu_events"]))


if __name__ == "__main__":
    unittest.main()
