/* The report in LaTeX. */
#include "report/text.h"

void report_tex(FILE *out, struct arena *a, const struct report *r)
{
	struct pen pen = pen_tex(out, a);

	fputs("% Needs \\usepackage{booktabs}.\n", out);
	report_text(&pen, r);
}
