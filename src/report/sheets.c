/* SPDX-License-Identifier: MIT */
/* What each sheet shows, for the first sheet of a workbook and for people who list the sheets. */
#include <string.h>

#include "report/report.h"

static const struct {
	const char *sheet, *text;
} descriptions[] = {
	{"gpu_timeline", "Where GPU time goes: computation, exposed communication and copies, idle; % of the time from "
			 "the first GPU event to the last"},
	{"ops_summary_by_category", "Kernel time by category of the operation that launched the kernels"},
	{"ops_summary", "Kernel time by name of the operation that launched the kernels"},
	{"ops_unique_args", "Kernel time by operation and distinct arguments (shapes, types, strides, values)"},
	{"unified_perf_summary", "Every operation once, at the highest level that has a performance model: time, "
				 "FLOPs, bytes and rates by distinct arguments"},
	{"diff_stats", "Every GPU event of this trace (trace1) and of the one compared with (trace2), by the lowest "
		       "operation that both have"},
	{"GEMM", "Matrix multiplications by shape: FLOPs, bytes, TFLOPS/s, TB/s"},
	{"UnaryElementwise", "Elementwise operations of one operand by shape: bytes and TB/s"},
	{"BinaryElementwise", "Elementwise operations of two operands by shape: bytes and TB/s"},
	{"Normalization", "Normalizations by shape, forward and backward operations: bytes and TB/s"},
	{"SDPA_fwd", "Attention, forward pass, by shape: FLOPs, bytes and rates"},
	{"SDPA_bwd", "Attention, backward pass, by shape: FLOPs, bytes and rates"},
	{"CONV_fwd", "Convolutions, forward pass, by shape: FLOPs, bytes and rates"},
	{"CONV_bwd", "Convolutions, backward pass, by shape: FLOPs, bytes and rates"},
	{"kernel_summary", "Every GPU kernel by name, stream and the operation above it"},
	{"short_kernel_histogram", "How the durations of short kernels are distributed"},
	{"short_kernels_summary", "Short kernels by operation, arguments and kernel name"},
	{"coll_analysis", "Collective communication by group, type and message size"},
	{"roofline_rates",
	 "The rate of the GPU that the rooflines count with, for each compute spec, and where it comes from"},
	{"trace_health", "What was repaired in the trace or is doubtful about it"},
	{"comparison_health", "What was repaired in the trace compared with (trace2) or is doubtful about it"},
};

const char *tl_report_describe(const char *sheet)
{
	if (!sheet)
		return "";
	for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
		if (!strcmp(descriptions[i].sheet, sheet))
			return descriptions[i].text;
	static const char overlap[] = "_kl_overlap";
	size_t n = strlen(sheet), suffix = sizeof overlap - 1;
	if (n > suffix && !strcmp(sheet + n - suffix, overlap))
		return "The rows of the sheet of this name without _kl_overlap, told apart by the kernels that ran "
		       "meanwhile";
	/* families are many and grow: their sheets are told by their ending */
	if (n > 4 && !strcmp(sheet + n - 4, "_fwd"))
		return "Operations of this family, forward pass, by shape: FLOPs, bytes and rates";
	if (n > 4 && !strcmp(sheet + n - 4, "_bwd"))
		return "Operations of this family, backward pass, by shape: FLOPs, bytes and rates";
	return "";
}
