/* SPDX-License-Identifier: MIT */
/* The pattern functions against those of the string library, on written and on random patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "extension/extension.h"

static const char script[] =
	"local function same(name, ...)\n"
	"  local a, b = table.pack(pcall(string[name], ...)), table.pack(pcall(mine[name], ...))\n"
	"  local where = name .. '(' .. string.format('%q, %q', (...), (select(2, ...))) .. ')'\n"
	"  if a[1] ~= b[1] then error(where .. ': ' .. tostring(a[2]) .. ' against ' .. tostring(b[2])) end\n"
	"  if not a[1] then\n"
	"    local x, y = tostring(a[2]):gsub(\"to '.-' \", ''), tostring(b[2]):gsub(\"to '.-' \", '')\n"
	"    if x ~= y then error(where .. ': ' .. x .. ' against ' .. y) end\n"
	"    return\n"
	"  end\n"
	"  if a.n ~= b.n then error(where .. ': ' .. a.n - 1 .. ' against ' .. b.n - 1 .. ' results') end\n"
	"  for i = 2, a.n do\n"
	"    if a[i] ~= b[i] then error(where .. ': ' .. tostring(a[i]) .. ' against ' .. tostring(b[i])) end\n"
	"  end\n"
	"end\n"
	"local function all(find, text, pattern)\n"
	"  local out = {}\n"
	"  for a, b in find(text, pattern) do\n"
	"    out[#out + 1] = tostring(a) .. '/' .. tostring(b)\n"
	"    if #out > 200 then break end\n"
	"  end\n"
	"  return table.concat(out, ' ')\n"
	"end\n"
	"local function check(text, pattern)\n"
	"  same('find', text, pattern)\n"
	"  same('match', text, pattern)\n"
	"  for _, init in ipairs { 0, 2, 5, -1, -3, 99, -99 } do\n"
	"    same('find', text, pattern, init)\n"
	"    same('match', text, pattern, init)\n"
	"  end\n"
	"  same('find', text, pattern, 1, true)\n"
	"  same('gsub', text, pattern, '<%0>')\n"
	"  same('gsub', text, pattern, '%1', 2)\n"
	"  same('gsub', text, pattern, { a = 'A', b = 5, ['1'] = false })\n"
	"  same('gsub', text, pattern, function(x, y) if y then return x end end)\n"
	"  local a, x = pcall(all, string.gmatch, text, pattern)\n"
	"  local b, y = pcall(all, mine.gmatch, text, pattern)\n"
	"  if a ~= b or (a and x ~= y) then error('gmatch: ' .. text .. ' | ' .. pattern .. ': ' .. x .. ' against ' "
	".. y) end\n"
	"end\n"
	"local texts = { '', 'a', 'hello world', 'key = value', '((a)(b))', 'THE (quick) fox', 'a.b-c', '  12 0x1F ', "
	"'aaab',\n"
	"  'Cijk_Ailk_Bjlk_SB_MT64', 'x\\0y', 'nvjet_hsh_128x256', '[]]', '%d', '\xe4\xff' }\n"
	"local patterns = { '', 'a', '.', '.*', '.-', '^', '$', '^$', 'l+', '(l+)(o)', '%a+', '(%w+) = (%w+)', "
	"'%b()',\n"
	"  '%f[%a]%a+', '()', '()l()', '[%a_][%w_]*', '[^%s]+', '[]]', '[^]]', '[a-', '[', '%', '(', ')', '(()', '%1', "
	"'(a)%1',\n"
	"  '%b', '%bx', '%f', '%fa', '[a-c]+', '[%-a]', '[a%-c]', '[c-a]', '%D+', '%S', '%p', '%x+', '[%u%d]', 'a?', "
	"'a?b?c?',\n"
	"  '^a*', 'a*$', '$a', 'a^', '.*C.*_A.*_B.*', '^nvjet', '%.', '%z', '[[]', '[%]]', '(.)(.)', '%0', "
	"'(a*(.)%w(%s*))',\n"
	"  ('(a)'):rep(33), ('a?'):rep(250) }\n"
	"for _, t in ipairs(texts) do for _, p in ipairs(patterns) do check(t, p) end end\n"
	"local letters = { 'a', 'b', '.', '%a', '%d', '[ab]', '[^a]', '[a-c]', '(', ')', '()', '%1', '^', '$', '%b()', "
	"'%f[a]',\n"
	"  '*', '+', '-', '?', '1', '%%', ' ', '%', '[', ']' }\n"
	"local pieces = { 'a', 'b', 'c', '1', '(', ')', ' ', 'A', '%', '.', '-', 'ab' }\n"
	"math.randomseed(7)\n"
	"for i = 1, 8000 do\n"
	"  local p, t = {}, {}\n"
	"  for k = 1, math.random(6) do p[k] = letters[math.random(#letters)] end\n"
	"  for k = 1, math.random(0, 8) do t[k] = pieces[math.random(#pieces)] end\n"
	"  check(table.concat(t), table.concat(p))\n"
	"end\n"
	/* replacements that are none */
	"same('gsub', 'abc', 'b', '%2')\n"
	"same('gsub', 'abc', 'b', '%')\n"
	"same('gsub', 'abc', 'b', '%x')\n"
	"same('gsub', 'abc', '.', { a = true })\n"
	"same('gsub', 'abc', '.', function() return {} end)\n"
	"same('gsub', 'abc', '()', '%1')\n"
	"same('gsub', 'abc', '.', 1)\n"
	"same('gsub', 'abc', '.', true)\n"
	"same('gsub', 'abc', '.', '%0%0', 0)\n"
	"same('gsub', 'abc', '.', '%0%0', -1)\n"
	"same('find', nil, 'a')\n"
	"same('gmatch', 'a')\n";

static void patterns_match_as_in_lua(void **state)
{
	(void)state;
	tl_extension x = {.allowed = UINT64_MAX, .deadline_ms = INT64_MAX};
	lua_State *L = luaL_newstate();
	assert_non_null(L);
	*(tl_extension **)lua_getextraspace(L) = &x;
	luaL_openlibs(L);
	lua_newtable(L);
	tl__sandbox_patterns(L);
	lua_setglobal(L, "mine");
	if (luaL_dostring(L, script) != LUA_OK)
		fail_msg("%s", lua_tostring(L, -1));
	lua_close(L);
	assert_true(x.used > 100000); /* steps were charged */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_match_as_in_lua)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
