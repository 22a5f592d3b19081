/* SPDX-License-Identifier: MIT */
/* Times: exact decimals, a base that changes nothing, and what counts as no time at all. */
#include "trace/decimal.h"
#include "trace/trace_testing.h"

static void check_decimal(const char *text, int64_t expected, bool fraction)
{
	tl_int128 ps;
	bool has_fraction;
	if (tl__decimal_ps(&ps, &has_fraction, text, strlen(text)) != TL_DECIMAL_OK)
		fail_msg("%s is not read", text);
	if (ps != expected || has_fraction != fraction)
		fail_msg("%s: %lld", text, (long long)ps);
}

static void decimals(void **state)
{
	(void)state;
	check_decimal("0", 0, false);
	check_decimal("-0.0", 0, true);
	check_decimal("1", 1000000, false);
	check_decimal("1.5", 1500000, true);
	check_decimal("-1.5", -1500000, true);
	check_decimal("0.000001", 1, true);
	check_decimal("5834922471.043", INT64_C(5834922471043000), true);
	check_decimal("1e3", INT64_C(1000000000), true);
	check_decimal("1E-6", 1, true);
	check_decimal("1.25e+1", 12500000, true);
	check_decimal("  7 ", 7000000, false);
	check_decimal("+7", 7000000, false);
	/* beyond picoseconds: half to even, on all digits */
	check_decimal("0.0000005", 0, true);
	check_decimal("0.0000015", 2, true);
	check_decimal("0.0000025", 2, true);
	check_decimal("0.00000250000000000000000000000000000000000000000000000001", 3, true);
	check_decimal("0.0000024999999999999999999999999999999999999999999999999999", 2, true);
	check_decimal("-0.0000035", -4, true);
	check_decimal("1e-400", 0, true);
	check_decimal("0e999999999999", 0, true);
	check_decimal("000000000000000000000000000000000000000000000000000001", 1000000, false);
	check_decimal("100000000000000000000000000000e-28", 10000000, true);

	static const char *const bad[] = {"", "-", ".", "e5", "1e", "1e+", "1.2.3", "1x", "nan", "0x10", "1 2", NULL};
	static const char *const huge[] = {"1e40", "-1e99999999", "99999999999999999999999999999999999999999999", NULL};
	tl_int128 ps;
	bool fraction;
	for (const char *const *text = bad; *text; text++)
		if (tl__decimal_ps(&ps, &fraction, *text, strlen(*text)) != TL_DECIMAL_BAD)
			fail_msg("%s is read", *text);
	for (const char *const *text = huge; *text; text++) {
		assert_int_equal(tl__decimal_ps(&ps, &fraction, *text, strlen(*text)), TL_DECIMAL_HUGE);
		assert_int_equal(ps < 0, **text == '-');
	}
}

#define EVENT(cat, ts, dur) \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"e\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur "}"

/* The first case of an end that doubles lose: parent and child end in the same nanosecond. */
static void equal_ends_are_equal(void **state)
{
	static const char *const starts[][2] = {{"5834922471100.043", "5834922471103.075"},
						{"5835922471100.043", "5835922471103.075"},
						{"100.043", "103.075"},
						{"\"5834922471100.043\"", "\"5834922471103.075\""},
						{"5.834922471100043e12", "58349224711.03075e+2"},
						{"-5834922471103.075", "-5834922471100.043"}};
	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		char text[512];
		bool mirrored = i == 5;
		snprintf(text, sizeof text, "[" EVENT("cpu_op", "%s", "50.308") "," EVENT("cpu_op", "%s", "47.276") "]",
			 starts[i][0], starts[i][1]);
		tl_trace *trace = load(text);
		const tl_store *store = trace->store;
		assert_healthy(trace);
		assert_int_equal(store->start[1] - store->start[0], 3032000);
		if (!mirrored)
			assert_int_equal(tl__end(store, 0), tl__end(store, 1));
		assert_true(store->flags[0] & TL_EVENT_TS_FRACTION);
		tl_trace_free(trace);
	}
}

static void the_base_changes_nothing(void **state)
{
	/* the first event of the file is not the earliest; one stands at the very start of the trace */
	static const struct {
		const char *ts[4];
	} shifts[] = {{{"2000000", "0", "3.5", "5000000.000001"}},
		      {{"2000001", "1", "4.5", "5000001.000001"}},
		      {{"1002000000", "1000000000", "1000000003.5", "1005000000.000001"}},
		      {{"1760000002000000", "1760000000000000", "1760000000000003.5", "1760000005000000.000001"}}};
	(void)state;
	for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
		char text[1024];
		const char *const *ts = shifts[i].ts;
		snprintf(text, sizeof text,
			 "[" EVENT("cpu_op", "%s", "3") "," EVENT("cpu_op", "%s", "1.5") "," EVENT(
				 "kernel", "%s", "2") "," EVENT("kernel", "%s", "0") "]",
			 ts[0], ts[1], ts[2], ts[3]);
		tl_trace *trace = load(text);
		const tl_store *store = trace->store;
		assert_healthy(trace);
		assert_int_equal(store->start[1] - store->start[0], -US(2000000));
		assert_int_equal(store->start[2] - store->start[1], 3500000);
		assert_int_equal(store->start[3] - store->start[1], US(5000000) + 1);
		assert_int_equal(store->flags[0] & TL_EVENT_TS_FRACTION, 0);
		assert_int_equal(store->flags[1] & TL_EVENT_DUR_FRACTION, TL_EVENT_DUR_FRACTION);
		tl_trace_free(trace);
	}
}

static void zero_is_no_timestamp_in_a_trace_that_begins_long_after(void **state)
{
	(void)state;
	tl_trace *trace = load("[" EVENT("kernel", "0", "0") "," EVENT("cpu_op", "2211714153882.3", "7") "," EVENT(
		"kernel", "0", "0") "," EVENT("kernel", "0.0", "12") "," EVENT("kernel", "2211714153890", "5") "]");
	const tl_store *store = trace->store;
	assert_only(trace, TL_HEALTH_NO_TIMESTAMP, 3);
	assert_int_equal(store->health.entry[TL_HEALTH_NO_TIMESTAMP].time, US(12));
	assert_int_equal(store->health.entry[TL_HEALTH_NO_TIMESTAMP].first_row, 0);
	for (tl_row row = 0; row < 4; row++)
		assert_int_equal(store->start[row] == TL_TIME_NONE, row != 1);
	assert_int_equal(store->start[4] - store->start[1], 7700000);
	tl_trace_free(trace);

	/* in a trace that starts at 0, 0 is a time */
	trace = load("[" EVENT("kernel", "0", "0") "," EVENT("kernel", "0", "4") "," EVENT("kernel", "5", "1") "]");
	assert_healthy(trace);
	assert_int_equal(trace->store->start[2] - trace->store->start[0], US(5));
	assert_int_equal(trace->store->start[1], trace->store->start[0]);
	tl_trace_free(trace);
}

/* Every event marked '-' has no timestamp, the others have one; findings are those. */
static void check_zeros(const char *text, const char *marks)
{
	tl_trace *trace = load(text);
	uint64_t none = 0;
	assert_int_equal(tl_trace_count(trace), strlen(marks));
	for (tl_row row = 0; marks[row]; row++) {
		if ((trace->store->start[row] == TL_TIME_NONE) != (marks[row] == '-'))
			fail_msg("%s: row %u", text, row);
		none += marks[row] == '-';
	}
	assert_only(trace, TL_HEALTH_NO_TIMESTAMP, none);
	tl_trace_free(trace);
}

#define LAUNCHED(cat, ts, dur, id)                                                                        \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"e\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur \
	",\"args\":{\"correlation\":" id "}}"

/* A trace whose times are small, so that only the events themselves can tell whether 0 is a time. */
static void zeros_in_a_trace_of_small_times(void **state)
{
	(void)state;
	/* all are 0: nothing was recorded, whether or not events last */
	check_zeros("[" EVENT("kernel", "0", "0") "," EVENT("kernel", "0", "4") "]", "--");
	check_zeros("[" EVENT("cpu_op", "0", "0") "," EVENT("kernel", "0", "0.0") "," EVENT("kernel", "0.0", "0") "]",
		    "---");
	check_zeros("[" EVENT("cpu_op", "0", "9") "," EVENT("cpu_op", "0", "3") "," EVENT("kernel", "0", "4") "]",
		    "---");
	check_zeros("[" EVENT("kernel", "0", "0") "]", "-");
	/* one event that lasts is a trace that starts at 0 */
	check_zeros("[" EVENT("kernel", "0", "4") "]", " ");
	/* events that are placed in no time do not count */
	check_zeros("[" EVENT("kernel", "0", "4") "," EVENT("kernel", "0", "4") "," EVENT("ac2g", "7", "4") "]", "-- ");

	/* GPU events of no length at 0, host events from 1000 on */
	check_zeros(
		"[" EVENT("cpu_op", "1000", "5") "," EVENT("kernel", "0", "0") "," EVENT("kernel", "1100", "10") "]",
		" - ");
	/* the same trace a second later: an event of no length like any other */
	check_zeros("[" EVENT("cpu_op", "1001000", "5") "," EVENT("kernel", "1000000",
								  "0") "," EVENT("kernel", "1001100", "10") "]",
		    "   ");
	/* the host was at work at 0, or before */
	check_zeros("[" EVENT("cpu_op", "0", "5") "," EVENT("kernel", "0", "0") "," EVENT("kernel", "7", "10") "]",
		    "   ");
	check_zeros("[" EVENT("cpu_op", "-3", "5") "," EVENT("kernel", "0", "0") "," EVENT("kernel", "7", "10") "]",
		    "   ");
	/* without host events GPU events speak for the trace */
	check_zeros("[" EVENT("kernel", "0", "3") "," EVENT("kernel", "0", "0") "," EVENT("kernel", "7", "10") "]",
		    "   ");
	check_zeros("[" EVENT("kernel", "5", "3") "," EVENT("kernel", "0", "0") "," EVENT("kernel", "7", "10") "]",
		    " - ");

	/* the launch decides when it is known: it comes after 0, or not */
	check_zeros("[" EVENT("cpu_op", "0", "50") "," LAUNCHED("cuda_runtime", "20", "2", "4") "," LAUNCHED(
			    "kernel", "0", "0", "4") "," EVENT("kernel", "30", "10") "]",
		    "  - ");
	check_zeros("[" EVENT("cpu_op", "1", "50") "," LAUNCHED("cuda_runtime", "0", "2", "4") "," LAUNCHED(
			    "kernel", "0", "0", "4") "," EVENT("kernel", "30", "10") "]",
		    "    ");
	check_zeros("[" EVENT("cpu_op", "1", "50") "," LAUNCHED("cuda_runtime", "-1", "2", "4") "," LAUNCHED(
			    "kernel", "0", "0", "4") "," LAUNCHED("kernel", "0", "0", "4") "]",
		    "    ");

	/* all GPU events at 0 though they last: none has a time */
	check_zeros(
		"[" LAUNCHED("cuda_runtime", "20", "2", "4") "," LAUNCHED("cuda_runtime", "30", "2", "5") "," LAUNCHED(
			"kernel", "0", "6", "4") "," LAUNCHED("kernel", "0", "7", "5") "]",
		"  --");
	/* one before its launch is a matter of clocks */
	check_zeros("[" LAUNCHED("cuda_runtime", "20", "2",
				 "4") "," LAUNCHED("kernel", "0", "6", "4") "," LAUNCHED("kernel", "40", "7", "5") "]",
		    "   ");
	/* from some place on nothing was recorded */
	check_zeros("[" EVENT("cpu_op", "1000", "5") "," EVENT("cpu_op", "0", "0") "," EVENT(
			    "kernel", "1100", "10") "," EVENT("cpu_op", "0", "0") "," EVENT("kernel", "0", "0") "]",
		    " - --");
	/* a first event of no length */
	check_zeros("[" EVENT("cpu_op", "0", "0") "," EVENT("cpu_op", "2", "5") "," EVENT("kernel", "5", "10") "]",
		    "   ");
	/* spans that begin at 0 have times: their ends say so */
	check_zeros("[{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0},"
		    "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":0},"
		    "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9}]",
		    "    ");
}

/* The first byte of the finding is that of the first event concerned, not of metadata before it. */
static void the_first_zero_is_found(void **state)
{
	static const char text[] =
		"[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"ts\":0,\"args\":{\"name\":\"p\"}}," EVENT(
			"cpu_op", "1000", "5") "," EVENT("kernel", "0", "0") "]";
	(void)state;
	tl_trace *trace = load(text);
	const tl_health_entry *entry = &trace->store->health.entry[TL_HEALTH_NO_TIMESTAMP];
	assert_int_equal(entry->count, 1);
	assert_int_equal(entry->first_row, 2);
	assert_int_equal(entry->first_offset, strstr(text, "{\"ph\":\"X\",\"cat\":\"kernel\"") - text);
	tl_trace_free(trace);
}

static void unusable_starts(void **state)
{
	static const char *const starts[] = {"null", "\"\"", "\"soon\"", "[1]", "true", "inf", NULL};
	(void)state;
	for (const char *const *start = starts; *start; start++) {
		char text[512];
		snprintf(text, sizeof text, "[" EVENT("cpu_op", "5", "1") "," EVENT("cpu_op", "%s", "1") "]", *start);
		tl_trace *trace = load(text);
		assert_int_equal(trace->store->start[1], TL_TIME_NONE);
		assert_int_equal(found(trace, TL_HEALTH_NO_TIMESTAMP), 1);
		tl_trace_free(trace);
	}
	tl_trace *trace =
		load("[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"dur\":3}," EVENT("kernel", "5", "1") "]");
	assert_only(trace, TL_HEALTH_NO_TIMESTAMP, 1);
	tl_trace_free(trace);
}

static void far_from_the_rest(void **state)
{
	(void)state;
	/* 200 days after the first */
	tl_trace *trace = load("[" EVENT("cpu_op", "5", "1") "," EVENT("cpu_op", "17280000000000", "1") "," EVENT(
		"cpu_op", "7", "1") "," EVENT("cpu_op", "1e25", "2") "]");
	assert_only(trace, TL_HEALTH_TIME_OUT_OF_RANGE, 2);
	assert_int_equal(trace->store->health.entry[TL_HEALTH_TIME_OUT_OF_RANGE].first_row, 1);
	assert_int_equal(trace->store->start[1], TL_TIME_NONE);
	assert_int_equal(trace->store->start[2] - trace->store->start[0], US(2));
	tl_trace_free(trace);

	/* all beyond what 64 bits hold: none is placed, each is counted */
	trace = load("[" EVENT("cpu_op", "1e30", "1") "," EVENT("kernel", "1000000000000000000000000000005.5",
								"2") "," EVENT("kernel", "1e40", "2") "]");
	assert_int_equal(found(trace, TL_HEALTH_TIME_OUT_OF_RANGE), 3);
	for (tl_row row = 0; row < 3; row++)
		assert_int_equal(trace->store->start[row], TL_TIME_NONE);
	tl_trace_free(trace);

	/* one wrong time at the front must not throw the others out */
	trace = load("[" EVENT("cpu_op", "5", "1") "," EVENT("cpu_op", "1760000000000000", "1") "," EVENT(
		"kernel", "1760000000000007.25", "1") "," EVENT("kernel", "1760000000000009", "1") "]");
	assert_only(trace, TL_HEALTH_TIME_OUT_OF_RANGE, 1);
	assert_int_equal(trace->store->health.entry[TL_HEALTH_TIME_OUT_OF_RANGE].first_row, 0);
	assert_int_equal(trace->store->start[0], TL_TIME_NONE);
	assert_int_equal(trace->store->start[2] - trace->store->start[1], 7250000);
	assert_int_equal(trace->store->base_us, INT64_C(1760000000000000));
	tl_trace_free(trace);
}

/* Case 23: ten kernels of 100, one of -5, one of 236 years. */
static void invalid_durations(void **state)
{
	char text[4096];
	int n = sprintf(text, "[");
	(void)state;
	for (int i = 0; i < 10; i++)
		n += sprintf(text + n, EVENT("kernel", "%d", "100") ",", 1000 + 100 * i);
	sprintf(text + n, EVENT("kernel", "1500", "-5") "," EVENT("kernel", "1600", "7.4e15") "]");
	tl_trace *trace = load(text);
	const tl_store *store = trace->store;
	tl_time sum = 0;
	int valid = 0;
	for (tl_row row = 0; row < store->n; row++)
		if (store->dur[row] != TL_TIME_NONE) {
			valid++;
			sum += store->dur[row];
		} else {
			assert_true(store->flags[row] & TL_EVENT_BAD_DUR);
		}
	assert_int_equal(valid, 10);
	assert_int_equal(sum, US(1000));
	assert_int_equal(found(trace, TL_HEALTH_NEGATIVE_DURATION), 1);
	assert_int_equal(found(trace, TL_HEALTH_ABSURD_DURATION), 1);
	tl_trace_free(trace);

	/* exactly seven days is still a duration */
	trace = load("[" EVENT("kernel", "1", "604800000000") "," EVENT("kernel", "1", "604800000000.000001") "]");
	assert_int_equal(trace->store->dur[0], INT64_C(604800000000000000));
	assert_only(trace, TL_HEALTH_ABSURD_DURATION, 1);
	tl_trace_free(trace);
}

static void missing_durations(void **state)
{
	static const char *const durations[] = {"", ",\"dur\":null", ",\"dur\":inf", ",\"dur\":-nan", NULL};
	(void)state;
	for (const char *const *dur = durations; *dur; dur++) {
		char text[256];
		snprintf(text, sizeof text, "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":5%s}]", *dur);
		tl_trace *trace = load(text);
		assert_int_equal(trace->store->dur[0], 0);
		assert_true(trace->store->flags[0] & TL_EVENT_NO_DUR);
		assert_int_equal(found(trace, TL_HEALTH_MISSING_DURATION), 1);
		assert_int_equal(found(trace, TL_HEALTH_NOT_A_NUMBER), **dur && dur != &durations[1]);
		tl_trace_free(trace);
	}
	tl_trace *trace = load("[" EVENT("cpu_op", "5", "\"long\"") "]");
	assert_int_equal(trace->store->dur[0], TL_TIME_NONE);
	assert_only(trace, TL_HEALTH_NOT_A_NUMBER, 1);
	tl_trace_free(trace);
}

/* Case 33: times as texts at epoch scale. */
static void times_as_texts(void **state)
{
	char text[2048];
	int n = sprintf(text, "[");
	(void)state;
	for (int i = 0; i < 5; i++)
		n += sprintf(text + n, "%s" EVENT("kernel", "\"1715591234567%d.%d23\"", "\"0.9\""), i ? "," : "",
			     890 + (9 * i + 1) / 10, (9 * i + 1) % 10);
	sprintf(text + n, "]");
	tl_trace *trace = load(text);
	assert_healthy(trace);
	for (tl_row row = 1; row < 5; row++)
		assert_int_equal(trace->store->start[row], tl__end(trace->store, row - 1));
	tl_trace_free(trace);
}

/* A time in exponent form is the same time. */
static void exponents(void **state)
{
	(void)state;
	tl_trace *trace = load("[" EVENT("kernel", "1.7000000000012345e+15",
					 "1e-3") "," EVENT("kernel", "1700000000001234.5", "0.001") "]");
	assert_healthy(trace);
	assert_int_equal(trace->store->start[0], trace->store->start[1]);
	assert_int_equal(trace->store->start[0], 500000);
	assert_int_equal(trace->store->base_us, INT64_C(1700000000001234));
	assert_int_equal(trace->store->dur[0], 1000);
	assert_int_equal(trace->store->dur[1], 1000);
	tl_trace_free(trace);
}

static void unit_in_doubt(void **state)
{
	(void)state;
	/* 8 days between two events without a fraction, header says ns */
	tl_trace *trace = load("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" EVENT("kernel", "1000", "5") "," EVENT(
		"kernel", "691200001000", "5") "]}");
	assert_only(trace, TL_HEALTH_UNIT_DOUBT, 1);
	assert_int_equal(trace->store->start[1] - trace->store->start[0], INT64_C(691200000000000000));
	tl_trace_free(trace);
	/* the header alone changes nothing */
	trace = load("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" EVENT("kernel", "1000", "5") "]}");
	assert_healthy(trace);
	assert_int_equal(trace->store->dur[0], US(5));
	tl_trace_free(trace);
}

/* Of 1 to 16 digits, whatever stands behind them. */
static void digits_at_once(void **state)
{
	static const char text[] = "9081726354019283";
	uint64_t value = 0;
	(void)state;
	for (unsigned n = 1; n <= 16; n++) {
		char room[32];
		value = value * 10 + (uint64_t)(text[n - 1] - '0');
		for (int behind = 0; behind < 256; behind += 51) {
			memset(room, behind, sizeof room);
			memcpy(room, text, n);
			assert_int_equal(tl__digits(room, n), value);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_at_once),
		cmocka_unit_test(decimals),
		cmocka_unit_test(equal_ends_are_equal),
		cmocka_unit_test(the_base_changes_nothing),
		cmocka_unit_test(zero_is_no_timestamp_in_a_trace_that_begins_long_after),
		cmocka_unit_test(zeros_in_a_trace_of_small_times),
		cmocka_unit_test(the_first_zero_is_found),
		cmocka_unit_test(unusable_starts),
		cmocka_unit_test(far_from_the_rest),
		cmocka_unit_test(invalid_durations),
		cmocka_unit_test(missing_durations),
		cmocka_unit_test(times_as_texts),
		cmocka_unit_test(exponents),
		cmocka_unit_test(unit_in_doubt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
