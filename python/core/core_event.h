/* SPDX-License-Identifier: MIT */
/**
 * @file core_event.h
 * What the parts of an event share: its keys, its text in the file, what the tree says of it.
 */
#ifndef TL_PYTHON_CORE_EVENT_H
#define TL_PYTHON_CORE_EVENT_H

#include "core.h"

/** Keys that the library knows; 0 is any other. */
enum {
	KEY_NAME = 1,
	KEY_CAT,
	KEY_TS,
	KEY_DUR,
	KEY_UID,
	FIRST_DERIVED, /* those of the tree, in the order in which they follow those of the file */
	KEY_END = FIRST_DERIVED,
	KEY_TREE,
	KEY_MODULE_STACK,
	KEY_PARENT,
	KEY_OPERATION_ROOT,
	KEY_CHILDREN,
	KEY_GPU_EVENTS,
	KEY_NO_GPU,
	KEY_FORWARD,
	KEY_BACKWARD,
	KEY_RECOMPUTE,
	KEY_OVERLAPPING,
	KEYS
};

/** Made once when the module is loaded and never freed. */
extern struct core_keys {
	PyObject *keys[KEYS];
	PyObject *numbers;   /* key -> number */
	PyObject *args;      /* the key of the arguments */
	PyObject *args_type; /* the class of their mapping, once the package has told it */
	PyObject *list_type; /* the class of lists of UIDs */
	PyObject *missing;   /* what stands for a deleted key in an overlay */
} core_keys;

/** Number of a key, 0 for others, -1 with an exception. */
int core_event_key(PyObject *key);

/* ---- the event in the file: core_event_whole.c ---- */

/** Whether the event is one of the library's: not one that exists in the overlay only. */
bool core_event_is_stored(const core_event *self);
/** Times in microseconds; an integer in the file stays one. NULL without an exception: none. */
PyObject *core_event_start(const core_event *self);
PyObject *core_event_duration(const core_event *self);
/** Keys and values of the file. */
PyObject *core_event_whole(const core_event *self);

/* ---- values: core_event_values.c ---- */

/** Value of a key: assigned, of the tree, or of the file. New reference; NULL without an exception: no such key. */
PyObject *core_event_value(const core_event *self, PyObject *key);
/** Whether a key of the library is a list of UIDs, which tells the tree when it is changed. */
bool core_event_is_list(int key);
/** What an event keeps of a value: of UIDs a list, so that they can be read twice and changed. New reference. */
PyObject *core_event_own(int key, PyObject *value);
/** The same of a dict of values, in place; none of them goes on telling of another event. */
bool core_event_own_all(PyObject *values);
/** Everything as a dict: keys of the file in their order, then those of the tree, then those that were assigned. */
PyObject *core_event_dict(const core_event *self);

#endif
