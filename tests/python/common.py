# SPDX-License-Identifier: MIT
"""What the tests of the Python package share."""
import ctypes
import gc
import os
import sys
import unittest

ROOT = os.environ.get("TL_SOURCE_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUNDLED = os.path.join(ROOT, "examples", "traces", "transformer_rank0.json.gz")


#: A sanitizer keeps freed memory for a while, so that growth says nothing: tests of it are skipped.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


def resident():
    """Bytes of memory in use."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _Heap(ctypes.Structure):
    """struct mallinfo2 of glibc"""
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


def held():
    """Bytes that somebody asked for and nobody has given back, about; where the C library does not tell, the memory in
    use, which also grows when the allocator keeps more for threads that happen to meet."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return resident()
    mallinfo2.restype = _Heap
    heap = mallinfo2()
    return heap.uordblks + heap.hblkhd + sys.getallocatedblocks() * 64  # objects of Python lie elsewhere


def grows(work, times=60, allowed=1 << 18, rounds=5):
    """Whether memory goes on growing when something is done again and again: what is left behind makes every round of
    it grow, so that one round within what is allowed is enough to say no."""
    for _ in range(10):
        work()
    for _ in range(rounds):
        gc.collect()
        before = held()
        for _ in range(times):
            work()
        gc.collect()
        if held() - before <= allowed:
            return False
    return True


def corpus():
    """The folder of real traces and right answers; skips the test where it is missing."""
    for folder in (os.environ.get("TRACELENS_CORPUS"), os.path.join(os.path.dirname(ROOT), "shared")):
        if folder and os.path.isdir(os.path.join(folder, "golden")):
            return folder
    raise unittest.SkipTest("skipped: no corpus")


def event(name, cat, ts, dur, tid=1, pid=1, **args):
    """A complete event as the file has it."""
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def with_stream_index(events):
    """Copies of plain events in which GPU events tell where on their stream they are, as events of a tree do."""
    copies = [{**event, "args": dict(event["args"])} if "args" in event else dict(event) for event in events]
    streams = {}
    for at, event in enumerate(copies):
        stream = (event.get("args") or {}).get("stream")
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and stream is not None:
            streams.setdefault((event["pid"], stream), []).append((event["ts"], at))
    for places in streams.values():
        for index, (_, at) in enumerate(sorted(places)):
            copies[at]["args"]["stream_index"] = index
    return copies


def small():
    """Two operations on one thread, a backward one on another, and three GPU events, of which one has no launch."""
    return [
        event("aten::linear", "cpu_op", 100, 50, **{"Sequence number": 7, "Input Dims": [[2, 3]], "External id": 1}),
        event("aten::addmm", "cpu_op", 105, 40, **{"External id": 2}),
        event("cudaLaunchKernel", "cuda_runtime", 110, 5, correlation=1),
        event("cudaLaunchKernel", "cuda_runtime", 146, 3, correlation=2),
        event("gemm", "kernel", 200, 30, tid=7, pid=0, correlation=1, stream=7),
        event("ncclDevKernel_AllReduce", "kernel", 220, 25, tid=8, pid=0, correlation=2, stream=8),
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 1, "pid": 1, "tid": 1, "ts": 110},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 1, "pid": 0, "tid": 7, "ts": 200, "bp": "e"},
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 2, "pid": 1, "tid": 1, "ts": 146},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 2, "pid": 0, "tid": 8, "ts": 220, "bp": "e"},
        event("Memcpy HtoD (Host -> Device)", "gpu_memcpy", 260, 5, tid=7, pid=0, correlation=3, stream=7),
        event("autograd::engine::evaluate_function: AddmmBackward0", "cpu_op", 300, 50, tid=2,
              **{"Sequence number": 7}),
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
    ]
