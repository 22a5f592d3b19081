/* SPDX-License-Identifier: MIT */
/*
 * string.find, match, gmatch and gsub as the manual of Lua 5.4 describes them (section 6.4.1), with one difference:
 * each step counts as an instruction. A pattern of many repetitions can take years, inside one call, on a long text.
 */
#include <ctype.h>
#include <string.h>

#include "extension/extension.h"

enum { MAX_CAPTURES = 32, MAX_DEPTH = 200, CHARGE_EVERY = 256 };
enum { OPEN = -1, POSITION = -2 }; /* in place of a length */

typedef struct matcher {
	lua_State *L;
	const char *text, *text_end;
	const char *pattern_end;
	unsigned steps;
	int depth;
	int n; /* captures */
	struct {
		const char *at;
		ptrdiff_t length;
	} capture[MAX_CAPTURES];
} matcher;

static void step(matcher *m)
{
	if (++m->steps < CHARGE_EVERY)
		return;
	m->steps = 0;
	tl__sandbox_charge(m->L, CHARGE_EVERY);
}

/* ---- single characters ---- */

/* Behind the item (character, class or set) at `p`. */
static const char *item_end(const matcher *m, const char *p)
{
	char c = *p++;
	if (c == '%') {
		if (p == m->pattern_end)
			luaL_error(m->L, "malformed pattern (ends with '%%')");
		return p + 1;
	}
	if (c != '[')
		return p;
	if (p < m->pattern_end && *p == '^')
		p++;
	bool first = true; /* a bracket that comes first stands for itself */
	for (; p < m->pattern_end && (first || *p != ']'); first = false) {
		p += *p == '%' ? 2 : 1;
	}
	if (p >= m->pattern_end)
		luaL_error(m->L, "malformed pattern (missing ']')");
	return p + 1;
}

static bool in_class(unsigned char c, unsigned char class)
{
	bool in;
	switch (tolower(class)) {
	case 'a':
		in = isalpha(c);
		break;
	case 'c':
		in = iscntrl(c);
		break;
	case 'd':
		in = isdigit(c);
		break;
	case 'g':
		in = isgraph(c);
		break;
	case 'l':
		in = islower(c);
		break;
	case 'p':
		in = ispunct(c);
		break;
	case 's':
		in = isspace(c);
		break;
	case 'u':
		in = isupper(c);
		break;
	case 'w':
		in = isalnum(c);
		break;
	case 'x':
		in = isxdigit(c);
		break;
	case 'z': /* not in the manual any more, but in patterns from before */
		in = c == '\0';
		break;
	default:
		return c == class;
	}
	return isupper(class) ? !in : in;
}

/* `p` is at '[', `end` behind ']'. */
static bool in_set(unsigned char c, const char *p, const char *end)
{
	const char *last = end - 1;
	bool wanted = true;
	p++;
	if (*p == '^') {
		wanted = false;
		p++;
	}
	while (p < last) {
		if (*p == '%') {
			if (in_class(c, (unsigned char)p[1]))
				return wanted;
			p += 2;
		} else if (p[1] == '-' && p + 2 < last) {
			if ((unsigned char)p[0] <= c && c <= (unsigned char)p[2])
				return wanted;
			p += 3;
		} else {
			if ((unsigned char)*p == c)
				return wanted;
			p++;
		}
	}
	return !wanted;
}

static bool is_single(const matcher *m, const char *s, const char *p, const char *end)
{
	if (s >= m->text_end)
		return false;
	unsigned char c = (unsigned char)*s;
	switch (*p) {
	case '.':
		return true;
	case '%':
		return in_class(c, (unsigned char)p[1]);
	case '[':
		return in_set(c, p, end);
	default:
		return (unsigned char)*p == c;
	}
}

/* ---- matching ---- */

static const char *match(matcher *m, const char *s, const char *p);

/* %bxy */
static const char *balanced(matcher *m, const char *s, const char *p)
{
	if (m->pattern_end - p < 4)
		luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
	if (s >= m->text_end || *s != p[2])
		return NULL;
	size_t depth = 1;
	while (++s < m->text_end) {
		step(m);
		if (*s == p[3]) {
			if (--depth == 0)
				return s + 1;
		} else if (*s == p[2]) {
			depth++;
		}
	}
	return NULL;
}

/* %f[set]; sets *end behind the set. */
static bool at_frontier(const matcher *m, const char *s, const char *p, const char **end)
{
	p += 2;
	if (p >= m->pattern_end || *p != '[')
		luaL_error(m->L, "missing '[' after '%%f' in pattern");
	*end = item_end(m, p);
	unsigned char before = s == m->text ? '\0' : (unsigned char)s[-1];
	unsigned char here = s < m->text_end ? (unsigned char)*s : '\0';
	return !in_set(before, p, *end) && in_set(here, p, *end);
}

/* %1 ... %9 */
static const char *repeated_capture(const matcher *m, const char *s, char digit)
{
	int i = digit - '1';
	if (i < 0 || i >= m->n || m->capture[i].length == OPEN)
		luaL_error(m->L, "invalid capture index %%%d", i + 1);
	if (m->capture[i].length == POSITION)
		return NULL; /* a number is nowhere in the text */
	size_t n = (size_t)m->capture[i].length;
	return (size_t)(m->text_end - s) >= n && !memcmp(m->capture[i].at, s, n) ? s + n : NULL;
}

static const char *open_capture(matcher *m, const char *s, const char *p, ptrdiff_t what)
{
	if (m->n >= MAX_CAPTURES)
		luaL_error(m->L, "too many captures");
	m->capture[m->n].at = s;
	m->capture[m->n].length = what;
	m->n++;
	const char *found = match(m, s, p);
	if (!found)
		m->n--;
	return found;
}

static const char *close_capture(matcher *m, const char *s, const char *p)
{
	int i = m->n - 1;
	while (i >= 0 && m->capture[i].length != OPEN)
		i--;
	if (i < 0)
		luaL_error(m->L, "invalid pattern capture");
	m->capture[i].length = s - m->capture[i].at;
	const char *found = match(m, s, p);
	if (!found)
		m->capture[i].length = OPEN;
	return found;
}

static const char *longest(matcher *m, const char *s, const char *p, const char *end, size_t least)
{
	size_t n = 0;
	while (is_single(m, s + n, p, end)) {
		n++;
		step(m);
	}
	for (; n + 1 > least; n--) {
		const char *found = match(m, s + n, end + 1);
		if (found)
			return found;
		if (n == 0)
			break;
	}
	return NULL;
}

static const char *shortest(matcher *m, const char *s, const char *p, const char *end)
{
	for (;; s++) {
		const char *found = match(m, s, end + 1);
		if (found)
			return found;
		if (!is_single(m, s, p, end))
			return NULL;
	}
}

/* The end of the longest match of the pattern from `p` on at `s`, or NULL. */
static const char *match_here(matcher *m, const char *s, const char *p)
{
	while (p < m->pattern_end) {
		const char *end;
		step(m);
		switch (*p) {
		case '(':
			return p + 1 < m->pattern_end && p[1] == ')' ? open_capture(m, s, p + 2, POSITION)
								     : open_capture(m, s, p + 1, OPEN);
		case ')':
			return close_capture(m, s, p + 1);
		case '$':
			if (p + 1 == m->pattern_end)
				return s == m->text_end ? s : NULL;
			break;
		case '%':
			if (p + 1 < m->pattern_end && p[1] == 'b') {
				s = balanced(m, s, p);
				p += 4;
			} else if (p + 1 < m->pattern_end && p[1] == 'f') {
				if (!at_frontier(m, s, p, &p))
					return NULL;
			} else if (p + 1 < m->pattern_end && isdigit((unsigned char)p[1])) {
				s = repeated_capture(m, s, p[1]);
				p += 2;
			} else {
				break;
			}
			if (!s)
				return NULL;
			continue;
		default:
			break;
		}
		end = item_end(m, p);
		switch (end < m->pattern_end ? *end : '\0') {
		case '?':
			if (is_single(m, s, p, end)) {
				const char *found = match(m, s + 1, end + 1);
				if (found)
					return found;
			}
			p = end + 1;
			continue;
		case '+':
			return longest(m, s, p, end, 1);
		case '*':
			return longest(m, s, p, end, 0);
		case '-':
			return shortest(m, s, p, end);
		default:
			if (!is_single(m, s, p, end))
				return NULL;
			s++;
			p = end;
		}
	}
	return s;
}

static const char *match(matcher *m, const char *s, const char *p)
{
	if (++m->depth > MAX_DEPTH)
		luaL_error(m->L, "pattern too complex");
	const char *found = match_here(m, s, p);
	m->depth--;
	return found;
}

/* A match that begins exactly at `s`. */
static const char *match_at(matcher *m, const char *s, const char *p)
{
	m->n = 0;
	m->depth = 0;
	step(m);
	return match(m, s, p);
}

/* ---- captures ---- */

static void push_capture(const matcher *m, int i, const char *s, const char *end)
{
	if (i == 0 && m->n == 0) {
		lua_pushlstring(m->L, s, (size_t)(end - s)); /* without captures: the whole match */
		return;
	}
	if (i >= m->n)
		luaL_error(m->L, "invalid capture index %%%d", i + 1);
	if (m->capture[i].length == OPEN)
		luaL_error(m->L, "unfinished capture");
	if (m->capture[i].length == POSITION)
		lua_pushinteger(m->L, m->capture[i].at - m->text + 1);
	else
		lua_pushlstring(m->L, m->capture[i].at, (size_t)m->capture[i].length);
}

static int push_captures(const matcher *m, const char *s, const char *end, bool whole)
{
	int n = m->n == 0 && whole ? 1 : m->n;
	luaL_checkstack(m->L, n, "too many captures");
	for (int i = 0; i < n; i++)
		push_capture(m, i, s, end);
	return n;
}

/* ---- the functions ---- */

/* Where to begin: 0 based; past the end when nothing can be found. */
static size_t start_of(lua_Integer init, size_t n)
{
	if (init > 0)
		return (size_t)init - 1;
	if (init == 0 || init < -(lua_Integer)n)
		return 0;
	return n - (size_t)-init;
}

static matcher matcher_of(lua_State *L, const char *text, size_t n, const char *pattern, size_t m)
{
	return (matcher){.L = L, .text = text, .text_end = text + n, .pattern_end = pattern + m};
}

static bool is_plain(const char *pattern, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strchr("^$*+?.([%-", pattern[i]) && pattern[i])
			return false;
	return true;
}

static int find_or_match(lua_State *L, bool find)
{
	size_t n, k;
	const char *text = luaL_checklstring(L, 1, &n), *pattern = luaL_checklstring(L, 2, &k);
	size_t at = start_of(luaL_optinteger(L, 3, 1), n);
	if (at > n) {
		lua_pushnil(L);
		return 1;
	}
	if (find && (lua_toboolean(L, 4) || is_plain(pattern, k))) {
		tl__sandbox_charge(L, (n - at) / 64);
		const char *found = k ? memmem(text + at, n - at, pattern, k) : text + at;
		if (!found) {
			lua_pushnil(L);
			return 1;
		}
		lua_pushinteger(L, found - text + 1);
		lua_pushinteger(L, found - text + (lua_Integer)k);
		return 2;
	}
	matcher m = matcher_of(L, text, n, pattern, k);
	bool anchored = k > 0 && *pattern == '^';
	const char *p = pattern + anchored, *s = text + at;
	do {
		const char *end = match_at(&m, s, p);
		if (!end)
			continue;
		if (!find)
			return push_captures(&m, s, end, true);
		lua_pushinteger(L, s - text + 1);
		lua_pushinteger(L, end - text);
		return 2 + push_captures(&m, s, end, false);
	} while (++s <= m.text_end && !anchored);
	lua_pushnil(L);
	return 1;
}

static int string_find(lua_State *L)
{
	return find_or_match(L, true);
}

static int string_match(lua_State *L)
{
	return find_or_match(L, false);
}

/* Upvalues: text, pattern, where to go on, end of the last match (0 based, -1: none). */
static int next_match(lua_State *L)
{
	size_t n, k;
	const char *text = lua_tolstring(L, lua_upvalueindex(1), &n);
	const char *pattern = lua_tolstring(L, lua_upvalueindex(2), &k);
	lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
	matcher m = matcher_of(L, text, n, pattern, k);
	for (size_t at = (size_t)lua_tointeger(L, lua_upvalueindex(3)); at <= n; at++) {
		const char *end = match_at(&m, text + at, pattern);
		if (!end || end - text == last)
			continue;
		lua_pushinteger(L, end - text);
		lua_pushvalue(L, -1);
		lua_replace(L, lua_upvalueindex(3));
		lua_replace(L, lua_upvalueindex(4));
		return push_captures(&m, text + at, end, true);
	}
	return 0;
}

static int string_gmatch(lua_State *L)
{
	size_t n;
	luaL_checklstring(L, 1, &n);
	luaL_checkstring(L, 2);
	size_t at = start_of(luaL_optinteger(L, 3, 1), n);
	lua_settop(L, 2);
	lua_pushinteger(L, (lua_Integer)(at > n ? n + 1 : at));
	lua_pushinteger(L, -1);
	lua_pushcclosure(L, next_match, 4);
	return 1;
}

/* Adds a replacement text, in which %0 ... %9 stand for captures. */
static void add_text(const matcher *m, luaL_Buffer *out, const char *s, const char *end, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '%') {
			luaL_addchar(out, text[i]);
			continue;
		}
		char c = i + 1 < n ? text[++i] : '\0';
		if (c == '%') {
			luaL_addchar(out, '%');
		} else if (c == '0') {
			luaL_addlstring(out, s, (size_t)(end - s));
		} else if (isdigit((unsigned char)c)) {
			push_capture(m, c - '1', s, end);
			luaL_tolstring(m->L, -1, NULL); /* a position is a number */
			lua_remove(m->L, -2);
			luaL_addvalue(out);
		} else {
			luaL_error(m->L, "invalid use of '%%' in replacement string");
		}
	}
}

/* Adds what replaces a match; argument 3 is a text, a table or a function. */
static void add_replacement(const matcher *m, luaL_Buffer *out, const char *s, const char *end)
{
	lua_State *L = m->L;
	int type = lua_type(L, 3);
	if (type == LUA_TSTRING || type == LUA_TNUMBER) {
		size_t n;
		const char *text = lua_tolstring(L, 3, &n);
		add_text(m, out, s, end, text, n);
		return;
	}
	if (type == LUA_TTABLE) {
		push_capture(m, 0, s, end);
		lua_gettable(L, 3);
	} else {
		lua_pushvalue(L, 3);
		lua_call(L, push_captures(m, s, end, true), 1);
	}
	if (!lua_toboolean(L, -1)) {
		lua_pop(L, 1);
		luaL_addlstring(out, s, (size_t)(end - s));
	} else if (!lua_isstring(L, -1)) {
		luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
	} else {
		luaL_addvalue(out);
	}
}

static int string_gsub(lua_State *L)
{
	size_t n, k;
	const char *text = luaL_checklstring(L, 1, &n), *pattern = luaL_checklstring(L, 2, &k);
	int type = lua_type(L, 3);
	luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE,
			 3, "string/function/table");
	lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)n + 1), count = 0;
	bool anchored = k > 0 && *pattern == '^';
	matcher m = matcher_of(L, text, n, pattern, k);
	const char *p = pattern + anchored, *s = text, *last = NULL;
	luaL_Buffer out;
	luaL_buffinit(L, &out);
	while (count < most) {
		const char *end = match_at(&m, s, p);
		if (end && end != last) {
			count++;
			add_replacement(&m, &out, s, end);
			s = last = end;
		} else if (s < m.text_end) {
			luaL_addlstring(&out, s++, 1);
		} else {
			break;
		}
		if (anchored)
			break;
	}
	luaL_addlstring(&out, s, (size_t)(m.text_end - s));
	luaL_pushresult(&out);
	lua_pushinteger(L, count);
	return 2;
}

void tl__sandbox_patterns(lua_State *L)
{
	static const luaL_Reg functions[] = {{"find", string_find},
					     {"match", string_match},
					     {"gmatch", string_gmatch},
					     {"gsub", string_gsub},
					     {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
}
