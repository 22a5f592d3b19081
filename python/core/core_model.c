/* SPDX-License-Identifier: MIT */
/* Operation models without a trace: what built-in models say of single operations, and costs from sizes alone. */
#include "core.h"

#include <math.h>
#include <string.h>

/* ---- one operation ---- */

/* Texts of a sequence of str, which must outlive them; PyMem_Free. NULL with an exception, or for an empty one. */
static const char **take_texts(PyObject *tuple, size_t *n)
{
	*n = (size_t)PyTuple_GET_SIZE(tuple);
	const char **texts = *n ? PyMem_Calloc(*n, sizeof(*texts)) : NULL;
	if (*n && !texts)
		PyErr_NoMemory();
	for (size_t i = 0; texts && i < *n; i++) {
		texts[i] = core_utf8(PyTuple_GET_ITEM(tuple, (Py_ssize_t)i), "the name of a kernel");
		if (!texts[i]) {
			PyMem_Free(texts);
			return NULL;
		}
	}
	return texts;
}

static PyObject *model_evaluate(PyObject *module, PyObject *args)
{
	tl_model_question q = {0};
	PyObject *kernels;
	tl_error err = TL_ERROR_INIT;
	(void)module;
	if (!PyArg_ParseTuple(args, "szzO!z:model_evaluate", &q.name, &q.args, &q.forward, &PyTuple_Type, &kernels,
			      &q.annotation))
		return NULL;
	const char **names = take_texts(kernels, &q.n_kernels);
	if (PyErr_Occurred())
		return NULL;
	q.kernels = names;
	core_builder b = {.depth = 0};
	int code = tl_model_evaluate(&q, core_build_item, &b, &err);
	PyMem_Free(names);
	return core_build_end(&b, code, &err);
}

/* ---- sizes alone ---- */

enum { MAX_PARAMS = 32, MAX_RANK = 64 };

/* Whole numbers of a sequence into `out`; false with an exception. */
static bool take_sizes(PyObject *value, int64_t out[MAX_RANK], size_t *n)
{
	PyObject *tuple = core_snapshot(value, "a shape is a sequence of whole numbers");
	if (!tuple)
		return false;
	*n = (size_t)PyTuple_GET_SIZE(tuple);
	if (*n > MAX_RANK)
		PyErr_SetString(PyExc_ValueError, "a shape of too many dimensions");
	for (size_t i = 0; i < *n && !PyErr_Occurred(); i++)
		out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, (Py_ssize_t)i));
	Py_DECREF(tuple);
	return !PyErr_Occurred();
}

static bool take_value(tl_estimate_param *out, PyObject *value, int64_t sizes[MAX_RANK])
{
	if (PyUnicode_Check(value)) {
		out->kind = TL_ESTIMATE_TEXT;
		out->text = core_utf8(value, "a parameter");
		return out->text != NULL;
	}
	if (PyList_Check(value) || PyTuple_Check(value)) {
		out->kind = TL_ESTIMATE_SIZES;
		out->sizes = sizes;
		return take_sizes(value, sizes, &out->n_sizes);
	}
	PyObject *number = PyNumber_Index(value);
	if (!number)
		return false;
	out->kind = TL_ESTIMATE_NUMBER;
	out->number = PyLong_AsLongLong(number);
	Py_DECREF(number);
	return !PyErr_Occurred();
}

/* Whole numbers as int, others as float, None for what is not known. */
static PyObject *number_or_none(double value)
{
	if (isnan(value))
		Py_RETURN_NONE;
	return value == floor(value) && fabs(value) < 0x1p63 ? PyLong_FromDouble(value) : PyFloat_FromDouble(value);
}

static PyObject *result_of(const tl_estimate_result *r)
{
	PyObject *shape = PyTuple_New((Py_ssize_t)r->output_rank);
	for (size_t i = 0; shape && i < r->output_rank; i++)
		PyTuple_SET_ITEM(shape, (Py_ssize_t)i, PyLong_FromLongLong(r->output[i]));
	return Py_BuildValue("{sNsNsssN}", "flops", number_or_none(r->flops), "bytes", number_or_none(r->bytes), "spec",
			     r->compute_spec, "output", shape);
}

static PyObject *estimate(PyObject *module, PyObject *args, PyObject *keywords)
{
	const char *family;
	tl_estimate_param params[MAX_PARAMS];
	int64_t sizes[MAX_PARAMS][MAX_RANK];
	size_t n = 0;
	Py_ssize_t at = 0;
	PyObject *key, *value;
	tl_estimate_result result;
	tl_error err = TL_ERROR_INIT;
	(void)module;
	if (!PyArg_ParseTuple(args, "s:estimate", &family))
		return NULL;
	while (keywords && PyDict_Next(keywords, &at, &key, &value)) {
		if (value == Py_None)
			continue;
		if (n == MAX_PARAMS) {
			PyErr_SetString(PyExc_TypeError, "too many parameters");
			return NULL;
		}
		params[n] = (tl_estimate_param){.name = core_utf8(key, "the name of a parameter")};
		if (!params[n].name || !take_value(&params[n], value, sizes[n]))
			return NULL;
		n++;
	}
	int code = tl_estimate(&result, family, params, n, NULL, &err);
	return code < 0 ? core_raise(code == TL_ENOTFOUND ? TL_EINVAL : code, &err) : result_of(&result);
}

static PyObject *softmax_time(PyObject *module, PyObject *args)
{
	const char *json;
	Py_ssize_t n_json;
	double m, n, size, batch, cus, us = 0;
	int force, backward;
	tl_arch *arch;
	tl_error err = TL_ERROR_INIT;
	(void)module;
	if (!PyArg_ParseTuple(args, "s#ddddppd:softmax_time", &json, &n_json, &m, &n, &size, &batch, &force, &backward,
			      &cus))
		return NULL;
	int code = tl_arch_parse(&arch, json, (size_t)n_json, "arch", &err);
	if (code == 0) {
		code = tl_estimate_softmax_time(&us, arch, m, n, size, batch, force, backward, cus, &err);
		tl_arch_free(arch);
	}
	return code < 0 ? core_raise(code, &err) : PyFloat_FromDouble(us);
}

/* ---- names ---- */

static PyObject *category_only(PyObject *module, PyObject *unused)
{
	const char *name, *category;
	PyObject *dict = PyDict_New();
	(void)module;
	(void)unused;
	for (size_t i = 0; dict && (name = tl_model_category_only_at(i, &category)); i++) {
		PyObject *text = core_text(category, strlen(category));
		if (!text || PyDict_SetItemString(dict, name, text) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(text);
	}
	return dict;
}

static PyObject *model_category(PyObject *module, PyObject *args)
{
	const char *name, *kernel = NULL;
	(void)module;
	if (!PyArg_ParseTuple(args, "s|z:model_category", &name, &kernel))
		return NULL;
	const char *category = tl_model_category(name, kernel);
	return core_text(category, strlen(category));
}

static PyObject *dtype_info(PyObject *module, PyObject *name)
{
	const char *text = core_utf8(name, "the name of a dtype");
	(void)module;
	return text ? Py_BuildValue("(iz)", tl_model_type_bytes(text), tl_model_type_precision(text)) : NULL;
}

static PyObject *flag(int value)
{
	return value < 0 ? Py_NewRef(Py_None) : PyBool_FromLong(value);
}

static PyObject *gemm_kernel(PyObject *module, PyObject *name)
{
	const char *text = core_utf8(name, "the name of a kernel");
	tl_gemm_name g;
	(void)module;
	if (!text)
		return NULL;
	if (!tl_model_gemm_kernel(&g, text))
		Py_RETURN_NONE;
	return Py_BuildValue("(NNLLL)", flag(g.transpose_a), flag(g.transpose_b), (long long)g.tile_m,
			     (long long)g.tile_n, (long long)g.tile_k);
}

static bool set_number(PyObject *dict, const char *key, double value)
{
	PyObject *number = number_or_none(value);
	bool good = number && PyDict_SetItemString(dict, key, number) == 0;
	Py_XDECREF(number);
	return good;
}

static PyObject *platform(PyObject *module, PyObject *name)
{
	static const char *const figures[] = {"mem_bw_gbps", "memory_gb",  "num_cus",
					      "freq_mhz",    "l1_bw_gbps", "gemm_units_per_cu"};
	const char *text = core_utf8(name, "the name of a platform"), *spec;
	tl_arch *arch;
	tl_error err = TL_ERROR_INIT;
	(void)module;
	int code = text ? tl_arch_find(&arch, text, &err) : 0;
	if (!text || code < 0)
		return text ? core_raise(code, &err) : NULL;
	PyObject *rates = PyDict_New(), *peaks = PyDict_New();
	bool good = rates && peaks;
	for (size_t i = 0; good && (spec = tl_arch_spec(arch, i)); i++) {
		bool is_peak;
		double rate = tl_arch_rate(arch, spec, &is_peak);
		good = set_number(is_peak ? peaks : rates, spec, rate / 1e12);
	}
	PyObject *result = good ? Py_BuildValue("{sssOsO}", "name", tl_arch_name(arch), "max_achievable_tflops", rates,
						"peak_tflops", peaks)
				: NULL;
	for (size_t i = 0; result && i < sizeof figures / sizeof *figures; i++)
		if (tl_arch_number(arch, figures[i]) > 0 &&
		    !set_number(result, figures[i], tl_arch_number(arch, figures[i])))
			Py_CLEAR(result);
	Py_XDECREF(rates);
	Py_XDECREF(peaks);
	tl_arch_free(arch);
	return result;
}

PyMethodDef core_model_methods[] = {
	{"model_evaluate", model_evaluate, METH_VARARGS,
	 "model_evaluate(name, args, forward, kernels, annotation)\n--\n\nAnswer of the built-in model of an "
	 "operation, as "
	 "a dict;\nargs and forward are JSON texts or None, kernels a tuple of names. KeyError: no such model."},
	{"estimate", (PyCFunction)(void (*)(void))estimate, METH_VARARGS | METH_KEYWORDS,
	 "estimate(family, /, **parameters)\n--\n\nFLOPs, bytes, compute spec and output shape from sizes alone; "
	 "parameters\n"
	 "that are None count as not given."},
	{"softmax_time", softmax_time, METH_VARARGS,
	 "softmax_time(arch_json, M, N, bytes_per_element, B, force_to_l1, backward, num_cus)\n--\n\nTime in µs."},
	{"category_only", category_only, METH_NOARGS,
	 "category_only()\n--\n\nOperations that have a category but no model, as a dict."},
	{"model_category", model_category, METH_VARARGS,
	 "model_category(operation, first_kernel=None)\n--\n\nCategory as reports show it."},
	{"dtype_info", dtype_info, METH_O,
	 "dtype_info(name)\n--\n\n(bytes an element or 0, precision or None) of a dtype as traces name it."},
	{"gemm_kernel", gemm_kernel, METH_O,
	 "gemm_kernel(name)\n--\n\n(transpose A, transpose B, tile M, N, K) from the name of a kernel, or None."},
	{"platform", platform, METH_O, "platform(name)\n--\n\nA bundled platform as a dict. KeyError."},
	{NULL, NULL, 0, NULL},
};
