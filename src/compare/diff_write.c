/* SPDX-License-Identifier: MIT */
/* The merged tree as text, and all of a comparison as files. */
#include <inttypes.h>
#include <string.h>

#include "compare/diff_rows.h"
#include "io/staging.h"
#include "table/csv.h"
#include "util/aside.h"
#include "util/terminal.h"

#define LAST "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 "   /* └── */
#define BRANCH "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 " /* ├── */
#define BAR "\xe2\x94\x82   "                          /* │   */

/* Deeper than this lines are not indented further but numbered: indentation grows with the square of the depth. */
enum { DEEPEST = 256, ENOUGH = 16 << 10 };
#define NONE TL_DIFF_NONE

/* ---- the merged tree ---- */

/* Children print by what they are: matched ones, those of the baseline, those of the variant. */
enum { MATCHED, BASELINE, VARIANT, CLASSES };

static int class_of(const tl_diff_node *x)
{
	return x->unlinked || (x->baseline != TL_ROW_NONE && x->variant != TL_ROW_NONE) ? MATCHED
	       : x->baseline != TL_ROW_NONE                                             ? BASELINE
											: VARIANT;
}

/* A node whose children are being printed. */
typedef struct frame {
	uint32_t node, child; /* child: where the search for the next one goes on */
	int class;
	size_t path; /* bytes of the path before its children */
} frame;

typedef struct printer {
	const tl_diff *d;
	tl_write_fn write;
	void *user;
	tl_buf out, path;
	TL_VEC(frame) stack;
} printer;

/* A line is a node: a name with a line break, or with what a terminal obeys, must not change that. */
static void put_event_name(tl_buf *out, const tl_store *s, tl_row row)
{
	if (s->name[row] == TL_STR_NONE)
		tl__buf_printf(out, "%" PRIu32, row);
	else
		tl__terminal_put(out, tl__name(s, row), tl__str_len(s->strings, s->name[row]));
}

static bool same_name(const tl_diff *d, const tl_diff_node *x)
{
	const tl_store *s = d->tree[0]->store, *t = d->tree[1]->store;
	tl_str a = s->name[x->baseline], b = t->name[x->variant];
	size_t n = tl__str_len(s->strings, a);
	return n == tl__str_len(t->strings, b) && !memcmp(tl__str(s->strings, a), tl__str(t->strings, b), n) &&
	       (a == TL_STR_NONE) == (b == TL_STR_NONE);
}

static void put_label(printer *p, uint32_t node)
{
	const tl_diff_node *x = &p->d->node[node];
	const tl_store *s = p->d->tree[0]->store, *t = p->d->tree[1]->store;
	if (x->unlinked) {
		tl__buf_puts(&p->out, TL_DIFF_NO_LAUNCH);
	} else if (class_of(x) == BASELINE) {
		tl__buf_puts(&p->out, ">> trace1: ");
		put_event_name(&p->out, s, x->baseline);
	} else if (class_of(x) == VARIANT) {
		tl__buf_puts(&p->out, "<< trace2: ");
		put_event_name(&p->out, t, x->variant);
	} else if (same_name(p->d, x)) {
		put_event_name(&p->out, s, x->baseline);
	} else {
		tl__buf_puts(&p->out, "combined: ");
		put_event_name(&p->out, s, x->baseline);
		tl__buf_puts(&p->out, " | ");
		put_event_name(&p->out, t, x->variant);
	}
}

static int flush(printer *p)
{
	return p->path.failed ? TL_ENOMEM : tl__buf_send(&p->out, p->write, p->user);
}

static int put_line(printer *p, uint32_t node, bool last)
{
	size_t depth = p->stack.n;
	tl__buf_put(&p->out, p->path.v ? p->path.v : "", p->path.n);
	tl__buf_puts(&p->out, last ? LAST : BRANCH);
	if (depth > DEEPEST)
		tl__buf_printf(&p->out, "[level %zu] ", depth);
	put_label(p, node);
	tl__buf_putc(&p->out, '\n');
	frame f = {.node = node, .child = node + 1};
	if (depth < DEEPEST)
		tl__buf_puts(&p->path, last ? "    " : BAR);
	f.path = p->path.n;
	TL_TRY(TL_VEC_PUSH(&p->stack, f));
	return p->out.n >= ENOUGH ? flush(p) : 0;
}

/* The next child of a frame, which is moved behind it, or NONE. */
static uint32_t next_child(const tl_diff *d, frame *f)
{
	for (; f->class < CLASSES; f->class ++, f->child = f->node + 1)
		while (f->child < d->node[f->node].end) {
			uint32_t child = f->child;
			f->child = d->node[child].end;
			if (class_of(&d->node[child]) == f->class)
				return child;
		}
	return NONE;
}

static int put_subtree(printer *p, uint32_t root, bool last)
{
	p->path.n = 0;
	TL_TRY(put_line(p, root, last));
	while (p->stack.n) {
		frame *f = &p->stack.v[p->stack.n - 1];
		p->path.n = f->path;
		uint32_t child = next_child(p->d, f);
		if (child == NONE) {
			p->stack.n--;
			continue;
		}
		frame ahead = *f;
		TL_TRY(put_line(p, child, next_child(p->d, &ahead) == NONE));
	}
	return 0;
}

static bool has_gpu(const tl_diff *d, const tl_diff_node *x)
{
	for (int s = 0; s < 2; s++) {
		tl_row row = tl__diff_row(x, s);
		if (row != TL_ROW_NONE && tl__tree_gpu_count(d->tree[s], d->tree[s]->pos_of_row[row]))
			return true;
	}
	return x->unlinked;
}

/* The first root from `node` on that is printed, or NONE. */
static uint32_t visible_root(const tl_diff *d, uint32_t node, bool prune)
{
	while (node < d->n && prune && !has_gpu(d, &d->node[node]))
		node = d->node[node].end;
	return node < d->n ? node : NONE;
}

static int put_roots(printer *p, bool prune)
{
	for (uint32_t root = visible_root(p->d, 0, prune), next; root != NONE; root = next) {
		next = visible_root(p->d, p->d->node[root].end, prune);
		TL_TRY(put_subtree(p, root, next == NONE));
	}
	return 0;
}

int tl_diff_print(const tl_diff *diff, const tl_diff_print_options *options, tl_write_fn write, void *user,
		  tl_error *err)
{
	static const tl_diff_print_options defaults;
	const tl_diff_print_options *o = options ? options : &defaults;
	if (o->one && o->node >= diff->n)
		return tl__fail(err, TL_ENOTFOUND, "the merged tree has no node %" PRIu32, o->node);
	printer p = {.d = diff, .write = write, .user = user};
	int code = o->one ? put_subtree(&p, o->node, true) : put_roots(&p, o->prune_non_gpu);
	if (code == 0)
		code = flush(&p);
	tl__buf_free(&p.out);
	tl__buf_free(&p.path);
	TL_VEC_FREE(&p.stack);
	return tl__buf_sent(code, err);
}

/* ---- operations and their kernels as JSON ---- */

static void put_list(tl_buf *out, const tl_value *list, const char *indent)
{
	size_t n = tl__value_count(list);
	tl__buf_puts(out, n ? "[\n" : "[");
	for (size_t i = 0; i < n; i++) {
		tl__buf_printf(out, "%s  ", indent);
		tl__json_string(out, list->items[i].s, list->items[i].n);
		tl__buf_puts(out, i + 1 < n ? ",\n" : "\n");
	}
	tl__buf_printf(out, "%s]", n ? indent : "");
}

static void put_key(tl_buf *out, const tl_table *map, tl_str key)
{
	tl__json_string(out, tl__str(map->strings, key), tl__str_len(map->strings, key));
	tl__buf_puts(out, ": ");
}

/* {operation: {side: {"kernels": [...], "nn_module_parents": [...]}}} */
static void put_map(tl_buf *out, const tl_table *map)
{
	const tl_column *c = map->columns.v;
	tl__buf_puts(out, "{");
	for (size_t i = 0; i < map->rows; i++) {
		bool first = !i || c[0].str[i] != c[0].str[i - 1];
		bool last = i + 1 == map->rows || c[0].str[i] != c[0].str[i + 1];
		if (first) {
			tl__buf_puts(out, i ? ",\n  " : "\n  ");
			put_key(out, map, c[0].str[i]);
			tl__buf_puts(out, "{");
		}
		tl__buf_puts(out, first ? "\n    " : ",\n    ");
		put_key(out, map, c[1].str[i]);
		tl__buf_puts(out, "{\n      \"kernels\": ");
		put_list(out, c[2].val[i], "      ");
		tl__buf_puts(out, ",\n      \"nn_module_parents\": ");
		put_list(out, c[3].val[i], "      ");
		tl__buf_puts(out, last ? "\n    }\n  }" : "\n    }");
	}
	tl__buf_puts(out, map->rows ? "\n}" : "}");
}

/* {operation: [kernels]} of one side; the map is sorted by operation. */
static void put_side(tl_buf *out, const tl_table *map, tl_str source)
{
	const tl_column *c = map->columns.v;
	size_t n = 0;
	tl__buf_puts(out, "{");
	for (size_t i = 0; i < map->rows; i++) {
		if (c[1].str[i] != source)
			continue;
		tl__buf_puts(out, n++ ? ",\n  " : "\n  ");
		put_key(out, map, c[0].str[i]);
		put_list(out, c[2].val[i], "  ");
	}
	tl__buf_puts(out, n ? "\n}" : "}");
}

/* ---- files ---- */

typedef enum diff_file { TREE, STATS, SUMMARY, MAP, MAP_TRACE1, MAP_TRACE2, FILES } diff_file;

static const char *const file_names[FILES] = {
	"merged_tree_output.txt", "diff_stats.csv",         "diff_stats_unique_args_summary.csv",
	"cpu_op_map.json",        "cpu_op_map_trace1.json", "cpu_op_map_trace2.json",
};

/* Where the files are written until all are there, and what they are called in messages. */
typedef struct places {
	tl_staging staging;
	char *path[FILES], *shown[FILES];
	bool threaded; /* two threads may write */
} places;

static int places_open(places *p, const char *folder, tl_error *err)
{
	TL_TRY(tl__staging_dir(&p->staging, folder, err));
	for (int i = 0; i < FILES; i++)
		TL_TRY(tl__staging_file(&p->path[i], &p->shown[i], &p->staging, file_names[i], err));
	return 0;
}

static void places_close(places *p)
{
	tl__staging_end(&p->staging);
	for (int i = 0; i < FILES; i++) {
		tl__free(p->path[i]);
		tl__free(p->shown[i]);
	}
}

static int write_text(const places *p, diff_file file, const tl_buf *text, tl_error *err)
{
	tl_output *out;
	if (text->failed)
		return tl__nomem(err);
	TL_TRY(tl__output_open_as(&out, p->path[file], p->shown[file], err));
	tl__output_write(out, text->v, text->n);
	return tl__output_commit(out, err);
}

static int write_part(void *output, const char *text, size_t n)
{
	tl__output_write(output, text, n);
	return tl__output_failed(output);
}

static int write_maps(const places *p, const tl_diff_rows *r, tl_table *map, tl_error *err)
{
	static const tl_sort_key by_name[] = {{"cpu_op_name", false}, {"source", false}};
	static const diff_file files[] = {MAP_TRACE1, MAP_TRACE2};
	tl_buf text = {0};
	put_map(&text, map);
	int code = write_text(p, MAP, &text, err);
	if (code == 0)
		code = tl__table_sort(map, by_name, 2, err);
	for (int s = 0; s < 2 && code == 0; s++) {
		tl__buf_clear(&text);
		put_side(&text, map, r->source[s]);
		code = write_text(p, files[s], &text, err);
	}
	tl__buf_free(&text);
	return code;
}

static int write_stats(const places *p, const tl_diff_rows *r, tl_error *err)
{
	tl_table *stats = NULL;
	int code = tl__diff_stats(&stats, r, err);
	if (code == 0)
		code = tl__table_write_csv(stats, p->path[STATS], p->shown[STATS], p->threaded, err);
	tl_table_free(stats);
	return code;
}

/* What sums the events up is written beside the table of all of them. */
typedef struct summary_writer {
	const tl_diff_rows *rows;
	const places *places;
	int code;
	tl_error err;
} summary_writer;

static int write_summary(const summary_writer *w, tl_error *err)
{
	const places *p = w->places;
	tl_table *summary = NULL, *map = NULL;
	int code = tl__diff_unique_args(&summary, w->rows, err);
	if (code == 0)
		code = tl__table_write_csv(summary, p->path[SUMMARY], p->shown[SUMMARY], false, err);
	if (code == 0)
		code = tl__diff_op_map(&map, w->rows, summary, err);
	if (code == 0)
		code = write_maps(p, w->rows, map, err);
	tl_table_free(summary);
	tl_table_free(map);
	return code;
}

static void write_summary_beside(void *user)
{
	summary_writer *w = user;
	w->code = write_summary(w, &w->err);
}

static int write_tables(const places *p, const tl_diff_rows *r, tl_error *err)
{
	summary_writer w = {.rows = r, .places = p, .err = TL_ERROR_INIT};
	tl_aside aside;
	tl__aside_start(&aside, write_summary_beside, &w, p->threaded);
	int code = write_stats(p, r, err);
	tl__aside_finish(&aside);
	if (code == 0 && w.code < 0 && err)
		*err = w.err;
	return code < 0 ? code : w.code;
}

/* The merged tree is written beside the tables: neither needs the other. */
typedef struct tree_writer {
	const tl_diff *diff;
	const places *places;
	bool prune;
	int code;
	tl_error err;
} tree_writer;

static int write_tree(tree_writer *w)
{
	tl_diff_print_options o = {.prune_non_gpu = w->prune};
	tl_output *out;
	TL_TRY(tl__output_open_as(&out, w->places->path[TREE], w->places->shown[TREE], &w->err));
	int code = tl_diff_print(w->diff, &o, write_part, out, &w->err);
	if (code == 0 || code == TL_ECALLBACK) /* which says better what went wrong */
		return tl__output_commit(out, &w->err);
	tl__output_abort(out);
	return code;
}

static void write_tree_beside(void *user)
{
	tree_writer *w = user;
	w->code = write_tree(w);
}

/* `largest` may be NULL. It is made while nobody else reads the names of the rows, as it adds to them. */
static int write_rows(tl_table **largest, const tl_diff *diff, const places *p, tl_error *err)
{
	tl_diff_rows rows;
	TL_TRY(tl__diff_rows_new(&rows, diff, err));
	int code = largest ? tl__diff_largest(largest, &rows, err) : 0;
	if (code == 0)
		code = write_tables(p, &rows, err);
	tl__diff_rows_free(&rows);
	return code;
}

/* Merged nodes from which on it is worth a thread. */
enum { MANY = 100000 };

static int write_files(tl_table **largest, const tl_diff *diff, const places *p, bool prune_non_gpu, tl_error *err)
{
	tree_writer w = {.diff = diff, .places = p, .prune = prune_non_gpu, .err = TL_ERROR_INIT};
	tl_aside aside;
	tl__aside_start(&aside, write_tree_beside, &w, p->threaded);
	int code = write_rows(largest, diff, p, err);
	tl__aside_finish(&aside);
	if (w.code == 0)
		return code;
	if (err)
		*err = w.err;
	return w.code;
}

static int write_folder(tl_table **largest, const tl_diff *diff, const char *name, bool prune_non_gpu, tl_error *err)
{
	places p = {.threaded = diff->n >= MANY && !diff->single_thread};
	int code = places_open(&p, name, err);
	if (code == 0)
		code = write_files(largest, diff, &p, prune_non_gpu, err);
	if (code == 0)
		code = tl__staging_commit(&p.staging, err);
	places_close(&p);
	return code;
}

int tl_diff_write(const tl_diff *diff, const char *name, bool prune_non_gpu, tl_error *err)
{
	return write_folder(NULL, diff, name, prune_non_gpu, err);
}

int tl_diff_write_with_largest(tl_table **largest, const tl_diff *diff, const char *name, bool prune_non_gpu,
			       tl_error *err)
{
	*largest = NULL;
	int code = write_folder(largest, diff, name, prune_non_gpu, err);
	if (code < 0) {
		tl_table_free(*largest);
		*largest = NULL;
	}
	return code;
}
