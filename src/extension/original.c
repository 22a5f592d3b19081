/* SPDX-License-Identifier: MIT */
/*
 * What was handed to Lua, to be recognised when it comes back. Lua has one kind of list and writes 4096 / 2 as 2048.0,
 * so a value that went through it would come back as another one: a result of `builtin` that a model returns as it is
 * must stay what it was.
 */
#include <math.h>
#include <string.h>

#include "extension/extension.h"
#include "util/format.h"

static bool same_number(lua_State *L, int index, double number)
{
	if (lua_type(L, index) != LUA_TNUMBER || lua_isinteger(L, index))
		return false;
	double here = lua_tonumber(L, index);
	return isnan(number) ? isnan(here) : !(here < number) && !(here > number) && signbit(here) == signbit(number);
}

static bool same_text(lua_State *L, int index, const tl_value *value)
{
	if (lua_type(L, index) != LUA_TSTRING)
		return false;
	size_t n;
	const char *text = lua_tolstring(L, index, &n);
	return n == value->n && !memcmp(text, value->s, n);
}

static bool same_items(lua_State *L, int table, const tl_value *value)
{
	size_t n = 0;
	bool same = lua_rawlen(L, table) == value->n;
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
		n++;
	for (uint32_t i = 0; i < value->n && same && n == value->n; i++) {
		lua_rawgeti(L, table, (lua_Integer)i + 1);
		same = tl__is_value(L, -1, &value->items[i]);
		lua_pop(L, 1);
	}
	return same && n == value->n;
}

static bool same_pairs(lua_State *L, int table, const tl_value *value)
{
	size_t n = 0;
	bool same = true;
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
		n++;
	for (uint32_t i = 0; i < value->n && same && n == value->n; i++) {
		const tl_value *key = &value->items[2 * i];
		if (key->kind != TL_V_STRING)
			return false;
		lua_pushlstring(L, key->s, key->n);
		lua_rawget(L, table);
		same = tl__is_value(L, -1, key + 1);
		lua_pop(L, 1);
	}
	return same && n == value->n;
}

bool tl__is_value(lua_State *L, int index, const tl_value *value)
{
	double number;
	luaL_checkstack(L, 5, "a value nested too deeply");
	tl__sandbox_charge(L, 1);
	switch ((tl_value_kind)value->kind) {
	case TL_V_NONE:
		return lua_islightuserdata(L, index) && !lua_touserdata(L, index);
	case TL_V_BOOL:
		return lua_isboolean(L, index) && (lua_toboolean(L, index) != 0) == value->b;
	case TL_V_INT:
		return lua_isinteger(L, index) && lua_tointeger(L, index) == value->i;
	case TL_V_DOUBLE:
		return same_number(L, index, value->d);
	case TL_V_NUMBER:
		return tl__parse_double(value->s, value->n, &number) ? same_number(L, index, number)
								     : same_text(L, index, value);
	case TL_V_STRING:
		return same_text(L, index, value);
	case TL_V_LIST:
	case TL_V_TUPLE:
		return lua_istable(L, index) && same_items(L, lua_absindex(L, index), value);
	case TL_V_DICT:
		return lua_istable(L, index) && same_pairs(L, lua_absindex(L, index), value);
	}
	return false;
}

/* ---- sizes and copies ---- */

static uint32_t item_count(const tl_value *value)
{
	switch (value->kind) {
	case TL_V_LIST:
	case TL_V_TUPLE:
		return value->n;
	case TL_V_DICT:
		return 2 * value->n;
	default:
		return 0;
	}
}

static bool is_text(const tl_value *value)
{
	return value->kind == TL_V_STRING || value->kind == TL_V_NUMBER;
}

/* Bytes of what hangs on a value, each part rounded up to the size of a pointer. */
static size_t hanging(const tl_value *value)
{
	uint32_t n = item_count(value);
	size_t size = n * sizeof *value;
	if (is_text(value))
		return ((size_t)value->n + 8) & ~(size_t)7;
	for (uint32_t i = 0; i < n; i++)
		size += hanging(&value->items[i]);
	return size;
}

static tl_value copy_to(char **to, const tl_value *value)
{
	tl_value copy = *value;
	uint32_t n = item_count(value);
	if (is_text(value)) {
		memcpy(*to, value->s, value->n);
		(*to)[value->n] = '\0';
		copy.s = *to;
		*to += ((size_t)value->n + 8) & ~(size_t)7;
	} else if (n) {
		tl_value *items = (tl_value *)(void *)*to;
		*to += n * sizeof *items;
		for (uint32_t i = 0; i < n; i++)
			items[i] = copy_to(to, &value->items[i]);
		copy.items = items;
	}
	return copy;
}

size_t tl__printed_size(const tl_value *value)
{
	size_t size = 32;
	uint32_t n = item_count(value);
	for (uint32_t i = 0; is_text(value) && i < value->n; i++) {
		unsigned char c = (unsigned char)value->s[i];
		size += c < ' ' ? 6 : c == '"' || c == '\\' ? 2 : c < 0x80 ? 1 : 3; /* 3: U+FFFD for a stray byte */
	}
	for (uint32_t i = 0; i < n; i++)
		size += tl__printed_size(&value->items[i]);
	return size;
}

/* ---- the originals of tables: kept as long as the table is ---- */

static const char tables[] = "tracelens.originals";

void tl__open_originals(lua_State *L)
{
	lua_newtable(L);
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "k");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, tables);
}

/* What is kept begins with its kind, so that a table of one kind is never taken for one of another. */
typedef struct original {
	tl_original kind;
	union {
		tl_value value;
		tl_perf_cost costs[4];
	};
} original;

/* Pushes a new original for the table on top of the stack, takes it over, pops it again. */
static original *keep(lua_State *L, tl_original kind, size_t more)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, tables);
	lua_pushvalue(L, -2);
	original *o = lua_newuserdatauv(L, sizeof *o + more, 0);
	o->kind = kind;
	lua_rawset(L, -3);
	lua_pop(L, 1);
	return o;
}

void tl__keep_value(lua_State *L, const tl_value *value)
{
	original *o = keep(L, TL_ORIGINAL_VALUE, hanging(value));
	char *to = (char *)(o + 1);
	o->value = copy_to(&to, value);
}

void tl__keep_costs(lua_State *L, const tl_perf_cost costs[4])
{
	memcpy(keep(L, TL_ORIGINAL_COSTS, 0)->costs, costs, 4 * sizeof *costs);
}

static const original *find(lua_State *L, int index, tl_original kind)
{
	index = lua_absindex(L, index);
	lua_rawgetp(L, LUA_REGISTRYINDEX, tables);
	lua_pushvalue(L, index);
	lua_rawget(L, -2);
	const original *o = lua_touserdata(L, -1); /* the table at `index` keeps it */
	lua_pop(L, 2);
	return o && o->kind == kind ? o : NULL;
}

const tl_value *tl__original_value(lua_State *L, int index)
{
	const original *o = find(L, index, TL_ORIGINAL_VALUE);
	return o ? &o->value : NULL;
}

const tl_perf_cost *tl__original_costs(lua_State *L, int index)
{
	const original *o = find(L, index, TL_ORIGINAL_COSTS);
	return o ? o->costs : NULL;
}
