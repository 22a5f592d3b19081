/* SPDX-License-Identifier: MIT */
/* Data types as traces name them: size of an element, and precision for the compute spec. */
#include <stdbool.h>
#include <strings.h>

#include "perf/model.h"

typedef struct dtype {
	const char *name;
	int bytes;             /* 0: a precision without a size */
	const char *precision; /* NULL: no rate is ever given for it */
	bool packed;           /* two values an element */
} dtype;

/*
 * The reference's two tables in one, completed where it knows nothing (faults E9, G14). Not
 * completed: "bool" keeps no size, because right answers in circulation leave Data Moved of masks
 * empty; "unsigned char" counts as fp8, the reference's value.
 */
static const dtype dtypes[] = {
	{"float", 4, "fp32", false},
	{"c10::BFloat16", 2, "bf16", false},
	{"c10::Half", 2, "fp16", false},
	{"long int", 8, NULL, false},
	{"int", 4, NULL, false},
	{"double", 8, "fp64", false},
	{"Scalar", 4, NULL, false},
	{"c10::Float8_e4m3fnuz", 1, "fp8", false},
	{"c10::Float8_e4m3fn", 1, "fp8", false},
	{"c10::Float8_e5m2", 1, "fp8", false},
	{"c10::Float8_e5m2fnuz", 1, "fp8", false},
	{"c10::Float8_e8m0fnu", 1, NULL, false}, /* block scales, never operands */
	{"c10::Float4_e2m1fn_x2", 1, "fp4", true},
	{"unsigned char", 1, "fp8", false},
	{"signed char", 1, "int8", false},
	{"fp8", 1, "fp8", false},
	{"fp4", 1, "fp4", true},
	{"mxfp4", 0, "fp4", false},
	{"short int", 2, NULL, false},
	{"unsigned short", 2, NULL, false},
	{"unsigned short int", 2, NULL, false},
	{"unsigned int", 4, NULL, false},
	{"unsigned long", 8, NULL, false},
	{"unsigned long int", 8, NULL, false},
	{"Float16", 2, "fp16", false},
	{"Float32", 4, "fp32", false},
	{"c10::complex<c10::Half>", 4, NULL, false},
	{"c10::complex<float>", 8, NULL, false},
	{"c10::complex<double>", 16, NULL, false},
};

/* "c10::Half" is also called "Half", and "float" also "c10::Float". */
static const char *bare(const char *name)
{
	return strncasecmp(name, "c10::", 5) ? name : name + 5;
}

static const dtype *find(const char *name)
{
	if (!name)
		return NULL;
	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (!strcasecmp(bare(dtypes[i].name), bare(name)))
			return &dtypes[i];
	return NULL;
}

int tl__dtype_bytes(const char *name)
{
	const dtype *d = find(name);
	return d ? d->bytes : 0;
}

double tl__dtype_value_bytes(const char *name)
{
	const dtype *d = find(name);
	return !d ? 0 : d->packed ? 0.5 * d->bytes : d->bytes;
}

const char *tl__dtype_precision(const char *name)
{
	const dtype *d = find(name);
	return d ? d->precision : NULL;
}
