# SPDX-License-Identifier: MIT
# %% [markdown]
# # A walk through the SDK
#
# Cells begin with `# %%`: editors show this file as a notebook, and `python walkthrough.py [TRACE]` runs it from top to
# bottom. The trace is one rank of the training of a small vision transformer, two steps.

# %%
import os
import sys

import pandas as pd
from TraceLens import GPUEventAnalyser, TreePerfAnalyzer

pd.set_option("display.width", 160, "display.max_columns", 8, "display.max_colwidth", 60)


def show(title, frame, columns=None, rows=8):
    print(f"\n## {title}\n")
    print((frame if columns is None else frame[columns]).head(rows).to_string(index=False))


folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "traces")
trace = sys.argv[1] if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else os.path.join(
    folder, "transformer_rank0.json.gz")

# %% [markdown]
# ## Load
#
# `add_python_func=True` makes Python frames nodes of the call tree, so that kernels lead back to modules and lines.

# %%
analyzer = TreePerfAnalyzer.from_file(trace, add_python_func=True)
tree = analyzer.tree
print(f"{len(tree.events)} events")

# %% [markdown]
# ## Where GPU time goes
#
# Times are unions of intervals: what overlaps counts once.

# %%
show("GPU timeline", analyzer.get_df_gpu_timeline(), rows=20)

# %% [markdown]
# The same of a plain list of events, for which no tree is built. A list tells no launches, so the four GPU events that were
# launched before the profiler began count here, too (in a tree: `include_unlinked_kernels=True`).

# %%
everything = [dict(event) for event in tree.events]
show("GPU timeline of the list", GPUEventAnalyser(everything).get_breakdown_df(), rows=20)

# %% [markdown]
# ## Which operations launch that work

# %%
launchers = analyzer.get_df_kernel_launchers(include_kernel_details=True)
show("by name", analyzer.get_df_kernel_launchers_summary(launchers),
     ["name", "Count", "total_direct_kernel_time_ms", "Percentage (%)"])
show("by category", analyzer.get_df_kernel_launchers_summary_by_category(launchers))
show("aten::mm by its arguments", analyzer.get_df_kernel_launchers_unique_args(
    launchers, event_name="aten::mm", include_pct=True),
     ["Input Dims", "operation_count", "total_direct_kernel_time_sum", "Percentage (%)"])

# %% [markdown]
# ## Around one operation
#
# From the operation down to its kernels, and up to the line of Python that called it.

# %%
operation = next(event for event in tree.events if event["name"] == "aten::convolution")
tree.traverse_subtree_and_print(operation)
tree.traverse_parents_and_print(operation, cpu_op_fields=("Input Dims", "Input type"))

# %% [markdown]
# An event is a mapping; what hangs together with it is one call away.

# %%
kernels = tree.get_gpu_events(operation)
print(operation["args"]["Input Dims"], "->", [kernel["name"][:40] for kernel in kernels])
caller = tree.get_parent_event(operation)
print("called by", caller["name"] if caller else "nobody")

# %% [markdown]
# ## How well matrix multiplications do
#
# FLOPs and bytes come from the shapes, times from the kernels; with a GPU platform rooflines are added.

# %%
from TraceLens.PerfModel.torch_op_mapping import build_sheet_category_to_op_names  # noqa: E402

families = build_sheet_category_to_op_names(analyzer.op_to_perf_model_class_map)
gemms = [event for event in tree.events if event["name"] in families["GEMM"]]
metrics = analyzer.build_df_perf_metrics(gemms, include_kernel_details=True)
show("matrix multiplications by shape", analyzer.summarize_df_perf_metrics(metrics, ["mean"]),
     ["name", "param: M", "param: N", "param: K", "FLOPS/Byte_first", "TFLOPS/s_mean"])

# %% [markdown]
# The formulas answer without a trace, too.

# %%
from TraceLens.PerfModel.perf_model import GEMM, SDPA, UnaryElementwise  # noqa: E402

print("4096^3 GEMM:", GEMM.flops_func(4096, 4096, 4096, False), "FLOPs,",
      GEMM.bytes_func(4096, 4096, 4096, False, 2, 2, 2, 2), "bytes")
print("attention:", SDPA.flops_func(1, 4096, 64, 4096, 8, 128, 128, True), "FLOPs")


# %% [markdown]
# ## A model of one's own
#
# GELU has no model. A class says how to read its arguments, and what it costs where that differs from its family; mapped
# to the operation it counts in every table and in the report.

# %%
class Gelu(UnaryElementwise):
    category = "elementwise"

    @staticmethod
    def get_param_details(event):
        args = event["args"]
        return {"op_shape": tuple(args["Input Dims"][0]), "dtype_in_out": (args["Input type"][0], None)}

    def flops(self):
        return 8 * self.nelems


analyzer.op_to_perf_model_class_map["aten::gelu"] = Gelu
gelus = [event for event in tree.events if event["name"] == "aten::gelu"]
show("GELU", analyzer.summarize_df_perf_metrics(analyzer.build_df_perf_metrics(gelus), ["mean"]),
     ["name", "param: op_shape", "GFLOPS_first", "TB/s_mean"])
del analyzer.op_to_perf_model_class_map["aten::gelu"]

# %% [markdown]
# ## Which modules the time belongs to


# %%
def walk(module, depth=0):
    print(f"{'    ' * depth}{module['name']} ({module['GPU Time']:.2f} µs)")
    children = [tree.get_UID2event(uid) for uid in tree.get_nn_module_children(module)]
    for child in children:
        walk(child, depth + 1)
    if children and module.get("Non-nn.Module GPU Time"):
        print(f"{'    ' * (depth + 1)}Non-nn.Module GPU Ops ({module['Non-nn.Module GPU Time']:.2f} µs)")


block = next(event for event in tree.events if event["name"] == "nn.Module: Block_1")
analyzer.build_nn_module_latency_tree(block)
walk(block)

# %% [markdown]
# ## Everything at once
#
# The report: all tables, as DataFrames here, as CSV files, a workbook or JSON where paths are given.

# %%
import tempfile  # noqa: E402

from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch  # noqa: E402

with tempfile.TemporaryDirectory() as output:
    sheets = generate_perf_report_pytorch(trace, output_csvs_dir=output, gpu_arch_platform="H100")
for name, sheet in sheets.items():
    print(f"{name:28} {len(sheet):5} rows {len(sheet.columns):4} columns")
