#include "emit/emit.h"

#include "base/units.h"
#include "collective/profile.h"

#include <math.h>
#include <string.h>

/*
 * Appends a line as a comment. What would end the comment, or may not stand in it (a line
 * break, `*` and `/` in C, two hyphens in XML), is taken apart by a space.
 */
static void put_line(struct text *out, const struct emitter *e, const char *line)
{
	char end[3] = {0};
	size_t skip = strspn(e->comment_end, " ");

	if (strlen(e->comment_end + skip) > 1)
		memcpy(end, e->comment_end + skip, 2);
	text_printf(out, "%s", e->comment);
	for (const char *c = line; *c; c++) {
		char one = *c == '\n' || *c == '\r' ? ' ' : *c;

		text_append(out, &one, 1);
		if (*end && c[0] == end[0] && c[1] == end[1])
			text_append(out, " ", 1);
	}
	text_printf(out, "%s\n", e->comment_end);
}

static void put_prediction(struct text *line, const struct emission *what)
{
	const struct plan *p = what->plan;

	if (what->clock && !isnan(what->time_s)) {
		text_printf(line, "predicted: ");
		units_print_time(line, what->time_s);
		text_printf(line, " by the clock %s; ", what->clock);
	}
	text_printf(line, "received by the busiest device: ");
	units_print_bytes(line, (double)p->recv_bytes);
	text_printf(line, "; memory: largest array ");
	units_print_bytes(line, (double)p->peak_array_bytes);
	text_printf(line, ", live ");
	units_print_bytes(line, (double)p->peak_live_bytes);
}

void emit_heading(struct text *out, const struct emitter *emitter,
                  const struct emission *what)
{
	struct text line = {0};

	put_line(out, emitter, what->command);
	text_printf(&line, "by shardsim %s: the plan of %s for %d devices",
	            what->version, what->plan->planner,
	            (int)what->plan->problem->ndevices);
	if (what->machine)
		text_printf(&line, " of %s", what->machine->name);
	profile_print_caller(&line, what->machine);
	put_line(out, emitter, line.s);
	text_free(&line);
	put_prediction(&line, what);
	put_line(out, emitter, line.s);
	text_free(&line);
}

void emit_mpi_includes(struct text *out)
{
	text_printf(out,
	            "\n#ifdef __has_include\n#if !__has_include(<mpi.h>)\n"
	            "#error \"no mpi.h: compile with mpicc (Debian's libopenmpi-dev), "
	            "run with mpirun (openmpi-bin)\"\n#endif\n#endif\n"
	            "#include <inttypes.h>\n#include <mpi.h>\n#include <stdint.h>\n"
	            "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
}

void emit_string(struct text *out, const char *s)
{
	text_printf(out, "\"");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			text_printf(out, "\\%c", c);
		else if (c < ' ' || c == '?' || c > '~')
			text_printf(out, "\\%03o", c);
		else
			text_printf(out, "%c", c);
	}
	text_printf(out, "\"");
}
