#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Extension files on the command line, and the ones that ship as examples.

usage: test_extensions.py TRACELENS_BINARY [unittest options]
"""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import traces

BINARY = ""
EXAMPLES = os.path.join(os.environ.get("TL_SOURCE_ROOT", os.path.join(os.path.dirname(__file__), "..", "..")), "examples")


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-ext-")
        self.addCleanup(shutil.rmtree, self.dir)

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def trace(self):
        t = traces.Trace()
        t.op("my::op", "my_kernel", dur=20, dims=((4, 8), (8,)), types=("c10::BFloat16", "float"))
        t.op("aten::mm", "gemm_kernel", dur=10)
        return t.write(os.path.join(self.dir, "step.json"))

    def run_it(self, *args, status=0):
        run = subprocess.run([BINARY, "report", "pytorch", *args], capture_output=True, timeout=60, cwd=self.dir)
        self.out, self.err = run.stdout.decode(), run.stderr.decode()
        self.assertEqual(run.returncode, status, self.err)

    def report(self, trace, *files, extra=()):
        """Runs a report with extension files and returns its sheets as lists of dictionaries."""
        out = os.path.join(self.dir, "out")
        shutil.rmtree(out, ignore_errors=True)
        flags = [a for f in files for a in ("--extension_file", f)]
        self.run_it(trace, "--output_csvs_dir", out, "--no-summary", *flags, *extra)
        sheets = {}
        for name in os.listdir(out):
            with open(os.path.join(out, name), encoding="utf-8", newline="") as f:
                sheets[name[:-4]] = list(csv.DictReader(f))
        return sheets

    def row(self, rows, name):
        found = [r for r in rows if r["name"] == name]
        self.assertEqual(len(found), 1, f"{name}: {[r['name'] for r in rows]}")
        return found[0]


class Options(Case):
    MODEL = """model { name = "my::op", category = "MINE", sheet = "Mine",
  eval = function(op) return { params = { { "n", prod(op.dims[1]) } }, flops = 64e9, bytes = 1 << 20 } end }
"""

    def test_a_model(self):
        sheets = self.report(self.trace(), self.file("ops.lua", self.MODEL))
        row = self.row(sheets["unified_perf_summary"], "my::op")
        self.assertEqual((row["op category"], row["GFLOPS"], row["perf_params"]), ("MINE", "64.0", "{'n': 32}"))
        self.assertEqual(self.row(sheets["Mine"], "my::op")["param: n"], "32")
        self.assertEqual(self.err, "")

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "needs /proc")
    def test_an_interrupt_while_a_file_works_on_the_tree(self):
        slow = self.file("slow.lua", "tree(function(t) local n = 0; for i = 1, 4900000 do n = n + i end end)")
        args = [a for _ in range(20) for a in ("--extension_file", slow)]
        child = subprocess.Popen([BINARY, "report", self.trace(), "--output_csvs_dir", "out", "-q", *args],
                                 stderr=subprocess.PIPE, cwd=self.dir)
        caught = False  # SIGINT has a handler
        while not caught and child.poll() is None:
            with open(f"/proc/{child.pid}/status", encoding="utf-8") as f:
                caught = bool(int(re.search(r"SigCgt:\s*([0-9a-f]+)", f.read()).group(1), 16) & 1 << (signal.SIGINT - 1))
        time.sleep(0.05)  # reading the trace takes less, the files together take more
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate()[1].decode(), "tracelens: interrupted, nothing was written\n")
        self.assertEqual(child.returncode, 130)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "out")))

    def test_several_files(self):
        category = self.file("more.lua", "category { ['my::op'] = 'OTHER' }")
        sheets = self.report(self.trace(), self.file("ops.lua", self.MODEL), category)
        self.assertEqual(self.row(sheets["unified_perf_summary"], "my::op")["op category"], "OTHER")
        # the workbook and the JSON say with which
        self.run_it(self.trace(), "--output_json_path", "out.json", "--extension_file", "ops.lua", "--extension_file",
                    "more.lua")
        with open(os.path.join(self.dir, "out.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["options"], "--extension_file ops.lua --extension_file more.lua")

    def test_python_files_are_told_where_they_work(self):
        self.run_it(self.trace(), "--extension_file", "ops.py", status=2)
        self.assertEqual(self.err, "tracelens: ops.py: Python extension files work with the Python package; this command "
                                   "takes Lua (docs/extending.md)\n")

    def test_errors_have_file_and_line(self):
        for text, message in (("x = = 1", "bad.lua:1: unexpected symbol near '='"),
                              ("\n\nerror('no')", "bad.lua:3: no"),
                              ("tree(function(t)\n  t:event(1):frobnicate()\nend)",
                               "bad.lua:2: an event has no field 'frobnicate'"),
                              ("while true do end", "bad.lua:1: stopped after 10000000 instructions"),
                              ("os.execute('ls')", "bad.lua:1: attempt to index a nil value (global 'os')")):
            self.file("bad.lua", text)
            self.run_it(self.trace(), "--output_csvs_dir", "out", "--extension_file", "bad.lua", status=1)
            self.assertTrue(self.err.startswith("tracelens: " + message), self.err)
            self.assertEqual(self.err.count("\n"), 1)
            self.assertFalse(os.path.exists(os.path.join(self.dir, "out")))
        self.run_it(self.trace(), "--extension_file", "none.lua", status=1)
        self.assertIn("none.lua: cannot open the extension file", self.err)
        self.run_it(self.trace(), "--extension_file", status=2)

    def test_a_model_that_fails_is_a_note(self):
        failing = self.file("ops.lua", "model { name = 'my::op', category = 'M', eval = function(op)\n"
                                       "  return op.dims[7][1]\nend }\nprint('hello')")
        sheets = self.report(self.trace(), failing)
        self.assertEqual(self.row(sheets["unified_perf_summary"], "my::op")["GFLOPS"], "")
        lines = self.err.splitlines()
        self.assertEqual(lines[0], "tracelens: hello")
        self.assertRegex(lines[1], r"\Atracelens: the model of 'my::op' failed on 1 distinct input, .*ops\.lua:2: ")
        self.assertEqual(len(lines), 2)
        self.report(self.trace(), failing, extra=["--quiet"])
        self.assertEqual(self.err, "")

    def test_help_names_the_option(self):
        self.run_it("--help")
        self.assertIn("--extension_file FILE", self.out)


class Guide(Case):
    """docs/extending.md: what it shows works."""

    def test_lua(self):
        with open(os.path.join(EXAMPLES, "..", "docs", "extending.md"), encoding="utf-8") as f:
            blocks = re.findall(r"(?s)```lua\n(.*?)```", f.read())
        self.assertGreaterEqual(len(blocks), 3)
        files = [self.file(f"{i}.lua", text) for i, text in enumerate(blocks)]
        t = traces.Trace()
        t.op("myops::scaled_add", "k", dims=((10, 10), (10, 10), ()), types=("half", "half", "Scalar"))
        t.op("my::fused", "gemm", dims=((), (4, 8), (8, 2)), types=("", "half", "half"))
        sheets = self.report(t.write(os.path.join(self.dir, "t.json")), *files)
        self.assertEqual(self.row(sheets["BinaryElementwise"], "myops::scaled_add")["GFLOPS_first"], "2e-07")
        self.assertEqual(self.row(sheets["GEMM"], "my::fused_mm")["param: K"], "8")
        self.assertEqual(self.err, "")


class CustomOp(Case):
    """examples/custom_op.lua"""

    def test_on_the_bundled_trace(self):
        sheets = self.report(traces.EXAMPLE, os.path.join(EXAMPLES, "custom_op.lua"))
        # 4 * 3 * 256 * 256 elements from four bytes to two
        row = self.row(sheets["Copies"], "aten::copy_")
        self.assertEqual((row["param: elements"], row["param: from"], row["Data Moved (MB)_first"]),
                         ("786432", "float", "4.5"))
        self.assertIn("optimizer", [r["op category"] for r in sheets["ops_summary_by_category"]])
        self.assertEqual(self.err, "")

    def test_a_custom_operation(self):
        t = traces.Trace()
        t.op("myops::scaled_add", "k", dur=4, dims=((100, 10), (100, 10), ()),
             types=("c10::Half", "c10::Half", "Scalar"))
        sheets = self.report(t.write(os.path.join(self.dir, "t.json")), os.path.join(EXAMPLES, "custom_op.lua"))
        row = self.row(sheets["BinaryElementwise"], "myops::scaled_add")
        self.assertEqual(row["param: shape"], "(100, 10)")
        self.assertAlmostEqual(float(row["GFLOPS_first"]), 2000 / 1e9)
        self.assertAlmostEqual(float(row["Data Moved (MB)_first"]), 6000 / 2**20)
        self.assertEqual(row["Compute Spec"], "vector_fp16")


class Fused(traces.Trace):
    """Modules of Transformer Engine: operations that launch several kernels, forward and backward."""

    FORWARD, BACKWARD = 1, 2

    def module(self, name, kernels, thread=1, sequence=None, inside=None, **args):
        """An operation with kernels (name, dur); `inside` is called between its start and its end."""
        start = self.now
        event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": start, "args": dict(args)}
        if sequence is not None:
            event["args"]["Sequence number"] = sequence
        self.events.append(event)
        self.now += 5
        for kernel, dur in kernels:
            self.correlation += 1
            ids = {"correlation": self.correlation}
            self.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": thread,
                                "ts": self.now, "dur": 2, "args": ids})
            self.events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": self.now + 2000,
                                "dur": dur, "args": {"stream": 7, **ids}})
            self.now += 5
        if inside:
            inside()
        self.now += 5
        event["dur"] = self.now - start
        self.now += 5

    def autograd(self, name, kernels, sequence, forward_thread=1, **args):
        """The node that autograd runs, and the operation in it."""
        node = {"Fwd thread id": forward_thread, **args}
        self.module("autograd::engine::evaluate_function: " + name, [], 2, sequence,
                    lambda: self.module(name, kernels, 2, sequence, **node), **node)


LINEAR = {"Input Dims": [[256, 128], [4, 8, 128], [], [], []],
          "Input type": ["c10::BFloat16", "c10::BFloat16", "", "", "Scalar"],
          "Input Strides": [[128, 1], [1024, 128, 1], [], [], []], "Concrete Inputs": ["", "", "", "", "True"]}
NORM_LINEAR = {"Input Dims": [[32, 128], [128], [128], [256, 128], [], [], [], []],
               "Input type": ["c10::BFloat16"] * 4 + [""] * 3 + ["Scalar"],
               "Input Strides": [[128, 1], [1], [1], [128, 1], [], [], [], []],
               "Concrete Inputs": [""] * 7 + ["False"]}


class Identity(Case):
    """A model that returns what the built-in one says changes nothing in a report."""

    def names(self):
        source = os.path.join(os.path.dirname(EXAMPLES), "src", "perf", "models.def")
        with open(source, encoding="utf-8") as f:
            return sorted(set(re.findall(r'^MODEL\("([^"]+)"', f.read(), re.M)))

    def check(self, trace):
        names = self.names()
        self.assertGreater(len(names), 200)
        text = "".join(f"model {{ name = {json.dumps(n)}, eval = function(op) return builtin({json.dumps(n)}, op) end }}\n"
                       for n in names)
        plain = self.report(trace)
        self.assertEqual(self.report(trace, self.file("same.lua", text)), plain, trace)
        self.assertNotIn("failed", self.err)

    def test_bundled_trace(self):
        folder = os.path.join(EXAMPLES, "traces")
        for name in os.listdir(folder):
            self.check(os.path.join(folder, name))

    def test_real_traces(self):
        shared = os.environ.get("TRACELENS_CORPUS", os.path.join(os.path.dirname(EXAMPLES), "..", "shared"))
        files = [os.path.join(shared, "corpus", f) for f in (
            "pytorch/normalization_layers.json.gz", "pytorch/mi300_resnet_checkpointing.json.gz",
            "pytorch/mi300_bert_small.json.gz", "pytorch/torch_compile_triton.json.gz",
            "inference/vllm_prefilldecode_piecewise/graph_execution.json.gz")]
        files = [f for f in files if os.path.exists(f)]
        if not files:
            self.skipTest("skipped: no corpus")
        for f in files:
            self.check(f)


class Megatron(Case):
    """examples/megatron.lua"""

    FILE = os.path.join(EXAMPLES, "megatron.lua")

    def fused(self, t):
        return self.report(t.write(os.path.join(self.dir, "t.json")), self.FILE)

    def check_gemm(self, sheets, name, m, n, k, size, us, spec):
        row = self.row(sheets["GEMM"], name)
        self.assertEqual(tuple(row[f"param: {p}"] for p in "MNK"), (str(m), str(n), str(k)), name)
        self.assertAlmostEqual(float(row["GFLOPS_first"]), 2 * m * n * k / 1e9)
        self.assertAlmostEqual(float(row["Data Moved (MB)_first"]), ((m * k + k * n) * size + m * n * 2) / 2**20)
        self.assertEqual(float(row["Kernel Time (µs)_sum"]), us)
        self.assertEqual(row["Compute Spec"], spec)

    def linear(self):
        t = Fused()
        t.module("_Linear", [("cast_kernel", 3), ("nvjet_hsh_128x128", 40)], sequence=5, **LINEAR)
        # the gradient of the input is launched first, whatever the kernels are called
        t.autograd("_LinearBackward", [("Cijk_Ailk_Bjlk_BBS", 50), ("cast_kernel", 3), ("RR_GEMM_2", 60)], 5)
        return t

    def test_linear(self):
        sheets = self.fused(self.linear())
        self.check_gemm(sheets, "_Linear_yfwd_mm", 32, 256, 128, 1, 40, "matrix_fp8")
        self.check_gemm(sheets, "_LinearBackward_xgrad_mm", 32, 128, 256, 1, 50, "matrix_fp8")
        self.check_gemm(sheets, "_LinearBackward_wgrad_mm", 256, 128, 32, 1, 60, "matrix_fp8")
        # the other kernels stay where they were, and nothing is counted twice
        times = {r["name"]: float(r["total_direct_kernel_time_sum"]) for r in sheets["ops_summary"]}
        self.assertEqual(times, {"_Linear": 3, "_LinearBackward": 3, "_Linear_yfwd_mm": 40,
                                 "_LinearBackward_xgrad_mm": 50, "_LinearBackward_wgrad_mm": 60})
        row = self.row(sheets["ops_unique_args"], "_Linear_yfwd_mm")
        self.assertEqual((row["Input Dims"], row["Input type"]), ("((32, 128), (128, 256))", "('fp8', 'fp8')"))
        self.assertEqual(self.err, "")

    def test_norm_linear(self):
        t = Fused()
        t.module("_LayerNormLinear", [("ln_kernel", 4), ("nvjet_tst", 30)], sequence=9, **NORM_LINEAR)
        t.autograd("_LayerNormLinearBackward", [("nvjet_x", 31), ("nvjet_w", 32), ("ln_bwd", 6)], 9,
                   **{"Input Dims": [[32, 256]], "Input type": ["c10::BFloat16"]})
        sheets = self.fused(t)
        self.check_gemm(sheets, "_LayerNormLinear_yfwd_mm", 32, 256, 128, 2, 30, "matrix_bf16")
        self.check_gemm(sheets, "_LayerNormLinearBackward_xgrad_mm", 32, 128, 256, 2, 31, "matrix_bf16")
        self.check_gemm(sheets, "_LayerNormLinearBackward_wgrad_mm", 256, 128, 32, 2, 32, "matrix_bf16")
        # the norm as a whole: in training each channel has weight, bias and four more values
        elements, channels, size = 32 * 128, 128, 2
        forward = self.row(sheets["Normalization"], "_LayerNormLinear")
        self.assertEqual(float(forward["Data Moved (MB)_first"]) * 2**20, (2 * elements + 6 * channels) * size)
        backward = self.row(sheets["Normalization"], "_LayerNormLinearBackward")
        self.assertAlmostEqual(float(backward["GFLOPS_first"]) * 1e9, 9 * elements)
        self.assertEqual(float(backward["Data Moved (MB)_first"]) * 2**20, (3 * elements + 4 * channels) * size)
        self.assertEqual(self.err, "")

    def test_norms_without_a_bias(self):
        """The backward counts the gradient of a bias when the forward has one, which only the forward tells."""
        for bias, values in (([128], 4), ([], 3)):
            t = Fused()
            dims = [[32, 128], [128], bias, [256, 128], [], [], [], []]
            t.module("_LayerNormLinear", [("ln", 4), ("nvjet_a", 30)], sequence=9, **dict(NORM_LINEAR, **{"Input Dims": dims}))
            t.autograd("_LayerNormLinearBackward", [("nvjet_x", 31), ("nvjet_w", 32), ("ln_bwd", 6)], 9,
                       **{"Input Dims": [[32, 256]], "Input type": ["c10::BFloat16"]})
            t.module("LayerNormFn", [("ln", 5)], sequence=10, **{"Input Dims": [[32, 128], [128], bias], "Input type":
                     ["c10::BFloat16"] * 3, "Concrete Inputs": [""] * 3})
            t.autograd("LayerNormFnBackward", [("lnb", 7)], 10, **{"Input Dims": [[32, 128], [128]],
                       "Input type": ["c10::BFloat16"] * 2, "Concrete Inputs": [""] * 2})
            norms = self.fused(t)["Normalization"]
            for name in ("_LayerNormLinearBackward", "LayerNormFnBackward"):
                row = self.row(norms, name)
                self.assertEqual(row["param: has_bias"], str(bool(bias)), name)
                self.assertEqual(float(row["Data Moved (MB)_first"]) * 2**20, (3 * 32 * 128 + values * 128) * 2, name)

    def test_checkpoint(self):
        """Two modules run once more inside CheckpointFunctionBackward, then backward in the opposite order."""
        t = Fused()
        wide = dict(LINEAR, **{"Input Dims": [[512, 256], [4, 8, 256], [], [], []], "Concrete Inputs": [""] * 5})

        def inside():
            t.module("_Linear", [("nvjet_a", 10)], 2, **dict(LINEAR, **{"Concrete Inputs": [""] * 5}))
            t.module("_Linear", [("nvjet_b", 20)], 2, **wide)
            t.module("_LinearBackward", [("nvjet_bx", 21), ("nvjet_bw", 22)], 2)
            t.module("_LinearBackward", [("nvjet_ax", 11), ("nvjet_aw", 12)], 2)

        t.module("CheckpointFunctionBackward", [], 2, inside=inside)
        sheets = self.fused(t)
        found = {(r["name"], r["param: M"], r["param: N"], r["param: K"]): float(r["Kernel Time (µs)_sum"])
                 for r in sheets["GEMM"]}
        self.assertEqual(found, {("_Linear_yfwd_mm", "32", "256", "128"): 10,
                                 ("_LinearBackward_xgrad_mm", "32", "128", "256"): 11,
                                 ("_LinearBackward_wgrad_mm", "256", "128", "32"): 12,
                                 ("_Linear_yfwd_mm", "32", "512", "256"): 20,
                                 ("_LinearBackward_xgrad_mm", "32", "256", "512"): 21,
                                 ("_LinearBackward_wgrad_mm", "512", "256", "32"): 22})

    def test_checkpoint_that_does_not_add_up(self):
        t = Fused()
        t.module("CheckpointFunctionBackward", [], 2, inside=lambda: t.module("_Linear", [("nvjet_a", 10)], 2, **LINEAR))
        sheets = self.fused(t)
        self.assertNotIn("GEMM", sheets)
        self.assertRegex(self.err, r"event \d+ 'CheckpointFunctionBackward' has 1 _Linear and 0 _LinearBackward")

    def test_nothing_is_invented(self):
        """No GEMM where kernels, shapes or types do not fit, nor beside GEMMs that are operations."""
        def changed(**args):
            t = Fused()
            t.module("_Linear", [("nvjet_a", 10)], sequence=5, **dict(LINEAR, **args))
            t.autograd("_LinearBackward", [("nvjet_x", 11), ("nvjet_w", 12)], 5)
            return t

        self.assertEqual(len(self.fused(changed())["GEMM"]), 3)
        self.assertNotIn("GEMM", self.fused(changed(**{"Input Dims": [[256, 64], [4, 8, 128], [], [], []]})))
        self.assertNotIn("GEMM", self.fused(changed(**{"Input type": ["c10::Half", "float", "", "", ""]})))
        self.assertNotIn("GEMM", self.fused(changed(**{"Input Dims": []})))
        t = Fused()
        t.module("_Linear", [("nvjet_a", 10), ("nvjet_b", 10)], sequence=5, **LINEAR)
        t.autograd("_LinearBackward", [("nvjet_x", 11), ("nvjet_w", 12)], 5)
        self.assertNotIn("GEMM", self.fused(t))
        t = changed()
        t.module("tex_ts::te_gemm_ts", [("other", 5)])
        self.assertNotIn("_Linear_yfwd_mm", {r["name"] for r in self.fused(t).get("GEMM", [])})

    def test_other_models(self):
        t = Fused()
        qkv = [[128, 2, 16, 64]] * 3
        t.module("FusedAttnFunc", [("attn", 40)], **{"Input Dims": [[]] * 9 + qkv, "Input type": [""] * 9 +
                 ["c10::BFloat16"] * 3, "Concrete Inputs": [""] * 12})
        t.module("GroupedGemm", [("grouped", 20)], **{"Input Dims": [[64, 32], [4, 48, 32], [], []], "Input type":
                 ["c10::BFloat16", "c10::BFloat16", "", ""], "Concrete Inputs": ["", "", "", "True"]})
        t.module("LayerNormFn", [("ln", 5)], **{"Input Dims": [[32, 128], [128], []], "Input type":
                 ["c10::BFloat16"] * 3, "Concrete Inputs": [""] * 3})
        t.module("FusedAttnFuncBackward", [("attn_bwd", 60)])
        sheets = self.fused(t)
        row = self.row(sheets["SDPA_fwd"], "FusedAttnFunc")
        self.assertEqual([row[f"param: {p}"] for p in ("B", "N_Q", "H_Q", "N_KV", "H_KV", "d_h_qk", "causal")],
                         ["2", "128", "16", "128", "16", "64", "True"])
        row = self.row(sheets["GroupedGEMM_fwd"], "GroupedGemm")
        self.assertEqual([row[f"param: {p}"] for p in "MKNG"], ["64", "32", "48", "4"])
        self.assertAlmostEqual(float(row["GFLOPS_first"]), 2 * 64 * 32 * 48 / 1e9)
        self.assertAlmostEqual(float(row["Data Moved (MB)_first"]), ((64 * 32 + 4 * 32 * 48) * 2 + 64 * 48 * 2) / 2**20)
        self.assertEqual(self.row(sheets["Normalization"], "LayerNormFn")["param: has_bias"], "False")
        self.assertEqual(self.row(sheets["unified_perf_summary"], "FusedAttnFuncBackward")["op category"], "SDPA_bwd")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
