# SPDX-License-Identifier: MIT
"""TraceDiff: what two runs have in common, and where their GPU time differs."""
import logging
import numbers
import os
import warnings

import pandas as pd

from .. import _core
from .._frame import frame
from ..Trace2Tree import TraceToTree
from ..TreePerf import _summaries
from ._uid_map import UIDMap, whole

logger = logging.getLogger("TraceLens.TraceDiff")

_SIDES = {1: "trace1", 2: "trace2"}
_GROUP = ["name", "cpu_op_name", "source", "Input Dims", "Input Strides", "Input type", "Concrete Inputs",
          "lowest_common_ancestor_name", "nn_module_stack", "nn_module_parent"]


def _kernels_by_operation(kernels):
    """Operation -> kernels as a DataFrame."""
    names = sorted(kernels)
    return pd.DataFrame({"name": pd.Series([kernels[name] for name in names], index=pd.Index(names, name="cpu_op_name"),
                                           dtype=object)})


class TraceDiff:
    """Two call trees laid over each other.

    Operations are matched by name and by the structure around and below them, not by their place or time; GPU work
    counts under the lowest operation that both trees have (docs/comparing.md).

    Parameters
    ----------
    tree1, tree2 : built :class:`TraceToTree`, the baseline and the variant (``TreePerfAnalyzer.from_file(path).tree``).
        Neither is changed. Once one of them is edited or built anew, methods raise ValueError until
        :meth:`merge_trees` compares them again
    twins : lines ``NAME = NAME`` of names that mean the same, in addition to those of the HIP and CUDA runtimes and
        back ends; a ``*`` at the end of both stands for an equal rest, ``#`` begins a comment

    Attributes: ``baseline``, ``variant`` (the trees), ``merged_uid_map``, ``merged_tree``, ``totals``,
    ``identical_traces``, ``db1``, ``db2``, ``pod1``, ``pod2``; and after :meth:`generate_tracediff_report`
    ``diff_stats_df``, ``diff_stats_unique_args_summary_df``, ``diff_stats_summary_df``, ``cpu_op_map``,
    ``cpu_op_map_trace1``, ``cpu_op_map_trace2``, which are empty before. All times are in µs.
    """

    def __init__(self, tree1, tree2, twins=None):
        for number, tree in ((1, tree1), (2, tree2)):
            if not isinstance(tree, TraceToTree):
                hint = ": its .tree is one" if hasattr(tree, "tree") else ""
                raise TypeError(f"tree{number} must be a TraceToTree, not {type(tree).__name__}{hint}")
        self.baseline = tree1
        self.variant = tree2
        self._twins = twins
        self._compare()

    def _compare(self):
        cores = self.baseline._sealed(), self.variant._sealed()
        if cores[0].has_python != cores[1].has_python:
            warnings.warn("one tree has Python frames and the other has not: build both alike (add_python_func), or "
                          "little will match", stacklevel=3)
        self._diff = _core.Diff(*cores, twins=self._twins)
        self.merged_uid_map = UIDMap(self._diff, *cores)
        self._merged = None
        self._boundaries = None
        self.diff_stats_df = pd.DataFrame()
        self.diff_stats_summary_df = pd.DataFrame()
        self.diff_stats_unique_args_summary_df = pd.DataFrame()
        self.cpu_op_map = {}
        self.cpu_op_map_trace1, self.cpu_op_map_trace2 = _kernels_by_operation({}), _kernels_by_operation({})

    def __repr__(self):
        totals = self.totals
        return (f"<TraceDiff: {totals['matched_operations']} matched operations of "
                f"{totals['trace1']['operations']} and {totals['trace2']['operations']}>")

    # ---- which event is which ----

    def get_corresponding_uid(self, tree_num, uid):
        """UID of the event in the other tree that an event of tree 1 or 2 was matched with; -1 when there is none.

        ``uid`` is a UID or an event. A wrapper that was looked through has the partner of the only way to GPU work
        below it. ValueError for another ``tree_num`` and for an event of another tree."""
        if isinstance(tree_num, bool) or not isinstance(tree_num, numbers.Integral):
            raise TypeError(f"tree_num is 1 or 2, not {type(tree_num).__name__}")
        try:
            other = self._diff.corresponding(int(tree_num), whole(uid))
        except KeyError:
            return -1
        return -1 if other is None else other

    @property
    def totals(self):
        """What was matched and what the figures cover, as a dict.

        ``matched_operations``, ``moved`` (nodes matched in another place among their siblings), ``identical``; and for
        ``trace1`` and ``trace2`` a dict of numbers and, ending in ``_us``, times: GPU events (``gpu_events``), those
        ``under_operation``, ``in_matched`` (of these, under one that was matched), ``under_call`` (only below their
        launch), ``unlinked`` (no launch in the trace); and of ``operations``, ``unmatched_nodes``,
        ``unmatched_subtrees``, ``looked_through`` (wrappers) the numbers."""
        return self._diff.totals()

    @property
    def identical_traces(self):
        """Whether both trees have the same names in the same places."""
        return self._diff.totals()["identical"]

    # ---- the merged tree ----

    def merge_trees(self):
        """Compares the trees as they are now. Returns :attr:`merged_tree`; results made before are forgotten."""
        self._compare()
        return self.merged_tree

    @property
    def merged_tree(self):
        """(list of nodes, children before parents; list of the roots' ids).

        A node is a dict: ``merged_id`` (parents before children), ``uid1`` and ``uid2`` (UID in either tree, or None),
        ``merged_type`` (``combined``, ``trace1``, ``trace2``), ``children`` (ids), ``nn_module_stack``. The root of GPU
        events without a launch has neither UID."""
        if self._merged is None:
            self._merged = self._make_records()
        return self._merged

    def _make_records(self):
        records, roots, finished, path = [], [], [], []
        for number, (uid1, uid2, parent, _, _, unlinked) in enumerate(self._diff.nodes()):
            kind = "combined" if unlinked or None not in (uid1, uid2) else "trace1" if uid2 is None else "trace2"
            event = (self.baseline if uid1 is not None else self.variant).events[uid1 if uid1 is not None else uid2] \
                if not unlinked else {}
            record = {"merged_id": number, "uid1": uid1, "uid2": uid2, "merged_type": kind, "children": [],
                      "nn_module_stack": event.get("nn_module_stack", "")}
            records.append(record)
            (roots if parent is None else records[parent]["children"]).append(number)
            while path and path[-1]["merged_id"] != parent:
                finished.append(path.pop())
            path.append(record)
        finished.extend(reversed(path))
        return finished, roots

    def _boundary(self):
        """Where the trees part: events without a partner, and pairs of different names."""
        if self._boundaries is None:
            trees = (self.baseline, self.variant)
            tops, uids = ([], []), (set(), set())
            nodes = self._diff.nodes()
            for uid1, uid2, parent, _, _, unlinked in nodes:
                pair = (uid1, uid2)
                both = None not in pair
                if unlinked or (both and trees[0].events[uid1].get("name") == trees[1].events[uid2].get("name")):
                    continue
                for side in (0, 1):
                    if pair[side] is None:
                        continue
                    uids[side].add(pair[side])
                    if both or parent is None or None not in nodes[parent][:2] or nodes[parent][5]:
                        tops[side].append(trees[side].events[pair[side]])
            self._boundaries = (*tops, *uids)
        return self._boundaries

    @property
    def db1(self):
        """Events of tree 1 where it parts from tree 2: the topmost without a partner, and those whose partner has
        another name."""
        return self._boundary()[0]

    @property
    def db2(self):
        """The same of tree 2."""
        return self._boundary()[1]

    @property
    def pod1(self):
        """UIDs of the nodes of tree 1 that have no partner, or one of another name."""
        return self._boundary()[2]

    @property
    def pod2(self):
        """The same of tree 2."""
        return self._boundary()[3]

    def wagner_fischer(self, items1, items2, wf_cache=None, strip_details=False):
        """How two lists of siblings (UIDs of tree 1, of tree 2) were aligned: a list of ``("match", i, j)``,
        ``("delete", i, None)``, ``("insert", None, j)``, positions in the lists. The other arguments are accepted."""
        places = {whole(uid): j for j, uid in enumerate(items2)}
        mates = [places.get(self.get_corresponding_uid(1, uid)) for uid in items1]
        taken, done, steps = set(mates), 0, []
        for i, mate in enumerate(mates):
            for j in range(done, mate or 0):
                if j not in taken:
                    steps.append(("insert", None, j))
            done = max(done, mate or 0)
            steps.append(("delete", i, None) if mate is None else ("match", i, mate))
        return steps + [("insert", None, j) for j in range(done, len(items2)) if j not in taken]

    # ---- printing ----

    def print_merged_tree(self, output_file, prune_non_gpu=False):
        """Writes the merged tree as text (UTF-8), one node a line: matched ones by name, ``combined: a | b`` where the
        names differ, ``>> trace1: a``, ``<< trace2: b``. ``prune_non_gpu`` leaves roots without GPU work out."""
        text = self._diff.print(bool(prune_non_gpu))
        with open(output_file, "wb") as file:
            file.write(text)

    def print_merged_subtree(self, uid_tree1=None, uid_tree2=None):
        """Prints the node of an event of tree 1, else of tree 2, and what is below. ValueError when it has none: events
        without GPU work are nodes of the merged tree only as roots."""
        if uid_tree1 is None and uid_tree2 is None:
            raise ValueError("At least one of uid_tree1 or uid_tree2 must be provided.")
        number, uid = (1, uid_tree1) if uid_tree1 is not None else (2, uid_tree2)
        uid = whole(uid)
        try:
            node = self._diff.node_of(number, uid)
            if node is None and self.get_corresponding_uid(number, uid) != -1:  # a wrapper stands for what is below it
                node = self._diff.node_of(3 - number, self.get_corresponding_uid(number, uid))
        except KeyError:
            node = None
        if node is None:
            raise ValueError("Could not find merged node for the given UID.")
        print(self._diff.print(False, node).decode("utf-8", "replace"), end="")

    # ---- tables ----

    def generate_diff_stats(self):
        """Makes ``diff_stats_df`` and returns it: one row per GPU event of either trace, by lowest common ancestor.

        Columns: ``name`` (of the GPU event), ``cpu_op_name``, ``cpu_op_uid`` (the operation nearest above; without one
        the launching call, without a launch ``(no launch in trace)`` and no UID), ``source`` (``trace1``, ``trace2``),
        ``Input Dims``, ``Input Strides``, ``Input type``, ``Concrete Inputs`` (tuples, None when absent),
        ``kernel_time`` (µs), ``busy_time`` (µs in which at least one GPU event of this ancestor and trace ran),
        ``lowest_common_ancestor_name``, ``lowest_common_ancestor_id`` (a ``merged_id``), ``gpu_op_uid``,
        ``nn_module_stack`` (joined with ``;``), ``nn_module_parent``."""
        self.diff_stats_df = frame(self._diff.stats())
        return self.diff_stats_df

    def get_df_diff_stats_unique_args(self, op_name=None, agg_metrics=("mean",)):
        """Makes ``diff_stats_unique_args_summary_df`` and returns it: one row per kernel, operation, trace, arguments,
        name of the lowest common ancestor and nn.Module; the largest ``kernel_time_sum`` first.

        ``op_name`` keeps the GPU events of that name. ``agg_metrics`` are statistics of ``kernel_time`` (µs): mean,
        median, std, min, max, sum; the columns ``kernel_time_...``, with ``kernel_time_sum`` always. Other columns:
        ``operation_count`` (GPU events), ``cpu_op_uid`` (the first one's), ``busy_time`` (µs, sum over the
        ancestors)."""
        metrics = _summaries._metrics(agg_metrics)
        if op_name is not None and not isinstance(op_name, str):
            raise TypeError(f"op_name must be a str, not {type(op_name).__name__}")
        made = frame(self._diff.unique_args())
        if any(metric not in ("mean", "sum") for metric in metrics):
            self._add_statistics(made, [metric for metric in metrics if metric not in ("mean", "sum")])
        fixed = [name for name in made.columns if not name.startswith("kernel_time_")]
        order = list(dict.fromkeys([*metrics, "sum"]))
        made = made[fixed + [f"kernel_time_{metric}" for metric in order]]
        if op_name is not None:
            made = made[made["name"] == op_name].reset_index(drop=True)
        self.diff_stats_unique_args_summary_df = made
        return made

    def _add_statistics(self, summary, metrics):
        stats = frame(self._diff.stats())
        rows, n = _summaries._group_ids(stats, _GROUP)
        groups = {}
        for key, row in zip(zip(*(map(str, stats[name]) for name in _GROUP)), rows):
            groups.setdefault(key, row)
        wanted = [groups[key] for key in zip(*(map(str, summary[name]) for name in _GROUP))]
        for metric in metrics:
            values = _summaries._aggregate(stats["kernel_time"], rows, metric)
            summary[f"kernel_time_{metric}"] = pd.Series([values[group] for group in wanted], dtype=float)

    def get_cpu_op_to_kernels_json(self):
        """Makes ``cpu_op_map`` (operation -> ``trace1``, ``trace2`` -> ``kernels`` and ``nn_module_parents``, sorted
        lists) and, of one trace each, ``cpu_op_map_trace1``, ``cpu_op_map_trace2``: DataFrames with the operation as
        index ``cpu_op_name`` and the list of kernels as ``name``. Names are those of the traces."""
        table = self._diff.op_map()
        self.cpu_op_map, sides = {}, {name: {} for name in _SIDES.values()}
        for operation, source, kernels, modules in zip(*(table.cells(name) for name in table.columns)):
            entry = self.cpu_op_map.setdefault(operation, {})
            entry[source] = {"kernels": kernels, "nn_module_parents": modules}
            sides[source][operation] = list(kernels)
        self.cpu_op_map_trace1, self.cpu_op_map_trace2 = (_kernels_by_operation(sides[name])
                                                          for name in _SIDES.values())

    def generate_tracediff_report(self):
        """Makes all tables and maps; writes nothing.

        ``diff_stats_summary_df`` has a row for each name of a lowest common ancestor, the largest difference of GPU
        time first: ``lowest_common_ancestor_name``, ``lowest_common_ancestor_id`` (of the first), ``count``,
        ``kernel_time_trace1``, ``kernel_time_trace2``, ``delta`` (trace2 - trace1), µs. :meth:`generate_diff_stats`,
        :meth:`get_df_diff_stats_unique_args` and :meth:`get_cpu_op_to_kernels_json` tell of the others."""
        self.generate_diff_stats()
        self.get_df_diff_stats_unique_args()
        self.get_cpu_op_to_kernels_json()
        self.diff_stats_summary_df = frame(self._diff.largest())
        if self.diff_stats_df.empty:
            logger.info("no GPU event in either trace")
        elif self.identical_traces:
            logger.info("both traces have the same operations in the same places")

    def _table(self, name):
        table = getattr(self, name)
        if table.empty:
            logger.warning("%s is empty: generate_tracediff_report() makes it", name)
            return None
        return table

    def get_diff_stats_df(self):
        """``diff_stats_df``, or None while it is empty."""
        return self._table("diff_stats_df")

    def get_diff_stats_summary_df(self):
        """``diff_stats_summary_df``, or None while it is empty."""
        return self._table("diff_stats_summary_df")

    def get_diff_stats_unique_args_summary_df(self):
        """``diff_stats_unique_args_summary_df``, or None while it is empty."""
        return self._table("diff_stats_unique_args_summary_df")

    # ---- files ----

    def print_tracediff_report_files(self, output_folder="rprt_diff", prune_non_gpu=False):
        """Writes all files of the comparison into a folder, which is made when missing, each complete or not at all:
        ``merged_tree_output.txt`` (``prune_non_gpu`` leaves roots without GPU work out), ``diff_stats.csv``,
        ``diff_stats_unique_args_summary.csv``, ``cpu_op_map.json``, ``cpu_op_map_trace1.json``,
        ``cpu_op_map_trace2.json``; the same as ``tracelens diff -o`` writes."""
        self._diff.write(output_folder, bool(prune_non_gpu))
        logger.info("wrote the merged tree and the tables into %s", os.fspath(output_folder))
