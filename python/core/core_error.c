/* SPDX-License-Identifier: MIT */
/* Failures as exceptions, bytes as strings, lists of UIDs. */
#include "core.h"

#include <errno.h>
#include <string.h>

static PyObject *exception_of(int code)
{
	switch (code) {
	case TL_ENOMEM:
		return PyExc_MemoryError;
	case TL_EIO:
		return PyExc_OSError;
	case TL_EFORMAT:
	case TL_EINVAL:
	case TL_ESTRICT:
	case TL_EEMPTY:
		return PyExc_ValueError;
	case TL_ENOTFOUND:
		return PyExc_KeyError;
	case TL_EUNSUPPORTED:
		return PyExc_NotImplementedError;
	case TL_ECANCELLED:
		return PyExc_KeyboardInterrupt;
	case TL_ELIMIT:
		return PyExc_OverflowError;
	default:
		return PyExc_RuntimeError;
	}
}

PyObject *core_raise_as(PyObject *type, PyObject *arguments, int code, const tl_error *err)
{
	PyObject *error = arguments ? PyObject_CallObject(type, arguments) : NULL;
	PyObject *reason = PyUnicode_FromString(tl_code_name(code));
	PyObject *file = err && *err->file ? PyUnicode_DecodeFSDefault(err->file) : Py_NewRef(Py_None);
	if (error && reason && file && PyObject_SetAttrString(error, "reason", reason) == 0 &&
	    PyObject_SetAttrString(error, "file", file) == 0)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(error);
	Py_XDECREF(reason);
	Py_XDECREF(file);
	Py_XDECREF(arguments);
	return NULL;
}

PyObject *core_raise(int code, const tl_error *err)
{
	if (PyErr_Occurred())
		return NULL;
	if (code == TL_ENOMEM)
		return PyErr_NoMemory();
	const char *message = err && err->message[0] ? err->message : tl_code_name(code);
	PyObject *text = core_text(message, strlen(message));
	/* with a number Python makes it the fitting OSError: FileNotFoundError, PermissionError */
	PyObject *arguments = code == TL_EIO && err && err->system_errno
				      ? Py_BuildValue("(iN)", err->system_errno, text)
				      : Py_BuildValue("(N)", text);
	return core_raise_as(exception_of(code), arguments, code, err);
}

PyObject *core_raise_file(int code, const tl_error *err, const char *path)
{
	if (code != TL_EIO || PyErr_Occurred())
		return core_raise(code, err);
	int number = err->system_errno ? err->system_errno : EIO;
	PyObject *text = core_text(err->message, strlen(err->message));
	PyObject *arguments = Py_BuildValue("(iNN)", number, text, PyUnicode_DecodeFSDefault(path));
	return core_raise_as(PyExc_OSError, arguments, code, err);
}

int core_path(PyObject *object, void *out)
{
	if (object == Py_None) {
		*(PyObject **)out = NULL;
		return 1;
	}
	return PyUnicode_FSConverter(object, out);
}

PyObject *core_text(const char *text, size_t n)
{
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
}

bool core_is_mapping(PyObject *object)
{
	return PyDict_Check(object) || (PyMapping_Check(object) && PyObject_HasAttrString(object, "items"));
}

const char *core_utf8(PyObject *text, const char *what)
{
	if (PyUnicode_Check(text)) {
		const char *utf8 = PyUnicode_AsUTF8(text);
		if (!utf8 && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
			PyErr_Clear();
			PyErr_Format(PyExc_ValueError, "%s holds a lone surrogate and is no text", what);
		}
		return utf8;
	}
	PyErr_Format(PyExc_TypeError, "%s must be a str, not %.100s", what, Py_TYPE(text)->tp_name);
	return NULL;
}

/* ---- one string for each text ---- */

static struct core_text *slot_of(const core_texts *texts, const char *key)
{
	size_t at = ((uintptr_t)key >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & texts->mask;
	while (texts->slots[at].key && texts->slots[at].key != key)
		at = (at + 1) & texts->mask;
	return &texts->slots[at];
}

static bool grow(core_texts *texts)
{
	core_texts larger = {.mask = texts->slots ? texts->mask * 2 + 1 : 255, .n = texts->n};
	if (texts->slots && texts->n * 2 <= texts->mask)
		return true;
	larger.slots = PyMem_Calloc(larger.mask + 1, sizeof *larger.slots);
	if (!larger.slots) {
		PyErr_NoMemory();
		return false;
	}
	for (size_t i = 0; texts->slots && i <= texts->mask; i++)
		if (texts->slots[i].key)
			*slot_of(&larger, texts->slots[i].key) = texts->slots[i];
	PyMem_Free(texts->slots);
	*texts = larger;
	return true;
}

PyObject *core_texts_get(core_texts *texts, const char *text, size_t n)
{
	if (!grow(texts))
		return NULL;
	struct core_text *slot = slot_of(texts, text);
	if (!slot->key) {
		PyObject *made = core_text(text, n);
		if (!made)
			return NULL;
		slot->key = text;
		slot->text = made;
		texts->n++;
	}
	return Py_NewRef(slot->text);
}

void core_texts_clear(core_texts *texts)
{
	for (size_t i = 0; texts->slots && i <= texts->mask; i++)
		Py_XDECREF(texts->slots[i].text);
	PyMem_Free(texts->slots);
	*texts = (core_texts){0};
}

/* ---- lists ---- */

int core_collect(void *user, const char *text, size_t n)
{
	PyObject *item = core_text(text, n);
	int code = item ? PyList_Append(user, item) : -1;
	Py_XDECREF(item);
	return code;
}

PyObject *core_rows(const tl_row *rows, size_t n)
{
	PyObject *list = PyList_New((Py_ssize_t)n);
	for (size_t i = 0; list && i < n; i++) {
		PyObject *row = PyLong_FromUnsignedLong(rows[i]);
		if (!row)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, row);
	}
	return list;
}

PyObject *core_snapshot(PyObject *sequence, const char *needed)
{
	PyObject *fast = PySequence_Fast(sequence, needed);
	if (fast && PyList_Check(fast))
		Py_SETREF(fast, PyList_AsTuple(fast));
	return fast;
}

bool core_take_rows(tl_row **out, size_t *n, PyObject *sequence, core_tree *tree)
{
	PyObject *tuple = core_snapshot(sequence, "a sequence of events or UIDs is needed");
	*out = NULL;
	*n = 0;
	if (!tuple)
		return false;
	size_t count = (size_t)PyTuple_GET_SIZE(tuple);
	tl_row *rows = PyMem_Malloc((count + 1) * sizeof *rows);
	bool good = rows != NULL;
	if (!rows)
		PyErr_NoMemory();
	for (size_t i = 0; good && i < count; i++)
		good = core_tree_row(tree, PyTuple_GET_ITEM(tuple, (Py_ssize_t)i), &rows[i]);
	Py_DECREF(tuple);
	if (!good) {
		PyMem_Free(rows);
		return false;
	}
	*out = rows;
	*n = count;
	return true;
}
