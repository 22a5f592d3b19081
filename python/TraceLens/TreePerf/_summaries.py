# SPDX-License-Identifier: MIT
"""Summaries of DataFrames by groups. They work on any DataFrame with the columns they name, also on edited ones."""
import re
import warnings

import numpy as np
import pandas as pd

from .._frame import TEXT

ARGUMENTS = ["Input Dims", "Input type", "Input Strides", "Concrete Inputs"]
THREAD = ["process_name", "process_label", "thread_name"]
DIRECT, SUBTREE = "total_direct_kernel_time", "total_subtree_kernel_time"


# ---- shared ----


def _present(frame, columns):
    return [name for name in columns if name in frame.columns]


def _texts(frame, columns):
    """Key columns as texts, so that tuples, lists and missing values group, too."""
    return pd.DataFrame({name: [str(value) for value in frame[name]] for name in columns}, index=frame.index)


def _group_ids(frame, columns):
    """Group number of each row, in order of first appearance, and the number of groups."""
    seen = {}
    keys = zip(*(_texts(frame, columns)[name] for name in columns))
    ids = np.fromiter((seen.setdefault(key, len(seen)) for key in keys), dtype=np.int64, count=len(frame))
    return ids, len(seen)


def _is_missing(value):
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _first(series, ids, n):
    """The first value of each group that is not missing."""
    out, found = [None] * n, [False] * n
    for group, value in zip(ids, series):
        if not found[group] and not _is_missing(value):
            out[group], found[group] = value, True
    return out


def _typed(made, frame):
    """Without rows, columns have the types of the frame that they come from: `.str` works on texts that are not there."""
    if len(made):
        return made
    types = {name: frame[name].dtype for name in _present(frame, made.columns)}
    if "ex_UID" in made:
        types["ex_UID"] = frame["UID"].dtype
    return made.astype({**types, **{name: object for name in made if name.endswith("_details_summary")}})


def _shown(values):
    """Parameters as texts; one that is missing stays so, and does not become the text `None`."""
    texts = [None if _is_missing(value) else str(value) for value in values]
    return pd.Series(texts, dtype=TEXT or object)


def _aggregate(series, ids, how):
    """One number per group."""
    numbers = pd.to_numeric(pd.Series(list(series), dtype=None if len(series) else float), errors="coerce")
    grouped = numbers.groupby(ids, sort=True)
    return grouped.size().tolist() if how == "size" else getattr(grouped, how)().tolist()


def _sizes(ids, n):
    return np.bincount(ids, minlength=n)


def percentages(frame, column):
    """Adds the share of a column in its sum, and the running sum of shares."""
    total = frame[column].sum()
    frame["Percentage (%)"] = frame[column] / total * 100 if total else 0.0
    frame["Cumulative Percentage (%)"] = frame["Percentage (%)"].cumsum()
    return frame


def _sorted(frame, by, ascending):
    return frame.sort_values(by=by, ascending=ascending, kind="stable").reset_index(drop=True)


def _sorted_in_groups(made, keys, time, uid):
    """Rows of equal keys stay together: groups by their time, heaviest first, then the rows of each."""
    ids, n = _group_ids(made, keys)
    made = made.assign(_time=pd.Series(made[time]).groupby(ids).transform("sum"))
    order, ascending = ["_time"], [False]
    if uid in made:
        made["_uid"] = pd.Series(made[uid]).groupby(ids).transform("min")
        order, ascending = ["_time", "_uid", time, uid], [False, True, False, True]
    return _sorted(made, order, ascending).drop(columns=_present(made, ["_time", "_uid"]))


def summarize_kernels(lists, agg_metrics=("mean",)):
    """Lists of kernels of one group as one list: position by position the number and statistics of durations (µs),
    by total duration. The first list that is not empty says how many there are; lists of other lengths do not count."""
    lists = [kernels for kernels in lists if isinstance(kernels, (list, tuple)) and len(kernels)]
    if not lists:
        return []
    kept = [kernels for kernels in lists if len(kernels) == len(lists[0])]
    if len(kept) < len(lists):
        warnings.warn("Inconsistent kernel list length found. Skipping a row.", stacklevel=3)
    records = []
    for at, template in enumerate(kept[0]):
        durations = np.array([kernels[at]["dur"] for kernels in kept if kernels[at].get("dur") is not None], dtype=float)
        record = {key: value for key, value in template.items() if key not in ("dur", "gpu_op_uid")}
        record["count"] = int(durations.size)
        record["total_duration_us"] = float(durations.sum())
        for metric in agg_metrics:
            name, function = {"mean": ("mean", np.mean), "median": ("median", np.median), "std": ("std_dev", np.std),
                              "min": ("min", np.min), "max": ("max", np.max)}.get(metric, (None, None))
            if name:
                record[f"{name}_duration_us"] = float(function(durations)) if durations.size else None
        records.append(record)
    return sorted(records, key=lambda record: (record["total_duration_us"], record["name"]))


def _summaries(series, ids, n, agg_metrics):
    groups = [[] for _ in range(n)]
    for group, kernels in zip(ids, series):
        groups[group].append(kernels)
    return [summarize_kernels(kernels, agg_metrics) for kernels in groups]


def _check(frame, needed, what):
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"a DataFrame is needed, not {type(frame).__name__}")
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ValueError(f"this is no table of {what}: it has no column {missing[0]!r}")


def _metrics(agg_metrics):
    known = ("mean", "median", "std", "min", "max", "sum")
    agg_metrics = [agg_metrics] if isinstance(agg_metrics, str) else list(agg_metrics)
    for metric in agg_metrics:
        if metric not in known:
            raise ValueError(f"unknown statistic {metric!r}: one of {', '.join(known)}")
    return agg_metrics


def _round_overlap(result, agg_metrics):
    """Overlaps are shares, of which two decimals say enough; a group of one row does not vary."""
    for metric in agg_metrics:
        name = f"overlap_pct_{metric}"
        result[name] = pd.to_numeric(pd.Series(result[name]), errors="coerce").round(2)
    if "overlap_pct_std" in result and "overlap_pct_mean" in result:
        lone = pd.Series(result["overlap_pct_std"]).isna() & pd.Series(result["overlap_pct_mean"]).notna()
        result["overlap_pct_std"] = pd.Series(result["overlap_pct_std"]).mask(lone, 0.0)


# ---- launchers ----


def _of_launchers(frame, *more):
    _check(frame, ("name", "op category", DIRECT, *more), "kernel launchers")


def launchers_by(frame, keys, modules=False):
    """Launchers summed up by key columns, sorted by keys and then by time."""
    keys = _present(frame, keys)
    ids, n = _group_ids(frame, keys)
    result = {key: _first(frame[key], ids, n) for key in keys}
    result["_sum"] = _aggregate(frame[DIRECT], ids, "sum")
    result["_subtree"] = _aggregate(frame[SUBTREE], ids, "sum") if SUBTREE in frame else [0.0] * n
    result["_count"] = _sizes(ids, n)
    categories = [set() for _ in range(n)]
    for group, category in zip(ids, frame["op category"]):
        categories[group].add(category)
    result["_categories"] = pd.Series([sorted(c, key=str) for c in categories], dtype=object)
    if "call_stack" in frame and modules:
        result["_stack"] = _first(frame["call_stack"], ids, n)
    made = _typed(pd.DataFrame(result), frame)
    made = made.sort_values(by=keys, kind="stable", key=lambda column: column.map(str))
    return _sorted(made, ["_sum"], [False]), keys


def by_name(frame):
    _of_launchers(frame, SUBTREE)
    made, keys = launchers_by(frame, ["name", "is_recompute"])
    result = made[keys].copy()
    result[f"{DIRECT}_sum"] = made["_sum"]
    result[f"{SUBTREE}_sum"] = made["_subtree"]
    result[f"{DIRECT}_ms"] = made["_sum"] / 1000
    result[f"{SUBTREE}_ms"] = made["_subtree"] / 1000
    result["Count"] = made["_count"]
    result["Categories"] = made["_categories"]
    return percentages(result, f"{DIRECT}_ms")


def by_module(frame):
    _of_launchers(frame, SUBTREE, "parent_module")
    made, keys = launchers_by(frame, ["name", "parent_module"], modules=True)
    result = made[keys].copy()
    result[f"{DIRECT}_sum"] = made["_sum"]
    result[f"{SUBTREE}_sum"] = made["_subtree"]
    result[f"{SUBTREE}_count"] = made["_count"]
    result[f"{DIRECT}_ms"] = made["_sum"] / 1000
    result["Count"] = made["_count"]
    result["Categories"] = made["_categories"]
    if "_stack" in made:
        result["call_stack_first"] = made["_stack"]
    return percentages(result, f"{DIRECT}_ms")


def by_category(frame):
    _of_launchers(frame)
    made, keys = launchers_by(frame, ["op category", "is_recompute"])
    result = made[keys].copy()
    result["Count"] = made["_count"]
    result[f"{DIRECT}_ms"] = made["_sum"] / 1000
    return percentages(result, f"{DIRECT}_ms")


def by_category_and_module(frame):
    _of_launchers(frame, "parent_module")
    made, keys = launchers_by(frame, ["op category", "parent_module", "is_recompute"], modules=True)
    result = made[keys].copy()
    result["Count"] = made["_count"]
    if "_stack" in made:
        result["call_stack_first"] = made["_stack"]
    result[f"{DIRECT}_ms"] = made["_sum"] / 1000
    return percentages(result, f"{DIRECT}_ms")


def by_shape(frame, name):
    _of_launchers(frame)
    frame = frame[frame["name"] == name]
    keys = _present(frame, ["Input Dims", "Input type", "Input Strides"])
    if not keys:
        raise ValueError("No valid columns found to group by.")
    ids, n = _group_ids(frame, keys)
    result = _typed(pd.DataFrame({key: _first(frame[key], ids, n) for key in keys}), frame)
    result["Total Kernel Time (µs)"] = _aggregate(frame[DIRECT], ids, "sum")
    result["Count"] = _sizes(ids, n)
    result["Mean Kernel Time (µs)"] = _aggregate(frame[DIRECT], ids, "mean")
    result["Std Kernel Time (µs)"] = _aggregate(frame[DIRECT], ids, "std")
    if "direct_kernel_count" in frame:
        result["Max Direct Kernel Count"] = _aggregate(frame["direct_kernel_count"], ids, "max")
        result["Min Direct Kernel Count"] = _aggregate(frame["direct_kernel_count"], ids, "min")
    result["Total Kernel Time (ms)"] = result["Total Kernel Time (µs)"] / 1000
    result = _sorted(result, ["Total Kernel Time (µs)"], [False])
    return percentages(result, "Total Kernel Time (ms)")


def by_args(frame, event_name, agg_metrics, include_pct, group_by_num_kernels, group_by_parent_module,
            include_overlapping_kernels):
    _of_launchers(frame)
    agg_metrics = _metrics(agg_metrics)
    if event_name is not None:
        frame = frame[frame["name"] == event_name]
    keys = ["name", *(["overlapping_kernel_names"] if include_overlapping_kernels else []), "op category",
            *(["parent_module"] if group_by_parent_module else []), *THREAD, *ARGUMENTS,
            *(["num_kernels"] if group_by_num_kernels else []), "is_recompute"]
    keys = _present(frame, keys)
    if not keys:
        raise ValueError("No valid columns found to group by.")
    ids, n = _group_ids(frame, keys)
    result = {key: _first(frame[key], ids, n) for key in keys}
    result["operation_count"] = _sizes(ids, n)
    if "ts" in frame:
        result["first_occurrence_time"] = _first_occurrences(frame["ts"], ids)
    metrics = [metric for metric in agg_metrics if metric != "sum"] + ["sum"]
    for metric in metrics:
        for column in _present(frame, [DIRECT, SUBTREE]):
            result[f"{column}_{metric}"] = _aggregate(frame[column], ids, metric)
    if "UID" in frame:
        result["ex_UID"] = _first(frame["UID"], ids, n)
    if "call_stack" in frame:
        result["call_stack"] = _first(frame["call_stack"], ids, n)
    if "kernel_details" in frame:
        result["kernel_details_summary"] = _summaries(frame["kernel_details"], ids, n, agg_metrics)
    if include_overlapping_kernels and "overlap_pct" in frame:
        result["overlapping_kernels_details_summary"] = _summaries(frame["overlapping_kernels_details"], ids, n,
                                                                   agg_metrics)
        for metric in agg_metrics:
            result[f"overlap_pct_{metric}"] = _aggregate(frame["overlap_pct"], ids, metric)
        _round_overlap(result, agg_metrics)
    made = _typed(pd.DataFrame(result), frame)
    order = _present(made, [f"{DIRECT}_sum", "ex_UID"])
    made = _sorted(made, order, [False, True][: len(order)])
    return percentages(made, f"{DIRECT}_sum") if include_pct else made


def _first_occurrences(times, ids):
    """µs from the first launcher of the table; by differences, as the times are large."""
    times = pd.Series(times).reset_index(drop=True)
    return (times - times.min()).groupby(ids).min().tolist()


# ---- metrics of operations ----


def metrics(frame, agg_metrics, group_by_num_kernels, include_overlapping_kernels):
    if isinstance(frame, pd.DataFrame) and frame.empty:
        warnings.warn("Input DataFrame is empty. Returning an empty summary DataFrame.", stacklevel=3)
        return pd.DataFrame()
    _check(frame, ("name", "Kernel Time (µs)"), "metrics")
    agg_metrics = _metrics(agg_metrics)
    params = [name for name in frame.columns if name.startswith("param: ")]
    overlap = ["overlapping_kernel_names"] if include_overlapping_kernels else []
    more = (["num_kernels"] if group_by_num_kernels else []) + ["is_recompute"]
    keys = _present(frame, ["name", *params, *overlap, *more])
    ids, n = _group_ids(frame, keys)
    first = {name: _first(frame[name], ids, n) for name in keys}
    first.update({name: _shown(first[name]) for name in params})

    result = {"name": first["name"]}
    if overlap and overlap[0] in frame:
        result["overlapping_kernel_names_first"] = first[overlap[0]]
    result.update({name: first[name] for name in [*params, *_present(frame, more)]})
    _add_first(result, frame, ids, n, ["GFLOPS", "Data Moved (MB)", "FLOPS/Byte"])
    _add_aggregates(result, frame, ids, ["TB/s", "TFLOPS/s"], agg_metrics)
    _add_first(result, frame, ids, n, THREAD)
    if "Compute Spec" in frame:
        result["Compute Spec"] = _first(frame["Compute Spec"], ids, n)
    _add_first(result, frame, ids, n, ["Roofline Time (µs)", "Roofline Bound"])
    _add_aggregates(result, frame, ids, ["Pct Roofline"], agg_metrics)
    _add_aggregates(result, frame, ids, ["Non-Data-Mov TFLOPS/s"], agg_metrics)
    _add_aggregates(result, frame, ids, ["Non-Data-Mov Kernel Time (µs)"], ["sum"])
    if "kernel_details" in frame:
        result["kernel_details__summarize_kernel_stats"] = _summaries(frame["kernel_details"], ids, n, agg_metrics)
    if include_overlapping_kernels and "overlap_pct" in frame:
        result["overlapping_kernels_details__summarize_kernel_stats"] = _summaries(
            frame["overlapping_kernels_details"], ids, n, agg_metrics)
        _add_aggregates(result, frame, ids, ["overlap_pct"], agg_metrics)
        _round_overlap(result, agg_metrics)
    _add_first(result, frame, ids, n, ARGUMENTS)
    _add_aggregates(result, frame, ids, ["Kernel Time (µs)"], [m for m in agg_metrics if m != "sum"] + ["sum"])
    result["name_count"] = _sizes(ids, n)
    _add_first(result, frame, ids, n, ["UID"])
    made = pd.DataFrame(result)
    if include_overlapping_kernels:
        return _sorted_in_groups(made, [key for key in keys if key not in overlap], "Kernel Time (µs)_sum", "UID_first")
    order = _present(made, ["Kernel Time (µs)_sum", "UID_first"])
    return _sorted(made, order, [False, True][: len(order)])


def _add_first(result, frame, ids, n, columns):
    for name in _present(frame, columns):
        result[f"{name}_first"] = _first(frame[name], ids, n)


def _add_aggregates(result, frame, ids, columns, agg_metrics):
    for name in _present(frame, columns):
        for metric in agg_metrics:
            result[f"{name}_{metric}"] = _aggregate(frame[name], ids, metric)


# ---- unified table ----


def unified(frame, agg_metrics, include_pct, group_by_num_kernels, include_call_stack, include_overlapping_kernels,
            tree):
    if isinstance(frame, pd.DataFrame) and frame.empty:
        warnings.warn("Input DataFrame is empty. Returning an empty summary DataFrame.", stacklevel=3)
        return pd.DataFrame()
    _check(frame, ("name", "op category"), "the unified kind")
    agg_metrics = _metrics(agg_metrics)
    if group_by_num_kernels and "num_kernels" not in frame and "kernel_details" in frame:
        frame = frame.assign(num_kernels=[0 if _is_missing(details) else len(details)
                                          for details in frame["kernel_details"]])
    overlap = ["overlapping_kernel_names"] if include_overlapping_kernels else []
    keys = _present(frame, ["name", *overlap, "op category", *THREAD, *ARGUMENTS,
                            *(["num_kernels"] if group_by_num_kernels else []), "is_recompute"])
    ids, n = _group_ids(frame, keys)
    time = "Kernel Time (µs)"
    later = [metric for metric in agg_metrics if metric not in ("mean", "std")]
    early = [metric for metric in agg_metrics if metric in ("mean", "std")]

    result = {key: _first(frame[key], ids, n) for key in keys}
    _add_plain_first(result, frame, ids, n, {"UID": "ex_UID"})
    result["operation_count"] = _sizes(ids, n)
    if "duration_us" in frame:
        result["total_duration_us"] = _aggregate(frame["duration_us"], ids, "sum")
        for metric in early:
            result[f"{metric}_duration_us"] = _aggregate(frame["duration_us"], ids, metric)
    plain = ["GFLOPS", "Data Moved (MB)", "FLOPS/Byte", "Compute Spec", "Roofline Bound"]
    _add_plain_first(result, frame, ids, n, {name: name for name in plain})
    _add_aggregates(result, frame, ids, ["TB/s", "TFLOPS/s"], early)
    _add_aggregates(result, frame, ids, [time], [*early, "sum"])
    _add_aggregates(result, frame, ids, ["duration_us"], later)
    _add_aggregates(result, frame, ids, ["TB/s", "TFLOPS/s"], later)
    _add_first(result, frame, ids, n, ["Roofline Time (µs)"])
    _add_aggregates(result, frame, ids, ["Pct Roofline"], agg_metrics)
    _add_aggregates(result, frame, ids, [time], [metric for metric in later if metric != "sum"])
    stacks = None
    if "kernel_details" in frame:
        summaries = _summaries(frame["kernel_details"], ids, n, agg_metrics)
        stacks = [_stack_text(kernels) for kernels in summaries]
        result["kernel_details_summary"] = [[{key: value for key, value in kernel.items() if key != "call_stack"}
                                             for kernel in kernels] for kernels in summaries]
    if include_overlapping_kernels and "overlap_pct" in frame:
        result["overlapping_kernels_details_summary"] = _summaries(frame["overlapping_kernels_details"], ids, n,
                                                                   agg_metrics)
        _add_aggregates(result, frame, ids, ["overlap_pct"], agg_metrics)
        _round_overlap(result, agg_metrics)
    _add_plain_first(result, frame, ids, n, {"perf_params": "perf_params", "has_perf_model": "has_perf_model"})
    if include_call_stack:
        if tree is not None and not any(stack != "Not found" for stack in stacks or ()):
            stacks = [_stack_of(tree, uid) for uid in result.get("ex_UID", [None] * n)]
        if stacks is None:
            warnings.warn("no call stacks: the table has no kernel_details, and there is no tree to look into",
                          stacklevel=3)
        else:
            result["call_stack_full"] = stacks
    made = pd.DataFrame(result)
    heaviest = f"{time}_sum" if f"{time}_sum" in made else "total_duration_us"
    if include_overlapping_kernels and heaviest in made:
        made = _sorted_in_groups(made, [name for name in keys if name not in overlap], heaviest, "ex_UID")
    else:
        order = _present(made, [heaviest, "ex_UID"])
        made = _sorted(made, order, [False, True][: len(order)]) if order else made
    return percentages(made, heaviest) if include_pct and heaviest in made else made


def _stack_of(tree, uid):
    """The call stacks of the kernels below an event of a tree, as `_stack_text` gives them."""
    if _is_missing(uid) or not 0 <= uid < len(tree.events):
        return "Not found"
    return _stack_text([{"name": kernel["name"], "call_stack": _frames_above(tree, kernel)}
                        for kernel in tree.get_gpu_events(int(uid))])


def _frames_above(tree, event):
    """What is above an event, outermost first: operations, and frames with one of three marks in their names."""
    names = []
    event = tree.get_parent_event(event)
    while event is not None:
        name = event.get("name") or ""
        if event["cat"] == "cpu_op" or "nn.Module" in name or "::" in name or "/" in name:
            names.append(re.sub(r"_\d+", "", name))
        event = tree.get_parent_event(event)
    return names[::-1]


def _add_plain_first(result, frame, ids, n, names):
    for name, shown in names.items():
        if name in frame:
            result[shown] = _first(frame[name], ids, n)


def _stack_text(kernels):
    """The call stacks of kernels, each with its kernel: what they share as names, then each one's rest as a list."""
    chains = [[*kernel["call_stack"], kernel["name"]] for kernel in kernels if kernel.get("call_stack")]
    if not chains:
        return "Not found"
    if len(chains) == 1:
        return str(chains[0])
    shared = 0
    while all(len(chain) > shared for chain in chains) and len({chain[shared] for chain in chains}) == 1:
        shared += 1
    rests = []
    for chain in chains:
        if chain[shared:] and chain[shared:] not in rests:
            rests.append(chain[shared:])
    return str([*chains[0][:shared], *rests])
