# SPDX-License-Identifier: MIT
"""What a script assigns to events is seen by the next analysis."""
import copy
import json
import pickle
import unittest

import numpy as np

import common
from TraceLens import TraceToTree, TreePerfAnalyzer


def analyzer():
    return TreePerfAnalyzer(TraceToTree(common.small()))


def launchers(a):
    return {row["name"]: row for row in a.get_df_kernel_launchers().to_dict("records")}


class Edits(unittest.TestCase):
    def test_times_beyond_all_traces(self):
        for ts, dur in ((2.5e12, 1), (-2.5e12, 1), (0, 2.5e12)):
            a = TreePerfAnalyzer(TraceToTree(common.small()))
            a.tree.events[4].update(ts=ts, dur=dur)
            with self.assertRaisesRegex(ValueError, "26 days"):
                a.get_df_gpu_timeline()

    def test_name_and_arguments(self):
        a = analyzer()
        self.assertEqual(set(launchers(a)), {"aten::addmm"})
        e = a.tree.events[1]
        e["name"] = "aten::mm"
        e["args"] = {"Input Dims": [[4, 8], [8, 2]], "Input type": ["float", "float"], "External id": 2, "mine": [1]}
        row = launchers(a)["aten::mm"]
        self.assertEqual(row["Input Dims"], ((4, 8), (8, 2)))
        self.assertEqual(e["args"]["mine"], [1])
        self.assertEqual(a.build_df_perf_metrics([e])["GFLOPS"][0], 2 * 4 * 8 * 2 / 1e9)

    def test_arguments_in_place(self):
        a = analyzer()
        a.tree.events[0]["args"]["Input Dims"] = [[9]]
        a.tree.events[1]["args"].update({"Input Dims": [[5, 5]]})
        self.assertEqual(a.tree.events[0]["args"]["Input Dims"], [[9]])
        self.assertEqual(launchers(a)["aten::addmm"]["Input Dims"], ((5, 5),))

    def test_arguments_by_two_ways(self):
        a = analyzer()
        first, second = a.tree.events[1]["args"], a.tree.events[1]["args"]
        first["Input Dims"] = [[6, 6]]
        second["mine"] = 1
        first.setdefault("also", 2)
        self.assertEqual(a.tree.events[1]["args"],
                         {"External id": 2, "Input Dims": [[6, 6]], "mine": 1, "also": 2})
        self.assertEqual(launchers(a)["aten::addmm"]["Input Dims"], ((6, 6),))

    def test_children_in_place(self):
        a = analyzer()
        e = a.tree.events
        e[1]["children"].append(3)
        self.assertEqual(e[1]["children"], [2, 3])
        self.assertEqual(a.get_kernel_launchers(include_nccl=True)[0]["direct_kernel_count"], 2)
        self.assertEqual((e[3]["parent"], e[0]["children"]), (1, [1]))
        one, other = e[1]["children"], e[1]["children"]
        one.remove(3)
        other.extend([3])
        other.reverse()
        self.assertEqual(e[1]["children"], [3, 2])
        e[1]["children"] += [11]
        a.get_df_kernel_launchers()
        self.assertEqual(sorted(e[1]["children"]), [2, 3, 11])
        e[1].setdefault("children", []).remove(11)
        a.get_df_kernel_launchers()
        self.assertEqual(e[11]["parent"], 0)
        e[1].setdefault("children", []).append(2)  # it is there already
        a.get_df_kernel_launchers()
        self.assertEqual(sorted(e[1]["children"]), [2, 3])
        e[0]["gpu_events"].append(10)
        a.get_df_kernel_launchers()
        self.assertEqual(e[10]["parent"], 0)

    def test_lists_of_uids_are_lists(self):
        children = analyzer().tree.events[0]["children"]
        for made in (children.copy(), copy.copy(children), copy.deepcopy(children), pickle.loads(pickle.dumps(children)),
                     children + [], children[:]):
            self.assertIs(type(made), list)
            self.assertEqual(made, [1, 3])
        self.assertEqual(json.dumps(children), "[1, 3]")
        with self.assertRaises(KeyError):
            children.append(99)
        with self.assertRaises(ValueError):
            children.remove(99)

    def test_lists_and_arguments_go_on_telling_after_an_analysis(self):
        a = analyzer()
        e = a.tree.events
        e[0]["children"] = [3, 1]
        again = e[0]["children"]
        e[2]["bwd_events"] = [3]
        e[1]["args"] = {"Input Dims": [[7, 7]]}
        self.assertEqual(launchers(a)["aten::addmm"]["Input Dims"], ((7, 7),))
        again.append(2)
        e[2]["bwd_events"].append(10)
        e[1]["args"]["Input Dims"] = [[8, 8]]
        a.get_df_kernel_launchers()
        self.assertEqual(sorted(e[0]["children"]), [1, 2, 3])
        self.assertEqual((e[3]["fwd_event"], e[10]["fwd_event"]), (2, 2))
        e[1]["children"] = [2]
        self.assertEqual(launchers(a)["aten::addmm"]["Input Dims"], ((8, 8),))

    def test_lists_that_were_assigned(self):
        a = analyzer()
        e = a.tree.events
        mine = [1]
        e[0]["children"] = mine
        e[0]["children"].append(3)
        mine.reverse()  # of an event as of a dict
        self.assertEqual(e[0]["children"], [3, 1])
        for wrong, error in ((99, KeyError), ("x", TypeError), (1.5, KeyError)):
            held = e[0]["children"]
            with self.assertRaises(error):
                held.append(wrong)
            self.assertEqual((held, mine), ([3, 1], [3, 1]))
        for given in ((3, 2), iter([3, 2]), np.array([3, 2]), {3: "", 2: ""}.keys()):
            e[1]["children"] = given
            self.assertEqual(list(e[1]["children"]), [3, 2])
            a.get_df_kernel_launchers()
            self.assertEqual(sorted(e[1]["children"]), [2, 3])
            self.assertEqual(e[0]["children"], [1])
        self.assertEqual(e[1].pop("args"), {"External id": 2})

    def test_what_was_taken_out_is_of_no_event(self):
        a = analyzer()
        e = a.tree.events
        lists = [e[1].pop("children"), e[0]["children"]]
        del e[0]["children"]
        lists[1].append(5)
        lists[0].append(3)
        self.assertEqual(lists, [[2, 3], [1, 3, 5]])
        args = e[1].pop("args")
        args["mine"] = 1
        self.assertEqual(args, {"External id": 2, "mine": 1})
        for event, key in ((0, "children"), (1, "children"), (1, "args")):
            self.assertNotIn(key, e[event])

    def test_what_a_new_operation_takes_from_another_event(self):
        a = analyzer()
        e = a.tree.events
        uid = len(e)
        e.append({"name": "pseudo::op", "cat": "cpu_op", "parent": 0, "children": e[1]["children"], "args": e[1]["args"]})
        e[uid]["children"].append(3)
        e[uid]["args"]["Input Dims"] = [[4, 4]]
        self.assertEqual((e[1]["children"], e[1]["args"]), ([2], {"External id": 2}))
        self.assertEqual(launchers(a)["pseudo::op"]["Input Dims"], ((4, 4),))
        self.assertEqual(sorted(e[uid]["children"]), [2, 3])

    def test_times(self):
        a = analyzer()
        a.tree.events[4]["dur"] = 10.5
        self.assertEqual(launchers(a)["aten::addmm"]["total_direct_kernel_time"], 10.5)
        a.tree.events[4]["ts"] = 199
        a.tree.events[4]["dur"] = 1
        timeline = a.get_df_gpu_timeline().set_index("type")["time ms"]
        self.assertEqual(timeline["total_time"], 0.046)
        self.assertEqual(a.tree.events[4]["t_end"], 200)

    def test_category(self):
        a = analyzer()
        a.tree.events[4]["cat"] = "gpu_memcpy"
        timeline = a.get_df_gpu_timeline().set_index("type")["time ms"]
        self.assertEqual(timeline["total_memcpy_time"], 0.03)

    def test_parent(self):
        a = analyzer()
        a.tree.events[2]["parent"] = 0  # the launch moves from addmm to linear
        self.assertEqual(set(launchers(a)), {"aten::linear"})
        self.assertEqual(a.tree.events[0]["children"], [1, 3, 2])
        self.assertNotIn("children", a.tree.events[1])

    def test_children(self):
        a = analyzer()
        a.tree.events[1]["children"] = [2, 3]
        self.assertEqual(a.get_kernel_launchers(include_nccl=True)[0]["direct_kernel_count"], 2)
        self.assertEqual(a.tree.events[1]["gpu_events"], [4, 5])
        self.assertEqual(a.tree.events[0]["children"], [1])
        a.tree.events[1]["children"] = []
        a.get_df_kernel_launchers()
        self.assertEqual(sorted(a.tree.events[0]["children"]), [1, 2, 3])

    def test_gpu_events(self):
        a = analyzer()
        a.tree.events[0]["gpu_events"] = [4, 5, 10]
        a.get_df_kernel_launchers()
        self.assertEqual(a.tree.events[10]["parent"], 0)
        self.assertEqual(len(a.get_df_gpu_timeline()), 8)

    def test_links_of_backward_events(self):
        for key, event, other in (("bwd_events", 1, [11]), ("fwd_event", 11, 1)):
            a = analyzer()
            tree = a.tree
            self.assertEqual(tree.get_subtree_bwd_events(1), [])
            tree.events[event][key] = other
            self.assertEqual(tree.events[event][key], other)
            self.assertEqual(tree.get_subtree_bwd_events(1), [11])
            self.assertEqual((tree.events[1]["bwd_events"], tree.events[11].get("fwd_event") is not None), ([11], True))
        a.tree.events[1]["bwd_events"].append(3)
        self.assertEqual(a.tree.get_subtree_bwd_events(1), [3, 11])
        for key, value in (("bwd_events", [99]), ("fwd_event", 99)):
            with self.assertRaises(KeyError):
                a.tree.events[1][key] = value
        a.tree.events[1]["fwd_event"] = 1
        with self.assertRaisesRegex(ValueError, "its own backward event"):
            a.get_df_kernel_launchers()

    def test_new_operations(self):
        a = analyzer()
        tree = a.tree
        uid = len(tree.events)
        tree.events.append({"name": "pseudo::op", "cat": "cpu_op", "parent": 1, "children": [2], "args": {
            "Input Dims": [[3, 3]]}})
        self.assertEqual(tree.events[uid]["name"], "pseudo::op")
        self.assertEqual(tree.events[uid]["UID"], uid)
        tree.events_by_uid[uid + 1] = {"name": "second", "cat": "cpu_op", "parent": uid, "ts": 111, "dur": 1}
        row = launchers(a)["pseudo::op"]
        self.assertEqual((row["UID"], row["Input Dims"], row["total_direct_kernel_time"]), (uid, ((3, 3),), 30.0))
        self.assertEqual(tree.events[1]["children"], [uid])
        self.assertEqual(tree.events[uid + 1]["parent"], uid)
        self.assertEqual((tree.events[uid + 1]["ts"], tree.events[uid]["ts"]), (111, 105))
        self.assertEqual(len(tree.events), uid + 2)

    def test_new_operations_with_uids_that_cannot_be(self):
        for wrong in (-1, 1 << 40, 1.5, 99):
            a = analyzer()
            a.tree.events.append({"name": "pseudo::op", "cat": "cpu_op", "parent": 1, "children": [wrong]})
            with self.assertRaises((KeyError, ValueError), msg=wrong):
                a.get_df_kernel_launchers()
            a.tree.events[-1]["children"] = [2]
            self.assertEqual(set(launchers(a)), {"pseudo::op"})

    def test_extension(self):
        def rename(tree):
            for event in tree.events:
                if event["name"] == "aten::addmm":
                    event["name"] = "renamed"

        a = TreePerfAnalyzer(TraceToTree(common.small()), tree_postprocess_extension=rename)
        self.assertEqual(set(launchers(a)), {"renamed"})

    def test_what_cannot_be(self):
        a = analyzer()
        e = a.tree.events
        for key, value, error in (("name", 3, TypeError), ("cat", 3, TypeError), ("ts", "1", TypeError),
                                  ("dur", True, TypeError), ("parent", 99, KeyError), ("parent", "x", TypeError),
                                  ("children", [99], KeyError), ("children", 3, TypeError),
                                  ("gpu_events", "ab", TypeError), ("args", 3, TypeError), ("UID", 3, ValueError)):
            with self.assertRaises(error, msg=key):
                e[0][key] = value
        with self.assertRaises(TypeError):
            e[0][5] = 1
        self.assertEqual(len(a.get_df_kernel_launchers()), 1)

    def test_what_cannot_be_in_the_tree_is_told_by_the_analysis(self):
        for key, value in (("parent", 1), ("cat", "kernel"), ("dur", -1), ("dur", float("nan"))):
            a = analyzer()
            a.tree.events[0][key] = value
            for _ in range(2):  # until it is corrected
                with self.assertRaises(ValueError):
                    a.get_df_kernel_launchers()
            del a.tree.events[0][key]
            self.assertEqual(len(a.get_df_kernel_launchers()), 1)

    def test_an_edited_tree_is_not_built_anew(self):
        a = analyzer()
        a.tree.events[1]["name"] = "renamed"
        a.tree.build_tree(add_python_func=True)  # the tree does not know it yet
        self.assertEqual(set(launchers(a)), {"renamed"})
        a.tree.build_tree(add_python_func=True)
        with self.assertRaisesRegex(ValueError, "edited"):
            a.tree.build_tree()
        self.assertEqual(set(launchers(a)), {"renamed"})

    def test_events_of_another_tree(self):
        a, b = analyzer(), analyzer()
        with self.assertRaisesRegex(ValueError, "another tree"):
            a.tree.events[0]["parent"] = b.tree.events[1]
        with self.assertRaisesRegex(ValueError, "another tree"):
            a.tree.get_children_events(b.tree.events[0])
        with self.assertRaisesRegex(ValueError, "another tree"):
            a.build_df_perf_metrics([b.tree.events[0]])
        self.assertEqual(a.tree.get_children_events(dict(a.tree.events[0]))[0]["UID"], 1)


if __name__ == "__main__":
    unittest.main()
