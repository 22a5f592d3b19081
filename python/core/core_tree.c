/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Tree: life, locking, and the calls that work on a built tree. */
#include "core_event.h"

#include <math.h>
#include <string.h>

/* ---- what others need ---- */

const tl_events *core_tree_events(const core_tree *self)
{
	return self->tree ? tl_tree_events(self->tree) : tl_trace_events(self->trace->trace);
}

size_t core_tree_count(const core_tree *self)
{
	return tl_events_count(core_tree_events(self)) + (size_t)PyList_GET_SIZE(self->added);
}

const tl_tree *core_tree_built(core_tree *self)
{
	if (!self->tree)
		PyErr_SetString(PyExc_ValueError, "the tree is not built yet: call build_tree first");
	return self->tree;
}

/* An integer, also one that is a fraction: columns of UIDs are when cells are missing. KeyError: no UID. */
static PyObject *whole_number(PyObject *object)
{
	if (PyIndex_Check(object))
		return PyNumber_Index(object);
	if (!PyNumber_Check(object) || PyComplex_Check(object))
		return NULL;
	double value = PyFloat_AsDouble(object);
	if (value == -1.0 && PyErr_Occurred())
		return NULL;
	if (value == floor(value) && fabs(value) < 1e15)
		return PyLong_FromDouble(value);
	PyErr_SetObject(PyExc_KeyError, object);
	return NULL;
}

bool core_tree_row(core_tree *self, PyObject *object, tl_row *out)
{
	if (Py_IS_TYPE(object, &core_event_type)) {
		core_event *event = (core_event *)object;
		if (event->tree != self) {
			PyErr_Format(PyExc_ValueError, "event %lu belongs to another tree", (unsigned long)event->row);
			return false;
		}
		*out = event->row;
		return true;
	}
	PyObject *index = whole_number(object);
	if (!index) {
		if (!PyErr_Occurred())
			PyErr_Format(PyExc_TypeError, "an event or its UID is needed, not %.100s",
				     Py_TYPE(object)->tp_name);
		return false;
	}
	long long value = PyLong_AsLongLong(index);
	Py_DECREF(index);
	if (value < 0 || (unsigned long long)value >= core_tree_count(self)) {
		PyErr_Clear();
		PyErr_SetObject(PyExc_KeyError, object);
		return false;
	}
	*out = (tl_row)value;
	return true;
}

bool core_tree_enter(core_tree *self)
{
	if (self->owner == PyThread_get_thread_ident()) {
		PyErr_SetString(PyExc_RuntimeError, "the tree is being worked on by the call that led here");
		return false;
	}
	if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
		Py_BEGIN_ALLOW_THREADS
		PyThread_acquire_lock(self->lock, WAIT_LOCK);
		Py_END_ALLOW_THREADS
	}
	self->owner = PyThread_get_thread_ident();
	return true;
}

void core_tree_leave(core_tree *self)
{
	self->owner = 0;
	PyThread_release_lock(self->lock);
}

void core_tree_drop_analyses(core_tree *self)
{
	for (core_analyzer *a = self->analyzers; a; a = a->next) {
		tl_analyzer_free(a->analyzer);
		a->analyzer = NULL;
	}
}

/* ---- life ---- */

static PyObject *new_tree(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"trace", "prune_nongpu_paths", NULL};
	core_trace *trace;
	int prune = 1;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|p:Tree", names, &core_trace_type, &trace, &prune))
		return NULL;
	core_tree *self = (core_tree *)type->tp_alloc(type, 0);
	if (!self)
		return NULL;
	self->trace = (core_trace *)Py_NewRef(trace);
	self->prune = prune;
	self->overlay = PyDict_New();
	self->added = PyList_New(0);
	self->dirty = PyDict_New();
	self->lock = PyThread_allocate_lock();
	if (!self->overlay || !self->added || !self->dirty || !self->lock) {
		Py_DECREF(self);
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	}
	return (PyObject *)self;
}

static int traverse(core_tree *self, visitproc visit, void *arg)
{
	Py_VISIT(self->overlay);
	Py_VISIT(self->added);
	Py_VISIT(self->dirty);
	for (int i = 0; i < CORE_RECENT; i++)
		Py_VISIT(self->recent[i].whole);
	return 0;
}

static int clear(core_tree *self)
{
	Py_CLEAR(self->overlay);
	Py_CLEAR(self->added);
	Py_CLEAR(self->dirty);
	for (int i = 0; i < CORE_RECENT; i++)
		Py_CLEAR(self->recent[i].whole);
	return 0;
}

/* Events and analysers hold the tree, so none is left when it goes. */
static void dealloc(core_tree *self)
{
	PyObject_GC_UnTrack(self);
	if (self->weak)
		PyObject_ClearWeakRefs((PyObject *)self);
	clear(self);
	core_texts_clear(&self->texts);
	PyMem_Free(self->live);
	tl_tree_free(self->tree);
	Py_XDECREF(self->trace);
	if (self->lock)
		PyThread_free_lock(self->lock);
	Py_TYPE(self)->tp_free(self);
}

/* ---- building ---- */

static PyObject *build(core_tree *self, PyObject *args)
{
	int python, clip = 0;
	tl_error err = TL_ERROR_INIT;
	tl_tree *tree = NULL;
	if (!PyArg_ParseTuple(args, "p|p:build", &python, &clip) || !core_tree_enter(self))
		return NULL;
	if (self->editing) {
		core_tree_leave(self);
		PyErr_SetString(PyExc_ValueError, "the tree is being edited");
		return NULL;
	}
	int code;
	const tl_trace *trace = self->trace->trace;
	Py_BEGIN_ALLOW_THREADS
	code = tl_tree_build(&tree, trace, &(tl_tree_options){.with_python = python, .clip_stream_overruns = clip},
			     &err);
	Py_END_ALLOW_THREADS
	if (code == 0) {
		/* texts of an edited tree go with it; those of the trace stay, and tell them apart nobody can */
		core_tree_drop_analyses(self);
		core_texts_clear(&self->texts);
		self->version++;
		tl_tree_free(self->tree);
		self->tree = tree;
		self->edited = false;
		for (int i = 0; i < CORE_RECENT; i++)
			Py_CLEAR(self->recent[i].whole);
	}
	core_tree_leave(self);
	if (code < 0)
		return core_raise(code, &err);
	Py_RETURN_NONE;
}

static PyObject *mark_recompute(core_tree *self, PyObject *unused)
{
	size_t regions = 0, events = 0;
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	if (!core_tree_built(self) || !core_tree_enter(self))
		return NULL;
	core_tree_drop_analyses(self);
	/* the GIL is kept, as whenever a tree changes: other threads read events without the lock */
	int code = tl_tree_mark_recompute(self->tree, &regions, &events, &err);
	core_tree_leave(self);
	return code < 0 ? core_raise(code, &err) : Py_BuildValue("(nn)", (Py_ssize_t)regions, (Py_ssize_t)events);
}

static PyObject *pseudo_ops(core_tree *self, PyObject *unused)
{
	size_t made = 0;
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	if (!core_tree_built(self) || !core_trace_whole(self->trace) || !core_tree_enter(self))
		return NULL;
	core_tree_drop_analyses(self);
	core_texts_clear(&self->texts);
	self->version++;
	int code = tl_tree_apply_pseudo_ops(self->tree, NULL, &made, &err);
	self->edited |= made > 0;
	if (code == 0 && !made)
		self->version--; /* nothing happened */
	core_tree_leave(self);
	return code < 0 ? core_raise(code, &err) : PyLong_FromSize_t(made);
}

static PyObject *pseudo_need_python(core_tree *self, PyObject *unused)
{
	bool need;
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	int code = tl_pseudo_ops_need_python(&need, self->trace->trace, &err);
	return code < 0 ? core_raise(code, &err) : PyBool_FromLong(need);
}

/* ---- lists of UIDs ---- */

typedef size_t (*lister)(const tl_tree *tree, tl_row event, tl_row *out, size_t room);

static PyObject *list_of(core_tree *self, PyObject *event, lister list)
{
	tl_row row;
	const tl_tree *tree = core_tree_built(self);
	if (!tree || !core_tree_row(self, event, &row))
		return NULL;
	size_t n = list(tree, row, NULL, 0);
	tl_row few[32], *rows = n <= 32 ? few : PyMem_Malloc(n * sizeof *rows);
	if (!rows)
		return PyErr_NoMemory();
	list(tree, row, rows, n);
	PyObject *result = core_rows(rows, n);
	if (rows != few)
		PyMem_Free(rows);
	return result;
}

static PyObject *children(core_tree *self, PyObject *event)
{
	return list_of(self, event, tl_tree_children);
}

static PyObject *backward(core_tree *self, PyObject *event)
{
	return list_of(self, event, tl_tree_backward);
}

static PyObject *module_children(core_tree *self, PyObject *event)
{
	return list_of(self, event, tl_tree_module_children);
}

static size_t roots_of(const tl_tree *tree, tl_row unused, tl_row *out, size_t room)
{
	(void)unused;
	return tl_tree_roots(tree, out, room);
}

static size_t operation_roots_of(const tl_tree *tree, tl_row unused, tl_row *out, size_t room)
{
	(void)unused;
	return tl_tree_operation_roots(tree, out, room);
}

static PyObject *all_of(core_tree *self, lister list)
{
	PyObject *none = PyLong_FromLong(0);
	PyObject *result = NULL;
	if (!core_tree_built(self))
		;
	else if (core_tree_count(self) == 0)
		result = PyList_New(0);
	else
		result = none ? list_of(self, none, list) : NULL;
	Py_XDECREF(none);
	return result;
}

static PyObject *roots(core_tree *self, PyObject *unused)
{
	(void)unused;
	return all_of(self, roots_of);
}

static PyObject *operation_roots(core_tree *self, PyObject *unused)
{
	(void)unused;
	return all_of(self, operation_roots_of);
}

static PyObject *view_of(core_tree *self, PyObject *event, const tl_row *(*view)(const tl_tree *, tl_row, size_t *))
{
	tl_row row;
	size_t n;
	const tl_tree *tree = core_tree_built(self);
	if (!tree || !core_tree_row(self, event, &row))
		return NULL;
	const tl_row *rows = view(tree, row, &n);
	return core_rows(rows, n);
}

static PyObject *gpu_events(core_tree *self, PyObject *event)
{
	return view_of(self, event, tl_tree_gpu_events);
}

static PyObject *subtree(core_tree *self, PyObject *event)
{
	return view_of(self, event, tl_tree_subtree);
}

static PyObject *nodes(core_tree *self, PyObject *unused)
{
	size_t n;
	(void)unused;
	if (!core_tree_built(self))
		return NULL;
	const tl_row *rows = tl_tree_nodes(self->tree, &n);
	return core_rows(rows, n);
}

static PyObject *unlinked(core_tree *self, PyObject *unused)
{
	size_t n;
	(void)unused;
	if (!core_tree_built(self))
		return NULL;
	const tl_row *rows = tl_tree_unlinked_events(self->tree, &n);
	return core_rows(rows, n);
}

/* UIDs of GPU events of the trace, linked ones or all. */
static PyObject *all_gpu_events(core_tree *self, PyObject *args)
{
	int linked_only;
	if (!PyArg_ParseTuple(args, "p:all_gpu_events", &linked_only) || !core_tree_built(self))
		return NULL;
	const tl_events *events = core_tree_events(self);
	PyObject *list = PyList_New(0);
	for (tl_row row = 0; list && row < tl_events_count(events); row++) {
		if (!tl_event_is_gpu(events, row) || (linked_only && !tl_tree_is_linked(self->tree, row)))
			continue;
		PyObject *uid = PyLong_FromUnsignedLong(row);
		if (!uid || PyList_Append(list, uid) < 0)
			Py_CLEAR(list);
		Py_XDECREF(uid);
	}
	return list;
}

static PyObject *any_gpu_event(core_tree *self, PyObject *args)
{
	int linked_only;
	size_t n, at = 0;
	if (!PyArg_ParseTuple(args, "p:any_gpu_event", &linked_only) || !core_tree_built(self))
		return NULL;
	if (!linked_only && tl_tree_unlinked(self->tree, NULL))
		Py_RETURN_TRUE;
	/* linked ones are nodes, and the first mostly comes early among these */
	const tl_row *rows = tl_tree_nodes(self->tree, &n);
	const tl_events *events = core_tree_events(self);
	while (at < n && !tl_event_is_gpu(events, rows[at]))
		at++;
	return PyBool_FromLong(at < n);
}

/* ---- single relatives ---- */

static PyObject *relative(core_tree *self, PyObject *event, tl_row (*get)(const tl_tree *, tl_row))
{
	tl_row row;
	const tl_tree *tree = core_tree_built(self);
	if (!tree || !core_tree_row(self, event, &row))
		return NULL;
	tl_row other = get(tree, row);
	if (other == TL_ROW_NONE)
		Py_RETURN_NONE;
	return PyLong_FromUnsignedLong(other);
}

static PyObject *parent(core_tree *self, PyObject *event)
{
	return relative(self, event, tl_tree_parent);
}

static PyObject *forward(core_tree *self, PyObject *event)
{
	return relative(self, event, tl_tree_forward);
}

static PyObject *module_parent(core_tree *self, PyObject *event)
{
	return relative(self, event, tl_tree_module_parent);
}

static PyObject *test(core_tree *self, PyObject *event, bool (*is)(const tl_tree *, tl_row))
{
	tl_row row;
	const tl_tree *tree = core_tree_built(self);
	if (!tree || !core_tree_row(self, event, &row))
		return NULL;
	return PyBool_FromLong(is(tree, row));
}

static PyObject *is_module(core_tree *self, PyObject *event)
{
	return test(self, event, tl_tree_is_module);
}

static PyObject *is_linked(core_tree *self, PyObject *event)
{
	return test(self, event, tl_tree_is_linked);
}

/* ---- names ---- */

static PyObject *names(core_tree *self, PyObject *unused)
{
	size_t n_names, n;
	const char *name;
	const tl_row *rows;
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	if (!core_tree_built(self))
		return NULL;
	int code = tl_tree_name_count(&n_names, self->tree, &err);
	if (code < 0)
		return core_raise(code, &err);
	PyObject *dict = PyDict_New();
	for (size_t i = 0; dict && i < n_names; i++) {
		code = tl_tree_name_get(&name, &rows, &n, self->tree, i, &err);
		if (code < 0) {
			Py_DECREF(dict);
			return core_raise(code, &err);
		}
		PyObject *key = core_text(name, strlen(name)), *list = core_rows(rows, n);
		if (!key || !list || PyDict_SetItem(dict, key, list) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(list);
	}
	return dict;
}

static PyObject *named(core_tree *self, PyObject *name)
{
	const tl_row *rows;
	size_t n;
	tl_error err = TL_ERROR_INIT;
	const char *text = core_utf8(name, "a name");
	if (!text || !core_tree_built(self))
		return NULL;
	int code = tl_tree_named(&rows, &n, self->tree, text, &err);
	return code < 0 ? core_raise(code, &err) : core_rows(rows, n);
}

/* ---- printing ---- */

/* Pieces come without the GIL being released: the library only formats. */
static int collect_bytes(void *user, const char *text, size_t n)
{
	PyObject *bytes = PyBytes_FromStringAndSize(text, (Py_ssize_t)n);
	int code = bytes ? PyList_Append(user, bytes) : -1;
	Py_XDECREF(bytes);
	return code;
}

static PyObject *join(PyObject *pieces)
{
	PyObject *empty = PyBytes_FromStringAndSize("", 0);
	PyObject *all = empty && pieces ? PyObject_CallMethod(empty, "join", "O", pieces) : NULL;
	PyObject *text = all ? core_text(PyBytes_AS_STRING(all), (size_t)PyBytes_GET_SIZE(all)) : NULL;
	Py_XDECREF(empty);
	Py_XDECREF(all);
	return text;
}

/* A tuple of str as C strings, which belong to it; to be freed with PyMem_Free. */
static const char **take_texts(PyObject *tuple, const char *what)
{
	Py_ssize_t n = PyTuple_GET_SIZE(tuple);
	const char **texts = PyMem_Malloc(((size_t)n + 1) * sizeof *texts);
	if (!texts)
		return (const char **)PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < n; i++) {
		texts[i] = core_utf8(PyTuple_GET_ITEM(tuple, i), what);
		if (!texts[i]) {
			PyMem_Free(texts);
			return NULL;
		}
	}
	return texts;
}

static PyObject *print_subtree(core_tree *self, PyObject *args)
{
	PyObject *event, *fields;
	int all, include_backward;
	tl_row row;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "OOpp:print", &event, &fields, &all, &include_backward) || !core_tree_built(self) ||
	    !core_tree_row(self, event, &row) || !(fields = core_snapshot(fields, "fields: a sequence of str")))
		return NULL;
	const char **texts = take_texts(fields, "a field");
	bool ready = texts && (!PyTuple_GET_SIZE(fields) || core_trace_whole(self->trace));
	PyObject *pieces = ready ? PyList_New(0) : NULL, *result = NULL;
	tl_print_options options = {.fields = texts,
				    .n_fields = (size_t)PyTuple_GET_SIZE(fields),
				    .all = all,
				    .backward = include_backward};
	if (pieces) {
		int code = tl_tree_print(self->tree, row, &options, collect_bytes, pieces, &err);
		result = code < 0 ? core_raise(code, &err) : join(pieces);
	}
	Py_XDECREF(pieces);
	PyMem_Free(texts);
	Py_DECREF(fields);
	return result;
}

static PyObject *print_parents(core_tree *self, PyObject *args)
{
	PyObject *event, *fields;
	int follow;
	tl_row row, root = TL_ROW_NONE;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "OOp:print_parents", &event, &fields, &follow) || !core_tree_built(self) ||
	    !core_tree_row(self, event, &row) || !(fields = core_snapshot(fields, "fields: a sequence of str")))
		return NULL;
	const char **texts = take_texts(fields, "a field");
	bool ready = texts && (!PyTuple_GET_SIZE(fields) || core_trace_whole(self->trace));
	PyObject *pieces = ready ? PyList_New(0) : NULL, *result = NULL;
	tl_print_options options = {
		.fields = texts, .n_fields = (size_t)PyTuple_GET_SIZE(fields), .follow_forward = follow};
	if (pieces) {
		int code = tl_tree_print_parents(self->tree, row, &options, collect_bytes, pieces, &root, &err);
		PyObject *text = code < 0 ? core_raise(code, &err) : join(pieces);
		result = text ? Py_BuildValue("(Nk)", text, (unsigned long)root) : NULL;
	}
	Py_XDECREF(pieces);
	PyMem_Free(texts);
	Py_DECREF(fields);
	return result;
}

static PyObject *call_stack(core_tree *self, PyObject *args)
{
	PyObject *event, *filters;
	int follow;
	tl_row row;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "OOp:call_stack", &event, &filters, &follow) || !core_tree_built(self) ||
	    !core_tree_row(self, event, &row) || !(filters = core_snapshot(filters, "filters: a sequence of str")))
		return NULL;
	const char **texts = take_texts(filters, "a filter");
	PyObject *result = texts ? PyList_New(0) : NULL;
	if (result) {
		int code = tl_tree_call_stack(self->tree, row, texts, (size_t)PyTuple_GET_SIZE(filters), follow,
					      core_collect, result, &err);
		if (code < 0) {
			Py_CLEAR(result);
			core_raise(code, &err);
		}
	}
	PyMem_Free(texts);
	Py_DECREF(filters);
	return result;
}

static PyObject *health(core_tree *self, PyObject *unused)
{
	tl_table *table;
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	if (!core_tree_built(self))
		return NULL;
	int code = tl_tree_health(&table, self->tree, &err);
	return code == 0 ? core_table_new(table) : core_raise(code, &err);
}

/* ---- the overlay ---- */

static PyObject *event(core_tree *self, PyObject *uid)
{
	tl_row row;
	return core_tree_row(self, uid, &row) ? core_event_get(self, row) : NULL;
}

static PyObject *append(core_tree *self, PyObject *values)
{
	PyObject *copy = PyDict_New();
	bool good = copy && PyDict_Update(copy, values) == 0 && core_event_own_all(copy);
	/* counted now: code of a script's that gave the values may have appended an event itself */
	PyObject *uid = good ? PyLong_FromSize_t(core_tree_count(self)) : NULL;
	good = uid && PyDict_SetItemString(copy, "UID", uid) == 0 && PyDict_SetItem(self->overlay, uid, copy) == 0 &&
	       PyDict_SetItem(self->dirty, uid, Py_None) == 0 && PyList_Append(self->added, uid) == 0;
	Py_XDECREF(copy);
	if (!good)
		Py_CLEAR(uid);
	return uid;
}

/* The library knows the assignments now; events of the overlay are events of the tree. */
static PyObject *settled(core_tree *self, PyObject *unused)
{
	(void)unused;
	PyDict_Clear(self->dirty);
	if (PyList_SetSlice(self->added, 0, PyList_GET_SIZE(self->added), NULL) < 0)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *get_overlay(core_tree *self, void *unused)
{
	(void)unused;
	return Py_NewRef(self->overlay);
}

static PyObject *get_dirty(core_tree *self, void *unused)
{
	(void)unused;
	return Py_NewRef(self->dirty);
}

static PyObject *get_added(core_tree *self, void *unused)
{
	(void)unused;
	return Py_NewRef(self->added);
}

static PyObject *get_events(core_tree *self, void *unused)
{
	(void)unused;
	return core_events_new(self);
}

static PyObject *get_trace(core_tree *self, void *unused)
{
	(void)unused;
	return Py_NewRef((PyObject *)self->trace);
}

static PyObject *is_built(core_tree *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(self->tree != NULL);
}

static PyObject *is_edited(core_tree *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(self->edited);
}

static PyObject *has_python(core_tree *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(self->tree && tl_tree_has_python(self->tree));
}

static PyObject *base_us(core_tree *self, void *unused)
{
	(void)unused;
	return PyLong_FromLongLong(tl_events_base_us(core_tree_events(self)));
}

static Py_ssize_t length(core_tree *self)
{
	return (Py_ssize_t)core_tree_count(self);
}

static PyMethodDef methods[] = {
	{"build", (PyCFunction)build, METH_VARARGS,
	 "build(with_python, clip_stream_overruns=False)\n--\n\nBuilds the tree, anew if it was."},
	{"mark_recompute", (PyCFunction)mark_recompute, METH_NOARGS,
	 "mark_recompute()\n--\n\nMarks what activation checkpointing computes again: (regions, events)."},
	{"pseudo_ops", (PyCFunction)pseudo_ops, METH_NOARGS,
	 "pseudo_ops()\n--\n\nMakes pseudo-operations: their number."},
	{"pseudo_need_python", (PyCFunction)pseudo_need_python, METH_NOARGS,
	 "pseudo_need_python()\n--\n\nWhether some pseudo-operations need Python frames in the tree."},
	{"event", (PyCFunction)event, METH_O, "event(uid)\n--\n\nThe event of a UID. KeyError."},
	{"append", (PyCFunction)append, METH_O, "append(values)\n--\n\nA new event with these keys: its UID."},
	{"settled", (PyCFunction)settled, METH_NOARGS, "settled()\n--\n\nThe tree knows all assignments."},
	{"parent", (PyCFunction)parent, METH_O, "parent(event)\n--\n\nUID or None."},
	{"children", (PyCFunction)children, METH_O, "children(event)\n--\n\nUIDs in order of start, GPU events last."},
	{"gpu_events", (PyCFunction)gpu_events, METH_O,
	 "gpu_events(event)\n--\n\nUIDs of GPU events below, by launch."},
	{"subtree", (PyCFunction)subtree, METH_O,
	 "subtree(event)\n--\n\nUIDs of an event and all below, parents first."},
	{"forward", (PyCFunction)forward, METH_O, "forward(event)\n--\n\nUID of the forward event, or None."},
	{"backward", (PyCFunction)backward, METH_O, "backward(event)\n--\n\nUIDs of the backward events."},
	{"module_parent", (PyCFunction)module_parent, METH_O,
	 "module_parent(event)\n--\n\nUID of the nn.Module above."},
	{"module_children", (PyCFunction)module_children, METH_O, "module_children(event)\n--\n\nUIDs of nn.Modules."},
	{"is_module", (PyCFunction)is_module, METH_O, "is_module(event)\n--\n\nWhether it is an nn.Module."},
	{"is_linked", (PyCFunction)is_linked, METH_O, "is_linked(event)\n--\n\nWhether it is a node of the tree."},
	{"nodes", (PyCFunction)nodes, METH_NOARGS, "nodes()\n--\n\nUIDs of all nodes, parents first."},
	{"roots", (PyCFunction)roots, METH_NOARGS, "roots()\n--\n\nUIDs of nodes without a parent, by start."},
	{"operation_roots", (PyCFunction)operation_roots, METH_NOARGS,
	 "operation_roots()\n--\n\nUIDs of operations without an operation above, by start."},
	{"unlinked", (PyCFunction)unlinked, METH_NOARGS, "unlinked()\n--\n\nUIDs of GPU events without a launch."},
	{"any_gpu_event", (PyCFunction)any_gpu_event, METH_VARARGS,
	 "any_gpu_event(linked_only)\n--\n\nWhether all_gpu_events has any."},
	{"all_gpu_events", (PyCFunction)all_gpu_events, METH_VARARGS,
	 "all_gpu_events(linked_only)\n--\n\nUIDs of kernels, copies and memsets."},
	{"names", (PyCFunction)names, METH_NOARGS, "names()\n--\n\nName -> UIDs of its nodes, as a dict."},
	{"named", (PyCFunction)named, METH_O, "named(name)\n--\n\nUIDs of the nodes of a name."},
	{"print", (PyCFunction)print_subtree, METH_VARARGS,
	 "print(event, fields, all, backward)\n--\n\nThe subtree as text."},
	{"print_parents", (PyCFunction)print_parents, METH_VARARGS,
	 "print_parents(event, fields, follow_forward)\n--\n\nThe parent chain as text, and the UID of its root."},
	{"call_stack", (PyCFunction)call_stack, METH_VARARGS,
	 "call_stack(event, filters, follow_forward)\n--\n\nNames up to the root."},
	{"health", (PyCFunction)health, METH_NOARGS, "health()\n--\n\nTable of doubts about trace and tree."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"events", (getter)get_events, NULL, "All events by UID, as a sequence.", NULL},
	{"trace", (getter)get_trace, NULL, "The trace.", NULL},
	{"overlay", (getter)get_overlay, NULL, "UID -> dict of what was assigned to the event.", NULL},
	{"dirty", (getter)get_dirty, NULL, "UIDs whose assignments the tree does not know yet (keys).", NULL},
	{"added", (getter)get_added, NULL, "UIDs of events that were appended and the tree does not know yet.", NULL},
	{"built", (getter)is_built, NULL, "Whether the tree is built.", NULL},
	{"edited", (getter)is_edited, NULL, "Whether the tree was changed after it was built.", NULL},
	{"has_python", (getter)has_python, NULL, "Whether Python frames are nodes.", NULL},
	{"base_us", (getter)base_us, NULL, "Time 0 of the tree in whole µs of the file's clock.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PySequenceMethods sequence = {.sq_length = (lenfunc)length};

PyTypeObject core_tree_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Tree",
	.tp_basicsize = sizeof(core_tree),
	.tp_dealloc = (destructor)dealloc,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc =
		"Tree(trace, prune_nongpu_paths=True)\n--\n\nThe call tree of a trace. len() is the number of events.",
	.tp_traverse = (traverseproc)traverse,
	.tp_clear = (inquiry)clear,
	.tp_weaklistoffset = offsetof(core_tree, weak),
	.tp_methods = methods,
	.tp_getset = members,
	.tp_as_sequence = &sequence,
	.tp_new = new_tree,
};
