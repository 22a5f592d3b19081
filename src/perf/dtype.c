/* SPDX-License-Identifier: MIT */
/* Data types as traces name them: size of an element, and precision for the compute spec. */
#include <stdbool.h>
#include <strings.h>

#include "perf/model.h"

typedef struct dtype {
	const char *name;
	const char *precision; /* NULL: no rate is ever given for it */
	int bytes;             /* 0: a precision without a size */
	bool packed;           /* two values an element */
} dtype;

/*
 * The reference's two tables in one, completed where it knows nothing [03-E9, 03-G14]. Not
 * completed: "bool" keeps no size, because right answers in circulation leave Data Moved of masks
 * empty; "unsigned char" counts as fp8, the reference's value.
 */
static const dtype dtypes[] = {
	{"float", "fp32", 4, false},
	{"c10::BFloat16", "bf16", 2, false},
	{"c10::Half", "fp16", 2, false},
	{"long int", NULL, 8, false},
	{"int", NULL, 4, false},
	{"double", "fp64", 8, false},
	{"Scalar", NULL, 4, false},
	{"c10::Float8_e4m3fnuz", "fp8", 1, false},
	{"c10::Float8_e4m3fn", "fp8", 1, false},
	{"c10::Float8_e5m2", "fp8", 1, false},
	{"c10::Float8_e5m2fnuz", "fp8", 1, false},
	{"c10::Float8_e8m0fnu", NULL, 1, false}, /* block scales, never operands */
	{"c10::Float4_e2m1fn_x2", "fp4", 1, true},
	{"unsigned char", "fp8", 1, false},
	{"signed char", "int8", 1, false},
	{"fp8", "fp8", 1, false},
	{"fp4", "fp4", 1, true},
	{"mxfp4", "fp4", 0, false},
	{"short int", NULL, 2, false},
	{"unsigned short", NULL, 2, false},
	{"unsigned short int", NULL, 2, false},
	{"unsigned int", NULL, 4, false},
	{"unsigned long", NULL, 8, false},
	{"unsigned long int", NULL, 8, false},
	{"Float16", "fp16", 2, false},
	{"Float32", "fp32", 4, false},
	{"c10::complex<c10::Half>", NULL, 4, false},
	{"c10::complex<float>", NULL, 8, false},
	{"c10::complex<double>", NULL, 16, false},
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
