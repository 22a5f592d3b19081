# SPDX-License-Identifier: MIT
"""GPU timelines of plain lists."""
import gzip
import json
import unittest

import common
from TraceLens import GPUEventAnalyser, PytorchGPUEventAnalyser, TraceToTree, TreePerfAnalyzer


def times(frame):
    return dict(zip(frame["type"], frame["time ms"]))


class Timeline(unittest.TestCase):
    def test_plain_list(self):
        frame = GPUEventAnalyser(common.small()).get_breakdown_df()
        self.assertEqual(list(frame.columns), ["type", "time ms", "percent"])
        self.assertEqual(times(frame), {
            "computation_time": 0.03, "exposed_comm_time": 0.015, "exposed_memcpy_time": 0.005, "busy_time": 0.05,
            "idle_time": 0.015, "total_time": 0.065, "total_comm_time": 0.025, "total_memcpy_time": 0.005})
        self.assertAlmostEqual(frame["percent"][4], 15 / 65 * 100)

    def test_lists_have_ends(self):
        lists = GPUEventAnalyser(common.small()).get_gpu_event_lists()
        self.assertEqual({key: [(e["ts"], e["t_end"]) for e in events] for key, events in lists.items()}, {
            "all_gpu": [(200, 230), (220, 245), (260, 265)], "computation": [(200, 230)],
            "communication": [(220, 245)], "memcpy": [(260, 265)]})

    def test_threshold(self):
        frame = GPUEventAnalyser(common.small()).get_breakdown_df(15)
        self.assertEqual(times(frame)["macro_idle_time"], 0.015)
        self.assertEqual(len(frame), 9)
        self.assertEqual(times(GPUEventAnalyser(common.small()).get_breakdown_df(15.5))["micro_idle_time"], 0.015)

    def test_same_as_the_file(self):
        with gzip.open(common.BUNDLED) as file:
            events = json.load(file)["traceEvents"]
        analyzer = TreePerfAnalyzer.from_file(common.BUNDLED, include_unlinked_kernels=True)
        plain = GPUEventAnalyser(events).get_breakdown_df()
        of_tree = PytorchGPUEventAnalyser(analyzer.tree.events).get_breakdown_df()
        expected = times(analyzer.get_df_gpu_timeline())
        for frame in (plain, of_tree):
            self.assertEqual(list(times(frame)), list(expected))
            for name, value in times(frame).items():
                self.assertAlmostEqual(value, expected[name], places=12, msg=name)

    def test_exact(self):
        # at such times a double is coarser than the figures
        events = [common.event("a", "kernel", 2204338330653.969, 0.001), common.event("b", "kernel", 2204338330653.97, 1)]
        self.assertEqual(times(GPUEventAnalyser(events).get_breakdown_df())["total_time"], 0.001001)

    def test_ends_instead_of_durations(self):
        events = [{"cat": "kernel", "name": "a", "ts": 1, "t_end": 4}, {"cat": "kernel", "name": "b", "ts": 5, "dur": 2}]
        self.assertEqual(times(GPUEventAnalyser(events).get_breakdown_df())["busy_time"], 0.005)

    def test_pid(self):
        plain = common.small()
        plain[5]["pid"] = 3
        self.assertEqual(times(GPUEventAnalyser(plain).get_breakdown_df(gpu_pid=3))["total_time"], 0.025)
        analyzer = TreePerfAnalyzer(TraceToTree(plain))
        self.assertEqual(times(analyzer.get_df_gpu_timeline(gpu_pid=3))["total_time"], 0.025)

    def test_intervals(self):
        merge, subtract = GPUEventAnalyser.merge_intervals, GPUEventAnalyser.subtract_intervalsA_from_B
        self.assertEqual(merge([(3, 4), (1, 2), (2, 3), (6, 6)]), [(1, 4), (6, 6)])
        self.assertEqual(merge([]), [])
        self.assertEqual(subtract([(15, 16), (17, 18)], [(10, 20)]), [(10, 15), (16, 17), (18, 20)])
        self.assertEqual(subtract([(15, 17), (16, 18)], [(10, 20)]), [(10, 15), (18, 20)])
        self.assertEqual(subtract([(15, 35)], [(10, 20), (30, 40)]), [(10, 15), (35, 40)])
        self.assertEqual(subtract([(0, 30)], [(10, 20)]), [])
        self.assertEqual(subtract([], [(10, 20)]), [(10, 20)])

    def test_lists_of_a_subclass_are_used(self):
        class All(GPUEventAnalyser):
            def get_gpu_event_lists(self, gpu_pid=None, event_filter=None):
                mine = [e for e in self.events if e.get("kind") == "gpu"]
                return {"all_gpu": mine, "computation": mine, "communication": [], "memcpy": []}

        events = [{"kind": "gpu", "ts": 0, "dur": 3}, {"kind": "cpu", "ts": 0, "dur": 300}]
        self.assertEqual(times(All(events).get_breakdown_df())["computation_time"], 0.003)

    def test_metrics_of_a_subclass_are_used(self):
        class Fixed(GPUEventAnalyser):
            def compute_metrics(self, *args, **kwargs):
                return {"busy_time": 5.0, "total_time": 10.0}

        self.assertEqual(Fixed([]).get_breakdown_df()["percent"].tolist(), [50.0, 100.0])
        analyzer = TreePerfAnalyzer(TraceToTree(common.small()))
        analyzer.GPUEventAnalyser = Fixed
        self.assertEqual(times(analyzer.get_df_gpu_timeline()), {"busy_time": 0.005, "total_time": 0.01})

    def test_subclasses_without_parameters(self):
        class Every(GPUEventAnalyser):
            def get_gpu_event_lists(self):
                lists = super().get_gpu_event_lists()
                return {**lists, "all_gpu": lists["computation"], "communication": [], "memcpy": []}

        self.assertEqual(times(Every(common.small()).get_breakdown_df())["total_time"], 0.03)
        self.assertEqual(times(Every(common.small()).get_breakdown_df(5))["micro_idle_time"], 0)
        with self.assertRaises(TypeError):  # what it cannot heed is not dropped silently
            Every(common.small()).get_breakdown_df(gpu_pid=3)

        class Keywords(GPUEventAnalyser):
            def compute_metrics(self, *, event_filter, gpu_pid, micro_idle_thresh_us):
                return {"total_time": float(micro_idle_thresh_us)}

        self.assertEqual(times(Keywords([]).get_breakdown_df(7)), {"total_time": 0.007})

    def test_names_that_are_no_plain_text(self):
        # all of them come out of json.load
        for name in ("\ud800nccl", "nccl\0x", "nccl\U0001f600"):
            frame = GPUEventAnalyser([common.event(name, "kernel", 0, 3)]).get_breakdown_df()
            self.assertEqual(times(frame)["total_comm_time"], 0.003, name)

    def test_what_a_subclass_raises(self):
        class Raises(GPUEventAnalyser):
            def get_gpu_event_lists(self, gpu_pid=None, event_filter=None):
                raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            Raises([]).get_breakdown_df()

    def test_bad_use(self):
        for wrong in ({"traceEvents": []}, "text", None, 5):
            with self.assertRaises(TypeError):
                GPUEventAnalyser(wrong)
        with self.assertRaises(TypeError):
            GPUEventAnalyser([1, 2]).get_breakdown_df()
        with self.assertRaisesRegex(ValueError, "No GPU events"):
            GPUEventAnalyser([]).get_breakdown_df()
        with self.assertRaisesRegex(ValueError, "Expected keys"):
            GPUEventAnalyser.verify_dict_gpu_event_lists({"x": []})
        with self.assertRaises(ValueError):
            GPUEventAnalyser([{"cat": "kernel", "name": "a", "ts": 1}]).get_breakdown_df()
        with self.assertRaisesRegex(TypeError, "'ts' of a GPU event must be a number of microseconds, not str"):
            GPUEventAnalyser([{"cat": "kernel", "name": "a", "ts": "1", "dur": 3}]).get_breakdown_df()
        with self.assertRaisesRegex(TypeError, "'dur' of a GPU event must be a number of microseconds, not NoneType"):
            GPUEventAnalyser([{"cat": "kernel", "name": "a", "ts": 1, "dur": None}]).get_breakdown_df()
        with self.assertRaises(ValueError):
            GPUEventAnalyser(common.small()).get_breakdown_df(-1)
        with self.assertRaises(TypeError):
            GPUEventAnalyser(common.small()).get_breakdown_df("a")


if __name__ == "__main__":
    unittest.main()
