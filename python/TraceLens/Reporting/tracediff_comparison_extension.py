# SPDX-License-Identifier: MIT
"""Tables made of ``diff_stats``: what TraceDiff found, one row per lowest common ancestor."""
import pandas as pd

_ID, _NAME = "lowest_common_ancestor_id", "lowest_common_ancestor_name"
_FIRST = ["nn_module_stack", "nn_module_parent", "Input Dims", "Input type", "Input Strides", "Concrete Inputs"]
_NEEDED = ["name", "cpu_op_name", "source", "busy_time", _ID, _NAME]


def _operation(first, second):
    """The operations of the baseline, else of the other trace, in one text."""
    for rows in (first, second):
        names = sorted(set(rows["cpu_op_name"].dropna()) - {""})
        if names:
            return " | ".join(names)
    return "unknown"


def _row(ancestor, group):
    first, second = (group[group["source"] == source] for source in ("trace1", "trace2"))
    shown = (first if len(first) else second).iloc[0]
    time1, time2 = (float(rows["busy_time"].iloc[0]) if len(rows) else 0.0 for rows in (first, second))
    row = {"name": _operation(first, second), _NAME: shown[_NAME], _ID: ancestor}
    row.update((column, shown.get(column)) for column in _FIRST)
    row["kernel_time_trace1_us"], row["kernel_time_trace2_us"] = time1, time2
    row["num_kernels_trace1"], row["num_kernels_trace2"] = len(first), len(second)
    row["kernel_names_trace1"], row["kernel_names_trace2"] = list(first["name"]), list(second["name"])
    row["speedup (trace2/trace1)"] = time2 / time1 if time1 else float("nan")
    row["delta_us (trace2 - trace1)"] = time2 - time1
    return row


def tracediff_perf_summary_from_diff_stats(diff_stats_df):
    """GPU time of both traces by lowest common ancestor, the baseline's largest first.

    ``diff_stats_df`` is that of :class:`TraceLens.TraceDiff`. Rows without an ancestor are left out; one without rows
    gives an empty table.

    Columns: ``name`` (the baseline's operations below the ancestor, joined with `` | ``; else the other trace's),
    ``lowest_common_ancestor_name``, ``lowest_common_ancestor_id``, ``nn_module_stack``, ``nn_module_parent``,
    ``Input Dims``, ``Input type``, ``Input Strides``, ``Concrete Inputs`` (of the first row),
    ``kernel_time_trace1_us``, ``kernel_time_trace2_us`` (µs in which GPU work of the ancestor ran),
    ``num_kernels_trace1``, ``num_kernels_trace2``, ``kernel_names_trace1``, ``kernel_names_trace2`` (lists),
    ``speedup (trace2/trace1)`` (NaN without time in trace1), ``delta_us (trace2 - trace1)``; and, where there is time,
    ``pct_of_trace1_total (%)``, ``cumulative_pct_trace1 (%)``, ``pct_of_trace2_total (%)``."""
    if not isinstance(diff_stats_df, pd.DataFrame):
        raise TypeError(f"a DataFrame is needed, not {type(diff_stats_df).__name__}")
    if diff_stats_df.empty:
        return pd.DataFrame()
    missing = [column for column in _NEEDED if column not in diff_stats_df]
    if missing:
        raise ValueError(f"this is no table of diff_stats: it has no column {missing[0]!r}")
    stats = diff_stats_df[diff_stats_df[_ID].notna()]
    if stats.empty:
        return pd.DataFrame()
    made = pd.DataFrame([_row(int(ancestor), group) for ancestor, group in stats.groupby(_ID, sort=True)])
    made = made.sort_values("kernel_time_trace1_us", ascending=False, kind="stable").reset_index(drop=True)
    for number in (1, 2):
        total = made[f"kernel_time_trace{number}_us"].sum()
        if total > 0:
            made[f"pct_of_trace{number}_total (%)"] = made[f"kernel_time_trace{number}_us"] / total * 100
            if number == 1:
                made["cumulative_pct_trace1 (%)"] = made["pct_of_trace1_total (%)"].cumsum()
    return made
