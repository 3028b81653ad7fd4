/* What is assumed of a machine that its name does not say. */
#include "facts/kind.h"

#include "base/units.h"

#include <string.h>

/* Figures whose source begins so are no facts. */
static const char assumption[] = "generic assumption";

static void print_figure(struct text *out, enum figure g, double x)
{
	switch (figure_unit(g)) {
	case UNIT_RATE:
		units_print_rate(out, x);
		break;
	case UNIT_TIME:
		units_print_time(out, x);
		break;
	case UNIT_BYTES:
		units_print_capacity(out, x);
		break;
	case UNIT_COUNT:
		text_printf(out, "%g", x);
	}
}

static void note_figures(struct text *out, const struct family_machine *m)
{
	const struct family *f = &m->family;
	bool net = f->kind == FAMILY_NODES ? m->shape[0] > 1 || f->apart : m->slices > 1;
	int n = 0;

	for (int g = 0; g < FIGURES; g++) {
		if (!figure_settable(f, g) ||
		    strncmp(f->source[g], assumption, strlen(assumption)) != 0 ||
		    (!net && g >= NIC_PEAK && g <= NET_LOCAL))
			continue;
		text_printf(out, "%s%s ",
		            n++ ? ", " : "assumed, unless set: ", figure_name(f, g));
		print_figure(out, g, f->figure[g]);
	}
}

/*
 * Returns whether the family's machines come in that shape; of those, people know how
 * they are wired. A family that states no shapes offers none in this sense.
 */
static bool is_offered(const struct family_machine *m)
{
	const struct family *f = &m->family;
	int32_t sorted[TORUS_AXES_MAX] = {0}, other[TORUS_AXES_MAX] = {0};
	bool multiples = f->multiples > 1;

	memcpy(sorted, m->shape, (size_t)f->naxes * sizeof(*sorted));
	shape_sort(sorted, f->naxes);
	for (int a = 0; a < f->naxes; a++)
		multiples = multiples && sorted[a] % f->multiples == 0;
	for (int i = 0; i < f->noffered; i++) {
		memcpy(other, f->offered + (size_t)i * TORUS_AXES_MAX, sizeof(other));
		shape_sort(other, f->naxes);
		if (!memcmp(sorted, other, (size_t)f->naxes * sizeof(*sorted)))
			return true;
	}
	return multiples;
}

/* Says that axes of three or more do not close, and which setting closes them. */
static void note_wrap(struct text *out, const struct family_machine *m)
{
	const struct family *f = &m->family;
	struct text digits = {0};
	bool open = false;

	for (int a = 0; a < f->naxes; a++) {
		open = open || (m->shape[a] > 2 && !m->wrap[a]);
		text_printf(&digits, "%d", m->shape[a] > 2);
	}
	if (open && !m->twist && (f->wrap == WRAP_MULTIPLES || f->wrap == WRAP_FULL)) {
		if (f->wrap == WRAP_MULTIPLES)
			text_printf(
				out,
				"its axes do not wrap, for not all are multiples of %d",
				(int)f->wrap_length);
		else
			text_printf(out, "only axes of %d wrap", (int)f->wrap_length);
		text_printf(out, "; wrap=%s closes all", digits.s);
	}
	text_free(&digits);
}

void family_note(struct text *out, const struct family_machine *m)
{
	if (m->family.kind == FAMILY_TORUS && !is_offered(m))
		note_wrap(out, m);
	note_figures(out, m);
}
