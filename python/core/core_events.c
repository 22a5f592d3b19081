/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Events: the sequence of all events of a tree. */
#include "core.h"

typedef struct core_events {
	PyObject_HEAD
	core_tree *tree;
} core_events;

PyObject *core_events_new(core_tree *tree)
{
	core_events *self = PyObject_GC_New(core_events, &core_events_type);
	if (!self)
		return NULL;
	self->tree = (core_tree *)Py_NewRef((PyObject *)tree);
	PyObject_GC_Track(self);
	return (PyObject *)self;
}

static int events_traverse(core_events *self, visitproc visit, void *arg)
{
	Py_VISIT(self->tree);
	return 0;
}

static void events_dealloc(core_events *self)
{
	PyObject_GC_UnTrack(self);
	Py_DECREF(self->tree);
	PyObject_GC_Del(self);
}

static Py_ssize_t events_length(core_events *self)
{
	return (Py_ssize_t)core_tree_count(self->tree);
}

static PyObject *events_item(core_events *self, Py_ssize_t at)
{
	if (at < 0 || (size_t)at >= core_tree_count(self->tree)) {
		PyErr_SetString(PyExc_IndexError, "no such event");
		return NULL;
	}
	return core_event_get(self->tree, (tl_row)at);
}

static PyObject *events_subscript(core_events *self, PyObject *key)
{
	Py_ssize_t count = events_length(self), start, stop, step;
	if (PySlice_Check(key)) {
		if (PySlice_Unpack(key, &start, &stop, &step) < 0)
			return NULL;
		Py_ssize_t n = PySlice_AdjustIndices(count, &start, &stop, step);
		PyObject *list = PyList_New(n);
		for (Py_ssize_t i = 0; list && i < n; i++) {
			PyObject *event = core_event_get(self->tree, (tl_row)(start + i * step));
			if (!event)
				Py_CLEAR(list);
			else
				PyList_SET_ITEM(list, i, event);
		}
		return list;
	}
	Py_ssize_t at = PyNumber_AsSsize_t(key, PyExc_IndexError);
	if (at == -1 && PyErr_Occurred())
		return NULL;
	return events_item(self, at < 0 ? at + count : at);
}

/* 1 and the position of an event, or of a dict that equals one; 0 when there is none, -1 with an exception. */
static int find(core_events *self, PyObject *object, tl_row *row)
{
	if (Py_IS_TYPE(object, &core_event_type)) {
		*row = ((core_event *)object)->row;
		/* one that was added before the tree was built anew is there no more */
		return ((core_event *)object)->tree == self->tree && *row < core_tree_count(self->tree);
	}
	if (!PyDict_Check(object))
		return 0;
	PyObject *uid = PyDict_GetItemString(object, "UID");
	if (!uid || !core_tree_row(self->tree, uid, row)) {
		PyErr_Clear();
		return 0;
	}
	PyObject *event = core_event_get(self->tree, *row);
	int same = event ? PyObject_RichCompareBool(event, object, Py_EQ) : -1;
	Py_XDECREF(event);
	return same;
}

static int events_contains(core_events *self, PyObject *object)
{
	tl_row row;
	return find(self, object, &row);
}

static PyObject *events_index(core_events *self, PyObject *args)
{
	PyObject *object;
	Py_ssize_t start = 0, stop = PY_SSIZE_T_MAX;
	tl_row row = 0;
	if (!PyArg_ParseTuple(args, "O|nn:index", &object, &start, &stop))
		return NULL;
	PySlice_AdjustIndices(events_length(self), &start, &stop, 1);
	int found = find(self, object, &row);
	if (found < 0)
		return NULL;
	if (found && (Py_ssize_t)row >= start && (Py_ssize_t)row < stop)
		return PyLong_FromUnsignedLong(row);
	PyErr_SetString(PyExc_ValueError, "no such event");
	return NULL;
}

static PyObject *events_count(core_events *self, PyObject *object)
{
	int found = events_contains(self, object);
	return found < 0 ? NULL : PyLong_FromLong(found);
}

static PyObject *to_list(core_events *self)
{
	return PySequence_List((PyObject *)self);
}

static PyObject *events_copy(core_events *self, PyObject *unused)
{
	(void)unused;
	return to_list(self);
}

/* Lists and events one behind the other, as a list. */
static PyObject *events_concat(PyObject *a, PyObject *b)
{
	if ((!Py_IS_TYPE(a, &core_events_type) && !PyList_Check(a)) ||
	    (!Py_IS_TYPE(b, &core_events_type) && !PyList_Check(b)))
		Py_RETURN_NOTIMPLEMENTED;
	PyObject *x = PySequence_List(a), *y = x ? PySequence_List(b) : NULL;
	PyObject *result = y ? PySequence_Concat(x, y) : NULL;
	Py_XDECREF(x);
	Py_XDECREF(y);
	return result;
}

/* Each `tree.events` is an object of its own: they are equal when they are of one tree. */
static PyObject *events_compare(PyObject *a, PyObject *b, int how)
{
	if ((how != Py_EQ && how != Py_NE) || !Py_IS_TYPE(b, &core_events_type))
		Py_RETURN_NOTIMPLEMENTED;
	bool same = ((core_events *)a)->tree == ((core_events *)b)->tree;
	return PyBool_FromLong(same == (how == Py_EQ));
}

static PyObject *events_append(core_events *self, PyObject *values)
{
	PyObject *uid;
	if (Py_IS_TYPE(values, &core_event_type) && ((core_event *)values)->tree == self->tree)
		Py_RETURN_NONE; /* it is there */
	if (!core_is_mapping(values)) {
		PyErr_Format(PyExc_TypeError, "an event is a mapping, not %.100s", Py_TYPE(values)->tp_name);
		return NULL;
	}
	uid = PyObject_CallMethod((PyObject *)self->tree, "append", "(O)", values);
	if (!uid)
		return NULL;
	Py_DECREF(uid);
	Py_RETURN_NONE;
}

static PyObject *events_repr(core_events *self)
{
	return PyUnicode_FromFormat("<%zd events>", events_length(self));
}

static PyMethodDef events_methods[] = {
	{"append", (PyCFunction)events_append, METH_O,
	 "append(event)\n--\n\nAdds an operation with these keys; its UID is its position. It comes into the tree "
	 "with\n"
	 "its parent or children, before the next analysis."},
	{"index", (PyCFunction)events_index, METH_VARARGS,
	 "index(event[, start[, stop]])\n--\n\nPosition of an event. ValueError: it is none of these."},
	{"count", (PyCFunction)events_count, METH_O, "count(event)\n--\n\n1, or 0 for what is none of these."},
	{"copy", (PyCFunction)events_copy, METH_NOARGS, "copy()\n--\n\nA list of all events."},
	{"__copy__", (PyCFunction)events_copy, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static PySequenceMethods events_sequence = {
	.sq_length = (lenfunc)events_length,
	.sq_item = (ssizeargfunc)events_item,
	.sq_contains = (objobjproc)events_contains,
};
static PyNumberMethods events_number = {.nb_add = events_concat};
static PyMappingMethods events_mapping = {
	.mp_length = (lenfunc)events_length,
	.mp_subscript = (binaryfunc)events_subscript,
};

PyTypeObject core_events_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Events",
	.tp_basicsize = sizeof(core_events),
	.tp_dealloc = (destructor)events_dealloc,
	.tp_repr = (reprfunc)events_repr,
	.tp_as_number = &events_number,
	.tp_as_sequence = &events_sequence,
	.tp_as_mapping = &events_mapping,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc =
		"All events of a tree; the position of an event is its UID. An event object exists while it is in use.",
	.tp_hash = PyObject_HashNotImplemented, /* as that of a list */
	.tp_traverse = (traverseproc)events_traverse,
	.tp_richcompare = events_compare,
	.tp_iter = PySeqIter_New, /* so that it has __iter__, which scripts ask for */
	.tp_methods = events_methods,
};
