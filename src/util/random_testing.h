/* SPDX-License-Identifier: MIT */
/** @file random_testing.h Numbers for tests of random input: the same on every machine and in every run. */
#ifndef TL_UTIL_RANDOM_TESTING_H
#define TL_UTIL_RANDOM_TESTING_H

#include <stdint.h>

/** Set it before each round, so that a round that fails can be run alone. */
static uint64_t random_state;

/** A number below `n`, which is above 0: a linear congruential generator with Knuth's constants for 64 bits. */
static inline uint32_t random_below(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % n;
}

#endif
