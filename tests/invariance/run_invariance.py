#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report must not depend on how a trace is written.

usage: run_invariance.py TRACELENS [--all] [TRACE ...]

For each trace the report is made from the file and from variants of it: events shuffled, all timestamps moved, array
form, other white space, gzip members split at arbitrary places, zstd. Every sheet must come out the same, cell by
cell; columns that hold UIDs and the sheet trace_health (which holds byte offsets) are left out where the variant
changes them. Ends in 'N passed, N failed'.

Without traces it takes the bundled ones and the three smallest of the corpus, with --all the whole corpus (minutes). The
corpus lies in $TRACELENS_CORPUS or else in ../shared beside the project's root.
"""
import csv
import decimal
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

csv.field_size_limit(1 << 30)
ROOT = os.environ.get("TL_SOURCE_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UID_COLUMNS = {"ex_UID", "UID_first"}
# every sheet and every key that there is; with Python frames in the tree, and without
OPTIONS = [["--enable_kernel_summary", "--short_kernel_study", "--include_unlinked_kernels", "--include_overlap_info",
            "--include_first_occurrence_time", "--group_by_num_kernels"],
           ["--include_call_stack", "--detect_recompute", "--include_overlap_info"]]


def default_traces(everything):
    bundled = os.path.join(ROOT, "examples", "traces")
    traces = []
    if os.path.isdir(bundled):
        traces = [os.path.join(bundled, f) for f in sorted(os.listdir(bundled)) if f.endswith(".json.gz")]
    shared = os.environ.get("TRACELENS_CORPUS") or os.path.join(ROOT, "..", "shared")
    pytorch = os.path.join(shared, "corpus", "pytorch")
    if not os.path.isdir(pytorch):
        print("skipped: no corpus")
        return traces
    by_size = sorted((os.path.join(pytorch, f) for f in os.listdir(pytorch)), key=os.path.getsize)
    return traces + (by_size if everything else by_size[:3])


def number(text):
    return decimal.Decimal(text)


class Encoder(json.JSONEncoder):
    """Writes decimals as they are; the standard encoder has no hook for that, so they go through marked strings."""

    def default(self, o):
        if isinstance(o, decimal.Decimal):
            return f"\0{o:f}\0"
        return super().default(o)


def dumps(trace, **options):
    text = json.dumps(trace, cls=Encoder, **options)
    return re.sub(r'"\\u0000([-0-9.]+)\\u0000"', r"\1", text)


def events_of(trace):
    return trace if isinstance(trace, list) else trace["traceEvents"]


def shuffled(trace):
    """Any order, except that events of a thread that share start and end, and metadata, keep theirs."""
    events = list(events_of(trace))
    slots = list(range(len(events)))
    random.Random(20261130).shuffle(slots)
    groups = {}
    for i, e in enumerate(events):
        key = "M" if e.get("ph") == "M" else (str(e.get("pid")), str(e.get("tid")), e.get("ts"), e.get("dur"))
        groups.setdefault(key, []).append(i)
    out = [None] * len(events)
    for members in groups.values():
        for i, slot in zip(members, sorted(slots[i] for i in members)):
            out[slot] = events[i]
    return {**trace, "traceEvents": out}


def moved(trace, by):
    out = []
    for e in events_of(trace):
        if "ts" in e:
            e = {**e, "ts": decimal.Decimal(str(e["ts"])) + by}
        out.append(e)
    return {**trace, "traceEvents": out}


def first_time(trace):
    return min(decimal.Decimal(str(e["ts"])) for e in events_of(trace) if e.get("ph") == "X" and "ts" in e)


def members(data):
    """The same bytes as several gzip members, cut anywhere."""
    rng = random.Random(7)
    cuts = sorted(rng.randrange(len(data)) for _ in range(9))
    parts = [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)])]
    return b"".join(gzip.compress(p, 1) for p in parts)


def variants(text, trace):
    yield "shuffled", dumps(shuffled(trace)).encode(), True
    yield "moved by 1e9 µs", dumps(moved(trace, decimal.Decimal(10**9))).encode(), False
    yield "moved to zero", dumps(moved(trace, -first_time(trace))).encode(), False
    if isinstance(trace, dict):
        yield "array form", dumps(trace["traceEvents"]).encode(), False
        yield "keys in other order", dumps({k: trace[k] for k in reversed(trace)}).encode(), False
    yield "no white space", dumps(trace, separators=(",", ":")).encode(), False
    yield "much white space", dumps(trace, indent=7).encode(), False
    yield "gzip members", members(text), False
    if shutil.which("zstd"):
        yield "zstd", subprocess.run(["zstd", "-q", "-c"], input=text, capture_output=True, check=True).stdout, False


def report(binary, path, folder):
    for i, options in enumerate(OPTIONS):
        run = subprocess.run([binary, "report", "pytorch", path, "--output_csvs_dir", os.path.join(folder, str(i)),
                              "--no-summary", *options], capture_output=True, text=True, timeout=300)
        if run.returncode not in (0, 5):
            return f"exit status {run.returncode} with {' '.join(options)}: {run.stderr.strip()}"
    return None


def sheets(folder, uids):
    out = {}
    for run in range(len(OPTIONS)):
        for name in sorted(os.listdir(os.path.join(folder, str(run)))):
            if name == "trace_health.csv":
                continue
            with open(os.path.join(folder, str(run), name), encoding="utf-8", newline="") as f:
                rows = list(csv.reader(f))
            drop = {i for i, c in enumerate(rows[0] if rows else []) if uids and c in UID_COLUMNS}
            out[f"{run}/{name}"] = [[c for i, c in enumerate(r) if i not in drop] for r in rows]
    return out


def difference(a, b):
    if a.keys() != b.keys():
        return f"sheets differ: {sorted(a.keys() ^ b.keys())}"
    for name in a:
        if len(a[name]) != len(b[name]):
            return f"{name}: {len(a[name])} and {len(b[name])} rows"
        for number_of_row, (x, y) in enumerate(zip(a[name], b[name])):
            if x != y:
                column = next((i for i, (p, q) in enumerate(zip(x, y)) if p != q), -1)
                return (f"{name} row {number_of_row} column {a[name][0][column]!r}: "
                        f"{x[column][:120]!r} and {y[column][:120]!r}")
    return None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary, rest = os.path.abspath(sys.argv[1]), sys.argv[2:]
    passed = failed = 0
    for path in [a for a in rest if a != "--all"] or default_traces("--all" in rest):
        with open(path, "rb") as f:
            text = f.read()
        if text[:2] == b"\x1f\x8b":
            text = gzip.decompress(text)
        trace = json.loads(text, parse_float=number)
        with tempfile.TemporaryDirectory() as scratch:
            original = os.path.join(scratch, "original")
            trouble = report(binary, path, original)
            if trouble:
                print(f"FAIL {os.path.basename(path)}: {trouble}")
                failed += 1
                continue
            for name, data, uids in variants(text, trace):
                variant = os.path.join(scratch, "variant.json")
                folder = os.path.join(scratch, "variant")
                with open(variant, "wb") as f:
                    f.write(data)
                shutil.rmtree(folder, ignore_errors=True)
                trouble = report(binary, variant, folder) or difference(sheets(original, uids), sheets(folder, uids))
                print(f"{'FAIL' if trouble else 'ok  '} {os.path.basename(path)}: {name}{': ' + trouble if trouble else ''}")
                passed, failed = passed + (not trouble), failed + bool(trouble)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
