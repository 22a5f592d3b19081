/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Diff: two call trees laid over each other. */
#include <stddef.h>
#include <string.h>

#include "core.h"

/* A side is 0 or 1 inside, 1 or 2 for Python. The trees live as long; `version` says whether they are still the same.
 */
typedef struct core_diff {
	PyObject_HEAD
	core_tree *tree[2];
	unsigned long version[2];
	tl_diff *diff;
} core_diff;

/* ---- what may be worked with ---- */

static bool is_fresh(core_diff *self)
{
	for (int s = 0; s < 2; s++)
		if (self->version[s] != self->tree[s]->version) {
			PyErr_Format(PyExc_ValueError, "tree %d was changed after it was compared: compare it anew",
				     s + 1);
			return false;
		}
	return true;
}

static void leave(core_diff *self)
{
	core_tree_leave(self->tree[0]);
	if (self->tree[1] != self->tree[0])
		core_tree_leave(self->tree[1]);
}

/* Nobody changes the trees until leave(). Threads that compare the same trees in another order wait for each other. */
static bool enter(core_diff *self)
{
	core_tree *first = self->tree[0], *second = self->tree[1];
	if ((uintptr_t)first > (uintptr_t)second) {
		first = self->tree[1];
		second = self->tree[0];
	}
	if (!core_tree_enter(first))
		return false;
	if (second != first && !core_tree_enter(second)) {
		core_tree_leave(first);
		return false;
	}
	return true;
}

static bool enter_fresh(core_diff *self)
{
	if (!enter(self))
		return false;
	if (is_fresh(self))
		return true;
	leave(self);
	return false;
}

static bool take_side(long number, int *out)
{
	if (number != TL_DIFF_BASELINE && number != TL_DIFF_VARIANT) {
		PyErr_Format(PyExc_ValueError, "the trees are 1 and 2, there is no tree %ld", number);
		return false;
	}
	*out = number == TL_DIFF_VARIANT;
	return true;
}

static tl_diff_side side_of(int side)
{
	return side ? TL_DIFF_VARIANT : TL_DIFF_BASELINE;
}

static PyObject *uid_or_none(tl_row row)
{
	if (row == TL_ROW_NONE)
		Py_RETURN_NONE;
	return PyLong_FromUnsignedLong(row);
}

/* ---- life ---- */

static int compare(core_diff *self, const char *twins, tl_error *err)
{
	int code;
	for (int s = 0; s < 2; s++)
		self->version[s] = self->tree[s]->version;
	const tl_tree *baseline = self->tree[0]->tree, *variant = self->tree[1]->tree;
	Py_BEGIN_ALLOW_THREADS
	code = tl_diff_new(&self->diff, baseline, variant, &(tl_diff_options){.twins = twins}, err);
	Py_END_ALLOW_THREADS
	return code;
}

static PyObject *new_diff(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"baseline", "variant", "twins", NULL};
	core_tree *baseline, *variant;
	PyObject *twins = Py_None;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!|O:Diff", names, &core_tree_type, &baseline,
					 &core_tree_type, &variant, &twins))
		return NULL;
	const char *text = twins == Py_None ? NULL : core_utf8(twins, "twins");
	if ((!text && twins != Py_None) || !core_tree_built(baseline) || !core_tree_built(variant))
		return NULL;
	core_diff *self = (core_diff *)type->tp_alloc(type, 0);
	if (!self)
		return NULL;
	self->tree[0] = (core_tree *)Py_NewRef(baseline);
	self->tree[1] = (core_tree *)Py_NewRef(variant);
	int code = 0;
	if (enter(self)) {
		if (baseline->editing || variant->editing)
			PyErr_SetString(PyExc_ValueError, "the tree is being edited");
		else
			code = compare(self, text, &err);
		leave(self);
	}
	if (code < 0)
		core_raise(code, &err);
	if (PyErr_Occurred())
		Py_CLEAR(self);
	return (PyObject *)self;
}

static int traverse(core_diff *self, visitproc visit, void *arg)
{
	Py_VISIT(self->tree[0]);
	Py_VISIT(self->tree[1]);
	return 0;
}

static void dealloc(core_diff *self)
{
	PyObject_GC_UnTrack(self);
	tl_diff_free(self->diff);
	Py_XDECREF(self->tree[0]);
	Py_XDECREF(self->tree[1]);
	Py_TYPE(self)->tp_free(self);
}

/* ---- the merged tree ---- */

static PyObject *node_tuple(tl_diff_node node)
{
	PyObject *parent = uid_or_none(node.parent == TL_DIFF_NONE ? TL_ROW_NONE : node.parent);
	return Py_BuildValue("(NNNkNN)", uid_or_none(node.baseline), uid_or_none(node.variant), parent,
			     (unsigned long)node.end, PyBool_FromLong(node.moved), PyBool_FromLong(node.unlinked));
}

static PyObject *nodes(core_diff *self, PyObject *unused)
{
	(void)unused;
	if (!is_fresh(self))
		return NULL;
	size_t n = tl_diff_count(self->diff);
	PyObject *list = PyList_New((Py_ssize_t)n);
	for (size_t i = 0; list && i < n; i++) {
		PyObject *node = node_tuple(tl_diff_get(self->diff, i));
		if (!node)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, node);
	}
	return list;
}

static Py_ssize_t length(core_diff *self)
{
	return (Py_ssize_t)tl_diff_count(self->diff);
}

static bool take_event(core_diff *self, PyObject *args, int *side, tl_row *row)
{
	long number;
	PyObject *event;
	return PyArg_ParseTuple(args, "lO", &number, &event) && take_side(number, side) && is_fresh(self) &&
	       core_tree_row(self->tree[*side], event, row);
}

static PyObject *node_of(core_diff *self, PyObject *args)
{
	int side;
	tl_row row;
	if (!take_event(self, args, &side, &row))
		return NULL;
	uint32_t node = tl_diff_node_of(self->diff, side_of(side), row);
	return uid_or_none(node == TL_DIFF_NONE ? TL_ROW_NONE : node);
}

static PyObject *corresponding(core_diff *self, PyObject *args)
{
	int side;
	tl_row row;
	if (!take_event(self, args, &side, &row))
		return NULL;
	return uid_or_none(tl_diff_corresponding(self->diff, side_of(side), row));
}

/* ---- tables ---- */

typedef int (*table_maker)(tl_table **out, const tl_diff *diff, tl_error *err);

static PyObject *table_of(core_diff *self, table_maker make)
{
	tl_table *table;
	tl_error err = TL_ERROR_INIT;
	int code;
	if (!enter_fresh(self))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	code = make(&table, self->diff, &err);
	Py_END_ALLOW_THREADS
	leave(self);
	return code == 0 ? core_table_new(table) : core_raise(code, &err);
}

static PyObject *stats(core_diff *self, PyObject *unused)
{
	(void)unused;
	return table_of(self, tl_diff_stats);
}

static PyObject *unique_args(core_diff *self, PyObject *unused)
{
	(void)unused;
	return table_of(self, tl_diff_stats_unique_args);
}

static PyObject *op_map(core_diff *self, PyObject *unused)
{
	(void)unused;
	return table_of(self, tl_diff_op_map);
}

static PyObject *largest(core_diff *self, PyObject *unused)
{
	(void)unused;
	return table_of(self, tl_diff_largest);
}

static double microseconds(tl_time ps)
{
	return (double)ps / (double)TL_PS_PER_US;
}

static PyObject *side_totals(const tl_diff_side_totals *t)
{
	return Py_BuildValue("{s:n,s:d,s:n,s:d,s:n,s:d,s:n,s:d,s:n,s:d,s:n,s:n,s:n,s:n}", "gpu_events",
			     (Py_ssize_t)t->gpu_events, "gpu_time_us", microseconds(t->gpu_time), "under_operation",
			     (Py_ssize_t)t->under_operation, "under_operation_us",
			     microseconds(t->under_operation_time), "under_call", (Py_ssize_t)t->under_call,
			     "under_call_us", microseconds(t->under_call_time), "unlinked", (Py_ssize_t)t->unlinked,
			     "unlinked_us", microseconds(t->unlinked_time), "in_matched", (Py_ssize_t)t->in_matched,
			     "in_matched_us", microseconds(t->in_matched_time), "operations", (Py_ssize_t)t->operations,
			     "unmatched_nodes", (Py_ssize_t)t->unmatched_nodes, "unmatched_subtrees",
			     (Py_ssize_t)t->unmatched_subtrees, "looked_through", (Py_ssize_t)t->looked_through);
}

static PyObject *totals(core_diff *self, PyObject *unused)
{
	tl_diff_totals t;
	(void)unused;
	tl_diff_get_totals(self->diff, &t);
	return Py_BuildValue("{s:N,s:N,s:n,s:n,s:N}", "trace1", side_totals(&t.side[0]), "trace2",
			     side_totals(&t.side[1]), "matched_operations", (Py_ssize_t)t.matched_operations, "moved",
			     (Py_ssize_t)t.moved, "identical", PyBool_FromLong(t.identical));
}

/* ---- text and files ---- */

/* Text that comes while the GIL is released. */
typedef struct pieces {
	char *v;
	size_t n, room;
} pieces;

static int collect(void *user, const char *text, size_t n)
{
	pieces *p = user;
	if (p->room - p->n < n) {
		size_t room = 2 * p->room + n + 4096;
		char *v = PyMem_RawRealloc(p->v, room);
		if (!v)
			return -1;
		p->v = v;
		p->room = room;
	}
	memcpy(p->v + p->n, text, n);
	p->n += n;
	return 0;
}

static PyObject *print(core_diff *self, PyObject *args)
{
	int prune;
	PyObject *number = Py_None;
	tl_diff_print_options options = {0};
	pieces text = {0};
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "p|O:print", &prune, &number))
		return NULL;
	options.prune_non_gpu = prune;
	if (number != Py_None) {
		unsigned long node = PyLong_AsUnsignedLong(number);
		if (node == (unsigned long)-1 && PyErr_Occurred())
			return NULL;
		options.one = true;
		options.node = node < TL_DIFF_NONE ? (uint32_t)node : TL_DIFF_NONE;
	}
	if (!enter_fresh(self))
		return NULL;
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_diff_print(self->diff, &options, collect, &text, &err);
	Py_END_ALLOW_THREADS
	leave(self);
	PyObject *result = code == 0 ? PyBytes_FromStringAndSize(text.v, (Py_ssize_t)text.n)
				     : core_raise(code == TL_ECALLBACK ? TL_ENOMEM : code, &err);
	PyMem_RawFree(text.v);
	return result;
}

static PyObject *write_files(core_diff *self, PyObject *args)
{
	PyObject *folder;
	int prune, code;
	tl_error err = TL_ERROR_INIT;
	if (!PyArg_ParseTuple(args, "O&p:write", PyUnicode_FSConverter, &folder, &prune))
		return NULL;
	PyObject *result = NULL;
	if (enter_fresh(self)) {
		Py_BEGIN_ALLOW_THREADS
		code = tl_diff_write(self->diff, PyBytes_AS_STRING(folder), prune, &err);
		Py_END_ALLOW_THREADS
		leave(self);
		const char *path = *err.file ? err.file : PyBytes_AS_STRING(folder);
		result = code < 0 ? core_raise_file(code, &err, path) : Py_NewRef(Py_None);
	}
	Py_DECREF(folder);
	return result;
}

static PyMethodDef methods[] = {
	{"nodes", (PyCFunction)nodes, METH_NOARGS,
	 "nodes()\n--\n\nThe merged tree, parents first, as a list of (UID in the baseline or None, UID in the variant "
	 "or None,\n"
	 "number of the node above or None, one past the last node below, moved, root of what has no launch)."},
	{"node_of", (PyCFunction)node_of, METH_VARARGS,
	 "node_of(tree, event)\n--\n\nNumber of the node of an event of tree 1 or 2, or None. KeyError: no such "
	 "event."},
	{"corresponding", (PyCFunction)corresponding, METH_VARARGS,
	 "corresponding(tree, event)\n--\n\nUID of the event of the other tree that an event of tree 1 or 2 was "
	 "matched with,\n"
	 "or None. KeyError: no such event."},
	{"stats", (PyCFunction)stats, METH_NOARGS, "stats()\n--\n\nTable of GPU events by lowest common ancestor."},
	{"unique_args", (PyCFunction)unique_args, METH_NOARGS,
	 "unique_args()\n--\n\nThe same by kernel, operation, side, arguments, ancestor and module."},
	{"op_map", (PyCFunction)op_map, METH_NOARGS,
	 "op_map()\n--\n\nTable of operations, sides, kernels and nn.Modules."},
	{"largest", (PyCFunction)largest, METH_NOARGS,
	 "largest()\n--\n\nTable of lowest common ancestors by the difference of their GPU times."},
	{"totals", (PyCFunction)totals, METH_NOARGS,
	 "totals()\n--\n\nWhat was matched and what the figures cover, as a dict; times in \302\265s."},
	{"print", (PyCFunction)print, METH_VARARGS,
	 "print(prune_non_gpu, node=None)\n--\n\nThe merged tree, or one of its nodes and what is below, as UTF-8."},
	{"write", (PyCFunction)write_files, METH_VARARGS,
	 "write(folder, prune_non_gpu)\n--\n\nWrites all files of a comparison."},
	{NULL, NULL, 0, NULL},
};

static PySequenceMethods sequence = {.sq_length = (lenfunc)length};

PyTypeObject core_diff_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Diff",
	.tp_basicsize = sizeof(core_diff),
	.tp_dealloc = (destructor)dealloc,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.tp_doc =
		"Diff(baseline, variant, twins=None)\n--\n\nTwo built trees laid over each other; neither is "
		"changed. twins:\n"
		"lines NAME = NAME of names that mean the same. len() is the number of nodes of the merged tree. Once "
		"a\n"
		"tree was changed, methods raise ValueError.",
	.tp_traverse = (traverseproc)traverse,
	.tp_methods = methods,
	.tp_as_sequence = &sequence,
	.tp_new = new_diff,
};
