# SPDX-License-Identifier: MIT
"""Reports: all tables of a trace at once, as DataFrames and files."""
from .compare_perf_reports_pytorch import generate_compare_perf_reports_pytorch  # noqa: F401
from .generate_perf_report_pytorch import (  # noqa: F401
    add_truncated_kernel_details,
    apply_extension,
    generate_perf_report_pytorch,
    get_dfs_short_kernels,
    trunc_kernel_details,
)
from .reporting_utils import (  # noqa: F401
    add_gpu_arch_cli_args,
    add_node_span_columns,
    detect_gpus_per_node,
    export_data_df,
    request_install,
    resolve_gpu_arch,
)
