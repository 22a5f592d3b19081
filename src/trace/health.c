/* SPDX-License-Identifier: MIT */
/* Names and texts of what may be doubtful about a trace, counting it, and the table trace_health. */
#include <stdio.h>
#include <string.h>

#include "table/table.h"
#include "trace/trace.h"

/* What each kind is called, whether the file had to be repaired for it, and what that means for a reader. */
static const struct {
	const char *name;
	bool repair;
	const char *text;
} kinds[TL_HEALTH_KINDS] = {
	[TL_HEALTH_TRUNCATED] = {"truncated", true,
				 "The file ends in the middle; all whole events before the end were read."},
	[TL_HEALTH_UNESCAPED_QUOTE] = {"unescaped_quote", true,
				       "Strings with a quote that is not escaped; the quote was kept in the text."},
	[TL_HEALTH_BAD_ESCAPE] = {"bad_escape", true,
				  "Strings with a backslash that escapes nothing; it was kept as a backslash."},
	[TL_HEALTH_CONTROL_BYTE] = {"control_byte", true,
				    "Strings with raw control bytes or line breaks; they were kept."},
	[TL_HEALTH_BAD_UTF8] = {"bad_utf8", true, "Texts that are not UTF-8; their bytes were kept."},
	[TL_HEALTH_NOT_A_NUMBER] = {"not_a_number", true,
				    "Values such as inf, nan or an unreadable number; they count as missing."},
	[TL_HEALTH_ODD_NUMBER] =
		{"odd_number", true,
		 "Numbers that JSON writes differently (007, +5, .5, 1., 0x1f); their values were read."},
	[TL_HEALTH_BARE_WORD] = {"bare_word", true,
				 "Values that are words without quotes, or no value at all; read as text or missing."},
	[TL_HEALTH_TRAILING_COMMA] = {"misplaced_comma", true, "Commas too many or missing; ignored."},
	[TL_HEALTH_UNREADABLE_EVENT] = {"unreadable_event", true,
					"Events that could not be read; each was left out up to the next event."},
	[TL_HEALTH_NOT_AN_EVENT] = {"not_an_event", true,
				    "Elements of the event list that are no objects; they only take a UID."},
	[TL_HEALTH_EMPTY_EVENT] = {"empty_event", false, "Empty events ({}); they only take a UID."},
	[TL_HEALTH_DUPLICATE_KEY] = {"duplicate_key", false, "Events that state a key twice; the last value counts."},
	[TL_HEALTH_LEADING_JUNK] = {"leading_junk", true, "Bytes before the trace; ignored."},
	[TL_HEALTH_TRAILING_JUNK] = {"trailing_junk", true, "Bytes behind the trace; ignored."},
	[TL_HEALTH_SEVERAL_DOCUMENTS] =
		{"several_documents", true,
		 "Several traces follow each other in this file; all were read, their ids kept apart."},
	[TL_HEALTH_SEVERAL_WRITERS] = {"several_writers", true,
				       "Several ranks wrote this file at the same time; events are missing or mixed."},
	[TL_HEALTH_BIG_INTEGER] = {"big_integer", true, "Integers beyond 64 bits; kept as text."},
	[TL_HEALTH_LONG_ARGUMENT] =
		{"long_argument", false,
		 "Argument texts of more than 64 KiB; their beginning, length and a hash stand for them."},
	[TL_HEALTH_BAD_CONTAINER] = {"bad_container", true,
				     "The packed data (gzip, zstd, zip) is damaged; what came before was read."},
	[TL_HEALTH_NO_TIMESTAMP] =
		{"no_timestamp", false,
		 "Events whose timestamp is missing, unreadable or 0; they are left out of every time and span."},
	[TL_HEALTH_TIME_OUT_OF_RANGE] =
		{"time_out_of_range", false,
		 "Events more than 106 days from the others; they are left out of every time and span."},
	[TL_HEALTH_MISSING_DURATION] = {"missing_duration", false, "Events without a duration; they count as 0 long."},
	[TL_HEALTH_NEGATIVE_DURATION] =
		{"negative_duration", false,
		 "Events with a negative duration; they count in numbers of events, not in times."},
	[TL_HEALTH_ABSURD_DURATION] = {"absurd_duration", false,
				       "Events of more than 7 days; they count in numbers of events, not in times."},
	[TL_HEALTH_STREAM_OVERRUN] =
		{"stream_overrun", false,
		 "GPU events that overrun the next one on their stream by 1 ms or more; their times may be wrong."},
	[TL_HEALTH_CLIPPED_OVERRUN] = {"clipped_overrun", false,
				       "GPU events that overran the next one on their stream by 1 ms or more; ended "
				       "where that one starts, as --clip_stream_overruns asks."},
	[TL_HEALTH_KERNEL_BEFORE_LAUNCH] = {"kernel_before_launch", false,
					    "GPU events that start before their launch; the two clocks differ."},
	[TL_HEALTH_UNFINISHED_SPAN] = {"unfinished_span", false,
				       "Python frames still open when profiling stopped; their ends are unknown."},
	[TL_HEALTH_UNIT_DOUBT] =
		{"unit_doubt", false,
		 "The header says nanoseconds and the span is absurd: times may not be in microseconds."},
	[TL_HEALTH_UNMATCHED_BEGIN] = {"unmatched_begin", false,
				       "Begin events without an end; they end with the trace."},
	[TL_HEALTH_UNMATCHED_END] = {"unmatched_end", false, "End events without a begin; left out."},
	[TL_HEALTH_CLIPPED_SPAN] = {"clipped_span", false,
				    "Host events that outlive the event they start in; attached to the nearest that "
				    "contains their start."},
	[TL_HEALTH_OVERLONG_PYTHON] = {"overlong_python", false,
				       "Python frames that outlive their caller by 1 ms or more."},
	[TL_HEALTH_NO_LAUNCH] = {"no_launch", false,
				 "GPU events whose launch is not in the trace; left out of the default timeline."},
	[TL_HEALTH_LINKED_WITHOUT_FLOW] = {"linked_without_flow", false,
					   "GPU events linked by correlation; a half of their flow arrow is missing."},
	[TL_HEALTH_LINKED_BY_EXTERNAL_ID] = {"linked_by_external_id", false,
					     "GPU events without a correlation id, linked by their External id."},
	[TL_HEALTH_LINKED_BY_FLOW] = {"linked_by_flow", false,
				      "GPU events without a correlation id, linked by their flow arrow."},
	[TL_HEALTH_DUPLICATE_LAUNCH] = {"duplicate_launch", false,
					"Correlation ids that several launches carry; each GPU event got one launch."},
	[TL_HEALTH_AMBIGUOUS_RANKS] = {"ambiguous_ranks", false,
				       "GPU events left out because several processes use the same correlation ids "
				       "(several ranks merged into "
				       "one file?); report each rank's file by itself."},
	[TL_HEALTH_GRAPH_UNDER_RECORDED] =
		{"graph_under_recorded", false,
		 "Graph launches with far fewer kernels than the others of their kind; idle time is not reliable."},
	[TL_HEALTH_PSEUDO_OP_SKIPPED] = {"pseudo_op_skipped", false,
					 "Operations that do not quite fit the pseudo-operation meant for them: left "
					 "as they are, or made of what "
					 "is there."},
	[TL_HEALTH_UNKNOWN_CATEGORY] = {"unknown_category", false,
					"Events of categories that this program does not know; kept, used by nothing."},
	[TL_HEALTH_UNKNOWN_PHASE] = {"unknown_phase", false, "Events with an unknown phase letter; used by nothing."},
	[TL_HEALTH_METADATA] = {"incomplete_metadata", false,
				"Metadata events without the process or value that they need; ignored."},
};

void tl__health_clear(tl_health *health)
{
	for (int kind = 0; kind < TL_HEALTH_KINDS; kind++)
		health->entry[kind] = (tl_health_entry){.first_offset = -1, .first_row = TL_ROW_NONE};
}

void tl__health_add(tl_health *health, tl_health_kind kind, int64_t offset, tl_row row, tl_time time,
		    const char *detail)
{
	tl_health_entry *entry = &health->entry[kind];
	if (!entry->count) {
		entry->first_offset = offset;
		entry->first_row = row;
		snprintf(entry->detail, sizeof entry->detail, "%s", detail ? detail : "");
	}
	entry->count++;
	if (time != TL_TIME_NONE && __builtin_add_overflow(entry->time, time, &entry->time))
		entry->time = INT64_MAX;
}

bool tl__health_is_repair(tl_health_kind kind)
{
	return kinds[kind].repair;
}

const char *tl__health_name(tl_health_kind kind)
{
	return kinds[kind].name;
}

const char *tl__health_text(tl_health_kind kind)
{
	return kinds[kind].text;
}

/* The findings of both, with the first place of whichever has one. */
static tl_health_entry merged(const tl_store *store, const tl_health *more, int kind)
{
	tl_health_entry entry = store->health.entry[kind];
	if (more && more->entry[kind].count) {
		const tl_health_entry *other = &more->entry[kind];
		if (!entry.count) {
			entry = *other;
		} else {
			entry.count += other->count;
			entry.time += other->time;
		}
	}
	return entry;
}

/* Columns of the table, in order. */
enum { KIND, COUNT, TIME, BYTE, UID, REPAIR, MEANING, EXAMPLE, COLUMNS };

/* The meaning of a finding, which may depend on how much there is; `room` holds what is made up. */
static const char *meaning_of(int kind, const tl_store *store, const tl_health_entry *entry, char room[512])
{
	switch (kind) {
	case TL_HEALTH_STREAM_OVERRUN:
		snprintf(room, 512,
			 "%s --clip_stream_overruns ends them where that one starts, which takes %.3f ms off.",
			 kinds[kind].text, (double)entry->time / 1e9);
		return room;
	case TL_HEALTH_SEVERAL_DOCUMENTS:
		snprintf(room, 512,
			 "%s Times of operations and kernels are summed over all %u of them; the GPU timeline is their "
			 "union: "
			 "what runs at the same time counts once.",
			 kinds[kind].text, store->sources);
		return room;
	default:
		return kinds[kind].text;
	}
}

static int fill_row(const tl_table *table, tl_column *column[COLUMNS], size_t row, int kind, const tl_store *store,
		    const tl_health_entry *entry)
{
	tl_str name = tl__interns(table->strings, kinds[kind].name);
	char room[512];
	tl_str meaning = tl__interns(table->strings, meaning_of(kind, store, entry, room));
	tl_str example = entry->detail[0] ? tl__interns(table->strings, entry->detail) : TL_STR_NONE;
	if (name == TL_STR_FAIL || meaning == TL_STR_FAIL || example == TL_STR_FAIL)
		return TL_ENOMEM;
	column[KIND]->str[row] = name;
	column[MEANING]->str[row] = meaning;
	column[EXAMPLE]->str[row] = example;
	column[COUNT]->i64[row] = (int64_t)entry->count;
	column[REPAIR]->b[row] = kinds[kind].repair;
	if (entry->time)
		column[TIME]->f64[row] = (double)entry->time / 1e9;
	column[BYTE]->i64[row] = entry->first_offset;
	if (entry->first_offset < 0)
		TL_TRY(tl__column_set_null(table, column[BYTE], row));
	column[UID]->i64[row] = entry->first_row;
	if (entry->first_row == TL_ROW_NONE)
		TL_TRY(tl__column_set_null(table, column[UID], row));
	return 0;
}

int tl__health_table(tl_table **out, const tl_store *store, const tl_health *more, tl_error *err)
{
	static const struct {
		const char *name, *unit;
		tl_storage storage;
	} columns[COLUMNS] = {
		[KIND] = {"kind", "", TL_COL_STRING},       [COUNT] = {"count", "", TL_COL_INT64},
		[TIME] = {"time ms", "ms", TL_COL_DOUBLE},  [BYTE] = {"first byte", "", TL_COL_INT64},
		[UID] = {"first UID", "", TL_COL_INT64},    [REPAIR] = {"repair", "", TL_COL_BOOL},
		[MEANING] = {"meaning", "", TL_COL_STRING}, [EXAMPLE] = {"example", "", TL_COL_STRING},
	};
	size_t rows = 0;
	*out = NULL;
	for (int i = 0; i < TL_HEALTH_KINDS; i++)
		rows += merged(store, more, i).count > 0;

	/* texts of its own, so that the table does not need the trace */
	tl_table *table = tl__table_new("trace_health", NULL, rows);
	if (!table)
		return tl__nomem(err);
	for (int c = 0; c < COLUMNS; c++)
		if (!tl__table_add(table, columns[c].name, columns[c].unit, columns[c].storage)) {
			tl_table_free(table);
			return tl__nomem(err);
		}
	tl_column *column[COLUMNS];
	for (int c = 0; c < COLUMNS; c++)
		column[c] = &table->columns.v[c];

	size_t row = 0;
	for (int i = 0; i < TL_HEALTH_KINDS; i++) {
		tl_health_entry entry = merged(store, more, i);
		if (!entry.count)
			continue;
		if (fill_row(table, column, row++, i, store, &entry) < 0) {
			tl_table_free(table);
			return tl__nomem(err);
		}
	}
	*out = table;
	return 0;
}
