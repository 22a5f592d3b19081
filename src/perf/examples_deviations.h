/* SPDX-License-Identifier: MIT */
/* Included by examples_test.c: where we differ from the reference, why, and what is right. */
static const deviation deviations[] = {
	{0, "", "", ""},
};
