# SPDX-License-Identifier: MIT
"""What the manual page on comparing two traces promises, sentence by sentence, on traces with known differences: the
bundled one's generator makes a baseline, and a candidate whose backward attention is slower and layer norms faster."""
import contextlib
import functools
import gzip
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import common
from tracemaker import events, launch, op, write
from TraceLens import TraceDiff, TraceToTree, TreePerfAnalyzer
from TraceLens.Reporting import compare_perf_reports_pytorch
from TraceLens.Reporting.generate_perf_report_pytorch import main as make_report

SLOWER, FASTER = "aten::_flash_attention_backward", "aten::native_layer_norm"
FAMILIES = ["GEMM", "SDPA_fwd", "SDPA_bwd", "CONV_fwd", "CONV_bwd", "un_eltwise", "bin_eltwise"]
PARTS = ["intersect_candidate", "only_baseline_candidate", "only_variant_candidate"]


@functools.cache
def material():
    """A folder with traces and finished reports."""
    folder = tempfile.TemporaryDirectory(prefix="tl-page-compare-")
    unittest.addModuleCleanup(folder.cleanup)
    make = [sys.executable, os.path.join(common.ROOT, "scripts", "make_trace.py")]
    inside = functools.partial(os.path.join, folder.name)
    subprocess.run([*make, inside("baseline.json.gz")], check=True, capture_output=True)
    subprocess.run([*make, inside("made.json.gz"), "--slower", "flash_bwd=1.5", "--slower",
                    "vectorized_layer_norm=0.5"], check=True, capture_output=True)
    # the candidate calls another activation, so that one operation is gone and one is new
    with gzip.open(inside("made.json.gz"), "rt", encoding="utf-8") as file:
        text = file.read()
    assert '"aten::gelu"' in text
    with gzip.open(inside("candidate.json.gz"), "wt", encoding="utf-8") as file:
        file.write(text.replace('"aten::gelu"', '"aten::relu"'))
    for name in ("baseline", "candidate"):
        run(make_report, "--profile_json_path", inside(f"{name}.json.gz"),
            "--output_xlsx_path", inside(f"{name}.xlsx"), "--output_csvs_dir", inside(name))
    return folder.name


def run(main, *arguments):
    """A command of the page: exit status 0. Returns what it prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        status = main([str(argument) for argument in arguments])
    assert status == 0, text.getvalue()
    return text.getvalue()


def path(name):
    return os.path.join(material(), name)


@functools.cache
def compared(*sheets):
    """(sheet -> DataFrame, folder with the workbook and CSV files) of the page's command."""
    folder = tempfile.mkdtemp(dir=material())
    before = os.getcwd()
    os.chdir(material())
    try:
        run(compare_perf_reports_pytorch.main, "baseline.xlsx", "candidate.xlsx", "--names", "baseline", "candidate",
            "--sheets", *sheets, "-o", os.path.join(folder, "comparison.xlsx"), "--output_csvs_dir", folder)
        frames = compare_perf_reports_pytorch.generate_compare_perf_reports_pytorch(
            ["baseline.xlsx", "candidate.xlsx"], None, ["baseline", "candidate"], list(sheets))
    finally:
        os.chdir(before)
    return frames, folder


def row(table, name):
    return table.set_index("name").loc[name]


class Reports(unittest.TestCase):
    def test_finished_reports_become_one_workbook_side_by_side(self):
        frames, folder = compared("all")
        assert os.path.getsize(os.path.join(folder, "comparison.xlsx")) > 10_000
        timeline = frames["gpu_timeline"]
        for tag in ("baseline", "candidate"):  # the display tags are the names
            assert {f"{tag}::time ms", f"{tag}::percent"} <= set(timeline.columns)
            assert any(column.startswith(f"{tag}::") for column in frames["ops_summary"])

    def test_count_of_names_must_match(self):
        for names in (["one"], ["one", "two", "three"]):
            with self.assertRaises(ValueError):
                compare_perf_reports_pytorch.generate_compare_perf_reports_pytorch(
                    [path("baseline.xlsx"), path("candidate.xlsx")], None, names)
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                compare_perf_reports_pytorch.main([path("baseline.xlsx"), path("candidate.xlsx"), "--names", *names])

    def test_groups_of_sheets(self):
        three = {"ops_unique_args", "unified_perf_summary"}
        wanted = {
            "gpu_timeline": {"gpu_timeline"},
            "ops_summary": {"ops_summary"},
            "ops_all": {f"{sheet}_{part}" for sheet in three for part in PARTS},
        }
        for group, sheets in wanted.items():
            assert set(compared(group)[0]) == sheets, group
        roofline = set(compared("roofline")[0])
        for family in set(FAMILIES) - {"CONV_bwd"}:  # of which the model has none
            assert {f"{family}_{part}" for part in PARTS} <= roofline, family
        assert set(compared("all")[0]) == set().union(*wanted.values()) | roofline
        assert set(compared("ops_summary", "gpu_timeline")[0]) == {"gpu_timeline", "ops_summary"}

    def test_csv_files(self):
        frames, folder = compared("all")
        assert {f"{name}.csv" for name in frames} == set(os.listdir(folder)) - {"comparison.xlsx"}

    def test_rows_meet_by_name_of_the_operation(self):
        table = compared("all")[0]["ops_summary"]
        assert table["name"].is_unique
        of_reports = [compare_perf_reports_pytorch.load_sheet(path(tag), "ops_summary")
                      for tag in ("baseline", "candidate")]
        assert set(table["name"]) == {name for sheet in of_reports for name in sheet["name"]}

    def test_folders_of_csv_files(self):
        of_books = compared("all")[0]
        of_folders = compare_perf_reports_pytorch.generate_compare_perf_reports_pytorch(
            [path("baseline"), path("candidate")], None)
        assert set(of_folders) == set(of_books)  # folders are read by the alphabet
        for name, table in of_books.items():
            assert list(table.columns) == list(of_folders[name].columns) and len(table) == len(of_folders[name])
        a, b = (frames["ops_summary"]["total_direct_kernel_time_ms__candidate_diff"]
                for frames in (of_books, of_folders))
        assert all(math.isclose(x, y, abs_tol=1e-9) or x != x and y != y for x, y in zip(a, b))

    def test_more_than_two(self):
        shutil.copy(path("candidate.xlsx"), path("third.xlsx"))
        frames = compare_perf_reports_pytorch.generate_compare_perf_reports_pytorch(
            [path("baseline.xlsx"), path("candidate"), path("third.xlsx")], path("three.xlsx"))
        assert {"time ms__candidate_diff", "time ms__third_pct"} <= set(frames["gpu_timeline"].columns)
        assert {f"GEMM_intersect_{tag}" for tag in ("candidate", "third")} <= set(frames)


class Sheets(unittest.TestCase):
    def test_gpu_timeline(self):
        table = compared("all")[0]["gpu_timeline"]
        assert {"computation_time", "exposed_memcpy_time", "idle_time", "exposed_comm_time"} <= set(table["type"])
        assert {"time ms__candidate_diff", "time ms__candidate_pct", "baseline::time ms", "candidate::time ms"} <= \
            set(table.columns)
        busy = table.set_index("type").loc["computation_time"]
        # 6 backward attentions take 27.209 µs more, 14 layer norms 19.806 less
        assert math.isclose(busy["time ms__candidate_diff"], 0.0074, abs_tol=0.0005)

    def test_ops_summary(self):
        table = compared("all")[0]["ops_summary"]
        assert table.columns[0] == "name"
        times = table["baseline::total_direct_kernel_time_ms"].dropna()
        assert times.is_monotonic_decreasing and len(times) < len(table)  # what is new comes last
        assert math.isclose(row(table, SLOWER)["total_direct_kernel_time_ms__candidate_pct"], 50, abs_tol=0.1)
        assert math.isclose(row(table, FASTER)["total_direct_kernel_time_ms__candidate_pct"], -50, abs_tol=0.1)
        assert row(table, "aten::mm")["total_direct_kernel_time_ms__candidate_diff"] == 0

    def test_rocprof_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, time in (("a", 4.0), ("b", 3.0)):
                os.mkdir(os.path.join(folder, name))
                with open(os.path.join(folder, name, "kernel_summary.csv"), "w", encoding="utf-8") as file:
                    file.write("name,Count,Mean Kernel Time (µs),Total Kernel Time (ms)\n"
                               f"k1,2,{500 * time},{time}\nk2,1,1000.0,1.0\n")
            reports = [os.path.join(folder, name) for name in ("a", "b")]
            compare = compare_perf_reports_pytorch.generate_compare_perf_reports_pytorch
            for sheets in (["ops_summary"], ["kernel_summary"], ["all"]):
                frames = compare(reports, None, sheets=sheets)
                assert list(frames) == ["kernel_summary"]
                k1 = row(frames["kernel_summary"], "k1")
                assert k1["Total Kernel Time (ms)__b_diff"] == -1 and k1["Total Kernel Time (ms)__b_pct"] == -25
                assert k1["Count__b_diff"] == 0

    def test_what_both_have_and_what_one_lacks(self):
        frames = compared("all")[0]
        for sheet in ("ops_unique_args", "unified_perf_summary"):
            both, base, variant = (frames[f"{sheet}_{part}"] for part in PARTS)
            assert set(base["name"]) == {"aten::gelu"} and set(variant["name"]) == {"aten::relu"}
            assert "aten::mm" in set(both["name"]) and not {"aten::gelu", "aten::relu"} & set(both["name"])
            assert all(column.startswith("baseline::") or "::" not in column for column in base)
            assert all(column.startswith("candidate::") or "::" not in column for column in variant)
        assert set(frames["un_eltwise_only_variant_candidate"].get("name", [])) <= {"aten::relu"}

    def test_sheets_of_old_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, time in (("a", 4.0), ("b", 3.0)):
                os.mkdir(os.path.join(folder, name))
                with open(os.path.join(folder, name, "ops_all.csv"), "w", encoding="utf-8") as file:
                    file.write("name,Input type,Input Dims,Input Strides,Concrete Inputs,total_direct_kernel_time_sum,"
                               "total_direct_kernel_time_mean,operation_count\n"
                               f"aten::mm,\"('float',)\",(),(),(),{time},{time},1\nonly_{name},(),(),(),(),1.0,1.0,1\n")
            frames = compare_perf_reports_pytorch.generate_compare_perf_reports_pytorch(
                [os.path.join(folder, name) for name in ("a", "b")], None, sheets=["ops_all"])
        assert list(frames) == ["ops_all_intersect_b", "ops_all_only_baseline_b", "ops_all_only_variant_b"]
        assert [list(frame["name"]) for frame in frames.values()] == [["aten::mm"], ["only_a"], ["only_b"]]

    def test_rooflines(self):
        frames = compared("all")[0]
        table = frames["SDPA_bwd_intersect_candidate"]
        assert {"TFLOPS/s_mean__candidate_diff", "TB/s_mean__candidate_pct",
                "Kernel Time (µs)_sum__candidate_diff"} <= set(table.columns)
        # as much work in 1.5 times the time
        assert all(math.isclose(pct, -100 / 3, abs_tol=0.1) for pct in table["TFLOPS/s_mean__candidate_pct"])

    def test_two_columns_for_every_metric(self):
        for name, table in compared("all")[0].items():
            metrics = [column[: -len("__candidate_diff")] for column in table if column.endswith("__candidate_diff")]
            for metric in metrics:
                base, other = table[f"baseline::{metric}"], table[f"candidate::{metric}"]
                for x, y, diff, pct in zip(base, other, table[f"{metric}__candidate_diff"],
                                           table[f"{metric}__candidate_pct"]):
                    if x != x or y != y or x is None or y is None:
                        assert diff != diff and pct != pct, (name, metric)
                        continue
                    assert math.isclose(diff, y - x, abs_tol=1e-9), (name, metric)
                    assert math.isclose(pct, 100 * diff / x, abs_tol=1e-9) if x else pct != pct, (name, metric)

    def test_nothing_is_lost(self):
        frames = compared("all")[0]
        for tag, part in (("baseline", "only_baseline"), ("candidate", "only_variant")):
            column = f"{tag}::total_direct_kernel_time_sum"
            total = sum(frames[f"ops_unique_args_{p}_candidate"][column].sum() for p in ("intersect", part))
            report = compare_perf_reports_pytorch.load_sheet(path(tag), "ops_unique_args")
            assert math.isclose(total, report["total_direct_kernel_time_sum"].sum(), rel_tol=1e-9)

    def test_the_first_report_is_the_baseline(self):
        turned = compare_perf_reports_pytorch.generate_compare_perf_reports_pytorch(
            [path("candidate.xlsx"), path("baseline.xlsx")], None, sheets=["gpu_timeline"])["gpu_timeline"]
        straight = compared("all")[0]["gpu_timeline"]
        for x, y in zip(turned["time ms__baseline_diff"], straight["time ms__candidate_diff"]):
            assert math.isclose(x, -y, abs_tol=1e-12)

    def test_every_column_of_a_report_has_its_prefix(self):
        for table in compared("all")[0].values():
            for column in table:
                plain = "::" not in column.replace("aten::", "")
                assert not plain or column.startswith(("param: ", "name", "type", "Input ", "Concrete ")) or \
                    column.endswith(("__candidate_diff", "__candidate_pct")), column

    def test_noise_is_hidden_not_deleted(self):
        try:
            import openpyxl
        except ImportError:
            self.skipTest("no openpyxl")
        book = openpyxl.load_workbook(os.path.join(compared("all")[1], "comparison.xlsx"))
        sheet = next(book[name] for name in book.sheetnames if name.startswith("ops_unique_args_inter"))
        hidden = {cell.value for cell in sheet[1] if sheet.column_dimensions[cell.column_letter].hidden}
        for noise in ("median", "std", "min", "max"):
            assert f"candidate::total_direct_kernel_time_{noise}" in hidden, noise
        assert {"baseline::ex_UID", "candidate::ex_UID"} <= hidden
        assert not any(column.endswith(("_diff", "_pct", "_sum")) for column in hidden)


@functools.cache
def trees():
    return tuple(TreePerfAnalyzer.from_file(path(f"{name}.json.gz")).tree for name in ("baseline", "candidate"))


@functools.cache
def report():
    td = TraceDiff(*trees())
    td.generate_tracediff_report()
    return td


class Morphological(unittest.TestCase):
    def test_one_convolution_on_two_vendors_libraries(self):
        """Matched where both traces do the same, not lost where their leaves differ."""
        def tree(backend, *calls):
            made = TraceToTree(events(op("aten::convolution", op(f"aten::{backend}_convolution", *calls))))
            made.build_tree()
            return made

        td = TraceDiff(tree("miopen", launch("hipLaunchKernel", "igemm_fwd", 30)),
                       tree("cudnn", launch("cudaLaunchKernel", "pad", 2),
                            launch("cudaLaunchKernel", "sm90_fprop", 20)))
        assert td.get_corresponding_uid(1, 0) == 0 and td.baseline.events[0]["name"] == "aten::convolution"
        stats = td.generate_diff_stats()
        assert set(stats["lowest_common_ancestor_name"]) == {"aten::miopen_convolution | aten::cudnn_convolution"}
        assert stats.groupby("source")["kernel_time"].sum().to_dict() == {"trace1": 30, "trace2": 22}

    def test_operations_below_other_ones(self):
        """Where nothing below is common, the lowest common node is the operation above."""
        def tree(name, kernel):
            made = TraceToTree(events(op("aten::linear", op(name, launch("cudaLaunchKernel", kernel, 3)))))
            made.build_tree()
            return made

        td = TraceDiff(tree("aten::addmm", "gemm"), tree("mylib::fused_linear", "fused"))
        stats = td.generate_diff_stats()
        assert list(stats["lowest_common_ancestor_name"]) == ["aten::linear", "aten::linear"]
        assert list(stats["cpu_op_name"]) == ["aten::addmm", "mylib::fused_linear"]


class WithTheSdk(unittest.TestCase):
    def test_the_sample(self):
        from TraceLens import TraceDiff, TreePerfAnalyzer

        tree1 = TreePerfAnalyzer.from_file(path("baseline.json.gz")).tree
        tree2 = TreePerfAnalyzer.from_file(path("candidate.json.gz")).tree
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                td = TraceDiff(tree1, tree2)
                td.generate_tracediff_report()
                assert os.listdir(folder) == []  # tables only
                assert len(td.diff_stats_df) and len(td.diff_stats_unique_args_summary_df)
                td.print_tracediff_report_files("rprt_diff", prune_non_gpu=True)
                assert os.listdir(folder) == ["rprt_diff"]
                td.print_tracediff_report_files()  # the default folder
            finally:
                os.chdir(before)
        assert td.baseline is tree1 and td.variant is tree2

    def test_where_it_is(self):
        from TraceLens.TraceDiff import TraceDiff as one
        from TraceLens.TraceDiff.trace_diff import TraceDiff as two

        assert one is two is TraceDiff

    def test_pruning_drops_what_has_no_gpu_work(self):
        quiet = op("aten::empty", op("aten::resize_"))
        loud = op("aten::mm", launch("cudaLaunchKernel", "gemm", 3))
        made = []
        for _ in range(2):
            made.append(TraceToTree(events(quiet, loud)))
            made[-1].build_tree()
        td = TraceDiff(*made)
        texts = []
        with tempfile.TemporaryDirectory() as folder:
            for prune in (False, True):
                td.print_tracediff_report_files(folder, prune_non_gpu=prune)
                with open(os.path.join(folder, "merged_tree_output.txt"), encoding="utf-8") as file:
                    texts.append(file.read())
        assert "aten::empty" in texts[0] and "aten::mm" in texts[0]
        assert texts[1] == "└── aten::mm\n    └── cudaLaunchKernel\n        └── gemm\n"


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=material())
        report().print_tracediff_report_files(cls.folder)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_merged_tree(self):
        lines = self.read("merged_tree_output.txt").splitlines()
        assert any(line.endswith("── aten::linear") for line in lines)
        assert any(line.endswith(">> trace1: aten::gelu") for line in lines)
        assert any(line.endswith("<< trace2: aten::relu") for line in lines)

    def test_tables(self):
        header = self.read("diff_stats.csv").splitlines()[0]
        for column in ("name", "cpu_op_name", "Input Dims", "Input type", "kernel_time"):
            assert column in header.split(",")
        summary = self.read("diff_stats_unique_args_summary.csv").splitlines()
        assert len(summary) - 1 == len(report().diff_stats_unique_args_summary_df) < len(report().diff_stats_df)

    def test_maps_of_operations_to_their_kernels(self):
        one, two = (json.loads(self.read(f"cpu_op_map_trace{number}.json")) for number in (1, 2))
        assert one[SLOWER] == two[SLOWER] == sorted(one[SLOWER]) and len(one[SLOWER]) == 2
        assert one["aten::gelu"] == two["aten::relu"] and "aten::relu" not in one


class DataFrames(unittest.TestCase):
    def test_detailed_and_summed(self):
        stats, summary = report().diff_stats_df, report().diff_stats_unique_args_summary_df
        attention = stats[stats["cpu_op_name"] == SLOWER]
        assert attention.groupby("source").size().to_dict() == {"trace1": 12, "trace2": 12}  # 6 calls of 2 kernels
        times = attention.groupby("source")["kernel_time"].sum()
        assert math.isclose(times["trace2"], 1.5 * times["trace1"], rel_tol=1e-3)
        rows = summary[summary["cpu_op_name"] == SLOWER]
        assert math.isclose(rows["kernel_time_sum"].sum(), times.sum(), rel_tol=1e-9)
        assert rows["operation_count"].sum() == len(attention)
        key = ["name", "cpu_op_name", "source", "Input Dims", "Input Strides", "Input type", "Concrete Inputs",
               "lowest_common_ancestor_name"]
        assert not summary[key].astype(str).duplicated().any()
        # all GPU events of both traces
        for number, tree in ((1, trees()[0]), (2, trees()[1])):
            gpu = {e["UID"] for e in tree.events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")}
            assert set(stats[stats["source"] == f"trace{number}"]["gpu_op_uid"]) == gpu

    def test_uids(self):
        td = report()
        uid1 = next(iter(td.baseline.cpu_root_nodes))
        uid2 = td.get_corresponding_uid(1, uid1)
        assert uid2 == td.merged_uid_map[1, uid1] and td.merged_uid_map[2, uid2] == uid1
        assert td.baseline.events[uid1]["name"] == td.variant.events[uid2]["name"]
        gone = next(e["UID"] for e in td.baseline.events if e["name"] == "aten::gelu")
        assert td.get_corresponding_uid(1, gone) == td.merged_uid_map[1, gone] == -1


class InlineDiff(unittest.TestCase):
    def test_the_report_of_one_trace_with_another_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            run(make_report, "--profile_json_path", path("candidate.json.gz"), "--comparison_json_path",
                path("baseline.json.gz"), "--output_csvs_dir", folder)
            names = os.listdir(folder)
            sheet = compare_perf_reports_pytorch.load_sheet(folder, "unified_perf_summary")
            stats = compare_perf_reports_pytorch.load_sheet(folder, "diff_stats")
        assert "diff_stats.csv" in names
        columns = ["speedup (trace2/trace1)", "delta_us (trace2 - trace1)", "lca_id", "lca_name"]
        assert set(columns) <= set(sheet.columns)
        # the candidate is trace1: its backward attention takes 1.5 times as long, its layer norms half
        for operation, ratio in ((SLOWER, 1 / 1.5), (FASTER, 2), ("aten::mm", 1)):
            rows = sheet[[set(str(name).split("; ")) == {operation} for name in sheet["lca_name"]]]
            assert len(rows), operation
            times = stats[stats["cpu_op_name"] == operation].groupby("source")["kernel_time"].sum()
            assert math.isclose(times["trace2"] / times["trace1"], ratio, rel_tol=1e-3), operation
            for speedup, delta, own in zip(*(rows[c] for c in [*columns[:2], "Kernel Time (µs)_sum"])):
                assert math.isclose(speedup, ratio, rel_tol=5e-3), (operation, speedup)
                assert math.isclose(delta, own * (speedup - 1), rel_tol=1e-6, abs_tol=1e-6), operation


if __name__ == "__main__":
    unittest.main()
