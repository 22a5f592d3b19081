# SPDX-License-Identifier: MIT
"""Small traces for the tests of the command, made of nothing but the events that matter."""
import gzip
import json
import os


class Trace:
    """Operations that each launch one kernel; times in µs from `now` on."""

    def __init__(self):
        self.events = [
            {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python3"}},
            {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "ts": 0, "args": {"labels": "CPU"}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "thread 1 (python3)"}},
        ]
        self.now = 1000
        self.correlation = 0

    def kernel(self, name, dur, launched=True, **args):
        """A kernel at `now`; with `launched` False its launch is not in the trace."""
        self.correlation += 1
        ids = {"correlation": self.correlation, "External id": self.correlation}
        self.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": self.now + 20,
                            "dur": dur, "args": {"stream": 7, "device": 0, **ids, **args}})
        if launched:
            at = {"pid": 1, "tid": 1}
            self.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": self.now + 2,
                                "dur": 3, "args": ids, **at})
            self.events.append({"ph": "s", "cat": "ac2g", "name": "ac2g", "id": self.correlation,
                                "ts": self.now + 2, **at})
            self.events.append({"ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": self.correlation,
                                "ts": self.now + 20, "pid": 0, "tid": 7})
        else:
            del ids["External id"]

    def op(self, name, kernel, dur=10, dims=((4, 8), (8, 2)), types=("float", "float"), **args):
        """A host operation with one kernel."""
        self.kernel(kernel, dur, **args)
        self.events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": self.now, "dur": 9,
                            "args": {"External id": self.correlation, "Input Dims": dims, "Input type": types,
                                     "Input Strides": [[d[-1], 1] if len(d) == 2 else [] for d in dims],
                                     "Concrete Inputs": [""] * len(dims)}})
        self.now += 100

    def text(self):
        return json.dumps({"schemaVersion": 1, "traceEvents": self.events})

    def write(self, path):
        """Writes the trace, packed when the name ends in .gz; returns the path."""
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "wt", encoding="utf-8") as f:
            f.write(self.text())
        return path


def simple():
    t = Trace()
    for i in range(3):
        t.op("aten::mm", "gemm_kernel", dur=10 + i)
    t.op("aten::add", "add_kernel", dims=((4, 2), (4, 2), ()), types=("float", "float", "Scalar"), dur=2.5)
    return t


def with_unlinked():
    t = simple()
    t.now = 2000
    t.kernel("lost_kernel", 1234.5, launched=False)
    return t


def host_only():
    t = Trace()
    t.events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 3, "args": {}})
    return t


def gpu_only():
    t = Trace()
    for i in range(3):
        t.kernel("k%d" % i, 5, launched=False)
        t.now += 50
    return t


def nasty():
    """Names that no cell, no terminal and no CSV reader likes."""
    t = Trace()
    names = ["=HYPERLINK(\"x\")", "+1", "@SUM(A1)", "bell\x07 and \x1b[31mred", "comma, \"quote\"", "two\nlines",
             "\ufffe\uffff", "x" * 40000, "\U0001f600" * 20000, "  blanks  ", "_x0041_", "#N/A", "1e5", "'quoted"]
    for i, name in enumerate(names):
        t.op("aten::mm", name, dur=20 + i, dims=((4, 8), (8, 2 + i)))
        t.op("op " + name, "k", dur=1 + i)
    return t


EXAMPLE = os.path.join(os.environ.get("TL_SOURCE_ROOT", os.path.join(os.path.dirname(__file__), "..", "..")),
                       "examples", "traces", "transformer_rank0.json.gz")


def corpus(name):
    """Path of a corpus trace, or None when there is no corpus here."""
    root = os.environ.get("TL_SOURCE_ROOT") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    shared = os.environ.get("TRACELENS_CORPUS") or os.path.join(root, "..", "shared")
    path = os.path.join(shared, "corpus", name)
    return path if os.path.exists(path) else None


def two_ranks(beside=False):
    """Two processes launch one kernel each under one id; with `beside` also operations of a third."""
    t = simple() if beside else Trace()
    for pid in (21, 22):
        t.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid, "tid": 1,
                         "ts": t.now + pid, "dur": 3, "args": {"correlation": 99}})
        t.events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": t.now + 2 * pid, "dur": 5,
                         "args": {"correlation": 99, "stream": 7}})
    return t
