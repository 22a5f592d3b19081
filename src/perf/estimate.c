/* SPDX-License-Identifier: MIT */
/* Models without a trace: from named parameters to cost and roofline. */
#include "perf/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perf/formulas.h"
#include "util/error.h"

static const tl_estimate_entry *const lists[] = {tl__estimate_matrix, tl__estimate_vector};
enum { N_LISTS = sizeof lists / sizeof *lists };

static const tl_estimate_entry *find_entry(const char *name)
{
	for (size_t k = 0; name && k < N_LISTS; k++)
		for (const tl_estimate_entry *e = lists[k]; e->family.name; e++)
			if (!strcmp(e->family.name, name))
				return e;
	return NULL;
}

const tl_estimate_family *tl_estimate_family_find(const char *name)
{
	const tl_estimate_entry *e = find_entry(name);
	return e ? &e->family : NULL;
}

const tl_estimate_family *tl_estimate_family_at(size_t index)
{
	for (size_t k = 0; k < N_LISTS; k++)
		for (const tl_estimate_entry *e = lists[k]; e->family.name; e++)
			if (index-- == 0)
				return &e->family;
	return NULL;
}

/* Names of a family's parameters as one line. */
static void list_params(char *out, size_t size, const tl_estimate_family *family)
{
	*out = '\0';
	for (size_t i = 0; i < family->n_params; i++) {
		size_t used = strlen(out);
		snprintf(out + used, size - used, "%s%s", i ? ", " : "", family->params[i].name);
	}
	size_t used = strlen(out);
	snprintf(out + used, size - used, "%s", family->flops_bwd ? ", backward" : "");
}

static int read_given(tl_estimate_in *a, const tl_estimate_param *params, size_t n, tl_error *err)
{
	for (size_t i = 0; i < n; i++) {
		const tl_estimate_param *p = &params[i];
		if (!p->name)
			return tl__fail(err, TL_EINVAL, "parameter %zu has no name", i + 1);
		ptrdiff_t index = tl__estimate_find(a->family, p->name);
		if (index >= 0) {
			TL_TRY(tl__estimate_read(&a->value[index], &a->family->params[index], p, err));
		} else if (tl__estimate_is_backward(a->family, p->name)) {
			TL_TRY(tl__estimate_read_flag(&a->backward, p, err));
		} else {
			char list[300];
			list_params(list, sizeof list, a->family);
			return tl__fail(err, TL_ENOTFOUND, "%s has no parameter '%s'; there are %s", a->family->name,
					p->name, list);
		}
	}
	return 0;
}

static int read_fallbacks(tl_estimate_in *a, tl_error *err)
{
	for (size_t i = 0; i < a->family->n_params; i++) {
		const tl_estimate_param_info *info = &a->family->params[i];
		if (a->value[i].given)
			continue;
		if (!info->fallback)
			return tl__fail(err, TL_EINVAL, "%s needs %s (%s)", a->family->name, info->name, info->meaning);
		tl_estimate_param p = {.name = info->name, .text = info->fallback};
		if (*info->fallback)
			TL_TRY(tl__estimate_read(&a->value[i], info, &p, err));
	}
	return 0;
}

/* Times on a platform; what it does not know stays NaN. Without FLOPs memory alone counts. */
static void place(tl_estimate_result *out, const tl_arch *arch)
{
	double rate = tl_arch_rate(arch, out->compute_spec, &out->rate_is_peak), bandwidth = tl_arch_bandwidth(arch);
	if (rate > 0)
		out->rate = rate;
	if (bandwidth > 0)
		out->bandwidth = bandwidth;
	out->knee = out->rate / out->bandwidth;
	out->compute_us = out->flops > 0 ? out->flops / out->rate * 1e6 : 0;
	out->memory_us = out->bytes / out->bandwidth * 1e6;
	if (isnan(out->compute_us) || isnan(out->memory_us))
		return;
	out->bound = out->compute_us >= out->memory_us ? TL_BOUND_COMPUTE : TL_BOUND_MEMORY;
	out->roofline_us = out->bound == TL_BOUND_COMPUTE ? out->compute_us : out->memory_us;
}

int tl_estimate(tl_estimate_result *out, const char *family, const tl_estimate_param *params, size_t n,
		const tl_arch *arch, tl_error *err)
{
	const tl_estimate_entry *entry = find_entry(family);
	if (!out || (n && !params))
		return tl__fail(err, TL_EINVAL, "a result and parameters are needed");
	if (!entry)
		return tl__fail(err, TL_ENOTFOUND, "unknown model family '%s'", family ? family : "");
	tl_estimate_in a = {.family = &entry->family};
	tl_estimate_cost cost = {.flops = NAN, .bytes = NAN};
	TL_TRY(read_given(&a, params, n, err));
	TL_TRY(read_fallbacks(&a, err));
	const char *why = entry->eval(&a, &cost);
	if (why)
		return tl__fail(err, TL_EINVAL, "%s: %s", a.family->name, why);

	*out = (tl_estimate_result){.flops = cost.flops,
				    .bytes = cost.bytes,
				    .intensity = cost.bytes > 0 ? cost.flops / cost.bytes : NAN,
				    .rate = NAN,
				    .bandwidth = NAN,
				    .knee = NAN,
				    .compute_us = NAN,
				    .memory_us = NAN,
				    .roofline_us = NAN};
	if (cost.unit && cost.precision)
		snprintf(out->compute_spec, sizeof out->compute_spec, "%s_%s", cost.unit, cost.precision);
	out->output_rank = cost.output.rank <= TL_ESTIMATE_MAX_RANK ? cost.output.rank : 0;
	for (size_t i = 0; i < out->output_rank; i++)
		out->output[i] = cost.output.dim[i];
	if (arch)
		place(out, arch);
	return 0;
}

int tl_estimate_tiling(double *tile, double *wave, double m, double n, double tile_m, double tile_n, double num_cus,
		       tl_error *err)
{
	if (!tile || !wave)
		return tl__fail(err, TL_EINVAL, "places for both efficiencies are needed");
	if (!(m > 0 && n > 0 && tile_m > 0 && tile_n > 0 && num_cus > 0)) /* written so that NaN fails */
		return tl__fail(err, TL_EINVAL, "sizes, tiles and compute units must be above 0");
	double down = ceil(m / tile_m), across = ceil(n / tile_n), tiles = down * across;
	*tile = m * n / (down * tile_m * across * tile_n);
	*wave = tiles / (ceil(tiles / num_cus) * num_cus);
	return 0;
}

int tl_estimate_softmax_time(double *out, const tl_arch *arch, double m, double n, double bytes_per_element,
			     double batch, bool force_to_l1, bool backward, double num_cus, tl_error *err)
{
	if (!out || !arch)
		return tl__fail(err, TL_EINVAL, "a GPU and a place for the time are needed");
	const char *bandwidth_key = force_to_l1 ? "l1_bw_gbps" : "mem_bw_gbps";
	double units = tl_arch_number(arch, "gemm_units_per_cu"), mhz = tl_arch_number(arch, "freq_mhz");
	double cus = num_cus > 0 ? num_cus : tl_arch_number(arch, "num_cus");
	double gbps = tl_arch_number(arch, bandwidth_key);
	const char *missing = !(units > 0)  ? "gemm_units_per_cu"
			      : !(mhz > 0)  ? "freq_mhz"
			      : !(cus > 0)  ? "num_cus"
			      : !(gbps > 0) ? bandwidth_key
					    : NULL;
	if (missing)
		return tl__fail(err, TL_EINVAL, "the time of a softmax needs %s of the GPU", missing);
	double passes = backward ? 2 : 1; /* the backward does all of it twice */
	double compute = passes * tl__softmax_flops(m, n, batch) / (cus * units * 256) / mhz;
	double memory = passes * tl__softmax_bytes(m, n, batch, bytes_per_element) / (gbps * 1000);
	*out = compute > memory ? compute : memory;
	return 0;
}
