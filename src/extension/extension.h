/* SPDX-License-Identifier: MIT */
/**
 * @file extension.h
 * Inside of an extension file: a Lua state without any way out (sandbox.c, pattern.c), what the file declares
 * (models.c) and how it sees and changes a tree (tree.c, node.c).
 *
 * Functions that Lua calls end in a long jump when they fail: they own nothing while they may. What must outlive such
 * a jump lies in tl_extension.
 */
#ifndef TL_EXTENSION_EXTENSION_H
#define TL_EXTENSION_EXTENSION_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "perf/user_model.h"
#include "tracelens/edit.h"
#include "tracelens/extension.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/buf.h"
#include "util/error.h"

/* They end in a long jump, which the headers of Lua do not tell. */
int lua_error(lua_State *L) __attribute__((noreturn));
int luaL_error(lua_State *L, const char *format, ...) __attribute__((noreturn));
int luaL_argerror(lua_State *L, int argument, const char *message) __attribute__((noreturn));
int luaL_typeerror(lua_State *L, int argument, const char *type) __attribute__((noreturn));
const char *luaL_checklstring(lua_State *L, int argument, size_t *n) __attribute__((returns_nonnull));

/** A model that the file declares. */
typedef struct tl_lua_model {
	struct tl_extension *extension;
	struct tl_lua_model *next;
	char *name, *category, *bwd_category, *sheet; /* the last three may be NULL */
	uint32_t reads;                               /* 0: default */
	int function;                                 /* reference in the registry of Lua */
	char *origin;                                 /* "ops.lua:3: ", where it was declared */
	bool complete;                                /* the declaration had no error */
	size_t failures;                              /* distinct inputs that it could not evaluate */
	char *first_failure;
} tl_lua_model;

typedef struct tl_lua_category {
	char *name, *category;
} tl_lua_category;

/** Why a run was ended from outside. */
typedef enum tl_stop {
	TL_STOP_NONE,
	TL_STOP_INSTRUCTIONS,
	TL_STOP_TIME,
	TL_STOP_MEMORY, /* over the limit */
	TL_STOP_OUTPUT, /* prints more than the limit */
	TL_STOP_SYSTEM  /* no memory */
} tl_stop;

struct tl_extension {
	lua_State *L;
	tl_extension_options options;
	tl_hook hook;
	char *label; /* path, as messages name it */

	/* what the file declares */
	bool reading;                      /* the file is being read: declarations are welcome */
	tl_lua_model *models, *last_model; /* a list, in order */
	TL_VEC(tl_lua_category) categories;
	TL_VEC(int) tree_functions; /* references */

	/* limits, see sandbox.c */
	uint64_t used, allowed;        /* instructions of the run at hand */
	uint64_t evaluations;          /* instructions of all evaluations */
	int64_t deadline_ms;           /* on the monotonic clock */
	size_t memory, memory_allowed; /* of Lua; of all together */
	size_t kept, lent;             /* of what the library keeps: declarations; edits of a tree or results */
	size_t printed;
	size_t grown;    /* bytes allocated since the last count */
	bool over_limit; /* why the last allocation failed: the limit, else the system */
	tl_stop stopped; /* the run is over, nothing catches that */
	int line;        /* last line seen, 0: none */

	/* what is at hand while a function of the file runs */
	const tl_model_input *input;
	tl_edit *edit;
	bool changed;                 /* the edit has changes */
	int nodes;                    /* reference to a weak table: UID -> node */
	TL_VEC(uint32_t) next_link;   /* links made: index of the next of the same forward event + 1 */
	TL_VEC(tl_row) link_backward; /* ... and their backward event */
	tl_map link_of;               /* forward event -> its last link */
	tl_map forward_of;            /* backward event -> forward event of links made */
	TL_VEC(tl_row) rows;          /* scratch */
	tl_arena arena;               /* scratch, emptied after each run */
	tl_buf text;                  /* scratch */
};

static inline tl_extension *tl__extension_of(lua_State *L)
{
	return *(tl_extension **)lua_getextraspace(L);
}

/* ---- sandbox.c ---- */

/** A new state with the sandbox in it. TL_ENOMEM. */
int tl__sandbox_open(tl_extension *x, tl_error *err);
/**
 * Calls `body` with `data` as a light userdata, protected, within `instructions`. 0, TL_EFORMAT (an error in the
 * file), TL_ELIMIT, TL_ENOMEM. Empties the scratch memory.
 */
int tl__sandbox_run(tl_extension *x, lua_CFunction body, void *data, uint64_t instructions, tl_error *err);
/** Adds the cost of work outside Lua's machine, and ends the run when that is too much. */
void tl__sandbox_charge(lua_State *L, uint64_t instructions);
/** Ends the run unless `bytes` more fit into the limit of memory. */
void tl__sandbox_room(lua_State *L, size_t bytes);
/** The same, and counts them: the library keeps them beyond the run. */
void tl__sandbox_keep(lua_State *L, size_t bytes);
/** Raises the error of a failed function of ours: message with file and line, or an end for TL_ENOMEM. */
int tl__raise(lua_State *L, int code, const tl_error *err) __attribute__((noreturn));
/** Opens the pattern functions of `string` into the table on top of the stack. pattern.c */
void tl__sandbox_patterns(lua_State *L);

/* ---- value.c ---- */

/** Pushes a value: lists from 1, None inside a list as `null`, a missing list (NULL) as nil. */
void tl__push_value(lua_State *L, const tl_value *value);
/**
 * The value at `index`, made in x->arena (tuples for lists on request). Raises an error that begins with `what` for a
 * value that has no place: functions, mixed tables, cycles.
 */
tl_value tl__read_value(lua_State *L, int index, bool tuples, const char *what);
/** An upper estimate of the memory that parsing a JSON text takes. */
size_t tl__parsed_size(const char *json, size_t n);
/** Raises "... has no field 'x' (did you mean 'y'?)" for the key at `index`; `names` ends with NULL. */
int tl__unknown_field(lua_State *L, const char *what, int index, const char *const *names) __attribute__((noreturn));

/* ---- original.c ---- */

/** Whether the value at `index` is the one that tl__push_value makes of `value`. */
bool tl__is_value(lua_State *L, int index, const tl_value *value);
/** An upper limit for the length of a value as JSON or text. */
size_t tl__printed_size(const tl_value *value);

typedef enum tl_original { TL_ORIGINAL_VALUE, TL_ORIGINAL_COSTS } tl_original;
void tl__open_originals(lua_State *L);
/** Remembers for the table on top of the stack what its value, or its costs, were: copies that live as long as it. */
void tl__keep_value(lua_State *L, const tl_value *value);
void tl__keep_costs(lua_State *L, const tl_perf_cost costs[4]);
/** What was remembered for the table at `index`, or NULL. */
const tl_value *tl__original_value(lua_State *L, int index);
const tl_perf_cost *tl__original_costs(lua_State *L, int index);

/* ---- models.c, tree.c, node.c ---- */

/** Sets the globals `model`, `category`, `builtin`, `bytes_of` ... */
void tl__open_models(lua_State *L);
/** Sets the global `tree` and what its functions see. */
void tl__open_tree(lua_State *L);
void tl__open_nodes(lua_State *L);
/** The functions of tl_hook. */
int tl__extension_analyzer(void *extension, tl_analyzer *analyzer, tl_error *err);
int tl__extension_tree(void *extension, tl_tree *tree, tl_error *err);
void tl__lua_model_free(tl_lua_model *model);

/** Pushes the node of an event, nil for TL_ROW_NONE. */
void tl__push_node(lua_State *L, tl_row row);
/** The event of the node at `index`; raises an error when it is none, or the tree function is over. */
tl_row tl__check_node(lua_State *L, int index);
/** The same, or TL_ROW_NONE for nil and nothing. */
tl_row tl__opt_node(lua_State *L, int index);
/** Pushes the events of x->rows as a list of nodes. */
void tl__push_rows(lua_State *L);
/** Appends to x->rows, or raises an error. */
void tl__add_row(lua_State *L, tl_row row);
/** The edit at hand; raises an error when there is none. */
tl_edit *tl__check_edit(lua_State *L);
/** Notes a pair of forward and backward events, for nodes to find. */
int tl__note_link(tl_extension *x, tl_row forward, tl_row backward);

#endif
