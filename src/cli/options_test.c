/* SPDX-License-Identifier: MIT */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#include "options.h"

static const char *const colours[] = {"auto", "always", NULL};
static const cli_option options[] = {
	{.name = "enable_kernel_summary", .kind = CLI_FLAG, .group = "a", .help = "words"},
	{.name = "enable-origami", .kind = CLI_FLAG, .group = "a"},
	{.name = "output", .letter = 'o', .kind = CLI_TEXT, .value = "FILE", .group = "a"},
	{.name = "output_json_path", .kind = CLI_TEXT, .group = "a"},
	{.name = "names", .kind = CLI_TEXTS, .value = "NAME", .group = "b"},
	{.name = "bins", .kind = CLI_INT, .min = 1, .group = "b"},
	{.name = "threshold", .letter = 't', .kind = CLI_NUMBER, .min = -10, .group = "b"},
	{.name = "color", .kind = CLI_CHOICE, .choices = colours, .group = "b"},
	{.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = "b"},
	{0},
};

static char message[512];

/* parses words up to the NULL */
static int parse(cli_args *args, const char *const *words)
{
	int n = 0;
	while (words[n])
		n++;
	message[0] = '\0';
	return cli_parse(args, options, n, (char **)(uintptr_t)words, message, sizeof message);
}
#define PARSE(...) parse(&args, (const char *const[]){__VA_ARGS__, NULL})

static void values_follow_in_any_form(void **state)
{
	(void)state;
	cli_args args;
	assert_int_equal(PARSE("a.json", "--output=x=y", "--bins", "20", "-t", "-5", "b", "-q"), 0);
	assert_string_equal(cli_text(&args, "output", ""), "x=y");
	assert_true(cli_number(&args, "bins", 0) == 20);
	assert_true(cli_number(&args, "threshold", 0) == -5);
	assert_true(cli_has(&args, "quiet"));
	assert_false(cli_has(&args, "names"));
	assert_int_equal(args.n_rest, 2);
	assert_string_equal(args.rest[0], "a.json");
	assert_string_equal(args.rest[1], "b");
	cli_args_free(&args);

	assert_int_equal(PARSE("-oFILE", "-qt2.5", "-"), 0);
	assert_string_equal(cli_text(&args, "output", ""), "FILE");
	assert_true(cli_number(&args, "threshold", 0) == 2.5);
	assert_string_equal(args.rest[0], "-");
	cli_args_free(&args);
}

static void one_option_takes_several_values(void **state)
{
	(void)state;
	cli_args args;
	assert_int_equal(PARSE("--names", "a", "b", "-3", "--quiet", "rest"), 0);
	const cli_given *names = cli_get(&args, "names");
	assert_int_equal(names->n, 3);
	assert_string_equal(names->values[1], "b");
	assert_string_equal(names->values[2], "-3");
	assert_int_equal(args.n_rest, 1);
	cli_args_free(&args);
	/* a new list replaces the old one, "--" ends it */
	assert_int_equal(PARSE("--names", "a", "b", "--names", "c", "--", "--bins"), 0);
	assert_int_equal(cli_get(&args, "names")->n, 1);
	assert_string_equal(args.rest[0], "--bins");
	cli_args_free(&args);
}

static void the_last_value_counts(void **state)
{
	(void)state;
	cli_args args;
	assert_int_equal(PARSE("--bins", "1", "--bins=7"), 0);
	assert_true(cli_number(&args, "bins", 0) == 7);
	assert_string_equal(cli_text(&args, "bins", ""), "7");
	cli_args_free(&args);
}

static void names_may_be_shortened(void **state)
{
	(void)state;
	cli_args args;
	assert_int_equal(PARSE("--enable_k", "--enable_o", "--out", "f", "--output-j=g"), -1);
	assert_non_null(strstr(message, "--out could be any of --output, --output_json_path"));
	assert_int_equal(PARSE("--enable_k", "--enable_o", "--output", "f", "--output-j=g"), 0);
	assert_true(cli_has(&args, "enable_kernel_summary"));
	assert_true(cli_has(&args, "enable-origami"));
	assert_string_equal(cli_text(&args, "output", ""), "f"); /* exact beats prefix */
	assert_string_equal(cli_text(&args, "output_json_path", ""), "g");
	cli_args_free(&args);
}

#define EXPECT_ERROR(text, ...)                           \
	do {                                              \
		assert_int_equal(PARSE(__VA_ARGS__), -1); \
		assert_string_equal(message, text);       \
	} while (0)

static void mistakes_are_named(void **state)
{
	(void)state;
	cli_args args;
	EXPECT_ERROR("unknown option --binz; did you mean --bins?", "--binz", "3");
	EXPECT_ERROR("unknown option --kernel_summary; did you mean --enable_kernel_summary?", "--kernel_summary");
	EXPECT_ERROR("unknown option --xyzzy", "--xyzzy");
	EXPECT_ERROR("unknown option -x", "-x");
	EXPECT_ERROR("unknown option -x", "-qx");
	EXPECT_ERROR("--bins: 'many' is not a whole number", "--bins", "many");
	EXPECT_ERROR("--bins: '2.5' is not a whole number", "--bins=2.5");
	EXPECT_ERROR("--bins: '' is not a whole number", "--bins=");
	EXPECT_ERROR("--bins: 0 is too small, the least is 1", "--bins", "0");
	EXPECT_ERROR("--bins: '1e300' is out of range", "--bins", "1e300");
	EXPECT_ERROR("--threshold: 'nan' is not a number", "--threshold", "nan");
	EXPECT_ERROR("--threshold: 'inf' is not a number", "--threshold=inf");
	EXPECT_ERROR("--output needs a value (FILE)", "--output");
	EXPECT_ERROR("--output needs a value (FILE)", "--output", "--quiet");
	EXPECT_ERROR("--names needs a value (NAME)", "--names");
	EXPECT_ERROR("--quiet takes no value", "--quiet=1");
	EXPECT_ERROR("--color: 'red' is not one of auto, always", "--color", "red");
}

static void suggestions_are_near(void **state)
{
	(void)state;
	static const char *const words[] = {"report", "health", "help", NULL};
	assert_string_equal(cli_nearest("reprot", words), "report");
	assert_string_equal(cli_nearest("raport", words), "report");
	assert_null(cli_nearest("compare", words));
	assert_null(cli_nearest("", words));
}

static void help_breaks_lines(void **state)
{
	(void)state;
	static const cli_option long_help[] = {
		{.name = "x", .kind = CLI_FLAG, .group = "g", .help = "one two three four five six seven eight nine"},
		{0},
	};
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof text, "w");
	cli_print_options(out, long_help, 40);
	fclose(out);
	assert_string_equal(text, "\ng:\n  --x     one two three four five six\n"
				  "          seven eight nine\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_follow_in_any_form), cmocka_unit_test(one_option_takes_several_values),
		cmocka_unit_test(the_last_value_counts),     cmocka_unit_test(names_may_be_shortened),
		cmocka_unit_test(mistakes_are_named),        cmocka_unit_test(suggestions_are_near),
		cmocka_unit_test(help_breaks_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
