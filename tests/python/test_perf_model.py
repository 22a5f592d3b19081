# SPDX-License-Identifier: MIT
"""Operation models in Python: static functions, models of events, subclasses. Worked examples come from a file outside
the project; without it those tests are skipped."""
import json
import math
import os
import re
import unittest

import common
from TraceLens import PerfModel, _core
from TraceLens.PerfModel import kernel_name_parser, perf_model, torch_op_mapping, utils
from TraceLens.PerfModel.perf_model import (
    CONV,
    GEMM,
    SDPA,
    BinaryElementwise,
    ConvBias_,
    ConvBias_Backward,
    LayerNorm,
    UnaryElementwise,
)


def examples(kind):
    """Worked examples of a kind; skips the test where they are missing."""
    path = os.path.join(common.corpus(), "spec", "03-perf-models-examples.jsonl")
    with open(path, encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if line["kind"] == kind]


def deviations():
    """Where the library differs from the examples on purpose: id -> fields, with ``GIVEN`` ones as a whole."""
    found = {}
    with open(os.path.join(common.ROOT, "src", "perf", "examples_deviations.h"), encoding="utf-8") as file:
        text = file.read()
    for identifier in re.findall(r"GIVEN\((\d+),", text):
        found.setdefault(int(identifier), set()).add("*")
    for identifier, field in re.findall(r"\{(\d+), \"([^\"]+)\"", text):
        found.setdefault(int(identifier), set()).add(field)
    return found


class WithoutEvents(unittest.TestCase):
    def test_static_functions(self):
        assert GEMM.flops_func(3, 4, 5, False) == 120
        assert GEMM.flops_func(3, 4, 5, True) == 132
        assert GEMM.bytes_func(3, 4, 5, False, 2, 1, 2, 4) == 15 * 2 + 20 * 1 + 12 * 4
        assert GEMM.bytes_func(3, 4, 5, False, None, 1, 2, 4) is None
        assert SDPA.flops_func(1, 8, 2, 8, 1, 4, 4, False) == 2 * 2 * 8 * 8 * 8
        assert SDPA.bytes_func(1, 8, 2, 8, 1, 4, 4, False, 2) == (8 * 2 + 8) * 8 * 2
        assert CONV.get_output_shape((8, 64, 56, 56), (128, 64, 3, 3), (2, 2), (1, 1), (1, 1), False, None) == \
            (8, 128, 28, 28)
        assert CONV.get_conv_out_dim(56, 3, 2, 1, 1) == 28
        assert CONV.get_transposed_conv_out_dim(28, 4, 2, 1, 1, 0) == 56
        assert CONV.t((1, 2, 3)) == (2, 1, 3)
        # broadcast in both directions: 8x1x64 with 32x1
        assert BinaryElementwise.get_broadcast_shape((8, 1, 64), (32, 1)) == (8, 32, 64)
        assert BinaryElementwise.bytes_func(512, 32, 16384, 2, 4, 2) == 1024 + 128 + 32768
        assert UnaryElementwise.bytes_func(4096, 2, 4) == 24576
        with self.assertRaises(ValueError):
            BinaryElementwise.get_broadcast_shape((3,), (4,))
        with self.assertRaises((TypeError, ValueError)):
            GEMM.flops_func("a", 4, 5, False)

    def test_static_functions_of_serving(self):
        from TraceLens.PerfModel.extensions import (attention_perf_model_extensions, moe_perf_model_extensions,
                                                    perf_model_extensions, rmsnorm_perf_model_extensions)
        # two tokens of 4 numbers, 3 hidden neurons, both of two experts, gated: two halves and the way back
        moe = moe_perf_model_extensions
        for fused in (moe.FusedMoE, moe.moe_aiter_fused_1stage):
            assert fused.flops_func(2, 4, 3, 2, True) == 2 * 2 * 4 * 3 * 2 * 3 + 2 * 4 * 3
            assert fused.bytes_func(2, 4, 3, 2, 2, True, 2, 1, 4) == 8 * 2 + 2 * 12 * 3 * 1 + 8 * 4
            assert fused.bytes_func(2, 4, 3, 2, 2, True, None, 1, 4) is None
        assert moe.moe_aiter_unfused_up.flops_func(2, 4, 3, 2, True) == 2 * 2 * 4 * 3 * 2 * 2
        assert moe.moe_aiter_unfused_up.bytes_func(2, 4, 3, 2, 2, True, 2, 1, 4) == \
            8 * 2 + 2 * 12 * 2 * 1 + 2 * 2 * 3 * 4
        assert moe.moe_aiter_unfused_down.flops_func(2, 4, 3, 2) == 2 * 2 * 4 * 3 * 2
        assert moe.moe_aiter_unfused_down.bytes_func(2, 4, 3, 2, 2, 2, 1, 4) == 2 * 2 * 3 * 2 + 2 * 12 * 1 + 8 * 4
        # a chunk of 5 tokens that see 8 keys, a request of one token that sees 10
        attention = attention_perf_model_extensions.vllm_unified_attention_with_output
        assert attention.flops_func(2, 4, 3, 40, 25, 10) == 2 * 7 * (2 * 40 - 25 + 2 * 10)
        assert attention.flops_func(2, 4, 3, 0, 0, 10) == 2 * 7 * 2 * 10
        assert attention.flops_func(2, 4, 3, 0, 0, 0) == 0
        assert attention.bytes_func(1, 2, 1, 4, 3, 5, 8, 1, 10, 2, 1) == 6 * 3 * 7 * 2 + (8 - 5 + 10 - 1) * 7
        assert attention.bytes_func(3, 2, 1, 4, 3, 5, 8, 1, 10, 2) == 3 * (6 * 3 * 7 * 2 + (8 - 5 + 10 - 1) * 7 * 2)
        assert attention.bytes_func(1, 2, 1, 4, 3, 0, 0, 0, 0, 2) == 0
        # those of norms and of elementwise operations
        norm = (False, True, True, 64, 8)
        assert rmsnorm_perf_model_extensions.aiter_add_rmsnorm.flops_func(*norm) == \
            perf_model.Normalization.flops_func(*norm)
        assert perf_model_extensions.aiter_silu_and_mul.bytes_func(4096, 2, 4) == 24576
        assert perf_model_extensions.sglang_quant_dynamic_mxfp4_quant.flops_func(100) == 100
        assert perf_model_extensions.per_group_quant.bytes_func(2350, 3047, 425, 1, 0.5, 8) == 2350 + 1523.5 + 3400
        assert perf_model_extensions.per_group_quant.bytes_func(512, 32, 16384, 2, 4, 2) == 1024 + 128 + 32768

    def test_worked_examples_of_functions(self):
        from TraceLens.PerfModel.triton_compiled_perf_model import TritonCompiledPerfModel
        functions = {"parse_kernel_name": None,
                     "sheet_category_from_final_category": torch_op_mapping.sheet_category_from_final_category}
        checked = 0
        for line in examples("api"):
            name = line["api"]
            if name == "parse_kernel_name":
                continue  # the library reads such names inside of its model
            function = functions.get(name) or getattr(utils, name, None)
            if function is None:
                function = perf_model
                for part in name.split("."):
                    function = getattr(function, part)
            if line.get("error"):
                # causal attention over unequal lengths has a right answer here
                assert name == "SDPA.flops_func"
                assert function(*line["args_pos"], **line["args_kw"]) > 0
                continue
            if name == "SDPA.flops_bwd_func" and line["args_pos"][2] % line["args_pos"][4]:
                with self.assertRaisesRegex(ValueError, "multiple"):  # no such attention exists
                    function(*line["args_pos"], **line["args_kw"])
                continue
            result = function(*line["args_pos"], **line["args_kw"])
            if line["id"] in deviations():
                continue
            expected = line["result"]
            if isinstance(result, float) or isinstance(expected, float):
                assert math.isclose(result, expected, rel_tol=1e-12), line
            else:
                assert json.loads(json.dumps(result)) == expected, line
            checked += 1
        assert checked > 100
        assert TritonCompiledPerfModel


def outcome(model, method):
    try:
        return getattr(model, method)()
    except NotImplementedError:
        return "not modelled"
    except (ValueError, TypeError):
        return "failed"


def expected_of(line, method):
    raised = line.get("raises", {}).get(method)
    if raised:
        return "not modelled" if raised in ("NotImplementedError", "absent") else "failed"
    return line[method]


class Events(unittest.TestCase):
    def test_worked_examples_of_operations(self):
        different = deviations()
        problems, checked = [], 0
        for line in examples("op"):
            if line.get("model", "").startswith("jax_") or line.get("note", "").startswith("core class"):
                continue
            fields = different.get(line["id"], set())
            event = {"name": line["op"], "args": line["args"], **(line.get("event") or {})}
            if line.get("kernel_names"):
                event["kernel_names"] = line["kernel_names"]
            cls = torch_op_mapping.op_to_perf_model_class_map.get(line["op"])
            if cls is None or cls.__name__ != line["model"]:
                continue
            if "*" in fields:
                cls(event)  # the reference fails, we do not
                continue
            if line.get("error"):
                kind = NotImplementedError if line["error"] == "NotImplementedError" else ValueError
                if "status" not in fields:
                    with self.assertRaises(kind):
                        cls(event)
                continue
            model = cls(event)
            texts = {name: str(value) for name, value in model.param_details.items()}
            if not fields and texts != line["params_str"]:
                problems.append((line["id"], "params", texts, line["params_str"]))
            for method in ("flops", "bytes", "flops_bwd", "bytes_bwd"):
                if method in fields or not hasattr(model, method):
                    continue
                got, want = outcome(model, method), expected_of(line, method)
                if got != want:
                    problems.append((line["id"], line["op"], method, got, want))
                checked += 1
            if "compute_spec" not in fields:
                unit, precision = model.get_maf_type(), model.get_compute_precision()
                spec = f"{unit}_{precision}" if unit and precision else None
                if spec != (line["compute_spec"] or None):
                    problems.append((line["id"], line["op"], spec, line["compute_spec"]))
        assert not problems, (len(problems), problems[:12])
        assert checked > 1500

    def test_categories_and_sheets(self):
        # the sheet follows the category, which it does not in the tool that the examples come from
        sheets = {"aiter::dynamic_per_tensor_quant": "GroupQuant", "aiter::dynamic_per_token_scaled_quant": "GroupQuant",
                  "aiter::dynamic_per_group_scaled_quant": "GroupQuant",
                  "vllm::triton_per_token_group_quant_fp8": "GroupQuant",
                  "aiter::fused_dynamic_mxfp4_quant_moe_sort_hip": "MoE_aux"}
        checked = set()
        for line in examples("map"):
            operation = line["op"]
            if line["module"] == "jax":
                continue
            checked.add(operation)
            assert _core.model_category(operation) == line["registry_category"], line
            if line["module"] == "category_only":
                continue
            cls = torch_op_mapping.op_to_perf_model_class_map[operation]
            assert torch_op_mapping.get_perf_model_sheet_category(cls) == sheets.get(operation, line["sheet"]), line
            category = "MoE_aux" if sheets.get(operation) == "MoE_aux" else line["category"]
            assert torch_op_mapping.get_perf_model_category(cls) == category, line
            assert torch_op_mapping.get_perf_model_category(cls, bwd=True) == line["bwd_category"], line
            assert line["id"] in deviations() or operation not in sheets, line
        assert set(sheets) < checked and len(checked) > 200, len(checked)
        for line in examples("categorize"):
            row = {"name": line["op"], "kernel_details": [{"name": name} for name in line["kernel_names"] or ()]}
            assert torch_op_mapping.categorize_torch_op(row) == line["result"], line


MM = {"name": "aten::mm", "args": {"Input Dims": [[3, 5], [5, 7]], "Input type": ["c10::BFloat16"] * 2,
                                   "Input Strides": [[5, 1], [7, 1]], "Concrete Inputs": ["", ""]}}


class Subclasses(unittest.TestCase):
    def test_model_of_an_event(self):
        model = perf_model.aten_mm(MM)
        assert (model.M, model.N, model.K, model.bias) == (3, 7, 5, False)
        assert model.flops() == 210 and model.bytes() == 142
        assert (model.get_maf_type(), model.get_compute_precision()) == ("matrix", "bf16")
        assert model.bytes(bpe_mat1=4, bpe_mat2=4, bpe_bias=4, bpe_output=4) == 284
        with self.assertRaises(NotImplementedError):
            model.flops_bwd()

    def test_parameters_of_ones_own(self):
        class Mine(GEMM):
            @staticmethod
            def get_param_details(event):
                return {"M": 3, "N": 7, "K": 5, "bias": True, "dtype_A_B": ("float", "float")}

        model = Mine({"name": "my::op", "args": {}})
        assert model.flops() == 2 * 105 + 21
        assert model.bytes() == (15 + 35 + 21 + 7) * 4
        assert model.get_compute_precision() == "fp32"
        assert model.param_details["B"] == 1
        assert model.flops_bwd() == 4 * 105 + 21

    def test_changed_parameters_count(self):
        class Padded(perf_model.aten_mm):
            @staticmethod
            def get_param_details(event):
                details = perf_model.aten_mm.get_param_details(event)
                details["M"] = 8
                return details

        assert Padded(MM).flops() == 2 * 8 * 7 * 5

        class Later(perf_model.aten_mm):
            def __init__(self, event, *args, **kwargs):
                super().__init__(event, *args, **kwargs)
                self.K *= 2

        assert Later(MM).flops() == 2 * 210

    def test_overridden_functions_count(self):
        class Counted(perf_model.aten_mm):
            @staticmethod
            def flops_func(M, N, K, bias):
                return M + N + K

            def bytes(self):
                return super().bytes() + 1

        model = Counted(MM)
        assert model.flops() == 15 and model.bytes() == 143

    def test_other_families_of_ones_own(self):
        class Attention(SDPA):
            @staticmethod
            def get_param_details(event):
                return {"B": 1, "N_Q": 8, "H_Q": 2, "N_KV": 8, "H_KV": 1, "d_h_qk": 4, "d_h_v": 4, "causal": False,
                        "flash_impl": True, "dtype_A_B": ("c10::Half",)}

        model = Attention({"name": "my::attention"})
        assert model.flops() == SDPA.flops_func(1, 8, 2, 8, 1, 4, 4, False)
        assert model.bytes_bwd() == SDPA.bytes_bwd_func(1, 8, 2, 8, 1, 4, 4, False, 2)
        assert model.get_compute_precision() == "fp16"

        assert model.d_h == 4

        class Norm(LayerNorm):
            @staticmethod
            def get_param_details(event):
                return {"op_shape": (6, 8), "dtype_in_out": ("float", "float"), "num_channels": 8, "has_bias": True,
                        "is_affine": True, "is_training": False}

            def flops(self):
                return 3 * self.num_elems

        assert Norm({"name": "x"}).flops() == 3 * 48
        assert Norm({"name": "x"}).output_mask[0]

        class Copy(UnaryElementwise):
            @staticmethod
            def get_param_details(event):
                return {"op_shape": (2, 3), "dtype_in_out": ("float", None), "stride_input": None, "stride_output": None}

        assert Copy({"name": "x"}).flops() == 6 and Copy({"name": "x"}).bytes() == 48

        class Convolution(CONV):
            @staticmethod
            def get_param_details(event):
                return {"input_shape": (8, 64, 56, 56), "filter_shape": (128, 64, 3, 3), "stride": (2, 2),
                        "padding": (1, 1), "dilation": (1, 1), "transposed_conv": False, "output_padding": (0, 0),
                        "bias": True, "dtype_input_weight": ("c10::Half", "c10::Half")}

        model = Convolution({"name": "x"})
        assert model.out_shape == (8, 128, 28, 28)
        assert model.flops() == 925646848 and model.bytes() == 4964608

    def test_parameters_of_a_forward_convolution(self):
        forward = ConvBias_({"name": "ConvBias_", "args": {
            "Input Dims": [[2, 4, 8, 8], [6, 4, 3, 3], [1, 6, 1, 1], [], []], "Input type": ["c10::Half"] * 3 + ["Scalar"] * 2,
            "Input Strides": [[256, 64, 8, 1], [36, 9, 3, 1], [6, 1, 1, 1], [], []],
            "Concrete Inputs": ["", "", "", "1", "1"], "Sequence number": 41}})
        ConvBias_.fwd_pass_cache[42] = forward.param_details
        try:
            backward = ConvBias_Backward({"name": "ConvBias_Backward", "args": {
                "Input Dims": [[2, 6, 8, 8]], "Input type": ["c10::Half"], "Sequence number": 42}})
        finally:
            del ConvBias_.fwd_pass_cache[42]
        # gradients of input and filter: 2 * 2 * (2*6*8*8 outputs) * (4*3*3), and the bias: one sum an output
        assert backward.flops_bwd() == 2 * 2 * 768 * 36 + 768

    def test_nonsense(self):
        with self.assertRaises(ValueError):
            perf_model.aten_mm({"name": "aten::mm", "args": {}})
        with self.assertRaises(NotImplementedError):
            GEMM({"name": "x"})
        assert utils.name2bpe(None) is None and utils.name2bpe("what") is None

    def test_every_operation_has_a_class(self):
        for name, category, backward, sheet in _core.builtin_models():
            cls = torch_op_mapping.op_to_perf_model_class_map[name]
            assert cls.category == category and cls.bwd_category == backward, name
            assert torch_op_mapping.get_perf_model_sheet_category(cls) == sheet, name
        families = torch_op_mapping.build_sheet_category_to_op_names(torch_op_mapping.op_to_perf_model_class_map)
        assert "aten::mm" in families["GEMM"]
        assert PerfModel.aten_mm is perf_model.aten_mm
        from TraceLens.PerfModel import extensions
        assert extensions.gemm_a16w16.operations() == {"aiter::gemm_a16w16"}
        assert issubclass(extensions.gemm_a16w16, GEMM)
        assert extensions.MoeSortScatterGather.operations() == {"aiter::moe_sorting_fwd", "aiter::mxfp4_moe_sort_hip"}
        assert issubclass(extensions.moe_flydsl_stage2, extensions.UnfusedMoE_Down)
        assert kernel_name_parser.gemm_name_parser("nvjet_tst_192x192_64x4_1x2_h_bz_TNT") == {"transpose": (True, False)}


if __name__ == "__main__":
    unittest.main()
