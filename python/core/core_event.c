/* SPDX-License-Identifier: MIT */
/*
 * TraceLens._core.Event: one event as a mapping. A value comes from what was assigned to the event, else from the
 * tree, else from the event's text in the file, which is parsed when a key needs it.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys that the library knows ---- */

enum {
	KEY_NAME = 1,
	KEY_CAT,
	KEY_TS,
	KEY_DUR,
	KEY_UID,
	FIRST_DERIVED, /* those of the tree, in the order in which they follow those of the file */
	KEY_END = FIRST_DERIVED,
	KEY_TREE,
	KEY_MODULE_STACK,
	KEY_PARENT,
	KEY_CHILDREN,
	KEY_OPERATION_ROOT,
	KEY_GPU_EVENTS,
	KEY_NO_GPU,
	KEY_FORWARD,
	KEY_BACKWARD,
	KEY_RECOMPUTE,
	KEYS
};

static const char *const key_names[KEYS] = {
	[KEY_NAME] = "name",
	[KEY_CAT] = "cat",
	[KEY_TS] = "ts",
	[KEY_DUR] = "dur",
	[KEY_UID] = "UID",
	[KEY_END] = "t_end",
	[KEY_TREE] = "tree",
	[KEY_MODULE_STACK] = "nn_module_stack",
	[KEY_PARENT] = "parent",
	[KEY_CHILDREN] = "children",
	[KEY_OPERATION_ROOT] = "cpu_op_root",
	[KEY_GPU_EVENTS] = "gpu_events",
	[KEY_NO_GPU] = "non_gpu_path",
	[KEY_FORWARD] = "fwd_event",
	[KEY_BACKWARD] = "bwd_events",
	[KEY_RECOMPUTE] = "is_recompute",
};

/* Made once when the module is loaded and never freed. */
static PyObject *keys[KEYS], *key_numbers, *args_key, *args_type, *missing;

static PyObject *set_helpers(PyObject *module, PyObject *arguments)
{
	PyObject *type, *mark;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "OO:set_helpers", &type, &mark))
		return NULL;
	Py_XSETREF(args_type, Py_NewRef(type));
	Py_XSETREF(missing, Py_NewRef(mark));
	Py_RETURN_NONE;
}

PyMethodDef core_event_functions[] = {
	{"set_helpers", set_helpers, METH_VARARGS,
	 "set_helpers(args_type, missing)\n--\n\nThe class of args mappings, and what marks a deleted key."},
	{NULL, NULL, 0, NULL},
};

bool core_event_setup(void)
{
	key_numbers = PyDict_New();
	args_key = PyUnicode_InternFromString("args");
	if (!key_numbers || !args_key)
		return false;
	for (int i = 1; i < KEYS; i++) {
		PyObject *number = PyLong_FromLong(i);
		keys[i] = PyUnicode_InternFromString(key_names[i]);
		if (!keys[i] || !number || PyDict_SetItem(key_numbers, keys[i], number) < 0)
			return false;
		Py_DECREF(number);
	}
	return true;
}

/* Number of a key, 0 for others, -1 with an exception. */
static int number_of(PyObject *key)
{
	PyObject *number = PyDict_GetItemWithError(key_numbers, key);
	if (number)
		return (int)PyLong_AsLong(number);
	return PyErr_Occurred() ? -1 : 0;
}

/* ---- life ---- */

PyObject *core_event_get(core_tree *tree, tl_row row)
{
	if (row >= tree->n_live) {
		size_t n = core_tree_count(tree);
		n = n > row ? n : (size_t)row + 1;
		PyObject **live = PyMem_Realloc(tree->live, n * sizeof(*live));
		if (!live)
			return PyErr_NoMemory();
		memset(live + tree->n_live, 0, (n - tree->n_live) * sizeof(*live));
		tree->live = live;
		tree->n_live = n;
	}
	if (tree->live[row])
		return Py_NewRef(tree->live[row]);
	core_event *self = PyObject_GC_New(core_event, &core_event_type);
	if (!self)
		return NULL;
	self->tree = (core_tree *)Py_NewRef((PyObject *)tree);
	self->weak = NULL;
	self->row = row;
	tree->live[row] = (PyObject *)self;
	PyObject_GC_Track(self);
	return (PyObject *)self;
}

static int traverse(core_event *self, visitproc visit, void *arg)
{
	Py_VISIT(self->tree);
	return 0;
}

static void dealloc(core_event *self)
{
	PyObject_GC_UnTrack(self);
	if (self->weak)
		PyObject_ClearWeakRefs((PyObject *)self);
	if (self->row < self->tree->n_live)
		self->tree->live[self->row] = NULL;
	Py_DECREF(self->tree);
	PyObject_GC_Del(self);
}

PyObject *core_event_overlay(core_tree *tree, tl_row row)
{
	if (!PyDict_GET_SIZE(tree->overlay))
		return NULL;
	PyObject *uid = PyLong_FromUnsignedLong(row);
	PyObject *values = uid ? PyDict_GetItemWithError(tree->overlay, uid) : NULL;
	Py_XDECREF(uid);
	return values;
}

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

static PyObject *start_of(const core_event *self)
{
	char text[TL_EVENT_TEXT];
	tl_event_start_text(core_tree_events(self->tree), self->row, text);
	return microseconds(text);
}

static PyObject *duration_of(const core_event *self)
{
	char text[TL_EVENT_TEXT];
	tl_event_duration_text(core_tree_events(self->tree), self->row, text);
	return microseconds(text);
}

static bool is_stored(const core_event *self)
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
		PyObject *time = i ? duration_of(self) : start_of(self);
		good = time ? put(whole, i ? "dur" : "ts", time) : !PyErr_Occurred();
	}
	for (size_t i = 0; good && i < sizeof stored_ids / sizeof *stored_ids; i++)
		good = put_identifier(args, stored_ids[i].key, self, stored_ids[i].field);
	for (size_t i = 5; good && i < sizeof stored_args / sizeof *stored_args; i++) {
		const char *json = tl_event_arg_json(events, self->row, stored_args[i].arg, &n);
		good = put_json(args, stored_args[i].key, json, n);
	}
	good = good && put_edited_args(args, self) &&
	       (!PyDict_GET_SIZE(args) || PyDict_SetItem(whole, args_key, args) == 0);
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
	PyObject *args = PyDict_GetItemWithError(whole, args_key);
	PyObject *merged = args && PyDict_Check(args) ? Py_NewRef(args) : PyDict_New();
	bool good = merged && put_edited_args(merged, self) &&
		    (args || !PyDict_GET_SIZE(merged) || PyDict_SetItem(whole, args_key, merged) == 0);
	Py_XDECREF(merged);
	if (!good)
		Py_CLEAR(whole);
	return whole;
}

/* args that tell the tree when they are changed. */
static bool watch_args(const core_event *self, PyObject *whole)
{
	PyObject *args = PyDict_GetItemWithError(whole, args_key);
	if (!args || !PyDict_Check(args) || !args_type)
		return !PyErr_Occurred();
	PyObject *watched = PyObject_CallFunction(args_type, "OOk", args, self->tree, (unsigned long)self->row);
	bool good = watched && PyDict_SetItem(whole, args_key, watched) == 0;
	Py_XDECREF(watched);
	return good;
}

/* Keys and values of the file; borrowed, valid until the next call. */
static PyObject *whole_of(const core_event *self)
{
	core_tree *tree = self->tree;
	unsigned slot = self->row % CORE_RECENT;
	if (tree->recent[slot].whole && tree->recent[slot].row == self->row)
		return tree->recent[slot].whole;
	PyObject *whole = is_stored(self) ? whole_of_text(self) : PyDict_New();
	if (!whole || !watch_args(self, whole)) {
		Py_XDECREF(whole);
		return NULL;
	}
	tree->recent[slot].row = self->row;
	Py_XSETREF(tree->recent[slot].whole, whole);
	return whole;
}

/* ---- values ---- */

static PyObject *value_of(const core_event *self, PyObject *key);

static PyObject *end_of(const core_event *self)
{
	PyObject *start = value_of(self, keys[KEY_TS]), *sum = NULL;
	if (!start)
		return NULL;
	PyObject *duration = value_of(self, keys[KEY_DUR]);
	if (duration && PyNumber_Check(start) && PyNumber_Check(duration))
		sum = PyNumber_Add(start, duration);
	Py_DECREF(start);
	Py_XDECREF(duration);
	return sum;
}

static bool is_operation_root(const core_event *self)
{
	const tl_tree *tree = self->tree->tree;
	const tl_events *events = tl_tree_events(tree);
	if (tl_event_kind_of(events, self->row) != TL_EVENT_OPERATION || !tl_tree_is_linked(tree, self->row))
		return false;
	for (tl_row at = tl_tree_parent(tree, self->row); at != TL_ROW_NONE; at = tl_tree_parent(tree, at))
		if (tl_event_kind_of(events, at) == TL_EVENT_OPERATION)
			return false;
	return true;
}

/* The class of an nn.Module as stacks show it: the name without _<number>. */
static PyObject *module_label(const tl_events *events, tl_row module)
{
	size_t n, end;
	const char *name = tl_event_name(events, module, &n);
	for (end = n; end && name[end - 1] >= '0' && name[end - 1] <= '9';)
		end--;
	bool numbered = end && end < n && name[end - 1] == '_';
	return core_text(name, numbered ? end - 1 : n);
}

static PyObject *module_stack(const core_event *self)
{
	const tl_tree *tree = self->tree->tree;
	const tl_events *events = tl_tree_events(tree);
	if (!tl_tree_is_linked(tree, self->row) || tl_event_is_gpu(events, self->row))
		return NULL;
	PyObject *list = PyList_New(0);
	tl_row at = tl_tree_has_python(tree) ? tl_tree_module_parent(tree, self->row) : TL_ROW_NONE;
	for (; list && at != TL_ROW_NONE; at = tl_tree_module_parent(tree, at)) {
		PyObject *label = module_label(events, at);
		if (!label || PyList_Append(list, label) < 0)
			Py_CLEAR(list);
		Py_XDECREF(label);
	}
	if (list && PyList_GET_SIZE(list) == 0) {
		Py_DECREF(list);
		return Py_BuildValue("[s]", "root");
	}
	if (list && PyList_Reverse(list) < 0)
		Py_CLEAR(list);
	return list;
}

static PyObject *row_list(const core_event *self, size_t (*get)(const tl_tree *, tl_row, tl_row *, size_t))
{
	const tl_tree *tree = self->tree->tree;
	size_t n = get(tree, self->row, NULL, 0);
	if (!n)
		return NULL;
	tl_row few[32], *rows = n <= 32 ? few : PyMem_Malloc(n * sizeof *rows);
	if (!rows)
		return PyErr_NoMemory();
	get(tree, self->row, rows, n);
	PyObject *list = core_rows(rows, n);
	if (rows != few)
		PyMem_Free(rows);
	return list;
}

static PyObject *row_value(tl_row row)
{
	return row == TL_ROW_NONE ? NULL : PyLong_FromUnsignedLong(row);
}

static PyObject *true_value(bool yes)
{
	return yes ? Py_NewRef(Py_True) : NULL;
}

/* What the tree says; NULL without an exception: the event has no such key. */
static PyObject *derived_value(const core_event *self, int key)
{
	const tl_tree *tree = self->tree->tree;
	const tl_row *rows;
	size_t n;
	if (key == KEY_END)
		return end_of(self);
	if (!tree || !is_stored(self))
		return NULL;
	switch (key) {
	case KEY_TREE:
		return true_value(tl_tree_is_linked(tree, self->row));
	case KEY_MODULE_STACK:
		return module_stack(self);
	case KEY_PARENT:
		return row_value(tl_tree_parent(tree, self->row));
	case KEY_CHILDREN:
		return row_list(self, tl_tree_children);
	case KEY_OPERATION_ROOT:
		return true_value(is_operation_root(self));
	case KEY_GPU_EVENTS:
		rows = tl_tree_gpu_events(tree, self->row, &n);
		return n ? core_rows(rows, n) : NULL;
	case KEY_NO_GPU:
		if (!self->tree->prune || tl_event_is_gpu(tl_tree_events(tree), self->row))
			return NULL;
		tl_tree_gpu_events(tree, self->row, &n);
		return true_value(n == 0);
	case KEY_FORWARD:
		return row_value(tl_tree_forward(tree, self->row));
	case KEY_BACKWARD:
		return row_list(self, tl_tree_backward);
	case KEY_RECOMPUTE:
		return true_value(tl_tree_is_recompute(tree, self->row));
	default:
		return NULL;
	}
}

/* What the store knows without the event's text; NULL without an exception: look there. */
static PyObject *stored_value(const core_event *self, int key)
{
	const tl_events *events = core_tree_events(self->tree);
	const char *text;
	size_t n;
	if (key == KEY_UID)
		return PyLong_FromUnsignedLong(self->row);
	if (!is_stored(self))
		return NULL;
	switch (key) {
	case KEY_NAME:
		text = tl_event_name(events, self->row, &n);
		return n ? core_texts_get(&self->tree->texts, text, n) : NULL;
	case KEY_CAT:
		if (!tl_event_has_category(events, self->row))
			return Py_NewRef(Py_None); /* so that every event can be asked */
		text = tl_event_category(events, self->row, &n);
		return core_texts_get(&self->tree->texts, text, n);
	case KEY_TS:
		return start_of(self);
	case KEY_DUR:
		return duration_of(self);
	default:
		return NULL;
	}
}

/* New reference; NULL without an exception: no such key. */
static PyObject *value_of(const core_event *self, PyObject *key)
{
	PyObject *overlay = core_event_overlay(self->tree, self->row), *value;
	if (overlay && (value = PyDict_GetItemWithError(overlay, key)))
		return value == missing ? NULL : Py_NewRef(value);
	if (PyErr_Occurred())
		return NULL;
	int number = number_of(key);
	if (number < 0)
		return NULL;
	if (number >= FIRST_DERIVED) {
		value = derived_value(self, number);
		if (value || PyErr_Occurred() || number != KEY_END)
			return value;
	} else if (number) {
		value = stored_value(self, number);
		if (value || PyErr_Occurred())
			return value;
	}
	PyObject *whole = whole_of(self);
	value = whole ? PyDict_GetItemWithError(whole, key) : NULL;
	return Py_XNewRef(value);
}

static PyObject *subscript(core_event *self, PyObject *key)
{
	PyObject *value = value_of(self, key);
	if (!value && !PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, key);
	return value;
}

static int contains(core_event *self, PyObject *key)
{
	PyObject *value = value_of(self, key);
	if (!value)
		return PyErr_Occurred() ? -1 : 0;
	Py_DECREF(value);
	return 1;
}

/* Everything as a dict: keys of the file in their order, then those of the tree, then those that were assigned. */
static PyObject *to_dict(core_event *self, PyObject *unused)
{
	(void)unused;
	PyObject *whole = whole_of(self), *dict = whole ? PyDict_Copy(whole) : NULL, *key, *value;
	Py_ssize_t at = 0;
	for (int i = 1; dict && i < KEYS; i++) {
		value = i >= FIRST_DERIVED ? derived_value(self, i) : stored_value(self, i);
		if (PyErr_Occurred() || (value && PyDict_SetItem(dict, keys[i], value) < 0))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	PyObject *overlay = dict ? core_event_overlay(self->tree, self->row) : NULL;
	while (overlay && dict && PyDict_Next(overlay, &at, &key, &value)) {
		int code = value != missing             ? PyDict_SetItem(dict, key, value)
			   : PyDict_Contains(dict, key) ? PyDict_DelItem(dict, key)
							: 0;
		if (code < 0)
			Py_CLEAR(dict);
	}
	return dict;
}

/* ---- changing ---- */

static PyObject *make_overlay(core_event *self)
{
	PyObject *overlay = core_event_overlay(self->tree, self->row);
	if (overlay || PyErr_Occurred())
		return overlay;
	PyObject *uid = PyLong_FromUnsignedLong(self->row);
	overlay = PyDict_New();
	if (!uid || !overlay || PyDict_SetItem(self->tree->overlay, uid, overlay) < 0)
		Py_CLEAR(overlay);
	else
		Py_DECREF(overlay); /* the tree's overlay holds it */
	Py_XDECREF(uid);
	return overlay;
}

static bool is_rows(core_event *self, PyObject *list)
{
	tl_row *rows;
	size_t n;
	if (PyUnicode_Check(list) || PyBytes_Check(list)) {
		PyErr_SetString(PyExc_TypeError, "a list of UIDs is needed");
		return false;
	}
	bool good = core_take_rows(&rows, &n, list, self->tree);
	PyMem_Free(rows);
	return good;
}

/* Whether a value can be one of `key`; what needs the whole tree is checked when the tree takes it over. */
static bool check_value(core_event *self, PyObject *key, int number, PyObject *value)
{
	tl_row row;
	if (number == KEY_UID)
		PyErr_SetString(PyExc_ValueError, "the UID of an event cannot be changed");
	else if ((number == KEY_NAME || number == KEY_CAT) && !(number == KEY_CAT && value == Py_None))
		core_utf8(value, key_names[number]);
	else if ((number == KEY_TS || number == KEY_DUR) && (!PyNumber_Check(value) || PyBool_Check(value)))
		PyErr_Format(PyExc_TypeError, "%s must be a number of microseconds", key_names[number]);
	else if (number == KEY_PARENT && value != Py_None)
		return core_tree_row(self->tree, value, &row);
	else if (number == KEY_CHILDREN || number == KEY_GPU_EVENTS)
		return is_rows(self, value);
	else if (!number && PyUnicode_Compare(key, args_key) == 0 && !PyMapping_Check(value))
		PyErr_SetString(PyExc_TypeError, "args must be a mapping");
	return !PyErr_Occurred();
}

static bool is_known_to_the_tree(PyObject *key, int number)
{
	bool structure = number == KEY_PARENT || number == KEY_CHILDREN || number == KEY_GPU_EVENTS;
	return (number && number < KEY_UID) || structure || (!number && PyUnicode_Compare(key, args_key) == 0);
}

static int assign(core_event *self, PyObject *key, PyObject *value)
{
	if (!PyUnicode_Check(key)) {
		PyErr_Format(PyExc_TypeError, "keys of events are str, not %.100s", Py_TYPE(key)->tp_name);
		return -1;
	}
	int number = number_of(key);
	if (number < 0 || (value && !check_value(self, key, number, value)))
		return -1;
	if (!value) {
		int there = contains(self, key);
		if (there < 1) {
			if (!there)
				PyErr_SetObject(PyExc_KeyError, key);
			return -1;
		}
		if (number == KEY_UID) {
			PyErr_SetString(PyExc_ValueError, "the UID of an event cannot be deleted");
			return -1;
		}
	}
	PyObject *overlay = make_overlay(self);
	if (!overlay || PyDict_SetItem(overlay, key, value ? value : missing) < 0)
		return -1;
	if (!is_known_to_the_tree(key, number))
		return 0;
	PyObject *uid = PyLong_FromUnsignedLong(self->row);
	int code = uid ? PyDict_SetItem(self->tree->dirty, uid, Py_None) : -1;
	Py_XDECREF(uid);
	return code;
}

/* ---- methods of mappings ---- */

static Py_ssize_t length(core_event *self)
{
	PyObject *dict = to_dict(self, NULL);
	Py_ssize_t n = dict ? PyDict_GET_SIZE(dict) : -1;
	Py_XDECREF(dict);
	return n;
}

static PyObject *iterate(core_event *self)
{
	PyObject *dict = to_dict(self, NULL), *list = dict ? PyDict_Keys(dict) : NULL;
	PyObject *iterator = list ? PyObject_GetIter(list) : NULL;
	Py_XDECREF(dict);
	Py_XDECREF(list);
	return iterator;
}

static PyObject *view(core_event *self, const char *method)
{
	PyObject *dict = to_dict(self, NULL), *result = dict ? PyObject_CallMethod(dict, method, NULL) : NULL;
	Py_XDECREF(dict);
	return result;
}

static PyObject *get_keys(core_event *self, PyObject *unused)
{
	(void)unused;
	return view(self, "keys");
}

static PyObject *get_values(core_event *self, PyObject *unused)
{
	(void)unused;
	return view(self, "values");
}

static PyObject *get_items(core_event *self, PyObject *unused)
{
	(void)unused;
	return view(self, "items");
}

static PyObject *get(core_event *self, PyObject *const *args, Py_ssize_t n)
{
	if (n < 1 || n > 2) {
		PyErr_SetString(PyExc_TypeError, "get(key, default=None)");
		return NULL;
	}
	PyObject *value = value_of(self, args[0]);
	if (value || PyErr_Occurred())
		return value;
	return Py_NewRef(n == 2 ? args[1] : Py_None);
}

static PyObject *set_default(core_event *self, PyObject *args)
{
	PyObject *key, *fallback = Py_None;
	if (!PyArg_ParseTuple(args, "O|O:setdefault", &key, &fallback))
		return NULL;
	PyObject *value = value_of(self, key);
	if (value || PyErr_Occurred())
		return value;
	return assign(self, key, fallback) < 0 ? NULL : Py_NewRef(fallback);
}

static PyObject *pop(core_event *self, PyObject *args)
{
	PyObject *key, *fallback = NULL;
	if (!PyArg_ParseTuple(args, "O|O:pop", &key, &fallback))
		return NULL;
	PyObject *value = value_of(self, key);
	if (value && assign(self, key, NULL) < 0)
		Py_CLEAR(value);
	if (value || PyErr_Occurred())
		return value;
	if (fallback)
		return Py_NewRef(fallback);
	PyErr_SetObject(PyExc_KeyError, key);
	return NULL;
}

static PyObject *update(core_event *self, PyObject *args, PyObject *keywords)
{
	PyObject *other = NULL, *merged = PyDict_New(), *key, *value;
	Py_ssize_t at = 0;
	bool good = merged && PyArg_ParseTuple(args, "|O:update", &other);
	if (good && other)
		good = PyObject_HasAttrString(other, "keys") ? PyDict_Update(merged, other) == 0
							     : PyDict_MergeFromSeq2(merged, other, 1) == 0;
	good = good && (!keywords || PyDict_Update(merged, keywords) == 0);
	while (good && PyDict_Next(merged, &at, &key, &value))
		good = assign(self, key, value) == 0;
	Py_XDECREF(merged);
	if (!good)
		return NULL;
	Py_RETURN_NONE;
}

/* Copies and pickles are dicts: they need no trace. */
static PyObject *reduce(core_event *self, PyObject *unused)
{
	(void)unused;
	PyObject *dict = to_dict(self, NULL);
	return dict ? Py_BuildValue("(O(N))", (PyObject *)&PyDict_Type, dict) : NULL;
}

static PyObject *repr(core_event *self)
{
	PyObject *dict = to_dict(self, NULL), *text = dict ? PyObject_Repr(dict) : NULL;
	Py_XDECREF(dict);
	return text;
}

static PyObject *compare(PyObject *a, PyObject *b, int how)
{
	if (how != Py_EQ && how != Py_NE)
		Py_RETURN_NOTIMPLEMENTED;
	if (a == b)
		return PyBool_FromLong(how == Py_EQ);
	if (!Py_IS_TYPE(b, &core_event_type) && !PyDict_Check(b))
		Py_RETURN_NOTIMPLEMENTED;
	PyObject *x = to_dict((core_event *)a, NULL);
	PyObject *y = Py_IS_TYPE(b, &core_event_type) ? to_dict((core_event *)b, NULL) : Py_NewRef(b);
	PyObject *result = x && y ? PyObject_RichCompare(x, y, how) : NULL;
	Py_XDECREF(x);
	Py_XDECREF(y);
	return result;
}

static PyObject *get_tree(core_event *self, void *unused)
{
	(void)unused;
	return Py_NewRef((PyObject *)self->tree);
}

static PyMethodDef methods[] = {
	{"get", (PyCFunction)(void (*)(void))get, METH_FASTCALL, "get(key, default=None)\n--\n\nValue of a key."},
	{"keys", (PyCFunction)get_keys, METH_NOARGS, "keys()\n--\n\nKeys: those of the file, the tree's, added ones."},
	{"values", (PyCFunction)get_values, METH_NOARGS, "values()\n--\n\nValues in the order of keys()."},
	{"items", (PyCFunction)get_items, METH_NOARGS, "items()\n--\n\nPairs of key and value."},
	{"setdefault", (PyCFunction)set_default, METH_VARARGS, "setdefault(key, default=None)\n--\n\nAs dict's."},
	{"pop", (PyCFunction)pop, METH_VARARGS, "pop(key[, default])\n--\n\nAs dict's."},
	{"update", (PyCFunction)(void (*)(void))update, METH_VARARGS | METH_KEYWORDS, "As dict's."},
	{"copy", (PyCFunction)to_dict, METH_NOARGS, "copy()\n--\n\nThe event as a dict of its own."},
	{"__copy__", (PyCFunction)to_dict, METH_NOARGS, NULL},
	{"__reduce__", (PyCFunction)reduce, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"_tree", (getter)get_tree, NULL, "The core tree that the event belongs to.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMappingMethods mapping = {
	.mp_length = (lenfunc)length,
	.mp_subscript = (binaryfunc)subscript,
	.mp_ass_subscript = (objobjargproc)assign,
};
static PySequenceMethods sequence = {.sq_contains = (objobjproc)contains};

static int truth(core_event *self)
{
	(void)self;
	return 1;
}
static PyNumberMethods number = {.nb_bool = (inquiry)truth};

PyTypeObject core_event_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Event",
	.tp_basicsize = sizeof(core_event),
	.tp_dealloc = (destructor)dealloc,
	.tp_repr = (reprfunc)repr,
	.tp_as_number = &number,
	.tp_as_sequence = &sequence,
	.tp_as_mapping = &mapping,
	.tp_hash = PyObject_HashNotImplemented,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC
#ifdef Py_TPFLAGS_MAPPING
		    | Py_TPFLAGS_MAPPING
#endif
	,
	.tp_doc = "An event as a mapping: keys of the file, those of the tree (UID, parent, children, gpu_events ...), "
		  "and\n"
		  "whatever is assigned. Times are in microseconds. copy() gives a dict.",
	.tp_traverse = (traverseproc)traverse,
	.tp_richcompare = compare,
	.tp_weaklistoffset = offsetof(core_event, weak),
	.tp_iter = (getiterfunc)iterate,
	.tp_methods = methods,
	.tp_getset = members,
};
