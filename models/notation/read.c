#include "notation/read.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

int name_shown(size_t length)
{
	return length < 40 ? (int)length : 40;
}

bool axis_find(int *axis, const struct mesh *m, struct scan *s, const char *name,
               size_t length)
{
	struct text known = {0};

	*axis = mesh_axis(m, name, length);
	if (*axis >= 0)
		return true;
	for (int i = 0; i < m->naxes; i++) {
		const char *other = m->axis[i].name;

		if (known.length > 200) {
			text_printf(&known, ", ...");
			break;
		}
		text_printf(&known, "%s'%.*s'", i ? ", " : "",
		            name_shown(strlen(other)), other);
	}
	scan_fail_at(s, name, E_TYPE, "unknown axis '%.*s', expected one of %s",
	             name_shown(length), name, known.s ? known.s : "no axes");
	text_free(&known);
	return false;
}

struct part part_whole(const struct mesh *m, int axis)
{
	int32_t size = m->axis[axis].size;

	return (struct part){.axis = (int16_t)axis, .pre = 1, .size = size};
}

/*
 * Returns whether two parts clash. Two parts of one axis exist side by side only where
 * the end of one divides the start of the other: x:(1)2 and x:(3)2 do not overlap as
 * numbers, but no digits of x have both (models/README.md, "Layouts").
 */
static bool parts_clash(struct part a, struct part b, const struct mesh *m)
{
	if (a.axis != b.axis)
		return false;
	if (m->axis[a.axis].size == 1)
		return true;
	return b.pre % ((int64_t)a.pre * a.size) != 0 &&
	       a.pre % ((int64_t)b.pre * b.size) != 0;
}

static bool part_is_whole(struct part p, const struct mesh *m)
{
	return p.size == m->axis[p.axis].size;
}

static void fail_clash(struct part first, struct part p, const struct mesh *m,
                       struct scan *s, const char *pos)
{
	const char *name = m->axis[p.axis].name;
	struct text pair = {0};

	if (part_is_whole(first, m) && part_is_whole(p, m)) {
		scan_fail_at(s, pos, E_TYPE, "axis '%.*s' is used twice",
		             name_shown(strlen(name)), name);
		return;
	}
	part_print(&pair, m, first);
	text_printf(&pair, " and ");
	part_print(&pair, m, p);
	scan_fail_at(
		s, pos, E_TYPE,
		"axis '%.*s' is used twice: %.200s overlap or divide it differently",
		name_shown(strlen(name)), name, pair.s);
	text_free(&pair);
}

bool part_use(struct layout *l, struct used *used, int dim, struct part p,
              const struct mesh *m, struct scan *s, const char *pos)
{
	bool fits;

	for (int i = 0; i < used->n; i++) {
		if (!parts_clash(used->part[i], p, m))
			continue;
		fail_clash(used->part[i], p, m, s, pos);
		return false;
	}
	/* MESH_DEVICES_MAX holds 22 parts above size 1; the others are axes. */
	assert(used->n < LAYOUT_PARTS_MAX + MESH_AXES_MAX);
	used->part[used->n++] = p;
	if (dim < 0 || p.size == 1)
		return true;
	fits = layout_append(l, dim, p);
	assert(fits);
	return fits;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	return p->axis != q->axis ? p->axis - q->axis
	                          : (p->pre > q->pre) - (p->pre < q->pre);
}

void layout_tidy(struct layout *l)
{
	int n;
	const struct part *part;

	if (l->kind != LAYOUT_AXES)
		return;
	part = layout_parts(l, l->rank, &n);
	qsort(l->part + (part - l->part), (size_t)n, sizeof(*part), compare_parts);
	layout_normalise(l);
}

bool skip_argument(struct scan *s)
{
	int depth = 0;

	for (; *s->pos; s->pos++) {
		char c = *s->pos;
		const char *end;

		if (depth == 0 && (c == ',' || strchr(")]}>", c)))
			return true;
		if (strchr("([{<", c))
			depth++;
		else if (strchr(")]}>", c))
			depth--;
		else if (c == '\'' || c == '"') {
			end = strchr(s->pos + 1, c);
			if (!end) {
				scan_fail(s, E_SYNTAX, "this %c is not closed", c);
				return false;
			}
			s->pos = end;
		}
	}
	scan_fail(s, E_SYNTAX, "expected a closing bracket before the end of the text");
	return false;
}

void name_print(struct text *out, const char *name, char quote)
{
	char q = quote;

	if (strchr(name, quote))
		q = quote == '"' ? '\'' : '"';
	text_printf(out, "%c%s%c", q, name, q);
}

const struct part *sub_axis_find(const struct layout *l, const struct mesh *m)
{
	for (int dim = 0; dim <= l->rank; dim++) {
		int n;
		const struct part *part = layout_parts(l, dim, &n);

		for (int k = 0; k < n; k++)
			if (!part_is_whole(part[k], m))
				return &part[k];
	}
	return NULL;
}
