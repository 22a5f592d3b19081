# SPDX-License-Identifier: MIT
"""The names that scripts for the Python tool use, where they are, with the parameters and defaults that they may count on.

A line says what may be written: parameters in order, ``name=value`` with the default. ``...`` is a function; behind ``*``
names have to be told. The package may take more parameters behind these, and may have defaults where none is told, but
no others.
"""
import ast
import importlib
import inspect
import unittest

import common
import TraceLens
from TraceLens import TraceToTree, TreePerfAnalyzer

#: "module:class" or "module" -> name -> parameters; "" is the class itself
INTERFACE = {
    "TraceLens.TreePerf:TreePerfAnalyzer": {
        "": "tree add_python_func=False arch=None jax=False python_path=None event_to_category=... "
            "include_unlinked_kernels=False enable_pseudo_ops=False tree_postprocess_extension=None "
            "rebuild_tree=True detect_recompute=False enable_origami=False inductor_cache_dir=None "
            "pb_file_name=None metadata_events=None kernel_metadata_keyword_filters=None",
        "agg_kernels_in_subtree": "event filter_func=None verbose=False",
        "build_df_bwd_perf_metrics": "events",
        "build_df_fwd_perf_metrics": "events",
        "build_df_perf_metrics": "events bwd=False non_data_mov=False include_kernel_details=False "
                                 "include_args=False dict_name_to_perf_model=None args_cols=None",
        "build_df_unified_perf_table": "events=None include_args=True include_perf_metrics=True "
                                       "include_kernel_details=True include_nccl=False",
        "build_nn_module_latency_tree": "root_nn_module",
        "check_gpu_only": "",
        "collect_unified_perf_events": "include_nccl=False",
        "compute_bwd_perf_metrics": "event non_data_mov=False",
        "compute_fwd_perf_metrics": "event non_data_mov=False",
        "compute_overlapping_kernels": "kernel_events",
        "compute_perf_metrics": "event bwd=False non_data_mov=False perf_model_class=None",
        "from_file": "profile_filepath capture_trace_filepath=None jax=False enable_pseudo_ops=False "
                     "tree_postprocess_extension=None *args **kwargs",
        "get_df_gpu_timeline": "micro_idle_thresh_us=None gpu_pid=None",
        "get_df_kernel_launchers": "id_cols=False include_kernel_details=False include_call_stack=False "
                                   "include_first_occurrence_time=False gpu_pid=None gpu_kernel_op_cats=None "
                                   "include_args=False args_cols=None",
        "get_df_kernel_launchers_summary": "df_kernel_launchers",
        "get_df_kernel_launchers_summary_by_category": "df_kernel_launchers",
        "get_df_kernel_launchers_summary_by_category_module": "df_kernel_launchers",
        "get_df_kernel_launchers_summary_by_shape": "df_kernel_launchers name",
        "get_df_kernel_launchers_summary_module": "df_kernel_launchers",
        "get_df_kernel_launchers_unique_args": "df_kernel_launchers event_name=None agg_metrics=('mean',) "
                                               "include_pct=False group_by_num_kernels=False "
                                               "group_by_parent_module=False include_overlapping_kernels=False",
        "get_df_kernels": "launcher_detail=False cpu_op_detail=True nn_module_detail=False",
        "get_kernel_details": "kernel_event launcher_detail=False cpu_op_detail=True nn_module_detail=False",
        "get_kernel_launchers": "include_nccl=False gpu_pid=None gpu_kernel_op_cats=None",
        "loop_and_aggregate_kernels": "events filter_func=None verbose=False",
        "non_data_mov_filter": "event",
        "summarize_df_perf_metrics": "df_perf_metrics agg_metrics=('mean','std') group_by_num_kernels=False "
                                     "include_overlapping_kernels=False",
        "summarize_df_unified_perf_table": "df_unified_perf agg_metrics=('mean','std') include_pct=True "
                                           "group_by_num_kernels=False include_call_stack=False "
                                           "include_overlapping_kernels=False tree=None",
    },
    "TraceLens.TreePerf:GPUEventAnalyser": {
        "": "events",
        "compute_metrics": "micro_idle_thresh_us=None gpu_pid=None event_filter=None",
        "compute_metrics_dict": "dict micro_idle_thresh_us=None",
        "get_breakdown_df": "micro_idle_thresh_us=None gpu_pid=None event_filter=None",
        "get_breakdown_df_from_dict": "dict_metrics",
        "get_gpu_event_lists": "gpu_pid=None event_filter=None",
        "merge_intervals": "intervals",
        "subtract_intervalsA_from_B": "intervals_to_subtract intervals",
        "verify_dict_gpu_event_lists": "dict_gpu_event_lists",
    },
    "TraceLens.Trace2Tree:TraceToTree": {
        "": "events_data prune_nongpu_paths=True compute_end_times=True linking_key=None event_to_category=... "
            "trace_metadata=None",
        "add_gpu_ops_to_tree": "",
        "apply_annotation": "name_filters=()",
        "build_host_call_stack_tree": "add_python_func=False",
        "build_tree": "add_python_func=False link_fwd_bwd=True metadata_events=None pb_file_name=None **kwargs",
        "default_categorizer": "event",
        "get_UID2event": "UID",
        "get_children_events": "event",
        "get_gpu_events": "event",
        "get_nn_module_children": "nn_module_event",
        "get_nn_module_parent": "nn_module_event",
        "get_node_by_ext_id_pid_tid": "ext_id pid tid",
        "get_parent_event": "event",
        "get_seq_nums_for_node_subtree": "node_UID",
        "get_subtree_bwd_events": "event_UID",
        "label_non_gpu_paths": "",
        "link_all_fwd_bwd_events": "",
        "traverse_parents_and_get_callstack": "node filter=() follow_fwd_link=False",
        "traverse_parents_and_print": "node cpu_op_fields=() follow_fwd_link=False",
        "traverse_subtree_and_print": "node prune_non_gpu=True cpu_op_fields=() include_bwd=False",
    },
    "TraceLens.util:DataLoader": {
        "": "",
        "load_data": "filename_path save_preprocessed=False",
    },
    "TraceLens.util:TraceEventUtils": {
        "": "",
        "build_collective_filter_and_inference_rules": "custom_collective_patterns=None",
        "compute_event_end_times": "events",
        "compute_single_event_end_time": "event",
        "default_categorizer": "event",
        "find_thread_by_item_in_metadata": "metadata select_item",
        "find_threads_by_item_in_metadata": "metadata select_item",
        "get_communication_regexes": "custom_collective_patterns=None",
        "get_metadata": "events",
        "is_communication_string": "text",
        "is_rocm_legacy_memcpy": "text",
        "is_rocm_legacy_memset": "text",
        "non_metadata_events": "events",
        "sort_events_by_timestamp_duration": "events",
        "split_by_field": "events field defaultKey=None",
        "split_event_list": "events",
        "split_events_by_pid_tid": "events",
    },
    "TraceLens.PerfModel.perf_model:GEMM": {
        "": "event arch=None python_path=None enable_origami=False",
        "bytes": "bpe_mat1=None bpe_mat2=None bpe_bias=None bpe_output=None",
        "bytes_bwd": "bytes_per_element",
        "bytes_func": "M N K bias bpe_mat1 bpe_mat2 bpe_bias bpe_output",
        "flops": "",
        "flops_bwd": "",
        "flops_func": "M N K bias",
        "get_compute_precision": "",
        "get_maf_type": "",
        "get_param_details": "event",
        "get_simulation_time": "",
        "get_simulation_time_func": "arch M N K B dtype python_path=None force_to_l1=False num_cus=None "
                                    "enable_origami=False",
    },
    "TraceLens.PerfModel.perf_model:SDPA": {
        "": "event arch=None python_path=None enable_origami=False",
        "bytes": "bytes_per_element=2",
        "bytes_bwd": "bytes_per_element=2",
        "bytes_bwd_func": "B N_Q H_Q N_KV H_KV d_h_qk d_h_v causal bytes_per_element",
        "bytes_func": "B N_Q H_Q N_KV H_KV d_h_qk d_h_v causal bytes_per_element",
        "flops": "",
        "flops_bwd": "",
        "flops_bwd_func": "B N_Q H_Q N_KV H_KV d_h_qk d_h_v causal flash_impl",
        "flops_func": "B N_Q H_Q N_KV H_KV d_h_qk d_h_v causal",
        "get_compute_precision": "",
        "get_maf_type": "",
        "get_param_details": "event",
        "get_simulation_time": "",
        "get_simulation_time_bwd": "",
        "get_simulation_time_bwd_func": "arch dtype python_path dtype_A_B bytes B H_Q N_Q N_KV d_h fa=True "
                                        "enable_origami=False",
        "get_simulation_time_func": "arch dtype python_path dtype_A_B bytes B H_Q N_Q N_KV d_h fa=True "
                                    "enable_origami=False",
    },
    "TraceLens.PerfModel.perf_model:CONV": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "bytes_per_element=None",
        "bytes_bwd": "bytes_per_element",
        "bytes_bwd_func": "x_shape w_shape out_shape bias bytes_per_element",
        "bytes_func": "x_shape w_shape out_shape bias bytes_per_element",
        "flops": "",
        "flops_bwd": "",
        "flops_bwd_func": "out_shape x_shape w_shape bias transposed_conv=False",
        "flops_func": "x_shape w_shape out_shape bias transposed_conv=False",
        "get_compute_precision": "",
        "get_conv_out_dim": "input_dim kernel_size stride padding dilation output_padding=None",
        "get_maf_type": "",
        "get_output_shape": "input_shape filter_shape stride padding dilation transposed_conv output_padding",
        "get_param_details": "event",
        "get_transposed_conv_out_dim": "input_dim kernel_size stride padding dilation output_padding",
        "t": "shape",
    },
    "TraceLens.PerfModel.perf_model:UnaryElementwise": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "",
        "bytes_func": "nelems bpe_in bpe_out",
        "flops": "",
        "flops_func": "nelems",
        "get_compute_precision": "",
        "get_maf_type": "",
    },
    "TraceLens.PerfModel.perf_model:BinaryElementwise": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "",
        "bytes_func": "nelems_in1 nelems_in2 nelems_out bpe_in1 bpe_in2 bpe_out",
        "flops": "",
        "flops_func": "nelems_out",
        "get_broadcast_shape": "shape1 shape2",
        "get_compute_precision": "",
        "get_maf_type": "",
    },
    "TraceLens.PerfModel.perf_model:Normalization": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "",
        "bytes_bwd": "",
        "bytes_func": "has_bias is_affine is_training num_elems num_channels bpe_in bpe_out",
        "bytes_func_bwd": "has_bias is_affine is_training num_elems num_channels bpe_in bpe_out output_mask",
        "flops": "",
        "flops_bwd": "",
        "flops_func": "has_bias is_affine is_training num_elems num_channels",
        "flops_func_bwd": "has_bias is_affine is_training num_elems num_channels output_mask",
        "get_compute_precision": "",
        "get_maf_type": "",
    },
    "TraceLens.PerfModel.perf_model:Reduce": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "",
        "bytes_bwd": "bytes_per_element=None",
        "bytes_bwd_func": "num_input_elems num_output_elems bpe_in bpe_out",
        "bytes_func": "num_input_elems num_output_elems bpe_in bpe_out",
        "flops": "",
        "flops_bwd": "",
        "flops_bwd_func": "num_input_elems num_output_elems reduce_type='sum'",
        "flops_func": "num_input_elems num_output_elems reduce_type='sum'",
        "get_compute_precision": "",
        "get_maf_type": "",
    },
    "TraceLens.PerfModel.perf_model:GroupedGemm": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "",
        "bytes_bwd": "",
        "bytes_bwd_func": "M K N G bpe_in bpe_out",
        "bytes_func": "M K N G bpe_in bpe_out",
        "flops": "",
        "flops_bwd": "",
        "flops_bwd_func": "M K N",
        "flops_func": "M K N",
        "get_compute_precision": "",
        "get_maf_type": "",
    },
    "TraceLens.PerfModel.perf_model:aten_mm": {
        "": "event arch=None python_path=None enable_origami=False",
        "bytes": "bpe_mat1=None bpe_mat2=None bpe_bias=None bpe_output=None",
        "bytes_bwd": "bytes_per_element=None",
        "bytes_func": "M N K bias bpe_mat1 bpe_mat2 bpe_bias bpe_output",
        "flops": "",
        "flops_bwd": "",
        "flops_func": "M N K bias",
        "get_compute_precision": "",
        "get_maf_type": "",
        "get_param_details": "event",
        "get_simulation_time": "",
        "get_simulation_time_func": "arch M N K B dtype python_path=None force_to_l1=False num_cus=None "
                                    "enable_origami=False",
    },
    "TraceLens.PerfModel.perf_model:RMSNorm": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "",
        "bytes_bwd": "",
        "bytes_func": "has_bias is_affine is_training num_elems num_channels bpe_in bpe_out",
        "bytes_func_bwd": "has_bias is_affine is_training num_elems num_channels bpe_in bpe_out output_mask",
        "flops": "",
        "flops_bwd": "",
        "flops_func": "has_bias is_affine is_training num_elems num_channels",
        "flops_func_bwd": "has_bias is_affine is_training num_elems num_channels output_mask",
        "get_compute_precision": "",
        "get_maf_type": "",
        "get_param_details": "event",
    },
    "TraceLens.PerfModel.perf_model:Softmax": {
        "": "",
        "bytes": "M N bytes_per_element B=1",
        "bytes_bwd": "M N bytes_per_element B=1",
        "bytes_func": "M N bytes_per_element B=1",
        "flops": "M N B=1",
        "flops_bwd": "M N B=1",
        "flops_func": "M N B=1",
        "get_time": "arch M N bytes_per_element B=1 force_to_l1=False bwd=False num_cus=None",
    },
    "TraceLens.PerfModel.perf_model:FusedRoPE": {
        "": "event arch=None python_path=None **kwargs",
        "bytes": "",
        "flops": "",
        "get_compute_precision": "",
        "get_maf_type": "",
        "get_param_details": "event",
    },
    "TraceLens.PerfModel.torch_op_mapping": {
        "build_op_category_registry": "op_to_perf_model_class_map category_only_ops=None",
        "build_sheet_category_to_op_names": "op_to_perf_model_class_map",
        "categorize_torch_op": "row",
        "get_perf_model_category": "perf_model_class bwd=False",
        "get_perf_model_sheet_category": "perf_model_class",
        "get_pseudo_op_category_only_mappings": "",
        "get_pseudo_op_mappings": "",
        "register_op_categories": "op_category_extension registry",
        "register_perf_model_categories": "perf_model_extension registry",
        "register_perf_model_matcher": "matcher",
        "resolve_perf_model_class": "name",
        "sheet_category_from_final_category": "category",
    },
    "TraceLens.PerfModel.utils": {
        "add_simulation_time_columns": "dict_metrics simulated_time gflops bytes_moved busy_kernel_time",
        "name2bpe": "name",
        "optional_float": "value default=0.0",
        "optional_int": "value default=None",
        "parse_bool": "input",
        "simulation_dtype_map": "dtype",
        "torch_dtype_map": "dtype",
    },
    "TraceLens.PerfModel.kernel_name_parser": {
        "gemm_name_parser": "kernel_name",
        "is_cuda_gemm": "kernel_name",
        "is_rocm_gemm": "kernel_name",
        "parse_cuda_gemm": "kernel_name",
        "parse_rocm_gemm": "kernel_name",
    },
    "TraceLens.Reporting.generate_perf_report_pytorch": {
        "add_truncated_kernel_details": "df source_col='kernel_details' new_col_name=None trunc_length=64",
        "apply_extension": "perf_analyzer extension_path",
        "generate_perf_report_pytorch": "profile_json_path output_xlsx_path=None output_csvs_dir=None "
                                        "include_unlinked_kernels=False enable_pseudo_ops=False "
                                        "micro_idle_thresh_us=None collective_analysis=True "
                                        "include_overlap_info=False include_first_occurrence_time=False "
                                        "kernel_summary=False short_kernel_study=False "
                                        "short_kernel_threshold_us=10 short_kernel_histogram_bins=100 "
                                        "topk_short_kernels=None topk_ops=None topk_roofline_ops=None "
                                        "comparison_json_path=None extension_file=None python_path=None "
                                        "gpu_arch_json_path=None gpu_arch_platform=None gpu_arch=None "
                                        "inductor_cache_dir=None group_by_num_kernels=False enable_origami=False "
                                        "detect_recompute=False include_call_stack=False",
        "get_dfs_short_kernels": "perf_analyzer short_kernel_threshold_us=10 histogram_bins=100 topk=None",
        "main": "",
        "trunc_kernel_details": "row kernel_detail_col trunc_length=64",
    },
    "TraceLens.Reporting.reporting_utils": {
        "add_gpu_arch_cli_args": "parser",
        "add_node_span_columns": "df gpus_per_node world_size=None",
        "detect_gpus_per_node": "trace_filepath",
        "export_data_df": "data_df output_folder_path output_filename output_table_format=('.xlsx','.csv') "
                          "suffix='_summary_statistics' verbose=0",
        "request_install": "package_name",
        "resolve_gpu_arch": "* gpu_arch_json_path=None gpu_arch_platform=None gpu_arch=None",
    },
}

#: What is in the package itself: loading, trees and analyses, and by name all models and the report.
TOP = ["DataLoader", "GPUEventAnalyser", "PytorchGPUEventAnalyser", "TraceEventUtils", "TraceToTree", "TreePerfAnalyzer",
       "GEMM", "SDPA", "CONV", "UnaryElementwise", "BinaryElementwise", "Normalization", "aten_mm", "flash_attention",
       "gemm_name_parser", "name2bpe", "torch_dtype_map", "build_sheet_category_to_op_names", "apply_extension",
       "generate_perf_report_pytorch", "get_dfs_short_kernels", "trunc_kernel_details", "add_truncated_kernel_details",
       "resolve_gpu_arch", "export_data_df"]

#: Attributes of a tree that is built, of an analyser, and keys of events (of which an event has those that say something).
TREE = ["events", "events_by_uid", "linking_key", "cpu_root_nodes", "name2event_uids", "metadata", "trace_metadata",
        "prune_nongpu_paths", "add_python_func", "seq_num2event_uids_map", "ac2g_event_map", "pid_tid_event_map",
        "linking_id_to_gpu_events", "runtime_event_uids", "dict_stream_index2event"]
ANALYZER = ["tree", "trace_metadata", "arch", "python_path", "include_unlinked_kernels", "add_python_func", "jax",
            "detect_recompute", "enable_origami", "inductor_cache_dir", "with_python_stack", "gpu_only",
            "op_to_perf_model_class_map", "event_to_category", "GPUEventAnalyser"]
KEYS = ["UID", "t_end", "tree", "parent", "children", "gpu_events", "nn_module_stack", "cpu_op_root", "non_gpu_path",
        "fwd_event", "bwd_events", "overlapping_uids"]


def found(place):
    """The module or class of an entry."""
    module, _, name = place.partition(":")
    holder = importlib.import_module(module)
    return getattr(holder, name) if name else holder


def parameters(function, told):
    """Parameters of a function; of a plain method without ``self``."""
    made = list(inspect.signature(function).parameters.values())
    return made[1:] if made and made[0].name == "self" and told[:1] != ["self"] else made


class Signatures(unittest.TestCase):
    def check(self, where, function, told):
        told = told.split()
        made = parameters(function, told)
        plain = [p for p in made if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        named = "*" in told
        told = [word for word in told if word != "*"]
        for at, word in enumerate(w for w in told if not w.startswith("*")):
            name, _, default = word.partition("=")
            self.assertLess(at, len(plain), f"{where}: {name} is missing")
            parameter = plain[at]
            self.assertEqual(parameter.name, name, where)
            if not named:
                self.assertEqual(parameter.kind, parameter.POSITIONAL_OR_KEYWORD, where)
            if default == "...":
                self.assertTrue(callable(parameter.default), where)
            elif default:
                self.assertEqual(parameter.default, ast.literal_eval(default), f"{where}: {name}")
        for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            stars = "*" if kind == inspect.Parameter.VAR_POSITIONAL else "**"
            wanted = any(w.startswith(stars) and not w.startswith(stars + "*") for w in told)
            self.assertTrue(not wanted or any(p.kind == kind for p in made), f"{where}: {stars}")
        more = plain[sum(not w.startswith("*") for w in told):]
        self.assertTrue(all(p.default is not p.empty for p in more), f"{where}: {more} must have defaults")

    def test_names_and_parameters(self):
        checked = 0
        for place, names in INTERFACE.items():
            holder = found(place)
            for name, told in names.items():
                with self.subTest(f"{place}.{name}"):
                    self.check(f"{place}.{name}", getattr(holder, name) if name else holder, told)
                    checked += 1
        self.assertGreater(checked, 200)

    def test_functions_without_an_instance(self):
        for cls, names in ((TreePerfAnalyzer, ("from_file", "non_data_mov_filter", "get_df_kernel_launchers_summary",
                                               "get_df_kernel_launchers_unique_args", "summarize_df_perf_metrics",
                                               "summarize_df_unified_perf_table")),
                           (TraceLens.GPUEventAnalyser, ("merge_intervals", "subtract_intervalsA_from_B",
                                                         "compute_metrics_dict", "get_breakdown_df_from_dict")),
                           (TraceLens.DataLoader, ("load_data",)), (TraceToTree, ("default_categorizer",))):
            for name in names:
                self.assertIsInstance(inspect.getattr_static(cls, name), (staticmethod, classmethod), name)
        self.assertTrue(issubclass(TraceLens.PytorchGPUEventAnalyser, TraceLens.GPUEventAnalyser))

    def test_what_the_package_has_by_name(self):
        for name in TOP:
            self.assertIsNotNone(getattr(TraceLens, name))
            self.assertIn(name, dir(TraceLens))
        namespace = {}
        exec("from TraceLens import aten_mm, generate_perf_report_pytorch, PerfModel, Reporting", namespace)
        self.assertIs(namespace["aten_mm"], TraceLens.PerfModel.perf_model.aten_mm)
        self.assertIs(namespace["Reporting"], importlib.import_module("TraceLens.Reporting"))
        with self.assertRaisesRegex(AttributeError, "TraceLens.*'nothing_of_the_kind'"):
            TraceLens.nothing_of_the_kind
        with self.assertRaises(ImportError):
            exec("from TraceLens import nothing_of_the_kind")
        self.assertFalse(hasattr(TraceLens, "__wrapped__"))

    def test_loading_needs_no_models_and_reports(self):
        import subprocess
        import sys

        code = ("import sys, TraceLens; assert not any(n.startswith(('TraceLens.PerfModel', 'TraceLens.Reporting')) "
                "for n in sys.modules)")
        subprocess.run([sys.executable, "-c", code], check=True)
        code = ("import TraceLens; TraceLens.PerfModel.perf_model.GEMM; TraceLens.PerfModel.torch_op_mapping; "
                "TraceLens.Reporting.reporting_utils; TraceLens.TreePerf.tree_perf; TraceLens.Trace2Tree.trace_to_tree")
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_attributes(self):
        a = TreePerfAnalyzer.from_file(common.BUNDLED)
        for name in ANALYZER:
            self.assertTrue(hasattr(a, name), name)
        for name in TREE:
            self.assertTrue(hasattr(a.tree, name), name)
        a.get_df_gpu_timeline()
        keys = set()
        for event in a.tree.events:
            keys.update(event)
        self.assertLessEqual(set(KEYS), keys)


if __name__ == "__main__":
    unittest.main()
