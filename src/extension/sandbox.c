/* SPDX-License-Identifier: MIT */
/*
 * A Lua state that can compute and nothing else, and that always comes to an end.
 *
 * Instructions are counted by a hook; work in C is charged as instructions (bytes allocated, elements moved, steps of a
 * pattern). What the hook raises must reach the top: pcall and xpcall are our own and pass it on, finalizers (in which
 * Lua calls no hooks) cannot be set, coroutines do not exist, and the handler of xpcall runs after the error and not
 * inside it. A clock is the last resort against instructions that are slow on large strings.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "extension/extension.h"

enum { COUNT = 1000, BYTES_AN_INSTRUCTION = 64 };
/*
 * The clock allows LEAST_SECONDS and a second for so many instructions, which is slower than any machine that this runs
 * on, sanitizers included; MOST_SECONDS keeps the sum in range.
 */
enum { LEAST_SECONDS = 30, SLOWEST_PER_SECOND = 5000000, MOST_SECONDS = 1000000 };

/* ---- memory ---- */

/* All that the file has taken: in Lua, in scratch memory, and what the library keeps for it. */
static bool fits(const tl_extension *x, size_t bytes)
{
	size_t used = x->memory + x->arena.total + x->text.cap + x->kept + x->lent;
	return used <= x->memory_allowed && bytes <= x->memory_allowed - used;
}

static int line_now(lua_State *L);

static void *allocate(void *user, void *old, size_t old_size, size_t size)
{
	tl_extension *x = user;
	if (!old)
		old_size = 0; /* then it says what kind of object it is for */
	if (size == 0) {
		tl__free(old);
		x->memory -= old_size;
		return NULL;
	}
	bool more = size > old_size;
	if (more && !fits(x, size - old_size)) {
		x->over_limit = true;
		if (x->L) /* where the error is caught, nobody knows the line any more */
			x->line = line_now(x->L);
		return NULL; /* Lua collects garbage and asks once more */
	}
	void *p = tl__realloc(old, size);
	if (!p && more) {
		x->over_limit = false;
		return NULL;
	}
	if (!p)
		p = old; /* Lua relies on it that making something smaller works */
	x->memory += size - old_size;
	x->grown += more ? size - old_size : 0;
	return p;
}

/* ---- limits ---- */

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The line of the innermost function of the file, 0 when there is none. */
static int line_now(lua_State *L)
{
	lua_Debug where;
	for (int level = 0; lua_getstack(L, level, &where); level++) {
		lua_getinfo(L, "l", &where);
		if (where.currentline > 0)
			return where.currentline;
	}
	return 0;
}

/* Ends the run, whatever the file does to catch errors. */
static int stop(lua_State *L, tl_stop why)
{
	tl_extension *x = tl__extension_of(L);
	x->stopped = why;
	x->line = line_now(L);
	return luaL_error(L, "stopped");
}

static void check_limits(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	x->used += x->grown / BYTES_AN_INSTRUCTION;
	x->grown = 0;
	if (x->stopped)
		luaL_error(L, "stopped");
	if (x->used > x->allowed)
		stop(L, TL_STOP_INSTRUCTIONS);
	if (now_ms() > x->deadline_ms)
		stop(L, TL_STOP_TIME);
}

static void on_count(lua_State *L, lua_Debug *unused)
{
	tl_extension *x = tl__extension_of(L);
	(void)unused;
	x->used += COUNT;
	x->line = line_now(L);
	check_limits(L);
}

void tl__sandbox_charge(lua_State *L, uint64_t instructions)
{
	tl_extension *x = tl__extension_of(L);
	x->used = instructions > UINT64_MAX - x->used ? UINT64_MAX : x->used + instructions;
	if (x->used > x->allowed)
		check_limits(L);
}

void tl__sandbox_room(lua_State *L, size_t bytes)
{
	tl_extension *x = tl__extension_of(L);
	if (fits(x, bytes))
		return;
	tl__sandbox_charge(L, x->memory / 1024);
	lua_gc(L, LUA_GCCOLLECT);
	if (!fits(x, bytes))
		stop(L, TL_STOP_MEMORY);
}

void tl__sandbox_keep(lua_State *L, size_t bytes)
{
	tl_extension *x = tl__extension_of(L);
	tl__sandbox_room(L, bytes);
	*(x->reading ? &x->kept : &x->lent) += bytes;
	tl__sandbox_charge(L, bytes / BYTES_AN_INSTRUCTION);
}

/* ---- running ---- */

/* The last line that was seen is near the one that took too much. */
static int stopped(const tl_extension *x, tl_error *err)
{
	char where[300];
	if (x->line > 0)
		(void)snprintf(where, sizeof where, "%.240s:%d", x->label, x->line);
	else
		(void)snprintf(where, sizeof where, "%.240s", x->label);
	switch (x->stopped) {
	case TL_STOP_MEMORY:
		return tl__fail(err, TL_ELIMIT, "%s: stopped: it needs more than %zu MB of memory", where,
				x->memory_allowed >> 20);
	case TL_STOP_OUTPUT:
		return tl__fail(err, TL_ELIMIT, "%s: stopped: it prints more than %zu MB", where,
				x->options.max_memory >> 20);
	case TL_STOP_INSTRUCTIONS:
		return tl__fail(err, TL_ELIMIT, "%s: stopped after %llu instructions: a loop without end?", where,
				(unsigned long long)x->allowed);
	case TL_STOP_TIME:
		return tl__fail(err, TL_ELIMIT, "%s: stopped: it takes too long", where);
	default:
		return tl__nomem(err);
	}
}

/* Lua puts file and line before most messages; of a long path it shows the end. */
static bool names_the_file(const tl_extension *x, const char *text)
{
	return !strncmp(text, "...", 3) || !strncmp(text, x->label, strlen(x->label));
}

static int failed(tl_extension *x, int status, tl_error *err)
{
	if (status == LUA_ERRMEM && !x->stopped)
		x->stopped = x->over_limit ? TL_STOP_MEMORY : TL_STOP_SYSTEM;
	if (x->stopped)
		return stopped(x, err);
	/* The text is taken as it is: making one of another value could fail in turn. */
	const char *text = lua_type(x->L, -1) == LUA_TSTRING ? lua_tostring(x->L, -1) : NULL;
	if (text && names_the_file(x, text))
		return tl__fail(err, TL_EFORMAT, "%s", text);
	if (text)
		return tl__fail(err, TL_EFORMAT, "%.240s: %s", x->label, text);
	return tl__fail(err, TL_EFORMAT, "%.240s: the error is no text but a %s", x->label, luaL_typename(x->L, -1));
}

int tl__sandbox_run(tl_extension *x, lua_CFunction body, void *data, uint64_t instructions, tl_error *err)
{
	lua_State *L = x->L;
	x->used = 0;
	x->allowed = instructions;
	x->grown = 0;
	x->over_limit = false;
	x->stopped = TL_STOP_NONE;
	x->line = 0;
	uint64_t seconds = LEAST_SECONDS + instructions / SLOWEST_PER_SECOND;
	x->deadline_ms = now_ms() + (int64_t)(seconds < MOST_SECONDS ? seconds : MOST_SECONDS) * 1000;
	lua_settop(L, 0);
	lua_sethook(L, on_count, LUA_MASKCOUNT, COUNT);
	lua_pushcfunction(L, body);
	lua_pushlightuserdata(L, data);
	int status = lua_pcall(L, 1, 0, 0);
	int code = status == LUA_OK ? 0 : failed(x, status, err);
	lua_settop(L, 0);
	tl__arena_free(&x->arena);
	tl__buf_clear(&x->text);
	if (x->text.failed)
		tl__buf_free(&x->text);
	x->rows.n = 0;
	return code;
}

int tl__raise(lua_State *L, int code, const tl_error *err)
{
	if (code == TL_ENOMEM) {
		tl__extension_of(L)->stopped = TL_STOP_SYSTEM;
		luaL_error(L, "stopped");
	}
	luaL_error(L, "%s", err->message);
}

/* ---- base functions of our own ---- */

/* Passes an error on that is not for the file to catch. */
static void pass_on(lua_State *L, int status)
{
	tl_extension *x = tl__extension_of(L);
	if (status == LUA_ERRMEM && !x->stopped)
		x->stopped = x->over_limit ? TL_STOP_MEMORY : TL_STOP_SYSTEM;
	if (x->stopped)
		lua_error(L);
}

static int safe_pcall(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_pushboolean(L, 1);
	lua_insert(L, 1);
	int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
	if (status == LUA_OK)
		return lua_gettop(L);
	pass_on(L, status);
	lua_pushboolean(L, 0);
	lua_insert(L, -2);
	return 2;
}

/* xpcall(f, handler, ...) */
static int safe_xpcall(lua_State *L)
{
	luaL_checktype(L, 2, LUA_TFUNCTION);
	int n = lua_gettop(L) - 2;
	lua_pushboolean(L, 1);
	lua_pushvalue(L, 1);
	lua_rotate(L, 3, 2); /* f, handler, true, f, ... */
	int status = lua_pcall(L, n, LUA_MULTRET, 0);
	if (status == LUA_OK)
		return lua_gettop(L) - 2;
	pass_on(L, status);
	lua_pushboolean(L, 0);
	lua_pushvalue(L, 2);
	lua_rotate(L, -3, 2); /* false, handler, error */
	lua_call(L, 1, LUA_MULTRET);
	return lua_gettop(L) - 3;
}

static int safe_setmetatable(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "cannot change a protected metatable");
	if (lua_istable(L, 2)) {
		lua_pushliteral(L, "__gc");
		lua_rawget(L, 2);
		if (!lua_isnil(L, -1))
			return luaL_error(L, "finalizers (__gc) are not available in extension files");
	}
	lua_settop(L, 2);
	lua_setmetatable(L, 1);
	return 1;
}

static int safe_print(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	int n = lua_gettop(L);
	luaL_Buffer text;
	luaL_buffinit(L, &text);
	for (int i = 1; i <= n; i++) {
		if (i > 1)
			luaL_addchar(&text, ' ');
		luaL_tolstring(L, i, NULL);
		luaL_addvalue(&text);
	}
	luaL_pushresult(&text);
	size_t length = (size_t)lua_rawlen(L, -1);
	if (length > x->options.max_memory - x->printed)
		return stop(L, TL_STOP_OUTPUT);
	x->printed += length;
	tl__sandbox_charge(L, length / BYTES_AN_INSTRUCTION);
	if (x->options.note)
		x->options.note(x->options.user, lua_tostring(L, -1));
	return 0;
}

/* ---- functions of libraries that would loop in C for as long as they are told to ---- */

static int safe_rep(lua_State *L)
{
	size_t n, m;
	const char *text = luaL_checklstring(L, 1, &n);
	lua_Integer times = luaL_checkinteger(L, 2);
	const char *between = luaL_optlstring(L, 3, "", &m);
	tl_extension *x = tl__extension_of(L);
	if (times <= 0 || n + m == 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	if ((uint64_t)times > (x->memory_allowed / (n + m))) {
		return stop(L, TL_STOP_MEMORY);
	}
	size_t total = (size_t)times * n + (size_t)(times - 1) * m;
	luaL_Buffer buffer;
	char *to = luaL_buffinitsize(L, &buffer, total);
	for (lua_Integer i = 0; i < times; i++) {
		memcpy(to, text, n);
		to += n;
		if (m && i + 1 < times) {
			memcpy(to, between, m);
			to += m;
		}
	}
	tl__sandbox_charge(L, (uint64_t)times / 16);
	luaL_pushresultsize(&buffer, total);
	return 1;
}

/* Lengths are raw ones: a metatable cannot make a table look longer than it is. */
static int safe_insert(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_Integer n = (lua_Integer)lua_rawlen(L, 1), at = n + 1;
	if (lua_gettop(L) == 3) {
		at = luaL_checkinteger(L, 2);
		luaL_argcheck(L, at >= 1 && at <= n + 1, 2, "position out of bounds");
		tl__sandbox_charge(L, (uint64_t)(n + 1 - at));
		for (lua_Integer i = n + 1; i > at; i--) {
			lua_rawgeti(L, 1, i - 1);
			lua_rawseti(L, 1, i);
		}
	} else if (lua_gettop(L) != 2) {
		return luaL_error(L, "wrong number of arguments to 'insert'");
	}
	lua_rawseti(L, 1, at);
	return 0;
}

static int safe_remove(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_Integer n = (lua_Integer)lua_rawlen(L, 1), at = luaL_optinteger(L, 2, n);
	if (lua_gettop(L) > 1)
		luaL_argcheck(L, (at >= 1 && at <= n + 1) || (n == 0 && at == 0), 2, "position out of bounds");
	lua_rawgeti(L, 1, at);
	tl__sandbox_charge(L, (uint64_t)(n - at + 1));
	for (; at < n; at++) {
		lua_rawgeti(L, 1, at + 1);
		lua_rawseti(L, 1, at);
	}
	lua_pushnil(L);
	lua_rawseti(L, 1, at);
	return 1;
}

/* move(from, first, last, at [, to]) */
static int safe_move(lua_State *L)
{
	const lua_Integer limit = (lua_Integer)1 << 53;
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3), at = luaL_checkinteger(L, 4);
	int to = lua_isnoneornil(L, 5) ? 1 : 5;
	luaL_checktype(L, to, LUA_TTABLE);
	luaL_argcheck(L, first >= -limit && first <= limit, 2, "too large");
	luaL_argcheck(L, last >= -limit && last <= limit, 3, "too large");
	luaL_argcheck(L, at >= -limit && at <= limit, 4, "too large");
	lua_Integer n = last - first + 1;
	if (n > 0)
		tl__sandbox_charge(L, (uint64_t)n);
	bool upwards = at <= first || at > last ||
		       to != 1; /* else the end comes first, so that nothing is overwritten */
	for (lua_Integer i = 0; i < n; i++) {
		lua_Integer k = upwards ? i : n - 1 - i;
		lua_rawgeti(L, 1, first + k);
		lua_rawseti(L, to, at + k);
	}
	lua_pushvalue(L, to);
	return 1;
}

/* sort(t [, before]) and concat(t, ...): those of Lua, in the upvalue, once their work is charged. */
static int charged(lua_State *L, bool sort)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	uint64_t n = lua_rawlen(L, 1), cost = n / 4;
	for (uint64_t left = n; sort && left > 1; left /= 2)
		cost += n / 4;
	tl__sandbox_charge(L, cost);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

static int safe_sort(lua_State *L)
{
	return charged(L, true);
}

static int safe_concat(lua_State *L)
{
	return charged(L, false);
}

/* Replaces a function of the library on top of the stack by one that has it as its upvalue. */
static void wrap(lua_State *L, const char *name, lua_CFunction with)
{
	lua_getfield(L, -1, name);
	lua_pushcclosure(L, with, 1);
	lua_setfield(L, -2, name);
}

/* ---- opening ---- */

static void open_library(lua_State *L, const char *name, lua_CFunction open, const char *const *without,
			 const luaL_Reg *instead)
{
	luaL_requiref(L, name, open, 1);
	for (; without && *without; without++) {
		lua_pushnil(L);
		lua_setfield(L, -2, *without);
	}
	luaL_setfuncs(L, instead, 0);
}

static int open_all(lua_State *L)
{
	static const char *const not_base[] = {"load", "loadfile", "dofile", "collectgarbage", "warn", NULL};
	static const luaL_Reg base[] = {{"pcall", safe_pcall},
					{"xpcall", safe_xpcall},
					{"setmetatable", safe_setmetatable},
					{"print", safe_print},
					{NULL, NULL}};
	static const char *const not_string[] = {"dump", NULL};
	static const luaL_Reg string[] = {{"rep", safe_rep}, {NULL, NULL}};
	static const luaL_Reg table[] = {
		{"insert", safe_insert}, {"remove", safe_remove}, {"move", safe_move}, {NULL, NULL}};
	static const char *const not_utf8[] = {NULL};
	static const luaL_Reg none[] = {{NULL, NULL}};

	open_library(L, LUA_GNAME, luaopen_base, not_base, base);
	open_library(L, LUA_STRLIBNAME, luaopen_string, not_string, string);
	tl__sandbox_patterns(L);
	/* strings share one metatable: nobody gets hold of it */
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	open_library(L, LUA_TABLIBNAME, luaopen_table, NULL, table);
	wrap(L, "sort", safe_sort);
	wrap(L, "concat", safe_concat);
	open_library(L, LUA_UTF8LIBNAME, luaopen_utf8, not_utf8, none);
	open_library(L, LUA_MATHLIBNAME, luaopen_math, NULL, none);
	/* the same numbers each time: so are reports */
	lua_getfield(L, -1, "randomseed");
	lua_pushinteger(L, 1);
	lua_call(L, 1, 0);
	tl__open_originals(L);
	tl__open_models(L);
	tl__open_tree(L);
	tl__open_nodes(L);
	return 0;
}

int tl__sandbox_open(tl_extension *x, tl_error *err)
{
	x->memory_allowed = x->options.max_memory;
	x->L = lua_newstate(allocate, x);
	if (!x->L) {
		if (x->over_limit)
			return tl__fail(err, TL_ELIMIT, "%.240s: %zu bytes of memory are too few for any file",
					x->label, x->memory_allowed);
		return tl__nomem(err);
	}
	*(tl_extension **)lua_getextraspace(x->L) = x;
	return tl__sandbox_run(x, open_all, NULL, x->options.max_instructions, err);
}
