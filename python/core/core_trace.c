/* SPDX-License-Identifier: MIT */
/* TraceLens._core.Trace: opening files and texts. */
#include "core.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Called on the thread that loads, which has released the GIL: Ctrl-C ends the loading. */
int core_on_progress(void *user, uint64_t done, uint64_t total)
{
	PyObject *callback = user;
	PyGILState_STATE state = PyGILState_Ensure();
	int stop = PyErr_CheckSignals();
	if (!stop && callback) {
		PyObject *answer =
			PyObject_CallFunction(callback, "KK", (unsigned long long)done, (unsigned long long)total);
		stop = answer ? 0 : -1;
		Py_XDECREF(answer);
	}
	PyGILState_Release(state);
	return stop;
}

static bool take_options(tl_trace_options *out, PyObject *progress)
{
	if (progress && progress != Py_None && !PyCallable_Check(progress)) {
		PyErr_SetString(PyExc_TypeError, "progress must be a function of (done, total)");
		return false;
	}
	out->progress = core_on_progress;
	out->user = progress == Py_None ? NULL : progress;
	return true;
}

static core_trace *new_trace(tl_trace *trace)
{
	core_trace *self = PyObject_New(core_trace, &core_trace_type);
	if (!self) {
		tl_trace_free(trace);
		return NULL;
	}
	self->trace = trace;
	self->packed = NULL;
	self->streams = NULL;
	self->lock = PyThread_allocate_lock();
	if (!self->lock) {
		Py_DECREF(self);
		PyErr_NoMemory();
		return NULL;
	}
	return self;
}

/* ---- whole events, later ---- */

enum { MOST_PACKED = 1 << 30 };

static bool is_packed(const unsigned char magic[4])
{
	return (magic[0] == 0x1f && magic[1] == 0x8b) || !memcmp(magic, "\x28\xb5\x2f\xfd", 4) ||
	       !memcmp(magic, "PK\3\4", 4);
}

/* The bytes of a packed file of a reasonable size; NULL without an exception for any other. */
static PyObject *read_packed(const char *path)
{
	struct stat status;
	unsigned char magic[4] = {0};
	if (!strcmp(path, "-") || stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 4 ||
	    status.st_size > MOST_PACKED)
		return NULL;
	FILE *file = fopen(path, "rb");
	bool packed = file && fread(magic, 1, 4, file) == 4 && is_packed(magic);
	PyObject *bytes = packed ? PyBytes_FromStringAndSize(NULL, status.st_size) : NULL;
	size_t n = 0;
	if (bytes) {
		rewind(file);
		Py_BEGIN_ALLOW_THREADS
		n = fread(PyBytes_AS_STRING(bytes), 1, (size_t)status.st_size, file);
		Py_END_ALLOW_THREADS
		if (n != (size_t)status.st_size) /* it changed meanwhile */
			Py_CLEAR(bytes);
	}
	if (file)
		fclose(file);
	return bytes;
}

bool core_trace_whole(core_trace *self)
{
	tl_error err = TL_ERROR_INIT;
	tl_trace *whole = NULL;
	int code = 0;
	if (!self->packed)
		return true;
	Py_BEGIN_ALLOW_THREADS
	PyThread_acquire_lock(self->lock, WAIT_LOCK);
	Py_END_ALLOW_THREADS
	PyObject *packed = Py_XNewRef(self->packed); /* another thread may have been faster */
	if (packed) {
		tl_trace_options options = {.keep_raw = true, .progress = core_on_progress};
		Py_BEGIN_ALLOW_THREADS
		code = tl_trace_open_memory(&whole, PyBytes_AS_STRING(packed), (size_t)PyBytes_GET_SIZE(packed),
					    &options, &err);
		Py_END_ALLOW_THREADS
		if (code == 0)
			code = tl_trace_take_raw(self->trace, whole, &err);
		if (code == 0)
			Py_CLEAR(self->packed);
		tl_trace_free(whole);
		Py_DECREF(packed);
	}
	PyThread_release_lock(self->lock);
	if (code < 0)
		core_raise(code, &err);
	return code == 0;
}

/* ---- opening ---- */

static char *open_keywords[] = {"", "strict", "single_thread", "keep_raw", "progress", NULL};

static PyObject *open_file(PyObject *class, PyObject *args, PyObject *keywords)
{
	PyObject *path, *progress = NULL;
	int strict = 0, single = 0, raw = 1;
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace;
	(void)class;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$pppO:open", open_keywords, PyUnicode_FSConverter, &path,
					 &strict, &single, &raw, &progress))
		return NULL;
	tl_trace_options options = {.strict = strict, .single_thread = single, .keep_raw = raw};
	if (!take_options(&options, progress)) {
		Py_DECREF(path);
		return NULL;
	}
	int code = TL_EIO;
	PyObject *packed = raw ? read_packed(PyBytes_AS_STRING(path)) : NULL;
	options.keep_raw = raw && !packed;
	if (packed) {
		Py_BEGIN_ALLOW_THREADS
		code = tl_trace_open_memory(&trace, PyBytes_AS_STRING(packed), (size_t)PyBytes_GET_SIZE(packed),
					    &options, &err);
		Py_END_ALLOW_THREADS
	}
	if (code < 0 && !PyErr_Occurred()) { /* of a bad file the library knows more when it opens it itself */
		Py_CLEAR(packed);
		options.keep_raw = raw;
		Py_BEGIN_ALLOW_THREADS
		code = tl_trace_open(&trace, PyBytes_AS_STRING(path), &options, &err);
		Py_END_ALLOW_THREADS
	}
	core_trace *result = NULL;
	if (code < 0)
		core_raise_file(code, &err, PyBytes_AS_STRING(path));
	else
		result = new_trace(trace);
	if (result)
		result->packed = Py_XNewRef(packed);
	Py_XDECREF(packed);
	Py_DECREF(path);
	return (PyObject *)result;
}

static PyObject *open_memory(PyObject *class, PyObject *args, PyObject *keywords)
{
	Py_buffer data;
	PyObject *progress = NULL;
	int strict = 0, single = 0, raw = 1;
	tl_error err = TL_ERROR_INIT;
	tl_trace *trace;
	(void)class;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "y*|$pppO:open_memory", open_keywords, &data, &strict, &single,
					 &raw, &progress))
		return NULL;
	tl_trace_options options = {.strict = strict, .single_thread = single, .keep_raw = raw};
	if (!take_options(&options, progress)) {
		PyBuffer_Release(&data);
		return NULL;
	}
	int code;
	Py_BEGIN_ALLOW_THREADS
	code = tl_trace_open_memory(&trace, data.buf, (size_t)data.len, &options, &err);
	Py_END_ALLOW_THREADS
	PyBuffer_Release(&data);
	return code == 0 ? (PyObject *)new_trace(trace) : core_raise(code, &err);
}

static void dealloc(core_trace *self)
{
	tl_trace_free(self->trace);
	Py_XDECREF(self->packed);
	core_streams_free(self->streams);
	if (self->lock)
		PyThread_free_lock(self->lock);
	PyObject_Free(self);
}

static PyObject *health(core_trace *self, PyObject *unused)
{
	tl_table *table;
	tl_error err = TL_ERROR_INIT;
	(void)unused;
	int code = tl_trace_health(&table, self->trace, &err);
	return code == 0 ? core_table_new(table) : core_raise(code, &err);
}

static PyObject *metadata(core_trace *self, PyObject *unused)
{
	PyObject *dict = PyDict_New();
	(void)unused;
	for (size_t i = 0; dict && i < tl_trace_metadata_count(self->trace); i++) {
		size_t n;
		const char *key = tl_trace_metadata_key(self->trace, i);
		const char *json = tl_trace_metadata_json(self->trace, i, &n);
		PyObject *name = core_text(key, strlen(key)), *value = name ? core_parse_json(json, n) : NULL;
		if (!value || PyDict_SetItem(dict, name, value) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(name);
		Py_XDECREF(value);
	}
	return dict;
}

static Py_ssize_t length(core_trace *self)
{
	return (Py_ssize_t)tl_trace_count(self->trace);
}

static PyObject *truncated(core_trace *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(tl_trace_is_truncated(self->trace));
}

static PyObject *text_bytes(core_trace *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(tl_trace_text_bytes(self->trace));
}

static PyObject *memory(core_trace *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(tl_trace_memory(self->trace));
}

static PyMethodDef methods[] = {
	{"open", (PyCFunction)(void (*)(void))open_file, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "open(path, *, strict=False, single_thread=False, keep_raw=True, progress=None)\n--\n\n"
	 "Loads a PyTorch trace: JSON, plain or packed, found by content. progress(done, total) is called with bytes "
	 "of\n"
	 "the file about ten times a second; what it raises ends the loading."},
	{"open_memory", (PyCFunction)(void (*)(void))open_memory, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "open_memory(data, *, strict=False, single_thread=False, keep_raw=True, progress=None)\n--\n\n"
	 "The same of bytes in memory, which are not kept."},
	{"health", (PyCFunction)health, METH_NOARGS,
	 "health()\n--\n\nTable of what was repaired or is doubtful, one row a kind."},
	{"metadata", (PyCFunction)metadata, METH_NOARGS,
	 "metadata()\n--\n\nTop-level keys of the file other than traceEvents, with their values, as a dict."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
	{"truncated", (getter)truncated, NULL, "Whether the file ended in the middle of something.", NULL},
	{"text_bytes", (getter)text_bytes, NULL, "Bytes of JSON text read, unpacked.", NULL},
	{"memory", (getter)memory, NULL, "Bytes of memory that the events take.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PySequenceMethods sequence = {.sq_length = (lenfunc)length};

PyTypeObject core_trace_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "TraceLens._core.Trace",
	.tp_basicsize = sizeof(core_trace),
	.tp_dealloc = (destructor)dealloc,
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_doc = "A loaded trace: its events, which do not change. len() is the number of events.",
	.tp_methods = methods,
	.tp_getset = members,
	.tp_as_sequence = &sequence,
};
