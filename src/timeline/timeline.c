/* SPDX-License-Identifier: MIT */
/* What the GPU did when: computing, communicating, copying, waiting. */
#include "timeline/timeline.h"

#include <string.h>
#include <strings.h>

#include "trace/kinds.h"

static bool starts(const char *name, size_t n, const char *prefix, size_t *length)
{
	*length = strlen(prefix);
	return n >= *length && memcmp(name, prefix, *length) == 0;
}

/* Whether the text from `at` on is made of these optional parts, in this order, and nothing else. */
static bool only_optional(const char *name, size_t n, size_t at, const char *const *parts)
{
	size_t length;
	for (; *parts; parts++)
		if (starts(name + at, n - at, *parts, &length))
			at += length;
	return at == n;
}

/* Copies that ROCm reports as kernels. */
static bool is_copy_kernel(const char *name, size_t n)
{
	static const char *const copies[] = {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
					     "MEMORY_COPY_DEVICE_TO_DEVICE"};
	static const char *const suffix[] = {".kd", NULL}, *const buffer[] = {"Rect", "Aligned", ".kd", NULL};
	size_t length;
	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
		if (starts(name, n, copies[i], &length) && only_optional(name, n, length, suffix))
			return true;
	return starts(name, n, "__amd_rocclr_copyBuffer", &length) && only_optional(name, n, length, buffer);
}

bool tl__is_communication_name(const char *name, size_t n)
{
	static const char collective[] = "cross_device_reduce";
	for (size_t i = 0; i + 3 < n; i++) {
		/* 32 is the bit between upper and lower case letters. */
		char c = (char)(name[i] | 32);
		if ((c == 'n' || c == 'r') && strncasecmp(name + i + 1, "ccl", 3) == 0)
			return true;
		if (c == 'c' && n - i >= sizeof collective - 1 &&
		    strncasecmp(name + i, collective, sizeof collective - 1) == 0)
			return true;
	}
	return false;
}

tl_gpu_class tl__gpu_class_of(uint8_t kind, const char *name, size_t n)
{
	if (kind == TL_KIND_MEMCPY || (kind == TL_KIND_KERNEL && is_copy_kernel(name, n)))
		return TL_GPU_MEMCPY;
	return tl__is_communication_name(name, n) ? TL_GPU_COMMUNICATION : TL_GPU_COMPUTATION;
}

/* The interval of an event; false when it has no usable time. */
static bool interval_of(const tl_store *s, tl_row row, tl_interval *out)
{
	if (s->start[row] == TL_TIME_NONE || s->dur[row] == TL_TIME_NONE)
		return false;
	out->start = s->start[row];
	return !__builtin_add_overflow(s->start[row], s->dur[row], &out->end);
}

int tl__busy_time(tl_time *out, const tl_store *store, const tl_row *rows, size_t n, tl_interval_buf *scratch)
{
	*out = 0;
	scratch->n = 0;
	TL_TRY(TL_VEC_RESERVE(scratch, n));
	for (size_t i = 0; i < n; i++)
		if (interval_of(store, rows[i], &scratch->v[scratch->n]))
			scratch->n++;
	scratch->n = tl__intervals_merge(scratch->v, scratch->n);
	*out = tl__intervals_length(scratch->v, scratch->n);
	return 0;
}

/* ---- breakdown ---- */

typedef struct {
	size_t events;
	tl_interval_buf of[3]; /* by tl_gpu_class */
	tl_interval_buf all;   /* of them all, where gaps between them are asked for */
	tl_interval_buf rest, rest2;
	tl_map class_of; /* by name and kind: few names, many events */
} tl_sorting;

static int classify(tl_sorting *g, const tl_store *s, tl_row row, tl_gpu_class *out)
{
	uint64_t key = (uint64_t)s->name[row] << 8 | s->kind[row];
	uint32_t found = tl__map_get(&g->class_of, key);
	if (found == TL_MAP_NONE) {
		found = tl__gpu_class_of(s->kind[row], tl__name(s, row), tl__str_len(s->strings, s->name[row]));
		TL_TRY(tl__map_set(&g->class_of, key, found));
	}
	*out = (tl_gpu_class)found;
	return 0;
}

static int subtract(tl_interval_buf *out, const tl_interval_buf *a, const tl_interval_buf *b)
{
	out->n = 0;
	TL_TRY(TL_VEC_RESERVE(out, a->n + b->n));
	out->n = tl__intervals_subtract(out->v, a->v, a->n, b->v, b->n);
	return 0;
}

static tl_time length(const tl_interval_buf *v)
{
	return tl__intervals_length(v->v, v->n);
}

/* A gap is micro when it is shorter than the threshold; no gap is shorter than NaN. */
static void split_idle(tl_breakdown *out, const tl_interval_buf *all, double threshold_us)
{
	double threshold = threshold_us * (double)TL_PS_PER_US;
	for (size_t i = 1; i < all->n; i++) {
		tl_time gap = all->v[i].start - all->v[i - 1].end;
		*((double)gap < threshold ? &out->micro_idle : &out->macro_idle) += gap;
	}
}

static int add(tl_sorting *g, tl_interval interval, tl_gpu_class class)
{
	g->events++;
	return TL_VEC_PUSH(&g->of[class], interval);
}

static int sort_rows(tl_sorting *g, const tl_store *store, const tl_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		tl_interval interval;
		tl_gpu_class class;
		if (!interval_of(store, rows[i], &interval))
			continue;
		TL_TRY(classify(g, store, rows[i], &class));
		TL_TRY(add(g, interval, class));
	}
	return 0;
}

static int sort_list(tl_sorting *g, const tl_gpu_event_list *events)
{
	/* so that the span of a list, too, is a 64-bit time */
	const tl_time limit = INT64_MAX / 2;
	for (size_t i = 0; i < events->n; i++) {
		tl_interval interval = {.start = events->start[i]};
		if (interval.start < -limit || interval.start > limit || events->dur[i] < 0 ||
		    events->dur[i] > limit - (interval.start > 0 ? interval.start : 0))
			continue;
		interval.end = interval.start + events->dur[i];
		tl_gpu_class class = events->classes
					     ? events->classes[i]
					     : tl_gpu_classify(events->category ? events->category[i] : "kernel",
							       events->name ? events->name[i] : NULL);
		if (class >= TL_GPU_COMPUTATION && class < TL_GPU_NONE)
			TL_TRY(add(g, interval, class));
	}
	return 0;
}

/* From the first start to the last end. */
static tl_time span(const tl_sorting *g)
{
	tl_time first = INT64_MAX, last = INT64_MIN;
	for (int class = 0; class < 3; class ++) {
		const tl_interval_buf *v = &g->of[class];
		if (v->n && v->v[0].start < first)
			first = v->v[0].start;
		if (v->n && v->v[v->n - 1].end > last)
			last = v->v[v->n - 1].end;
	}
	return first <= last ? last - first : 0;
}

static int measure(tl_sorting *g, tl_breakdown *out)
{
	out->events = g->events;
	for (int class = 0; class < 3; class ++)
		g->of[class].n = tl__intervals_merge(g->of[class].v, g->of[class].n);
	const tl_interval_buf *computation = &g->of[TL_GPU_COMPUTATION], *communication = &g->of[TL_GPU_COMMUNICATION];
	const tl_interval_buf *memcpy_ = &g->of[TL_GPU_MEMCPY];
	out->computation = length(computation);
	out->total_comm = length(communication);
	out->total_memcpy = length(memcpy_);
	TL_TRY(subtract(&g->rest, computation, communication));
	out->exposed_comm = length(&g->rest);
	TL_TRY(subtract(&g->rest, computation, memcpy_));
	TL_TRY(subtract(&g->rest2, communication, &g->rest));
	out->exposed_memcpy = length(&g->rest2);
	/* what is exposed of a class is what the classes before it leave: together they are the union */
	out->busy = out->computation + out->exposed_comm + out->exposed_memcpy;
	out->total = span(g);
	out->idle = out->total - out->busy;
	return 0;
}

static int unite(tl_sorting *g)
{
	for (int class = 0; class < 3; class ++) {
		size_t n = g->of[class].n;
		TL_TRY(TL_VEC_RESERVE(&g->all, n));
		if (n)
			memcpy(g->all.v + g->all.n, g->of[class].v, n * sizeof *g->all.v);
		g->all.n += n;
	}
	g->all.n = tl__intervals_merge(g->all.v, g->all.n);
	return 0;
}

/* The second half of every breakdown; `code` is that of the first half. */
static int finish(tl_sorting *g, int code, tl_breakdown *out, const double *micro_idle_us)
{
	if (!code)
		code = measure(g, out);
	if (!code && micro_idle_us)
		code = unite(g);
	if (!code && micro_idle_us)
		split_idle(out, &g->all, *micro_idle_us);
	TL_VEC_FREE(&g->all);
	for (int class = 0; class < 3; class ++)
		TL_VEC_FREE(&g->of[class]);
	TL_VEC_FREE(&g->rest);
	TL_VEC_FREE(&g->rest2);
	tl__map_free(&g->class_of);
	return code;
}

int tl__breakdown(tl_breakdown *out, const tl_store *store, const tl_row *rows, size_t n, const double *micro_idle_us,
		  tl_error *err)
{
	*out = (tl_breakdown){0};
	tl_sorting g = {0};
	return finish(&g, sort_rows(&g, store, rows, n), out, micro_idle_us) < 0 ? tl__nomem(err) : 0;
}

/* ---- a caller's list ---- */

tl_gpu_class tl_gpu_classify(const char *category, const char *name)
{
	bool known;
	uint8_t kind = category ? (uint8_t)tl__kind_of_category(category, strlen(category), &known) : TL_KIND_OTHER;
	if (!tl__kind_is_gpu(kind))
		return TL_GPU_NONE;
	return tl__gpu_class_of(kind, name ? name : "", name ? strlen(name) : 0);
}

int tl__check_micro_idle(const double *micro_idle_us, tl_error *err)
{
	if (micro_idle_us && !(*micro_idle_us >= 0)) /* NaN, too */
		return tl__fail(err, TL_EINVAL, "the micro-idle threshold must be a number of µs from 0 up");
	return 0;
}

int tl_gpu_timeline_of_events(tl_breakdown *out, const tl_gpu_event_list *events, const double *micro_idle_us,
			      tl_error *err)
{
	*out = (tl_breakdown){0};
	if (!events || (events->n && (!events->start || !events->dur)))
		return tl__fail(err, TL_EINVAL, "a list of GPU events needs starts and durations");
	TL_TRY(tl__check_micro_idle(micro_idle_us, err));
	tl_sorting g = {0};
	if (finish(&g, sort_list(&g, events), out, micro_idle_us) < 0)
		return tl__nomem(err);
	return out->events ? 0 : tl__fail(err, TL_EEMPTY, "no GPU events found in the trace");
}
