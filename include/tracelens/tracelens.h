/* SPDX-License-Identifier: MIT */
/** @file tracelens.h The whole public API of libtracelens. */
#ifndef TRACELENS_TRACELENS_H
#define TRACELENS_TRACELENS_H

#include <tracelens/analysis.h>
#include <tracelens/arrow.h>
#include <tracelens/common.h>
#include <tracelens/compare.h>
#include <tracelens/edit.h>
#include <tracelens/event.h>
#include <tracelens/extension.h>
#include <tracelens/model.h>
#include <tracelens/perf.h>
#include <tracelens/report.h>
#include <tracelens/table.h>
#include <tracelens/timeline.h>
#include <tracelens/trace.h>
#include <tracelens/tree.h>

#endif
