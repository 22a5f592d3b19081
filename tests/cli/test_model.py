#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracelens model: what people type, what it prints, what it says when something is wrong.

usage: test_model.py TRACELENS_BINARY [unittest options]
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BINARY = ""


class Model(unittest.TestCase):
    def run_it(self, *args, status=0):
        clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "TERM")}
        run = subprocess.run([BINARY, *args], capture_output=True, timeout=60, env=clean, check=False)
        self.out, self.err = run.stdout.decode(), run.stderr.decode()
        self.assertEqual(run.returncode, status, f"{args}: {self.out}{self.err}")
        return self.out

    def line(self, name):
        """What is printed behind a name."""
        for line in self.out.splitlines():
            if line.strip().startswith(name + " "):
                return line.strip()[len(name):].strip()
        self.fail(f"no line '{name}' in {self.out}")

    def refused(self, *args):
        """A command line that is wrong: one line of ours on standard error, nothing on standard output."""
        self.run_it("model", *args, status=2)
        self.assertRegex(self.err, r"\Atracelens: [^\n]+\n\Z")
        self.assertEqual(self.out, "")
        return self.err

    GEMM = ("gemm", "--M", "4096", "--N", "4096", "--K", "8192")

    def test_the_example_of_the_manual(self):
        self.run_it("model", *self.GEMM, "--dtype", "bf16", "--arch", "MI300X")
        self.assertEqual(self.line("FLOPs"), "274,877,906,944")
        self.assertEqual(self.line("bytes"), "167,772,160")
        self.assertEqual(self.line("intensity"), "1638.4 FLOP/byte")
        self.assertEqual(self.line("compute spec"), "matrix_bf16")
        self.assertIn("on MI300X, matrix_bf16 at 708 TFLOPS (achievable)", self.out)
        self.assertEqual(self.line("knee"), "133.585 FLOP/byte")
        self.assertEqual(self.line("compute time"), "388.246 \u00b5s")
        self.assertEqual(self.line("memory time"), "31.6551 \u00b5s")
        self.assertEqual(self.line("roofline time"), "388.246 \u00b5s")
        self.assertEqual(self.line("bound"), "compute")

    def test_the_list_for_programs(self):
        listed = json.loads(self.run_it("model", "--list", "--format", "json"))
        families = {f["name"]: f for f in listed["families"]}
        self.assertEqual([p["name"] for p in families["gemm"]["parameters"][:4]], ["M", "N", "K", "B"])
        self.assertTrue(families["gemm"]["parameters"][0]["needed"])
        self.assertEqual(families["gemm"]["parameters"][3]["default"], "1")
        self.assertTrue(families["sdpa"]["backward"])
        self.assertIn("bf16", listed["dtypes"])
        self.assertEqual({p["name"]: p["mem_bw_gbps"] for p in listed["platforms"]}["MI300X"], 5300)
        self.assertEqual(self.run_it("model", "--list", "--format", "text"), self.run_it("model", "--list"))
        self.refused("--list", "--format", "xml")
        self.refused("--list", "gemm")

    def test_without_a_platform(self):
        self.run_it("model", *self.GEMM)
        self.assertEqual(self.line("FLOPs"), "274,877,906,944")
        self.assertNotIn("bound", self.out)

    def test_platforms(self):
        self.run_it("model", *self.GEMM, "--arch", "h100-sxm,b200")
        self.assertIn("on H100_SXM, matrix_bf16 at 989.4 TFLOPS (peak)", self.out)
        self.assertIn("on B200, matrix_bf16 at 2250 TFLOPS (peak)", self.out)
        self.run_it("model", *self.GEMM, "--dtype", "fp4", "--arch", "A100")
        self.assertIn("on A100, which has no rate for matrix_fp4", self.out)
        self.assertEqual(self.line("bound"), "not known")

    def test_platform_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.json")
            with open(path, "w", encoding="utf-8") as f:
                f.write('{"mem_bw_gbps": 1000, "peak_tflops": {"matrix_bf16": 100}}')
            self.run_it("model", *self.GEMM, "--arch_json", path)
            self.assertIn("on mine, matrix_bf16 at 100 TFLOPS (peak)", self.out)
            self.assertIn("none.json", self.refused(*self.GEMM, "--arch_json", os.path.join(folder, "none.json")))

    def test_backward_and_flags(self):
        self.run_it("model", "sdpa", "--N_Q", "4096", "--H_Q=64", "--H_KV=8", "--d_h_qk=128", "--causal", "--backward",
                    "--no-flash")
        self.assertEqual(self.line("FLOPs"), "549,759,483,904")
        self.run_it("model", "sdpa", "--N_Q", "4096", "--H_Q=64", "--H_KV=8", "--d_h_qk=128", "--causal", "--backward")
        self.assertEqual(self.line("FLOPs"), "687,198,437,376")

    def test_ranges_make_a_table(self):
        self.run_it("model", "gemm", "--M", "1024:65536:*2", "--N", "4096", "--K", "8192", "--arch", "MI300X")
        rows = [line.split() for line in self.out.splitlines() if line.strip().split(" ")[0].isdigit()]
        self.assertEqual([row[0] for row in rows], [str(1024 << i) for i in range(7)])
        self.assertEqual(rows[2][1:3], ["274877906944", "167772160"])
        self.assertEqual(self.line("bound"), "COMPUTE_BOUND")  # the same in all rows, so it stands above

    def test_csv(self):
        self.run_it("model", "gemm", "--M", "1,2", "--N", "4", "--K", "3:5:+2", "--dtype", "fp32", "--arch", "MI300X",
                    "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(self.out)))
        self.assertEqual([(r["M"], r["K"], r["FLOPs"]) for r in rows],
                         [("1", "3", "24"), ("1", "5", "40"), ("2", "3", "48"), ("2", "5", "80")])
        self.assertEqual(rows[0]["Rate Kind"], "achievable")
        self.assertAlmostEqual(float(rows[3]["Memory Time (\u00b5s)"]), 4 * (2 * 5 + 5 * 4 + 2 * 4) / 5300e9 * 1e6)
        self.run_it("model", "rope", "--shape", "4,5", "--format", "csv")
        self.assertEqual(next(csv.DictReader(io.StringIO(self.out)))["shape"], "4,5")

    def test_json(self):
        table = json.loads(self.run_it("model", "conv", "--input", "1:4:*2x3x8x8", "--filter", "4x3x3x3", "--bias",
                                       "--format", "json"))
        names = [c["name"] for c in table["columns"]]
        self.assertEqual(names, ["input", "filter", "bias", "FLOPs", "Bytes", "FLOPS/Byte", "Compute Spec"])
        self.assertEqual([r[0] for r in table["rows"]], ["1x3x8x8", "2x3x8x8", "4x3x8x8"])
        self.assertEqual(table["rows"][0][3], 4 * 36 * 2 * 27 + 4 * 36)

    def test_lists_and_help(self):
        families = self.run_it("model", "--help")
        listed = self.run_it("model", "--list")
        for family in ("gemm", "grouped_gemm", "sdpa", "conv", "unary", "binary", "reduce", "normalization", "rmsnorm",
                       "softmax", "rope", "cross_entropy", "causal_conv1d", "mamba", "moe_comm", "moe_fused"):
            self.assertIn(f"\n  {family} ", families)
            self.assertIn(f"{family}: ", listed)
            self.assertIn("FLOPs", self.run_it("model", family, "--help"))
        self.assertIn("\n  MI250X ", listed)
        self.assertEqual(families, self.run_it("help", "model"))
        self.assertIn("model", self.run_it("help"))

    def test_the_documentation_has_every_family_and_formula(self):
        root = os.environ.get("TL_SOURCE_ROOT") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        with open(os.path.join(root, "docs", "estimates.md"), encoding="utf-8") as f:
            page = f.read()
        for line in self.run_it("model", "--list").splitlines():
            family = re.match(r"(\w+): ", line)
            if family and family[1] not in ("dtypes", "platforms", "formulas"):
                section = page.split(f"### {family[1]}\n")[1].split("\n### ")[0]
            formula = re.match(r"  (FLOPs backward|bytes backward|FLOPs|bytes) +(.+)", line)
            if formula:
                self.assertIn(f"- {formula[1]}: `{formula[2]}`\n", section + "\n")
            parameter = re.match(r"  (\w+) +(\S+) +", line)
            if parameter and not formula and "platforms (--arch)" not in self.out.split(line)[0]:
                self.assertIn(f"| `{parameter[1]}` | ", section)

    def test_wrong_command_lines(self):
        self.assertIn("did you mean 'gemm'?", self.refused("gem"))
        self.assertIn("unknown model family 'xyzzy'", self.refused("xyzzy"))
        self.assertIn("which family?", self.refused())
        self.assertIn("the family comes first", self.refused("--M", "3"))
        self.assertIn("gemm needs K", self.refused("gemm", "--M", "3", "--N", "3"))
        self.assertIn("did you mean --K?", self.refused("gemm", "--KK", "3"))
        self.assertIn("unknown dtype 'bf17'", self.refused(*self.GEMM, "--dtype", "bf17"))
        self.assertIn("unknown GPU platform 'MI9000'", self.refused(*self.GEMM, "--arch", "MI9000"))
        self.assertIn("more than 100000 rows", self.refused("gemm", "--M", "1:1000", "--N", "1:1000", "--K", "1"))
        self.assertIn("'4:x'", self.refused("gemm", "--M", "4:x", "--N", "1", "--K", "1"))
        self.assertIn("one word too many", self.refused(*self.GEMM, "bf16"))
        self.assertIn("not one of text, json, csv", self.refused(*self.GEMM, "--format", "xml"))

    def test_a_full_disk_is_noticed(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([BINARY, "model", *self.GEMM], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"tracelens: ", run.stderr)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
