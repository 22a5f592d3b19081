/* SPDX-License-Identifier: MIT */
/* An event of the tree as an object in Lua: what it is, what is around it, and changing it. */
#include <math.h>
#include <string.h>

#include "extension/extension.h"
#include "tree/edit.h"

static const char node_type[] = "tracelens.event";

typedef struct node {
	tl_row row;
} node;

/* ---- from and to Lua ---- */

tl_edit *tl__check_edit(lua_State *L)
{
	tl_edit *edit = tl__extension_of(L)->edit;
	if (!edit)
		luaL_error(L, "the tree function is over: its events can no longer be used");
	return edit;
}

tl_row tl__check_node(lua_State *L, int index)
{
	/* an item of a table has no number as an argument */
	const node *n = index < 0 ? luaL_testudata(L, index, node_type) : luaL_checkudata(L, index, node_type);
	if (!n)
		luaL_error(L, "an event is needed, not a %s", luaL_typename(L, index));
	(void)tl__check_edit(L);
	return n->row;
}

tl_row tl__opt_node(lua_State *L, int index)
{
	return lua_isnoneornil(L, index) ? TL_ROW_NONE : tl__check_node(L, index);
}

/* One object an event, so that objects can be compared and be keys of tables. */
void tl__push_node(lua_State *L, tl_row row)
{
	if (row == TL_ROW_NONE) {
		lua_pushnil(L);
		return;
	}
	luaL_checkstack(L, 4, "too many events at once");
	lua_rawgeti(L, LUA_REGISTRYINDEX, tl__extension_of(L)->nodes);
	if (lua_rawgeti(L, -1, (lua_Integer)row) == LUA_TNIL) {
		lua_pop(L, 1);
		node *n = lua_newuserdatauv(L, sizeof *n, 0);
		n->row = row;
		luaL_setmetatable(L, node_type);
		lua_pushvalue(L, -1);
		lua_rawseti(L, -3, (lua_Integer)row);
	}
	lua_remove(L, -2);
}

void tl__add_row(lua_State *L, tl_row row)
{
	tl_extension *x = tl__extension_of(L);
	if (TL_VEC_PUSH(&x->rows, row) < 0)
		tl__raise(L, TL_ENOMEM, NULL);
}

void tl__push_rows(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	tl__sandbox_charge(L, x->rows.n);
	lua_createtable(L, x->rows.n < 1000000 ? (int)x->rows.n : 0, 0);
	for (size_t i = 0; i < x->rows.n; i++) {
		tl__push_node(L, x->rows.v[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	x->rows.n = 0;
}

/* Raises the error of an edit, or notes that there is a change. */
static void done(lua_State *L, int code, const tl_error *err)
{
	if (code < 0)
		tl__raise(L, code, err);
	tl__extension_of(L)->changed = true;
	tl__sandbox_charge(L, 10);
}

/* ---- reading ---- */

static void push_time(lua_State *L, tl_time time)
{
	if (time == TL_TIME_NONE)
		lua_pushnil(L);
	else
		lua_pushnumber(L, (double)time / 1e6);
}

/* Scratch memory that is worth keeping for the next call. */
enum { KEPT_SCRATCH = 1 << 20 };

/* What was parsed is in Lua, or in the tree. */
static void empty_scratch(tl_extension *x)
{
	if (x->arena.total > KEPT_SCRATCH)
		tl__arena_free(&x->arena);
}

/* Pushes an argument; `instead` of a missing one an empty table or nil. */
static void push_arg(lua_State *L, tl_row row, const char *key, bool empty_table)
{
	tl_extension *x = tl__extension_of(L);
	const char *json;
	const tl_value *value = NULL;
	if (tl_edit_arg(&json, x->edit, row, key) < 0)
		tl__raise(L, TL_ENOMEM, NULL);
	if (json) {
		size_t n = strlen(json);
		tl__sandbox_charge(L, n / 8);
		tl__sandbox_room(L, tl__parsed_size(json, n));
		int code = tl__value_parse(&x->arena, json, n, false, &value);
		if (code == TL_ENOMEM)
			tl__raise(L, code, NULL);
		if (code < 0)
			value = NULL;
	}
	if (value && value->kind != TL_V_NONE)
		tl__push_value(L, value);
	else if (empty_table)
		lua_newtable(L);
	else
		lua_pushnil(L);
	empty_scratch(x);
}

static void push_children(lua_State *L, tl_row row)
{
	const tl_edit *e = tl__check_edit(L);
	tl__extension_of(L)->rows.n = 0;
	for (tl_row at = tl_edit_first_child(e, row); at != TL_ROW_NONE; at = tl_edit_next_sibling(e, at))
		tl__add_row(L, at);
	tl__push_rows(L);
}

static void push_gpu_events(lua_State *L, tl_row row)
{
	const tl_edit *e = tl__check_edit(L);
	tl__extension_of(L)->rows.n = 0;
	uint64_t seen = 0;
	if (tl_edit_in_tree(e, row)) {
		for (tl_row at = tl_edit_next(e, row, row); at != TL_ROW_NONE; at = tl_edit_next(e, at, row), seen++)
			if (tl_edit_is_gpu(e, at))
				tl__add_row(L, at);
	}
	tl__sandbox_charge(L, seen / 4);
	tl__push_rows(L);
}

static tl_row forward_of(lua_State *L, tl_row row)
{
	const tl_extension *x = tl__extension_of(L);
	uint32_t made = tl__map_get(&x->forward_of, row);
	return made != TL_MAP_NONE ? made : tl_tree_forward(x->edit->tree, row);
}

static void push_backward(lua_State *L, tl_row row)
{
	tl_extension *x = tl__extension_of(L);
	const tl_tree *tree = x->edit->tree;
	size_t n = tl_tree_backward(tree, row, NULL, 0);
	x->rows.n = 0;
	if (TL_VEC_RESERVE(&x->rows, n) < 0)
		tl__raise(L, TL_ENOMEM, NULL);
	x->rows.n = tl_tree_backward(tree, row, x->rows.v, n);
	size_t first = x->rows.n;
	for (uint32_t at = tl__map_get(&x->link_of, row); at != TL_MAP_NONE && at != 0; at = x->next_link.v[at - 1])
		tl__add_row(L, x->link_backward.v[at - 1]);
	/* in the order in which they were made */
	for (size_t i = first, j = x->rows.n; i + 1 < j; i++, j--) {
		tl_row swap = x->rows.v[i];
		x->rows.v[i] = x->rows.v[j - 1];
		x->rows.v[j - 1] = swap;
	}
	tl__push_rows(L);
}

int tl__note_link(tl_extension *x, tl_row forward, tl_row backward)
{
	uint32_t before = tl__map_get(&x->link_of, forward);
	if (TL_VEC_RESERVE(&x->next_link, 1) < 0 || TL_VEC_RESERVE(&x->link_backward, 1) < 0)
		return TL_ENOMEM;
	uint32_t index = (uint32_t)x->next_link.n + 1;
	TL_TRY(tl__map_set(&x->forward_of, backward, forward));
	TL_TRY(tl__map_set(&x->link_of, forward, index));
	x->next_link.v[x->next_link.n++] = before == TL_MAP_NONE ? 0 : before;
	x->link_backward.v[x->link_backward.n++] = backward;
	return 0;
}

/* ---- arguments by field ---- */

static const struct {
	const char *field, *key;
	bool list; /* an empty table stands for a missing one */
	bool writable;
} arguments[] = {
	{"dims", "Input Dims", true, true},           {"types", "Input type", true, true},
	{"strides", "Input Strides", true, true},     {"concrete", "Concrete Inputs", true, true},
	{"sequence", "Sequence number", false, true}, {"external_id", "External id", false, true},
	{"correlation", "correlation", false, false}, {"stream", "stream", false, false},
};
enum { ARGUMENTS = sizeof arguments / sizeof arguments[0] };

static const char *const fields[] = {
	"uid",          "name",     "category",     "ts",          "dur",         "is_gpu",    "in_tree",
	"parent",       "children", "gpu_events",   "forward",     "backward",    "dims",      "types",
	"strides",      "concrete", "sequence",     "external_id", "correlation", "stream",    "arg",
	"set_arg",      "rename",   "set_category", "set_time",    "set_thread",  "copy_args", "wrap",
	"insert_above", "isolate",  "reparent",     "detach",      "descendants", NULL};

static int get_field(lua_State *L)
{
	tl_row row = tl__check_node(L, 1);
	tl_edit *e = tl__check_edit(L);
	const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
	for (size_t i = 0; i < ARGUMENTS; i++) {
		if (!strcmp(arguments[i].field, key)) {
			push_arg(L, row, arguments[i].key, arguments[i].list);
			return 1;
		}
	}
	if (!strcmp(key, "name"))
		lua_pushstring(L, tl_edit_name(e, row));
	else if (!strcmp(key, "category"))
		lua_pushstring(L, tl_edit_category(e, row));
	else if (!strcmp(key, "uid"))
		lua_pushinteger(L, (lua_Integer)row);
	else if (!strcmp(key, "ts"))
		push_time(L, tl_edit_start(e, row));
	else if (!strcmp(key, "dur"))
		push_time(L, tl_edit_duration(e, row));
	else if (!strcmp(key, "is_gpu"))
		lua_pushboolean(L, tl_edit_is_gpu(e, row));
	else if (!strcmp(key, "in_tree"))
		lua_pushboolean(L, tl_edit_in_tree(e, row));
	else if (!strcmp(key, "parent"))
		tl__push_node(L, tl_edit_parent(e, row));
	else if (!strcmp(key, "children"))
		push_children(L, row);
	else if (!strcmp(key, "gpu_events"))
		push_gpu_events(L, row);
	else if (!strcmp(key, "forward"))
		tl__push_node(L, forward_of(L, row));
	else if (!strcmp(key, "backward"))
		push_backward(L, row);
	else {
		/* a method, in the upvalue */
		lua_pushvalue(L, 2);
		if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL)
			return tl__unknown_field(L, "an event", 2, fields);
	}
	return 1;
}

/* ---- changing ---- */

/* Bytes that an edit keeps, besides texts: at most this. */
enum { AN_ARGUMENT = 64, AN_EVENT = 256 };

/* Sets an argument to the value at `index`; nil takes it away. */
static void set_arg(lua_State *L, tl_row row, const char *key, int index, bool list)
{
	tl_extension *x = tl__extension_of(L);
	tl_edit *e = tl__check_edit(L);
	tl_error err = TL_ERROR_INIT;
	if (lua_isnil(L, index)) {
		done(L, tl_edit_set_arg(e, row, key, NULL, &err), &err);
		return;
	}
	tl_value value = tl__read_value(L, index, false, key);
	if (value.kind == TL_V_DICT && value.n == 0)
		value.kind = TL_V_LIST; /* {} in Lua is both; empty objects do not occur */
	if (list && value.kind != TL_V_LIST)
		luaL_error(L, "'%s' must be a list, not a %s", key, luaL_typename(L, index));
	size_t size = tl__printed_size(&value);
	tl__sandbox_room(L, 3 * size); /* the text, doubled as it grows, and the tree's copy */
	tl__buf_clear(&x->text);
	tl__value_json(&x->text, &value);
	const char *json = tl__buf_text(&x->text);
	if (!json)
		tl__raise(L, TL_ENOMEM, NULL);
	tl__sandbox_keep(L, x->text.n + strlen(key) + AN_ARGUMENT);
	tl__sandbox_charge(L, x->text.n / 8);
	done(L, tl_edit_set_arg(e, row, key, json, &err), &err);
	empty_scratch(x);
	if (x->text.cap > KEPT_SCRATCH)
		tl__buf_free(&x->text);
}

static const char *check_text(lua_State *L, int index, const char *what)
{
	size_t n;
	if (lua_type(L, index) != LUA_TSTRING)
		luaL_error(L, "%s must be a string, not a %s", what, luaL_typename(L, index));
	const char *text = lua_tolstring(L, index, &n);
	if (!n || strlen(text) != n)
		luaL_error(L, "%s must not be empty or hold NUL bytes", what);
	return text;
}

/* The same of what the tree keeps. */
static const char *kept_text(lua_State *L, int index, const char *what, size_t more)
{
	const char *text = check_text(L, index, what);
	tl__sandbox_keep(L, (size_t)lua_rawlen(L, index) + more);
	return text;
}

static int method_rename(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = tl__check_node(L, 1);
	done(L, tl_edit_rename(tl__check_edit(L), row, kept_text(L, 2, "a name", AN_ARGUMENT), &err), &err);
	return 0;
}

static int method_set_category(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = tl__check_node(L, 1);
	done(L, tl_edit_set_category(tl__check_edit(L), row, kept_text(L, 2, "a category", AN_ARGUMENT), &err), &err);
	return 0;
}

static int set_field(lua_State *L)
{
	tl_row row = tl__check_node(L, 1);
	const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
	for (size_t i = 0; i < ARGUMENTS; i++) {
		if (!strcmp(arguments[i].field, key) && arguments[i].writable) {
			set_arg(L, row, arguments[i].key, 3, arguments[i].list);
			return 0;
		}
	}
	bool rename = !strcmp(key, "name");
	if (rename || !strcmp(key, "category")) {
		lua_remove(L, 2);
		return rename ? method_rename(L) : method_set_category(L);
	}
	for (const char *const *f = fields; *f; f++)
		if (!strcmp(*f, key))
			return luaL_error(L, "field '%s' of an event cannot be set", key);
	return tl__unknown_field(L, "an event", 2, fields);
}

/* e:arg("MoE topk") */
static int method_arg(lua_State *L)
{
	push_arg(L, tl__check_node(L, 1), check_text(L, 2, "the key of an argument"), false);
	return 1;
}

/* e:set_arg("MoE topk", 8) */
static int method_set_arg(lua_State *L)
{
	lua_settop(L, 3);
	set_arg(L, tl__check_node(L, 1), check_text(L, 2, "the key of an argument"), 3, false);
	return 0;
}

static tl_time check_time(lua_State *L, int index)
{
	double us = luaL_checknumber(L, index);
	if (!(fabs(us) < 9e12))
		luaL_error(L, "a time must be a number of microseconds");
	return (tl_time)llround(us * (double)TL_PS_PER_US);
}

/* e:set_time(ts, dur) in microseconds */
static int method_set_time(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = tl__check_node(L, 1);
	tl_time start = check_time(L, 2), dur = check_time(L, 3);
	done(L, tl_edit_set_time(tl__check_edit(L), row, start, dur, &err), &err);
	return 0;
}

static int method_set_thread(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = tl__check_node(L, 1), like = tl__check_node(L, 2);
	done(L, tl_edit_set_thread(tl__check_edit(L), row, like, &err), &err);
	return 0;
}

static int method_copy_args(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = tl__check_node(L, 1), from = tl__check_node(L, 2);
	tl__sandbox_keep(L, AN_EVENT);
	done(L, tl_edit_copy_args(tl__check_edit(L), row, from, &err), &err);
	return 0;
}

/* e:wrap(name): a new operation between e and its children */
static int method_wrap(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row out, row = tl__check_node(L, 1);
	done(L, tl_edit_wrap(tl__check_edit(L), &out, kept_text(L, 2, "a name", AN_EVENT), row, &err), &err);
	tl__push_node(L, out);
	return 1;
}

/* e:insert_above(name): a new operation between e and its parent */
static int method_insert_above(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row out, row = tl__check_node(L, 1);
	done(L, tl_edit_insert_above(tl__check_edit(L), &out, kept_text(L, 2, "a name", AN_EVENT), row, &err), &err);
	tl__push_node(L, out);
	return 1;
}

/* kernel:isolate(name): a new operation around one GPU event */
static int method_isolate(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row out, row = tl__check_node(L, 1);
	done(L, tl_edit_isolate(tl__check_edit(L), &out, kept_text(L, 2, "a name", AN_EVENT), &row, 1, &err), &err);
	tl__push_node(L, out);
	return 1;
}

/* e:reparent(parent [, before]); parent nil makes it a root */
static int method_reparent(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = tl__check_node(L, 1), parent = tl__opt_node(L, 2), before = tl__opt_node(L, 3);
	done(L, tl_edit_reparent(tl__check_edit(L), row, parent, before, &err), &err);
	return 0;
}

static int method_detach(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_row row = tl__check_node(L, 1);
	done(L, tl_edit_detach(tl__check_edit(L), row, &err), &err);
	return 0;
}

/* e:descendants([name]): all below e, parents first */
static int method_descendants(lua_State *L)
{
	tl_row row = tl__check_node(L, 1);
	const tl_edit *e = tl__check_edit(L);
	const char *name = lua_isnoneornil(L, 2) ? NULL : check_text(L, 2, "a name");
	uint64_t seen = 0;
	tl__extension_of(L)->rows.n = 0;
	if (tl_edit_in_tree(e, row)) {
		for (tl_row at = tl_edit_next(e, row, row); at != TL_ROW_NONE; at = tl_edit_next(e, at, row), seen++)
			if (!name || !strcmp(tl_edit_name(e, at), name))
				tl__add_row(L, at);
	}
	tl__sandbox_charge(L, seen / 4);
	tl__push_rows(L);
	return 1;
}

static int to_text(lua_State *L)
{
	const node *n = luaL_checkudata(L, 1, node_type);
	const tl_edit *e = tl__extension_of(L)->edit;
	if (e)
		lua_pushfstring(L, "event %I '%s'", (LUAI_UACINT)n->row, tl_edit_name(e, n->row));
	else
		lua_pushfstring(L, "event %I", (LUAI_UACINT)n->row);
	return 1;
}

void tl__open_nodes(lua_State *L)
{
	static const luaL_Reg methods[] = {{"arg", method_arg},
					   {"set_arg", method_set_arg},
					   {"rename", method_rename},
					   {"set_category", method_set_category},
					   {"set_time", method_set_time},
					   {"set_thread", method_set_thread},
					   {"copy_args", method_copy_args},
					   {"wrap", method_wrap},
					   {"insert_above", method_insert_above},
					   {"isolate", method_isolate},
					   {"reparent", method_reparent},
					   {"detach", method_detach},
					   {"descendants", method_descendants},
					   {NULL, NULL}};
	luaL_newmetatable(L, node_type);
	lua_newtable(L);
	luaL_setfuncs(L, methods, 0);
	lua_pushcclosure(L, get_field, 1);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, set_field);
	lua_setfield(L, -2, "__newindex");
	lua_pushcfunction(L, to_text);
	lua_setfield(L, -2, "__tostring");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}
