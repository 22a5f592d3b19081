/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Event: one event as a mapping, a view into its tree that is made when asked for. */
#include "core_event.h"

#include <string.h>

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
	if (tree->live[row]) { /* memory was collected for it, and what ran then asked for the same event */
		PyObject_GC_Del(self);
		return Py_NewRef(tree->live[row]);
	}
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
	/* first of all: what is called when it goes may ask for the event, and gets a new object */
	self->tree->live[self->row] = NULL;
	if (self->weak)
		PyObject_ClearWeakRefs((PyObject *)self);
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

/* ---- asking ---- */

static PyObject *subscript(core_event *self, PyObject *key)
{
	PyObject *value = core_event_value(self, key);
	if (!value && !PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, key);
	return value;
}

static int contains(core_event *self, PyObject *key)
{
	PyObject *value = core_event_value(self, key);
	if (!value)
		return PyErr_Occurred() ? -1 : 0;
	Py_DECREF(value);
	return 1;
}

static PyObject *to_dict(core_event *self, PyObject *unused)
{
	(void)unused;
	return core_event_dict(self);
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
		core_utf8(value, number == KEY_NAME ? "name" : "cat");
	else if ((number == KEY_TS || number == KEY_DUR) && (!PyNumber_Check(value) || PyBool_Check(value)))
		PyErr_Format(PyExc_TypeError, "%U must be a number of microseconds", key);
	else if ((number == KEY_PARENT || number == KEY_FORWARD) && value != Py_None)
		return core_tree_row(self->tree, value, &row);
	else if (number == KEY_CHILDREN || number == KEY_GPU_EVENTS || (number == KEY_BACKWARD && value != Py_None))
		return is_rows(self, value);
	else if (!number && PyUnicode_Compare(key, core_keys.args) == 0 && !core_is_mapping(value))
		PyErr_SetString(PyExc_TypeError, "args must be a mapping");
	return !PyErr_Occurred();
}

static bool is_known_to_the_tree(PyObject *key, int number)
{
	bool structure = number == KEY_PARENT || number == KEY_CHILDREN || number == KEY_GPU_EVENTS ||
			 number == KEY_FORWARD || number == KEY_BACKWARD;
	return (number && number < KEY_UID) || structure || (!number && PyUnicode_Compare(key, core_keys.args) == 0);
}

static int keep(core_event *self, PyObject *key, int number, PyObject *value)
{
	if (value && !check_value(self, key, number, value))
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
	if (!overlay || PyDict_SetItem(overlay, key, value ? value : core_keys.missing) < 0)
		return -1;
	if (!is_known_to_the_tree(key, number))
		return 0;
	PyObject *uid = PyLong_FromUnsignedLong(self->row);
	int code = uid ? PyDict_SetItem(self->tree->dirty, uid, Py_None) : -1;
	Py_XDECREF(uid);
	return code;
}

static int assign(core_event *self, PyObject *key, PyObject *value)
{
	if (!PyUnicode_Check(key)) {
		PyErr_Format(PyExc_TypeError, "keys of events are str, not %.100s", Py_TYPE(key)->tp_name);
		return -1;
	}
	int number = core_event_key(key);
	if (number < 0)
		return -1;
	PyObject *own = value ? core_event_own(number, value) : NULL;
	if (value && !own)
		return -1;
	int code = keep(self, key, number, own);
	Py_XDECREF(own);
	return code;
}

/* ---- methods of mappings ---- */

static Py_ssize_t length(core_event *self)
{
	PyObject *dict = core_event_dict(self);
	Py_ssize_t n = dict ? PyDict_GET_SIZE(dict) : -1;
	Py_XDECREF(dict);
	return n;
}

static PyObject *iterate(core_event *self)
{
	PyObject *dict = core_event_dict(self), *list = dict ? PyDict_Keys(dict) : NULL;
	PyObject *iterator = list ? PyObject_GetIter(list) : NULL;
	Py_XDECREF(dict);
	Py_XDECREF(list);
	return iterator;
}

static PyObject *view(core_event *self, const char *method)
{
	PyObject *dict = core_event_dict(self), *result = dict ? PyObject_CallMethod(dict, method, NULL) : NULL;
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
	PyObject *value = core_event_value(self, args[0]);
	if (value || PyErr_Occurred())
		return value;
	return Py_NewRef(n == 2 ? args[1] : Py_None);
}

static PyObject *set_default(core_event *self, PyObject *args)
{
	PyObject *key, *fallback = Py_None;
	if (!PyArg_ParseTuple(args, "O|O:setdefault", &key, &fallback))
		return NULL;
	PyObject *value = core_event_value(self, key);
	if (value || PyErr_Occurred())
		return value;
	return assign(self, key, fallback) < 0 ? NULL : core_event_value(self, key);
}

static PyObject *pop(core_event *self, PyObject *args)
{
	PyObject *key, *fallback = NULL;
	if (!PyArg_ParseTuple(args, "O|O:pop", &key, &fallback))
		return NULL;
	PyObject *value = core_event_value(self, key);
	if (value && assign(self, key, NULL) < 0)
		Py_CLEAR(value);
	/* what was taken out is nobody's, and its changes concern no tree */
	if (value && (Py_TYPE(value) == (PyTypeObject *)core_keys.list_type ||
		      Py_TYPE(value) == (PyTypeObject *)core_keys.args_type))
		Py_SETREF(value, PyObject_CallMethod(value, "copy", NULL));
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

static PyObject *clear(core_event *self, PyObject *unused)
{
	(void)unused;
	(void)self;
	PyErr_SetString(PyExc_ValueError, "an event of a tree cannot be cleared: its UID stays");
	return NULL;
}

static PyObject *pop_item(core_event *self, PyObject *unused)
{
	PyObject *dict = core_event_dict(self), *pair = dict ? PyObject_CallMethod(dict, "popitem", NULL) : NULL;
	(void)unused;
	if (pair && assign(self, PyTuple_GET_ITEM(pair, 0), NULL) < 0)
		Py_CLEAR(pair);
	Py_XDECREF(dict);
	return pair;
}

static PyObject *reversed(core_event *self, PyObject *unused)
{
	PyObject *dict = core_event_dict(self), *keys = dict ? PyDict_Keys(dict) : NULL;
	PyObject *iterator = keys ? PyObject_CallMethod(keys, "__reversed__", NULL) : NULL;
	(void)unused;
	Py_XDECREF(dict);
	Py_XDECREF(keys);
	return iterator;
}

/* Of two mappings, one of them an event, as a dict. */
static PyObject *merge(PyObject *a, PyObject *b)
{
	bool good = (Py_IS_TYPE(a, &core_event_type) || PyDict_Check(a)) &&
		    (Py_IS_TYPE(b, &core_event_type) || PyDict_Check(b));
	if (!good)
		Py_RETURN_NOTIMPLEMENTED;
	PyObject *dict = PyDict_Check(a) ? PyDict_Copy(a) : core_event_dict((core_event *)a);
	if (dict && PyDict_Update(dict, b) < 0)
		Py_CLEAR(dict);
	return dict;
}

static PyObject *merge_here(PyObject *self, PyObject *other)
{
	PyObject *result = PyObject_CallMethod(self, "update", "(O)", other);
	if (!result)
		return NULL;
	Py_DECREF(result);
	return Py_NewRef(self);
}

/* Copies and pickles are dicts: they need no trace. */
static PyObject *reduce(core_event *self, PyObject *unused)
{
	(void)unused;
	PyObject *dict = core_event_dict(self);
	return dict ? Py_BuildValue("(O(N))", (PyObject *)&PyDict_Type, dict) : NULL;
}

static PyObject *repr(core_event *self)
{
	PyObject *dict = core_event_dict(self), *text = dict ? PyObject_Repr(dict) : NULL;
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
	PyObject *x = core_event_dict((core_event *)a);
	PyObject *y = Py_IS_TYPE(b, &core_event_type) ? core_event_dict((core_event *)b) : Py_NewRef(b);
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
	{"popitem", (PyCFunction)pop_item, METH_NOARGS, "popitem()\n--\n\nAs dict's."},
	{"clear", (PyCFunction)clear, METH_NOARGS, "clear()\n--\n\nValueError: an event keeps its UID."},
	{"__reversed__", (PyCFunction)reversed, METH_NOARGS, NULL},
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
static PyNumberMethods number = {.nb_bool = (inquiry)truth, .nb_or = merge, .nb_inplace_or = merge_here};

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
