#include "program/show.h"

#include "base/units.h"
#include "measure/library.h"
#include "text/columns.h"
#include "text/words.h"

static void line(struct text *out, struct arena *a, const char *what, double s,
                 const char *more)
{
	text_printf(out, "  %-15s %9s%s%s\n", what, words_time(a, s),
	            *more ? "   " : "", more);
}

static const char *compute_kinds(const struct program_price *p, struct arena *a)
{
	struct text t = {0};

	for (int c = 0; c < CLASSES; c++)
		if (p->class_s[c] > 0)
			text_printf(&t, "%s%s %s", t.length ? ", " : "",
			            op_class_name((enum op_class)c),
			            words_time(a, p->class_s[c]));
	return text_take(&t, a);
}

static const char *peak_share(const struct program_price *p, struct arena *a)
{
	double rate = p->dot_flops / p->step_s;
	double peak = p->machine ? p->machine->tuning.value[TUNING_BF16_FLOPS] : 0;

	if (!(rate > 0))
		return arena_printf(a, "%.5g on a device", p->dot_flops);
	if (!(peak > 0))
		return arena_printf(a, "%.5g on a device, %.4g TFLOP/s", p->dot_flops,
		                    rate / 1e12);
	return arena_printf(a,
	                    "%.5g on a device, %.4g TFLOP/s, %.1f %% of the bf16 peak",
	                    p->dot_flops, rate / 1e12, 100 * rate / peak);
}

void program_show_summary(struct text *out, struct arena *a,
                          const struct program_price *price,
                          const struct program_show *show)
{
	const struct program *p = price->program;
	const char *sure = show->likely ? likely_words(show->likely, a) : "";
	double runs = 0, bytes = 0;

	for (int64_t i = 0; i < price->collective.n; i++) {
		runs += price->collective.at[i].count;
		bytes += price->collective.at[i].count * price->collective.at[i].bytes;
	}
	text_printf(out, "%.*s: %s, %d device%s%s%s%s\n", (int)p->name.length,
	            p->name.at, stage_name(p->stage), (int)p->ndevices,
	            p->ndevices == 1 ? "" : "s", show->platform ? ", on " : "",
	            show->platform ? show->platform : "",
	            library_words(price->machine, a));
	if (price->machine) {
		line(out, a, "step", price->step_s, "");
		line(out, a, "compute", price->compute_s, compute_kinds(price, a));
		text_printf(out, "  %-15s %9s, no less than %s%s%s; exposed %s\n",
		            "communication", words_time(a, price->communication_s),
		            words_time(a, price->bound_s), *sure ? "; " : "", sure,
		            words_time(a, price->exposed_s));
		if (price->host_s > 0)
			line(out, a, "host link", price->host_s, "");
	}
	text_printf(out, "  %-15s %s\n", "matmul flops", peak_share(price, a));
	text_printf(out, "  %-15s %.10g run, %s of results\n", "collectives", runs,
	            words_bytes(a, bytes));
	if (show->reshards)
		text_printf(out,
		            "  %-15s %lld in the text, %lld full rematerialization%s\n",
		            "layout changes", (long long)show->reshards->row.n,
		            (long long)show->reshards->full_rematerializations,
		            show->reshards->full_rematerializations == 1 ? "" : "s");
	program_show_memory(out, price, show);
}

void program_show_memory(struct text *out, const struct program_price *price,
                         const struct program_show *show)
{
	const struct program_memory *m = show->memory;
	const char *bound = price->program->stage == STAGE_OPTIMISED ? "" : " at most";
	struct arena *a = arena_new();

	text_printf(out, "  %-15s arguments %s, beside them%s %s", "memory",
	            words_bytes(a, m->params), bound, words_bytes(a, m->temps));
	if (m->at)
		text_printf(out, " at %s", m->at);
	if (m->device > 0) {
		text_printf(out, "; the device has ");
		units_print_memory(out, m->device);
	}
	text_printf(out, "\n");
	arena_free(a);
}

static const char *count(struct arena *a, double n)
{
	return arena_printf(a, "%.10g", n);
}

void program_show_collectives(struct text *out, struct arena *a,
                              const struct program_price *price,
                              const struct program_show *show)
{
	static const char *const head[] = {"collective", "algorithm", "count", "group",
	                                   "bytes each", "each",      "total", "bound",
	                                   "best",       "what"};
	struct table_rows rows;
	struct columns t;

	rows_of(&rows, a, price, true, show->by);
	if (!rows.row.n)
		return;
	columns_start(&t, a, 10, 2);
	columns_row(&t, head);
	for (int64_t i = 0; i < rows.row.n && i < show->most; i++) {
		const struct table_row *r = &rows.row.at[i];
		const char *cells[] = {opcode_name(r->code),
		                       r->algorithm ? r->algorithm : "-",
		                       count(a, r->count),
		                       count(a, r->group_size),
		                       words_bytes(a, r->bytes / r->count),
		                       words_time(a, r->time_s / r->count),
		                       words_time(a, r->time_s),
		                       words_time(a, r->bound_s),
		                       words_time(a, r->best_s),
		                       r->name};

		columns_row(&t, cells);
	}
	columns_print(out, &t, 2);
	if (rows.row.n > show->most)
		text_printf(out, "  and %lld more\n",
		            (long long)(rows.row.n - show->most));
	if (price->combined)
		text_printf(out,
		            "  those that run as one share its time by bytes; --raw "
		            "runs each apart\n");
}

void program_show_ops(struct text *out, struct arena *a,
                      const struct program_price *price, const struct program_show *show)
{
	static const char *const head[] = {"kind",  "op",      "count", "each", "total",
	                                   "share", "TFLOP/s", "GB/s",  "what"};
	struct table_rows rows;
	struct columns t;

	rows_of(&rows, a, price, false, show->by_given ? show->by : ROWS_BY_OP);
	if (!rows.row.n)
		return;
	columns_start(&t, a, 9, 2);
	columns_row(&t, head);
	for (int64_t i = 0; i < rows.row.n && i < show->most; i++) {
		const struct table_row *r = &rows.row.at[i];
		bool timed = r->time_s > 0;
		const char *cells[] = {
			op_class_name(r->class),
			show->by_given ? "" : opcode_name(r->code),
			count(a, r->count),
			words_time(a, r->time_s / r->count),
			words_time(a, r->time_s),
			timed ? arena_printf(a, "%.1f %%",
		                             100 * r->time_s / price->compute_s)
			      : "-",
			timed ? arena_printf(a, "%.4g", r->flops / r->time_s / 1e12)
			      : "-",
			timed ? arena_printf(a, "%.4g", r->bytes / r->time_s / 1e9)
			      : "-",
			r->name};

		columns_row(&t, cells);
	}
	columns_print(out, &t, 2);
	if (rows.row.n > show->most)
		text_printf(out, "  and %lld more\n",
		            (long long)(rows.row.n - show->most));
}
