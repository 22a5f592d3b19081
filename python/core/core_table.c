/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Table: the columns of a table as bytes or lists, for pandas and for Arrow. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

PyObject *core_parse_json(const char *text, size_t n)
{
	static PyObject *scan; /* kept as long as the interpreter */
	if (!scan) {
		PyObject *json = PyImport_ImportModule("json.decoder");
		PyObject *decoder = json ? PyObject_CallMethod(json, "JSONDecoder", NULL) : NULL;
		scan = decoder ? PyObject_GetAttrString(decoder, "scan_once") : NULL;
		Py_XDECREF(json);
		Py_XDECREF(decoder);
		if (!scan)
			return NULL;
	}
	PyObject *string = core_text(text, n), *pair = string ? PyObject_CallFunction(scan, "Oi", string, 0) : NULL;
	PyObject *value = pair ? Py_NewRef(PyTuple_GET_ITEM(pair, 0)) : NULL;
	Py_XDECREF(string);
	Py_XDECREF(pair);
	if (!value && PyErr_ExceptionMatches(PyExc_StopIteration)) {
		PyErr_Clear();
		PyErr_SetString(PyExc_ValueError, "the text of the event is no JSON");
	}
	return value;
}

/* ---- cells ---- */

/* Keys of the records that tables are full of: made once, kept as long as the interpreter. */
static PyObject *key_text(const tl_item *item)
{
	static const char *const names[] = {"name", "dur", "stream", "gpu_op_uid", "call_stack", "overlap_pct"};
	enum { N = sizeof names / sizeof *names };
	static PyObject *texts[N];
	for (size_t i = 0; i < N; i++) {
		if (strlen(names[i]) != item->n || memcmp(names[i], item->text, item->n) != 0)
			continue;
		if (!texts[i])
			texts[i] = PyUnicode_InternFromString(names[i]);
		return Py_XNewRef(texts[i]);
	}
	return core_text(item->text, item->n);
}

/* A text, which is the one of `known` where that has an equal one. */
static PyObject *value_text(PyObject *known, const tl_item *item)
{
	PyObject *text = core_text(item->text, item->n);
	PyObject *first = text && known ? PyDict_SetDefault(known, text, text) : NULL; /* borrowed */
	if (text && known)
		Py_SETREF(text, Py_XNewRef(first));
	return text;
}

static PyObject *scalar(const core_builder *b, const tl_item *item)
{
	const core_open_value *around = b->depth ? &b->open[b->depth - 1] : NULL;
	switch (item->kind) {
	case TL_ITEM_BOOL:
		return PyBool_FromLong((long)item->integer);
	case TL_ITEM_INT:
		return PyLong_FromLongLong(item->integer);
	case TL_ITEM_DOUBLE:
		return PyFloat_FromDouble(item->real);
	case TL_ITEM_NUMBER:
		return PyLong_FromString(item->text, NULL, 10);
	case TL_ITEM_STRING:
		return around && PyDict_Check(around->value) && !around->key ? key_text(item)
									     : value_text(b->texts, item);
	case TL_ITEM_LIST:
		return PyList_New((Py_ssize_t)item->n);
	case TL_ITEM_TUPLE:
		return PyTuple_New((Py_ssize_t)item->n);
	case TL_ITEM_RECORD:
		return PyDict_New();
	default:
		return Py_NewRef(Py_None);
	}
}

/* Puts a value where the innermost open one wants it; takes it over. */
static int place(core_builder *b, PyObject *value)
{
	if (!b->depth) {
		b->result = value;
		return 0;
	}
	core_open_value *o = &b->open[b->depth - 1];
	if (PyDict_Check(o->value)) {
		if (!o->key) {
			o->key = value;
			return 0;
		}
		int code = PyDict_SetItem(o->value, o->key, value);
		Py_CLEAR(o->key);
		Py_DECREF(value);
		o->at++;
		return code;
	}
	if (PyList_Check(o->value))
		PyList_SET_ITEM(o->value, (Py_ssize_t)o->at++, value);
	else
		PyTuple_SET_ITEM(o->value, (Py_ssize_t)o->at++, value);
	return 0;
}

/*
 * Tuples of what cannot refer to anything are nothing that the collector of garbage must look at, ever. It would find
 * that out itself, the first time that it looks.
 */
static void untrack(PyObject *value)
{
	if (!PyTuple_CheckExact(value) || !PyObject_GC_IsTracked(value))
		return;
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
		PyObject *item = PyTuple_GET_ITEM(value, i);
		if (PyObject_IS_GC(item) && (!PyTuple_CheckExact(item) || PyObject_GC_IsTracked(item)))
			return;
	}
	PyObject_GC_UnTrack(value);
}

int core_build_item(void *user, const tl_item *item)
{
	core_builder *b = user;
	PyObject *value = scalar(b, item);
	bool opens = item->kind >= TL_ITEM_LIST && item->n;
	if (!value)
		return -1;
	if (!opens && place(b, value) < 0)
		return -1;
	if (opens) {
		if (b->depth == CORE_DEEPEST) {
			Py_DECREF(value);
			PyErr_SetString(PyExc_RecursionError, "a cell is nested too deeply");
			return -1;
		}
		b->open[b->depth++] = (core_open_value){.value = value, .n = item->n};
	}
	while (b->depth && b->open[b->depth - 1].at == b->open[b->depth - 1].n) {
		value = b->open[--b->depth].value;
		untrack(value);
		if (place(b, value) < 0)
			return -1;
	}
	return 0;
}

PyObject *core_build_end(core_builder *b, int code, const tl_error *err)
{
	if (code == 0)
		return b->result;
	while (b->depth) {
		b->depth--;
		Py_XDECREF(b->open[b->depth].key);
		Py_XDECREF(b->open[b->depth].value);
	}
	Py_XDECREF(b->result);
	return core_raise(code, err);
}

static PyObject *cell(const tl_table *table, size_t column, size_t row, PyObject *texts)
{
	core_builder b; /* large, and what is open is written before it is read */
	b.texts = texts;
	b.result = NULL;
	b.depth = 0;
	tl_error err = TL_ERROR_INIT;
	int code = tl_table_cell(table, column, row, core_build_item, &b, &err);
	return core_build_end(&b, code, &err);
}

/* ---- columns ---- */

static bool has_null(const tl_table *table, size_t column)
{
	for (size_t row = 0; row < tl_table_rows(table); row++)
		if (tl_table_is_null(table, column, row))
			return true;
	return false;
}

/* "f8" or "i8" with the cells as bytes. */
static PyObject *packed_numbers(const tl_table *table, size_t column, tl_type type)
{
	PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(tl_table_rows(table) * 8));
	if (!bytes)
		return NULL;
	void *out = PyByteArray_AS_STRING(bytes);
	bool whole = type == TL_TYPE_INT64 && tl_table_ints(table, column, out);
	if (!whole)
		tl_table_doubles(table, column, out);
	return Py_BuildValue("(sN)", whole ? "i8" : "f8", bytes);
}

/* "b1" with the cells as bytes. */
static PyObject *packed_bools(const tl_table *table, size_t column)
{
	size_t rows = tl_table_rows(table);
	PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)rows);
	for (size_t row = 0; bytes && row < rows; row++)
		PyByteArray_AS_STRING(bytes)[row] = (char)tl_table_int(table, column, row);
	return bytes ? Py_BuildValue("(sN)", "b1", bytes) : NULL;
}

/*
 * Makes the objects of a column; cells that are known to be equal share one where it cannot be changed, and so do texts
 * in lists and records.
 */
typedef struct cell_maker {
	const tl_table *table;
	size_t column;
	uint64_t *ids;   /* of the cells, as tl_table_cell_id gives them; NULL: the column has none */
	PyObject *texts; /* dict */
	PyObject *all;   /* dict id -> object: owns all that have one */
	struct {
		uint64_t id;
		PyObject *value;
	} recent[512]; /* a few at hand */

	/* what was made so far */
	PyTypeObject *type; /* of the objects, None not counted; of one of them where `several` */
	bool several;       /* they have different types */
	size_t empty;       /* cells that are None */
} cell_maker;

static void end_cells(cell_maker *m)
{
	Py_CLEAR(m->texts);
	Py_CLEAR(m->all);
	PyMem_Free(m->ids);
}

static bool begin_cells(cell_maker *m, const tl_table *table, size_t column)
{
	*m = (cell_maker){.table = table, .column = column, .texts = PyDict_New(), .all = PyDict_New()};
	m->ids = PyMem_Malloc((tl_table_rows(table) + 1) * sizeof *m->ids);
	if (!m->texts || !m->all || !m->ids) {
		end_cells(m);
		PyErr_NoMemory();
		return false;
	}
	if (!tl_table_cell_ids(table, column, m->ids)) {
		PyMem_Free(m->ids);
		m->ids = NULL;
	}
	return true;
}

static PyObject *new_cell(cell_maker *m, size_t row)
{
	PyObject *value = cell(m->table, m->column, row, m->texts);
	if (value == Py_None) {
		m->empty++;
	} else if (value) {
		m->several |= m->type && m->type != Py_TYPE(value);
		m->type = Py_TYPE(value);
	}
	return value;
}

/* Whether an object can be changed, or what is in it. */
static bool can_change(PyObject *value)
{
	/* what can holds references, and a tuple that can is no untracked one */
	return value && PyObject_IS_GC(value) && (!PyTuple_CheckExact(value) || PyObject_GC_IsTracked(value));
}

/* A copy of what a cell can be, as deep as it can be changed: a row's lists are its own. NULL with an exception. */
static PyObject *own_copy(PyObject *value)
{
	PyObject *copy, *key, *item;
	Py_ssize_t at = 0;
	if (!can_change(value))
		return Py_NewRef(value);
	if (PyDict_Check(value)) {
		copy = PyDict_New();
		while (copy && PyDict_Next(value, &at, &key, &item)) {
			PyObject *own = own_copy(item);
			if (!own || PyDict_SetItem(copy, key, own) < 0)
				Py_CLEAR(copy);
			Py_XDECREF(own);
		}
		return copy;
	}
	bool list = PyList_Check(value);
	Py_ssize_t n = PySequence_Fast_GET_SIZE(value);
	copy = list ? PyList_New(n) : PyTuple_New(n);
	for (; copy && at < n; at++) {
		PyObject *own = own_copy(PySequence_Fast_GET_ITEM(value, at));
		if (!own)
			Py_CLEAR(copy);
		else if (list)
			PyList_SET_ITEM(copy, at, own);
		else
			PyTuple_SET_ITEM(copy, at, own);
	}
	return copy;
}

/*
 * A new reference to the object of a cell, made when it is the first of its id, copied when it is not and can be
 * changed. NULL with an exception.
 */
static PyObject *known_cell(cell_maker *m, uint64_t id, size_t row)
{
	size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 55); /* 9 bits */
	if (m->recent[at].id == id)
		return own_copy(m->recent[at].value);
	PyObject *key = PyLong_FromUnsignedLongLong(id);
	PyObject *value = key ? PyDict_GetItemWithError(m->all, key) : NULL;
	PyObject *known = value;
	Py_XINCREF(value);
	if (key && !value && !PyErr_Occurred()) {
		value = new_cell(m, row);
		if (value && PyDict_SetItem(m->all, key, value) < 0)
			Py_CLEAR(value);
	}
	Py_XDECREF(key);
	if (value) {
		m->recent[at].id = id;
		m->recent[at].value = value;
		if (known)
			Py_SETREF(value, own_copy(value));
	}
	return value;
}

static PyObject *make_cell(cell_maker *m, size_t row)
{
	if (m->ids && m->ids[row])
		return known_cell(m, m->ids[row], row);
	if (!m->ids)
		return new_cell(m, row);
	m->empty++;
	return Py_NewRef(Py_None);
}

/* Puts the objects of a column into `out`, in place of what is there. False with an exception. */
static bool put_objects(PyObject **out, const tl_table *table, size_t column, cell_maker *m)
{
	size_t rows = tl_table_rows(table), row = 0;
	if (!begin_cells(m, table, column))
		return false;
	int collects = PyGC_Disable(); /* nothing made here is garbage, and looking for it takes half of the time */
	for (PyObject *value; row < rows && (value = make_cell(m, row)); row++) {
		PyObject *before = out[row];
		out[row] = value;
		Py_XDECREF(before);
	}
	if (collects)
		PyGC_Enable();
	end_cells(m);
	return row == rows;
}

/* Cells as a list of Python objects. */
static PyObject *objects(const tl_table *table, size_t column)
{
	cell_maker m;
	PyObject *list = PyList_New((Py_ssize_t)tl_table_rows(table));
	if (list && !put_objects(((PyListObject *)list)->ob_item, table, column, &m))
		Py_CLEAR(list);
	return list;
}

static bool take_column(core_table *self, PyObject *key, size_t *out)
{
	if (PyUnicode_Check(key)) {
		const char *name = core_utf8(key, "a column");
		ptrdiff_t at = name ? tl_table_find_column(self->table, name) : -1;
		if (at < 0 && !PyErr_Occurred())
			PyErr_SetObject(PyExc_KeyError, key);
		*out = (size_t)at;
		return at >= 0;
	}
	Py_ssize_t at = PyNumber_AsSsize_t(key, PyExc_IndexError);
	if (at == -1 && PyErr_Occurred())
		return false;
	if (at < 0 || (size_t)at >= tl_table_columns(self->table)) {
		PyErr_SetString(PyExc_IndexError, "no such column");
		return false;
	}
	*out = (size_t)at;
	return true;
}

static PyObject *column(core_table *self, PyObject *key)
{
	size_t at;
	if (!take_column(self, key, &at))
		return NULL;
	tl_type type = tl_table_column_type(self->table, at);
	if (type == TL_TYPE_INT64 || type == TL_TYPE_DOUBLE)
		return packed_numbers(self->table, at, type);
	if (type == TL_TYPE_BOOL && !has_null(self->table, at))
		return packed_bools(self->table, at);
	PyObject *list = objects(self->table, at);
	return list ? Py_BuildValue("(sN)", "O", list) : NULL;
}

/* Whether a buffer has one object, and nothing else, for each row. */
static bool takes_objects(const Py_buffer *to, size_t rows)
{
	bool fits = to->ndim == 1 && to->format && !strcmp(to->format, "O") && to->shape &&
		    (size_t)to->shape[0] == rows && to->itemsize == (Py_ssize_t)sizeof(PyObject *);
	if (!fits)
		PyErr_Format(PyExc_ValueError, "an array of %zu objects is needed", rows);
	return fits;
}

static PyObject *fill(core_table *self, PyObject *args)
{
	PyObject *key, *array;
	Py_buffer to;
	cell_maker m;
	size_t at;
	if (!PyArg_ParseTuple(args, "OO:fill", &key, &array) || !take_column(self, key, &at) ||
	    PyObject_GetBuffer(array, &to, PyBUF_ND | PyBUF_FORMAT | PyBUF_WRITABLE) < 0)
		return NULL;
	PyObject *result = NULL;
	if (takes_objects(&to, tl_table_rows(self->table)) && put_objects(to.buf, self->table, at, &m))
		result =
			Py_BuildValue("(On)", m.type && !m.several ? (PyObject *)m.type : Py_None, (Py_ssize_t)m.empty);
	PyBuffer_Release(&to);
	return result;
}

/* The same, but what was an integer stays one: None where it is empty. */
static PyObject *cells(core_table *self, PyObject *key)
{
	size_t at;
	if (!take_column(self, key, &at))
		return NULL;
	return objects(self->table, at);
}

static PyObject *types(core_table *self, void *unused)
{
	static const char *const names[] = {"int64", "double", "bool", "string", "list", "record"};
	PyObject *list = PyList_New(0);
	(void)unused;
	for (size_t i = 0; list && i < tl_table_columns(self->table); i++) {
		PyObject *name = PyUnicode_FromString(names[tl_table_column_type(self->table, i)]);
		if (!name || PyList_Append(list, name) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

static PyObject *texts(core_table *self, const char *(*get)(const tl_table *, size_t))
{
	PyObject *list = PyList_New(0);
	for (size_t i = 0; list && i < tl_table_columns(self->table); i++) {
		const char *text = get(self->table, i);
		PyObject *item = core_text(text, strlen(text));
		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *columns(core_table *self, void *unused)
{
	(void)unused;
	return texts(self, tl_table_column_name);
}

static PyObject *units(core_table *self, void *unused)
{
	(void)unused;
	return texts(self, tl_table_column_unit);
}

static PyObject *name(core_table *self, void *unused)
{
	const char *text = tl_table_name(self->table);
	(void)unused;
	return core_text(text, strlen(text));
}

static Py_ssize_t length(core_table *self)
{
	return (Py_ssize_t)tl_table_rows(self->table);
}

/* ---- ways out ---- */

static PyObject *to_csv(core_table *self, PyObject *path)
{
	PyObject *bytes;
	tl_error err = TL_ERROR_INIT;
	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	int code = tl_table_write_csv(self->table, PyBytes_AS_STRING(bytes), &err);
	PyObject *result = code < 0 ? core_raise_file(code, &err, PyBytes_AS_STRING(bytes)) : Py_NewRef(Py_None);
	Py_DECREF(bytes);
	return result;
}

static PyObject *to_json(core_table *self, PyObject *unused)
{
	char *text;
	size_t n;
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	int code = tl_table_json(self->table, &text, &n, &err);
	if (code < 0)
		return core_raise(code, &err);
	PyObject *result = core_text(text, n);
	free(text);
	return result;
}

static void release_capsule(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
	if (!stream)
		return;
	if (stream->release)
		stream->release(stream);
	PyMem_Free(stream);
}

static PyObject *arrow_stream(core_table *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"requested_schema", NULL};
	PyObject *schema = NULL;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:__arrow_c_stream__", names, &schema))
		return NULL; /* a schema is a wish, which we do not fulfil */
	struct ArrowArrayStream *stream = PyMem_Calloc(1, sizeof *stream);
	if (!stream)
		return PyErr_NoMemory();
	int code = tl_table_export_arrow(stream, self->table, &err);
	PyObject *capsule = code < 0 ? core_raise(code, &err)
				     : PyCapsule_New(stream, "arrow_array_stream", release_capsule);
	if (!capsule) {
		if (stream->release)
			stream->release(stream);
		PyMem_Free(stream);
	}
	return capsule;
}

static PyObject *table_of(tl_table *table, PyObject *owner)
{
	core_table *self = PyObject_New(core_table, &core_table_type);
	if (!self)
		return NULL;
	self->table = table;
	self->owner = Py_XNewRef(owner);
	return (PyObject *)self;
}

PyObject *core_table_new(tl_table *table)
{
	PyObject *self = table_of(table, NULL);
	if (!self)
		tl_table_free(table);
	return self;
}

PyObject *core_table_view(const tl_table *table, PyObject *owner)
{
	return table_of((tl_table *)(uintptr_t)table, owner);
}

static void dealloc(core_table *self)
{
	if (!self->owner)
		tl_table_free(self->table);
	Py_XDECREF(self->owner);
	PyObject_Free(self);
}

static PyObject *repr(core_table *self)
{
	return PyUnicode_FromFormat("<Table '%s': %zd rows, %zu columns>", tl_table_name(self->table), length(self),
				    tl_table_columns(self->table));
}

static PyMethodDef methods[] = {
	{"column", (PyCFunction)column, METH_O,
	 "column(key)\n--\n\nA column by name or index: ('f8' | 'i8' | 'b1', cells as bytearray) or ('O', list). "
	 "Empty\n"
	 "cells are NaN in numbers, which makes integers double, and None in lists."},
	{"fill", (PyCFunction)fill, METH_VARARGS,
	 "fill(key, array)\n--\n\nPuts the cells of a column, empty ones as None, into an array of that many objects. "
	 "The type that\nall cells but empty ones have (None: there are several, or no such cells), and how many are "
	 "empty."},
	{"cells", (PyCFunction)cells, METH_O,
	 "cells(key)\n--\n\nThe cells of a column as a list; empty ones are None."},
	{"to_csv", (PyCFunction)to_csv, METH_O, "to_csv(path)\n--\n\nWrites the table as CSV."},
	{"to_json", (PyCFunction)to_json, METH_NOARGS, "to_json()\n--\n\nThe table as JSON text."},
	{"__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_stream, METH_VARARGS | METH_KEYWORDS,
	 "__arrow_c_stream__(requested_schema=None)\n--\n\nThe table as an Arrow stream of one batch; lists and "
	 "records are\n"
	 "JSON texts."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"name", (getter)name, NULL, "Name of the table.", NULL},
	{"columns", (getter)columns, NULL, "Names of the columns.", NULL},
	{"units", (getter)units, NULL, "Units of the columns, '' where there is none.", NULL},
	{"types", (getter)types, NULL, "int64, double, bool, string, list or record of each column.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PySequenceMethods sequence = {.sq_length = (lenfunc)length};

PyTypeObject core_table_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Table",
	.tp_basicsize = sizeof(core_table),
	.tp_dealloc = (destructor)dealloc,
	.tp_repr = (reprfunc)repr,
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_doc = "A table: typed columns of equal length. len() is the number of rows. polars, DuckDB and pyarrow "
		  "read it\n"
		  "through __arrow_c_stream__.",
	.tp_methods = methods,
	.tp_getset = members,
	.tp_as_sequence = &sequence,
};
