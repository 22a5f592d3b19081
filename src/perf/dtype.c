/* SPDX-License-Identifier: MIT */
/* Data types as traces name them: size of an element, and precision for the compute spec. */
#include <strings.h>

#include "perf/model.h"

typedef struct dtype {
	const char *name;
	int bytes;             /* 0: a precision without a size */
	const char *precision; /* NULL: no rate is ever given for it */
} dtype;

/*
 * The reference's two tables in one, completed where it knows nothing (faults E9, G14). Not
 * completed: "bool" keeps no size, because right answers in circulation leave Data Moved of masks
 * empty; "unsigned char" counts as fp8, the reference's value.
 */
static const dtype dtypes[] = {
	{"float", 4, "fp32"},
	{"c10::BFloat16", 2, "bf16"},
	{"c10::Half", 2, "fp16"},
	{"long int", 8, NULL},
	{"int", 4, NULL},
	{"double", 8, "fp64"},
	{"Scalar", 4, NULL},
	{"c10::Float8_e4m3fnuz", 1, "fp8"},
	{"c10::Float8_e4m3fn", 1, "fp8"},
	{"c10::Float8_e5m2", 1, "fp8"},
	{"c10::Float8_e5m2fnuz", 1, "fp8"},
	{"c10::Float8_e8m0fnu", 1, NULL}, /* block scales, never operands */
	{"c10::Float4_e2m1fn_x2", 1, "fp4"},
	{"unsigned char", 1, "fp8"},
	{"signed char", 1, "int8"},
	{"fp8", 1, "fp8"},
	{"fp4", 1, "fp4"},
	{"mxfp4", 0, "fp4"},
	{"short int", 2, NULL},
	{"unsigned short", 2, NULL},
	{"unsigned short int", 2, NULL},
	{"unsigned int", 4, NULL},
	{"unsigned long", 8, NULL},
	{"unsigned long int", 8, NULL},
	{"c10::complex<c10::Half>", 4, NULL},
	{"c10::complex<float>", 8, NULL},
	{"c10::complex<double>", 16, NULL},
};

static const dtype *find(const char *name)
{
	if (!name)
		return NULL;
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (!strcasecmp(dtypes[i].name, name))
			return &dtypes[i];
	return NULL;
}

int tl__dtype_bytes(const char *name)
{
	const dtype *d = find(name);
	return d ? d->bytes : 0;
}

const char *tl__dtype_precision(const char *name)
{
	const dtype *d = find(name);
	return d ? d->precision : NULL;
}
