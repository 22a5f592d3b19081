# SPDX-License-Identifier: MIT
# %% [markdown]
# # What did the change do?
#
# Cells begin with `# %%`: editors show this file as a notebook, and `python trace_diff.py [BASELINE VARIANT]` runs it
# from top to bottom. Without traces it takes two of the training of a small vision transformer: in the variant the
# backward pass of attention takes 1.5 times as long, layer norms take half the time, and one activation is another one.

# %%
import gzip
import os
import subprocess
import sys
import tempfile

import pandas as pd
from TraceLens import TraceDiff, TreePerfAnalyzer

pd.set_option("display.width", 160, "display.max_columns", 8, "display.max_colwidth", 60)
here = os.path.dirname(os.path.abspath(__file__))
scratch = tempfile.TemporaryDirectory()


def show(title, frame, columns=None, rows=8):
    print(f"\n## {title}\n")
    print((frame if columns is None else frame[columns]).head(rows).to_string(index=False))


def made_traces():
    maker = [sys.executable, os.path.join(here, "..", "scripts", "make_trace.py")]
    paths = [os.path.join(scratch.name, name) for name in ("baseline.json.gz", "variant.json.gz")]
    changes = [[], ["--slower", "flash_bwd=1.5", "--slower", "vectorized_layer_norm=0.5"]]
    for path, change in zip(paths, changes):
        subprocess.run([*maker, path, *change], check=True, stdout=subprocess.DEVNULL)
    with gzip.open(paths[1], "rt", encoding="utf-8") as file:
        text = file.read().replace('"aten::gelu"', '"aten::relu"')
    with gzip.open(paths[1], "wt", encoding="utf-8") as file:
        file.write(text)
    return paths


given = [path for path in sys.argv[1:3] if os.path.exists(path)]
baseline, variant = given if len(given) == 2 else made_traces()

# %% [markdown]
# ## Two trees, laid over each other
#
# The first one is the baseline. With `add_python_func=True` on both, Python frames are aligned, too, and tables tell
# modules.

# %%
tree1 = TreePerfAnalyzer.from_file(baseline, add_python_func=True).tree
tree2 = TreePerfAnalyzer.from_file(variant, add_python_func=True).tree
td = TraceDiff(tree1, tree2)
td.generate_tracediff_report()
print(td)

# %% [markdown]
# How much of the GPU time the comparison can speak about: what lies under an operation that both traces have.

# %%
for name in ("trace1", "trace2"):
    side = td.totals[name]
    print(f"{name}: {side['gpu_events']} GPU events, {side['gpu_time_us']:.1f} µs; under operations of both "
          f"{side['in_matched_us']:.1f} µs; without a launch in the trace {side['unlinked_us']:.1f} µs")

# %% [markdown]
# ## Where the time went
#
# By the lowest operation that both have, the largest difference first.

# %%
show("by lowest common ancestor (µs)", td.diff_stats_summary_df,
     ["lowest_common_ancestor_name", "count", "kernel_time_trace1", "kernel_time_trace2", "delta"])

# %% [markdown]
# One row per GPU event; so any other question is a line of pandas: here by module.

# %%
stats = td.diff_stats_df
by_module = stats.pivot_table(index="nn_module_parent", columns="source", values="kernel_time", aggfunc="sum",
                              fill_value=0)
by_module["delta"] = by_module["trace2"] - by_module["trace1"]
by_module = by_module.sort_values("delta", key=abs, ascending=False).reset_index()
by_module.columns.name = None
show("by module (µs)", by_module)

# %% [markdown]
# Calls of equal arguments are one row in the summary; other statistics on request.

# %%
summary = td.get_df_diff_stats_unique_args(agg_metrics=["mean", "max"])
show("kernels of backward attention (µs)", summary[summary["cpu_op_name"].str.contains("attention_backward")],
     ["source", "operation_count", "kernel_time_mean", "kernel_time_max", "kernel_time_sum"])

# %% [markdown]
# ## Which event is which
#
# UIDs lead from one tree to the other; -1 says that the other has no such event.

# %%
for name in ("aten::_flash_attention_backward", "aten::gelu"):
    event = next((e for e in tree1.events if e["name"] == name), None)
    if event is None:
        continue
    other = td.get_corresponding_uid(1, event["UID"])
    print(f"{name} {event['UID']} ->", "nothing" if other == -1 else f"{tree2.events[other]['name']} {other}")
    td.print_merged_subtree(uid_tree1=event["UID"])

# %% [markdown]
# What only one of the traces has, topmost events only.

# %%
print("only in the baseline:", sorted({event["name"] for event in td.db1})[:5])
print("only in the variant:", sorted({event["name"] for event in td.db2})[:5])

# %% [markdown]
# ## Files, for people and other programs

# %%
folder = os.path.join(scratch.name, "rprt_diff")
td.print_tracediff_report_files(folder, prune_non_gpu=True)
for name in sorted(os.listdir(folder)):
    print(f"{name:40} {os.path.getsize(os.path.join(folder, name)):8} bytes")

# %% [markdown]
# ## Reports side by side
#
# Where operations have the same names in both runs, finished reports tell of waiting and rates, too. Traces will do.

# %%
from TraceLens.Reporting.compare_perf_reports_pytorch import generate_compare_perf_reports_pytorch  # noqa: E402

sheets = generate_compare_perf_reports_pytorch([baseline, variant], output=None, names=["baseline", "variant"])
show("GPU timeline", sheets["gpu_timeline"], ["type", "baseline::time ms", "variant::time ms", "time ms__variant_pct"])
if "SDPA_bwd_intersect_variant" in sheets:
    show("backward attention", sheets["SDPA_bwd_intersect_variant"],
         ["name", "baseline::TFLOPS/s_mean", "variant::TFLOPS/s_mean", "TFLOPS/s_mean__variant_pct"])
