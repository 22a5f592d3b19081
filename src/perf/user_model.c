/* SPDX-License-Identifier: MIT */
/* The set of registered models: adding to it, looking up in it. */
#include "perf/user_model.h"

#include <string.h>
#include <strings.h>

#include "perf/registry.h"
#include "util/error.h"

enum { MAX_SHEETS = 200 };

void tl__models_free(tl_models *m)
{
	tl__strings_unref(m->names);
	tl__map_free(&m->by_name);
	tl__map_free(&m->by_category);
	TL_VEC_FREE(&m->models);
	TL_VEC_FREE(&m->categories);
	TL_VEC_FREE(&m->sheets);
	tl__arena_free(&m->arena);
	*m = (tl_models){0};
}

/* ---- adding ---- */

/* A sheet's name is a file's name, too: nothing that leads to another folder. */
static bool is_sheet_name(const char *text)
{
	size_t n = strlen(text);
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. ";
	return n > 0 && n <= 60 && text[0] != '.' && text[0] != ' ' && text[n - 1] != ' ' && strspn(text, allowed) == n;
}

static int add_sheet(tl_models *m, const char *sheet, const char **out, tl_error *err)
{
	size_t n;
	const char *const *builtin = tl__perf_sheets(&n);
	if (!m->sheets.n) {
		if (TL_VEC_RESERVE(&m->sheets, n + 1) < 0)
			return tl__nomem(err);
		for (size_t i = 0; i < n; i++)
			m->sheets.v[m->sheets.n++] = builtin[i];
	}
	for (size_t i = 0; i < m->sheets.n; i++) {
		if (!strcmp(m->sheets.v[i], sheet)) {
			*out = m->sheets.v[i];
			return 0;
		}
	}
	if (m->sheets.n >= MAX_SHEETS)
		return tl__fail(err, TL_ELIMIT, "more than %d sheet families", MAX_SHEETS);
	*out = tl__arena_strndup(&m->arena, sheet, strlen(sheet));
	return *out && TL_VEC_PUSH(&m->sheets, *out) == 0 ? 0 : tl__nomem(err);
}

static int copy(tl_models *m, const char *text, const char **out, tl_error *err)
{
	*out = text ? tl__arena_strndup(&m->arena, text, strlen(text)) : NULL;
	return text && !*out ? tl__nomem(err) : 0;
}

static int name_id(tl_models *m, const char *name, tl_str *out, tl_error *err)
{
	if (!m->names)
		m->names = tl__strings_new(NULL);
	*out = m->names ? tl__interns(m->names, name) : TL_STR_FAIL;
	return *out == TL_STR_FAIL ? tl__nomem(err) : 0;
}

static int check(const tl_model_desc *desc, tl_error *err)
{
	const uint32_t known = TL_MODEL_READS_ARGS | TL_MODEL_READS_KERNELS | TL_MODEL_READS_FORWARD |
			       TL_MODEL_READS_ANNOTATION | TL_MODEL_READS_EXTRAS | TL_MODEL_READS_EVENT;
	if (!desc->name || !*desc->name)
		return tl__fail(err, TL_EINVAL, "a model needs the name of its operation");
	if (!desc->eval)
		return tl__fail(err, TL_EINVAL, "the model of '%.200s' has no function", desc->name);
	if (desc->reads & ~known)
		return tl__fail(err, TL_EINVAL, "the model of '%.200s' reads something unknown", desc->name);
	if (desc->sheet && !is_sheet_name(desc->sheet))
		return tl__fail(err, TL_EINVAL,
				"'%.100s' cannot name a sheet: up to 60 letters, digits, blanks, '_', '-' and '.'",
				desc->sheet);
	const char *const categories[] = {desc->category, desc->bwd_category};
	for (size_t i = 0; i < 2; i++)
		if (categories[i] && !*categories[i])
			return tl__fail(err, TL_EINVAL, "the model of '%.200s' has an empty category", desc->name);
	return 0;
}

/* What is left open comes from the built-in model of the name, when there is one. */
static int fill(tl_models *m, const tl_model_desc *desc, tl_user_model *out, tl_error *err)
{
	size_t n = strlen(desc->name);
	const tl_perf_model *builtin = tl__perf_model_exact(desc->name, n);
	tl_perf_model *model = &out->model;

	*out = (tl_user_model){.eval = desc->eval, .user = desc->user, .has_category = desc->category != NULL};
	model->reads = desc->reads;
	if (!model->reads)
		model->reads = TL_READS_ARGS | TL_READS_EXTRAS | (builtin ? builtin->reads : 0);
	TL_TRY(copy(m, desc->name, &model->name, err));
	if (desc->category)
		TL_TRY(copy(m, desc->category, &model->category, err));
	else
		model->category = builtin ? builtin->category : tl__perf_category(desc->name, n, NULL);
	if (desc->bwd_category)
		TL_TRY(copy(m, desc->bwd_category, &model->bwd_category, err));
	else
		model->bwd_category = builtin ? builtin->bwd_category : NULL;
	if (desc->sheet)
		return add_sheet(m, desc->sheet, &model->sheet, err);
	model->sheet = builtin ? builtin->sheet : NULL;
	return 0;
}

int tl__models_add(tl_models *m, const tl_model_desc *desc, tl_error *err)
{
	tl_user_model filled;
	tl_str id;

	TL_TRY(check(desc, err));
	TL_TRY(fill(m, desc, &filled, err));
	TL_TRY(name_id(m, desc->name, &id, err));
	uint32_t at = tl__map_get(&m->by_name, id);
	if (at != TL_MAP_NONE) {
		m->models.v[at] = filled;
		return 0;
	}
	at = (uint32_t)m->models.n;
	if (TL_VEC_RESERVE(&m->models, 1) < 0 || tl__map_set(&m->by_name, id, at) < 0)
		return tl__nomem(err);
	m->models.v[m->models.n++] = filled;
	return 0;
}

int tl__models_set_origin(tl_models *m, const char *name, const char *origin, tl_error *err)
{
	tl_str id = m->names ? tl__strings_find(m->names, name, strlen(name)) : TL_STR_NONE;
	uint32_t at = id == TL_STR_NONE ? TL_MAP_NONE : tl__map_get(&m->by_name, id);
	return at == TL_MAP_NONE ? 0 : copy(m, origin, &m->models.v[at].origin, err);
}

const char *tl__models_sheet_origin(const tl_models *m, const char *sheet)
{
	for (size_t i = 0; i < m->models.n; i++) {
		const tl_user_model *model = &m->models.v[i];
		size_t n = model->model.sheet ? strlen(model->model.sheet) : 0;
		if (n && model->origin && !strncasecmp(sheet, model->model.sheet, n) && (!sheet[n] || sheet[n] == '_'))
			return model->origin;
	}
	return "";
}

int tl__models_set_category(tl_models *m, const char *name, const char *category, tl_error *err)
{
	const char *text;
	tl_str id;

	if (!name || !*name || !category || !*category)
		return tl__fail(err, TL_EINVAL, "a category needs a name and an operation");
	TL_TRY(copy(m, category, &text, err));
	TL_TRY(name_id(m, name, &id, err));
	uint32_t at = tl__map_get(&m->by_category, id);
	if (at != TL_MAP_NONE) {
		m->categories.v[at] = text;
		return 0;
	}
	at = (uint32_t)m->categories.n;
	if (TL_VEC_RESERVE(&m->categories, 1) < 0 || tl__map_set(&m->by_category, id, at) < 0)
		return tl__nomem(err);
	m->categories.v[m->categories.n++] = text;
	return 0;
}

/* ---- looking up ---- */

bool tl_model_builtin_at(size_t index, tl_builtin_model *out)
{
	size_t n;
	const tl_perf_model *models = tl__perf_models(&n);
	if (!out || index >= n)
		return false;
	const tl_perf_model *m = &models[index];
	*out = (tl_builtin_model){m->name, m->category, m->bwd_category, m->sheet};
	return true;
}

const char *tl_model_category(const char *name, const char *first_kernel)
{
	return tl__perf_category(name ? name : "", name ? strlen(name) : 0, first_kernel);
}

const char *tl_model_category_only_at(size_t index, const char **category)
{
	const char *name = tl__perf_category_name(index);
	if (name && category)
		*category = tl__perf_category(name, strlen(name), NULL);
	return name;
}

static const tl_user_model *registered(const tl_models *m, const char *name, size_t n)
{
	tl_str id = m->names ? tl__strings_find(m->names, name, n) : TL_STR_NONE;
	uint32_t at = id == TL_STR_NONE ? TL_MAP_NONE : tl__map_get(&m->by_name, id);
	return at == TL_MAP_NONE ? NULL : &m->models.v[at];
}

const tl_perf_model *tl__models_exact(const tl_models *m, const char *name, size_t n)
{
	const tl_user_model *user = registered(m, name, n);
	return user ? &user->model : tl__perf_model_exact(name, n);
}

const tl_perf_model *tl__models_find(const tl_models *m, const char *name, size_t n)
{
	const tl_user_model *user = registered(m, name, n);
	return user ? &user->model : tl__perf_model(name, n);
}

const char *tl__models_category(const tl_models *m, const char *name, size_t n, const char *first_kernel)
{
	tl_str id = m->names ? tl__strings_find(m->names, name, n) : TL_STR_NONE;
	if (id != TL_STR_NONE) {
		uint32_t at = tl__map_get(&m->by_category, id);
		if (at != TL_MAP_NONE)
			return m->categories.v[at];
		const tl_user_model *user = registered(m, name, n);
		if (user && user->has_category)
			return user->model.category;
	}
	return tl__perf_category(name, n, first_kernel);
}

const char *const *tl__models_sheets(const tl_models *m, size_t *n)
{
	if (!m->sheets.n)
		return tl__perf_sheets(n);
	*n = m->sheets.n;
	return m->sheets.v;
}

bool tl__models_sheet_is_single(const tl_models *m, const char *sheet)
{
	size_t n;
	const char *const *builtin = tl__perf_sheets(&n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(builtin[i], sheet))
			return false;
	for (size_t i = 0; i < m->models.n; i++) {
		const tl_perf_model *model = &m->models.v[i].model;
		size_t length = strlen(model->category);
		if (!model->sheet || strcmp(model->sheet, sheet) != 0)
			continue;
		if (model->bwd_category || (length > 4 && !strcmp(model->category + length - 4, "_bwd")))
			return false;
	}
	return true;
}
