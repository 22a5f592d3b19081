/* SPDX-License-Identifier: MIT */
/* What an extension file may not do, and that it always comes to an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "extension/extension.h"

static char printed[4096];

static void note(void *user, const char *text)
{
	(void)user;
	size_t n = strlen(printed);
	snprintf(printed + n, sizeof printed - n, "%s\n", text);
}

static const tl_extension_options small = {.max_instructions = 1000000, .max_memory = 8 << 20, .note = note};

/* Runs a text as an extension file; the message is in err. */
static int run_with(const char *text, const tl_extension_options *options, tl_error *err)
{
	tl_extension *x;
	*err = (tl_error)TL_ERROR_INIT;
	printed[0] = '\0';
	int code = tl_extension_open_memory(&x, text, strlen(text), "ops.lua", options, err);
	assert_true((code == 0) == (x != NULL));
	tl_extension_free(x);
	return code;
}

static void expect_fine(const char *text)
{
	tl_error err;
	if (run_with(text, &small, &err) != 0)
		fail_msg("%s\n  in: %s", err.message, text);
}

static void expect_failure(const char *text, int code, const char *message)
{
	tl_error err;
	int got = run_with(text, &small, &err);
	if (got != code)
		fail_msg("%s instead of %s (%s)\n  in: %s", tl_code_name(got), tl_code_name(code), err.message, text);
	if (!strstr(err.message, message))
		fail_msg("'%s' does not say '%s'\n  in: %s", err.message, message, text);
	assert_int_equal(err.code, code);
}

static void there_is_no_way_out(void **state)
{
	(void)state;
	static const char *const gone[] = {
		"io",       "os",     "debug",      "package",        "require", "coroutine",  "load",
		"loadfile", "dofile", "loadstring", "collectgarbage", "warn",    "string.dump"};
	for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
		char text[256];
		snprintf(text, sizeof text, "assert(%s == nil, 'there is %s')", gone[i], gone[i]);
		expect_fine(text);
	}
	/* nor behind anything that is there */
	expect_fine(
		"local seen = {}\n"
		"local function walk(t, path)\n"
		"  if seen[t] then return end\n"
		"  seen[t] = true\n"
		"  for k, v in pairs(t) do\n"
		"    local p = path .. '.' .. tostring(k)\n"
		"    for _, bad in ipairs { 'io', 'os', 'debug', 'package', 'load', 'dofile', 'require', 'dump' } do\n"
		"      assert(tostring(k) ~= bad, p)\n"
		"    end\n"
		"    if type(v) == 'table' then walk(v, p) end\n"
		"    local m = getmetatable(v)\n"
		"    if type(m) == 'table' then walk(m, p .. '<meta>') end\n"
		"  end\n"
		"end\n"
		"walk(_G, '_G')\n");
	expect_failure("require 'os'", TL_EFORMAT, "ops.lua:1: attempt to call a nil value (global 'require')");
	expect_failure("\n\nlocal f = io.open('/etc/passwd')", TL_EFORMAT, "ops.lua:3: attempt to index a nil value");
}

static void compiled_files_are_refused(void **state)
{
	(void)state;
	tl_extension *x;
	tl_error err = TL_ERROR_INIT;
	static const char compiled[] = "\x1bLua\x54\x00\x19\x93\r\n\x1a\n";
	assert_int_equal(tl_extension_open_memory(&x, compiled, sizeof compiled - 1, "ops.lua", &small, &err),
			 TL_EFORMAT);
	assert_non_null(strstr(err.message, "binary chunk"));
	assert_null(x);
}

static void strings_share_a_metatable_that_nobody_gets(void **state)
{
	(void)state;
	expect_fine("assert(getmetatable('') == false)");
	expect_failure("getmetatable('').__index = nil", TL_EFORMAT, "ops.lua:1:");
	expect_failure("setmetatable('', {})", TL_EFORMAT, "bad argument #1");
	expect_fine("assert(('x'):rep(3) == 'xxx' and ('abc'):find('b') == 2)");
}

static void the_libraries_are_there(void **state)
{
	(void)state;
	expect_fine("assert(math.floor(2.5) == 2 and utf8.len('\xc3\xa4') == 1 and #table.pack(1, 2) == 2)");
	expect_fine("local t = { 3, 1, 2 } table.sort(t) assert(table.concat(t, ',') == '1,2,3')");
	expect_fine("assert(select('#', 1, nil, 3) == 3 and tonumber('0x10') == 16 and type(next) == 'function')");
	expect_fine("local a, b = pcall(error, 'x') assert(a == false and b == 'x')");
	expect_fine("local a, b, c = pcall(function(...) return ... end, 1, 2) assert(a and b == 1 and c == 2)");
	expect_fine(
		"local a, b = xpcall(error, function(m) return m .. '!' end, 'x') assert(a == false and b == 'x!')");
	expect_fine(
		"local a, b, c = xpcall(function(...) return ... end, print, 1, 2) assert(a and b == 1 and c == 2)");
	expect_fine("local t = setmetatable({}, { __index = { a = 1 } }) assert(t.a == 1)");
	/* numbers that look random are the same each time */
	expect_fine("local a = math.random(1000000) math.randomseed(1) assert(a == math.random(1000000))");
}

static void list_functions_do_as_the_manual_says(void **state)
{
	(void)state;
	expect_fine(
		"local t = { 1, 2, 3 } table.insert(t, 4) table.insert(t, 1, 0) assert(table.concat(t) == '01234')");
	expect_fine("local t = { 1, 2, 3 } assert(table.remove(t) == 3 and table.remove(t, 1) == 1 and #t == 1)");
	expect_fine("local t = {} assert(table.remove(t) == nil and #t == 0)");
	expect_fine("local t = table.move({ 1, 2, 3 }, 2, 3, 1) assert(t[1] == 2 and t[2] == 3 and t[3] == 3)");
	expect_fine("local t = table.move({ 1, 2, 3 }, 1, 3, 2) assert(table.concat(t) == '1123')");
	expect_fine(
		"local a = { 1, 2 } local t = table.move(a, 1, 2, 3, {}) assert(t[3] == 1 and t[4] == 2 and #a == 2)");
	expect_failure("table.insert({}, 5, 1)", TL_EFORMAT, "position out of bounds");
	expect_failure("table.insert({}, 1, 2, 3)", TL_EFORMAT, "wrong number of arguments");
	expect_failure("table.remove({ 1 }, 7)", TL_EFORMAT, "position out of bounds");
	expect_fine("assert(('ab'):rep(3, '-') == 'ab-ab-ab' and ('x'):rep(0) == '' and ('x'):rep(-1) == '')");
	expect_fine("assert((''):rep(1 << 60) == '')");
}

/* Each of these would run for ever. */
static const char *const endless[] = {
	"while true do end",
	"repeat until false",
	"::again:: goto again",
	"local function f() return f() end f()",
	"for i = 1, math.huge do end",
	"local t = setmetatable({}, { __index = function(t, k) return t[k .. 'x'] end }) "
	"while true do pcall(function() return t.a end) end",
	"pcall(function() while true do end end) while true do end",
	"xpcall(function() while true do end end, function() while true do end end)",
	"while true do pcall(error) end",
	"local function f() pcall(f) while true do end end f()",
	"local t <close> = setmetatable({}, { __close = function() while true do end end }) error('x')",
	"table.sort({ 3, 2, 1 }, function() while true do end end)",
	"string.gsub('x', '.', function() while true do end end)",
	"tostring(setmetatable({}, { __tostring = function() while true do end end }))",
	"table.move({}, 1, 1 << 50, 2)",
	"local t = {} for i = 1, 50000 do t[i] = 0 end while true do table.sort(t) end",
	"local t = {} for i = 1, 50000 do t[i] = 0 end while true do table.concat(t, '', 1, 0) end",
	"local t = setmetatable({}, { __len = function() return 1 << 60 end }) while true do table.insert(t, 1, 0) end",
	"while true do local s = ('x'):rep(1 << 20) end",
	"string.find(('a'):rep(5000), ('.-'):rep(12) .. 'b')",
	"string.match(('a'):rep(100000), '(.-)(.-)(.-)%1%2%3b')",
	"string.gsub(('a'):rep(100000), '.-.-.-b', '')",
	"for m in string.gmatch(('a'):rep(100000), '.-.-.-b') do end",
	"string.find(('('):rep(100000), '%b()' .. ('.-'):rep(5) .. '!')",
	"for w in pairs(setmetatable({}, { __pairs = function() return function() return 1 end end })) do end",
};

static void nothing_runs_for_ever(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
		expect_failure(endless[i], TL_ELIMIT, "ops.lua:1");
		char caught[512];
		snprintf(caught, sizeof caught, "local ok = pcall(function()\n%s\nend)\nprint('went on')", endless[i]);
		expect_failure(caught, TL_ELIMIT, "ops.lua:2");
		assert_string_equal(printed, "");
		snprintf(caught, sizeof caught, "xpcall(function()\n%s\nend, function() print('handled') end)",
			 endless[i]);
		expect_failure(caught, TL_ELIMIT, "ops.lua:2");
		assert_string_equal(printed, "");
	}
}

static void finalizers_would_escape_the_count(void **state)
{
	(void)state;
	expect_failure("setmetatable({}, { __gc = function() while true do end end })", TL_EFORMAT,
		       "ops.lua:1: finalizers (__gc) are not available");
	/* one that is added later is not called */
	expect_fine("local m = {} setmetatable({}, m) m.__gc = function() print('called') end");
	assert_string_equal(printed, "");
}

static const char *const greedy[] = {
	"local s = ('x'):rep(1 << 30)",
	"local s = ('x'):rep(1 << 62, 'y')",
	"local s = 'x' while true do s = s .. s end",
	"local t = {} for i = 1, 1 << 40 do t[i] = i end",
	"local t = {} for i = 1, 1 << 40 do t[i] = { i } end",
	"local s = ('x'):rep(7 << 20) local t = { s, s, s, s } return table.concat(t)",
	"return string.format('%s%s%s', ('x'):rep(3 << 20), ('x'):rep(3 << 20), ('x'):rep(3 << 20))",
	"return (('x'):rep(1 << 20):gsub('.', ('y'):rep(100)))",
};

static void memory_is_limited(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof greedy / sizeof greedy[0]; i++) {
		/* whichever limit comes first */
		expect_failure(greedy[i], TL_ELIMIT, "ops.lua");
		char caught[512];
		snprintf(caught, sizeof caught, "local ok = pcall(function()\n%s\nend)\nprint('went on')", greedy[i]);
		expect_failure(caught, TL_ELIMIT, "stopped");
		assert_string_equal(printed, "");
	}
	expect_failure("local s = ('x'):rep(1 << 30)", TL_ELIMIT,
		       "ops.lua:1: stopped: it needs more than 8 MB of memory");
	expect_fine("for i = 1, 6 do local s = ('x'):rep(1 << 20) end"); /* garbage does not count */
}

static void too_little_memory_for_anything(void **state)
{
	(void)state;
	for (size_t limit = 1; limit < 100000; limit += 997) {
		tl_error err;
		const tl_extension_options options = {.max_memory = limit};
		int code = run_with("local t = {} for i = 1, 100 do t[i] = i .. 'x' end", &options, &err);
		assert_true(code == 0 || code == TL_ELIMIT);
	}
}

static void deep_recursion_is_an_error_of_the_file(void **state)
{
	(void)state;
	static const tl_extension_options roomy = {.max_memory = 128 << 20};
	tl_error err;
	assert_int_equal(run_with("local function f() return 1 + f() end f()", &roomy, &err), TL_EFORMAT);
	assert_non_null(strstr(err.message, "stack overflow"));
	assert_int_equal(run_with("local function f() return 1 + f() end assert(not pcall(f))", &roomy, &err), 0);
	expect_failure("local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x", TL_EFORMAT, "loop");
	/* C calls nest in C */
	assert_int_equal(run_with("local function f() string.gsub('x', '.', f) end f()", &roomy, &err), TL_EFORMAT);
	assert_non_null(strstr(err.message, "C stack overflow"));
	char nested[40001];
	memset(nested, '(', 40000);
	nested[40000] = '\0';
	assert_int_equal(run_with(nested, &roomy, &err), TL_EFORMAT);
}

static void errors_name_file_and_line(void **state)
{
	(void)state;
	expect_failure("x = = 1", TL_EFORMAT, "ops.lua:1: unexpected symbol near '='");
	expect_failure("\n\n\nerror('no good')", TL_EFORMAT, "ops.lua:4: no good");
	expect_failure("local t\n\nt.x = 1", TL_EFORMAT, "ops.lua:3: attempt to index a nil value (local 't')");
	expect_failure("error({})", TL_EFORMAT, "ops.lua: the error is no text but a table");
	expect_failure("error()", TL_EFORMAT, "ops.lua: the error is no text but a nil");
	expect_failure("#!/usr/bin/lua\nerror('x')", TL_EFORMAT, "ops.lua:2: x");
	expect_failure("print(setmetatable({}, { __tostring = function() return {} end }))", TL_EFORMAT,
		       "must return a string");
}

static void what_is_printed_becomes_a_note(void **state)
{
	(void)state;
	expect_fine("print('a', 1, 2.5, nil, true) print() print('b')");
	assert_string_equal(printed, "a 1 2.5 nil true\n\nb\n");
	tl_error err;
	assert_int_equal(run_with("print('nobody listens')", NULL, &err), 0);
}

static void python_files_belong_elsewhere(void **state)
{
	(void)state;
	tl_extension *x;
	tl_error err = TL_ERROR_INIT;
	assert_int_equal(tl_extension_open(&x, "no/such/ops.py", NULL, &err), TL_EUNSUPPORTED);
	assert_non_null(
		strstr(err.message, "Python extension files work with the Python package; this command takes Lua"));
	assert_int_equal(tl_extension_open(&x, "no/such/ops.lua", NULL, &err), TL_EIO);
	assert_non_null(strstr(err.message, "no/such/ops.lua"));
	assert_null(x);
}

static void files_are_read(void **state)
{
	(void)state;
	tl_extension *none;
	assert_int_equal(tl_extension_open(&none, NULL, NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_extension_open_memory(&none, NULL, 0, "x", NULL, NULL), TL_EINVAL);
	assert_int_equal(tl_extension_open_memory(&none, "", 0, NULL, NULL, NULL), TL_EINVAL);
	assert_null(tl_extension_hook(NULL));
	assert_int_equal(tl_extension_notes(NULL), 0);
	tl_extension_free(NULL);
	char path[] = "/tmp/tl-extension-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	static const char text[] = "print('from a file')";
	assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
	close(fd);
	tl_extension *x;
	printed[0] = '\0';
	assert_int_equal(tl_extension_open(&x, path, &small, NULL), 0);
	assert_string_equal(printed, "from a file\n");
	tl_extension_free(x);
	unlink(path);
	assert_int_equal(tl_extension_open(&x, "/", &small, NULL), TL_EIO); /* a directory */
}

static void running_out_of_memory_is_an_error(void **state)
{
	(void)state;
	static const char text[] = "local t = {} for i = 1, 50 do t[i] = ('x'):rep(i) .. i end\n"
				   "pcall(function() for i = 1, 50 do t[i] = { t[i] } end end)\n"
				   "category { ['a'] = 'b' } tree(function() end)\n"
				   "model { name = 'm', category = 'c', eval = function() end }\n"
				   "string.gsub('abc', '%w', '%0%0')";
	int code = TL_ENOMEM;
	int64_t n = 0;
	for (; code == TL_ENOMEM; n++) {
		tl_error err = TL_ERROR_INIT;
		tl_extension *x;
		tl__alloc_fail_after(n);
		code = tl_extension_open_memory(&x, text, sizeof text - 1, "ops.lua", NULL, &err);
		tl__alloc_fail_after(-1);
		if (code != 0 && code != TL_ENOMEM)
			fail_msg("allocation %lld: %s", (long long)n, err.message);
		tl_extension_free(x);
	}
	assert_true(n > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_is_no_way_out),
		cmocka_unit_test(compiled_files_are_refused),
		cmocka_unit_test(strings_share_a_metatable_that_nobody_gets),
		cmocka_unit_test(the_libraries_are_there),
		cmocka_unit_test(list_functions_do_as_the_manual_says),
		cmocka_unit_test(nothing_runs_for_ever),
		cmocka_unit_test(finalizers_would_escape_the_count),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(too_little_memory_for_anything),
		cmocka_unit_test(deep_recursion_is_an_error_of_the_file),
		cmocka_unit_test(errors_name_file_and_line),
		cmocka_unit_test(what_is_printed_becomes_a_note),
		cmocka_unit_test(python_files_belong_elsewhere),
		cmocka_unit_test(files_are_read),
		cmocka_unit_test(running_out_of_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
