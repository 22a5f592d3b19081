# SPDX-License-Identifier: MIT
"""Events as mappings over the store."""
import copy
import gc
import json
import pickle
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
        for plain, event in zip(self.plain, self.tree.events):
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
        self.assertEqual(keys[8:], ["UID", "t_end", "tree", "nn_module_stack", "children", "cpu_op_root", "gpu_events",
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


if __name__ == "__main__":
    unittest.main()
