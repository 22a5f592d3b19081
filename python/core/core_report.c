/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Report: the PyTorch report, of a file or of a tree with an analyser's models. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct core_report {
	PyObject_HEAD
	tl_report *report;
	bool truncated; /* the file was cut off */
	bool shown;     /* tables were handed out, so none may go */
} core_report;

/* ---- options ---- */

typedef struct wishes {
	tl_report_options options;
	tl_arch *arch;
	PyObject *other; /* bytes of the path of the trace to compare with, or NULL */
} wishes;

static bool is_true(PyObject *value)
{
	return value && PyObject_IsTrue(value) > 0;
}

static bool take_count(int64_t *out, PyObject *value)
{
	if (!value || value == Py_None)
		return true;
	*out = PyLong_AsLongLong(value);
	return *out != -1 || !PyErr_Occurred();
}

static bool take_number(double *out, PyObject *value)
{
	*out = PyFloat_AsDouble(value);
	return *out != -1.0 || !PyErr_Occurred();
}

static bool take_text(const char **out, PyObject *value, const char *what)
{
	if (!value || value == Py_None)
		return true;
	*out = core_utf8(value, what);
	return *out != NULL;
}

/* The flags of a dict of options; what they are is in report.h. */
static bool take_flags(tl_report_options *o, PyObject *given)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"include_unlinked_kernels", &o->include_unlinked_kernels},
		{"disable_coll_analysis", &o->disable_coll_analysis},
		{"enable_kernel_summary", &o->enable_kernel_summary},
		{"short_kernel_study", &o->short_kernel_study},
		{"group_by_num_kernels", &o->group_by_num_kernels},
		{"include_overlap_info", &o->include_overlap_info},
		{"include_first_occurrence_time", &o->include_first_occurrence_time},
		{"detect_recompute", &o->detect_recompute},
		{"include_call_stack", &o->include_call_stack},
		{"enable_origami", &o->enable_origami},
		{"enable_pseudo_ops", &o->enable_pseudo_ops},
		{"clip_stream_overruns", &o->clip_stream_overruns},
		{"call_stack_debug", &o->call_stack_debug},
	};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		*flags[i].flag = is_true(PyDict_GetItemString(given, flags[i].name));
	return !PyErr_Occurred(); /* not everything is true or false: an array of several is neither */
}

static bool take_arch(wishes *w, PyObject *json)
{
	const char *text = NULL;
	tl_error err = TL_ERROR_INIT;
	if (!take_text(&text, json, "arch"))
		return false;
	int code = text ? tl_arch_parse(&w->arch, text, strlen(text), "gpu_arch", &err) : 0;
	if (code < 0)
		core_raise(code == TL_EFORMAT ? TL_EINVAL : code, &err); /* a wrong option, no bad input */
	w->options.arch = w->arch;
	return code == 0;
}

static bool take_other(wishes *w, PyObject *path)
{
	if (!path || path == Py_None)
		return true;
	if (!PyUnicode_FSConverter(path, &w->other))
		return false;
	w->options.comparison_path = PyBytes_AS_STRING(w->other);
	return true;
}

static void free_wishes(wishes *w)
{
	tl_arch_free(w->arch);
	Py_CLEAR(w->other);
}

/* The texts belong to the values of `given`. */
static bool take_options(wishes *w, PyObject *given)
{
	tl_report_options *o = &w->options;
	PyObject *limit = PyDict_GetItemString(given, "micro_idle_thresh_us");
	PyObject *threshold = PyDict_GetItemString(given, "short_kernel_threshold_us");
	int64_t tp = 0;
	*w = (wishes){.options = tl_report_options_default()};
	if (!take_flags(o, given))
		return false;
	o->has_micro_idle_threshold = limit && limit != Py_None;
	return (!o->has_micro_idle_threshold || take_number(&o->micro_idle_threshold_us, limit)) &&
	       (!threshold || take_number(&o->short_kernel_threshold_us, threshold)) &&
	       take_count(&o->short_kernel_bins, PyDict_GetItemString(given, "short_kernel_histogram_bins")) &&
	       take_count(&o->topk_short_kernels, PyDict_GetItemString(given, "topk_short_kernels")) &&
	       take_count(&o->topk_ops, PyDict_GetItemString(given, "topk_ops")) &&
	       take_count(&o->topk_roofline_ops, PyDict_GetItemString(given, "topk_roofline_ops")) &&
	       take_text(&o->inductor_cache_dir, PyDict_GetItemString(given, "inductor_cache_dir"),
			 "inductor_cache_dir") &&
	       take_text(&o->python_path, PyDict_GetItemString(given, "python_path"), "python_path") &&
	       take_text(&o->pseudo_ops.model, PyDict_GetItemString(given, "model"), "model") &&
	       take_count(&tp, PyDict_GetItemString(given, "tp")) && (o->pseudo_ops.tensor_parallel = tp, true) &&
	       take_other(w, PyDict_GetItemString(given, "comparison_json_path")) &&
	       take_arch(w, PyDict_GetItemString(given, "arch"));
}

/* What failed may be either of two files: the message names the one to compare with, as nobody looks for that one. */
static PyObject *raise_for(int code, tl_error *err, const wishes *w, const char *path)
{
	const char *other = w->options.comparison_path;
	if (!err->file[0]) /* neither */
		return core_raise(code, err);
	if (!other || !strstr(other, err->file) || strcmp(other, path) == 0)
		return core_raise_file(code, err, path);
	if (!strstr(err->message, err->file)) {
		tl_error named = *err;
		snprintf(named.message, sizeof named.message, "%.255s: %.250s", err->file, err->message);
		return core_raise_file(code, code == TL_EIO ? err : &named, other);
	}
	return core_raise_file(code, err, other);
}

PyObject *core_report_new(tl_report *report, bool truncated)
{
	core_report *self = PyObject_New(core_report, &core_report_type);
	if (!self) {
		tl_report_free(report);
		return NULL;
	}
	self->report = report;
	self->truncated = truncated;
	self->shown = false;
	return (PyObject *)self;
}

const tl_report *core_report_use(PyObject *object)
{
	if (!Py_IS_TYPE(object, &core_report_type)) {
		PyErr_Format(PyExc_TypeError, "a Report is needed, not %.100s", Py_TYPE(object)->tp_name);
		return NULL;
	}
	core_report *self = (core_report *)object;
	self->shown = true;
	return self->report;
}

/* ---- of a file ---- */

/* Extension files in Lua. */
typedef struct files {
	tl_extension **items;
	const tl_hook **hooks;
	size_t n;
	PyObject *notes; /* list of str */
} files;

/* Called with the GIL or without. */
static void note(void *user, const char *text)
{
	PyGILState_STATE state = PyGILState_Ensure();
	if (!PyErr_Occurred() && core_collect(user, text, strlen(text)) < 0)
		PyErr_Clear();
	PyGILState_Release(state);
}

static void free_files(files *f)
{
	for (size_t i = 0; i < f->n; i++)
		tl_extension_free(f->items[i]);
	PyMem_Free(f->items);
	PyMem_Free(f->hooks);
	Py_XDECREF(f->notes);
}

static bool open_files(files *f, PyObject *paths)
{
	size_t n = (size_t)PyList_GET_SIZE(paths);
	*f = (files){.notes = PyList_New(0)};
	f->items = PyMem_Calloc(n + 1, sizeof(*f->items));
	f->hooks = PyMem_Calloc(n + 1, sizeof(*f->hooks));
	if (!f->items || !f->hooks)
		PyErr_NoMemory();
	tl_extension_options options = {.note = note, .user = f->notes};
	for (; f->n < n && !PyErr_Occurred(); f->n++) {
		tl_error err = TL_ERROR_INIT;
		PyObject *bytes = NULL;
		if (!PyUnicode_FSConverter(PyList_GET_ITEM(paths, (Py_ssize_t)f->n), &bytes))
			break;
		int code = tl_extension_open(&f->items[f->n], PyBytes_AS_STRING(bytes), &options, &err);
		if (code < 0)
			core_raise_file(code, &err, PyBytes_AS_STRING(bytes));
		Py_DECREF(bytes);
		if (code < 0)
			break;
		f->hooks[f->n] = tl_extension_hook(f->items[f->n]);
	}
	return !PyErr_Occurred();
}

static PyObject *of_file(const char *path, wishes *w, files *f, bool strict)
{
	tl_trace_options how = {.strict = strict, .progress = core_on_progress};
	tl_trace *trace = NULL;
	tl_report *report = NULL;
	tl_error err = TL_ERROR_INIT;
	bool truncated = false;
	int code;
	w->options.hooks = f->hooks;
	w->options.n_hooks = f->n;
	w->options.comparison_trace = &how;
	Py_BEGIN_ALLOW_THREADS
	code = tl_trace_open(&trace, path, &how, &err);
	if (code == 0) {
		truncated = tl_trace_is_truncated(trace);
		code = tl_report_pytorch(&report, trace, &w->options, &err);
	}
	tl_trace_free(trace);
	Py_END_ALLOW_THREADS
	for (size_t i = 0; i < f->n; i++)
		(void)tl_extension_notes(f->items[i]);
	return code < 0 ? raise_for(code, &err, w, path) : core_report_new(report, truncated);
}

static PyObject *report_file(PyObject *module, PyObject *args)
{
	PyObject *path, *given, *paths, *result = NULL;
	wishes w;
	files f;
	(void)module;
	if (!PyArg_ParseTuple(args, "O&O!O!:report_file", PyUnicode_FSConverter, &path, &PyDict_Type, &given,
			      &PyList_Type, &paths))
		return NULL;
	if (take_options(&w, given)) {
		PyObject *report = open_files(&f, paths) ? of_file(PyBytes_AS_STRING(path), &w, &f,
								   is_true(PyDict_GetItemString(given, "strict")))
							 : NULL;
		if (report)
			result = PyTuple_Pack(2, report, f.notes);
		Py_XDECREF(report);
		free_files(&f);
	}
	free_wishes(&w);
	Py_DECREF(path);
	return result;
}

/* ---- of a tree ---- */

static int register_models(void *user, tl_analyzer *analyzer, tl_error *err)
{
	PyGILState_STATE state = PyGILState_Ensure();
	bool good = core_analyzer_register(user, analyzer);
	PyGILState_Release(state);
	(void)err; /* the exception stays set */
	return good ? 0 : -1;
}

/* `other` may be NULL. A tree cannot be entered twice, so the two are different ones. */
static bool enter_both(core_tree *tree, core_tree *other)
{
	if (!core_tree_enter(tree))
		return false;
	if (!other || core_tree_enter(other))
		return true;
	core_tree_leave(tree);
	return false;
}

static PyObject *report_tree(PyObject *module, PyObject *args)
{
	core_analyzer *analyzer;
	core_tree *other = NULL;
	PyObject *given, *result = NULL;
	wishes w;
	(void)module;
	if (!PyArg_ParseTuple(args, "O!O!|O!:report_tree", &core_analyzer_type, &analyzer, &PyDict_Type, &given,
			      &core_tree_type, &other))
		return NULL;
	if (!core_tree_built(analyzer->tree) || (other && !core_tree_built(other)))
		return NULL;
	if (take_options(&w, given) && enter_both(analyzer->tree, other)) {
		tl_hook hook = {.analyzer = register_models, .user = analyzer};
		const tl_hook *hooks[] = {&hook};
		tl_report *report = NULL;
		tl_error err = TL_ERROR_INIT;
		int code;
		w.options.hooks = hooks;
		w.options.n_hooks = 1;
		if (!w.arch)
			w.options.arch = analyzer->arch;
		w.options.comparison_tree = other ? other->tree : NULL;
		Py_BEGIN_ALLOW_THREADS
		code = tl_report_pytorch_tree(&report, analyzer->tree->tree, &w.options, &err);
		Py_END_ALLOW_THREADS
		core_tree_leave(analyzer->tree);
		if (other)
			core_tree_leave(other);
		if (code == 0 && PyErr_Occurred())
			tl_report_free(report);
		else
			result = code < 0 ? raise_for(code, &err, &w, "")
					  : core_report_new(report,
							    tl_trace_is_truncated(tl_tree_trace(analyzer->tree->tree)));
	}
	free_wishes(&w);
	return result;
}

PyMethodDef core_report_methods[] = {
	{"report_file", report_file, METH_VARARGS,
	 "report_file(path, options, lua_files)\n--\n\nReport of a trace file with options as a dict, and what "
	 "extension\n"
	 "files had to say."},
	{"report_tree", report_tree, METH_VARARGS,
	 "report_tree(analyzer, options, other=None)\n--\n\nReport of the tree of an analyser, with the analyser's "
	 "models,\ncompared with another tree."},
	{NULL, NULL, 0, NULL},
};

/* ---- what a report holds ---- */

static void dealloc(core_report *self)
{
	tl_report_free(self->report);
	PyObject_Free(self);
}

static PyObject *tables(core_report *self, PyObject *unused)
{
	PyObject *list = PyList_New(0);
	(void)unused;
	self->shown = true;
	for (size_t i = 0; list && i < tl_report_count(self->report); i++) {
		PyObject *table = core_table_view(tl_report_table(self->report, i), (PyObject *)self);
		if (!table || PyList_Append(list, table) < 0)
			Py_CLEAR(list);
		Py_XDECREF(table);
	}
	return list;
}

/* Cells of one column as the library wants them; frees with PyMem_Free. */
typedef struct cells {
	void *values;
	bool *null;
} cells;

static bool take_cell(cells *c, size_t row, tl_type type, PyObject *value)
{
	c->null[row] = value == Py_None;
	if (c->null[row])
		return true;
	switch (type) {
	case TL_TYPE_INT64:
		((int64_t *)c->values)[row] = PyLong_AsLongLong(value);
		break;
	case TL_TYPE_DOUBLE:
		((double *)c->values)[row] = PyFloat_AsDouble(value);
		break;
	case TL_TYPE_BOOL:
		((bool *)c->values)[row] = PyObject_IsTrue(value) > 0;
		break;
	default:
		((const char **)c->values)[row] = core_utf8(value, "a cell");
	}
	return !PyErr_Occurred();
}

static bool add_column(tl_table *table, PyObject *column)
{
	static const char *const names[] = {"int64", "double", "bool", "string", "list", "record"};
	const char *name, *kind;
	PyObject *list;
	size_t rows = tl_table_rows(table), type = 0;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(column, "ssO!", &name, &kind, &PyList_Type, &list))
		return false;
	while (type < 6 && strcmp(names[type], kind) != 0)
		type++;
	if (type == 6 || (size_t)PyList_GET_SIZE(list) != rows) {
		PyErr_SetString(PyExc_ValueError, "a column needs a type and a cell for each row");
		return false;
	}
	cells c = {PyMem_Calloc(rows + 1, 8), PyMem_Calloc(rows + 1, sizeof(bool))};
	bool good = c.values && c.null;
	if (!good)
		PyErr_NoMemory();
	for (size_t row = 0; good && row < rows; row++)
		good = take_cell(&c, row, (tl_type)type, PyList_GET_ITEM(list, (Py_ssize_t)row));
	int code = good ? tl_table_add(table, name, NULL, (tl_type)type, c.values, c.null, &err) : 0;
	PyMem_Free(c.values);
	PyMem_Free(c.null);
	if (code < 0)
		core_raise(code, &err);
	return good && code == 0;
}

static PyObject *add_table(core_report *self, PyObject *args)
{
	const char *name;
	PyObject *columns;
	Py_ssize_t rows;
	tl_table *table;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "snO!:add_table", &name, &rows, &PyList_Type, &columns))
		return NULL;
	if (self->shown || rows < 0) {
		PyErr_SetString(PyExc_ValueError,
				rows < 0 ? "a negative number of rows" : "tables were handed out already");
		return NULL;
	}
	int code = tl_table_new(&table, name, (size_t)rows, &err);
	if (code < 0)
		return core_raise(code, &err);
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(columns); i++)
		if (!add_column(table, PyList_GET_ITEM(columns, i))) {
			tl_table_free(table);
			return NULL;
		}
	code = tl_report_add_table(self->report, table, &err);
	return code < 0 ? core_raise(code, &err) : Py_NewRef(Py_None);
}

static const char *path_of(PyObject *bytes)
{
	return bytes ? PyBytes_AS_STRING(bytes) : NULL;
}

static PyObject *write_files(core_report *self, PyObject *args)
{
	PyObject *csv = NULL, *xlsx = NULL, *json = NULL;
	tl_report_heading heading = {"", ""};
	tl_error err = TL_ERROR_INIT;
	PyObject *result = NULL;
	if (PyArg_ParseTuple(args, "O&O&O&ss:write", core_path, &csv, core_path, &xlsx, core_path, &json,
			     &heading.trace, &heading.command)) {
		tl_report_outputs outputs = {
			.csv_dir = path_of(csv), .xlsx_path = path_of(xlsx), .json_path = path_of(json)};
		int code;
		Py_BEGIN_ALLOW_THREADS
		code = tl_report_write(self->report, &outputs, &heading, &err);
		Py_END_ALLOW_THREADS
		result = code < 0 ? core_raise_file(code, &err, err.file) : Py_NewRef(Py_None);
	}
	Py_XDECREF(csv);
	Py_XDECREF(xlsx);
	Py_XDECREF(json);
	return result;
}

static PyObject *summary(core_report *self, PyObject *args)
{
	tl_report_style style = {0};
	tl_report_heading heading = {"", ""};
	tl_error err = TL_ERROR_INIT;
	char *text;
	if (!PyArg_ParseTuple(args, "s|ip:summary", &heading.trace, &style.width, &style.colour))
		return NULL;
	int code = tl_report_summary(self->report, &heading, &style, &text, &err);
	if (code < 0)
		return core_raise(code, &err);
	PyObject *result = core_text(text, strlen(text));
	free(text);
	return result;
}

static PyObject *is_empty(core_report *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(tl_report_is_empty(self->report));
}

static PyObject *is_truncated(core_report *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(self->truncated);
}

static PyMethodDef methods[] = {
	{"tables", (PyCFunction)tables, METH_NOARGS, "tables()\n--\n\nThe sheets in order, as a list of Table."},
	{"add_table", (PyCFunction)add_table, METH_VARARGS,
	 "add_table(name, rows, columns)\n--\n\nA sheet of one's own: columns as (name, type, list of cells), types as "
	 "those\n"
	 "of a Table; cells of lists and records are JSON texts, empty ones None. Before tables() is called."},
	{"write", (PyCFunction)write_files, METH_VARARGS,
	 "write(csv_dir, xlsx_path, json_path, trace, command)\n--\n\nWrites what is not None, all or nothing."},
	{"summary", (PyCFunction)summary, METH_VARARGS,
	 "summary(trace, width=80, colour=False)\n--\n\nA short summary for people."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"is_empty", (getter)is_empty, NULL, "No GPU event with a usable time was there.", NULL},
	{"is_truncated", (getter)is_truncated, NULL, "The file was cut off.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject core_report_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Report",
	.tp_basicsize = sizeof(core_report),
	.tp_dealloc = (destructor)dealloc,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.tp_doc = "The PyTorch report: its sheets, and ways to write them.",
	.tp_methods = methods,
	.tp_getset = members,
};
