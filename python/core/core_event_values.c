/* SPDX-License-Identifier: MIT */
/*
 * Values of events: what was assigned to the event, else what the tree says, else what is in the event's text in the
 * file, which is parsed when a key needs it.
 */
#include "core_event.h"

/* ---- keys that the library knows ---- */

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
	[KEY_OVERLAPPING] = "overlapping_uids",
};

struct core_keys core_keys;

static PyObject *set_helpers(PyObject *module, PyObject *arguments)
{
	PyObject *args_type, *list_type, *mark;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "OOO:set_helpers", &args_type, &list_type, &mark))
		return NULL;
	Py_XSETREF(core_keys.args_type, Py_NewRef(args_type));
	Py_XSETREF(core_keys.list_type, Py_NewRef(list_type));
	Py_XSETREF(core_keys.missing, Py_NewRef(mark));
	Py_RETURN_NONE;
}

PyMethodDef core_event_functions[] = {
	{"set_helpers", set_helpers, METH_VARARGS,
	 "set_helpers(args_type, list_type, missing)\n--\n\n"
	 "The classes of args mappings and of lists of UIDs, and what marks a deleted key."},
	{NULL, NULL, 0, NULL},
};

bool core_event_setup(void)
{
	core_keys.numbers = PyDict_New();
	core_keys.args = PyUnicode_InternFromString("args");
	if (!core_keys.numbers || !core_keys.args)
		return false;
	for (int i = 1; i < KEYS; i++) {
		PyObject *number = PyLong_FromLong(i);
		core_keys.keys[i] = PyUnicode_InternFromString(key_names[i]);
		if (!core_keys.keys[i] || !number || PyDict_SetItem(core_keys.numbers, core_keys.keys[i], number) < 0)
			return false;
		Py_DECREF(number);
	}
	return true;
}

int core_event_key(PyObject *key)
{
	PyObject *number = PyDict_GetItemWithError(core_keys.numbers, key);
	if (number)
		return (int)PyLong_AsLong(number);
	return PyErr_Occurred() ? -1 : 0;
}

/* ---- values ---- */

static PyObject *end_of(const core_event *self)
{
	PyObject *start = core_event_value(self, core_keys.keys[KEY_TS]), *sum = NULL;
	if (!start)
		return NULL;
	PyObject *duration = core_event_value(self, core_keys.keys[KEY_DUR]);
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
	if (!tree || !core_event_is_stored(self))
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
	case KEY_OVERLAPPING:
		return self->tree->overlaps ? core_analyzer_overlapping(self->tree->overlaps, self->row) : NULL;
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
	if (!core_event_is_stored(self))
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
		return core_event_start(self);
	case KEY_DUR:
		return core_event_duration(self);
	default:
		return NULL;
	}
}

bool core_event_is_list(int key)
{
	return key == KEY_CHILDREN || key == KEY_GPU_EVENTS || key == KEY_BACKWARD;
}

PyObject *core_event_own(int key, PyObject *value)
{
	if (!core_event_is_list(key) || PyList_CheckExact(value) || value == Py_None || PyUnicode_Check(value) ||
	    PyBytes_Check(value))
		return Py_NewRef(value);
	PyObject *tuple = core_snapshot(value, "a list of events or UIDs is needed");
	PyObject *list = tuple ? PySequence_List(tuple) : NULL;
	Py_XDECREF(tuple);
	return list;
}

bool core_event_own_all(PyObject *values)
{
	bool good = true;
	for (int i = FIRST_DERIVED; good && i < KEYS; i++) {
		PyObject *value = core_event_is_list(i) ? PyDict_GetItemWithError(values, core_keys.keys[i]) : NULL;
		PyObject *own = value ? core_event_own(i, value) : NULL;
		good = own ? PyDict_SetItem(values, core_keys.keys[i], own) == 0 : !PyErr_Occurred();
		Py_XDECREF(own);
	}
	PyObject *args = good ? PyDict_GetItemWithError(values, core_keys.args) : NULL;
	if (args && Py_TYPE(args) == (PyTypeObject *)core_keys.args_type) {
		PyObject *own = PyObject_CallMethod(args, "copy", NULL);
		good = own && PyDict_SetItem(values, core_keys.args, own) == 0;
		Py_XDECREF(own);
	}
	return good && !PyErr_Occurred();
}

/* A list of UIDs that tells the tree when it is changed. Takes the list over. */
static PyObject *watched_list(const core_event *self, int key, PyObject *list)
{
	if (!list || !core_keys.list_type)
		return list;
	PyObject *watched = PyObject_CallFunction(core_keys.list_type, "OOkO", list, self->tree,
						  (unsigned long)self->row, core_keys.keys[key]);
	Py_DECREF(list);
	return watched;
}

PyObject *core_event_value(const core_event *self, PyObject *key)
{
	/* held, here and below: a key may compare by code of its own, which may do anything with the event */
	PyObject *overlay = Py_XNewRef(core_event_overlay(self->tree, self->row));
	PyObject *value = overlay ? Py_XNewRef(PyDict_GetItemWithError(overlay, key)) : NULL;
	Py_XDECREF(overlay);
	if (value == core_keys.missing) {
		Py_DECREF(value);
		return NULL;
	}
	if ((value && !PyList_CheckExact(value)) || PyErr_Occurred())
		return value;
	int number = core_event_key(key);
	if (number < 0)
		Py_CLEAR(value);
	if (value)
		return core_event_is_list(number) ? watched_list(self, number, value) : value;
	if (number < 0)
		return NULL;
	if (number >= FIRST_DERIVED) {
		value = derived_value(self, number);
		if (core_event_is_list(number))
			return watched_list(self, number, value);
		if (value || PyErr_Occurred() || number != KEY_END)
			return value;
	} else if (number) {
		value = stored_value(self, number);
		if (value || PyErr_Occurred())
			return value;
	}
	PyObject *whole = core_event_whole(self);
	value = whole ? Py_XNewRef(PyDict_GetItemWithError(whole, key)) : NULL;
	Py_XDECREF(whole);
	return value;
}

PyObject *core_event_dict(const core_event *self)
{
	PyObject *whole = core_event_whole(self), *dict = whole ? PyDict_Copy(whole) : NULL, *key, *value;
	Py_ssize_t at = 0;
	Py_XDECREF(whole);
	for (int i = 1; dict && i < KEYS; i++) {
		value = i >= FIRST_DERIVED ? derived_value(self, i) : stored_value(self, i);
		if (PyErr_Occurred() || (value && PyDict_SetItem(dict, core_keys.keys[i], value) < 0))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	PyObject *overlay = dict ? core_event_overlay(self->tree, self->row) : NULL;
	overlay = overlay ? PyDict_Copy(overlay) : NULL;
	if (PyErr_Occurred())
		Py_CLEAR(dict);
	while (overlay && dict && PyDict_Next(overlay, &at, &key, &value)) {
		int code = value != core_keys.missing   ? PyDict_SetItem(dict, key, value)
			   : PyDict_Contains(dict, key) ? PyDict_DelItem(dict, key)
							: 0;
		if (code < 0)
			Py_CLEAR(dict);
	}
	Py_XDECREF(overlay);
	return dict;
}
