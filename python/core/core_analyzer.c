/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Analyzer: tables of a tree, and models in Python. */
#include "core.h"

#include <string.h>

/* ---- models in Python ---- */

/* What tl_model_fn gets: the analyser, and the function that answers for an event. */
typedef struct model_call {
	core_analyzer *analyzer;
	PyObject *function;
} model_call;

static bool set_cost(tl_model_result *out, tl_model_cost which, PyObject *value)
{
	if (value == Py_None)
		return true;
	double cost = PyFloat_AsDouble(value);
	if (cost == -1.0 && PyErr_Occurred())
		return false;
	tl_model_cost_set(out, which, cost);
	return true;
}

static bool set_int(tl_model_result *out, const char *name, PyObject *value)
{
	int overflow;
	long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
	if (number == -1 && PyErr_Occurred())
		return false;
	if (overflow) {
		double real = PyLong_AsDouble(value);
		if (real == -1.0 && PyErr_Occurred())
			return false;
		tl_model_param_double(out, name, real);
	} else {
		tl_model_param_int(out, name, number);
	}
	return true;
}

/* A tuple or list as JSON text. NULL without an exception: it holds what JSON does not know. */
static PyObject *json_of(PyObject *value)
{
	PyObject *json = PyImport_ImportModule("json");
	PyObject *text = json ? PyObject_CallMethod(json, "dumps", "(O)", value) : NULL;
	Py_XDECREF(json);
	if (!text && (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
		      PyErr_ExceptionMatches(PyExc_RecursionError)))
		PyErr_Clear();
	return text;
}

/* A tuple or list becomes a tuple, anything else that is no scalar its text. */
static bool set_sequence(tl_model_result *out, const char *name, PyObject *value)
{
	int64_t numbers[64];
	bool tuple = PyTuple_Check(value) || PyList_Check(value);
	Py_ssize_t n = tuple ? PySequence_Fast_GET_SIZE(value) : -1;
	bool whole = n >= 0 && n <= 64;
	for (Py_ssize_t i = 0; whole && i < n; i++) {
		PyObject *item = PySequence_Fast_GET_ITEM(value, i);
		int overflow = 1;
		if (PyLong_Check(item) && !PyBool_Check(item))
			numbers[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
		whole = !overflow;
	}
	if (whole) {
		tl_model_param_ints(out, name, numbers, (size_t)n);
		return true;
	}
	PyObject *json = tuple ? json_of(value) : NULL;
	if (PyErr_Occurred())
		return false;
	PyObject *text = json ? json : PyObject_Str(value);
	const char *utf8 = text ? core_utf8(text, "a parameter") : NULL;
	if (utf8 && json)
		tl_model_param_json(out, name, utf8);
	else if (utf8)
		tl_model_param_text(out, name, utf8);
	Py_XDECREF(text);
	return utf8 != NULL;
}

static bool set_param(tl_model_result *out, PyObject *key, PyObject *value)
{
	PyObject *text = PyObject_Str(key);
	const char *name = text ? core_utf8(text, "the name of a parameter") : NULL;
	bool good = name != NULL;
	if (!good)
		;
	else if (value == Py_None)
		tl_model_param_text(out, name, NULL);
	else if (PyBool_Check(value))
		tl_model_param_bool(out, name, value == Py_True);
	else if (PyLong_Check(value))
		good = set_int(out, name, value);
	else if (PyFloat_Check(value))
		tl_model_param_double(out, name, PyFloat_AS_DOUBLE(value));
	else if (PyUnicode_Check(value))
		good = core_utf8(value, "a parameter") &&
		       (tl_model_param_text(out, name, PyUnicode_AsUTF8(value)), true);
	else
		good = set_sequence(out, name, value);
	Py_XDECREF(text);
	return good;
}

/*
 * The answer of a function: None (declined), a str (failed, and why), or a tuple (flops, bytes, flops_bwd, bytes_bwd,
 * params, unit, precision).
 */
static bool take_answer(tl_model_result *out, PyObject *answer)
{
	PyObject *costs[4], *params, *key, *value;
	const char *unit, *precision;
	Py_ssize_t at = 0;
	if (answer == Py_None) {
		tl_model_decline(out);
		return true;
	}
	if (PyUnicode_Check(answer)) {
		const char *why = core_utf8(answer, "a message");
		if (why)
			tl_model_fail(out, why);
		return why != NULL;
	}
	if (!PyTuple_Check(answer)) {
		PyErr_SetString(PyExc_TypeError, "a model answers with a tuple, a str or None");
		return false;
	}
	if (!PyArg_ParseTuple(answer, "OOOOO!zz", &costs[0], &costs[1], &costs[2], &costs[3], &PyDict_Type, &params,
			      &unit, &precision))
		return false;
	for (int i = 0; i < 4; i++)
		if (!set_cost(out, (tl_model_cost)i, costs[i]))
			return false;
	while (PyDict_Next(params, &at, &key, &value))
		if (!set_param(out, key, value))
			return false;
	if (unit && precision)
		tl_model_spec(out, unit, precision);
	return true;
}

static int evaluate(void *user, const tl_model_input *in, tl_model_result *out, tl_error *err)
{
	const model_call *call = user;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *event = core_event_get(call->analyzer->tree, tl_model_event(in));
	PyObject *answer = event ? PyObject_CallOneArg(call->function, event) : NULL;
	bool good = answer && take_answer(out, answer);
	Py_XDECREF(event);
	Py_XDECREF(answer);
	PyGILState_Release(state);
	(void)err; /* the exception stays set, and core_raise leaves it so */
	return good ? 0 : -1;
}

/* Items of `models` are tuples, which the analyser keeps as long as the library may call them. */
bool core_analyzer_register(core_analyzer *self, tl_analyzer *analyzer)
{
	Py_ssize_t n = self->models ? PyList_GET_SIZE(self->models) : 0;
	tl_error err = TL_ERROR_INIT;
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *item = PyList_GET_ITEM(self->models, i);
		model_call *call = PyBytes_Check(PyTuple_GET_ITEM(item, 5))
					   ? (model_call *)(void *)PyBytes_AS_STRING(PyTuple_GET_ITEM(item, 5))
					   : NULL;
		tl_model_desc desc = {.reads = TL_MODEL_READS_EVENT, .eval = evaluate, .user = call};
		if (!call || !PyArg_ParseTuple(item, "szzzOO", &desc.name, &desc.category, &desc.bwd_category,
					       &desc.sheet, &call->function, &(PyObject *){NULL}))
			return false;
		call->analyzer = self;
		int code = tl_analyzer_register_model(analyzer, &desc, &err);
		if (code < 0) {
			core_raise(code, &err);
			return false;
		}
	}
	n = self->categories ? PyList_GET_SIZE(self->categories) : 0;
	for (Py_ssize_t i = 0; i < n; i++) {
		const char *name, *category;
		if (!PyArg_ParseTuple(PyList_GET_ITEM(self->categories, i), "ss", &name, &category))
			return false;
		int code = tl_analyzer_set_category(analyzer, name, category, &err);
		if (code < 0) {
			core_raise(code, &err);
			return false;
		}
	}
	return true;
}

/* The library's analyser with the tree locked; NULL with an exception. */
static tl_analyzer *enter(core_analyzer *self)
{
	tl_error err = TL_ERROR_INIT;
	if (!core_tree_built(self->tree) || !core_tree_enter(self->tree))
		return NULL;
	if (self->tree->editing)
		PyErr_SetString(PyExc_ValueError, "the tree is being edited");
	if (!self->analyzer && !PyErr_Occurred()) {
		int code = tl_analyzer_new(&self->analyzer, self->tree->tree, &self->options, &err);
		if (code < 0) {
			core_raise(code, &err);
		} else if (!core_analyzer_register(self, self->analyzer)) {
			tl_analyzer_free(self->analyzer);
			self->analyzer = NULL;
		}
	}
	if (!PyErr_Occurred())
		return self->analyzer;
	core_tree_leave(self->tree);
	return NULL;
}

static PyObject *leave(core_analyzer *self, int code, tl_table *table, const tl_error *err)
{
	core_tree_leave(self->tree);
	if (code == 0 && !PyErr_Occurred())
		return core_table_new(table);
	if (code == 0)
		tl_table_free(table);
	return core_raise(code, err);
}

/* ---- life ---- */

static PyObject *new_analyzer(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {
		"tree", "include_unlinked", "detect_recompute", "arch", "inductor_cache_dir", "call_stack", NULL};
	core_tree *tree;
	int unlinked = 0, recompute = 0, stack = 0;
	const char *arch = NULL, *inductor = NULL;
	Py_ssize_t n_arch = 0;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|ppz#zp:Analyzer", names, &core_tree_type, &tree, &unlinked,
					 &recompute, &arch, &n_arch, &inductor, &stack))
		return NULL;
	core_analyzer *self = (core_analyzer *)type->tp_alloc(type, 0);
	if (!self)
		return NULL;
	self->tree = (core_tree *)Py_NewRef(tree);
	self->next = tree->analyzers;
	if (self->next)
		self->next->previous = self;
	tree->analyzers = self;
	if (arch) {
		int code = tl_arch_parse(&self->arch, arch, (size_t)n_arch, "arch", &err);
		if (code < 0) {
			Py_DECREF(self);
			return core_raise(code, &err);
		}
	}
	if (inductor) {
		self->inductor = PyMem_Malloc(strlen(inductor) + 1);
		if (!self->inductor) {
			Py_DECREF(self);
			return PyErr_NoMemory();
		}
		strcpy(self->inductor, inductor);
	}
	self->options = (tl_analyzer_options){.include_unlinked = unlinked,
					      .detect_recompute = recompute,
					      .call_stack = stack,
					      .arch = self->arch,
					      .inductor_cache_dir = self->inductor};
	return (PyObject *)self;
}

static int traverse(core_analyzer *self, visitproc visit, void *arg)
{
	Py_VISIT(self->tree);
	Py_VISIT(self->models);
	return 0;
}

static int clear(core_analyzer *self)
{
	/* the library may not call models that are gone */
	tl_analyzer_free(self->analyzer);
	self->analyzer = NULL;
	Py_CLEAR(self->models);
	Py_CLEAR(self->categories);
	return 0;
}

static void dealloc(core_analyzer *self)
{
	PyObject_GC_UnTrack(self);
	/* out of the tree first: code of a script's that runs when the models go must not find it there */
	if (self->next)
		self->next->previous = self->previous;
	if (self->previous)
		self->previous->next = self->next;
	else if (self->tree)
		self->tree->analyzers = self->next;
	if (self->tree && self->tree->overlaps == self)
		self->tree->overlaps = NULL;
	clear(self);
	tl_arch_free(self->arch);
	PyMem_Free(self->inductor);
	Py_XDECREF(self->tree);
	Py_TYPE(self)->tp_free(self);
}

static PyObject *set_models(core_analyzer *self, PyObject *args)
{
	PyObject *models, *categories, *copy = PyList_New(0);
	bool good = copy && PyArg_ParseTuple(args, "O!O!:set_models", &PyList_Type, &models, &PyList_Type, &categories);
	for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(models); i++) {
		PyObject *name, *category, *backward, *sheet, *function;
		good = PyArg_ParseTuple(PyList_GET_ITEM(models, i), "OOOOO", &name, &category, &backward, &sheet,
					&function);
		/* the last item is room for what the library is given as its user pointer */
		PyObject *item = good ? Py_BuildValue("(OOOOON)", name, category, backward, sheet, function,
						      PyBytes_FromStringAndSize(NULL, sizeof(model_call)))
				      : NULL;
		good = item && PyList_Append(copy, item) == 0;
		Py_XDECREF(item);
	}
	PyObject *names = good ? PyList_GetSlice(categories, 0, PyList_GET_SIZE(categories)) : NULL;
	if (!names || !core_tree_enter(self->tree)) {
		Py_XDECREF(copy);
		Py_XDECREF(names);
		return NULL;
	}
	tl_analyzer_free(self->analyzer);
	self->analyzer = NULL;
	Py_XSETREF(self->models, copy);
	Py_XSETREF(self->categories, names);
	core_tree_leave(self->tree);
	Py_RETURN_NONE;
}

/* ---- tables ---- */

static bool take_threshold(PyObject *value, double *out, const double **pointer)
{
	*pointer = NULL;
	if (value == Py_None)
		return true;
	*out = PyFloat_AsDouble(value);
	*pointer = out;
	return *out != -1.0 || !PyErr_Occurred();
}

static PyObject *timeline(core_analyzer *self, PyObject *threshold)
{
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	double us;
	const double *limit;
	if (!take_threshold(threshold, &us, &limit))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a)
		return NULL;
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_analyzer_gpu_timeline(&table, a, limit, &err);
	Py_END_ALLOW_THREADS
	self->tree->overlaps = self;
	return leave(self, code, table, &err);
}

static PyObject *launchers(core_analyzer *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"kernel_details", "id_columns", "overlap",       "start",
				"call_stack",     "arguments",  "communication", NULL};
	int details = 0, ids = 0, overlap = 0, start = 0, stack = 0, arguments = 1, communication = 0;
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$ppppppp:launchers", names, &details, &ids, &overlap, &start,
					 &stack, &arguments, &communication))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a)
		return NULL;
	tl_launcher_options options = {.kernel_details = details,
				       .id_columns = ids,
				       .overlap = overlap,
				       .start = start,
				       .call_stack = stack,
				       .no_arguments = !arguments,
				       .communication = communication};
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_analyzer_launchers(&table, a, &options, &err);
	Py_END_ALLOW_THREADS
	if (overlap)
		self->tree->overlaps = self;
	return leave(self, code, table, &err);
}

static PyObject *metrics(core_analyzer *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"events", "backward", "kernel_details", "arguments", "overlap", NULL};
	PyObject *events;
	int backward = 0, details = 0, arguments = 0, overlap = 0;
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	tl_row *rows;
	size_t n;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$pppp:metrics", names, &events, &backward, &details,
					 &arguments, &overlap) ||
	    !core_take_rows(&rows, &n, events, self->tree))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a) {
		PyMem_Free(rows);
		return NULL;
	}
	tl_metrics_options options = {.backward = backward,
				      .kernel_details = details,
				      .arguments = arguments,
				      .overlap = overlap,
				      .typed_parameters = true};
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_analyzer_metrics(&table, a, rows, n, &options, &err);
	Py_END_ALLOW_THREADS
	PyMem_Free(rows);
	return leave(self, code, table, &err);
}

static PyObject *kernels(core_analyzer *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"launcher", "cpu_op", "nn_module", NULL};
	int launcher = 0, operation = 1, module = 0;
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$ppp:kernels", names, &launcher, &operation, &module))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a)
		return NULL;
	tl_kernel_options options = {.launcher = launcher, .no_cpu_op = !operation, .nn_module = module};
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_analyzer_kernels(&table, a, &options, &err);
	Py_END_ALLOW_THREADS
	return leave(self, code, table, &err);
}

static PyObject *plain(core_analyzer *self, int (*make)(tl_table **, tl_analyzer *, tl_error *))
{
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	tl_analyzer *a = enter(self);
	if (!a)
		return NULL;
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = make(&table, a, &err);
	Py_END_ALLOW_THREADS
	return leave(self, code, table, &err);
}

static PyObject *unified(core_analyzer *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"communication", "overlap", "events", NULL};
	PyObject *events = Py_None;
	int communication = 0, overlap = 0;
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	tl_row *rows = NULL;
	size_t n = 0;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$ppO:unified", names, &communication, &overlap, &events) ||
	    (events != Py_None && !core_take_rows(&rows, &n, events, self->tree)))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a) {
		PyMem_Free(rows);
		return NULL;
	}
	tl_unified_options options = {
		.communication = communication, .overlap = overlap, .events = rows, .n_events = n};
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_analyzer_unified(&table, a, &options, &err);
	Py_END_ALLOW_THREADS
	PyMem_Free(rows);
	if (overlap)
		self->tree->overlaps = self;
	return leave(self, code, table, &err);
}

static PyObject *kernel_summary(core_analyzer *self, PyObject *unused)
{
	(void)unused;
	return plain(self, tl_analyzer_kernel_summary);
}

static PyObject *collectives(core_analyzer *self, PyObject *unused)
{
	(void)unused;
	return plain(self, tl_analyzer_collectives);
}

static PyObject *short_kernels(core_analyzer *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"histogram", "threshold_us", "bins", "top", NULL};
	int histogram;
	double threshold = 10;
	long long bins = 100, top = 0;
	tl_table *table = NULL;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "p|dLL:short_kernels", names, &histogram, &threshold, &bins,
					 &top))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a)
		return NULL;
	tl_short_kernel_options options = {.threshold_us = threshold, .bins = bins, .top = top};
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = histogram ? tl_analyzer_short_kernel_histogram(&table, a, &options, &err)
			 : tl_analyzer_short_kernels(&table, a, &options, &err);
	Py_END_ALLOW_THREADS
	return leave(self, code, table, &err);
}

/* (number, UID of the first or None, what its model said) */
static PyObject *failures(core_analyzer *self, PyObject *unused)
{
	(void)unused;
	if (!self->analyzer) /* no table was made since the models changed */
		return Py_BuildValue("(iOs)", 0, Py_None, "");
	tl_model_failures f = tl_analyzer_failures(self->analyzer);
	PyObject *first = f.count ? PyLong_FromUnsignedLong(f.first) : Py_NewRef(Py_None);
	return first ? Py_BuildValue("(nNN)", (Py_ssize_t)f.count, first, core_text(f.why, strlen(f.why))) : NULL;
}

/* ---- overlaps of single events ---- */

PyObject *core_analyzer_overlapping(core_analyzer *self, tl_row row)
{
	core_tree *tree = self->tree;
	const tl_row *rows;
	size_t n;
	tl_error err = TL_ERROR_INIT;
	if (!tl_event_is_gpu(core_tree_events(tree), row) ||
	    (!self->options.include_unlinked && !tl_tree_is_linked(tree->tree, row)) || tree->editing ||
	    tree->owner == PyThread_get_thread_ident()) /* a model asks: the library is at work */
		return NULL;
	/* held: while this thread waits for the tree another one may drop the analyser */
	Py_INCREF((PyObject *)self);
	tl_analyzer *a = enter(self);
	PyObject *list = NULL;
	if (a) {
		int code = tl_analyzer_overlapping(&rows, &n, a, row, &err);
		list = code == 0 ? core_rows(rows, n) : core_raise(code, &err);
		core_tree_leave(tree);
	} else if (tree->editing) {
		PyErr_Clear(); /* nor may it know of an edit that began meanwhile */
	}
	Py_DECREF((PyObject *)self);
	PyObject *set = list ? PySet_New(list) : NULL;
	Py_XDECREF(list);
	return set;
}

/* ---- nn.Modules ---- */

static PyObject *module_of(const tl_module *m)
{
	PyObject *parent = m->parent == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(m->parent);
	return Py_BuildValue("(kNnLL)", (unsigned long)m->event, parent, (Py_ssize_t)m->children,
			     (long long)m->gpu_time, (long long)m->remainder);
}

static PyObject *modules(core_analyzer *self, PyObject *args)
{
	PyObject *roots = Py_None, *result = NULL;
	tl_row *rows = NULL;
	size_t n = 0;
	tl_modules *made = NULL;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "|O:modules", &roots) ||
	    (roots != Py_None && !core_take_rows(&rows, &n, roots, self->tree)))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a) {
		PyMem_Free(rows);
		return NULL;
	}
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_modules_new(&made, a, rows, n, SIZE_MAX, &err);
	Py_END_ALLOW_THREADS
	core_tree_leave(self->tree);
	PyMem_Free(rows);
	if (code < 0)
		return core_raise(code, &err);
	result = PyList_New(0);
	for (size_t i = 0; result && i < tl_modules_count(made); i++) {
		PyObject *item = module_of(tl_modules_get(made, i));
		if (!item || PyList_Append(result, item) < 0)
			Py_CLEAR(result);
		Py_XDECREF(item);
	}
	tl_modules_free(made);
	return result;
}

/* ---- families and categories ---- */

static PyObject *text_or_none(const char *text)
{
	return text ? core_text(text, strlen(text)) : Py_NewRef(Py_None);
}

static PyObject *families(core_analyzer *self, PyObject *unused)
{
	(void)unused;
	tl_analyzer *a = enter(self);
	PyObject *list = a ? PyList_New(0) : NULL;
	const char *name;
	for (size_t i = 0; list && (name = tl_analyzer_family(a, i)); i++)
		if (core_collect(list, name, strlen(name)) < 0)
			Py_CLEAR(list);
	if (a)
		core_tree_leave(self->tree);
	return list;
}

static PyObject *family_of(core_analyzer *self, PyObject *name)
{
	const char *text = core_utf8(name, "the name of an operation");
	tl_analyzer *a = text ? enter(self) : NULL;
	if (!a)
		return NULL;
	PyObject *result = text_or_none(tl_analyzer_family_of(a, text));
	core_tree_leave(self->tree);
	return result;
}

static PyObject *category_of(core_analyzer *self, PyObject *args)
{
	const char *name, *kernel = NULL;
	if (!PyArg_ParseTuple(args, "s|z:category_of", &name, &kernel))
		return NULL;
	tl_analyzer *a = enter(self);
	if (!a)
		return NULL;
	PyObject *result = text_or_none(tl_analyzer_category_of(a, name, kernel));
	core_tree_leave(self->tree);
	return result;
}

static PyObject *is_gpu_only(core_analyzer *self, PyObject *unused)
{
	(void)unused;
	tl_analyzer *a = enter(self);
	if (!a)
		return NULL;
	bool only = tl_analyzer_is_gpu_only(a);
	core_tree_leave(self->tree);
	return PyBool_FromLong(only);
}

static PyObject *watch_overlaps(core_analyzer *self, PyObject *unused)
{
	(void)unused;
	self->tree->overlaps = self;
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"watch_overlaps", (PyCFunction)watch_overlaps, METH_NOARGS,
	 "watch_overlaps()\n--\n\nGPU events have the key overlapping_uids from now on, as after a timeline."},
	{"set_models", (PyCFunction)set_models, METH_VARARGS,
	 "set_models(models, categories)\n--\n\nModels as (name, category, backward category, sheet, function of an "
	 "event),\n"
	 "categories as (operation, category); in place of earlier ones."},
	{"timeline", (PyCFunction)timeline, METH_O, "timeline(micro_idle_us)\n--\n\nTable gpu_timeline, times in ms."},
	{"launchers", (PyCFunction)(void (*)(void))launchers, METH_VARARGS | METH_KEYWORDS,
	 "launchers(*, kernel_details, id_columns, overlap, start, call_stack, arguments=True, "
	 "communication=False)\n--\n\nTable, times in "
	 "µs."},
	{"metrics", (PyCFunction)(void (*)(void))metrics, METH_VARARGS | METH_KEYWORDS,
	 "metrics(events, *, backward, kernel_details, arguments, overlap)\n--\n\nTable of FLOPs, bytes, times and "
	 "rates."},
	{"kernels", (PyCFunction)(void (*)(void))kernels, METH_VARARGS | METH_KEYWORDS,
	 "kernels(*, launcher=False, cpu_op=True, nn_module=False)\n--\n\nTable, one row a kernel."},
	{"unified", (PyCFunction)(void (*)(void))unified, METH_VARARGS | METH_KEYWORDS,
	 "unified(*, communication=False, overlap=False, events=None)\n--\n\nThe unified table, of all GPU work or of "
	 "chosen events."},
	{"failures", (PyCFunction)failures, METH_NOARGS,
	 "failures()\n--\n\nEvents of the last table of metrics, or unified one, whose model failed: (number, UID of "
	 "the "
	 "first or None,\nwhat its model said)."},
	{"kernel_summary", (PyCFunction)kernel_summary, METH_NOARGS,
	 "kernel_summary()\n--\n\nKernels by name and operation."},
	{"collectives", (PyCFunction)collectives, METH_NOARGS,
	 "collectives()\n--\n\nCollectives by name, group and size."},
	{"short_kernels", (PyCFunction)(void (*)(void))short_kernels, METH_VARARGS | METH_KEYWORDS,
	 "short_kernels(histogram, threshold_us=10, bins=100, top=0)\n--\n\nHistogram or summary of short kernels."},
	{"modules", (PyCFunction)modules, METH_VARARGS,
	 "modules(roots=None)\n--\n\nnn.Modules in pre-order: (UID, index of parent or None, number of children, GPU "
	 "time,\n"
	 "remainder), times in ps."},
	{"families", (PyCFunction)families, METH_NOARGS, "families()\n--\n\nNames of the families of models."},
	{"family_of", (PyCFunction)family_of, METH_O, "family_of(operation)\n--\n\nIts family, or None."},
	{"category_of", (PyCFunction)category_of, METH_VARARGS,
	 "category_of(operation, first_kernel=None)\n--\n\nIts category as reports show it."},
	{"is_gpu_only", (PyCFunction)is_gpu_only, METH_NOARGS,
	 "is_gpu_only()\n--\n\nWhether there are neither operations nor Python frames."},
	{NULL, NULL, 0, NULL},
};

PyTypeObject core_analyzer_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Analyzer",
	.tp_basicsize = sizeof(core_analyzer),
	.tp_dealloc = (destructor)dealloc,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc = "Analyzer(tree, include_unlinked=False, detect_recompute=False, arch=None, "
		  "inductor_cache_dir=None)\n--\n\n"
		  "Tables of a tree; arch is a platform as JSON.",
	.tp_traverse = (traverseproc)traverse,
	.tp_clear = (inquiry)clear,
	.tp_methods = methods,
	.tp_new = new_analyzer,
};
