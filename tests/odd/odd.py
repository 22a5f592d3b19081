# SPDX-License-Identifier: MIT
"""Odd traces: events as text, so that they can be as broken as in the wild, and what the command makes of them."""
import json
import os
import struct
import subprocess
import tempfile
import shutil
import unittest


class Settings:
    binary = ""


# ---- events; each is a text, and a test may replace any of them by a broken one ----

def event(ph="X", **fields):
    """Fields that are None are left out."""
    args = {k: v for k, v in fields.pop("args", {}).items() if v is not None}
    fields = {"ph": ph, **{k: v for k, v in fields.items() if v is not None}}
    if args:
        fields["args"] = args
    return json.dumps(fields)


def op(name, ts, dur, pid=100, tid=100, **args):
    return event(cat="cpu_op", name=name, ts=ts, dur=dur, pid=pid, tid=tid, args=args)


def launch(correlation, ts, dur, name="cudaLaunchKernel", pid=100, tid=100, **args):
    return event(cat="cuda_runtime", name=name, ts=ts, dur=dur, pid=pid, tid=tid,
                 args={"correlation": correlation, **args})


def kernel(name, ts, dur, stream=7, correlation=None, cat="kernel", pid=0, **args):
    return event(cat=cat, name=name, ts=ts, dur=dur, pid=pid, tid=stream,
                 args={"stream": stream, "correlation": correlation, **args})


def frame(name, ts, dur, pid=100, tid=100, **args):
    return event(cat="python_function", name=name, ts=ts, dur=dur, pid=pid, tid=tid, args=args)


def named(text, ts=50, dur=5):
    """A kernel whose name stands in the file as these very bytes."""
    text = text if isinstance(text, bytes) else text.encode()
    return (b'{"ph": "X", "cat": "kernel", "name": "' + text +
            b'", "pid": 0, "tid": 7, "ts": %d, "dur": %d, "args": {"stream": 7}}' % (ts, dur))


def joined(events):
    return b",\n".join(e if isinstance(e, bytes) else e.encode() for e in events)


def trace(*events, header="", end="]}"):
    return b'{%s"traceEvents": [' % header.encode() + joined(events) + end.encode()


# ---- containers ----

def zstd(pieces):
    """A zstd frame without compression: texts, and (byte, times) for a byte that comes very often."""
    out = [b"\x28\xb5\x2f\xfd", b"\x00", b"\x38"]  # no checksum, no size, a window of 128 KiB
    limit = 1 << 17

    def block(kind, size, data):
        out.append(struct.pack("<I", size << 3 | kind << 1)[:3] + data)

    for piece in pieces:
        if isinstance(piece, bytes):
            for at in range(0, len(piece), limit):
                block(0, len(piece[at:at + limit]), piece[at:at + limit])
            continue
        byte, times = piece
        for at in range(0, times, limit):
            block(1, min(limit, times - at), byte)
    out.append(struct.pack("<I", 1)[:3])  # the last block is empty
    return b"".join(out)


# ---- what comes out ----

class Answer:
    """A finished run of `tracelens report`."""

    def __init__(self, status, err, tables):
        self.status, self.err, self.tables = status, err, tables

    def rows(self, sheet):
        return self.tables.get(sheet, [])

    @property
    def health(self):
        return {row["kind"]: row["count"] for row in self.rows("trace_health")}

    @property
    def kernels(self):
        """Number and summed time (µs) of the kernels of each name."""
        out = {}
        for row in self.rows("kernel_summary"):
            count, total = out.get(row["Kernel name"], (0, 0))
            out[row["Kernel name"]] = (count + row["Kernel duration (µs)_count"],
                                       round(total + row["Kernel duration (µs)_sum"], 6))
        return out

    @property
    def timeline(self):
        """µs of each row of the GPU timeline, without `_time`."""
        return {row["type"].replace("_time", ""): round(row["time ms"] * 1000, 6) for row in self.rows("gpu_timeline")}

    @property
    def launchers(self):
        """Number and direct kernel time (µs) of the operations of each name."""
        return {row["name"]: (row["Count"], round(row["total_direct_kernel_time_sum"], 6))
                for row in self.rows("ops_summary")}


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-odd-")
        self.addCleanup(shutil.rmtree, self.dir)

    def write(self, data, name="trace.json"):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def run_it(self, *args):
        return subprocess.run([Settings.binary, *args], capture_output=True, timeout=300, cwd=self.dir,
                              env={**os.environ, "COLUMNS": "1000"})

    def report(self, data, *options, name="trace.json"):
        """Of these bytes, with all kernels in the timeline unless told otherwise."""
        path, out = self.write(data, name), os.path.join(self.dir, "out.json")
        if os.path.exists(out):
            os.remove(out)
        run = self.run_it("report", path, "--output_json_path", out, "--enable_kernel_summary", "-q", *options)
        tables = {}
        if os.path.exists(out):
            with open(out, encoding="utf-8") as f:
                for table in json.load(f)["tables"]:
                    names = [c["name"] for c in table["columns"]]
                    tables[table["name"]] = [dict(zip(names, row)) for row in table["rows"]]
        return Answer(run.returncode, run.stderr.decode(), tables)

    def tree(self, data, *options):
        """Nodes of the tree by UID."""
        run = self.run_it("tree", self.write(data), "--format", "json", "--all", *options)
        self.assertEqual(run.returncode, 0, run.stderr.decode())
        return {node["UID"]: node for node in json.loads(run.stdout)}

    def parents(self, data, *options):
        """Name of the parent of each node; None: a root. For trees of unlike names."""
        nodes = self.tree(data, *options)
        return {n["name"]: None if n["parent"] is None else nodes[n["parent"]]["name"] for n in nodes.values()}

    def health(self, data):
        """Findings of `tracelens health`: number by kind."""
        out = os.path.join(self.dir, "health.csv")
        run = self.run_it("health", self.write(data), "--output_csv_path", out)
        self.assertIn(run.returncode, (0, 4), run.stderr.decode())
        with open(out, encoding="utf-8") as f:
            lines = f.read().splitlines()[1:]
        return {line.split(",")[0]: int(line.split(",")[1]) for line in lines}
