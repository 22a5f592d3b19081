/* SPDX-License-Identifier: MIT */
/**
 * @file aside.h
 * A piece of work that a second thread does meanwhile. What it reads must not change until it is done, and nobody else
 * may use what it writes.
 */
#ifndef TL_UTIL_ASIDE_H
#define TL_UTIL_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

typedef struct tl_aside {
	void (*run)(void *user);
	void *user;
	pthread_t thread;
	bool threaded;
} tl_aside;

/** Begins `run`. Without `threaded`, or when the system has no thread left, tl__aside_finish does all of it. */
void tl__aside_start(tl_aside *aside, void (*run)(void *user), void *user, bool threaded);
/** Waits until it is done. */
void tl__aside_finish(tl_aside *aside);

#endif
