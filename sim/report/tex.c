/* The report in LaTeX. */
#include "report/text.h"

void report_tex(FILE *out, struct arena *a, const struct report *r,
                const struct report_options *o, struct pen_choice *choice)
{
	struct pen pen = pen_tex(out, a);

	pen.choice = choice;
	if (!choice)
		pen_tex_comment(out, "Needs \\usepackage{booktabs,graphicx}.");
	if (!choice && o->suites)
		pen_tex_comment(out, arena_printf(a, "Suite %s", o->suites));
	report_text(&pen, r);
}
