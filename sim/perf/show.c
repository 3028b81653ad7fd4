#include "perf/show.h"

#include "collective/profile.h"
#include "measure/library.h"
#include "plan/plan_json.h"

#include <math.h>
#include <stdlib.h>

/*
 * Prints a time with nccl-tests' digits: two decimals, fewer where they mean nothing.
 */
static void time_print(struct text *out, int width, double s)
{
	double us = s * 1e6;

	if (isnan(us))
		text_printf(out, " %*s", width, "-");
	else
		text_printf(out, " %*.*f", width, us < 1e4 ? 2 : us < 1e5 ? 1 : 0, us);
}

/* Returns simulated over measured; NaN where either is missing. */
static double ratio(const struct perf_table *t, int i)
{
	return t->row[i].time_s / t->measured_s[i];
}

/* Ends a line, without spaces before its end. */
static void line_end(struct text *out)
{
	while (out->length && out->s[out->length - 1] == ' ')
		out->s[--out->length] = '\0';
	text_printf(out, "\n");
}

void perf_show_text(struct text *out, const struct perf_table *t)
{
	bool sure = false;

	for (int i = 0; i < t->n; i++)
		sure = sure || !isnan(t->row[i].likely_s.low);
	text_printf(out, "# %s on %d device%s of %s", t->collective, (int)t->devices,
	            t->devices == 1 ? "" : "s", t->platform);
	profile_print_caller(out, t->machine);
	if (t->ngroups > 1)
		text_printf(out, ", %d groups at once", (int)t->ngroups);
	text_printf(out, "; clock %s\n", t->clock);
	text_printf(out, "#%12s %13s %7s %10s %8s %8s %10s  %-11s %-8s", "size", "count",
	            "type", "time", "algbw", "busbw", "bound", "algorithm", "protocol");
	if (t->measured_s)
		text_printf(out, " %10s %7s", "measured", "ratio");
	if (sure)
		text_printf(out, " %10s %10s", "80 % from", "to");
	line_end(out);
	text_printf(out, "#%12s %13s %7s %10s %8s %8s %10s  %-11s %-8s", "(B)",
	            "(elements)", "", "(us)", "(GB/s)", "(GB/s)", "(us)", "", "");
	if (t->measured_s)
		text_printf(out, " %10s %7s", "(us)", "");
	if (sure)
		text_printf(out, " %10s %10s", "(us)", "(us)");
	line_end(out);
	for (int i = 0; i < t->n; i++) {
		const struct perf_row *r = &t->row[i];

		text_printf(out, " %12lld %13lld %7s", (long long)r->bytes,
		            (long long)r->count, "float");
		time_print(out, 10, r->time_s);
		if (r->refusal)
			text_printf(out, " %8s %8s", "-", "-");
		else
			text_printf(out, " %8.2f %8.2f", r->algbw_Bps * 1e-9,
			            r->busbw_Bps * 1e-9);
		time_print(out, 10, r->bound_s);
		text_printf(out, "  %-11s %-8s", r->algorithm,
		            r->protocol ? r->protocol : "-");
		if (t->measured_s) {
			time_print(out, 10, t->measured_s[i]);
			if (isnan(ratio(t, i)))
				text_printf(out, " %7s", "-");
			else
				text_printf(out, " %7.3f", ratio(t, i));
		}
		if (sure) {
			time_print(out, 10, r->likely_s.low);
			time_print(out, 10, r->likely_s.high);
		}
		line_end(out);
	}
}

/* Prints a field of CSV after others, with so many digits; NaN is empty. */
static void field_print(struct text *out, double x, int digits)
{
	if (isnan(x))
		text_printf(out, ",");
	else
		text_printf(out, ",%.*g", digits, x);
}

void perf_show_csv(struct text *out, const struct perf_table *t)
{
	text_printf(out,
	            "collective,devices,bytes,time_us,algbw_GBps,busbw_GBps,algorithm,"
	            "protocol,bound_us%s,low_us,high_us\n",
	            t->measured_s ? ",measured_us,ratio" : "");
	for (int i = 0; i < t->n; i++) {
		const struct perf_row *r = &t->row[i];

		text_printf(out, "%s,%d,%lld", t->collective, (int)t->devices,
		            (long long)r->bytes);
		field_print(out, r->time_s * 1e6, 9);
		field_print(out, r->algbw_Bps * 1e-9, 9);
		field_print(out, r->busbw_Bps * 1e-9, 9);
		text_printf(out, ",%s,%s", r->algorithm, r->protocol ? r->protocol : "");
		field_print(out, r->bound_s * 1e6, 9);
		if (t->measured_s) {
			field_print(out, t->measured_s[i] * 1e6, 9);
			field_print(out, ratio(t, i), 6);
		}
		field_print(out, r->likely_s.low * 1e6, 9);
		field_print(out, r->likely_s.high * 1e6, 9);
		text_printf(out, "\n");
	}
}

static json_t *perf_row_json(const struct perf_table *t, int i)
{
	const struct perf_row *r = &t->row[i];
	json_t *row = json_pack("{s:I,s:o,s:o,s:o,s:s,s:s?,s:f,s:o}", "bytes",
	                        (json_int_t)r->bytes, "time_s", json_known(r->time_s),
	                        "algbw_Bps", json_known(r->algbw_Bps), "busbw_Bps",
	                        json_known(r->busbw_Bps), "algorithm", r->algorithm,
	                        "protocol", r->protocol, "bound_s", r->bound_s,
	                        "interval_s", likely_json(&r->likely_s));

	if (r->refusal)
		json_object_set_new(row, "refusal", json_text(r->refusal));
	if (!t->measured_s)
		return row;
	json_object_set_new(row, "measured_s", json_known(t->measured_s[i]));
	json_object_set_new(row, "ratio", json_known(ratio(t, i)));
	return row;
}

void perf_show_json(struct text *out, const struct perf_table *t)
{
	json_t *rows = json_array(), *all;
	char *s;

	for (int i = 0; i < t->n; i++)
		json_array_append_new(rows, perf_row_json(t, i));
	all = json_pack("{s:s,s:o,s:o,s:s,s:i,s:o}", "schema", "shardsim/1", "platform",
	                json_text(t->platform), "launch", library_json(t->machine),
	                "collective", t->collective, "devices", (int)t->devices, "rows",
	                rows);
	s = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	text_printf(out, "%s\n", s);
	free(s);
	json_decref(all);
}
