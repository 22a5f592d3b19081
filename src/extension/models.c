/* SPDX-License-Identifier: MIT */
/* What a file declares: model { ... }, category { ... }; and how a declared model is evaluated. */
#include <math.h>
#include <string.h>

#include "analysis/analyzer.h"
#include "extension/extension.h"
#include "perf/args.h"

/* Identifies operations that we made: their metatable. */
static const char operation_type[] = "tracelens.operation";

void tl__lua_model_free(tl_lua_model *model)
{
	if (!model)
		return;
	tl__free(model->name);
	tl__free(model->category);
	tl__free(model->bwd_category);
	tl__free(model->sheet);
	tl__free(model->first_failure);
	tl__free(model->origin);
	tl__free(model);
}

/* ---- declaring ---- */

/* Bytes that a model takes, and a category, besides their texts: at most this. */
enum { A_MODEL = 512, A_CATEGORY = 128 };

static void check_reading(lua_State *L, const char *what)
{
	if (!tl__extension_of(L)->reading)
		luaL_error(L, "%s belongs outside of functions: it is too late now", what);
}

/* Sets *out to a copy of the text in field `key` of the table at 1; NULL when it has none. */
static void text_field(lua_State *L, const char *key, char **out)
{
	int type = lua_getfield(L, 1, key);
	if (type != LUA_TNIL && type != LUA_TSTRING)
		luaL_error(L, "field '%s' of a model must be a string, not a %s", key, luaL_typename(L, -1));
	if (type == LUA_TSTRING) {
		if (strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1) || !lua_rawlen(L, -1))
			luaL_error(L, "field '%s' of a model must not be empty or hold NUL bytes", key);
		tl__sandbox_keep(L, 2 * (size_t)lua_rawlen(L, -1)); /* here and in the set of models */
		*out = tl__strdup(lua_tostring(L, -1));
		if (!*out)
			tl__raise(L, TL_ENOMEM, NULL);
	}
	lua_pop(L, 1);
}

static uint32_t reads_field(lua_State *L)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} parts[] = {{"args", TL_READS_ARGS},
		     {"kernels", TL_READS_KERNELS},
		     {"forward", TL_READS_FORWARD},
		     {"annotation", TL_READS_ANNOTATION},
		     {"extras", TL_READS_EXTRAS}};
	enum { PARTS = sizeof parts / sizeof parts[0] };
	uint32_t reads = 0;
	if (lua_getfield(L, 1, "reads") == LUA_TNIL) {
		lua_pop(L, 1);
		return 0;
	}
	if (!lua_istable(L, -1))
		luaL_error(L, "field 'reads' of a model must be a list such as {'args', 'kernels'}, not a %s",
			   luaL_typename(L, -1));
	lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, -1, i);
		const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
		size_t k = 0;
		while (k < PARTS && strcmp(parts[k].name, name) != 0)
			k++;
		if (k == PARTS)
			luaL_error(L, "a model reads 'args', 'kernels', 'forward', 'annotation' or 'extras', not '%s'",
				   lua_type(L, -1) == LUA_TSTRING ? name : luaL_typename(L, -1));
		reads |= parts[k].bit;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	if (!reads)
		luaL_error(L, "field 'reads' of a model is empty; leave it out for the default");
	return reads;
}

static void check_fields(lua_State *L, int table, const char *what, const char *const *names)
{
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
		size_t i = 0;
		if (lua_type(L, -2) == LUA_TSTRING)
			while (names[i] && strcmp(names[i], lua_tostring(L, -2)) != 0)
				i++;
		if (lua_type(L, -2) != LUA_TSTRING || !names[i])
			tl__unknown_field(L, what, -2, names);
	}
}

static int evaluate(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err);

static tl_model_desc description(tl_lua_model *m)
{
	return (tl_model_desc){.name = m->name,
			       .category = m->category,
			       .bwd_category = m->bwd_category,
			       .sheet = m->sheet,
			       .reads = m->reads,
			       .eval = evaluate,
			       .user = m};
}

/* model { name = ..., eval = function(op) ... end, ... } */
static int declare_model(lua_State *L)
{
	static const char *const names[] = {"name", "category", "bwd_category", "sheet", "reads", "eval", NULL};
	tl_extension *x = tl__extension_of(L);
	check_reading(L, "model { ... }");
	if (!lua_istable(L, 1))
		return luaL_error(L, "model takes a table: model { name = ..., eval = function(op) ... end }");
	lua_settop(L, 1);
	check_fields(L, 1, "a model", names);
	tl__sandbox_keep(L, A_MODEL);
	/* owned by the extension at once, so that nothing is lost when something below fails */
	tl_lua_model *model = tl__calloc(1, sizeof *model);
	if (!model)
		return tl__raise(L, TL_ENOMEM, NULL);
	*(x->last_model ? &x->last_model->next : &x->models) = model;
	x->last_model = model;
	model->extension = x;
	luaL_where(L, 1);
	model->origin = tl__strdup(lua_tostring(L, -1));
	lua_pop(L, 1);
	if (!model->origin)
		return tl__raise(L, TL_ENOMEM, NULL);
	text_field(L, "name", &model->name);
	if (!model->name)
		return luaL_error(L, "a model needs a name: the operation as the trace names it");
	text_field(L, "category", &model->category);
	text_field(L, "bwd_category", &model->bwd_category);
	text_field(L, "sheet", &model->sheet);
	model->reads = reads_field(L);
	if (lua_getfield(L, 1, "eval") != LUA_TFUNCTION)
		return luaL_error(L,
				  "the model of '%s' needs a function 'eval', not a %s (for a category alone use "
				  "category { ... })",
				  model->name, luaL_typename(L, -1));
	model->function = luaL_ref(L, LUA_REGISTRYINDEX);

	/* The registry says best whether it would take the model; a trial tells at the right line. */
	tl_error err = TL_ERROR_INIT;
	tl_models trial = {0};
	tl_model_desc desc = description(model);
	int code = tl__models_add(&trial, &desc, &err);
	tl__models_free(&trial);
	if (code < 0)
		return tl__raise(L, code, &err);
	model->complete = true;
	return 0;
}

/* category { ["name"] = "CATEGORY", ... } */
static int declare_category(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	check_reading(L, "category { ... }");
	if (!lua_istable(L, 1))
		return luaL_error(L, "category takes a table: category { [\"my::op\"] = \"GEMM\" }");
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
		for (int i = -2; i <= -1; i++) {
			if (lua_type(L, i) != LUA_TSTRING)
				return luaL_error(L, "category maps names to names, here is a %s", luaL_typename(L, i));
			if (!lua_rawlen(L, i) || strlen(lua_tostring(L, i)) != lua_rawlen(L, i))
				return luaL_error(L, "a name in category { ... } is empty or holds NUL bytes");
		}
		tl__sandbox_keep(L, 2 * ((size_t)lua_rawlen(L, -2) + (size_t)lua_rawlen(L, -1)) + A_CATEGORY);
		tl_lua_category entry = {tl__strdup(lua_tostring(L, -2)), tl__strdup(lua_tostring(L, -1))};
		if (!entry.name || !entry.category || TL_VEC_PUSH(&x->categories, entry) < 0) {
			tl__free(entry.name);
			tl__free(entry.category);
			return tl__raise(L, TL_ENOMEM, NULL);
		}
	}
	return 0;
}

/* ---- the operation that a model sees ---- */

static void set_list(lua_State *L, const char *key, const tl_value *value)
{
	if (tl__value_is_list(value))
		tl__push_value(L, value);
	else
		lua_newtable(L);
	lua_setfield(L, -2, key);
}

static void push_operation(lua_State *L, const tl_perf_input *in, uint32_t reads)
{
	lua_newtable(L);
	lua_pushstring(L, in->name);
	lua_setfield(L, -2, "name");
	if (reads & TL_READS_ARGS) {
		set_list(L, "dims", in->dims);
		set_list(L, "types", in->types);
		set_list(L, "strides", in->strides);
		set_list(L, "concrete", in->concrete);
	}
	if (reads & TL_READS_KERNELS) {
		lua_newtable(L);
		for (size_t i = 0; i < in->n_kernels; i++) {
			lua_pushstring(L, in->kernels[i]);
			lua_rawseti(L, -2, (lua_Integer)i + 1);
		}
		lua_setfield(L, -2, "kernels");
	}
	if ((reads & (TL_READS_ANNOTATION | TL_READS_STEP)) && in->annotation) {
		lua_pushstring(L, in->annotation);
		lua_setfield(L, -2, "annotation");
	}
	if (reads & TL_READS_EXTRAS) {
		if (in->extras)
			tl__push_value(L, in->extras);
		else
			lua_newtable(L);
		lua_setfield(L, -2, "extra");
	}
	if ((reads & TL_READS_FORWARD) && in->forward) {
		push_operation(L, in->forward, TL_READS_ARGS);
		lua_setfield(L, -2, "forward");
	}
	luaL_setmetatable(L, operation_type);
}

/* A field that an operation does not have: not declared, or no such name. */
static int missing_field(lua_State *L)
{
	static const char *const names[] = {"name",    "dims",       "types", "strides", "concrete",
					    "kernels", "annotation", "extra", "forward", NULL};
	static const struct {
		const char *field, *part;
		uint32_t bit;
	} parts[] = {{"dims", "args", TL_READS_ARGS},
		     {"types", "args", TL_READS_ARGS},
		     {"strides", "args", TL_READS_ARGS},
		     {"concrete", "args", TL_READS_ARGS},
		     {"kernels", "kernels", TL_READS_KERNELS},
		     {"annotation", "annotation", TL_READS_ANNOTATION | TL_READS_STEP},
		     {"extra", "extras", TL_READS_EXTRAS},
		     {"forward", "forward", TL_READS_FORWARD}};
	const tl_extension *x = tl__extension_of(L);
	const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (strcmp(parts[i].field, key) != 0)
			continue;
		if (x->input && !(x->input->reads & parts[i].bit))
			return luaL_error(L, "op.%s is there for models that declare it: reads = {..., '%s'}", key,
					  parts[i].part);
		lua_pushnil(L);
		return 1;
	}
	return tl__unknown_field(L, "an operation", 2, names);
}

/* ---- results ---- */

static const char *const result_names[] = {"params",    "flops", "bytes",     "flops_bwd",
					   "bytes_bwd", "maf",   "precision", NULL};
static const char *const cost_names[] = {"flops", "bytes", "flops_bwd", "bytes_bwd"};

static void push_cost(lua_State *L, const tl_perf_cost *cost)
{
	if (cost->status == TL_PERF_FAILED)
		lua_pushnumber(L, (lua_Number)NAN);
	else if (cost->status != TL_PERF_OK)
		lua_pushnil(L);
	else if (!cost->known)
		lua_pushlightuserdata(L, NULL); /* null: nobody knows */
	else if (cost->integral && fabs(cost->value) < 9007199254740992.0)
		lua_pushinteger(L, (lua_Integer)cost->value);
	else
		lua_pushnumber(L, cost->value);
}

/* A result in the form in which a model returns it. */
static void push_result(lua_State *L, const tl_perf_result *r)
{
	const tl_perf_cost costs[] = {r->flops, r->bytes, r->flops_bwd, r->bytes_bwd};
	lua_newtable(L);
	tl__keep_costs(L, costs);
	lua_newtable(L);
	for (size_t i = 0; i < r->n_params; i++) {
		lua_createtable(L, 2, 0);
		lua_pushstring(L, r->params[i].name);
		lua_rawseti(L, -2, 1);
		tl__push_value(L, &r->params[i].value);
		lua_rawseti(L, -2, 2);
		tl__keep_value(L, &r->params[i].value);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_setfield(L, -2, "params");
	for (size_t i = 0; i < 4; i++) {
		push_cost(L, &costs[i]);
		lua_setfield(L, -2, cost_names[i]);
	}
	lua_pushstring(L, r->maf); /* nil for NULL */
	lua_setfield(L, -2, "maf");
	lua_pushstring(L, r->precision);
	lua_setfield(L, -2, "precision");
}

typedef struct evaluation {
	const tl_lua_model *model;
	const tl_model_input *in;
	tl_model_result *out;
	size_t spent; /* bytes of results so far */
} evaluation;

/* Results count against the limit of memory, each evaluation's beyond a first thousand bytes. */
static void spend(lua_State *L, evaluation *e, size_t bytes)
{
	enum { FREE = 1024 };
	size_t before = e->spent > FREE ? e->spent : FREE;
	e->spent += bytes;
	if (e->spent > before)
		tl__sandbox_keep(L, e->spent - before);
}

/* Adds the parameter with the given name and the value on top of the stack; `original`: what it was, or NULL. */
static void add_param(lua_State *L, evaluation *e, const char *name, const tl_value *original)
{
	tl_value value, copy;
	if (original && tl__is_value(L, -1, original))
		value = *original;
	else
		value = tl__read_value(L, -1, true, name);
	spend(L, e, strlen(name) + 3 * tl__printed_size(&value)); /* value, its text, and the text of all */
	if (tl__value_copy(&copy, e->out->arena, &value) < 0)
		tl__raise(L, TL_ENOMEM, NULL);
	if (!*name)
		luaL_error(L, "a parameter without a name");
	if (e->out->r->n_params >= TL_PERF_MAX_PARAMS)
		luaL_error(L, "a model has at most %d parameters", TL_PERF_MAX_PARAMS);
	if (tl__model_param(e->out, name, copy) < 0)
		tl__raise(L, TL_ENOMEM, NULL);
}

/* { {"M", 4}, {"N", 8} } in this order, or { M = 4, N = 8 } in the order of names. */
static void read_params(lua_State *L, evaluation *e)
{
	int type = lua_getfield(L, -1, "params");
	if (type == LUA_TNIL) {
		lua_pop(L, 1);
		return;
	}
	if (type != LUA_TTABLE)
		luaL_error(L, "'params' must be a table, not a %s", luaL_typename(L, -1));
	int params = lua_gettop(L);
	lua_Integer n = (lua_Integer)lua_rawlen(L, params);
	for (lua_Integer i = 1; i <= n; i++) {
		if (lua_rawgeti(L, params, i) != LUA_TTABLE || lua_rawgeti(L, -1, 1) != LUA_TSTRING)
			luaL_error(L, "parameter %d must be {\"name\", value}", (int)i);
		lua_rawgeti(L, -2, 2);
		add_param(L, e, lua_tostring(L, -2), tl__original_value(L, -3));
		lua_pop(L, 3);
	}
	if (n == 0) {
		tl_value dict = tl__read_value(L, params, true, "'params'");
		for (uint32_t i = 0; dict.kind == TL_V_DICT && i < dict.n; i++) {
			tl__push_value(L, &dict.items[2 * i + 1]);
			/* tuples came back as lists: read them once more as they should be */
			add_param(L, e, dict.items[2 * i].s, NULL);
			lua_pop(L, 1);
		}
	}
	lua_pop(L, 1);
}

/* Whether the value on top of the stack is what push_cost makes of a cost. */
static bool is_cost(lua_State *L, const tl_perf_cost *cost)
{
	push_cost(L, cost);
	bool nan = lua_type(L, -1) == LUA_TNUMBER && isnan(lua_tonumber(L, -1));
	bool same = nan ? lua_type(L, -2) == LUA_TNUMBER && isnan(lua_tonumber(L, -2)) : lua_rawequal(L, -1, -2);
	lua_pop(L, 1);
	return same;
}

static void read_cost(lua_State *L, const evaluation *e, size_t which)
{
	tl_perf_cost *costs[] = {&e->out->r->flops, &e->out->r->bytes, &e->out->r->flops_bwd, &e->out->r->bytes_bwd};
	const tl_perf_cost *original = tl__original_costs(L, -1);
	int type = lua_getfield(L, -1, cost_names[which]);
	if (original && is_cost(L, &original[which])) {
		*costs[which] = original[which];
	} else if (type == LUA_TLIGHTUSERDATA) {
		*costs[which] = tl__cost_unknown();
	} else if (type == LUA_TNUMBER) {
		lua_Number cost = lua_tonumber(L, -1);
		if (!isfinite(cost) || cost < 0)
			luaL_error(L, "'%s' must be a number from 0 up, not %f", cost_names[which], cost);
		(void)tl_model_cost_set(e->out, (tl_model_cost)which, cost);
	} else if (type != LUA_TNIL)
		luaL_error(L, "'%s' must be a number, not a %s", cost_names[which], luaL_typename(L, -1));
	lua_pop(L, 1);
}

static const char *spec_text(lua_State *L, const char *key)
{
	int type = lua_getfield(L, -1, key);
	if (type != LUA_TNIL && type != LUA_TSTRING)
		luaL_error(L, "'%s' must be a string, not a %s", key, luaL_typename(L, -1));
	const char *text = lua_tostring(L, -1);
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	if (text && (!*text || strlen(text) > 32 || strspn(text, allowed) != strlen(text)))
		luaL_error(L, "'%s' must be a short word such as %s", key, *key == 'm' ? "matrix" : "bf16");
	lua_pop(L, 1); /* the table keeps the text */
	return text;
}

/* Reads the value on top of the stack; nil: the model does not cover the operation. */
static void read_result(lua_State *L, evaluation *e)
{
	if (lua_isnil(L, -2)) {
		/* with a reason: the input makes no sense */
		(void)(lua_type(L, -1) == LUA_TSTRING ? tl_model_fail(e->out, lua_tostring(L, -1))
						      : tl_model_decline(e->out));
		return;
	}
	lua_pop(L, 1);
	if (!lua_istable(L, -1))
		luaL_error(L, "a model returns a table, or nil, not a %s", luaL_typename(L, -1));
	check_fields(L, lua_gettop(L), "the result of a model", result_names);
	/* a built-in model says itself what is unknown and what is not there */
	e->out->builtin = tl__original_costs(L, -1) != NULL;
	read_params(L, e);
	for (size_t i = 0; i < 4; i++)
		read_cost(L, e, i);
	const char *maf = spec_text(L, "maf"), *precision = spec_text(L, "precision");
	if (maf && strcmp(maf, "matrix") != 0 && strcmp(maf, "vector") != 0)
		luaL_error(L, "'maf' must be 'matrix' or 'vector', not '%s'", maf);
	if (tl_model_spec(e->out, maf, precision) < 0)
		tl__raise(L, TL_ENOMEM, NULL);
}

/* ---- evaluating ---- */

/* Errors in what the function returned point at the function. */
static int read_result_at(lua_State *L)
{
	read_result(L, lua_touserdata(L, 1));
	return 0;
}

static int evaluate_body(lua_State *L)
{
	evaluation *e = lua_touserdata(L, 1);
	lua_Debug where;
	lua_rawgeti(L, LUA_REGISTRYINDEX, e->model->function);
	push_operation(L, e->in->in, e->in->reads);
	lua_call(L, 1, 2);
	lua_pushcfunction(L, read_result_at);
	lua_pushlightuserdata(L, e);
	lua_pushvalue(L, -4);
	lua_pushvalue(L, -4);
	int status = lua_pcall(L, 3, 0, 0);
	if (status == LUA_OK)
		return 0;
	tl_extension *x = tl__extension_of(L);
	if (x->stopped || status == LUA_ERRMEM || lua_type(L, -1) != LUA_TSTRING) {
		if (status == LUA_ERRMEM && !x->stopped)
			x->stopped = x->over_limit ? TL_STOP_MEMORY : TL_STOP_SYSTEM;
		return lua_error(L);
	}
	lua_rawgeti(L, LUA_REGISTRYINDEX, e->model->function);
	lua_getinfo(L, ">S", &where);
	return luaL_error(L, "%s:%d: %s", where.short_src, where.linedefined, lua_tostring(L, -1));
}

static void note_failure(tl_lua_model *model, const char *message)
{
	if (!model->failures++)
		model->first_failure = tl__strdup(message);
}

/* Evaluations together may take this many times what one may. */
enum { EVALUATIONS = 1000 };

static int evaluate(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	tl_lua_model *model = user;
	tl_extension *x = model->extension;
	evaluation e = {model, in, out, 0};
	uint64_t one = x->options.max_instructions;
	uint64_t all = one > UINT64_MAX / EVALUATIONS ? UINT64_MAX : one * EVALUATIONS;
	uint64_t left = all > x->evaluations ? all - x->evaluations : 0;

	x->input = in;
	int code = tl__sandbox_run(x, evaluate_body, &e, one < left ? one : left, err);
	x->input = NULL;
	x->evaluations += x->used;
	if (code != TL_EFORMAT)
		return code;
	note_failure(model, err->message);
	(void)tl_model_fail(out, err->message);
	*err = (tl_error)TL_ERROR_INIT;
	return 0;
}

/* What only all models together make wrong is told with the line of one of them, too. */
static int register_model(tl_analyzer *analyzer, const tl_lua_model *m, const tl_model_desc *desc, tl_error *err)
{
	int code = tl_analyzer_register_model(analyzer, desc, err);
	if (code == 0)
		return tl__models_set_origin(&analyzer->models, m->name, m->origin, err);
	if (code != TL_ENOMEM && err) {
		tl_error told = *err;
		(void)tl__fail(err, code, "%s%s", m->origin, told.message);
	}
	return code;
}

int tl__extension_analyzer(void *extension, tl_analyzer *analyzer, tl_error *err)
{
	tl_extension *x = extension;
	x->lent = 0;
	for (tl_lua_model *m = x->models; m; m = m->next) {
		tl_model_desc desc = description(m);
		if (m->complete)
			TL_TRY(register_model(analyzer, m, &desc, err));
	}
	for (size_t i = 0; i < x->categories.n; i++)
		TL_TRY(tl_analyzer_set_category(analyzer, x->categories.v[i].name, x->categories.v[i].category, err));
	return 0;
}

/* ---- functions for models ---- */

/*
 * The value of a field of the table at `index`, which lives until the run ends; NULL for nil. `original`: what it was
 * when it was handed out, or NULL.
 */
static const tl_value *field_value(lua_State *L, int index, const char *key, const tl_value *original)
{
	lua_pushstring(L, key);
	lua_rawget(L, index);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		return NULL;
	}
	tl_value *value = tl__arena_alloc(&tl__extension_of(L)->arena, sizeof *value);
	if (!value)
		tl__raise(L, TL_ENOMEM, NULL);
	if (original && tl__is_value(L, -1, original))
		*value = *original;
	else
		*value = tl__read_value(L, -1, false, key);
	lua_pop(L, 1);
	/* an empty table is an empty list where lists are expected */
	if (value->kind == TL_V_DICT && value->n == 0)
		value->kind = TL_V_LIST;
	return value;
}

static bool is_operation(lua_State *L, int index)
{
	bool same = false;
	if (lua_getmetatable(L, index)) {
		luaL_getmetatable(L, operation_type);
		same = lua_rawequal(L, -1, -2);
		lua_pop(L, 2);
	}
	return same;
}

/* Reads an operation, ours or one that the file put together, for a built-in model. */
static void read_operation(lua_State *L, int index, tl_perf_input *out, const tl_perf_input *original, bool forward)
{
	static const tl_perf_input none;
	const tl_perf_input *was = original ? original : &none;
	*out = (tl_perf_input){.dims = field_value(L, index, "dims", was->dims),
			       .types = field_value(L, index, "types", was->types),
			       .strides = field_value(L, index, "strides", was->strides),
			       .concrete = field_value(L, index, "concrete", was->concrete),
			       .extras = field_value(L, index, "extra", was->extras)};
	/* an empty table is handed out for what is not there */
	const tl_value **lists[] = {&out->dims, &out->types, &out->strides, &out->concrete, &out->extras};
	const tl_value *const were[] = {was->dims, was->types, was->strides, was->concrete, was->extras};
	for (size_t i = 0; original && i < 5; i++)
		if (!were[i] && !tl__value_count(*lists[i]))
			*lists[i] = NULL;
	out->output_types = was->output_types;
	out->annotation = tl__value_text(field_value(L, index, "annotation", NULL));
	const tl_value *kernels = field_value(L, index, "kernels", NULL);
	size_t n = tl__value_count(kernels);
	if (n) {
		const char **names = tl__arena_alloc(&tl__extension_of(L)->arena, n * sizeof(*names));
		if (!names)
			tl__raise(L, TL_ENOMEM, NULL);
		for (size_t i = 0; i < n; i++) {
			names[i] = tl__value_text(tl__value_at(kernels, i));
			if (!names[i])
				luaL_error(L, "'kernels' must be a list of names");
		}
		out->kernels = names;
		out->n_kernels = n;
	}
	lua_pushliteral(L, "forward");
	lua_rawget(L, index);
	if (forward && lua_istable(L, -1)) {
		tl_perf_input *in = tl__arena_alloc(&tl__extension_of(L)->arena, sizeof *in);
		if (!in)
			tl__raise(L, TL_ENOMEM, NULL);
		bool ours = is_operation(L, -1) && original;
		read_operation(L, lua_absindex(L, -1), in, ours ? original->forward : NULL, false);
		out->forward = in;
	}
	lua_pop(L, 1);
}

/* builtin("aten::mm", op): the result of a built-in model, or nil and why not */
static int call_builtin(lua_State *L)
{
	tl_extension *x = tl__extension_of(L);
	size_t n;
	const char *name = luaL_checklstring(L, 1, &n);
	luaL_checktype(L, 2, LUA_TTABLE);
	const tl_perf_model *model = tl__perf_model(name, n);
	if (!model)
		return luaL_error(L, "there is no built-in model of '%s'", name);
	bool ours = x->input && is_operation(L, 2);
	uint32_t missing = ours ? tl__model_missing_reads(model, x->input->reads) : 0;
	if (missing) {
		char text[128];
		tl__model_reads_text(missing, text, sizeof text);
		return luaL_error(L, "the built-in model of '%s' reads more than this model declares; add to reads: %s",
				  name, text);
	}
	tl_perf_input in;
	read_operation(L, 2, &in, ours ? x->input->in : NULL, true);
	in.name = name;
	if (ours && !strcmp(name, x->input->in->name))
		in.compiled = x->input->in->compiled;
	tl_perf_result *result = tl__arena_alloc(&x->arena, sizeof *result);
	if (!result || model->eval(&in, &x->arena, result) < 0)
		return tl__raise(L, TL_ENOMEM, NULL);
	tl__sandbox_charge(L, 100);
	if (result->status == TL_PERF_OK) {
		push_result(L, result);
		return 1;
	}
	lua_pushnil(L);
	if (result->status != TL_PERF_FAILED)
		return 1;
	lua_pushstring(L, result->why ? result->why : "the input makes no sense");
	return 2;
}

static int bytes_of(lua_State *L)
{
	int bytes = lua_type(L, 1) == LUA_TSTRING ? tl__dtype_bytes(lua_tostring(L, 1)) : 0;
	if (bytes)
		lua_pushinteger(L, bytes);
	else
		lua_pushnil(L);
	return 1;
}

static int precision_of(lua_State *L)
{
	lua_pushstring(L, lua_type(L, 1) == LUA_TSTRING ? tl__dtype_precision(lua_tostring(L, 1)) : NULL);
	return 1;
}

/* Whole numbers stay whole as long as they fit. */
static int product(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_Integer n = (lua_Integer)lua_rawlen(L, 1), whole = 1;
	lua_Number real = 1;
	bool fits = true;
	tl__sandbox_charge(L, (uint64_t)n);
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, 1, i);
		if (lua_type(L, -1) != LUA_TNUMBER)
			return luaL_error(L, "prod takes a list of numbers, item %d is a %s", (int)i,
					  luaL_typename(L, -1));
		real *= lua_tonumber(L, -1);
		fits = fits && lua_isinteger(L, -1) && !__builtin_mul_overflow(whole, lua_tointeger(L, -1), &whole);
		lua_pop(L, 1);
	}
	if (fits)
		lua_pushinteger(L, whole);
	else
		lua_pushnumber(L, real);
	return 1;
}

/* literal("[1, 2]"): the value of a Python literal, as Concrete Inputs hold them; nil for an empty text */
static int literal(lua_State *L)
{
	if (lua_type(L, 1) != LUA_TSTRING) {
		lua_settop(L, 1);
		return 1;
	}
	size_t n;
	const char *text = lua_tolstring(L, 1, &n);
	tl_value item = TL_VALUE_STRING(text, n), value;
	tl_value list = {.kind = TL_V_LIST, .n = 1, .items = &item};
	bool ok;
	tl__sandbox_room(L, tl__parsed_size(text, n));
	if (n > UINT32_MAX)
		return luaL_error(L, "a literal of that length");
	if (tl__arg_literal(&value, &ok, &list, 0, &tl__extension_of(L)->arena) < 0)
		return tl__raise(L, TL_ENOMEM, NULL);
	if (!ok)
		lua_pushvalue(L, 1);
	else if (value.kind == TL_V_NONE)
		lua_pushnil(L);
	else
		tl__push_value(L, &value);
	return 1;
}

void tl__open_models(lua_State *L)
{
	static const luaL_Reg functions[] = {{"model", declare_model},       {"category", declare_category},
					     {"builtin", call_builtin},      {"bytes_of", bytes_of},
					     {"precision_of", precision_of}, {"prod", product},
					     {"literal", literal},           {NULL, NULL}};
	luaL_newmetatable(L, operation_type);
	lua_pushcfunction(L, missing_field);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pushglobaltable(L);
	luaL_setfuncs(L, functions, 0);
	lua_pushlightuserdata(L, NULL);
	lua_setfield(L, -2, "null");
	lua_pop(L, 2);
}
