/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Comparison: finished reports, sheet by sheet. */
#include <string.h>

#include "core.h"

typedef struct core_comparison {
	PyObject_HEAD
	tl_comparison *comparison;
} core_comparison;

/* ---- failures ---- */

/* Several files are at play, so the message says which; what is missing or of another kind is a wrong value. */
static PyObject *raise_named(int code, const tl_error *err)
{
	const char *message = err->message[0] ? err->message : tl_code_name(code);
	bool named = !*err->file || strstr(message, err->file);
	if (code == TL_EIO && *err->file)
		return core_raise_file(code, err, err->file);
	if (PyErr_Occurred() || code == TL_ENOMEM || code == TL_EIO || code == TL_ECANCELLED || code == TL_ELIMIT)
		return core_raise(code, err);
	PyObject *text = named ? core_text(message, strlen(message))
			       : PyUnicode_FromFormat("%s: %s", err->file, message);
	return core_raise_as(PyExc_ValueError, Py_BuildValue("(N)", text), code, err);
}

/* ---- what is asked for ---- */

/* Texts as C strings; `held` has what they belong to. */
typedef struct texts {
	PyObject *held;
	const char **v;
	size_t n;
} texts;

static void drop_texts(texts *t)
{
	PyMem_Free(t->v);
	Py_XDECREF(t->held);
}

static bool take_texts(texts *t, PyObject *given, const char *what, bool paths)
{
	*t = (texts){0};
	if (given == Py_None)
		return true;
	if (!PyList_Check(given)) {
		PyErr_Format(PyExc_TypeError, "%s: a list is needed", what);
		return false;
	}
	size_t n = (size_t)PyList_GET_SIZE(given);
	t->held = PyList_New(0);
	t->v = PyMem_Calloc(n + 1, sizeof *t->v);
	if (!t->held || !t->v) {
		PyErr_NoMemory();
		return false;
	}
	for (; t->n < n; t->n++) {
		PyObject *item = PyList_GET_ITEM(given, (Py_ssize_t)t->n), *bytes = NULL;
		if (!paths) {
			t->v[t->n] = core_utf8(item, what);
			if (!t->v[t->n] || PyList_Append(t->held, item) < 0)
				return false;
			continue;
		}
		if (!PyUnicode_FSConverter(item, &bytes))
			return false;
		t->v[t->n] = PyBytes_AS_STRING(bytes);
		int code = PyList_Append(t->held, bytes);
		Py_DECREF(bytes);
		if (code < 0)
			return false;
	}
	return true;
}

static PyObject *comparison_new(tl_comparison *comparison)
{
	core_comparison *self = PyObject_New(core_comparison, &core_comparison_type);
	if (!self) {
		tl_comparison_free(comparison);
		return NULL;
	}
	self->comparison = comparison;
	return (PyObject *)self;
}

/* ---- comparing ---- */

static PyObject *compare_paths(const texts *paths, tl_compare_options *options)
{
	tl_trace_options trace = {.progress = core_on_progress};
	tl_comparison *comparison;
	tl_error err = TL_ERROR_INIT;
	int code;
	options->trace = &trace;
	Py_BEGIN_ALLOW_THREADS
	code = tl_compare_reports(&comparison, paths->v, paths->n, options, &err);
	Py_END_ALLOW_THREADS
	return code < 0 ? raise_named(code, &err) : comparison_new(comparison);
}

static PyObject *compare_reports(PyObject *module, PyObject *args)
{
	PyObject *paths, *names = Py_None, *sheets = Py_None, *result = NULL;
	texts path = {0}, name = {0}, sheet = {0};
	(void)module;
	if (!PyArg_ParseTuple(args, "O!|OO:compare_reports", &PyList_Type, &paths, &names, &sheets))
		return NULL;
	if (take_texts(&path, paths, "a report", true) && take_texts(&name, names, "names", false) &&
	    take_texts(&sheet, sheets, "sheets", false)) {
		tl_compare_options options = {name.v, name.n, sheet.v, sheet.n, NULL, NULL};
		result = compare_paths(&path, &options);
	}
	drop_texts(&path);
	drop_texts(&name);
	drop_texts(&sheet);
	return result;
}

static const tl_report **take_reports(PyObject *list)
{
	Py_ssize_t n = PyList_GET_SIZE(list);
	const tl_report **reports = PyMem_Calloc((size_t)n + 1, sizeof *reports);
	if (!reports)
		return (const tl_report **)PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < n; i++) {
		reports[i] = core_report_use(PyList_GET_ITEM(list, i));
		if (!reports[i]) {
			PyMem_Free(reports);
			return NULL;
		}
	}
	return reports;
}

static PyObject *compare_made(PyObject *module, PyObject *args)
{
	PyObject *list, *names, *sheets = Py_None, *result = NULL;
	texts name = {0}, sheet = {0};
	const tl_report **reports = NULL;
	(void)module;
	if (!PyArg_ParseTuple(args, "O!O!|O:compare_reports_made", &PyList_Type, &list, &PyList_Type, &names, &sheets))
		return NULL;
	PyObject *held = PyList_GetSlice(list, 0, PyList_GET_SIZE(list)); /* theirs may change meanwhile */
	if (held && take_texts(&name, names, "names", false) && take_texts(&sheet, sheets, "sheets", false) &&
	    (reports = take_reports(held))) {
		tl_compare_options options = {name.v, name.n, sheet.v, sheet.n, NULL, NULL};
		size_t n = (size_t)PyList_GET_SIZE(held);
		tl_comparison *comparison;
		tl_error err = TL_ERROR_INIT;
		int code;
		Py_BEGIN_ALLOW_THREADS
		code = tl_compare_reports_made(&comparison, reports, n, &options, &err);
		Py_END_ALLOW_THREADS
		result = code < 0 ? raise_named(code, &err) : comparison_new(comparison);
	}
	PyMem_Free(reports);
	drop_texts(&name);
	drop_texts(&sheet);
	Py_XDECREF(held);
	return result;
}

static PyObject *read_report(PyObject *module, PyObject *path)
{
	PyObject *bytes;
	tl_report *report;
	tl_error err = TL_ERROR_INIT;
	int code;
	(void)module;
	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	code = tl_report_read(&report, PyBytes_AS_STRING(bytes), &err);
	Py_END_ALLOW_THREADS
	Py_DECREF(bytes);
	return code < 0 ? raise_named(code, &err) : core_report_new(report, false);
}

PyMethodDef core_compare_methods[] = {
	{"compare_reports", compare_reports, METH_VARARGS,
	 "compare_reports(paths, names=None, sheets=None)\n--\n\nComparison of workbooks, folders of CSV sheets and "
	 "traces; the first\n"
	 "is the baseline."},
	{"compare_reports_made", compare_made, METH_VARARGS,
	 "compare_reports_made(reports, names, sheets=None)\n--\n\nThe same of a list of Report."},
	{"read_report", read_report, METH_O,
	 "read_report(path)\n--\n\nA finished report: a workbook or a directory of CSV sheets."},
	{NULL, NULL, 0, NULL},
};

/* ---- what a comparison holds ---- */

static void dealloc(core_comparison *self)
{
	tl_comparison_free(self->comparison);
	PyObject_Free(self);
}

static PyObject *tables(core_comparison *self, PyObject *unused)
{
	PyObject *list = PyList_New(0);
	(void)unused;
	for (size_t i = 0; list && i < tl_comparison_count(self->comparison); i++) {
		PyObject *table = core_table_view(tl_comparison_table(self->comparison, i), (PyObject *)self);
		if (!table || PyList_Append(list, table) < 0)
			Py_CLEAR(list);
		Py_XDECREF(table);
	}
	return list;
}

static PyObject *texts_of(core_comparison *self, const char *(*get)(const tl_comparison *, size_t))
{
	const char *text;
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && (text = get(self->comparison, i)); i++)
		if (core_collect(list, text, strlen(text)) < 0)
			Py_CLEAR(list);
	return list;
}

static PyObject *notes(core_comparison *self, PyObject *unused)
{
	(void)unused;
	return texts_of(self, tl_comparison_note);
}

static PyObject *tags(core_comparison *self, PyObject *unused)
{
	(void)unused;
	return texts_of(self, tl_comparison_tag);
}

static PyObject *largest(core_comparison *self, PyObject *unused)
{
	(void)unused;
	const tl_table *table = tl_comparison_largest(self->comparison);
	if (!table)
		Py_RETURN_NONE;
	return core_table_view(table, (PyObject *)self);
}

static PyObject *write_files(core_comparison *self, PyObject *args)
{
	PyObject *xlsx = NULL, *csv = NULL, *result = NULL;
	tl_error err = TL_ERROR_INIT;
	if (PyArg_ParseTuple(args, "O&O&:write", core_path, &xlsx, core_path, &csv)) {
		int code;
		const char *book = xlsx ? PyBytes_AS_STRING(xlsx) : NULL, *dir = csv ? PyBytes_AS_STRING(csv) : NULL;
		Py_BEGIN_ALLOW_THREADS
		code = tl_comparison_write(self->comparison, book, dir, &err);
		Py_END_ALLOW_THREADS
		result = code < 0 ? core_raise_file(code, &err, err.file) : Py_NewRef(Py_None);
	}
	Py_XDECREF(xlsx);
	Py_XDECREF(csv);
	return result;
}

static PyObject *is_truncated(core_comparison *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(tl_comparison_is_truncated(self->comparison));
}

static PyMethodDef methods[] = {
	{"tables", (PyCFunction)tables, METH_NOARGS,
	 "tables()\n--\n\nThe sheets in order, as a list of Table, without columns that hold nothing."},
	{"notes", (PyCFunction)notes, METH_NOARGS,
	 "notes()\n--\n\nWhat was left out, or stands in for something else."},
	{"tags", (PyCFunction)tags, METH_NOARGS, "tags()\n--\n\nWhat the reports are called, the baseline first."},
	{"largest", (PyCFunction)largest, METH_NOARGS,
	 "largest()\n--\n\nTable of the largest differences of kernel time (ms); None where no sheet tells kernel "
	 "times."},
	{"write", (PyCFunction)write_files, METH_VARARGS,
	 "write(xlsx_path, csv_dir)\n--\n\nWrites what is not None, all or nothing."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"is_truncated", (getter)is_truncated, NULL, "A trace among the reports was cut off.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject core_comparison_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Comparison",
	.tp_basicsize = sizeof(core_comparison),
	.tp_dealloc = (destructor)dealloc,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.tp_doc = "Two or more reports side by side.",
	.tp_methods = methods,
	.tp_getset = members,
};
