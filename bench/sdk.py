# SPDX-License-Identifier: MIT
"""What most scripts begin with: opens a trace, makes the GPU timeline and the table of launchers. Prints the seconds and the
memory that these took, imports not counted. Runs with this package and with the Python tool alike.

usage: sdk.py TRACE
"""
import sys
import time

import pandas  # noqa: F401, imported here so that it does not count

from TraceLens import TreePerfAnalyzer


def memory(what):
    """VmRSS (resident now) or VmHWM (most so far) of this process, in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(what))


def main():
    before, start = memory("VmRSS"), time.perf_counter()
    analyzer = TreePerfAnalyzer.from_file(sys.argv[1])
    timeline = analyzer.get_df_gpu_timeline()
    launchers = analyzer.get_df_kernel_launchers()
    took = time.perf_counter() - start
    print("seconds", took, "memory", memory("VmHWM") - before, "rows", len(timeline), len(launchers))


if __name__ == "__main__":
    main()
