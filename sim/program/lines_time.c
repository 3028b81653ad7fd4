#include "program/lines.h"

#include "plan/plan_json.h"
#include "text/columns.h"
#include "text/events.h"
#include "text/words.h"

#include <stdlib.h>

/* What a span is called: the op as the source has it, and as the text has it. */
static const char *span_text(struct span s, struct arena *a)
{
	return arena_strndup(a, s.at ? s.at : "", (size_t)s.length);
}

static const char *stream_name(const struct program_price *price, int8_t stream)
{
	const struct machine *m = price->machine;

	if (stream < 0)
		return "kernels";
	return stream < m->nfabrics ? m->fabric[stream].name : "other fabrics";
}

static int earlier(const void *a, const void *b)
{
	const struct overlap_span *x = *(const struct overlap_span *const *)a;
	const struct overlap_span *y = *(const struct overlap_span *const *)b;

	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return (x > y) - (x < y);
}

static const struct overlap_span **by_start(struct arena *a, const struct overlapped *o)
{
	const struct overlap_span **out =
		arena_alloc(a, (size_t)o->span.n + 1, sizeof(*out));

	for (int64_t i = 0; i < o->span.n; i++)
		out[i] = &o->span.at[i];
	if (o->span.n)
		qsort(out, (size_t)o->span.n, sizeof(*out), earlier);
	return out;
}

void timeline_show(struct text *out, struct arena *a, const struct program_price *price,
                   const struct overlapped *o, int64_t most)
{
	static const char *const head[] = {"on", "op", "start", "takes", "what"};
	const struct program *p = price->program;
	const struct overlap_span **span = by_start(a, o);
	struct columns t;

	columns_start(&t, a, 5, 2);
	columns_row(&t, head);
	for (int64_t i = 0; i < o->span.n && i < most; i++) {
		const struct overlap_span *s = span[i];
		const struct instruction *op = &p->op.at[s->op];
		const char *what = span_text(op_source_name(p, op), a);
		const char *cells[] = {arena_printf(a, "%*s%s", 2 * s->depth, "",
		                                    stream_name(price, s->stream)),
		                       span_text(op->name, a), words_time(a, s->start_s),
		                       words_time(a, s->end_s - s->start_s),
		                       s->trips > 0 ? arena_printf(a, "%s (%.10g turns)",
		                                                   what, s->trips)
		                                    : what};

		columns_row(&t, cells);
	}
	columns_print(out, &t, 2);
	if (o->span.n > most)
		text_printf(out, "  and %lld more\n", (long long)(o->span.n - most));
}

/* --- trace events --------------------------------------------------------------------- */

enum { ROWS = TIMELINE_STREAMS + 1 };

static int32_t row_of(const struct overlap_span *s)
{
	return s->depth * ROWS + s->stream + 1;
}

/* Names the rows that have slices. */
static void name_rows(struct text *out, struct arena *a,
                      const struct program_price *price, const struct overlapped *o)
{
	int32_t most = 0;
	bool *named;

	for (int64_t i = 0; i < o->span.n; i++)
		most = row_of(&o->span.at[i]) > most ? row_of(&o->span.at[i]) : most;
	named = arena_alloc(a, (size_t)most + 1, sizeof(*named));
	for (int64_t i = 0; i < o->span.n; i++) {
		const struct overlap_span *s = &o->span.at[i];
		const char *name = stream_name(price, s->stream);

		if (named[row_of(s)])
			continue;
		named[row_of(s)] = true;
		if (s->depth)
			name = arena_printf(a, "first turn, depth %d: %s", s->depth,
			                    name);
		events_row(out, 1, row_of(s), events_quoted(name, a));
	}
}

void timeline_trace(struct text *out, const struct program_price *price,
                    const struct overlapped *o)
{
	const struct program *p = price->program;
	struct arena *a = arena_new();

	events_start(out, price->machine ? price->machine->name : "");
	events_group(out, 1, events_quoted(span_text(p->name, a), a));
	name_rows(out, a, price, o);
	for (int64_t i = 0; i < o->span.n; i++) {
		const struct overlap_span *s = &o->span.at[i];
		const struct instruction *op = &p->op.at[s->op];

		events_slice(out, 1, row_of(s), events_quoted(span_text(op->name, a), a),
		             s->start_s, s->end_s);
		text_printf(out, "\"op\":\"%s\",\"op_name\":%s", opcode_name(op->code),
		            events_quoted(span_text(op_source_name(p, op), a), a));
		if (s->trips > 0)
			text_printf(out, ",\"turns\":%.17g", s->trips);
		if (s->stream >= 0)
			text_printf(out, ",\"exposed_s\":%.17g", o->exposed_s[s->op]);
		text_printf(out, "}}");
		arena_reset(a);
	}
	events_end(out);
	arena_free(a);
}

json_t *timeline_json(const struct program_price *price, const struct overlapped *o)
{
	const struct program *p = price->program;
	struct arena *a = arena_new();
	json_t *all = json_array();

	for (int64_t i = 0; i < o->span.n; i++) {
		const struct overlap_span *s = &o->span.at[i];
		const struct instruction *op = &p->op.at[s->op];

		json_array_append_new(
			all,
			json_pack("{s:s,s:o,s:o,s:o,s:i,s:f,s:f,s:o}", "op",
		                  opcode_name(op->code), "name",
		                  json_text(span_text(op->name, a)), "op_name",
		                  json_text(span_text(op_source_name(p, op), a)),
		                  "fabric",
		                  s->stream < 0
		                          ? json_null()
		                          : json_text(stream_name(price, s->stream)),
		                  "depth", (int)s->depth, "start_s", s->start_s,
		                  "end_s", s->end_s, "turns",
		                  s->trips > 0 ? json_real(s->trips) : json_null()));
	}
	arena_free(a);
	return all;
}
