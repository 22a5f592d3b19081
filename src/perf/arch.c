/* SPDX-License-Identifier: MIT */
/* GPU platforms: memory bandwidth and rates by compute spec, from JSON files, the bundled ones included. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perf/embedded.h"
#include "tracelens/perf.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/value.h"

/** Longest file that can be meant; all known ones have a few thousand bytes. */
#define MAX_FILE (4 << 20)

typedef struct rate {
	const char *spec;        /* "matrix_bf16" */
	double achievable, peak; /* FLOP/s; 0 when unknown */
} rate;

struct tl_arch {
	tl_arena arena;
	const tl_value *root; /* the whole file */
	const char *name, *note;
	double bandwidth, memory; /* bytes per second, bytes; 0 when unknown */
	TL_VEC(rate) rates;
};

/* ---- reading ---- */

static const char *kind_name(const tl_value *v)
{
	static const char *const names[] = {
		[TL_V_NONE] = "null",       [TL_V_BOOL] = "true or false", [TL_V_INT] = "a number",
		[TL_V_DOUBLE] = "a number", [TL_V_NUMBER] = "a number",    [TL_V_STRING] = "a text",
		[TL_V_LIST] = "a list",     [TL_V_TUPLE] = "a list",       [TL_V_DICT] = "an object",
	};
	return names[v->kind];
}

static bool is_number(const tl_value *v)
{
	return v->kind == TL_V_INT || v->kind == TL_V_DOUBLE || v->kind == TL_V_NUMBER;
}

/* A number above zero, or 0 when the value is missing or null. `where` names it: "mem_bw_gbps". */
static int read_number(double *out, const tl_value *v, const char *where, tl_error *err)
{
	*out = 0;
	if (!v || v->kind == TL_V_NONE)
		return 0;
	if (!is_number(v))
		return tl__fail(err, TL_EFORMAT, "%s: a number is needed, not %s", where, kind_name(v));
	double number = v->kind == TL_V_INT ? (double)v->i : v->kind == TL_V_DOUBLE ? v->d : HUGE_VAL;
	if (!(number > 0) || number > 1e15) /* written so that NaN fails */
		return tl__fail(err, TL_EFORMAT, "%s: %g is no rate or size; a number above 0 is needed", where,
				number);
	*out = number;
	return 0;
}

static int read_text(const char **out, const tl_value *root, const char *key, const char *otherwise, tl_error *err)
{
	const tl_value *v = tl__value_get(root, key);
	*out = otherwise;
	if (!v || v->kind == TL_V_NONE)
		return 0;
	if (v->kind != TL_V_STRING)
		return tl__fail(err, TL_EFORMAT, "%s: a text is needed, not %s", key, kind_name(v));
	*out = v->s;
	return 0;
}

static rate *find_rate(const tl_arch *arch, const char *spec)
{
	for (size_t i = 0; i < arch->rates.n; i++)
		if (!strcmp(arch->rates.v[i].spec, spec))
			return &arch->rates.v[i];
	return NULL;
}

/*
 * Whether models can ask for a rate: "matrix_" or "vector_" and a precision, or the words that compiled Triton kernels
 * have for one [03-T3].
 */
static bool is_spec(const char *text)
{
	static const char *const precisions[] = {
		"fp64",  "fp32",  "tf32",  "xf32",  "fp16", "bf16", "fp8",    "bf8",      "fp6",  "fp4", "int4", "int8",
		"int16", "int32", "int64", "float", "half", "byte", "double", "bfloat16", "char", "int", "long"};
	if (strncmp(text, "matrix_", 7) != 0 && strncmp(text, "vector_", 7) != 0)
		return false;
	for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++)
		if (!strcmp(text + 7, precisions[i]))
			return true;
	return false;
}

/* One of the two maps from compute spec to TFLOPS. */
static int read_rates(tl_arch *arch, const char *key, bool achievable, tl_error *err)
{
	const tl_value *map = tl__value_get(arch->root, key);
	if (!map || map->kind == TL_V_NONE)
		return 0;
	if (map->kind != TL_V_DICT)
		return tl__fail(err, TL_EFORMAT, "%s: an object is needed, not %s", key, kind_name(map));
	for (uint32_t i = 0; i < map->n; i++) {
		const tl_value *spec = &map->items[2 * i];
		char where[160];
		double number;
		snprintf(where, sizeof where, "%s: %.100s", key, spec->s);
		if (!is_spec(spec->s))
			return tl__fail(err, TL_EFORMAT,
					"%s: this is no compute spec; 'matrix_' or 'vector_' and a precision such as "
					"fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4 or int8 are needed, in lower case",
					where);
		TL_TRY(read_number(&number, &map->items[2 * i + 1], where, err));
		if (number <= 0)
			continue;
		rate *r = find_rate(arch, spec->s);
		if (!r) {
			if (TL_VEC_PUSH(&arch->rates, ((rate){.spec = spec->s})) < 0)
				return tl__nomem(err);
			r = &arch->rates.v[arch->rates.n - 1];
		}
		*(achievable ? &r->achievable : &r->peak) = number * 1e12;
	}
	return 0;
}

/* Name of a file without folders and ".json". */
static const char *base_name(tl_arena *arena, const char *label)
{
	const char *slash = strrchr(label, '/');
	const char *name = slash ? slash + 1 : label;
	size_t n = strlen(name);
	if (n > 5 && !strcmp(name + n - 5, ".json"))
		n -= 5;
	return tl__arena_strndup(arena, name, n);
}

/* Figures that are looked up by tl_arch_number, and other names. Keys that mean nothing here are left alone. */
static int check_others(const tl_value *root, tl_error *err)
{
	static const char *const numbers[] = {"num_cus", "freq_mhz", "gemm_units_per_cu", "l1_bw_gbps", "l2_bw_gbps"};
	const tl_value *aliases = tl__value_get(root, "aliases");
	double unused;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		TL_TRY(read_number(&unused, tl__value_get(root, numbers[i]), numbers[i], err));
	if (!aliases || aliases->kind == TL_V_NONE)
		return 0;
	if (aliases->kind != TL_V_LIST)
		return tl__fail(err, TL_EFORMAT, "aliases: a list of texts is needed, not %s", kind_name(aliases));
	for (uint32_t i = 0; i < aliases->n; i++)
		if (aliases->items[i].kind != TL_V_STRING)
			return tl__fail(err, TL_EFORMAT, "aliases: a text is needed, not %s",
					kind_name(&aliases->items[i]));
	return 0;
}

static int read_fields(tl_arch *arch, const char *json, size_t size, const char *label, tl_error *err)
{
	int code = tl__value_parse(&arch->arena, json, size, false, &arch->root);
	if (code == TL_ENOMEM)
		return tl__nomem(err);
	if (code < 0)
		return tl__fail(err, TL_EFORMAT, "this is not JSON; a JSON object that describes a GPU is needed");
	if (arch->root->kind != TL_V_DICT)
		return tl__fail(err, TL_EFORMAT, "a JSON object that describes a GPU is needed, not %s",
				kind_name(arch->root));
	const char *label_name = base_name(&arch->arena, label);
	if (!label_name)
		return tl__nomem(err);
	TL_TRY(read_text(&arch->name, arch->root, "name", label_name, err));
	TL_TRY(read_text(&arch->note, arch->root, "note", "", err));
	TL_TRY(read_number(&arch->bandwidth, tl__value_get(arch->root, "mem_bw_gbps"), "mem_bw_gbps", err));
	TL_TRY(read_number(&arch->memory, tl__value_get(arch->root, "memory_gb"), "memory_gb", err));
	TL_TRY(check_others(arch->root, err));
	arch->bandwidth *= 1e9;
	arch->memory *= 1e9;
	TL_TRY(read_rates(arch, "max_achievable_tflops", true, err));
	return read_rates(arch, "peak_tflops", false, err);
}

int tl_arch_parse(tl_arch **out, const char *json, size_t size, const char *label, tl_error *err)
{
	*out = NULL;
	if (!json || !label)
		return tl__fail(err, TL_EINVAL, "a description of a GPU needs a text and a label");
	tl_arch *arch = tl__calloc(1, sizeof *arch);
	if (!arch)
		return tl__nomem(err);
	int code = read_fields(arch, json, size, label, err);
	if (code < 0) {
		if (code != TL_ENOMEM)
			tl__error_where(err, label, -1);
		tl_arch_free(arch);
		return code;
	}
	*out = arch;
	return 0;
}

static int read_file(tl_buf *out, const char *path, tl_error *err)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return tl__fail_system(err, errno, "cannot open");
	int code = tl__buf_read(out, f, MAX_FILE);
	if (code == TL_ENOMEM)
		code = tl__nomem(err);
	else if (code == TL_EIO)
		code = tl__fail_system(err, errno, "cannot read");
	else if (code == TL_ELIMIT)
		code = tl__fail(err, TL_EFORMAT, "too long for a file that describes a GPU");
	fclose(f);
	return code;
}

int tl_arch_load(tl_arch **out, const char *path, tl_error *err)
{
	tl_buf text = {0};
	*out = NULL;
	if (!path)
		return tl__fail(err, TL_EINVAL, "a description of a GPU needs a path");
	int code = read_file(&text, path, err);
	if (code == 0)
		code = tl_arch_parse(out, text.v ? text.v : "", text.n, path, err);
	else if (code != TL_ENOMEM)
		tl__error_where(err, path, -1);
	tl__buf_free(&text);
	return code;
}

void tl_arch_free(tl_arch *arch)
{
	if (!arch)
		return;
	TL_VEC_FREE(&arch->rates);
	tl__arena_free(&arch->arena);
	tl__free(arch);
}

/* ---- bundled platforms ---- */

/* Whether two names are the same but for case, blanks, '-' and '_'. */
static bool same_name(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " -_");
		b += strspn(b, " -_");
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

static bool has_alias(const tl_arch *arch, const char *name)
{
	const tl_value *aliases = tl__value_get(arch->root, "aliases");
	for (size_t i = 0; i < tl__value_count(aliases); i++) {
		const char *alias = tl__value_text(tl__value_at(aliases, i));
		if (alias && same_name(alias, name))
			return true;
	}
	return false;
}

static int unknown_platform(const char *name, tl_error *err)
{
	char list[256] = "";
	for (size_t i = 0; tl__embedded[i].name; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", tl__embedded[i].name);
	}
	return tl__fail(err, TL_ENOTFOUND,
			"unknown GPU platform '%s'; there are %s, and a file of yours can describe another", name,
			list);
}

int tl_arch_find(tl_arch **out, const char *name, tl_error *err)
{
	*out = NULL;
	if (!name)
		name = "";
	for (size_t i = 0; tl__embedded[i].name; i++) {
		const tl_embedded *e = &tl__embedded[i];
		TL_TRY(tl_arch_parse(out, e->text, e->size, e->name, err));
		if (same_name(e->name, name) || has_alias(*out, name))
			return 0;
		tl_arch_free(*out);
		*out = NULL;
	}
	return unknown_platform(name, err);
}

const char *tl_arch_bundled(size_t index)
{
	for (size_t i = 0; tl__embedded[i].name; i++)
		if (i == index)
			return tl__embedded[i].name;
	return NULL;
}

/* ---- figures ---- */

const char *tl_arch_name(const tl_arch *arch)
{
	return arch ? arch->name : "";
}

const char *tl_arch_note(const tl_arch *arch)
{
	return arch ? arch->note : "";
}

double tl_arch_bandwidth(const tl_arch *arch)
{
	return arch ? arch->bandwidth : 0;
}

double tl_arch_memory(const tl_arch *arch)
{
	return arch ? arch->memory : 0;
}

double tl_arch_number(const tl_arch *arch, const char *key)
{
	const tl_value *v = arch && key ? tl__value_get(arch->root, key) : NULL;
	return !v ? 0 : v->kind == TL_V_INT ? (double)v->i : v->kind == TL_V_DOUBLE && isfinite(v->d) ? v->d : 0;
}

const char *tl_arch_spec(const tl_arch *arch, size_t index)
{
	return arch && index < arch->rates.n ? arch->rates.v[index].spec : NULL;
}

double tl_arch_rate(const tl_arch *arch, const char *spec, bool *is_peak)
{
	if (is_peak)
		*is_peak = false;
	const rate *r = arch && spec ? find_rate(arch, spec) : NULL;
	if (!r)
		return 0;
	if (is_peak)
		*is_peak = r->achievable <= 0;
	return r->achievable > 0 ? r->achievable : r->peak;
}

/* Whether a list such as "matrix_fp16, matrix_bf16" has a word. */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || strchr(" ,", at[-1])) && (!at[n] || strchr(" ,", at[n])))
			return true;
	return false;
}

/*
 * Entries of `sources` say what they are for: "peak_tflops", "mem_bw_gbps, peak_tflops (dense)", or a map and some of
 * its keys, "peak_tflops: vector_fp16". Those that name the spec go before those for the whole map.
 */
const char *tl_arch_source(const tl_arch *arch, const char *spec)
{
	bool is_peak;
	const char *general = "";
	if (!(tl_arch_rate(arch, spec, &is_peak) > 0))
		return general;
	const tl_value *sources = tl__value_get(arch->root, "sources");
	const char *map = is_peak ? "peak_tflops" : "max_achievable_tflops";
	for (size_t i = 0; i < tl__value_count(sources); i++) {
		const tl_value *entry = tl__value_at(sources, i);
		const char *about = tl__value_text(tl__value_get(entry, "for"));
		const char *title = tl__value_text(tl__value_get(entry, "title"));
		const char *at = about && title ? strstr(about, map) : NULL;
		if (!at)
			continue;
		at += strlen(map);
		if (*at == ':' && has_word(at + 1, spec))
			return title;
		if (*at != ':' || strstr(at, "all other"))
			general = title;
	}
	return general;
}
