/* SPDX-License-Identifier: MIT */
/* Whole events: what the file says of one, or the store where there is no text. */
#include "core_event.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers and texts ---- */

/* Microseconds as the file states them: an integer stays one. NULL without an exception: none. */
static PyObject *microseconds(const char *text)
{
	if (!*text)
		return NULL;
	if (!strpbrk(text, ".eE"))
		return PyLong_FromString(text, NULL, 10);
	double value = PyOS_string_to_double(text, NULL, NULL);
	return value == -1.0 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(value);
}

PyObject *core_event_start(const core_event *self)
{
	char text[TL_EVENT_TEXT];
	tl_event_start_text(core_tree_events(self->tree), self->row, text);
	return microseconds(text);
}

PyObject *core_event_duration(const core_event *self)
{
	char text[TL_EVENT_TEXT];
	tl_event_duration_text(core_tree_events(self->tree), self->row, text);
	return microseconds(text);
}

bool core_event_is_stored(const core_event *self)
{
	return self->row < tl_events_count(core_tree_events(self->tree));
}

/* ---- whole events ---- */

static bool put(PyObject *dict, const char *key, PyObject *value) /* takes over value */
{
	bool good = value && PyDict_SetItemString(dict, key, value) == 0;
	Py_XDECREF(value);
	return good;
}

static bool put_json(PyObject *dict, const char *key, const char *json, size_t n)
{
	return !json || put(dict, key, core_parse_json(json, n));
}

static bool put_identifier(PyObject *dict, const char *key, const core_event *self, tl_identifier field)
{
	char text[TL_EVENT_TEXT];
	bool number;
	size_t n = tl_event_identifier_text(core_tree_events(self->tree), self->row, field, text, &number);
	if (!n)
		return true;
	return put(dict, key, number ? PyLong_FromString(text, NULL, 10) : core_text(text, n));
}

static const struct {
	const char *key;
	tl_event_arg arg;
} stored_args[] = {
	{"Input Dims", TL_ARG_INPUT_DIMS},
	{"Input type", TL_ARG_INPUT_TYPE},
	{"Input Strides", TL_ARG_INPUT_STRIDES},
	{"Concrete Inputs", TL_ARG_CONCRETE_INPUTS},
	{"kernel_file", TL_ARG_KERNEL_FILE},
	{"grid", TL_ARG_GRID},
	{"block", TL_ARG_BLOCK},
};

static const struct {
	const char *key;
	tl_identifier field;
} stored_ids[] = {
	{"External id", TL_IDENT_EXTERNAL},
	{"Sequence number", TL_IDENT_SEQUENCE},
	{"Fwd thread id", TL_IDENT_FORWARD_THREAD},
	{"correlation", TL_IDENT_CORRELATION},
	{"stream", TL_IDENT_STREAM},
	{"device", TL_IDENT_DEVICE},
	{"Python id", TL_IDENT_PYTHON},
	{"Python parent id", TL_IDENT_PYTHON_PARENT},
	{"Python module id", TL_IDENT_PYTHON_MODULE},
};

/* Arguments that edits attached or changed, over those of the file. */
static bool put_edited_args(PyObject *args, const core_event *self)
{
	const tl_events *events = core_tree_events(self->tree);
	const char *key, *json;
	size_t n;
	for (size_t i = 0; i < 5; i++) {
		const char *value = tl_event_arg_json(events, self->row, stored_args[i].arg, &n);
		if (!put_json(args, stored_args[i].key, value, n))
			return false;
	}
	for (size_t i = 0; (key = tl_event_extra(events, self->row, i, &json)); i++)
		if (!put_json(args, key, json, strlen(json)))
			return false;
	return true;
}

/* An event as far as the store knows it: without its text, or one that was added to the tree. */
static PyObject *whole_of_store(const core_event *self)
{
	const tl_events *events = core_tree_events(self->tree);
	PyObject *whole = PyDict_New(), *args = PyDict_New();
	size_t n, n_cat;
	const char *name = tl_event_name(events, self->row, &n), *cat = tl_event_category(events, self->row, &n_cat);
	bool good = whole && args && put(whole, "ph", PyUnicode_FromString("X"));
	if (good && tl_event_has_category(events, self->row))
		good = put(whole, "cat", core_text(cat, n_cat));
	good = good && put(whole, "name", core_text(name, n)) && put_identifier(whole, "pid", self, TL_IDENT_PID) &&
	       put_identifier(whole, "tid", self, TL_IDENT_TID);
	for (int i = 0; good && i < 2; i++) {
		PyObject *time = i ? core_event_duration(self) : core_event_start(self);
		good = time ? put(whole, i ? "dur" : "ts", time) : !PyErr_Occurred();
	}
	for (size_t i = 0; good && i < sizeof stored_ids / sizeof *stored_ids; i++)
		good = put_identifier(args, stored_ids[i].key, self, stored_ids[i].field);
	for (size_t i = 5; good && i < sizeof stored_args / sizeof *stored_args; i++) {
		const char *json = tl_event_arg_json(events, self->row, stored_args[i].arg, &n);
		good = put_json(args, stored_args[i].key, json, n);
	}
	good = good && put_edited_args(args, self) &&
	       (!PyDict_GET_SIZE(args) || PyDict_SetItem(whole, core_keys.args, args) == 0);
	Py_XDECREF(args);
	if (!good)
		Py_CLEAR(whole);
	return whole;
}

static PyObject *whole_of_text(const core_event *self)
{
	tl_error err = TL_ERROR_INIT;
	char *json;
	size_t n;
	if (!core_trace_whole(self->tree->trace))
		return NULL;
	int code = tl_event_raw(&json, &n, tl_trace_events(self->tree->trace->trace), self->row, &err);
	if (code == TL_ENOTFOUND)
		return whole_of_store(self);
	if (code < 0)
		return core_raise(code, &err);
	PyObject *whole = core_parse_json(json, n);
	free(json);
	if (whole && !PyDict_Check(whole)) /* an array element that is no object */
		Py_SETREF(whole, PyDict_New());
	if (!whole || !self->tree->edited)
		return whole;
	PyObject *args = PyDict_GetItemWithError(whole, core_keys.args);
	PyObject *merged = args && PyDict_Check(args) ? Py_NewRef(args) : PyDict_New();
	bool good = merged && put_edited_args(merged, self) &&
		    (args || !PyDict_GET_SIZE(merged) || PyDict_SetItem(whole, core_keys.args, merged) == 0);
	Py_XDECREF(merged);
	if (!good)
		Py_CLEAR(whole);
	return whole;
}

/* Where the event is on its stream, as one more argument. */
static bool put_stream_index(const core_event *self, PyObject *whole)
{
	PyObject *args = PyDict_GetItemWithError(whole, core_keys.args);
	long index;
	if (!args || !PyDict_Check(args))
		return !PyErr_Occurred();
	if (!core_stream_index(self->tree->trace, self->row, &index))
		return false;
	return index < 0 || put(args, "stream_index", PyLong_FromLong(index));
}

/* args that tell the tree when they are changed. */
static bool watch_args(const core_event *self, PyObject *whole)
{
	PyObject *args = PyDict_GetItemWithError(whole, core_keys.args);
	if (!args || !PyDict_Check(args) || !core_keys.args_type)
		return !PyErr_Occurred();
	PyObject *watched =
		PyObject_CallFunction(core_keys.args_type, "OOk", args, self->tree, (unsigned long)self->row);
	bool good = watched && PyDict_SetItem(whole, core_keys.args, watched) == 0;
	Py_XDECREF(watched);
	return good;
}

PyObject *core_event_whole(const core_event *self)
{
	core_tree *tree = self->tree;
	unsigned slot = self->row % CORE_RECENT;
	if (tree->recent[slot].whole && tree->recent[slot].row == self->row)
		return Py_NewRef(tree->recent[slot].whole);
	PyObject *whole = core_event_is_stored(self) ? whole_of_text(self) : PyDict_New();
	if (!whole || !put_stream_index(self, whole) || !watch_args(self, whole)) {
		Py_XDECREF(whole);
		return NULL;
	}
	tree->recent[slot].row = self->row;
	Py_XSETREF(tree->recent[slot].whole, Py_NewRef(whole));
	return whole;
}
