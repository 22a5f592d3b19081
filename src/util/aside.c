/* SPDX-License-Identifier: MIT */
#include "util/aside.h"

#include <stddef.h>

static void *run(void *user)
{
	const tl_aside *aside = user;
	aside->run(aside->user);
	return NULL;
}

void tl__aside_start(tl_aside *aside, void (*work)(void *user), void *user, bool threaded)
{
	aside->run = work;
	aside->user = user;
	aside->threaded = threaded && pthread_create(&aside->thread, NULL, run, aside) == 0;
}

void tl__aside_finish(tl_aside *aside)
{
	if (aside->threaded)
		pthread_join(aside->thread, NULL);
	else
		aside->run(aside->user);
}
