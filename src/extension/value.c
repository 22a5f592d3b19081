/* SPDX-License-Identifier: MIT */
/* Values of events and models as values of Lua, and back; names that were nearly right. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "extension/extension.h"
#include "util/format.h"

/* `null` in Lua: a light userdata of NULL, which is true and equal to itself. */
static void push_null(lua_State *L)
{
	lua_pushlightuserdata(L, NULL);
}

static bool is_null(lua_State *L, int index)
{
	return lua_islightuserdata(L, index) && !lua_touserdata(L, index);
}

static void push_items(lua_State *L, const tl_value *value)
{
	lua_createtable(L, value->n < 65536 ? (int)value->n : 0, 0);
	for (uint32_t i = 0; i < value->n; i++) {
		tl__push_value(L, &value->items[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

static void push_pairs(lua_State *L, const tl_value *value)
{
	lua_newtable(L);
	for (uint32_t i = 0; i < value->n; i++) {
		const tl_value *key = &value->items[2 * i];
		if (key->kind != TL_V_STRING)
			continue;
		lua_pushlstring(L, key->s, key->n);
		tl__push_value(L, key + 1);
		lua_rawset(L, -3);
	}
}

void tl__push_value(lua_State *L, const tl_value *value)
{
	double number;
	luaL_checkstack(L, 4, "a value nested too deeply");
	if (!value) {
		lua_pushnil(L);
		return;
	}
	switch ((tl_value_kind)value->kind) {
	case TL_V_NONE:
		push_null(L);
		break;
	case TL_V_BOOL:
		lua_pushboolean(L, value->b);
		break;
	case TL_V_INT:
		lua_pushinteger(L, value->i);
		break;
	case TL_V_DOUBLE:
		lua_pushnumber(L, value->d);
		break;
	case TL_V_NUMBER:
		if (tl__parse_double(value->s, value->n, &number))
			lua_pushnumber(L, number);
		else
			lua_pushlstring(L, value->s, value->n);
		break;
	case TL_V_STRING:
		lua_pushlstring(L, value->s, value->n);
		break;
	case TL_V_LIST:
	case TL_V_TUPLE:
		push_items(L, value);
		break;
	case TL_V_DICT:
		push_pairs(L, value);
		break;
	}
}

size_t tl__parsed_size(const char *json, size_t n)
{
	size_t items = 1;
	for (size_t i = 0; i < n; i++)
		items += json[i] == ',' || json[i] == ':' || json[i] == '[' || json[i] == '{';
	return n + items * 3 * sizeof(tl_value);
}

/* ---- back ---- */

enum { MAX_DEPTH = 50, MAX_ITEMS = 1000000 };

static void *allocate(lua_State *L, size_t size)
{
	tl__sandbox_room(L, size);
	void *p = tl__arena_alloc(&tl__extension_of(L)->arena, size);
	if (!p)
		tl__raise(L, TL_ENOMEM, NULL);
	return p;
}

static tl_value read_string(lua_State *L, int index)
{
	size_t n;
	const char *text = lua_tolstring(L, index, &n);
	char *copy = allocate(L, n + 1);
	memcpy(copy, text, n + 1);
	return TL_VALUE_STRING(copy, n);
}

static tl_value read_deep(lua_State *L, int index, bool tuples, const char *what, int depth);

static tl_value read_list(lua_State *L, int table, size_t n, bool tuples, const char *what, int depth)
{
	tl_value *items = allocate(L, (n + 1) * sizeof *items);
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, table, (lua_Integer)i + 1);
		items[i] = read_deep(L, -1, tuples, what, depth + 1);
		lua_pop(L, 1);
	}
	return (tl_value){.kind = tuples ? TL_V_TUPLE : TL_V_LIST, .n = (uint32_t)n, .items = items};
}

/* Pairs in the order of their keys: that of a table changes from run to run. */
static tl_value read_dict(lua_State *L, int table, size_t n, bool tuples, const char *what, int depth)
{
	tl_value *pairs = allocate(L, (2 * n + 1) * sizeof *pairs);
	size_t count = 0;
	for (lua_pushnil(L); lua_next(L, table) && count < n; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			luaL_error(L, "%s: a table with a key that is a %s", what, luaL_typename(L, -2));
		tl_value key = read_string(L, -2), value = read_deep(L, -1, tuples, what, depth + 1);
		size_t at = count++;
		for (; at > 0 && strcmp(pairs[2 * at - 2].s, key.s) > 0; at--)
			memcpy(&pairs[2 * at], &pairs[2 * at - 2], 2 * sizeof *pairs);
		pairs[2 * at] = key;
		pairs[2 * at + 1] = value;
		tl__sandbox_charge(L, count - at);
	}
	return (tl_value){.kind = TL_V_DICT, .n = (uint32_t)count, .items = pairs};
}

static tl_value read_table(lua_State *L, int table, bool tuples, const char *what, int depth)
{
	size_t listed = (size_t)lua_rawlen(L, table), n = 0;
	if (depth > MAX_DEPTH)
		luaL_error(L, "%s: a table nested over %d deep, or in itself", what, MAX_DEPTH);
	luaL_checkstack(L, 6, "a value nested too deeply");
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
		n++;
	tl__sandbox_charge(L, n);
	if (n > MAX_ITEMS)
		luaL_error(L, "%s: a table with more than %d items", what, MAX_ITEMS);
	if (n == listed)
		return read_list(L, table, n, tuples, what, depth);
	if (listed)
		luaL_error(L, "%s: a table that is a list and a map at once, or has a hole (use null)", what);
	return read_dict(L, table, n, tuples, what, depth);
}

static tl_value read_deep(lua_State *L, int index, bool tuples, const char *what, int depth)
{
	if (is_null(L, index))
		return TL_VALUE_NONE;
	switch (lua_type(L, index)) {
	case LUA_TNIL:
		return TL_VALUE_NONE;
	case LUA_TBOOLEAN:
		return TL_VALUE_BOOL(lua_toboolean(L, index) != 0);
	case LUA_TNUMBER: {
		/* sizes that were computed with '/' are whole numbers, too */
		double d = lua_tonumber(L, index);
		if (lua_isinteger(L, index))
			return TL_VALUE_INT(lua_tointeger(L, index));
		return d == floor(d) && fabs(d) < 9007199254740992.0 ? TL_VALUE_INT((int64_t)d) : TL_VALUE_DOUBLE(d);
	}
	case LUA_TSTRING:
		return read_string(L, index);
	case LUA_TTABLE:
		return read_table(L, lua_absindex(L, index), tuples, what, depth);
	default:
		luaL_error(L, "%s: a %s is no value", what, luaL_typename(L, index));
	}
}

tl_value tl__read_value(lua_State *L, int index, bool tuples, const char *what)
{
	return read_deep(L, index, tuples, what, 0);
}

/* ---- names ---- */

/* Edits from one word to the other: letters changed, added, left out, or two swapped. Words are short. */
static size_t distance(const char *a, const char *b)
{
	enum { MAX = 31 };
	size_t n = strlen(a), m = strlen(b), row[3][MAX + 1];
	if (n > MAX || m > MAX)
		return MAX;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = row[i % 3], *before = row[(i + 2) % 3], *before_that = row[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
			size_t best = before[j - 1] + !same;
			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before_that[j - 2] + 1 < best)
				best = before_that[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[n % 3][m];
}

/* The name nearest to `word`, when near enough to be meant, or NULL. */
static const char *nearest_name(const char *word, const char *const *names)
{
	const char *nearest = NULL;
	size_t best = strlen(word) / 3 + 2;
	for (; *names; names++) {
		size_t d = distance(word, *names);
		if (d < best) {
			best = d;
			nearest = *names;
		}
	}
	return nearest;
}

int tl__unknown_field(lua_State *L, const char *what, int index, const char *const *names)
{
	if (lua_type(L, index) != LUA_TSTRING)
		luaL_error(L, "%s has no field that is a %s", what, luaL_typename(L, index));
	const char *key = lua_tostring(L, index), *nearest = nearest_name(key, names);
	if (nearest)
		luaL_error(L, "%s has no field '%s' (did you mean '%s'?)", what, key, nearest);
	luaL_error(L, "%s has no field '%s'", what, key);
}
