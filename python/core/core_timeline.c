/* SPDX-License-Identifier: MIT */
/* GPU timelines of plain lists of events: numbers of Python to exact time, and what the library makes of it. */
#include "core.h"

#include <math.h>
#include <string.h>

/* ---- numbers to picoseconds ---- */

/*
 * Microseconds as decimal text in ps: digits beyond are cut. `*whole` gets the whole microseconds, `*ps` the rest.
 * Texts with an exponent are for numbers so large or small that a double is as exact.
 */
static bool parse_us(const char *text, int64_t *whole, int64_t *ps)
{
	const char *at = text + (*text == '-');
	bool minus = *text == '-';
	int64_t us = 0, rest = 0, unit = TL_PS_PER_US / 10;
	if (strpbrk(text, "eE")) {
		double value = PyOS_string_to_double(text, NULL, NULL);
		if (!(fabs(value) < 9e15))
			return false;
		us = (int64_t)value;
		rest = (int64_t)llround((value - (double)us) * (double)TL_PS_PER_US);
		*whole = us;
		*ps = rest;
		return true;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(us, 10, &us) || __builtin_add_overflow(us, *at - '0', &us))
			return false;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10)
			rest += (*at - '0') * unit;
	if (*at)
		return false;
	*whole = minus ? -us : us;
	*ps = minus ? -rest : rest;
	return true;
}

/* A number of µs; false with an exception when it is none, and true with *usable false when it is no time. */
static bool take_us(PyObject *number, const char *what, int64_t *whole, int64_t *ps, bool *usable)
{
	*ps = 0;
	*usable = true;
	if (PyLong_Check(number)) {
		int overflow;
		*whole = PyLong_AsLongLongAndOverflow(number, &overflow);
		*usable = !overflow;
		return !PyErr_Occurred();
	}
	double value = PyFloat_AsDouble(number);
	if (value == -1.0 && PyErr_Occurred()) {
		if (PyErr_ExceptionMatches(PyExc_TypeError))
			PyErr_Format(PyExc_TypeError, "%s must be a number of microseconds, not %.100s", what,
				     Py_TYPE(number)->tp_name);
		return false;
	}
	if (!isfinite(value)) {
		*usable = false;
		return true;
	}
	char *text = PyOS_double_to_string(value, 'r', 0, 0, NULL);
	if (!text)
		return PyErr_NoMemory() != NULL;
	*usable = parse_us(text, whole, ps);
	PyMem_Free(text);
	return true;
}

/* ---- lists of events ---- */

typedef struct moment {
	int64_t us, ps;
} moment;

/* Events of several lists one behind the other. */
typedef struct event_list {
	size_t n, room;
	moment *start;
	tl_time *dur, *begin; /* begin: start from the base, filled last */
	tl_gpu_class *class;
} event_list;

static void free_list(event_list *list)
{
	PyMem_Free(list->start);
	PyMem_Free(list->dur);
	PyMem_Free(list->begin);
	PyMem_Free(list->class);
}

static bool reserve(event_list *list, size_t more)
{
	size_t room = list->n + more + 1;
	void *start = PyMem_Realloc(list->start, room * sizeof *list->start);
	list->start = start ? start : list->start;
	void *dur = PyMem_Realloc(list->dur, room * sizeof *list->dur);
	list->dur = dur ? dur : list->dur;
	void *begin = PyMem_Realloc(list->begin, room * sizeof *list->begin);
	list->begin = begin ? begin : list->begin;
	void *class = PyMem_Realloc(list->class, room * sizeof *list->class);
	list->class = class ? class : list->class;
	if (start && dur && begin && class)
		return true;
	PyErr_NoMemory();
	return false;
}

/* A value of an event; NULL without an exception when it has none. */
static PyObject *field(PyObject *event, PyObject *key)
{
	if (PyDict_CheckExact(event))
		return Py_XNewRef(PyDict_GetItemWithError(event, key));
	PyObject *value = PyObject_GetItem(event, key);
	if (!value && PyErr_ExceptionMatches(PyExc_KeyError))
		PyErr_Clear();
	return value;
}

static PyObject *ts_key, *dur_key, *end_key;

/* end - start in ps, from two moments; TL_TIME_NONE when it is out of range. */
static tl_time difference(moment a, moment b)
{
	int64_t us, ps;
	if (__builtin_sub_overflow(a.us, b.us, &us) || __builtin_mul_overflow(us, TL_PS_PER_US, &ps) ||
	    __builtin_add_overflow(ps, a.ps - b.ps, &ps))
		return TL_TIME_NONE;
	return ps;
}

/* Whether t_end says no more than ts and dur do: then those are more exact. */
static int is_sum(PyObject *start, PyObject *dur, PyObject *end)
{
	PyObject *sum = PyNumber_Add(start, dur);
	int same = sum ? PyObject_RichCompareBool(sum, end, Py_EQ) : -1;
	Py_XDECREF(sum);
	return same;
}

static bool take_duration(PyObject *event, PyObject *start, moment at, tl_time *out, bool *complete)
{
	PyObject *dur = field(event, dur_key), *end = PyErr_Occurred() ? NULL : field(event, end_key);
	moment m = {0, 0};
	bool usable = false, good = !PyErr_Occurred();
	int same = good && dur && end ? is_sum(start, dur, end) : 1;
	*complete = dur || end;
	*out = TL_TIME_NONE;
	good = good && same >= 0;
	if (good && dur && same) {
		good = take_us(dur, "'dur' of a GPU event", &m.us, &m.ps, &usable);
		if (good && usable)
			*out = difference(m, (moment){0, 0});
	} else if (good && end) {
		good = take_us(end, "'t_end' of a GPU event", &m.us, &m.ps, &usable);
		if (good && usable)
			*out = difference(m, at);
	}
	Py_XDECREF(dur);
	Py_XDECREF(end);
	return good;
}

static bool add_event(event_list *list, PyObject *event, tl_gpu_class class)
{
	PyObject *start = field(event, ts_key);
	moment at = {0, 0};
	bool usable = false, complete = false;
	tl_time dur = TL_TIME_NONE;
	bool good = start && take_us(start, "'ts' of a GPU event", &at.us, &at.ps, &usable) &&
		    take_duration(event, start, at, &dur, &complete);
	if (!PyErr_Occurred() && (!start || !complete)) {
		PyErr_SetString(PyExc_ValueError, "a GPU event needs 'ts' and 'dur' (or 't_end')");
		good = false;
	}
	Py_XDECREF(start);
	if (!good)
		return false;
	list->start[list->n] = at;
	list->dur[list->n] = usable ? dur : TL_TIME_NONE;
	list->class[list->n++] = class;
	return true;
}

static bool add_events(event_list *list, PyObject *events, tl_gpu_class class)
{
	PyObject *tuple = core_snapshot(events, "a list of events is needed");
	bool good = tuple && reserve(list, (size_t)PyTuple_GET_SIZE(tuple));
	for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(tuple); i++)
		good = add_event(list, PyTuple_GET_ITEM(tuple, i), class);
	Py_XDECREF(tuple);
	return good;
}

static tl_gpu_event_list finish(event_list *list)
{
	moment base = {0, 0};
	for (size_t i = 0; i < list->n; i++)
		if (list->dur[i] != TL_TIME_NONE && (!base.us || list->start[i].us < base.us))
			base.us = list->start[i].us;
	for (size_t i = 0; i < list->n; i++)
		list->begin[i] = list->dur[i] == TL_TIME_NONE ? TL_TIME_NONE : difference(list->start[i], base);
	return (tl_gpu_event_list){.n = list->n, .start = list->begin, .dur = list->dur, .classes = list->class};
}

/* ---- functions ---- */

static PyObject *result_of(const tl_breakdown *parts, const tl_breakdown *all, bool threshold)
{
	const struct {
		const char *name;
		tl_time value;
		int when; /* 0 always, 1 with a threshold, -1 without */
	} values[] = {
		{"computation_time", parts->computation, 0},
		{"exposed_comm_time", parts->exposed_comm, 0},
		{"exposed_memcpy_time", parts->exposed_memcpy, 0},
		{"busy_time", all->busy, 0},
		{"idle_time", all->idle, -1},
		{"micro_idle_time", all->micro_idle, 1},
		{"macro_idle_time", all->macro_idle, 1},
		{"total_time", all->total, 0},
		{"total_comm_time", parts->total_comm, 0},
		{"total_memcpy_time", parts->total_memcpy, 0},
	};
	PyObject *dict = PyDict_New();
	for (size_t i = 0; dict && i < sizeof values / sizeof *values; i++) {
		if (values[i].when && (values[i].when > 0) != threshold)
			continue;
		PyObject *us = PyFloat_FromDouble((double)values[i].value / (double)TL_PS_PER_US);
		if (!us || PyDict_SetItemString(dict, values[i].name, us) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(us);
	}
	return dict;
}

static PyObject *breakdown(PyObject *module, PyObject *args)
{
	PyObject *all, *computation, *communication, *memcpy_events, *threshold;
	double us = 0;
	tl_breakdown parts_result = {0}, all_result = {0};
	event_list parts = {0}, every = {0};
	tl_error err = TL_ERROR_INIT;
	int code = 0;
	(void)module;
	if (!PyArg_ParseTuple(args, "OOOOO:breakdown", &all, &computation, &communication, &memcpy_events, &threshold))
		return NULL;
	if (threshold != Py_None && (us = PyFloat_AsDouble(threshold)) == -1.0 && PyErr_Occurred())
		return NULL;
	bool good = add_events(&every, all, TL_GPU_COMPUTATION) &&
		    add_events(&parts, computation, TL_GPU_COMPUTATION) &&
		    add_events(&parts, communication, TL_GPU_COMMUNICATION) &&
		    add_events(&parts, memcpy_events, TL_GPU_MEMCPY);
	if (good) {
		tl_gpu_event_list a = finish(&every), p = finish(&parts);
		const double *limit = threshold == Py_None ? NULL : &us;
		Py_BEGIN_ALLOW_THREADS
		code = tl_gpu_timeline_of_events(&all_result, &a, limit, &err);
		if (code == 0 && p.n)
			code = tl_gpu_timeline_of_events(&parts_result, &p, NULL, &err);
		Py_END_ALLOW_THREADS
	}
	free_list(&parts);
	free_list(&every);
	if (!good)
		return NULL;
	return code < 0 ? core_raise(code, &err) : result_of(&parts_result, &all_result, threshold != Py_None);
}

static PyObject *busy(PyObject *module, PyObject *events)
{
	event_list list = {0};
	tl_breakdown result = {0};
	tl_error err = TL_ERROR_INIT;
	int code = 0;
	(void)module;
	bool good = add_events(&list, events, TL_GPU_COMPUTATION);
	if (good && list.n) {
		tl_gpu_event_list all = finish(&list);
		code = tl_gpu_timeline_of_events(&result, &all, NULL, &err);
	}
	free_list(&list);
	if (!good)
		return NULL;
	if (code < 0 && code != TL_EEMPTY)
		return core_raise(code, &err);
	return PyFloat_FromDouble((double)result.busy / (double)TL_PS_PER_US);
}

/* The bytes of a text; what cannot be one in UTF-8 (a lone surrogate, as JSON may have) becomes '?'. */
static PyObject *bytes_of(PyObject *text)
{
	if (PyUnicode_Check(text))
		return PyUnicode_AsEncodedString(text, "utf-8", "replace");
	PyErr_Format(PyExc_TypeError, "a text or None is needed, not %.100s", Py_TYPE(text)->tp_name);
	return NULL;
}

static PyObject *classify(PyObject *module, PyObject *args)
{
	PyObject *category, *name;
	(void)module;
	if (!PyArg_ParseTuple(args, "OO:classify", &category, &name))
		return NULL;
	PyObject *cat_bytes = category == Py_None ? NULL : bytes_of(category);
	PyObject *name_bytes = PyErr_Occurred() || name == Py_None ? NULL : bytes_of(name);
	tl_gpu_class class = TL_GPU_COMPUTATION;
	bool good = !PyErr_Occurred();
	if (good)
		class = tl_gpu_classify(cat_bytes ? PyBytes_AS_STRING(cat_bytes) : NULL,
					name_bytes ? PyBytes_AS_STRING(name_bytes) : NULL);
	Py_XDECREF(cat_bytes);
	Py_XDECREF(name_bytes);
	if (!good)
		return NULL;
	switch (class) {
	case TL_GPU_COMPUTATION:
		return PyUnicode_InternFromString("computation");
	case TL_GPU_COMMUNICATION:
		return PyUnicode_InternFromString("communication");
	case TL_GPU_MEMCPY:
		return PyUnicode_InternFromString("memcpy");
	default:
		Py_RETURN_NONE;
	}
}

/* (µs, base in whole µs) to ps from the base, exactly. */
static PyObject *picoseconds(PyObject *module, PyObject *args)
{
	PyObject *number;
	long long base;
	moment at;
	bool usable;
	(void)module;
	if (!PyArg_ParseTuple(args, "OL:picoseconds", &number, &base) ||
	    !take_us(number, "a time", &at.us, &at.ps, &usable))
		return NULL;
	tl_time ps = usable ? difference(at, (moment){base, 0}) : TL_TIME_NONE;
	if (ps == TL_TIME_NONE) {
		PyErr_Format(PyExc_ValueError, "%R is no time in microseconds", number);
		return NULL;
	}
	return PyLong_FromLongLong(ps);
}

PyMethodDef core_timeline_methods[] = {
	{"breakdown", breakdown, METH_VARARGS,
	 "breakdown(all_gpu, computation, communication, memcpy, micro_idle_us)\n--\n\nGPU timeline of lists of events "
	 "as a\n"
	 "dict of µs."},
	{"busy", busy, METH_O, "busy(events)\n--\n\nµs in which at least one of the events runs."},
	{"classify", classify, METH_VARARGS,
	 "classify(cat, name)\n--\n\n'computation', 'communication', 'memcpy', or None for what is no GPU event."},
	{"picoseconds", picoseconds, METH_VARARGS,
	 "picoseconds(us, base_us)\n--\n\nTime from the base in ps, exactly."},
	{NULL, NULL, 0, NULL},
};

bool core_timeline_setup(void)
{
	ts_key = PyUnicode_InternFromString("ts");
	dur_key = PyUnicode_InternFromString("dur");
	end_key = PyUnicode_InternFromString("t_end");
	return ts_key && dur_key && end_key;
}
