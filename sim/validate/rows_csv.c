#include "text/csv.h"
#include "validate/report.h"

#include <math.h>

void validate_csv(FILE *out, const struct validation *v)
{
	int64_t n;
	const struct prediction *row = validation_rows(v, &n);

	fputs("set,system,platform,collective,devices,groups,bytes,measured_us,"
	      "simulated_us,error,algorithm,protocol,left_out,outlier,low_us,high_us,"
	      "in_place\n",
	      out);
	for (int64_t i = 0; i < n; i++) {
		const struct prediction *p = &row[i];
		bool run = !isnan(p->time_s);

		csv_put(out, p->row->set, true);
		csv_put(out, p->row->system, false);
		csv_put(out, p->platform ? p->platform : "", false);
		csv_put(out, p->row->collective, false);
		fprintf(out, ",%d,%d,%lld,", (int)p->row->devices, (int)p->row->groups,
		        (long long)p->row->bytes);
		if (!isnan(p->row->time_s))
			fprintf(out, "%.9g", p->row->time_s * 1e6);
		if (run)
			fprintf(out, ",%.9g,%.6g", p->time_s * 1e6, prediction_error(p));
		else
			fputs(",,", out);
		csv_put(out, run ? p->algorithm : "", false);
		csv_put(out, run && p->protocol ? p->protocol : "", false);
		csv_put(out, p->left_out ? p->left_out : "", false);
		csv_put(out, p->outlier ? "true" : "false", false);
		if (isnan(p->likely_s.low))
			fputs(",,", out);
		else
			fprintf(out, ",%.9g,%.9g", p->likely_s.low * 1e6,
			        p->likely_s.high * 1e6);
		fputs(p->row->in_place ? ",true\n" : ",false\n", out);
	}
}
