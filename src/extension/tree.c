/* SPDX-License-Identifier: MIT */
/* tree(function(t) ... end): what such a function sees of the whole tree, and the edit that it works in. */
#include <string.h>

#include "extension/extension.h"
#include "tree/edit.h"
#include "util/sort.h"

static const char tree_type[] = "tracelens.tree";

/* ---- finding events ---- */

static bool starts_before(const void *context, uint32_t a, uint32_t b)
{
	const tl_store *s = context;
	tl_time x = s->start[a], y = s->start[b];
	return x != y ? x < y : a < b;
}

static void sort_rows(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	tl__sandbox_charge(L, x->rows.n);
	if (tl__sort(x->rows.v, x->rows.n, starts_before, x->edit->store) < 0)
		tl__raise(L, TL_ENOMEM, NULL);
}

/* What is looked for; 0 and NULL: anything. */
typedef struct wanted {
	tl_str name;
	const char *category;
	bool nothing; /* no event can have it */
} wanted;

/* Sets the name of an event that is looked for, or that there is none. */
static void want_name(lua_State *L, wanted *w, int index)
{
	size_t n;
	const char *name = lua_tolstring(L, index, &n);
	w->name = tl__strings_find(tl__check_edit(L)->store->strings, name, n);
	w->nothing = w->nothing || w->name == TL_STR_NONE;
}

/* t:events(), t:events("aten::mm"), t:events { name = ..., category = ... } */
static void read_wanted(lua_State *L, wanted *w)
{
	static const char *const names[] = {"name", "category", NULL};
	if (lua_isnoneornil(L, 2))
		return;
	if (lua_type(L, 2) == LUA_TSTRING) {
		want_name(L, w, 2);
		return;
	}
	if (!lua_istable(L, 2))
		luaL_error(L, "t:events takes a name or { name = ..., category = ... }, not a %s", luaL_typename(L, 2));
	for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
		bool name = !strcmp(key, "name");
		if (!name && strcmp(key, "category") != 0)
			tl__unknown_field(L, "what t:events looks for", -2, names);
		if (lua_type(L, -1) != LUA_TSTRING)
			luaL_error(L, "'%s' must be a string, not a %s", key, luaL_typename(L, -1));
		if (name)
			want_name(L, w, -1);
		else
			w->category = lua_tostring(L, -1); /* the table keeps it */
	}
}

static int tree_events(lua_State *L)
{
	luaL_checkudata(L, 1, tree_type);
	const tl_edit *e = tl__check_edit(L);
	wanted w = {0};
	read_wanted(L, &w);
	tl__extension_of(L)->rows.n = 0;
	tl__sandbox_charge(L, e->store->n / 16);
	for (size_t row = 0; row < e->store->n && !w.nothing; row++) {
		if (w.name && e->store->name[row] != w.name)
			continue;
		if (!tl_edit_in_tree(e, (tl_row)row))
			continue;
		if (!w.category || !strcmp(tl_edit_category(e, (tl_row)row), w.category))
			tl__add_row(L, (tl_row)row);
	}
	sort_rows(L);
	tl__push_rows(L);
	return 1;
}

static int tree_roots(lua_State *L)
{
	luaL_checkudata(L, 1, tree_type);
	const tl_edit *e = tl__check_edit(L);
	tl__extension_of(L)->rows.n = 0;
	for (tl_row at = tl_edit_first_child(e, TL_ROW_NONE); at != TL_ROW_NONE; at = tl_edit_next_sibling(e, at))
		tl__add_row(L, at);
	tl__push_rows(L);
	return 1;
}

/* t:event(uid), nil beyond the last */
static int tree_event(lua_State *L)
{
	luaL_checkudata(L, 1, tree_type);
	lua_Integer uid = luaL_checkinteger(L, 2);
	size_t n = tl_edit_count(tl__check_edit(L));
	tl__push_node(L, uid >= 0 && (uint64_t)uid < n ? (tl_row)uid : TL_ROW_NONE);
	return 1;
}

static int tree_count(lua_State *L)
{
	luaL_checkudata(L, 1, tree_type);
	lua_pushinteger(L, (lua_Integer)tl_edit_count(tl__check_edit(L)));
	return 1;
}

/* ---- changing ---- */

/* Bytes that an edit keeps, besides texts: at most this. */
enum { AN_EVENT = 256, A_LINK = 128 };

/* t:append { name = ..., like = event, parent = event or nil, before = event or nil } */
static int tree_append(lua_State *L)
{
	static const char *const names[] = {"name", "like", "parent", "before", NULL};
	tl_error err = TL_ERROR_INIT;
	tl_row out, rows[3];
	luaL_checkudata(L, 1, tree_type);
	if (!lua_istable(L, 2))
		return luaL_error(L, "t:append takes a table: { name = ..., like = ..., parent = ... }");
	for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
		size_t i = 0;
		while (names[i] && (lua_type(L, -2) != LUA_TSTRING || strcmp(names[i], lua_tostring(L, -2)) != 0))
			i++;
		if (!names[i])
			return tl__unknown_field(L, "what t:append takes", -2, names);
	}
	if (lua_getfield(L, 2, "name") != LUA_TSTRING || !lua_rawlen(L, -1))
		return luaL_error(L, "t:append needs a name, not a %s", luaL_typename(L, -1));
	for (int i = 0; i < 3; i++) {
		lua_getfield(L, 2, names[i + 1]);
		rows[i] = tl__opt_node(L, -1);
	}
	if (rows[0] == TL_ROW_NONE)
		return luaL_error(L, "t:append needs 'like', an event whose thread and times the new one takes");
	tl__sandbox_keep(L, (size_t)lua_rawlen(L, -4) + AN_EVENT);
	int code = tl_edit_append(tl__check_edit(L), &out, lua_tostring(L, -4), rows[0], rows[1], rows[2], &err);
	if (code < 0)
		return tl__raise(L, code, &err);
	tl__extension_of(L)->changed = true;
	tl__push_node(L, out);
	return 1;
}

/* t:link(forward, backward) */
static int tree_link(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_extension *x = tl__extension_of(L);
	luaL_checkudata(L, 1, tree_type);
	tl_row forward = tl__check_node(L, 2), backward = tl__check_node(L, 3);
	size_t before = x->edit->links.n;
	tl__sandbox_keep(L, A_LINK);
	int code = tl_edit_link(x->edit, forward, backward, &err);
	if (code == 0 && x->edit->links.n > before)
		code = tl__note_link(x, forward, backward);
	if (code < 0)
		return tl__raise(L, code, &err);
	x->changed = true;
	return 0;
}

/* t:isolate(name, { gpu events of one launch }) */
static int tree_isolate(lua_State *L)
{
	tl_error err = TL_ERROR_INIT;
	tl_extension *x = tl__extension_of(L);
	tl_row out;
	luaL_checkudata(L, 1, tree_type);
	const char *name = luaL_checkstring(L, 2);
	luaL_checktype(L, 3, LUA_TTABLE);
	lua_Integer n = (lua_Integer)lua_rawlen(L, 3);
	(void)tl__check_edit(L);
	x->rows.n = 0;
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, 3, i);
		tl__add_row(L, tl__check_node(L, -1));
		lua_pop(L, 1);
	}
	tl__sandbox_keep(L, strlen(name) + AN_EVENT);
	int code = tl_edit_isolate(x->edit, &out, name, x->rows.v, x->rows.n, &err);
	if (code < 0)
		return tl__raise(L, code, &err);
	x->changed = true;
	tl__push_node(L, out);
	return 1;
}

static int unknown_method(lua_State *L)
{
	static const char *const names[] = {"events", "roots", "event", "count", "append", "link", "isolate", NULL};
	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL)
		return tl__unknown_field(L, "the tree", 2, names);
	return 1;
}

/* ---- the hook ---- */

/* tree(function(t) ... end) */
static int declare_tree(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	if (!x->reading)
		return luaL_error(L, "tree(...) belongs outside of functions: it is too late now");
	if (!lua_isfunction(L, 1))
		return luaL_error(L, "tree takes a function: tree(function(t) ... end), not a %s", luaL_typename(L, 1));
	lua_settop(L, 1);
	if (TL_VEC_RESERVE(&x->tree_functions, 1) < 0)
		return tl__raise(L, TL_ENOMEM, NULL);
	int reference = luaL_ref(L, LUA_REGISTRYINDEX);
	x->tree_functions.v[x->tree_functions.n++] = reference;
	return 0;
}

static int call_functions(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	/* nodes of this run; weak, so that a walk over all events does not keep them all */
	lua_newtable(L);
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "v");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	x->nodes = luaL_ref(L, LUA_REGISTRYINDEX);
	for (size_t i = 0; i < x->tree_functions.n; i++) {
		lua_rawgeti(L, LUA_REGISTRYINDEX, x->tree_functions.v[i]);
		(void)lua_newuserdatauv(L, 1, 0);
		luaL_setmetatable(L, tree_type);
		lua_call(L, 1, 0);
	}
	return 0;
}

static uint64_t budget(uint64_t base, uint64_t events, uint64_t each)
{
	uint64_t more, all;
	if (__builtin_mul_overflow(events, each, &more) || __builtin_add_overflow(base, more, &all))
		return UINT64_MAX;
	return all;
}

static int edit_tree(tl_extension *x, tl_tree *tree, tl_error *err)
{
	enum { INSTRUCTIONS_AN_EVENT = 1000, BYTES_AN_EVENT = 200 };
	uint64_t events = tree->store->n;
	TL_TRY(tl_edit_begin(&x->edit, tree, err));
	x->changed = false;
	x->lent = 0;
	x->next_link.n = x->link_backward.n = 0;
	tl__map_free(&x->link_of);
	tl__map_free(&x->forward_of);
	x->memory_allowed = (size_t)budget(x->options.max_memory, events, BYTES_AN_EVENT);
	int code = tl__sandbox_run(x, call_functions, NULL,
				   budget(x->options.max_instructions, events, INSTRUCTIONS_AN_EVENT), err);
	x->memory_allowed = x->options.max_memory;
	luaL_unref(x->L, LUA_REGISTRYINDEX, x->nodes); /* sets a slot that exists: takes no memory */
	x->nodes = LUA_NOREF;
	x->lent = 0; /* the tree's from here on */
	tl_edit *edit = x->edit;
	x->edit = NULL;
	if (code == 0 && x->changed) {
		code = tl_edit_commit(edit, err);
		edit = code < 0 ? edit : NULL;
	}
	tl_edit_abort(edit);
	return code;
}

int tl__extension_tree(void *extension, tl_tree *tree, tl_error *err)
{
	tl_extension *x = extension;
	return x->tree_functions.n ? edit_tree(x, tree, err) : 0;
}

void tl__open_tree(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"events", tree_events}, {"roots", tree_roots}, {"event", tree_event},     {"count", tree_count},
		{"append", tree_append}, {"link", tree_link},   {"isolate", tree_isolate}, {NULL, NULL}};
	luaL_newmetatable(L, tree_type);
	lua_newtable(L);
	luaL_setfuncs(L, methods, 0);
	lua_pushcclosure(L, unknown_method, 1);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
	lua_pushcfunction(L, declare_tree);
	lua_setglobal(L, "tree");
}
