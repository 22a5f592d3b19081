# SPDX-License-Identifier: MIT
"""Traces in the making: nested operations with the GPU work that they launch."""
import gzip
import json


def op(name, *below, cat="cpu_op", **args):
    """An operation around what is below it; ``args`` with blanks for underscores, as ``Input_Dims=[[2, 3]]``."""
    return {"name": name, "cat": cat, "below": below, "args": {key.replace("_", " "): v for key, v in args.items()}}


def launch(call, kernel, dur, cat="kernel"):
    """A call that launches one GPU event of so many µs."""
    return {"name": call, "cat": "cuda_runtime", "gpu": (kernel, cat, dur)}


class _Layout:
    def __init__(self):
        self.events, self.at, self.gpu_at, self.links = [], 100, 10_000, 0

    def gpu(self, name, cat, dur, link):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": self.gpu_at, "dur": dur,
                            "args": {"correlation": link, "stream": 7}})
        self.gpu_at += dur + 1

    def host(self, node, tid):
        event = {"ph": "X", "cat": node["cat"], "name": node["name"], "pid": 1, "tid": tid, "ts": self.at}
        self.events.append(event)
        self.at += 1
        if "gpu" in node:
            self.links += 1
            event["args"] = {"correlation": self.links}
            self.gpu(*node["gpu"], self.links)
        else:
            event["args"] = node["args"]
            for below in node["below"]:
                self.host(below, tid)
        self.at += 1
        event["dur"] = self.at - event["ts"]
        self.at += 1


def events(*roots, stray=(), tid=1):
    """Events of the roots one after the other; ``stray``: (kernel, duration) of GPU events without a launch."""
    layout = _Layout()
    for root in roots:
        layout.host(root, tid)
    for number, (name, dur) in enumerate(stray):
        layout.gpu(name, "kernel", dur, 900_000 + number)
    return layout.events


def write(path, made):
    """A trace file of events; packed when the name ends in .gz. Returns the path."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "wt", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": made}, file)
    return path
