/* SPDX-License-Identifier: MIT */
/**
 * @file extension.h
 * What users add to a report without touching the library: hooks, and extension files in Lua that become hooks.
 * docs/extending.md is the guide.
 */
#ifndef TRACELENS_EXTENSION_H
#define TRACELENS_EXTENSION_H

#include <tracelens/analysis.h>
#include <tracelens/common.h>
#include <tracelens/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Two moments in the making of a report at which a program may step in. Functions may be NULL; each returns 0, or
 * anything else to end the report with TL_ECALLBACK and what it wrote into `err`, which is never NULL.
 */
typedef struct tl_hook {
	/**
	 * The tree is built and nothing looks at it yet: it may be edited (edit.h). A report that compares calls it
	 * again, for the tree of the other trace.
	 */
	int (*tree)(void *user, tl_tree *tree, tl_error *err);
	/** The analyser is made and no table yet: models and categories may be registered (model.h). */
	int (*analyzer)(void *user, tl_analyzer *analyzer, tl_error *err);
	void *user; /**< handed to both */
} tl_hook;

/** An extension file that was read: its models, categories and tree functions. For one thread at a time. */
typedef struct tl_extension tl_extension;

/** How an extension file may behave. Zero-initialise for the defaults. */
typedef struct tl_extension_options {
	/**
	 * Instructions of Lua's machine: for reading the file, for one model on one input, and, with 1000 more for each
	 * event, for the tree functions; evaluations together may take 1000 times as many. 0: ten million.
	 */
	uint64_t max_instructions;
	/** Bytes that the file and its data may take, in tree functions 200 more for each event; 0: 128 MB. */
	size_t max_memory;
	/**
	 * Receives a line that the file prints, and notes about models that failed; `text` ends with NUL, without a
	 * newline. NULL: dropped.
	 */
	void (*note)(void *user, const char *text);
	void *user;
} tl_extension_options;

/**
 * Reads an extension file: Lua 5.4 with the base functions (without load, dofile, loadfile, require), string, table,
 * math and utf8. It has no way to files, processes or other modules. The contract is in docs/extending.md.
 * @param[out] out freed with tl_extension_free
 * @return 0, TL_EIO (cannot be read), TL_EFORMAT (an error in the file: the message begins with file and line),
 *         TL_ELIMIT (stopped: too many instructions or too much memory), TL_EUNSUPPORTED (a Python file), TL_ENOMEM
 */
TL_API int tl_extension_open(tl_extension **out, const char *path, const tl_extension_options *options, tl_error *err);
/** As tl_extension_open, of `size` bytes of text; `label` stands for the path in messages. */
TL_API int tl_extension_open_memory(tl_extension **out, const char *text, size_t size, const char *label,
				    const tl_extension_options *options, tl_error *err);
/** Frees it; analysers that its hook was given must be gone. NULL is fine. */
TL_API void tl_extension_free(tl_extension *extension);

/** The extension as a hook of a report. Belongs to the extension. */
TL_API const tl_hook *tl_extension_hook(tl_extension *extension);
/**
 * Hands what models could not evaluate so far to the note function: a line for each model with the number of distinct
 * inputs and the first message. Call it when the tables are made. Returns the number of models that failed.
 */
TL_API size_t tl_extension_notes(tl_extension *extension);

#ifdef __cplusplus
}
#endif

#endif
