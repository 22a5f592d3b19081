/* SPDX-License-Identifier: MIT */
/**
 * @file overlap.c
 * Events by start, in blocks, and over the blocks a binary tree of latest ends. Two events share at least
 * `m` exactly when both last `m`, each starts at least `m` before the other ends; so short events are left out at once,
 * those that start in time are a prefix, and the tree finds the ones in it that end late enough. Each node
 * knows the latest end and the latest one on any other stream, so that a busy stream costs its own events nothing.
 */
#include "timeline/overlap.h"

#include "util/error.h"

enum { BLOCK = 8 };

typedef struct entry {
	tl_time start, end;
	uint32_t stream, owner;
	tl_row row;
} entry;

typedef struct node {
	tl_time end, other; /* latest end, and latest on a stream other than `stream` */
	uint32_t stream;    /* that of `end` */
} node;

struct tl_overlap_index {
	entry *entries;
	size_t n;
	node *nodes; /* heap order, root 1; node leaves + i is block i */
	size_t leaves;
	tl_map streams; /* id from the file -> number */
};

static const node nothing = {TL_TIME_NONE, TL_TIME_NONE, UINT32_MAX};

static tl_time later(tl_time a, tl_time b)
{
	return a > b ? a : b;
}

static node merged(node a, node b)
{
	if (a.stream == b.stream)
		return (node){later(a.end, b.end), later(a.other, b.other), a.stream};
	if (a.end < b.end)
		return (node){b.end, later(b.other, a.end), b.stream};
	return (node){a.end, later(a.other, b.end), a.stream};
}

static tl_time latest_elsewhere(node n, uint32_t stream)
{
	return n.stream == stream ? n.other : n.end;
}

static bool can_overlap(const tl_store *store, tl_row row)
{
	return tl__end(store, row) != TL_TIME_NONE && store->dur[row] >= TL_OVERLAP_MIN;
}

/* ---- making ---- */

static tl_id stream_of(const tl_store *store, tl_row row)
{
	const tl_link_args *link = tl__link_args(store, row);
	return link ? link->stream : TL_ID_NONE;
}

/* Every event without a stream gets a number of its own, as if it ran alone there. */
static int number_stream(tl_overlap_index *index, tl_id stream, uint32_t *next, uint32_t *out)
{
	*out = *next;
	if (stream != TL_ID_NONE)
		*out = tl__map_get_or_set(&index->streams, stream, *next);
	if (*out == TL_MAP_NONE)
		return TL_ENOMEM;
	*next += *out == *next;
	return 0;
}

static int fill(tl_overlap_index *index, const tl_store *store, const tl_row *rows, const uint32_t *owners, size_t n)
{
	uint32_t streams = 0;
	index->entries = tl__malloc((n + 1) * sizeof *index->entries);
	if (!index->entries)
		return TL_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!can_overlap(store, rows[i]))
			continue;
		entry *e = &index->entries[index->n++];
		*e = (entry){store->start[rows[i]], tl__end(store, rows[i]), 0, owners[i], rows[i]};
		TL_TRY(number_stream(index, stream_of(store, rows[i]), &streams, &e->stream));
	}
	return 0;
}

static int grow_tree(tl_overlap_index *index)
{
	size_t blocks = (index->n + BLOCK - 1) / BLOCK;
	index->leaves = 1;
	while (index->leaves < blocks)
		index->leaves *= 2;
	index->nodes = tl__malloc(2 * index->leaves * sizeof *index->nodes);
	if (!index->nodes)
		return TL_ENOMEM;
	for (size_t i = 0; i < 2 * index->leaves; i++)
		index->nodes[i] = nothing;
	for (size_t i = 0; i < index->n; i++) {
		const entry *e = &index->entries[i];
		node *leaf = &index->nodes[index->leaves + i / BLOCK];
		*leaf = merged(*leaf, (node){e->end, TL_TIME_NONE, e->stream});
	}
	for (size_t i = index->leaves; i-- > 1;)
		index->nodes[i] = merged(index->nodes[2 * i], index->nodes[2 * i + 1]);
	return 0;
}

int tl__overlap_index_new(tl_overlap_index **out, const tl_store *store, const tl_row *rows, const uint32_t *owners,
			  size_t n)
{
	*out = NULL;
	tl_overlap_index *index = tl__calloc(1, sizeof *index);
	int code = index ? fill(index, store, rows, owners, n) : TL_ENOMEM;
	if (code == 0)
		code = grow_tree(index);
	if (code < 0)
		tl__overlap_index_free(index);
	else
		*out = index;
	return code;
}

void tl__overlap_index_free(tl_overlap_index *index)
{
	if (!index)
		return;
	tl__free(index->entries);
	tl__free(index->nodes);
	tl__map_free(&index->streams);
	tl__free(index);
}

/* ---- asking ---- */

typedef struct question {
	tl_row row;
	tl_time needed; /* earliest end that is late enough */
	uint32_t stream, owner;
	size_t limit; /* entries from here on start too late */
} question;

static size_t entries_until(const tl_overlap_index *index, tl_time last_start)
{
	size_t low = 0, high = index->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (index->entries[middle].start <= last_start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int look_into_block(tl_overlap_rows *out, const tl_overlap_index *index, const question *q, size_t block)
{
	size_t first = block * BLOCK, end = first + BLOCK < q->limit ? first + BLOCK : q->limit;
	for (size_t i = first; i < end; i++) {
		const entry *e = &index->entries[i];
		bool same_owner = e->owner == q->owner && e->owner != TL_OVERLAP_NO_OWNER;
		if (e->end >= q->needed && e->stream != q->stream && !same_owner && e->row != q->row)
			TL_TRY(TL_VEC_PUSH(out, e->row));
	}
	return 0;
}

/* First entry below a node. */
static size_t first_entry(const tl_overlap_index *index, size_t at)
{
	while (at < index->leaves)
		at *= 2;
	return (at - index->leaves) * BLOCK;
}

static int descend(tl_overlap_rows *out, const tl_overlap_index *index, const question *q)
{
	size_t stack[2 * 64], depth = 0; /* each level leaves at most one node behind */
	stack[depth++] = 1;
	while (depth > 0) {
		size_t at = stack[--depth];
		if (latest_elsewhere(index->nodes[at], q->stream) < q->needed || first_entry(index, at) >= q->limit)
			continue;
		if (at >= index->leaves) {
			TL_TRY(look_into_block(out, index, q, at - index->leaves));
			continue;
		}
		stack[depth++] = 2 * at + 1;
		stack[depth++] = 2 * at;
	}
	return 0;
}

int tl__overlap_find(tl_overlap_rows *out, const tl_overlap_index *index, const tl_store *store, tl_row row,
		     uint32_t owner)
{
	out->n = 0;
	if (!can_overlap(store, row))
		return 0;
	tl_id stream = stream_of(store, row);
	question q = {
		.row = row,
		.needed = store->start[row] + TL_OVERLAP_MIN,
		.stream = stream == TL_ID_NONE ? UINT32_MAX : tl__map_get(&index->streams, stream),
		.owner = owner,
	};
	if (latest_elsewhere(index->nodes[1], q.stream) < q.needed) /* always, where there is one stream */
		return 0;
	q.limit = entries_until(index, tl__end(store, row) - TL_OVERLAP_MIN);
	return descend(out, index, &q);
}
