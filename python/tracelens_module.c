/* SPDX-License-Identifier: MIT */
/* TraceLens._core: the extension module. */
#include <string.h>

#include "core/core.h"

static PyObject *builtin_models(PyObject *module, PyObject *unused)
{
	tl_builtin_model m;
	PyObject *list = PyList_New(0);
	(void)module;
	(void)unused;
	for (size_t i = 0; list && tl_model_builtin_at(i, &m); i++) {
		PyObject *item = Py_BuildValue("(szzz)", m.name, m.category, m.bwd_category, m.sheet);
		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *platforms(PyObject *module, PyObject *unused)
{
	const char *name;
	PyObject *list = PyList_New(0);
	(void)module;
	(void)unused;
	for (size_t i = 0; list && (name = tl_arch_bundled(i)); i++)
		if (core_collect(list, name, strlen(name)) < 0)
			Py_CLEAR(list);
	return list;
}

static PyMethodDef functions[] = {
	{"builtin_models", builtin_models, METH_NOARGS,
	 "builtin_models()\n--\n\n(operation, category, backward category or None, family) of every built-in model."},
	{"platforms", platforms, METH_NOARGS, "platforms()\n--\n\nNames of the GPU platforms that the library knows."},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "TraceLens._core",
	.m_doc = "The library behind TraceLens: traces, trees, analyses and tables. TraceLens builds its API on this.",
	.m_size = -1,
	.m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
	static const struct {
		const char *name;
		PyTypeObject *type;
	} types[] = {
		{"Trace", &core_trace_type},       {"Tree", &core_tree_type},
		{"Event", &core_event_type},       {"Edit", &core_edit_type},
		{"Analyzer", &core_analyzer_type}, {"Table", &core_table_type},
		{"Events", &core_events_type},     {"Report", &core_report_type},
		{"Diff", &core_diff_type},         {"Comparison", &core_comparison_type},
	};
	PyObject *module = PyModule_Create(&definition);
	bool good = module && core_event_setup() && core_timeline_setup() &&
		    PyModule_AddFunctions(module, core_timeline_methods) == 0 &&
		    PyModule_AddFunctions(module, core_event_functions) == 0 &&
		    PyModule_AddFunctions(module, core_model_methods) == 0 &&
		    PyModule_AddFunctions(module, core_report_methods) == 0 &&
		    PyModule_AddFunctions(module, core_compare_methods) == 0 &&
		    PyModule_AddStringConstant(module, "__version__", tl_version()) == 0;
	for (size_t i = 0; good && i < sizeof types / sizeof *types; i++)
		good = PyType_Ready(types[i].type) == 0 &&
		       PyModule_AddObjectRef(module, types[i].name, (PyObject *)types[i].type) == 0;
	if (!good)
		Py_CLEAR(module);
	return module;
}
