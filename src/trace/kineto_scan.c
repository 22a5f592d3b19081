/* SPDX-License-Identifier: MIT */
/* Reads one well-formed event: where its fields are, in one pass over its text. The hot loop of loading. */
#include <string.h>

#include "trace/kineto.h"

#define IS(text) (!memcmp(key, text, sizeof text - 1))

static tl_kineto_field event_field(const char *key, uint32_t n)
{
	switch (n) {
	case 2:
		return IS("ph") ? TL_F_PH : IS("ts") ? TL_F_TS : IS("id") ? TL_F_ID : TL_F_NONE;
	case 3:
		return IS("cat")   ? TL_F_CAT
		       : IS("pid") ? TL_F_PID
		       : IS("tid") ? TL_F_TID
		       : IS("dur") ? TL_F_DUR
		       : IS("id2") ? TL_F_ID2
				   : TL_F_NONE;
	case 4:
		return IS("name") ? TL_F_NAME : IS("args") ? TL_F_ARGS : TL_F_NONE;
	default:
		return TL_F_NONE;
	}
}

#undef IS

typedef struct arg_name {
	const char *text;
	uint8_t field;
} arg_name;

/* Names of arguments by length; writers differ in letter case ("external id"). */
static const arg_name args_4[] = {{"grid", TL_F_GRID}, {"name", TL_F_ARG_NAME}, {0}};
static const arg_name args_5[] = {{"block", TL_F_BLOCK}, {"dtype", TL_F_COLLECTIVE + TL_COLL_DTYPE}, {0}};
static const arg_name args_6[] = {{"stream", TL_F_STREAM}, {"device", TL_F_DEVICE}, {"labels", TL_F_ARG_LABELS}, {0}};
static const arg_name args_9[] = {{"python id", TL_F_PYTHON_ID}, {"perf_meta", TL_F_PERF_META}, {0}};
static const arg_name args_10[] = {{"input dims", TL_F_DIMS},
				   {"input type", TL_F_TYPES},
				   {"group size", TL_F_COLLECTIVE + TL_COLL_GROUP_SIZE},
				   {0}};
static const arg_name args_11[] = {{"external id", TL_F_EXTERNAL},
				   {"correlation", TL_F_CORRELATION},
				   {"kernel_file", TL_F_KERNEL_FILE},
				   {0}};
static const arg_name args_13[] = {{"input strides", TL_F_STRIDES},
				   {"fwd thread id", TL_F_FWD_THREAD},
				   {"in msg nelems", TL_F_COLLECTIVE + TL_COLL_IN_ELEMS},
				   {"in split size", TL_F_COLLECTIVE + TL_COLL_IN_SPLIT},
				   {0}};
static const arg_name args_14[] = {{"out msg nelems", TL_F_COLLECTIVE + TL_COLL_OUT_ELEMS},
				   {"out split size", TL_F_COLLECTIVE + TL_COLL_OUT_SPLIT},
				   {0}};
static const arg_name args_15[] = {{"concrete inputs", TL_F_CONCRETE},
				   {"sequence number", TL_F_SEQUENCE},
				   {"collective name", TL_F_COLLECTIVE + TL_COLL_NAME},
				   {0}};
static const arg_name args_16[] = {{"python parent id", TL_F_PYTHON_PARENT},
				   {"python module id", TL_F_PYTHON_MODULE},
				   {0}};
static const arg_name args_18[] = {{"process group name", TL_F_COLLECTIVE + TL_COLL_GROUP_NAME}, {0}};
static const arg_name args_19[] = {{"process group ranks", TL_F_COLLECTIVE + TL_COLL_GROUP_RANKS}, {0}};
static const arg_name *const args_by_length[] = {
	[4] = args_4,   [5] = args_5,   [6] = args_6,   [9] = args_9,   [10] = args_10, [11] = args_11,
	[13] = args_13, [14] = args_14, [15] = args_15, [16] = args_16, [18] = args_18, [19] = args_19,
};

static tl_kineto_field arg_field(const char *key, uint32_t n)
{
	if (n >= sizeof args_by_length / sizeof *args_by_length || !args_by_length[n])
		return TL_F_NONE;
	for (const arg_name *arg = args_by_length[n]; arg->text; arg++) {
		uint32_t i = 0;
		/* the bit that tells letter cases apart is set in blanks and underscores of the names anyway */
		while (i < n && (key[i] | 0x20) == (arg->text[i] | 0x20))
			i++;
		if (i == n)
			return (tl_kineto_field)arg->field;
	}
	return TL_F_NONE;
}

/* What a key means, however it is written: "n\u0061me" is "name". */
static tl_kineto_field find_field(const tl_json_token *key, bool args)
{
	char room[TL_JSON_KEY];
	size_t n = key->n;
	const char *text = key->flags & TL_JSON_ESCAPES ? tl__json_key(room, key->p, &n) : key->p;
	return args ? arg_field(text, (uint32_t)n) : event_field(text, (uint32_t)n);
}

/* What belongs to the event that is being read. */
typedef struct reader {
	tl_kineto_event *event;
	tl_kineto_steps *steps;
	tl_kineto_scratch *scratch;
	tl_json_scan *scan;
} reader;

static const char *fail(tl_json_scan *scan, const char *p)
{
	scan->stop = p;
	return NULL;
}

/* Fields whose lists are kept as text: they are made compact in the same pass that finds their end. */
#define TEXT_FIELDS                                                                                      \
	(TL_F_BIT(TL_F_DIMS) | TL_F_BIT(TL_F_TYPES) | TL_F_BIT(TL_F_STRIDES) | TL_F_BIT(TL_F_CONCRETE) | \
	 TL_F_BIT(TL_F_GRID) | TL_F_BIT(TL_F_BLOCK))

/* A list of such a field: one that is known, or made compact in scratch memory. NULL: read it the usual way. */
static inline const char *scan_list(reader *r, const char *p, tl_kineto_field field, tl_json_token *token)
{
	tl_kineto_scratch *scratch = r->scratch;
	tl_known *known = scratch->known;
	size_t left = (size_t)(r->scan->end - p);
	uint16_t *guess = NULL;
	if (known) {
		guess = tl__known_next_list(known, field);
		uint16_t number = tl__known_at(known, guess, p, left);
		if (number) {
			const tl_known_text *text = &known->text[number];
			tl__known_came(known->list, number);
			*token = (tl_json_token){.p = known->room + text->at + text->n,
						 .n = text->value_n,
						 .type = TL_JSON_ARRAY,
						 .flags = TL_JSON_COMPACT,
						 .known = number};
			return p + text->n;
		}
	}
	char *to = scratch->next;
	uint8_t flags;
	if ((size_t)(scratch->end - to) < left)
		return NULL;
	const char *after = tl__json_scan_compact(p, r->scan->end, &scratch->next, &flags);
	if (!after)
		return NULL;
	*token = (tl_json_token){.p = to,
				 .n = (uint32_t)(scratch->next - to),
				 .type = TL_JSON_ARRAY,
				 .flags = (uint8_t)(flags | TL_JSON_COMPACT)};
	if (known) {
		if (!flags) {
			token->known = tl__known_add(known, p, (size_t)(after - p), to, token->n);
			tl__known_learn(guess, token->known);
		}
		tl__known_came(known->list, token->known);
	}
	return after;
}

/* The name of an event, behind its quote. */
static inline const char *scan_name(reader *r, const char *p, tl_json_token *token)
{
	tl_known *known = r->scratch->known;
	if (!known)
		return tl__json_scan_string(r->scan, p, token);
	uint16_t *guess = tl__known_next_name(known);
	uint16_t number = tl__known_at(known, guess, p, (size_t)(r->scan->end - p));
	const char *after;
	if (number) {
		const tl_known_text *text = &known->text[number];
		*token = (tl_json_token){
			.p = known->room + text->at, .n = text->value_n, .type = TL_JSON_STRING, .known = number};
		after = p + text->n;
	} else {
		after = tl__json_scan_string(r->scan, p, token);
		if (!after)
			return NULL;
		if (!token->flags) {
			number = token->known = tl__known_add(known, p, (size_t)(after - p), NULL, 0);
			tl__known_learn(guess, number);
		}
	}
	tl__known_came(known->name, number);
	return after;
}

/* Fields that are numbers to whoever stores them. While the text is at hand, the number is made here. */
#define VALUE_FIELDS                                                                                                \
	(TL_F_BIT(TL_F_TS) | TL_F_BIT(TL_F_DUR) | TL_F_BIT(TL_F_ID) | TL_F_BIT(TL_F_EXTERNAL) |                     \
	 TL_F_BIT(TL_F_SEQUENCE) | TL_F_BIT(TL_F_FWD_THREAD) | TL_F_BIT(TL_F_CORRELATION) | TL_F_BIT(TL_F_STREAM) | \
	 TL_F_BIT(TL_F_DEVICE) | TL_F_BIT(TL_F_PYTHON_ID) | TL_F_BIT(TL_F_PYTHON_PARENT) |                          \
	 TL_F_BIT(TL_F_PYTHON_MODULE))

/* A plain number with so many digits before the point: an integer, or a time of up to six places. */
static inline void take_value(tl_json_token *token, unsigned whole, bool time)
{
	static const uint32_t scale[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
	const char *p = token->p;
	unsigned places = token->n > whole ? token->n - whole - 1 : 0;
	if (whole > 16 || places > (time ? 6 : 0))
		return;
	token->value = tl__digits(p, whole);
	if (places)
		token->value = token->value * scale[places] + tl__digits(p + whole + 1, places);
	token->flags = TL_JSON_VALUE;
	token->known = (uint16_t)places;
}

/* The token of a field, its own when the key comes again. */
static inline tl_json_token *token_for(tl_kineto_event *event, tl_kineto_field field)
{
	if (event->have & TL_F_BIT(field)) {
		event->duplicates++;
	} else {
		event->have |= TL_F_BIT(field);
		event->slot[field] = event->tokens++;
	}
	return &event->token[event->slot[field]];
}

/* Reads the value of a key and keeps it when `field` is one that is read. */
static inline const char *scan_field(reader *r, const char *p, tl_kineto_field field)
{
	tl_json_token ignored, *token = field < TL_F_COUNT ? token_for(r->event, field) : &ignored;
	if (*p == '"')
		return field == TL_F_NAME ? scan_name(r, p + 1, token) : tl__json_scan_string(r->scan, p + 1, token);
	if (*p == '[' && field < TL_F_COUNT && (TEXT_FIELDS & TL_F_BIT(field))) {
		const char *after = scan_list(r, p, field, token);
		if (after)
			return after;
	}
	unsigned whole;
	const char *plain = tl__json_scan_plain_number(p, token, &whole);
	if (plain) {
		if (VALUE_FIELDS & TL_F_BIT(field))
			take_value(token, whole, field == TL_F_TS || field == TL_F_DUR);
		return plain;
	}
	p = tl__json_scan_value(r->scan, p, token);
	if (p && token->type == TL_JSON_NUMBER && token->flags) {
		r->event->big_integers += token->flags & TL_JSON_BIG_INTEGER ? 1 : 0;
		r->event->odd_numbers += token->flags & TL_JSON_ODD_NUMBER ? 1 : 0;
		if (token->flags & TL_JSON_NO_NUMBER) {
			r->event->no_numbers++;
			token->type = TL_JSON_NULL;
		}
	}
	return p;
}

/* Forgets the fields of args: a second args replaces the first. */
static void drop_args(tl_kineto_event *event)
{
	tl_kineto_event kept = {0};
	event->have &= TL_F_BIT(TL_F_EXTERNAL) - 1;
	/* tokens move to the front in the order in which they stand */
	for (uint8_t at = 0; at < event->tokens; at++)
		for (int field = 0; field < TL_F_EXTERNAL; field++)
			if ((event->have & TL_F_BIT(field)) && event->slot[field] == at) {
				event->token[kept.tokens] = event->token[at];
				kept.slot[field] = kept.tokens++;
			}
	event->tokens = kept.tokens;
	memcpy(event->slot, kept.slot, sizeof kept.slot);
}

/* ---- steps from value to value ---- */

enum { START_OF_EVENT, UNKNOWN, FIRST_STEP };

/*
 * Reads blanks, `"key"`, colon and blanks at `p`. The place of the value, or NULL.
 */
static const char *scan_key(reader *r, const char *p, bool args, tl_kineto_field *field)
{
	tl_json_token key;
	p = tl__json_blank(p);
	if (*p != '"')
		return fail(r->scan, p);
	p = tl__json_scan_string(r->scan, p + 1, &key);
	if (!p)
		return NULL;
	p = tl__json_blank(p);
	if (*p != ':')
		return fail(r->scan, p);
	*field = find_field(&key, args);
	return tl__json_blank(p + 1);
}

/* Reads what stands at `p`, behind a value or (`start`) the brace of the event, up to the next value or the end. */
static const char *read_step(reader *r, tl_kineto_step *step, const char *p, bool start)
{
	bool first = start; /* in its object */
	for (;;) {
		p = tl__json_blank(p);
		if (*p == '}' && step->in_args) {
			step->in_args = first = false;
			p++;
			continue;
		}
		if (*p == '}') {
			step->ends = true;
			return p + 1;
		}
		if (!first && *p != ',')
			return fail(r->scan, p);
		tl_kineto_field field;
		p = scan_key(r, first ? p : p + 1, step->in_args, &field);
		if (!p)
			return NULL;
		step->has_key |= !step->in_args;
		step->field = (uint8_t)field;
		if (field != TL_F_ARGS || *p != '{')
			return p;
		step->opens_args = step->in_args = first = true;
		p++;
	}
}

/* The entry for a step, which stands at [p, end), made when there is room; UNKNOWN otherwise. */
static uint8_t remember(tl_kineto_steps *steps, const tl_kineto_step *step, const char *p, const char *end)
{
	size_t n = (size_t)(end - p);
	if (n > TL_STEP_TEXT)
		return UNKNOWN;
	if (steps->n < FIRST_STEP)
		steps->n = FIRST_STEP;
	for (unsigned i = FIRST_STEP; i < steps->n; i++) {
		const tl_kineto_step *known = &steps->step[i];
		if (known->n == n && known->from_args == step->from_args && !memcmp(known->text, p, n))
			return (uint8_t)i;
	}
	if (steps->n == TL_STEPS)
		return UNKNOWN;
	tl_kineto_step *new = &steps->step[steps->n];
	*new = *step;
	memcpy(new->text, p, n);
	new->n = (uint8_t)n;
	return (uint8_t)steps->n++;
}

/* The step at `p` behind that of number `*at`, which becomes its own. `*unknown` is where one that is not kept lies. */
static const tl_kineto_step *learn_step(reader *r, uint8_t *at, tl_kineto_step *unknown, const char **p, bool in_args)
{
	tl_kineto_step *before = &r->steps->step[*at];
	bool start = *at == START_OF_EVENT;
	*unknown = (tl_kineto_step){.from_args = in_args, .in_args = in_args, .next = {UNKNOWN, UNKNOWN}};
	const char *end = read_step(r, unknown, *p, start);
	if (!end)
		return NULL;
	/*
	 * Not kept: what follows the brace of an event, which alone may do without a comma; and `"args":` before
	 * something else than an object (or the end of the window), which is how args begin, too.
	 */
	bool keep = unknown->ends ? !start : unknown->field != TL_F_ARGS;
	uint8_t number = keep ? remember(r->steps, unknown, *p, end) : UNKNOWN;
	*p = end;
	if (*at != UNKNOWN) {
		before->next[1] = before->next[0];
		before->next[0] = number;
	}
	*at = number;
	return number == UNKNOWN ? unknown : &r->steps->step[number];
}

static inline bool stands_at(const char *p, const tl_kineto_step *step)
{
	return step->n && tl__json_same(p, step->text, step->n);
}

/* The next step at `p`, which moves behind it; NULL when there is none. */
static inline const tl_kineto_step *next_step(reader *r, uint8_t *at, tl_kineto_step *unknown, const char **p,
					      bool in_args)
{
	tl_kineto_step *steps = r->steps->step, *last = &steps[*at];
	uint8_t expected = last->next[0];
	if (!stands_at(*p, &steps[expected])) {
		expected = last->next[1];
		if (!stands_at(*p, &steps[expected]))
			return learn_step(r, at, unknown, p, in_args);
		last->next[1] = last->next[0];
		last->next[0] = expected;
	}
	*at = expected;
	*p += steps[expected].n;
	return &steps[expected];
}

/* ---- runs of steps ---- */

/* A run that is being learned, while steps and values are read one by one. */
typedef struct lesson {
	const char *from; /* NULL: none */
	bool start;
	uint8_t values, field[TL_RUN_VALUES];
} lesson;

static bool comes_again(uint8_t field)
{
	return field == TL_F_PH || field == TL_F_CAT || field == TL_F_PID || field == TL_F_TID;
}

/* The number of the run [from, p), made when there is room; 0: there is none such. */
static uint8_t remember_run(const reader *r, const lesson *l, const char *p, uint8_t step)
{
	tl_kineto_steps *s = r->steps;
	size_t n = (size_t)(p - l->from);
	if (n > TL_RUN_TEXT)
		return 0;
	if (!s->n_runs)
		s->n_runs = 1;
	tl_kineto_run new = {.n = (uint8_t)n, .step = step, .start = l->start, .values = l->values};
	for (int i = 0; i < l->values; i++) {
		const tl_json_token *token = tl__kineto_token(r->event, (tl_kineto_field)l->field[i]);
		/* what must be looked at more closely each time, or came again, is not for a run */
		if (token->flags || token->p < l->from ||
		    (token->type != TL_JSON_STRING && token->type != TL_JSON_NUMBER))
			return 0;
		new.value[i].field = l->field[i];
		new.value[i].at = (uint8_t)(token->p - l->from);
		new.value[i].n = (uint8_t)token->n;
		new.value[i].type = token->type;
		bool track = l->field[i] == TL_F_PID || l->field[i] == TL_F_TID;
		bool digits = token->type == TL_JSON_NUMBER && tl__json_count_digits(token->p) == token->n;
		new.value[i].known = track && token->n <= 16 && digits ? (uint8_t)s->n_runs : 0;
	}
	memcpy(new.text, l->from, n);
	for (unsigned i = 1; i < s->n_runs; i++)
		if (s->run[i].n == n && s->run[i].start == l->start && !memcmp(s->run[i].text, l->from, n))
			return (uint8_t)i;
	if (s->n_runs == TL_RUNS)
		return 0;
	s->run[s->n_runs] = new;
	return (uint8_t)s->n_runs++;
}

/* A step was read to `p`: the run goes on, or ends here and is learned, or was none. */
static void go_on_learning(const reader *r, lesson *l, const tl_kineto_step *step, const char *p, uint8_t at)
{
	if (!step->ends && !step->opens_args && comes_again(step->field) && l->values < TL_RUN_VALUES) {
		l->field[l->values++] = step->field;
		return;
	}
	if (l->values && at != UNKNOWN && !step->ends && !step->opens_args) {
		uint8_t run = remember_run(r, l, p, at);
		tl_kineto_run *last = &r->steps->run[r->steps->last_run];
		if (run) {
			last->next[1] = last->next[0];
			last->next[0] = run;
			r->steps->last_run = run;
		}
	}
	l->from = NULL;
}

/* The run at `p`, if it is one of those expected there. */
static inline const tl_kineto_run *next_run(tl_kineto_steps *s, const char *p, bool start)
{
	tl_kineto_run *last = &s->run[s->last_run];
	for (int i = 0; i < 2; i++) {
		uint8_t expected = last->next[i];
		const tl_kineto_run *run = &s->run[expected];
		if (!run->n || run->start != start || !tl__json_same(p, run->text, run->n))
			continue;
		last->next[i] = last->next[0];
		last->next[0] = expected;
		s->last_run = expected;
		return run;
	}
	return NULL;
}

static inline void take_values(tl_kineto_event *event, const tl_kineto_run *run, const char *p)
{
	event->empty = false;
	for (int i = 0; i < run->values; i++)
		*token_for(event, (tl_kineto_field)run->value[i].field) = (tl_json_token){.p = p + run->value[i].at,
											  .n = run->value[i].n,
											  .type = run->value[i].type,
											  .known = run->value[i].known};
}

const char *tl__kineto_scan(tl_kineto_event *event, tl_kineto_steps *steps, tl_kineto_scratch *scratch,
			    tl_json_scan *scan, const char *p)
{
	reader r = {event, steps, scratch, scan};
	tl_kineto_step unknown;
	lesson l = {.from = NULL};
	uint8_t at = START_OF_EVENT;
	bool in_args = false, may_run = true;
	event->have = 0;
	event->empty = true;
	event->duplicates = event->big_integers = event->odd_numbers = event->no_numbers = 0;
	event->tokens = 0;
	for (p++;;) {
		const tl_kineto_step *step;
		const tl_kineto_run *run = may_run ? next_run(steps, p, at == START_OF_EVENT) : NULL;
		if (run) {
			take_values(event, run, p);
			p += run->n;
			at = run->step;
			step = &steps->step[at];
		} else {
			if (may_run)
				l = (lesson){.from = p, .start = at == START_OF_EVENT};
			step = next_step(&r, &at, &unknown, &p, in_args);
			if (!step)
				return NULL;
			if (l.from)
				go_on_learning(&r, &l, step, p, at);
			event->empty &= !step->has_key;
			if (step->opens_args && event->have >= TL_F_BIT(TL_F_EXTERNAL))
				drop_args(event);
			if (step->ends)
				return p;
		}
		in_args = step->in_args;
		p = scan_field(&r, tl__json_blank(p), (tl_kineto_field)step->field);
		if (!p)
			return NULL;
		may_run = !in_args && step->field == TL_F_NAME;
	}
}
