# SPDX-License-Identifier: MIT
"""The report from Python: the tables of the command, extension files, and bad ones."""
import csv
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from contextlib import redirect_stderr, redirect_stdout

import common
import pandas as pd
from TraceLens import TreePerfAnalyzer
from TraceLens.Reporting import reporting_utils
from TraceLens.Reporting.generate_perf_report_pytorch import (
    ModelFailedWarning,
    add_truncated_kernel_details,
    apply_extension,
    generate_perf_report_pytorch,
    get_dfs_short_kernels,
    main,
    trunc_kernel_details,
)

TRACE = common.BUNDLED

EXTENSION = """
import pandas as pd
from TraceLens.PerfModel.perf_model import UnaryElementwise

seen = []


def tree_postprocess_extension(tree):
    seen.append(len(tree.events))
    for event in tree.events:
        if event["name"] == "aten::gelu":
            event["name"] = "my::gelu"


class gelu(UnaryElementwise):
    category = "Activation"
    sheet_category = "Activation"

    @staticmethod
    def get_param_details(event):
        args = event["args"]
        return {"op_shape": tuple(args["Input Dims"][0]), "dtype_in_out": (args["Input type"][0], None)}


perf_model_extension = {"my::gelu": gelu}
op_category_extension = {"aten::copy_": "Copies"}


def get_additional_dataframes_extension(tree):
    return {"mine": pd.DataFrame({"n": [1, 2], "x": [0.5, None], "t": ["a", None], "b": [True, False],
                                  "l": [[1, 2], (3,)]})}
"""


def write(folder, text, name="extension.py"):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def rows_of(folder, sheet):
    with open(os.path.join(folder, sheet + ".csv"), encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def report(self, **options):
        return generate_perf_report_pytorch(TRACE, output_csvs_dir=self.folder, **options)

    def test_parameters_in_the_order_of_the_reference(self):
        names = list(inspect.signature(generate_perf_report_pytorch).parameters)
        assert names[:26] == [
            "profile_json_path", "output_xlsx_path", "output_csvs_dir", "include_unlinked_kernels",
            "enable_pseudo_ops", "micro_idle_thresh_us", "collective_analysis", "include_overlap_info",
            "include_first_occurrence_time", "kernel_summary", "short_kernel_study", "short_kernel_threshold_us",
            "short_kernel_histogram_bins", "topk_short_kernels", "topk_ops", "topk_roofline_ops",
            "comparison_json_path", "extension_file", "python_path", "gpu_arch_json_path", "gpu_arch_platform",
            "gpu_arch", "inductor_cache_dir", "group_by_num_kernels", "enable_origami", "detect_recompute"]

    def test_frames_are_what_the_files_hold(self):
        sheets = self.report(kernel_summary=True, short_kernel_study=True, gpu_arch_platform="H100",
                             include_overlap_info=True)
        assert list(sheets)[:5] == ["gpu_timeline", "ops_summary_by_category", "ops_summary", "ops_unique_args",
                                    "ops_unique_args_kl_overlap"]
        assert {"kernel_summary", "short_kernel_histogram", "short_kernels_summary", "trace_health"} <= set(sheets)
        assert set(sheets) == {name[:-4] for name in os.listdir(self.folder)}
        for name, frame in sheets.items():
            head, *rows = rows_of(self.folder, name)
            assert head == list(frame.columns) and len(rows) == len(frame), name
        assert "Pct Roofline_mean" in sheets["GEMM"]

    def test_options(self):
        sheets = self.report(topk_ops=3, collective_analysis=False, micro_idle_thresh_us=5, detect_recompute=True,
                             include_first_occurrence_time=True, include_call_stack=True)
        assert len(sheets["ops_unique_args"]) == 3 and "coll_analysis" not in sheets
        assert "first_occurrence_time" in sheets["ops_unique_args"]
        assert "micro_idle_time" in set(sheets["gpu_timeline"]["type"])
        assert "is_recompute" in sheets["ops_summary"]
        assert "entry_point" in sheets["unified_perf_summary"]

    def test_the_same_through_an_analyser(self):
        plain = self.report()
        empty = self.report(extension_file=write(self.folder, "", "nothing.py"))
        assert list(plain) == list(empty)
        for name in plain:
            pd.testing.assert_frame_equal(plain[name], empty[name])

    def test_workbook_and_json(self):
        xlsx, text = os.path.join(self.folder, "r.xlsx"), os.path.join(self.folder, "r.json")
        generate_perf_report_pytorch(TRACE, output_xlsx_path=xlsx, output_json_path=text)
        with open(xlsx, "rb") as file:
            assert file.read(2) == b"PK"
        with open(text, encoding="utf-8") as file:
            assert {"tables", "trace"} <= set(json.load(file))

    def test_extension(self):
        path = write(self.folder, EXTENSION)
        xlsx = os.path.join(self.folder, "r.xlsx")
        sheets = self.report(extension_file=path, output_xlsx_path=xlsx)
        assert os.path.exists(xlsx)
        activation = sheets["Activation"]
        assert set(activation["name"]) == {"my::gelu"} and (activation["GFLOPS_first"] > 0).all()
        assert "aten::gelu" not in set(sheets["ops_summary"]["name"])
        assert "Copies" in set(sheets["ops_summary_by_category"]["op category"])
        assert list(sheets["mine"]["n"]) == [1, 2]
        assert rows_of(self.folder, "mine") == [["n", "x", "t", "b", "l"], ["1", "0.5", "a", "True", "[1, 2]"],
                                                ["2", "", "", "False", "(3,)"]]
        # nothing of it is left for the next report
        assert "Activation" not in self.report()

    def test_bad_extensions(self):
        bad = {
            "tree_postprocess_extension = 3": ValueError,
            "perf_model_extension = []": ValueError,
            "perf_model_extension = {'a': 3}": ValueError,
            "op_category_extension = 'x'": ValueError,
            "op_category_extension = {'a': 1}": ValueError,
            "get_additional_dataframes_extension = 1": ValueError,
            "def get_additional_dataframes_extension(tree): return [1]": ValueError,
            "def get_additional_dataframes_extension(tree): return {'x': 1}": ValueError,
            "def get_additional_dataframes_extension(tree): return {'../x': 1}": ValueError,
            "def tree_postprocess_extension(tree): raise LookupError('mine')": LookupError,
            "1 / 0": ZeroDivisionError,
            "this is no Python": SyntaxError,
        }
        for number, (text, kind) in enumerate(bad.items()):
            with self.subTest(text), self.assertRaises(kind):
                self.report(extension_file=write(self.folder, text, f"bad{number}.py"))
        with self.assertRaises(FileNotFoundError):
            self.report(extension_file=os.path.join(self.folder, "missing.py"))

    def test_a_model_that_raises_leaves_a_row_without_metrics(self):
        text = ("from TraceLens.PerfModel.perf_model import GEMM\n"
                "class bad(GEMM):\n"
                "    @staticmethod\n"
                "    def get_param_details(event):\n"
                "        raise RuntimeError('no')\n"
                "perf_model_extension = {'aten::mm': bad}\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sheets = self.report(extension_file=write(self.folder, text))
        assert "aten::mm" not in set(sheets["GEMM"]["name"])
        assert "aten::mm" in set(sheets["ops_summary"]["name"])

    def test_deprecated_symbol(self):
        with self.assertWarns(DeprecationWarning):
            self.report(extension_file=write(self.folder, "dict_cat2names_extension = {}"))

    def overrunning(self):
        """Four kernels on one stream, of which the second has a wrong end: 0..10, 10..5010, 20..30, 30..40."""
        events = []
        for i, (start, duration) in enumerate([(0, 10), (10, 5000), (20, 10), (30, 10)]):
            events += [common.event("my::op", "cpu_op", 10 * i, 5, **{"Input Dims": [[2, 3]], "Input type": ["float"]}),
                       common.event("cudaLaunchKernel", "cuda_runtime", 10 * i + 1, 1, correlation=i + 1),
                       common.event("k", "kernel", 1000 + start, duration, tid=7, pid=0, correlation=i + 1, stream=7)]
        path = os.path.join(self.folder, "overrun.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        return path

    def test_wrong_ends_with_models_in_python(self):
        extension = write(self.folder, """
from TraceLens.PerfModel.perf_model import UnaryElementwise


class mine(UnaryElementwise):
    category = "elementwise"

    @staticmethod
    def get_param_details(event):
        assert event["dur"] == 5
        return {"op_shape": (2, 3), "dtype_in_out": ("float", None)}


perf_model_extension = {"my::op": mine}
""")
        path = self.overrunning()
        for clip, busy in ((False, 5.010), (True, 0.040)):
            sheets = generate_perf_report_pytorch(path, output_csvs_dir=self.folder, extension_file=extension,
                                                  clip_stream_overruns=clip)
            figures = dict(zip(sheets["gpu_timeline"]["type"], sheets["gpu_timeline"]["time ms"]))
            self.assertAlmostEqual(figures["busy_time"], busy)
            row = sheets["unified_perf_summary"].iloc[0]
            self.assertTrue(row["has_perf_model"])
            self.assertAlmostEqual(row["Kernel Time (µs)_sum"], 40 if clip else 5030)
            kinds = list(sheets["trace_health"]["kind"])
            self.assertEqual(kinds, ["clipped_overrun" if clip else "stream_overrun"])
            plain = generate_perf_report_pytorch(path, output_csvs_dir=self.folder, clip_stream_overruns=clip)
            self.assertEqual(kinds, list(plain["trace_health"]["kind"]))
            self.assertTrue(plain["gpu_timeline"].equals(sheets["gpu_timeline"]))

    def test_models_that_cannot_read_the_trace(self):
        path = os.path.join(self.folder, "bare.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [common.event("aten::mm", "cpu_op", 100, 10),
                                       common.event("cudaLaunchKernel", "cuda_runtime", 101, 1, correlation=1),
                                       common.event("k", "kernel", 300, 5, tid=7, pid=0, correlation=1, stream=7)]},
                      file)
        for extension in (None, write(self.folder, "op_category_extension = {'aten::copy_': 'Copies'}")):
            with self.assertWarnsRegex(ModelFailedWarning, "bare.json: 1 x .*aten::mm, UID 0: two matrix operands"):
                sheets = generate_perf_report_pytorch(path, output_csvs_dir=self.folder, extension_file=extension)
            self.assertEqual(list(sheets["trace_health"]["kind"]), ["model_failed"])

    def test_wrong_ends_in_an_analyzer(self):
        a = TreePerfAnalyzer.from_file(self.overrunning(), clip_stream_overruns=True)
        self.assertEqual([e["dur"] for e in a.tree.events if e["cat"] == "kernel"], [10, 10, 10, 10])
        self.assertEqual(a.tree.events[5]["t_end"], 1020)
        again = TreePerfAnalyzer(a.tree)
        self.assertEqual([e["dur"] for e in again.tree.events if e["cat"] == "kernel"], [10, 5000, 10, 10])

    def test_lua_beside_models_in_python(self):
        from TraceLens.PerfModel.perf_model import UnaryElementwise
        from TraceLens.PerfModel.torch_op_mapping import op_to_perf_model_class_map

        op_to_perf_model_class_map["my::op"] = UnaryElementwise
        self.addCleanup(op_to_perf_model_class_map.pop, "my::op")
        with self.assertRaisesRegex(ValueError, "custom_op.lua.*Lua.*op_to_perf_model_class_map"):
            self.report(extension_file=os.path.join(common.ROOT, "examples", "custom_op.lua"))

    def test_extension_in_lua(self):
        sheets = self.report(extension_file=os.path.join(common.ROOT, "examples", "custom_op.lua"))
        assert set(sheets["Copies"]["name"]) == {"aten::copy_"}
        assert "optimizer" in set(sheets["ops_summary_by_category"]["op category"])
        with self.assertRaisesRegex(ValueError, "bad.lua"):
            self.report(extension_file=write(self.folder, "model {", "bad.lua"))

    def test_apply_extension(self):
        analyzer = TreePerfAnalyzer.from_file(TRACE)
        apply_extension(analyzer, write(self.folder, EXTENSION))
        events = [event for event in analyzer.tree.events if event["name"] == "my::gelu"]
        assert len(analyzer.build_df_perf_metrics(events)) == len(events) > 0
        other = TreePerfAnalyzer.from_file(TRACE)
        assert "my::gelu" not in other.op_to_perf_model_class_map

    def test_bad_use(self):
        for options in ({"topk_ops": 0}, {"short_kernel_study": True, "short_kernel_histogram_bins": 0},
                        {"gpu_arch": {}, "gpu_arch_platform": "H100"}, {"gpu_arch": []},
                        {"gpu_arch": {"mem_bw_gbps": -1}}):
            with self.subTest(options), self.assertRaises(ValueError):
                self.report(**options)
        with self.assertRaises(KeyError):
            self.report(gpu_arch_platform="nosuch")
        with self.assertRaises(FileNotFoundError):
            generate_perf_report_pytorch(os.path.join(self.folder, "missing.json"))
        with self.assertRaises(ValueError):
            generate_perf_report_pytorch(write(self.folder, "no trace", "x.json"))


class Command(unittest.TestCase):
    def test_files_and_status(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", "import sys; from TraceLens.Reporting.generate_perf_report_pytorch import "
                       "main; sys.exit(main())"]
            done = subprocess.run([*command, "--profile_json_path", TRACE, "--output_csvs_dir", folder,
                                   "--enable_kernel_summary", "--disable_coll_analysis"],
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert "kernel_summary.csv" in os.listdir(folder) and "coll_analysis.csv" not in os.listdir(folder)
            done = subprocess.run([*command, "--profile_json_path", TRACE, "--output_csvs_dir", folder],
                                  env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder + "/none"},
                                  capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
            done = subprocess.run([*command, "--profile_json_path", folder + "/missing.json"], capture_output=True,
                                  text=True, check=False)
            assert done.returncode == 3 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1

    def test_wrong_use(self):
        with redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            main(["--profile_json_path", TRACE, "--gpu_arch_platform", "H100", "--gpu_arch_json_path", "x"])
        error = io.StringIO()
        with redirect_stderr(error), redirect_stdout(io.StringIO()):
            assert main(["--profile_json_path", TRACE, "--gpu_arch_platform", "nosuch"]) == 2
        assert "MI300X" in error.getvalue()


class Pieces(unittest.TestCase):
    DETAILS = [{"name": "a" * 70, "dur": 1.5, "stream": 7}, {"name": "b", "mean_duration_us": 2}]

    def test_truncated_details(self):
        assert trunc_kernel_details({"k": self.DETAILS}, "k", 3) == [
            {"name": "aaa...", "stream": 7, "mean_duration_us": 0}, {"name": "b", "stream": None,
                                                                     "mean_duration_us": 2}]
        for empty in (None, [], float("nan")):
            assert trunc_kernel_details({"k": empty}, "k") is None
        frame = pd.DataFrame({"x": [1], "kernel_details": [self.DETAILS], "y": [2]})
        made = add_truncated_kernel_details(frame)
        assert list(made.columns) == ["x", "kernel_details", "trunc_kernel_details", "y"]
        assert made["trunc_kernel_details"][0][0]["name"] == "a" * 64 + "..."
        assert list(frame.columns) == ["x", "kernel_details", "y", "trunc_kernel_details"]  # for who drops the result
        with self.assertWarns(UserWarning):
            assert list(add_truncated_kernel_details(frame, "nothing").columns) == list(frame.columns)

    def test_short_kernels(self):
        analyzer = TreePerfAnalyzer.from_file(TRACE)
        kernels = analyzer.get_df_kernels()["Kernel duration (µs)"]
        histogram, summary = get_dfs_short_kernels(analyzer, short_kernel_threshold_us=5, histogram_bins=4, topk=2)
        assert list(histogram.columns) == ["bin_start", "bin_end", "count"] and len(histogram) == 4
        assert histogram["count"].sum() == (kernels < 5).sum()
        assert len(summary) == 2
        assert len(get_dfs_short_kernels(analyzer)[1]) > 2

    def test_platforms(self):
        assert reporting_utils.resolve_gpu_arch() is None
        assert reporting_utils.resolve_gpu_arch(gpu_arch={"name": "x"}) == {"name": "x"}
        platform = reporting_utils.resolve_gpu_arch(gpu_arch_platform="mi300x")
        assert platform["mem_bw_gbps"] == 5300 and platform["max_achievable_tflops"]["matrix_bf16"] == 708
        with self.assertRaises(KeyError):
            reporting_utils.resolve_gpu_arch(gpu_arch_platform="nosuch")
        with self.assertRaises(ValueError):
            reporting_utils.resolve_gpu_arch(gpu_arch={}, gpu_arch_platform="MI300X")

    def test_nodes(self):
        frame = pd.DataFrame({"rank": [0, 9, 3], "Process Group Ranks": ["[0, 1]", (0, 8), ""]})
        made = reporting_utils.add_node_span_columns(frame, 8)
        assert list(made["node_id"]) == [0, 1, 0]
        assert list(made["node_span"]) == ["intra_node", "inter_node", "unknown"]
        assert "node_id" not in frame
        assert reporting_utils.add_node_span_columns(frame, 8, world_size=8)["node_id"].isna().sum() == 1
        for bad in (0, -1, 1.5, None):
            with self.assertRaises(ValueError):
                reporting_utils.add_node_span_columns(frame, bad)
        assert reporting_utils.detect_gpus_per_node(TRACE) == 1
        assert reporting_utils.detect_gpus_per_node(os.path.join("no", "such", "trace.json")) is None
        assert reporting_utils.detect_gpus_per_node(__file__) is None

    def test_export(self):
        with tempfile.TemporaryDirectory() as folder:
            reporting_utils.export_data_df(pd.DataFrame({"a": [1.23456]}), folder, "n", [".csv"])
            with open(os.path.join(folder, "n_summary_statistics.csv"), encoding="utf-8") as file:
                assert file.read() == "a\n1.23\n"
            with self.assertRaises(ValueError):
                reporting_utils.export_data_df(pd.DataFrame({"a": [1]}), folder, "n", [".doc"])


if __name__ == "__main__":
    unittest.main()
