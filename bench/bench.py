#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures speed and memory, everything side by side in one run.

usage: bench.py [--build DIR] [--binary FILE] [--corpus DIR] [--runs N] [--small-only] [--only PART ...] [--json FILE]

Every figure is the median of N cold processes (new process, file in the page cache); the programs that are compared
take turns, so that a slow minute of the machine hits both. `make bench` builds what is needed and runs this.

Traces: corpus/pytorch/mi300_owlv2 (60 MB of JSON) and 27 copies of it made by the corpus' grow_trace.py (1 GB). Without
the corpus, traces made by scripts/make_trace.py take their place, and the output says so.

REFERENCE_CMD names the reference, for example
    REFERENCE_CMD='TraceLens_generate_perf_report_pytorch --profile_json_path {trace} {out}'
where {out} becomes '--output_csvs_dir DIR' or '--output_xlsx_path FILE'. REFERENCE_RUNS (default: as --runs) saves time,
REFERENCE_LARGE=1 runs it on the large trace, too.

Comparing: TraceDiff from files to files of mi300_timesformer and h100_timesformer, and of the large trace with a variant of it
that has other kernel times, other runtime calls and lacks some operations; beside it stand the time and the memory that loading
the two takes, one process after the other. REFERENCE_DIFF_CMD names a command that does the same with the reference, for
example
    REFERENCE_DIFF_CMD='python3 reference_diff.py {baseline} {variant} {out}'
with a script that calls TreePerfAnalyzer.from_file twice, TraceDiff, generate_tracediff_report and
print_tracediff_report_files; {out} is a folder. It runs on the pair only, unless REFERENCE_LARGE=1.

The Python package: bench/sdk.py (from_file, get_df_gpu_timeline, get_df_kernel_launchers) on mi300_owlv2, imports not counted.
BENCH_PYTHON is an interpreter that has pandas (default: the one that runs this), REFERENCE_PYTHON one that has the reference.

--only report, --only compare or --only sdk measures that part alone.
"""
import argparse
import gzip
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPIES = 27
# what the project set itself; printed beside the measured ratio
TARGET = {"csv": 100, "xlsx": 60, "load": 1, "memory": 20, "bytes": 140, "fixed": 16e6, "diff": 50, "diff load": 1.5,
          "sdk": 50, "sdk memory": 10}


class Failed(Exception):
    pass


# ---- running ----

class Samples:
    """Seconds and peak bytes of the runs of one command."""

    def __init__(self):
        self.seconds, self.cpu, self.peak, self.inner = [], [], [], []

    def as_json(self):
        return {"seconds": self.seconds, "cpu_seconds": self.cpu, "peak_bytes": self.peak, "inner_seconds": self.inner}


def run(build, command, shell=False):
    """One cold process: (seconds, processor seconds, peak bytes, standard output)."""
    argv = [os.path.join(build, "bench", "bench_run")] + (["/bin/sh", "-c", command] if shell else command)
    read, write = os.pipe()
    # bench_run writes its figures to descriptor 3; sh moves the pipe there whatever its number is here
    argv = ["/bin/sh", "-c", f'exec "$@" 3>&{write}', "sh"] + argv
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(argv, stdout=out, stderr=err, pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as figures:
            text = figures.read()
        code = process.wait()
        out.seek(0)
        err.seek(0)
        if code != 0:
            shown = command if shell else " ".join(shlex.quote(c) for c in command)
            raise Failed(f"status {code} of: {shown}\n{err.read().decode(errors='replace')[-2000:]}")
        seconds, cpu, peak = text.split()
        return float(seconds), float(cpu), int(peak) * 1024, out.read().decode(errors="replace")


def in_turns(build, commands, runs):
    """Runs {name: (command, shell, number of runs or None)} in turns. {name: Samples}, last outputs."""
    samples = {name: Samples() for name in commands}
    outputs = {}
    for i in range(runs):
        for name, (command, shell, most) in commands.items():
            if most is not None and i >= most:
                continue
            seconds, cpu, peak, text = run(build, command, shell)
            samples[name].seconds.append(seconds)
            samples[name].cpu.append(cpu)
            samples[name].peak.append(peak)
            outputs[name] = text
            words = text.split()
            if "seconds" in words:  # the load programs say how long the work itself took
                samples[name].inner.append(float(words[words.index("seconds") + 1]))
    return samples, outputs


# ---- traces ----

def corpus_root(path):
    """The folder that has corpus/ and tools/, or None."""
    for root in (path, os.path.join(path, "..")):
        if os.path.exists(os.path.join(root, "corpus", "pytorch", "mi300_owlv2.json.gz")):
            return os.path.abspath(root)
    return None


def make(path, what, produce):
    """A file in the cache of the build folder; made under another name, so that it is whole or not there."""
    if not os.path.exists(path):
        print(f"making {what} ...", file=sys.stderr)
        # the suffixes stay at the end: tools look at them
        part = os.path.join(os.path.dirname(path), "part." + os.path.basename(path))
        produce(part)
        os.replace(part, path)
    return path


def unpack(source):
    def produce(part):
        with gzip.open(source, "rb") as f, open(part, "wb") as out:
            shutil.copyfileobj(f, out, 1 << 20)
    return produce


def pack(source):
    def produce(part):
        with open(source, "rb") as f, gzip.open(part, "wb", compresslevel=6) as out:
            shutil.copyfileobj(f, out, 1 << 20)
    return produce


def script(name, *arguments):
    return lambda part: subprocess.run([sys.executable, name, *[a or part for a in arguments]], check=True)


def traces(options, cache):
    """List of {label, gz, json}, and a line about where they come from."""
    root = corpus_root(options.corpus)
    result = []
    if root:
        packed = os.path.join(root, "corpus", "pytorch", "mi300_owlv2.json.gz")
        plain = make(os.path.join(cache, "mi300_owlv2.json"), "the unpacked trace", unpack(packed))
        result.append({"label": "60 MB", "gz": packed, "json": plain})
        if not options.small_only:
            large = make(os.path.join(cache, f"mi300_owlv2_x{COPIES}.json"), f"{COPIES} copies of it",
                         script(os.path.join(root, "tools", "grow_trace.py"), packed, "", "--copies", str(COPIES)))
            result.append({"label": "1 GB", "gz": make(large + ".gz", "a packed copy", pack(large)), "json": large})
        return result, f"mi300_owlv2 of the corpus, and {COPIES} copies of it" if len(result) > 1 else \
            "mi300_owlv2 of the corpus"
    maker = os.path.join(ROOT, "scripts", "make_trace.py")
    for label, steps in (("60 MB", 84), ("240 MB", 336))[:1 if options.small_only else 2]:
        plain = make(os.path.join(cache, f"made_{steps}.json"), f"a trace of {label}",
                     script(maker, "", "--layers", "12", "--steps", str(steps)))
        result.append({"label": label, "gz": make(plain + ".gz", "a packed copy", pack(plain)), "json": plain})
    return result, "no corpus here: traces made by scripts/make_trace.py (set TRACELENS_CORPUS for real ones)"


def vary(source):
    """A trace that is like another one, but was made on another backend by a slightly different program."""
    def produce(part):
        with gzip.open(source, "rt", encoding="utf-8") as f:
            trace = json.load(f)
        kept, copies = [], 0
        for event in trace["traceEvents"]:
            kind = event.get("cat")
            if kind == "kernel":
                event["dur"] = round(event["dur"] * 0.8, 3)
            elif kind == "cuda_runtime":
                event["name"] = event["name"].replace("hip", "cuda")
            elif kind == "cpu_op" and event["name"] == "aten::_to_copy":
                copies += 1
                if copies % 3 == 0:
                    continue  # what is below hangs on the operation above then
            kept.append(event)
        trace["traceEvents"] = kept
        with gzip.open(part, "wt", compresslevel=6, encoding="utf-8") as f:
            json.dump(trace, f)
    return produce


def pairs(options, cache):
    """List of {label, large, baseline, variant}."""
    root = corpus_root(options.corpus)
    maker = os.path.join(ROOT, "scripts", "make_trace.py")
    result = []
    if root:
        folder = os.path.join(root, "corpus", "pytorch")
        result.append({"label": "timesformer, mi300 and h100", "large": False,
                       "baseline": os.path.join(folder, "mi300_timesformer.json.gz"),
                       "variant": os.path.join(folder, "h100_timesformer.json.gz")})
        if options.small_only:
            return result
        grow, packed = os.path.join(root, "tools", "grow_trace.py"), os.path.join(folder, "mi300_owlv2.json.gz")
        other = make(os.path.join(cache, "mi300_owlv2_variant.json.gz"), "a variant of the trace", vary(packed))
        large = [make(os.path.join(cache, f"mi300_owlv2{name}_x{COPIES}.json"), f"{COPIES} copies",
                      script(grow, source, "", "--copies", str(COPIES)))
                 for name, source in (("", packed), ("_variant", other))]
        result.append({"label": "1 GB and 1 GB", "large": True, "baseline": large[0], "variant": large[1]})
        return result
    for label, steps in (("60 MB and 60 MB", 84), ("240 MB and 240 MB", 336))[:1 if options.small_only else 2]:
        size = ["--layers", "12", "--steps", str(steps)]
        plain = make(os.path.join(cache, f"made_{steps}.json"), "a trace", script(maker, "", *size))
        other = make(os.path.join(cache, f"made_{steps}_slower.json"), "a slower trace",
                     script(maker, "", *size, "--slower", "flash_bwd=1.5"))
        result.append({"label": label, "large": steps > 84, "baseline": plain, "variant": other})
    return result


# ---- measuring ----

def reference_command(template, trace, folder, form):
    """The reference's command for one form of output, or None when the template is for the other one."""
    option = {"csv": "--output_csvs_dir", "xlsx": "--output_xlsx_path"}
    out = os.path.join(folder, "reference_csv" if form == "csv" else "reference.xlsx")
    if not any(o in template for o in option.values()):
        return template.format(trace=shlex.quote(trace), out=f"{option[form]} {shlex.quote(out)}")
    return template.format(trace=shlex.quote(trace), out=shlex.quote(out)) if option[form] in template else None


def measure_reports(options, trace, folder, large):
    template = os.environ.get("REFERENCE_CMD")
    few = int(os.environ.get("REFERENCE_RUNS", options.runs))
    found = {}
    for form in ("csv", "xlsx"):
        out = ["--output_csvs_dir", os.path.join(folder, "csv")] if form == "csv" else \
            ["--output_xlsx_path", os.path.join(folder, "report.xlsx")]
        commands = {"tracelens": ([options.binary, "report", "pytorch", "--profile_json_path", trace["gz"], *out],
                                  False, None)}
        if template and (not large or os.environ.get("REFERENCE_LARGE")):
            reference = reference_command(template, trace["gz"], folder, form)
            if reference:
                commands["reference"] = (reference, True, few)
        found[form], _ = in_turns(options.build, commands, options.runs)
    return found


def measure_load(options, trace):
    programs = {name: os.path.join(options.build, "bench", "bench_" + name) for name in ("load", "simdjson")}
    commands = {"tracelens": ([programs["load"], trace["json"]], False, None),
                "one thread": ([programs["load"], "--single-thread", trace["json"]], False, None),
                "from .gz": ([programs["load"], trace["gz"]], False, None)}
    if os.path.exists(programs["simdjson"]):
        commands["simdjson"] = ([programs["simdjson"], trace["json"]], False, None)
    samples, outputs = in_turns(options.build, commands, options.runs)
    words = outputs["tracelens"].split()
    facts = {"events": int(words[1]), "bytes": int(words[3]), "store_bytes": int(words[5])}
    if "simdjson" in outputs and int(outputs["simdjson"].split()[1]) != facts["events"]:
        raise Failed("simdjson and tracelens count different numbers of events")
    return samples, facts


def measure_diff(options, pair, folder):
    template = os.environ.get("REFERENCE_DIFF_CMD")
    load = os.path.join(options.build, "bench", "bench_load")
    out = [os.path.join(folder, name) for name in ("diff", "reference_diff")]
    commands = {"tracelens": ([options.binary, "diff", "-q", pair["baseline"], pair["variant"], "-o", out[0]], False, None),
                "load baseline": ([load, pair["baseline"]], False, None),
                "load variant": ([load, pair["variant"]], False, None)}
    if template and (not pair["large"] or os.environ.get("REFERENCE_LARGE")):
        few = int(os.environ.get("REFERENCE_RUNS", options.runs))
        commands["reference"] = (template.format(baseline=shlex.quote(pair["baseline"]),
                                                 variant=shlex.quote(pair["variant"]), out=shlex.quote(out[1])), True, few)
    return in_turns(options.build, commands, options.runs)[0]


def measure_sdk(options, trace):
    script = shlex.join([os.path.join(ROOT, "bench", "sdk.py"), trace["gz"]])
    python = shlex.quote(os.environ.get("BENCH_PYTHON", sys.executable))
    package = shlex.quote(os.path.join(options.build, "python"))
    commands = {"tracelens": (f"PYTHONPATH={package} {python} {script}", True, None)}
    if os.environ.get("REFERENCE_PYTHON"):
        few = int(os.environ.get("REFERENCE_RUNS", options.runs))
        commands["reference"] = (f"{shlex.quote(os.environ['REFERENCE_PYTHON'])} {script}", True, few)
    samples, outputs = in_turns(options.build, commands, options.runs)
    words = {name: text.split() for name, text in outputs.items()}  # the last one: launchers
    if any(w[-1] != words["tracelens"][-1] for w in words.values()):
        raise Failed("the reference and tracelens find different numbers of launchers")
    return samples, {name: int(w[w.index("memory") + 1]) for name, w in words.items()}


# ---- printing ----

def spread(values, form):
    values = sorted(values)
    return f"{form(statistics.median(values))} ({form(values[0])} - {form(values[-1])})"


def seconds(value):
    return f"{value:.3f} s" if value < 100 else f"{value:.0f} s"


def megabytes(value):
    return f"{value / 1e6:.1f} MB"


class Table:
    """Rows of cells, aligned; the first column to the left."""

    def __init__(self, title, *heads):
        self.title, self.rows = title, [heads]

    def add(self, *cells):
        self.rows.append(cells)

    def show(self):
        widths = [max(len(row[i]) for row in self.rows) for i in range(len(self.rows[0]))]
        print(f"\n{self.title}")
        for row in self.rows:
            print("  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                                   for i, (c, w) in enumerate(zip(row, widths))).rstrip())


def ratio(ours, theirs, target=None):
    """How many times less ours is than theirs; medians."""
    text = f"{statistics.median(theirs) / statistics.median(ours):.1f}x"
    return text + (f"  (target {target}x)" if target else "")


def show(results):
    table = Table("Whole report of the packed trace", "", "tracelens", "reference", "faster", "peak memory",
                  "peak of reference", "less")
    for r in results:
        for form in ("csv", "xlsx"):
            ours, theirs = r["reports"][form]["tracelens"], r["reports"][form].get("reference")
            table.add(f"{r['label']}  {form.upper()}", spread(ours.seconds, seconds),
                      spread(theirs.seconds, seconds) if theirs else "-",
                      ratio(ours.seconds, theirs.seconds, TARGET[form]) if theirs else "-",
                      spread(ours.peak, megabytes), spread(theirs.peak, megabytes) if theirs else "-",
                      ratio(ours.peak, theirs.peak, TARGET["memory"]) if theirs else "-")
    table.show()
    if not os.environ.get("REFERENCE_CMD"):
        print("  REFERENCE_CMD not set: skipped")

    table = Table("Load stage of the unpacked trace, whole process", "", "time", "JSON per second", "peak memory",
                  "against simdjson on-demand")
    for r in results:
        for name, s in r["load"].items():
            against = "-"
            if "simdjson" in r["load"] and name == "tracelens":
                against = "speed " + ratio(s.seconds, r["load"]["simdjson"].seconds, TARGET["load"])
            elif "simdjson" in r["load"] and name != "simdjson":
                against = "speed " + ratio(s.seconds, r["load"]["simdjson"].seconds)
            table.add(f"{r['label']}  {name}", spread(s.seconds, seconds),
                      f"{r['facts']['bytes'] / statistics.median(s.seconds) / 1e9:.2f} GB/s",
                      spread(s.peak, megabytes), against)
    table.show()
    if "simdjson" not in results[0]["load"]:
        print("  simdjson was not found when the build was configured: no comparison")

    table = Table("Memory by event", "", "events", "JSON", "store", "peak of CSV report, over 16 MB")
    for r in results:
        events = r["facts"]["events"]
        peak = statistics.median(r["reports"]["csv"]["tracelens"].peak)
        table.add(r["label"], f"{events:,}".replace(",", " "), megabytes(r["facts"]["bytes"]),
                  f"{r['facts']['store_bytes'] / events:.1f} bytes an event",
                  f"{(peak - TARGET['fixed']) / events:.1f} bytes an event (target {TARGET['bytes']})")
    table.show()

    if len(results) > 1:
        small, large = results[0], results[-1]
        size, events = (large["facts"][key] / small["facts"][key] for key in ("bytes", "events"))
        table = Table(f"Growth from {small['label']} to {large['label']}: {size:.1f} times the JSON, {events:.1f} times "
                      "the events", "", "time", "processor time", "time by event (target: at most 1)")
        rows = [(f"{form.upper()} report", [r["reports"][form]["tracelens"] for r in (small, large)])
                for form in ("csv", "xlsx")]
        rows.append(("load stage", [r["load"]["tracelens"] for r in (small, large)]))
        for name, (a, b) in rows:
            grown = statistics.median(b.seconds) / statistics.median(a.seconds)
            cpu = statistics.median(b.cpu) / statistics.median(a.cpu)
            table.add(name, f"{grown:.1f}x", f"{cpu:.1f}x", f"{grown / events:.2f}")
        table.show()


def show_diffs(diffs):
    table = Table("TraceDiff, from files to files", "", "tracelens", "processor", "reference", "faster", "peak memory",
                  "peak of reference", "less")
    for d in diffs:
        ours, theirs = d["diff"]["tracelens"], d["diff"].get("reference")
        table.add(d["label"], spread(ours.seconds, seconds), seconds(statistics.median(ours.cpu)),
                  spread(theirs.seconds, seconds) if theirs else "-",
                  ratio(ours.seconds, theirs.seconds, TARGET["diff"]) if theirs else "-",
                  spread(ours.peak, megabytes), spread(theirs.peak, megabytes) if theirs else "-",
                  ratio(ours.peak, theirs.peak) if theirs else "-")
    table.show()
    if not os.environ.get("REFERENCE_DIFF_CMD"):
        print("  REFERENCE_DIFF_CMD not set: skipped")

    table = Table("TraceDiff against loading the two traces, one after the other", "", "load", "diff",
                  f"time (target at most {TARGET['diff load']}x)", "processor time", "memory of both loads", "peak of diff",
                  f"memory (target at most {TARGET['diff load']}x)")
    for d in diffs:
        ours, loads = d["diff"]["tracelens"], [d["diff"][f"load {side}"] for side in ("baseline", "variant")]
        load, cpu, peak = (sum(statistics.median(getattr(s, of)) for s in loads) for of in ("seconds", "cpu", "peak"))
        took, used, most = (statistics.median(getattr(ours, of)) for of in ("seconds", "cpu", "peak"))
        table.add(d["label"], seconds(load), seconds(took), f"{took / load:.2f}x", f"{used / cpu:.2f}x", megabytes(peak),
                  megabytes(most), f"{most / peak:.2f}x")
    table.show()


def show_sdk(samples, memory):
    table = Table("Python package: from_file, get_df_gpu_timeline, get_df_kernel_launchers, without imports", "", "time",
                  "memory (last run)")
    for name, s in samples.items():
        table.add(name, spread(s.inner, seconds), megabytes(memory[name]))
    if "reference" in samples:
        table.add("less", ratio(samples["tracelens"].inner, samples["reference"].inner, TARGET["sdk"]),
                  ratio([memory["tracelens"]], [memory["reference"]], TARGET["sdk memory"]))
    table.show()
    if "reference" not in samples:
        print("  REFERENCE_PYTHON not set: skipped")


def as_json(results, diffs, sdk, where):
    return {"traces": where, "sdk": {name: s.as_json() for name, s in sdk[0].items()} if sdk else None, "diffs": [{"label": d["label"], **{name: s.as_json() for name, s in d["diff"].items()}}
                                       for d in diffs], "results": [{
        "label": r["label"], **r["facts"],
        "reports": {form: {name: s.as_json() for name, s in found.items()} for form, found in r["reports"].items()},
        "load": {name: s.as_json() for name, s in r["load"].items()},
    } for r in results]}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder, configured with -Dbench=true")
    p.add_argument("--binary", help="the command (default: tracelens in the build folder)")
    p.add_argument("--corpus", default=os.environ.get("TRACELENS_CORPUS", os.path.join(ROOT, "..", "shared")))
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--small-only", action="store_true", help="leave the large trace out")
    p.add_argument("--only", choices=("report", "compare", "sdk"), action="append", help="measure this part alone")
    p.add_argument("--json", metavar="FILE", help="write every sample there, too")
    options = p.parse_args()
    options.build = os.path.abspath(options.build)
    options.binary = os.path.abspath(options.binary or os.path.join(options.build, "tracelens"))
    if not os.path.exists(os.path.join(options.build, "bench", "bench_run")):
        sys.exit(f"bench.py: {options.build} has no benchmark programs; run: meson configure -Dbench=true "
                 f"{options.build} && ninja -C {options.build}")
    cache = os.path.join(options.build, "bench-traces")
    os.makedirs(cache, exist_ok=True)
    try:
        parts = options.only or ["report", "compare", "sdk"]
        options.small_only |= parts == ["sdk"]
        found, where = traces(options, cache) if parts != ["compare"] else ([], "traces for comparing")
        compared = pairs(options, cache) if "compare" in parts else []
        print(f"{where}\n{options.runs} cold processes each: median (least - most)")
        busy = os.getloadavg()[0]
        if busy > 0.5:
            print(f"other work runs on this machine (load {busy:.1f} on {os.cpu_count()} cores): times are too long")
        results = []
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            for i, trace in enumerate(found if "report" in parts else []):
                load, facts = measure_load(options, trace)
                results.append({"label": trace["label"], "load": load, "facts": facts,
                                "reports": measure_reports(options, trace, folder, i > 0)})
            diffs = [{"label": pair["label"], "diff": measure_diff(options, pair, folder)} for pair in compared]
            has_package = os.path.exists(os.path.join(options.build, "python", "TraceLens"))
            sdk = measure_sdk(options, found[0]) if "sdk" in parts and has_package else None
    except Failed as failure:
        sys.exit(f"bench.py: {failure}")
    if results:
        show(results)
    if diffs:
        show_diffs(diffs)
    if sdk:
        show_sdk(*sdk)
    elif "sdk" in parts:
        print("\nPython package: not built, skipped")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump(as_json(results, diffs, sdk, where), f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
