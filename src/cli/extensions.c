/* SPDX-License-Identifier: MIT */
/* Extension files of a report: opened before the trace, so that a mistake in one shows at once. */
#include <stdlib.h>

#include "cli.h"

static void note(void *quiet, const char *text)
{
	if (!*(const bool *)quiet)
		cli_say("%s", text);
}

int cli_extensions_open(cli_extensions *out, const cli_args *args, bool quiet)
{
	const cli_given *files = cli_get(args, "extension_file");
	*out = (cli_extensions){0};
	if (!files->n)
		return CLI_OK;
	out->items = calloc(files->n, sizeof(tl_extension *));
	out->hooks = calloc(files->n, sizeof(const tl_hook *));
	out->quiet = malloc(sizeof *out->quiet);
	if (!out->items || !out->hooks || !out->quiet) {
		cli_say("out of memory");
		return CLI_FAILED;
	}
	*out->quiet = quiet;
	tl_extension_options options = {.note = note, .user = out->quiet};
	for (size_t i = 0; i < files->n; i++) {
		tl_error err = TL_ERROR_INIT;
		int code = tl_extension_open(&out->items[i], files->values[i], &options, &err);
		if (code < 0)
			return cli_complain(&err, code == TL_EUNSUPPORTED ? CLI_USAGE : CLI_FAILED);
		out->hooks[i] = tl_extension_hook(out->items[i]);
		out->n = i + 1;
	}
	return CLI_OK;
}

void cli_extensions_notes(cli_extensions *extensions)
{
	for (size_t i = 0; i < extensions->n; i++)
		(void)tl_extension_notes(extensions->items[i]);
}

void cli_extensions_free(cli_extensions *extensions)
{
	for (size_t i = 0; i < extensions->n; i++)
		tl_extension_free(extensions->items[i]);
	free(extensions->items);
	free(extensions->hooks);
	free(extensions->quiet);
}
