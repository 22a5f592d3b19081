# SPDX-License-Identifier: MIT
"""Where GPU time goes, of a plain list of events."""
from collections.abc import Mapping
from numbers import Real

import pandas as pd

from .. import _core


def _add_end(event):
    """Gives a plain dict the key ``t_end``, which events of a tree have."""
    if isinstance(event, dict) and "t_end" not in event:
        start, duration = event.get("ts"), event.get("dur")
        if isinstance(start, Real) and isinstance(duration, Real):
            event["t_end"] = start + duration


class GPUEventAnalyser:
    """The GPU timeline of a list of events: dicts as in the file, or events of a tree. Others than GPU events may be
    among them. To analyse events of another kind, override :meth:`get_gpu_event_lists`.
    """

    all_gpu_key = "all_gpu"
    computation_key = "computation"
    communication_key = "communication"
    memcpy_key = "memcpy"
    all_cpu_key = "all_cpu"
    gpu_event_keys = [all_gpu_key, computation_key, communication_key, memcpy_key]
    cpu_event_keys = [all_cpu_key]

    def __init__(self, events):
        if isinstance(events, (str, bytes, Mapping)) or not hasattr(events, "__iter__"):
            raise TypeError(f"events must be a list of events, not {type(events).__name__}")
        self.events = events if hasattr(events, "__len__") else list(events)

    @staticmethod
    def merge_intervals(intervals):
        """Intervals (start, end) as sorted ones that neither overlap nor touch."""
        merged = []
        for start, end in sorted(intervals, key=lambda interval: interval[0]):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    @staticmethod
    def subtract_intervalsA_from_B(intervals_to_subtract, intervals):
        """What of ``intervals`` lies in none of ``intervals_to_subtract``; both sorted, the former without overlaps."""
        left = []
        first = 0
        for start, end in intervals:
            while first < len(intervals_to_subtract) and intervals_to_subtract[first][1] <= start:
                first += 1
            at = first
            while at < len(intervals_to_subtract) and intervals_to_subtract[at][0] < end:
                begin, stop = intervals_to_subtract[at]
                if begin > start:
                    left.append((start, begin))
                start = max(start, stop)
                at += 1
            if start < end:
                left.append((start, end))
        return left

    def get_gpu_event_lists(self, gpu_pid=None, event_filter=None):
        """The GPU events by what they do: a dict of the lists ``all_gpu``, ``computation``, ``communication`` and
        ``memcpy``, each in the order of the input; dicts among them get the key ``t_end``. ``gpu_pid`` and
        ``event_filter`` choose among them."""
        lists = {key: [] for key in self.gpu_event_keys}
        for event in self.events:
            if not isinstance(event, (dict, _core.Event, Mapping)):
                raise TypeError(f"an event is a mapping, not {type(event).__name__}")
            category = event.get("cat")
            if category not in ("kernel", "gpu_memcpy", "gpu_memset"):
                continue
            if gpu_pid is not None and event.get("pid") != gpu_pid:
                continue
            if event_filter is not None and not event_filter(event):
                continue
            name = event.get("name")
            _add_end(event)
            bucket = _core.classify(category, name if isinstance(name, str) else None)
            lists[self.all_gpu_key].append(event)
            lists[bucket].append(event)
        return lists

    @staticmethod
    def verify_dict_gpu_event_lists(dict_gpu_event_lists):
        """ValueError unless these are the four lists, with at least one GPU event, and all events have times."""
        expected = GPUEventAnalyser.gpu_event_keys
        if not isinstance(dict_gpu_event_lists, Mapping) or set(dict_gpu_event_lists) != set(expected):
            got = list(dict_gpu_event_lists) if isinstance(dict_gpu_event_lists, Mapping) else dict_gpu_event_lists
            raise ValueError(f"Expected keys: {expected}, got: {got}")
        if not dict_gpu_event_lists["all_gpu"]:
            raise ValueError("No GPU events found in the trace")
        for event in dict_gpu_event_lists["all_gpu"]:
            if "ts" not in event or ("t_end" not in event and "dur" not in event):
                raise ValueError("a GPU event needs 'ts' and 'dur' (or 't_end')")

    @staticmethod
    def compute_metrics_dict(dict, micro_idle_thresh_us=None):
        """The figures of four lists, in µs; of those that overlap the union counts. With a threshold ``micro_idle_time``
        and ``macro_idle_time`` (gaps below it, and the others) take the place of ``idle_time``."""
        try:
            lists = [dict[key] for key in GPUEventAnalyser.gpu_event_keys]
        except (KeyError, TypeError):
            GPUEventAnalyser.verify_dict_gpu_event_lists(dict)
            raise
        if not lists[0]:
            raise ValueError("No GPU events found in the trace")
        return _core.breakdown(*lists, micro_idle_thresh_us)

    def compute_metrics(self, micro_idle_thresh_us=None, gpu_pid=None, event_filter=None):
        """The figures of :meth:`get_gpu_event_lists`, in µs."""
        # what was not asked for is not passed on: subclasses may override the lists without parameters
        chosen = {"gpu_pid": gpu_pid, "event_filter": event_filter}
        lists = self.get_gpu_event_lists(**{key: value for key, value in chosen.items() if value is not None})
        self.verify_dict_gpu_event_lists(lists)
        return self.compute_metrics_dict(lists, micro_idle_thresh_us)

    @staticmethod
    def get_breakdown_df_from_dict(dict_metrics):
        """A dict of figures (µs) as a DataFrame: ``type``, ``time ms``, ``percent`` of ``total_time``."""
        frame = pd.DataFrame({"type": list(dict_metrics), "time ms": [us / 1000 for us in dict_metrics.values()]})
        total = dict_metrics["total_time"]
        frame["percent"] = [us / total * 100 if total else 0.0 for us in dict_metrics.values()]
        return frame

    def get_breakdown_df(self, micro_idle_thresh_us=None, gpu_pid=None, event_filter=None):
        """The GPU timeline as a DataFrame: ``type``, ``time ms``, ``percent``. ValueError without GPU events."""
        return self.get_breakdown_df_from_dict(self.compute_metrics(
            micro_idle_thresh_us=micro_idle_thresh_us, gpu_pid=gpu_pid, event_filter=event_filter))


class PytorchGPUEventAnalyser(GPUEventAnalyser):
    """The same, under the name that tells it from other formats."""
