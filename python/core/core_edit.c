/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Edit: changing a tree. */
#include "core.h"

static tl_edit *open_edit(core_edit *self)
{
	if (!self->edit)
		PyErr_SetString(PyExc_ValueError, "the edit has ended");
	return self->edit;
}

static PyObject *done(int code, const tl_error *err)
{
	if (code < 0)
		return core_raise(code, err);
	Py_RETURN_NONE;
}

/* UID of an integer or event; None is "none". Rows that were appended in this edit count. */
static int take_row(PyObject *object, void *out)
{
	tl_row *row = out;
	if (object == Py_None) {
		*row = TL_ROW_NONE;
		return 1;
	}
	if (Py_IS_TYPE(object, &core_event_type)) {
		*row = ((core_event *)object)->row;
		return 1;
	}
	unsigned long value = PyLong_AsUnsignedLong(object);
	if (value == (unsigned long)-1 && PyErr_Occurred())
		return 0;
	*row = value < TL_ROW_NONE ? (tl_row)value : TL_ROW_NONE - 1;
	return 1;
}

static PyObject *new_edit(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	core_tree *tree;
	tl_error err = TL_ERROR_INIT;
	static char *names[] = {"tree", NULL};
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!:Edit", names, &core_tree_type, &tree) ||
	    !core_tree_built(tree) || !core_trace_whole(tree->trace) || !core_tree_enter(tree))
		return NULL;
	core_edit *self = (core_edit *)type->tp_alloc(type, 0);
	int code = self ? tl_edit_begin(&self->edit, tree->tree, &err) : 0;
	core_tree_leave(tree);
	if (!self)
		return NULL;
	self->tree = (core_tree *)Py_NewRef(tree);
	if (code < 0) {
		self->edit = NULL;
		Py_DECREF(self);
		return core_raise(code, &err);
	}
	tree->editing = true;
	return (PyObject *)self;
}

static void end(core_edit *self)
{
	if (self->edit)
		self->tree->editing = false;
	self->edit = NULL;
}

static void dealloc(core_edit *self)
{
	PyObject_GC_UnTrack(self);
	tl_edit_abort(self->edit);
	end(self);
	Py_XDECREF(self->tree);
	Py_TYPE(self)->tp_free(self);
}

static int traverse(core_edit *self, visitproc visit, void *arg)
{
	Py_VISIT(self->tree);
	return 0;
}

static PyObject *commit(core_edit *self, PyObject *unused)
{
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	if (!open_edit(self) || !core_tree_enter(self->tree))
		return NULL;
	core_tree_drop_analyses(self->tree);
	core_texts_clear(&self->tree->texts);
	self->tree->version++;
	for (int i = 0; i < CORE_RECENT; i++)
		Py_CLEAR(self->tree->recent[i].whole);
	/* the GIL is kept: other threads read events without the lock */
	int code = tl_edit_commit(self->edit, &err);
	if (code < 0)
		self->tree->version--; /* the tree is as it was */
	core_tree_leave(self->tree);
	if (code < 0)
		return core_raise(code, &err);
	self->tree->edited = true;
	end(self);
	Py_RETURN_NONE;
}

static PyObject *abort_edit(core_edit *self, PyObject *unused)
{
	(void)unused;
	tl_edit_abort(self->edit);
	end(self);
	Py_RETURN_NONE;
}

/* ---- reading ---- */

static PyObject *count(core_edit *self, PyObject *unused)
{
	(void)unused;
	return open_edit(self) ? PyLong_FromSize_t(tl_edit_count(self->edit)) : NULL;
}

static PyObject *get_parent(core_edit *self, PyObject *event)
{
	tl_row row;
	if (!open_edit(self) || !take_row(event, &row))
		return NULL;
	tl_row up = tl_edit_parent(self->edit, row);
	if (up == TL_ROW_NONE)
		Py_RETURN_NONE;
	return PyLong_FromUnsignedLong(up);
}

static PyObject *in_tree(core_edit *self, PyObject *event)
{
	tl_row row;
	return open_edit(self) && take_row(event, &row) ? PyBool_FromLong(tl_edit_in_tree(self->edit, row)) : NULL;
}

static PyObject *get_children(core_edit *self, PyObject *event)
{
	tl_row row;
	PyObject *list = open_edit(self) && take_row(event, &row) ? PyList_New(0) : NULL;
	tl_row child = list ? tl_edit_first_child(self->edit, row) : TL_ROW_NONE;
	for (; list && child != TL_ROW_NONE; child = tl_edit_next_sibling(self->edit, child)) {
		PyObject *uid = PyLong_FromUnsignedLong(child);
		if (!uid || PyList_Append(list, uid) < 0)
			Py_CLEAR(list);
		Py_XDECREF(uid);
	}
	return list;
}

static PyObject *get_gpu_events(core_edit *self, PyObject *event)
{
	tl_row row;
	if (!open_edit(self) || !take_row(event, &row))
		return NULL;
	size_t n = tl_edit_gpu_events(self->edit, row, NULL, 0);
	tl_row *rows = PyMem_Malloc((n + 1) * sizeof *rows);
	if (!rows)
		return PyErr_NoMemory();
	tl_edit_gpu_events(self->edit, row, rows, n);
	PyObject *list = core_rows(rows, n);
	PyMem_Free(rows);
	return list;
}

/* ---- changing ---- */

static PyObject *rename_event(core_edit *self, PyObject *args)
{
	tl_row row;
	const char *name;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "O&s:rename", take_row, &row, &name) || !open_edit(self))
		return NULL;
	return done(tl_edit_rename(self->edit, row, name, &err), &err);
}

static PyObject *set_category(core_edit *self, PyObject *args)
{
	tl_row row;
	const char *category;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "O&s:set_category", take_row, &row, &category) || !open_edit(self))
		return NULL;
	return done(tl_edit_set_category(self->edit, row, category, &err), &err);
}

/* Times in ps from the base of the tree. */
static PyObject *set_time(core_edit *self, PyObject *args)
{
	tl_row row;
	long long start, duration;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "O&LL:set_time", take_row, &row, &start, &duration) || !open_edit(self))
		return NULL;
	return done(tl_edit_set_time(self->edit, row, start, duration, &err), &err);
}

static PyObject *get_time(core_edit *self, PyObject *event)
{
	tl_row row;
	if (!open_edit(self) || !take_row(event, &row))
		return NULL;
	tl_time start = tl_edit_start(self->edit, row), duration = tl_edit_duration(self->edit, row);
	PyObject *first = start == TL_TIME_NONE ? Py_NewRef(Py_None) : PyLong_FromLongLong(start);
	PyObject *second = duration == TL_TIME_NONE ? Py_NewRef(Py_None) : PyLong_FromLongLong(duration);
	return Py_BuildValue("(NN)", first, second);
}

static PyObject *set_arg(core_edit *self, PyObject *args)
{
	tl_row row;
	const char *key, *json;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "O&sz:set_arg", take_row, &row, &key, &json) || !open_edit(self))
		return NULL;
	return done(tl_edit_set_arg(self->edit, row, key, json, &err), &err);
}

static PyObject *get_arg(core_edit *self, PyObject *args)
{
	tl_row row;
	const char *key, *json;
	if (!PyArg_ParseTuple(args, "O&s:get_arg", take_row, &row, &key) || !open_edit(self))
		return NULL;
	int code = tl_edit_arg(&json, self->edit, row, key);
	if (code < 0)
		return core_raise(code, NULL);
	return Py_BuildValue("z", json);
}

static PyObject *link_events(core_edit *self, PyObject *args)
{
	tl_row forward, backward;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "O&O&:link", take_row, &forward, take_row, &backward) || !open_edit(self))
		return NULL;
	return done(tl_edit_link(self->edit, forward, backward, &err), &err);
}

static PyObject *append(core_edit *self, PyObject *args)
{
	tl_row row, like, parent = TL_ROW_NONE, before = TL_ROW_NONE;
	const char *name;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "sO&|O&O&:append", &name, take_row, &like, take_row, &parent, take_row, &before) ||
	    !open_edit(self))
		return NULL;
	int code = tl_edit_append(self->edit, &row, name, like, parent, before, &err);
	return code < 0 ? core_raise(code, &err) : PyLong_FromUnsignedLong(row);
}

static PyObject *reparent(core_edit *self, PyObject *args)
{
	tl_row row, parent, before = TL_ROW_NONE;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "O&O&|O&:reparent", take_row, &row, take_row, &parent, take_row, &before) ||
	    !open_edit(self))
		return NULL;
	return done(tl_edit_reparent(self->edit, row, parent, before, &err), &err);
}

static PyObject *detach(core_edit *self, PyObject *event)
{
	tl_row row;
	tl_error err = TL_ERROR_INIT;
	if (!open_edit(self) || !take_row(event, &row))
		return NULL;
	return done(tl_edit_detach(self->edit, row, &err), &err);
}

static PyMethodDef methods[] = {
	{"commit", (PyCFunction)commit, METH_NOARGS, "commit()\n--\n\nMakes the changes the tree's."},
	{"abort", (PyCFunction)abort_edit, METH_NOARGS, "abort()\n--\n\nDrops the changes."},
	{"count", (PyCFunction)count, METH_NOARGS, "count()\n--\n\nNumber of events, new ones included."},
	{"parent", (PyCFunction)get_parent, METH_O, "parent(event)\n--\n\nUID or None."},
	{"in_tree", (PyCFunction)in_tree, METH_O, "in_tree(event)\n--\n\nWhether it is a node."},
	{"children", (PyCFunction)get_children, METH_O, "children(event)\n--\n\nUIDs; of None the roots."},
	{"gpu_events", (PyCFunction)get_gpu_events, METH_O, "gpu_events(event)\n--\n\nUIDs of GPU events below."},
	{"rename", (PyCFunction)rename_event, METH_VARARGS, "rename(event, name)\n--\n\nSets the name of an event."},
	{"set_category", (PyCFunction)set_category, METH_VARARGS,
	 "set_category(event, cat)\n--\n\nSets cat, which decides what an event is. ValueError when it would be no "
	 "host or GPU work."},
	{"set_time", (PyCFunction)set_time, METH_VARARGS,
	 "set_time(event, start, duration)\n--\n\nIn ps from the base."},
	{"time", (PyCFunction)get_time, METH_O, "time(event)\n--\n\nStart and duration in ps from the base, or None."},
	{"set_arg", (PyCFunction)set_arg, METH_VARARGS, "set_arg(event, key, json)\n--\n\nNone removes it."},
	{"arg", (PyCFunction)get_arg, METH_VARARGS, "arg(event, key)\n--\n\nJSON text or None."},
	{"link", (PyCFunction)link_events, METH_VARARGS,
	 "link(forward, backward)\n--\n\nMakes two events the forward and backward half of one operation."},
	{"append", (PyCFunction)append, METH_VARARGS,
	 "append(name, like, parent=None, before=None)\n--\n\nA new operation with the thread and times of another: "
	 "its UID."},
	{"reparent", (PyCFunction)reparent, METH_VARARGS,
	 "reparent(event, parent, before=None)\n--\n\nMoves an event with all below it; parent None: a root."},
	{"detach", (PyCFunction)detach, METH_O, "detach(event)\n--\n\nTakes it out; its children take its place."},
	{NULL, NULL, 0, NULL},
};

PyTypeObject core_edit_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Edit",
	.tp_basicsize = sizeof(core_edit),
	.tp_dealloc = (destructor)dealloc,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_traverse = (traverseproc)traverse,
	.tp_doc = "Edit(tree)\n--\n\nChanges of a tree, which see one another and become the tree's with commit.",
	.tp_methods = methods,
	.tp_new = new_edit,
};
