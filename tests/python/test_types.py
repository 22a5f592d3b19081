# SPDX-License-Identifier: MIT
"""Type checkers follow programs that use the package."""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

import common

PROGRAM = """
from TraceLens import GPUEventAnalyser, TreePerfAnalyzer
from TraceLens.PerfModel.perf_model import GEMM, UnaryElementwise, aten_mm

tree = TreePerfAnalyzer.from_file("trace.json", add_python_func=True).tree
event = tree.events[0]
first: int = tree.events.index(event)
everything: list = tree.events + [event]
changed: dict = event | {"name": "x"}
GEMM.flops_func(1, 2, 3, False)
aten_mm(event).param_details


class Gelu(UnaryElementwise):
    @staticmethod
    def get_param_details(event) -> dict:
        return {"op_shape": (1,)}


class Mine(GPUEventAnalyser):
    def get_gpu_event_lists(self, gpu_pid=None, event_filter=None):
        return {}


GPUEventAnalyser(tree.events).get_breakdown_df(15.5)
"""


class Types(unittest.TestCase):
    def test_programs(self):
        if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True, check=False).returncode:
            self.skipTest("skipped: no mypy")
        with tempfile.TemporaryDirectory() as folder:
            own = os.path.join(folder, "own.py")
            with open(own, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            for path in [own, *sorted(glob.glob(os.path.join(common.ROOT, "examples", "*.py")))]:
                ran = subprocess.run(
                    [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir",
                     os.path.join(folder, "cache"), path],
                    env={**os.environ, "MYPYPATH": os.path.join(common.ROOT, "python")}, capture_output=True, text=True,
                    check=False)
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


if __name__ == "__main__":
    unittest.main()
