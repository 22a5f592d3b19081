/* SPDX-License-Identifier: MIT */
/** @file model_findings.h What operation models could not read. */
#ifndef TL_REPORT_MODEL_FINDINGS_H
#define TL_REPORT_MODEL_FINDINGS_H

#include "analysis/analyzer.h"

/** Adds to the health table what models of the sheets of families could not read, if anything; replaces it then. */
int tl__report_model_findings(tl_table **health, const tl_analyzer *analyzer, tl_error *err);

#endif
