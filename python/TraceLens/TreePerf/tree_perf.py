# SPDX-License-Identifier: MIT
"""Analyses of the call tree of a PyTorch trace, as pandas DataFrames."""
import copy
import json
import os
import re
import warnings
from collections.abc import Mapping
from functools import cached_property
from operator import index

import numpy as np
import pandas as pd

from .. import _core
from .._event import uid_of
from .._frame import frame
from .._models import Notes, models_are_loaded, native_models, registrations, users_models
from ..Trace2Tree.trace_to_tree import TraceToTree
from ..util import TraceEventUtils
from . import _summaries
from .gpu_event_analyser import GPUEventAnalyser

_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
_ARGUMENTS = _summaries.ARGUMENTS

_NO_JAX = ("traces of JAX are not read here (jax=True), those of PyTorch only; their GPU events as a list of dicts go into "
           "a subclass of GPUEventAnalyser")


def _tuples(value):
    """Lists as tuples, at every level."""
    return tuple(_tuples(item) for item in value) if isinstance(value, (list, tuple)) else value


def _copy_of(value):
    """What a model told, for one cell: a script that changes it changes no other table."""
    try:
        return copy.deepcopy(value)
    except Exception:  # objects that cannot be copied, such as modules
        return value


def _gpu_event(event):
    return event.get("cat") in _GPU


class TreePerfAnalyzer:
    """Analyses of the call tree of a trace. :meth:`from_file` makes one.

    Parameters
    ----------
    tree : TraceToTree, built or not
    add_python_func : Python frames become nodes of the tree
    arch : a GPU platform for rooflines: dict with ``name``, ``mem_bw_gbps`` (GB/s) and ``max_achievable_tflops``
    include_unlinked_kernels : GPU events without a launch in the trace count in the timeline
    enable_pseudo_ops : operations are made of what serving frameworks leave unrecorded
    tree_postprocess_extension : function of the tree that may edit it
    rebuild_tree : False takes the tree as it is
    detect_recompute : tell apart what activation checkpointing computes again (column ``is_recompute``)
    inductor_cache_dir : where Inductor keeps the kernels that it compiled
    clip_stream_overruns : GPU events that overrun the next one on their stream by 1 ms or more end where that one starts

    Attributes: ``tree``, ``gpu_only`` (neither operations nor Python frames), ``with_python_stack``,
    ``op_to_perf_model_class_map`` (operation -> model class; entries of your own are used in every table),
    ``op_categories`` (operation -> category, before all other rules).
    """

    def __init__(self, tree, add_python_func=False, arch=None, jax=False, python_path=None,
                 event_to_category=TraceEventUtils.default_categorizer, include_unlinked_kernels=False,
                 enable_pseudo_ops=False, tree_postprocess_extension=None, rebuild_tree=True, detect_recompute=False,
                 enable_origami=False, inductor_cache_dir=None, pb_file_name=None, metadata_events=None,
                 kernel_metadata_keyword_filters=None, clip_stream_overruns=False):
        if jax:
            raise NotImplementedError(_NO_JAX)
        if not isinstance(tree, TraceToTree):
            raise TypeError(f"tree must be a TraceToTree, not {type(tree).__name__}")
        self.jax = False
        self.tree = tree
        self.GPUEventAnalyser = GPUEventAnalyser
        self.arch = arch
        self.python_path = python_path
        self.event_to_category = event_to_category
        self.enable_origami = enable_origami
        self.inductor_cache_dir = None if inductor_cache_dir is None else os.fspath(inductor_cache_dir)
        self.include_unlinked_kernels = bool(include_unlinked_kernels)
        self.detect_recompute = bool(detect_recompute)
        self.add_python_func = bool(add_python_func or detect_recompute)
        self._map = None
        self.op_categories = {}
        self._failures = Notes()
        self._build(rebuild_tree, enable_pseudo_ops, tree_postprocess_extension, clip_stream_overruns)
        self._made = {}
        self._native()
        self.gpu_only = self.check_gpu_only()

    @classmethod
    def from_file(cls, profile_filepath, capture_trace_filepath=None, jax=False, enable_pseudo_ops=False,
                  tree_postprocess_extension=None, *args, **kwargs):
        """Loads a PyTorch trace (JSON, plain or packed, found by content) and builds its tree.

        Further arguments are those of the class. OSError when the file cannot be read, ValueError when it is no trace,
        KeyboardInterrupt while loading."""
        if jax:
            raise NotImplementedError(_NO_JAX)
        if capture_trace_filepath is not None:
            raise NotImplementedError(f"{os.fspath(capture_trace_filepath)}: traces of graph captures are not merged into "
                                      "that of a replay here; without capture_trace_filepath the kernels of a graph are "
                                      "those of its launch")
        trace = _core.Trace.open(profile_filepath)
        tree = TraceToTree._of_trace(trace)
        return cls(tree, *args, enable_pseudo_ops=enable_pseudo_ops,
                   tree_postprocess_extension=tree_postprocess_extension, **kwargs)

    def _build(self, rebuild_tree, enable_pseudo_ops, extension, clip):
        core = self.tree._core
        if rebuild_tree or not core.built:
            with_python = self.add_python_func or (enable_pseudo_ops and core.pseudo_need_python())
            self.tree.build_tree(add_python_func=with_python, clip_stream_overruns=clip)
        else:
            self.add_python_func = core.has_python
        if enable_pseudo_ops:
            core.pseudo_ops()
            self.tree._forget()
        if extension is not None:
            extension(self.tree)
        if self.detect_recompute:
            self.tree._sealed().mark_recompute()

    @cached_property
    def trace_metadata(self):
        """That of the tree."""
        return self.tree.trace_metadata

    @cached_property
    def with_python_stack(self):
        """Whether the trace has Python frames, in the tree or not."""
        return self.tree._core.has_python or any(event["cat"] == "python_function" for event in self.tree.events)

    @property
    def op_to_perf_model_class_map(self):
        """Operation -> model class, shared by all analysers; entries of your own are used in every table."""
        if self._map is None:
            self._map = native_models()
        return self._map

    @op_to_perf_model_class_map.setter
    def op_to_perf_model_class_map(self, mapping):
        self._map = mapping

    def _mapping(self):
        """The map, or an empty one while nobody can have put anything into it: making it takes longer than tables."""
        return {} if self._map is None and not models_are_loaded() else self.op_to_perf_model_class_map

    # ---- the library's analyser ----

    def _options(self):
        options = {"arch": self.arch, "python_path": self.python_path}
        if self.enable_origami:
            options["enable_origami"] = True
        if self.inductor_cache_dir:
            options["inductor_cache_dir"] = self.inductor_cache_dir
        return options

    def _native(self, models=None, call_stack=False):
        """The core analyser of the tree as it is now, with the models of the map (and more, by name)."""
        core = self.tree._sealed()
        mapping = self._mapping() if models is None else {**self._mapping(), **models}
        users = (users_models(mapping), dict(self.op_categories))
        kind = "models" if models is not None else "stacks" if call_stack else "plain"
        native, known, arch, failures = self._made.get(kind, (None, None, None, Notes()))
        if native is None or arch != self.arch:
            text = None if self.arch is None else json.dumps(self.arch)
            native = _core.Analyzer(core, include_unlinked=self.include_unlinked_kernels,
                                    detect_recompute=self.detect_recompute, arch=text,
                                    inductor_cache_dir=self.inductor_cache_dir, call_stack=call_stack)
            known, failures = ({}, {}), Notes()
        if users != known:
            failures = Notes()
            native.set_models(registrations(mapping, self._options(), failures),
                              list(self.op_categories.items()))
        self._made[kind] = (native, users, self.arch, failures)
        self._failures = failures  # of the analyser in use
        return native

    def _event(self, event):
        return self.tree._own(event)

    def _events_of(self, events):
        """Events that are in the tree; copies of such count, other dicts do not."""
        if isinstance(events, (str, bytes, Mapping)) or not hasattr(events, "__iter__"):
            raise TypeError(f"a list of events is needed, not {type(events).__name__}")
        count = len(self.tree._core)
        found = [uid_of(event) for event in events]
        for uid in found:
            if not isinstance(uid, _core.Event) and not hasattr(uid, "__index__"):
                raise TypeError(f"an event or its UID is needed, not {type(uid).__name__}")
        return [event for event in found if isinstance(event, _core.Event) or 0 <= event < count]

    def check_gpu_only(self):
        """Whether the trace has neither host operations nor Python frames."""
        return self._native().is_gpu_only()

    # ---- GPU timeline ----

    def _timeline_uids(self):
        return self.tree._sealed().all_gpu_events(not self.include_unlinked_kernels)

    def get_df_gpu_timeline(self, micro_idle_thresh_us=None, gpu_pid=None):
        """Where GPU time goes: ``type``, ``time ms``, ``percent`` (of total_time), one row per figure.

        With a threshold (µs) gaps below it are ``micro_idle_time``, the others ``macro_idle_time``. ``gpu_pid`` takes
        the GPU events of that pid only. ValueError when there is no GPU event."""
        native = self._native()
        if not self.detect_recompute and not self.tree._sealed().any_gpu_event(not self.include_unlinked_kernels):
            raise ValueError("No GPU events found in the trace")
        if gpu_pid is None and self.GPUEventAnalyser is GPUEventAnalyser:
            return frame(native.timeline(micro_idle_thresh_us))
        events = [self.tree.get_UID2event(uid) for uid in self._timeline_uids()]
        return self.GPUEventAnalyser(events).get_breakdown_df(micro_idle_thresh_us, gpu_pid)

    # ---- kernels below an event ----

    @staticmethod
    def non_data_mov_filter(event):
        """Whether a GPU event does more than move data, by its name."""
        name = event.get("name") or ""
        return not ("at::native::direct_copy_kernel_cuda" in name or "transpose_" in name)

    def _gpu_below(self, event):
        core = self.tree._sealed()
        event = self._event(event)
        if _gpu_event(event):
            return [event]
        return [e for e in map(core.event, core.subtree(event)) if _gpu_event(e)]

    def agg_kernels_in_subtree(self, event, filter_func=None, verbose=False):
        """(sum of durations in µs, UIDs) of the GPU events below an event that pass a filter; overlaps count twice."""
        total, uids = 0, []
        for kernel in self._gpu_below(event):
            if filter_func is not None and not filter_func(kernel):
                continue
            if verbose:
                print(f"Found kernel event, duration: {kernel.get('dur')}, name: {kernel.get('name')}")
            total += kernel.get("dur") or 0
            uids.append(kernel["UID"])
        return total, uids

    def loop_and_aggregate_kernels(self, events, filter_func=None, verbose=False):
        """The same over several events."""
        total, uids = 0, []
        for event in events:
            one, found = self.agg_kernels_in_subtree(event, filter_func)
            total += one
            uids += found
        return total, uids

    # ---- launchers ----

    def _launcher_frame(self, **options):
        table = self._native().launchers(overlap=True, **options)
        made = frame(table)
        if options.get("start"):
            made["ts"] = [self.tree.get_UID2event(int(uid))["ts"] for uid in made["UID"]]
        return made

    def get_kernel_launchers(self, include_nccl=False, gpu_pid=None, gpu_kernel_op_cats=None):
        """The events that launch GPU work, by start: operations, or runtime calls without an operation above them.

        Each has its times, kernels, category and overlaps as keys, named as in :meth:`get_df_kernel_launchers`. With
        ``include_nccl`` communication kernels count, too."""
        table = self._native().launchers(kernel_details=True, overlap=True, communication=bool(include_nccl))
        names = ["total_direct_kernel_time", "total_subtree_kernel_time", "direct_kernel_count", "kernel_details",
                 "op category", "overlapping_kernel_names", "overlapping_kernels_details", "overlap_pct"]
        columns = [table.cells(name) for name in names]
        found = []
        for uid, *values in zip(table.cells("UID"), *columns):
            event = self.tree.get_UID2event(uid)
            event.update(zip(names, values))
            found.append(event)
        return found

    @staticmethod
    def _launcher_of(core, kernel):
        launch = core.parent(kernel)
        at = launch
        while at is not None:
            event = core.event(at)
            if event["cat"] == "cpu_op" and event["name"] != "execute":
                return at
            if at != launch and event["cat"] not in ("python_function", "cpu_op"):
                break
            at = core.parent(at)
        return launch

    def get_df_kernel_launchers(self, id_cols=False, include_kernel_details=False, include_call_stack=False,
                                include_first_occurrence_time=False, gpu_pid=None, gpu_kernel_op_cats=None,
                                include_args=False, args_cols=None):
        """One row per kernel launcher, by start: ``name``, ``op category``, ``UID``, times of the GPU events that it
        launched itself and of all below it (µs, unions), their number, overlaps, arguments, process and thread.

        ``id_cols`` adds ``pid``, ``tid``, ``external_id``; ``include_kernel_details`` the kernels (list of name, dur in
        µs, stream) and ``num_kernels``; ``include_call_stack`` with them ``call_stack`` and ``parent_module``;
        ``include_first_occurrence_time`` the start ``ts`` (µs). ``args_cols`` names the arguments to show."""
        stack = bool(include_call_stack and include_kernel_details)
        in_library = stack and self.tree._core.has_python
        made = self._launcher_frame(kernel_details=bool(include_kernel_details), id_columns=bool(id_cols),
                                    start=bool(include_first_occurrence_time), call_stack=in_library)
        if stack and not in_library:
            at = made.columns.get_loc("num_kernels") + 1
            made.insert(at, "call_stack", [[name] for name in made["name"]])
            made.insert(at + 1, "parent_module", "NA")
        if args_cols is not None:
            made = self._with_arguments(made, list(args_cols), _tuples)
        if type(self).get_kernel_launchers is not TreePerfAnalyzer.get_kernel_launchers:
            wanted = {uid_of(event)["UID"] for event in self.get_kernel_launchers()}
            made = made[made["UID"].isin(wanted)].reset_index(drop=True)
        return made

    def _with_arguments(self, made, wanted, convert):
        """A DataFrame with these columns of arguments in place of the usual four."""
        present = [name for name in _ARGUMENTS if name in made]
        at = made.columns.get_loc(present[0]) if present else len(made.columns)
        rest = made.drop(columns=present)
        args = [self.tree.get_UID2event(int(uid)).get("args") or {} for uid in made["UID"]]
        for i, name in enumerate(wanted):
            values = pd.Series([convert(a.get(name)) for a in args], dtype=object, index=rest.index)
            rest.insert(min(at + i, len(rest.columns)), name, values)
        return rest

    @staticmethod
    def get_df_kernel_launchers_summary(df_kernel_launchers):
        """Launchers by operation name, heaviest first."""
        return _summaries.by_name(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_module(df_kernel_launchers):
        """The same by name and nn.Module; needs call stacks in the table."""
        return _summaries.by_module(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_by_category(df_kernel_launchers):
        """Launchers by category, heaviest first."""
        return _summaries.by_category(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_by_category_module(df_kernel_launchers):
        """The same by category and nn.Module; needs call stacks in the table."""
        return _summaries.by_category_and_module(df_kernel_launchers)

    @staticmethod
    def get_df_kernel_launchers_summary_by_shape(df_kernel_launchers, name):
        """Launchers of one operation by shapes, types and strides, heaviest first."""
        return _summaries.by_shape(df_kernel_launchers, name)

    @staticmethod
    def get_df_kernel_launchers_unique_args(df_kernel_launchers, event_name=None, agg_metrics=("mean",),
                                            include_pct=False, group_by_num_kernels=False,
                                            group_by_parent_module=False, include_overlapping_kernels=False):
        """Launchers by operation and distinct arguments, heaviest first; of one operation with ``event_name``.

        ``agg_metrics``: mean, median, std, min, max of the times (µs); sums are always there."""
        return _summaries.by_args(df_kernel_launchers, event_name, agg_metrics, include_pct, group_by_num_kernels,
                                  group_by_parent_module, include_overlapping_kernels)

    @staticmethod
    def _summarize_kernel_stats(series_of_kernel_lists, agg_metrics=("mean",)):
        return _summaries.summarize_kernels(series_of_kernel_lists, agg_metrics)

    # ---- metrics of operations ----

    def build_df_perf_metrics(self, events, bwd=False, non_data_mov=False, include_kernel_details=False,
                              include_args=False, dict_name_to_perf_model=None, args_cols=None):
        """FLOPs, bytes, time and rates of events, one row each: ``GFLOPS``, ``Kernel Time (µs)``, ``TFLOPS/s``,
        ``Data Moved (MB)``, ``FLOPS/Byte``, ``TB/s``, roofline columns with an architecture, and a ``param: ...``
        column for each parameter of the models.

        ``bwd``: of the backward pass of forward operations. ``non_data_mov`` adds time and rate without kernels that
        only move data. ``dict_name_to_perf_model``: operation -> class, for this call. Events without a model, or that
        it cannot read, have no row."""
        events = self._events_of(events)
        if not events:
            warnings.warn("Input list of events is empty. Returning an empty DataFrame.", stacklevel=2)
            return pd.DataFrame()
        native = self._native(models=dict_name_to_perf_model)
        table = native.metrics(events, backward=bool(bwd), kernel_details=bool(include_kernel_details),
                               arguments=bool(include_args), overlap=True)
        made = self._with_parameters(frame(table))
        self._warn(made, events, bwd, native)
        if not len(made):
            return pd.DataFrame()
        if args_cols is not None and include_args:
            made = self._with_arguments(made, list(args_cols), lambda value: value)
        return self._with_non_data_mov(made, bwd) if non_data_mov else made

    def _with_parameters(self, made):
        """Parameters of the user's models as the models told them."""
        told = self._failures.parameters
        if not told or not len(made):
            return made
        rows = [(at, told[uid]) for at, uid in enumerate(made["UID"]) if uid in told]
        for name in {name for _, values in rows for name in values if name in made}:
            cells = list(made[name])
            for at, values in rows:
                if name in values:
                    cells[at] = _copy_of(values[name])
            column = np.empty(len(cells), dtype=object)  # one by one: sequences of one length are no table
            for at, cell in enumerate(cells):
                column[at] = cell
            made[name] = column
        return made

    def _with_perf_params(self, made):
        """The same in the column ``perf_params`` of the unified table, also of the backward pass of such an operation."""
        told = self._failures.parameters
        if not told or "perf_params" not in made:
            return made
        core = self.tree._core
        for uid, cell in zip(made["UID"], made["perf_params"]):
            if isinstance(cell, dict) and 0 <= uid < len(core):
                values = told.get(uid) or told.get(core.event(uid).get("fwd_event")) or {}
                for name, value in values.items():
                    name = name.removeprefix("param: ")
                    if name in cell:
                        cell[name] = _copy_of(value)
        return made

    def _warn(self, made, events, bwd, native):
        total = len(events)
        if len(made):
            idle = int(((made["GFLOPS"] > 0) & (made["Kernel Time (µs)"] == 0)).sum())
            if idle:
                warnings.warn(f"{idle}/{total} events have FLOPs but no GPU time", stacklevel=3)
        if bwd:
            core = self.tree._sealed()
            without = sum(not core.backward(event) for event in events)
            if without:
                warnings.warn(f"{without}/{total} events have no backward events", stacklevel=3)
        self._warn_of_failures(native, total)

    def _warn_of_failures(self, native, total):
        """Warns of events of the last table whose model failed; once, with the first of them."""
        failed, first, why = native.failures()
        if failed:
            name = self.tree.get_UID2event(first).get("name")
            warnings.warn(f"{failed}/{total} events: the model failed; for example event {first} ({name}): {why}",
                          stacklevel=4)

    def _kernels_of(self, event, bwd):
        core = self.tree._sealed()
        if not bwd:
            return [core.event(uid) for uid in core.gpu_events(event)]
        uids = {gpu: None for backward in self.tree.get_subtree_bwd_events(event)
                for gpu in core.gpu_events(backward)}
        return [core.event(uid) for uid in uids]

    def _with_non_data_mov(self, made, bwd):
        times = [_core.busy([k for k in self._kernels_of(self._event(int(uid)), bwd) if self.non_data_mov_filter(k)])
                 for uid in made["UID"]]
        at = made.columns.get_loc("TFLOPS/s") + 1
        made.insert(at, "Non-Data-Mov Kernel Time (µs)", times)
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = (made["GFLOPS"] / 1e3) / (np.array(times) / 1e6)
        made.insert(at + 1, "Non-Data-Mov TFLOPS/s", rates.where(np.array(times) > 0))
        return made

    def build_df_fwd_perf_metrics(self, events):
        """:meth:`build_df_perf_metrics` of the forward pass."""
        return self.build_df_perf_metrics(events, bwd=False)

    def build_df_bwd_perf_metrics(self, events):
        """:meth:`build_df_perf_metrics` of the backward pass."""
        return self.build_df_perf_metrics(events, bwd=True)

    def compute_perf_metrics(self, event, bwd=False, non_data_mov=False, perf_model_class=None):
        """The metrics of one event as a dict, from ``GFLOPS`` on. TypeError for an operation without a model; what a
        model of yours raises is raised here; NotImplementedError when the model does not cover the event."""
        event = self._event(event)
        models = None if perf_model_class is None else {event["name"]: perf_model_class}
        native = self._native(models=models)
        if models is None and event["name"] not in users_models(self._mapping()) \
                and native.family_of(event["name"]) is None and not event["name"].startswith("triton_"):
            raise TypeError(f"{event['name']!r} has no performance model")
        table = native.metrics([event], backward=bool(bwd), overlap=True)
        if event["UID"] in self._failures:
            raise self._failures[event["UID"]]
        if not len(table):
            what = "has no backward events" if bwd and not self.tree._sealed().backward(event) else \
                "is not covered by its model"
            raise NotImplementedError(f"event {event['UID']} ({event['name']}) {what}")
        made = frame(table)
        if non_data_mov:
            made = self._with_non_data_mov(made, bwd)
        names = list(made.columns)
        cells = {name: table.cells(name)[0] for name in table.columns}
        cells.update(self._failures.parameters.get(event["UID"], {}))
        return {name: cells[name] if name in cells else made[name].iloc[0]
                for name in names[names.index("GFLOPS"):]}

    def compute_fwd_perf_metrics(self, event, non_data_mov=False):
        """:meth:`compute_perf_metrics` of the forward pass."""
        return self.compute_perf_metrics(event, bwd=False, non_data_mov=non_data_mov)

    def compute_bwd_perf_metrics(self, event, non_data_mov=False):
        """:meth:`compute_perf_metrics` of the backward pass."""
        return self.compute_perf_metrics(event, bwd=True, non_data_mov=non_data_mov)

    @staticmethod
    def summarize_df_perf_metrics(df_perf_metrics, agg_metrics=("mean", "std"), group_by_num_kernels=False,
                                  include_overlapping_kernels=False):
        """Metrics by operation name and parameters, heaviest first. ``agg_metrics``: mean, median, std, min, max."""
        return _summaries.metrics(df_perf_metrics, agg_metrics, group_by_num_kernels, include_overlapping_kernels)

    # ---- unified table ----

    def collect_unified_perf_events(self, include_nccl=False):
        """The events of the unified table: each GPU event belongs to one of them. GPU work that no operation accounts
        for has an event of its own, a dict with a UID beyond those of the tree. Communication kernels and operations
        that launch them are left out unless ``include_nccl``."""
        native = self._native(call_stack=self.tree._core.has_python)
        table = native.unified(communication=bool(include_nccl))
        core = self.tree._sealed()
        count = len(core)
        return [core.event(uid) if uid < count else self._synthetic(core, uid, name, kernels)
                for uid, name, kernels in zip(table.cells("UID"), table.cells("name"), table.cells("kernel_details"))]

    @staticmethod
    def _synthetic(core, uid, name, kernels):
        gpu = [kernel["gpu_op_uid"] for kernel in kernels]
        at = core.parent(gpu[0])
        above = at
        while above is not None and core.event(above)["cat"] != "cpu_op":
            above = core.parent(above)
        event = core.event(at if above is None else above).copy()
        event.update({"name": name, "UID": uid, "gpu_events": gpu})
        return event

    def build_df_unified_perf_table(self, events=None, include_args=True, include_perf_metrics=True,
                                    include_kernel_details=True, include_nccl=False):
        """One row per event of :meth:`collect_unified_perf_events`, or of ``events`` in their order: any of the tree, with
        its metrics where it has a model (or is all of the backward pass of an operation with one), else with its GPU
        time. A GPU event has a row as GPU work that no operation accounts for. ``include_nccl``: communication, too."""
        native = self._native(call_stack=self.tree._core.has_python)
        if events is None:
            table = native.unified(communication=bool(include_nccl), overlap=True)
        else:
            asked, uids = self._unified_rows(events)
            if not asked:
                warnings.warn("No events collected for unified perf table. Returning empty DataFrame.", stacklevel=2)
                return pd.DataFrame()
            table = native.unified(overlap=True, events=asked)
        if include_perf_metrics:
            self._warn_of_failures(native, len(table))
        made = self._with_perf_params(frame(table, drop=() if include_args else _ARGUMENTS))
        if events is not None:
            made["UID"] = uids
        if not include_perf_metrics and "has_perf_model" in made:
            last = made.columns.get_loc("has_perf_model") + 1
            keep = list(made.columns[:last]) + [n for n in ("is_recompute", "kernel_details") if n in made.columns[last:]]
            made = made[keep]
        if not include_kernel_details and "kernel_details" in made:
            made = made.drop(columns="kernel_details")
        return made

    def _unified_rows(self, events):
        """(UIDs of the tree, UIDs to show): of one that stands for a GPU event alone, that event and its own UID."""
        if isinstance(events, (str, bytes, Mapping)) or not hasattr(events, "__iter__"):
            raise TypeError(f"a list of events is needed, not {type(events).__name__}")
        core = self.tree._sealed()
        asked, uids = [], []
        for event in events:
            uid = uid_of(event)
            uid = self._event(uid)["UID"] if isinstance(uid, _core.Event) else index(uid)
            alone = event.get("gpu_events") if isinstance(event, Mapping) and uid >= len(core) else None
            if alone is not None and len(alone) != 1 or alone is None and not 0 <= uid < len(core):
                raise ValueError(f"event {uid} is none of the tree: see collect_unified_perf_events")
            asked.append(uid if alone is None else alone[0])
            uids.append(uid)
        return asked, uids

    @staticmethod
    def summarize_df_unified_perf_table(df_unified_perf, agg_metrics=("mean", "std"), include_pct=True,
                                        group_by_num_kernels=False, include_call_stack=False,
                                        include_overlapping_kernels=False, tree=None):
        """The unified table by operation and arguments, heaviest first; ``group_by_num_kernels`` tells apart by the number
        of GPU events, too. ``include_call_stack`` adds ``call_stack_full``: what is above the kernels, outermost first,
        from a tree with Python frames; of a table without kernel details it is looked up in ``tree``."""
        return _summaries.unified(df_unified_perf, agg_metrics, include_pct, group_by_num_kernels, include_call_stack,
                                  include_overlapping_kernels, tree)

    # ---- kernels ----

    def _category(self, event):
        kernels = event.get("kernel_details") or [{}]
        return self._native().category_of(event.get("name") or "", kernels[0].get("name"))

    def _busy(self, event):
        """(busy time in µs, number) of the GPU events below an event; asked for once until the tree is edited."""
        uid, cache = event["UID"], self.tree._busy_times
        if uid not in cache:
            events = self.tree.get_gpu_events(event)
            cache[uid] = (_core.busy(events), len(events))
        return cache[uid]

    def _above(self, event, test):
        core = self.tree._sealed()
        at = core.parent(event)
        while at is not None:
            above = core.event(at)
            if test(above):
                return above
            at = core.parent(at)
        return None

    def get_kernel_details(self, kernel_event, launcher_detail=False, cpu_op_detail=True, nn_module_detail=False):
        """One kernel as a dict: UID, name, start and duration (µs), stream; its launcher, operation and nn.Module with
        their GPU time (µs) on request. None for what is no kernel."""
        kernel = self._event(kernel_event)
        if kernel.get("cat") != "kernel":
            return None
        args = kernel.get("args") or {}
        details = {"UID": kernel["UID"], "Kernel name": kernel.get("name"), "Kernel t start": kernel.get("ts"),
                   "Kernel duration (µs)": kernel.get("dur"), "Kernel stream": args.get("stream")}
        launcher = self.tree.get_parent_event(kernel)
        if launcher_detail and launcher is not None:
            more = launcher.get("args") or {}
            details.update({"Launcher UID": launcher["UID"], "Launcher": launcher.get("name"),
                            "Grid": _tuples(more.get("grid")), "Block": _tuples(more.get("block"))})
        operation = self._above(kernel, lambda e: e["cat"] == "cpu_op") if cpu_op_detail else None
        if operation is not None:
            details.update(self._operation_details(kernel, operation))
        if nn_module_detail and self.tree._core.has_python:
            details.update(self._module_details(kernel))
        return details

    def _operation_details(self, kernel, operation):
        args = operation.get("args") or {}
        busy, count = self._busy(operation)
        share = 100 if count == 1 else kernel["dur"] / busy * 100 if busy else None
        if "kernel_details" not in operation:
            operation["kernel_details"] = self._booked(operation)
        return {"Parent cpu_op UID": operation["UID"], "Parent cpu_op": operation["name"],
                "Input dims": _tuples(args.get("Input Dims")), "Input types": _tuples(args.get("Input type")),
                "Input strides": _tuples(args.get("Input Strides")),
                "Concrete Inputs": _tuples(args.get("Concrete Inputs")), "kernel_file": args.get("kernel_file"),
                "Parent cpu_op busy time (µs)": busy, "Parent cpu_op kernel count": count,
                "Percent of Parent cpu_op busy time (%)": share, "Parent op category": self._category(operation)}

    def _booked(self, operation):
        """The kernels that an operation launched itself, by start: what its category looks at."""
        core = self.tree._sealed()
        kernels = [k for k in self.tree.get_gpu_events(operation) if self._launcher_of(core, k["UID"]) == operation["UID"]
                   and not TraceEventUtils.is_communication_string(k.get("name"))]
        return [{"name": k["name"], "dur": k.get("dur"), "stream": (k.get("args") or {}).get("stream")}
                for k in sorted(kernels, key=lambda k: k.get("ts", 0))]

    def _module_details(self, kernel):
        core = self.tree._sealed()
        uid = core.module_parent(kernel)
        if uid is None:
            return {}
        module = core.event(uid)
        busy, count = self._busy(module)
        share = 100 if count == 1 else kernel["dur"] / busy * 100 if busy else None
        return {"Parent nn.Module UID": uid, "Parent nn.Module": module["name"], "Parent nn.Module kernel count": count,
                "Parent nn.Module GPU busy time (µs)": busy, "Percent of Parent nn.Module busy time (%)": share}

    def get_df_kernels(self, launcher_detail=False, cpu_op_detail=True, nn_module_detail=False):
        """One row per kernel, linked or not, by UID; columns as :meth:`get_kernel_details`."""
        modules = bool(nn_module_detail and self.tree._core.has_python)
        made = frame(self._native().kernels(launcher=bool(launcher_detail), cpu_op=bool(cpu_op_detail),
                                            nn_module=modules))
        if not len(made):
            return made
        made = made.sort_values("UID", kind="stable").reset_index(drop=True)
        kernels = [self.tree.get_UID2event(int(uid)) for uid in made["UID"]]
        for name in ("Grid", "Block"):
            if name in made:
                made[name] = [_tuples(value) for value in made[name]]
        made["Kernel t start"] = [kernel.get("ts") for kernel in kernels]
        for name in made.columns:
            if "UID" in name or "count" in name:
                made[name] = made[name].astype("Int64")
        return made

    # ---- nn.Modules ----

    def build_nn_module_latency_tree(self, root_nn_module):
        """Writes on the nn.Module event and all modules below it ``GPU Time`` (µs in which GPU events below it run),
        ``nn Parent GPU Time`` (that of the module around it, None at the root), ``nn_module_children`` (UIDs), and where
        modules are below it and work is left ``Non-nn.Module GPU Time`` (µs of GPU events below none of them)."""
        core = self.tree._sealed()
        root = self._event(root_nn_module)
        if not core.has_python:
            raise ValueError("This method requires the trace to include Python function events.")
        if not core.is_module(root):
            raise ValueError("The provided root event is not an nn.Module event.")
        modules = self._native().modules([root])
        for uid, parent, children, gpu_time, remainder in modules:
            event = core.event(uid)
            event["GPU Time"] = gpu_time / 1e6
            event["nn Parent GPU Time"] = None if parent is None else modules[parent][3] / 1e6
            self.tree.get_nn_module_children(event)
            if children and remainder:
                event["Non-nn.Module GPU Time"] = remainder / 1e6

    # ---- others ----

    def compute_overlapping_kernels(self, kernel_events):
        """From now on GPU events have the key ``overlapping_uids``: the set of UIDs of those that run at the same time on
        another stream for another operation, for at least 1 µs. Timelines and launchers do the same. Whatever events are
        given, overlaps are those of the whole trace."""
        self._native().watch_overlaps()

    def op_categorizer(self, event):
        """Category of an operation as reports show it."""
        return self._category(event)

    @staticmethod
    def _module_name(name):
        return re.sub(r"_\d+", "", name)
