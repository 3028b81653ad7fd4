#include "plan/plan_json.h"
#include "validate/report.h"

#include <math.h>
#include <stdlib.h>

static json_t *row_json(const struct prediction *p)
{
	json_t *row = json_pack(
		"{s:o,s:o,s:s?,s:s,s:i,s:i,s:I,s:o,s:o,s:o,s:s?,s:s?,s:s?,s:b,s:b,s:o}",
		"set", json_text(p->row->set), "system", json_text(p->row->system),
		"platform", p->platform, "collective", p->row->collective, "devices",
		(int)p->row->devices, "groups", (int)p->row->groups, "bytes",
		(json_int_t)p->row->bytes, "measured_s", json_known(p->row->time_s),
		"time_s", json_known(p->time_s), "error",
		json_known(isnan(p->time_s) ? NAN : prediction_error(p)), "algorithm",
		p->algorithm, "protocol", p->protocol, "left_out", p->left_out,
		"outlier", p->outlier, "in_place", p->row->in_place, "interval_s",
		likely_json(&p->likely_s));

	if (p->row->bytes < 0)
		json_object_set_new(row, "bytes", json_null());
	return row;
}

void validate_json(FILE *out, const struct validation *v)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);
	json_t *rows = json_array(), *all;
	char *s;

	for (int64_t i = 0; i < n; i++)
		json_array_append_new(rows, row_json(&row[i]));
	all = json_pack("{s:s,s:o}", "schema", "shardsim/1", "rows", rows);
	s = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	fputs(s, out);
	fputc('\n', out);
	free(s);
	json_decref(all);
}
