/* SPDX-License-Identifier: MIT */
/**
 * @file core.h
 * TraceLens._core: the library's objects as Python objects. Nothing here computes; it converts, counts references,
 * releases the GIL around long work and turns failures into exceptions.
 */
#ifndef TL_PYTHON_CORE_H
#define TL_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <tracelens/tracelens.h>

/* ---- objects ---- */

/** Where on its stream each GPU event is. */
typedef struct core_streams core_streams;

/** A loaded trace. */
typedef struct core_trace {
	PyObject_HEAD
	tl_trace *trace;
	/** The packed file, until somebody asks for a whole event: most scripts do not, and packing the texts takes
	 * time. */
	PyObject *packed;
	PyThread_type_lock lock; /* held while the texts are read */
	core_streams *streams;   /* NULL: nobody has asked yet */
} core_trace;

/** Texts by address: the library hands out equal names at equal addresses, so each becomes one Python string. */
typedef struct core_texts {
	struct core_text {
		const char *key;
		PyObject *text;
	} * slots;
	size_t mask, n; /* mask + 1 slots, a power of two; none at first */
} core_texts;

typedef struct core_analyzer core_analyzer;

enum { CORE_RECENT = 128 };

/** A tree over a trace, built or not yet. Events are views into it, made when asked for. */
typedef struct core_tree {
	PyObject_HEAD
	core_trace *trace;
	tl_tree *tree; /* NULL: not built yet */
	bool prune;    /* events without GPU work have the key non_gpu_path */
	bool edited;   /* the events are no longer those of the file */
	bool editing;
	unsigned long version; /* another one whenever names, events or their places may have changed */
	/** Row -> Python object of the event, borrowed; NULL where there is none. An event takes itself out when it
	 * dies. */
	PyObject **live;
	size_t n_live;
	PyObject *overlay; /* row -> dict of what was assigned to the event */
	PyObject *added;   /* list of rows that exist in the overlay only, rising from the number of events on */
	PyObject *dirty;   /* dict used as an ordered set: rows whose assignments the library does not know yet */
	/** Whole events parsed lately, by row modulo CORE_RECENT. */
	struct {
		PyObject *whole;
		tl_row row;
	} recent[CORE_RECENT];
	core_texts texts;
	core_analyzer *analyzers; /* all that were made of this tree */
	core_analyzer *overlaps;  /* the one that was last asked for a timeline or overlaps; NULL: none was */
	PyThread_type_lock lock;  /* held while the library works on the tree */
	unsigned long owner;      /* thread that holds it, 0 when none does */
	PyObject *weak;
} core_tree;

/** One event. */
typedef struct core_event {
	PyObject_HEAD
	core_tree *tree;
	PyObject *weak;
	tl_row row;
} core_event;

struct core_analyzer {
	PyObject_HEAD
	core_tree *tree;
	tl_analyzer *analyzer; /* NULL: to be made; edits of the tree and new models drop it */
	tl_arch *arch;
	tl_analyzer_options options;
	char *inductor;
	PyObject *models;     /* list of (name, category, bwd category, sheet, function of an event) */
	PyObject *categories; /* list of (operation, category) */
	core_analyzer *next, *previous;
};

/** A table. */
typedef struct core_table {
	PyObject_HEAD
	tl_table *table;
	PyObject *owner; /* of `table`; NULL: the object itself */
} core_table;

typedef struct core_edit {
	PyObject_HEAD
	core_tree *tree;
	tl_edit *edit; /* NULL: ended */
} core_edit;

extern PyTypeObject core_trace_type, core_tree_type, core_event_type, core_events_type, core_analyzer_type,
	core_table_type, core_edit_type, core_report_type, core_diff_type, core_comparison_type;

/* ---- errors and texts: core_error.c ---- */

/**
 * Raises an exception of `type`; its attributes `reason` and `file` are the name of the code and the file of the error
 * (or None), as programs want to tell failures apart. Takes `arguments`, NULL when they could not be made. Returns
 * NULL.
 */
PyObject *core_raise_as(PyObject *type, PyObject *arguments, int code, const tl_error *err);
/** Raises what fits `code`; a Python exception that is already set stays. Returns NULL. */
PyObject *core_raise(int code, const tl_error *err);
/** The same when something about the file at `path` failed: OSError with its errno where the system refused. */
PyObject *core_raise_file(int code, const tl_error *err, const char *path);
/** For "O&" of PyArg_ParseTuple: a path as bytes, to be released, or None as NULL. */
int core_path(PyObject *object, void *out);
/** Bytes of the library as a string; what is no UTF-8 becomes U+FFFD. */
PyObject *core_text(const char *text, size_t n);
/** The same of a text that stays where it is as long as `texts`: one string each. New reference. */
PyObject *core_texts_get(core_texts *texts, const char *text, size_t n);
void core_texts_clear(core_texts *texts);
/** Whether it can stand for an event or its args: a mapping, not just something with items. */
bool core_is_mapping(PyObject *object);
/** UTF-8 of a str; NULL with TypeError naming `what`. */
const char *core_utf8(PyObject *text, const char *what);
/** Appends to the Python list `user`, one string each: a tl_write_fn for call stacks, to be called with the GIL. */
int core_collect(void *user, const char *text, size_t n);
/** A list of UIDs. */
PyObject *core_rows(const tl_row *rows, size_t n);
/**
 * What is in a sequence now, as a tuple: its owner may change it, in another thread or in code that is called for an
 * item. `needed` is what a TypeError says.
 */
PyObject *core_snapshot(PyObject *sequence, const char *needed);
/** The UIDs in a sequence of integers and events of `tree`, allocated with PyMem_Malloc. False: exception set. */
bool core_take_rows(tl_row **out, size_t *n, PyObject *sequence, core_tree *tree);

/* ---- traces: core_trace.c ---- */

/** Makes the texts of whole events available, where they are kept at all. False: exception set. */
bool core_trace_whole(core_trace *trace);
/** A tl_progress_fn: ends the loading on Ctrl-C. `user`: a Python function of (done, total), or NULL. */
int core_on_progress(void *user, uint64_t done, uint64_t total);

/* ---- streams: core_streams.c ---- */

/** Position of a GPU event on its stream by start, -1 when it has none. False: exception set. */
bool core_stream_index(core_trace *trace, tl_row row, long *out);
void core_streams_free(core_streams *streams);

/* ---- tables: core_table.c ---- */

/** Takes over `table`; NULL with an exception. */
PyObject *core_table_new(tl_table *table);
/** A view of a table that belongs to `owner`. */
PyObject *core_table_view(const tl_table *table, PyObject *owner);
/** A JSON text as Python values. */
PyObject *core_parse_json(const char *text, size_t n);

/** A list, tuple or dict that is being filled. */
typedef struct core_open_value {
	PyObject *value, *key; /* key: name of the value that comes next in a dict */
	size_t at, n;
} core_open_value;
enum { CORE_DEEPEST = 210 };
/** A Python value in the making from pieces that the library tells; `depth` 0 to begin with. */
typedef struct core_builder {
	PyObject
		*texts; /* dict of texts that were told before, so that equal ones are one object; NULL: none is kept */
	PyObject *result;
	size_t depth;
	core_open_value open[CORE_DEEPEST];
} core_builder;
/** A tl_item_fn with a core_builder as user. */
int core_build_item(void *user, const tl_item *item);
/** The value, after the library has told it with `code`; NULL with an exception when that is a failure. */
PyObject *core_build_end(core_builder *b, int code, const tl_error *err);

/* ---- trees: core_tree.c ---- */

const tl_events *core_tree_events(const core_tree *tree);
/** Number of events, those that exist in the overlay only included. */
size_t core_tree_count(const core_tree *tree);
/** The tree, with NULL and a ValueError when it was not built. */
const tl_tree *core_tree_built(core_tree *tree);
/** UID that an integer or an event of this tree means. False: exception set (KeyError: no such event). */
bool core_tree_row(core_tree *tree, PyObject *object, tl_row *out);
/**
 * The library may work on the tree until core_tree_leave: waits for other threads, without the GIL. False with
 * RuntimeError when this thread does so already.
 */
bool core_tree_enter(core_tree *tree);
void core_tree_leave(core_tree *tree);
/** Drops what was made from the tree. */
void core_tree_drop_analyses(core_tree *tree);

/* ---- events: core_event.c ---- */

/** The one Python object of an event. New reference. */
PyObject *core_event_get(core_tree *tree, tl_row row);
/** The assigned values of an event, borrowed, or NULL (no exception). */
PyObject *core_event_overlay(core_tree *tree, tl_row row);

/** The sequence of all events. */
PyObject *core_events_new(core_tree *tree);
bool core_event_setup(void);

/* ---- analysers: core_analyzer.c ---- */

/** The set of UIDs of what overlaps a GPU event; NULL without an exception: nothing is known of it. New reference. */
PyObject *core_analyzer_overlapping(core_analyzer *self, tl_row row);
/** Registers the models and categories of `self` on `analyzer`. False: exception set. */
bool core_analyzer_register(core_analyzer *self, tl_analyzer *analyzer);

/* ---- reports: core_report.c ---- */

/** Takes over `report`; NULL with an exception. */
PyObject *core_report_new(tl_report *report, bool truncated);
/** The report in a Report, which stays as it is from now on; NULL with TypeError. */
const tl_report *core_report_use(PyObject *object);

/* ---- functions of the module ---- */

extern PyMethodDef core_timeline_methods[], core_model_methods[], core_report_methods[], core_event_functions[],
	core_compare_methods[];
bool core_timeline_setup(void);

#endif
