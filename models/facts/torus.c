/* Chips on a grid with links to their neighbours. */
#include "facts/kind.h"

#include <string.h>

static enum status read_wrap(struct reader *r, yaml_node_t *map, struct family *f)
{
	static const char *const keys[] = {"rule", "length", "source", NULL};
	yaml_node_t *wrap = map_get(r, map, "wrap");
	struct where at, source_at;
	const char *rule;

	if (!wrap || !(rule = map_text(r, wrap, "rule", &at)) ||
	    !map_text(r, wrap, "source", &source_at) || map_check(r, wrap, keys) != OK)
		return r->error->code;
	if (!strcmp(rule, "never") || !strcmp(rule, "always")) {
		f->wrap = *rule == 'n' ? WRAP_NEVER : WRAP_ALWAYS;
		return OK;
	}
	if (!strcmp(rule, "multiples"))
		f->wrap = WRAP_MULTIPLES;
	else if (!strcmp(rule, "full"))
		f->wrap = WRAP_FULL;
	else
		return error_set(
			r->error, E_SYNTAX, at,
			"unknown rule '%s', expected multiples, full, always or never",
			rule);
	f->wrap_length = map_int(r, wrap, "length", INT32_MAX);
	return r->error->code;
}

/*
 * Reads `{value, source}` of a number, and leaves `*out` unchanged where there is none.
 */
static enum status read_count(struct reader *r, yaml_node_t *map, const char *key,
                              int32_t hi, int32_t *out)
{
	static const char *const keys[] = {"value", "source", NULL};
	yaml_node_t *one = map_find(r, map, key);
	struct where at;

	if (!one)
		return OK;
	if (!map_get(r, one, "value") || !map_text(r, one, "source", &at) ||
	    map_check(r, one, keys) != OK)
		return r->error->code;
	*out = map_int(r, one, "value", hi);
	return r->error->code;
}

/*
 * Reads `{shapes: "2x2x1 2x2x2", multiples: 4, source}`. A family that does not say what
 * is offered has every shape.
 */
static enum status read_offered(struct reader *r, yaml_node_t *map, struct family *f)
{
	static const char *const keys[] = {"shapes", "multiples", "source", NULL};
	yaml_node_t *offered = map_find(r, map, "offered");
	struct where at;
	const char *text = "";
	struct scan s;
	int32_t *shape;

	f->multiples = 1;
	if (!offered)
		return OK;
	if (!map_text(r, offered, "source", &at) || map_check(r, offered, keys) != OK)
		return r->error->code;
	f->multiples = 0;
	if (map_find(r, offered, "multiples"))
		f->multiples = map_int(r, offered, "multiples", 1 << 10);
	if (map_find(r, offered, "shapes") &&
	    !(text = map_text(r, offered, "shapes", &at)))
		return r->error->code;
	shape = arena_alloc(r->arena, (strlen(text) + 1) * TORUS_AXES_MAX,
	                    sizeof(*shape));
	f->offered = shape;
	s = scan_start(text, at, r->error);
	for (; r->error->code == OK && !scan_done(&s); shape += TORUS_AXES_MAX) {
		f->noffered++;
		shape_scan_axes(&s, shape, f->naxes, INT32_MAX);
	}
	if (r->error->code == OK && !f->noffered && !f->multiples)
		return error_set(r->error, E_SYNTAX, at,
		                 "expected some shapes, or multiples");
	return r->error->code;
}

/* Reads the number of axes, or `any`. */
static enum status read_axes(struct reader *r, yaml_node_t *map, struct family *f)
{
	struct where at;
	const char *axes = map_text(r, map, "axes", &at);

	f->naxes = 0;
	if (axes && strcmp(axes, "any") != 0)
		f->naxes = map_int(r, map, "axes", TORUS_AXES_MAX);
	return r->error->code;
}

static enum status read_fabric(struct reader *r, yaml_node_t *map, struct family *f)
{
	struct where at;

	f->fabric = "ici";
	if (!map_find(r, map, "fabric") ||
	    !(f->fabric = map_text(r, map, "fabric", &at)))
		return r->error->code;
	if (strcmp(f->fabric, "ici") != 0 && strcmp(f->fabric, "link") != 0)
		error_set(r->error, E_SYNTAX, at,
		          "unknown fabric '%s', expected ici or link", f->fabric);
	return r->error->code;
}

static enum status torus_read(struct reader *r, yaml_node_t *map, struct family *f)
{
	read_axes(r, map, f);
	read_fabric(r, map, f);
	f->cores = f->slices = 1;
	f->chips = INT32_MAX;
	if (r->error->code != OK || read_wrap(r, map, f) != OK ||
	    read_count(r, map, "twisted", 1 << 10, &f->twisted) != OK ||
	    read_count(r, map, "chips", 1 << 20, &f->chips) != OK ||
	    read_count(r, map, "cores", 8, &f->cores) != OK ||
	    read_offered(r, map, f) != OK)
		return r->error->code;
	return read_count(r, map, "slices", 1 << 10, &f->slices);
}

/* Scans "2*" in front of a shape, the number of slices. */
static enum status slices_scan(struct family_machine *m, struct scan *s)
{
	const struct family *f = &m->family;
	const char *start = s->pos;
	int64_t n;

	if (!strchr(s->pos, '*'))
		return OK;
	if (!scan_int(s, "a number of slices", 1, INT32_MAX, &n) || !scan_expect(s, "*"))
		return s->error->code;
	if (n > f->slices)
		return scan_fail_at(s, start, E_RANGE,
		                    f->slices > 1 ? "%s has at most %d slices"
		                                  : "%s has no network between slices, "
		                                    "at most %d of them",
		                    f->name, (int)f->slices);
	m->slices = (int32_t)n;
	return OK;
}

/* That a shape has too few or too many axes is said of the family. */
static enum status axes_scan(struct family_machine *m, struct scan *s)
{
	static const char *const examples[] = {"8", "4x8", "4x4x8"};
	const struct family *f = &m->family;
	const char *text = s->pos;
	int axes = 1;

	for (const char *p = text; *p; p++)
		axes += *p == 'x';
	if (!f->naxes && axes <= TORUS_AXES_MAX)
		m->family.naxes = axes;
	if (!f->naxes)
		return scan_fail_at(s, text, E_RANGE, "%d axes, expected at most %d",
		                    axes, TORUS_AXES_MAX);
	if (!*text || axes == f->naxes || text[strspn(text, "0123456789x")])
		return shape_scan_axes(s, m->shape, f->naxes, f->largest[0]);
	return scan_fail_at(s, text, E_RANGE,
	                    "a shape of %s has %d %s%s%s, but this has %d", f->name,
	                    f->naxes, f->naxes > 1 ? "axes" : "axis",
	                    f->naxes > 3 ? "" : ", such as ",
	                    f->naxes > 3 ? "" : examples[f->naxes - 1], axes);
}

/* Scans "_twisted" behind a shape that can be so. */
static enum status twisted_scan(struct family_machine *m, struct scan *s)
{
	const struct family *f = &m->family;
	const char *start = s->pos;

	if (!scan_take(s, "_twisted"))
		return OK;
	if (!f->twisted)
		return scan_fail_at(s, start, E_RANGE,
		                    "%s has no twisted tori, expected a plain one",
		                    f->name);
	m->twist = fabric_twist(f->naxes, m->shape);
	if (!m->twist || m->twist % f->twisted)
		return scan_fail_at(
			s, start, E_RANGE,
			"no twisted torus of %s: its axes are n and 2n long, "
			"both there, and n is a multiple of %d",
			f->name, (int)f->twisted);
	return OK;
}

/* Returns whether the rule of the family closes an axis of 3 or more. */
static bool axis_wraps(const struct family_machine *m, int axis)
{
	const struct family *f = &m->family;
	bool multiples = true;

	for (int a = 0; a < f->naxes && f->wrap == WRAP_MULTIPLES; a++)
		multiples = multiples && m->shape[a] % f->wrap_length == 0;
	switch (f->wrap) {
	case WRAP_NEVER:
		return false;
	case WRAP_MULTIPLES:
		return multiples;
	case WRAP_FULL:
		return m->shape[axis] == f->wrap_length;
	case WRAP_ALWAYS:
		return true;
	case WRAP_SET:
		break;
	}
	return f->wraps[axis] == '1';
}

/* Checks the digits of the setting `wrap` against the shape. */
static enum status wraps_check(const struct family_machine *m, struct where at,
                               struct error *e)
{
	const struct family *f = &m->family;

	if (m->twist)
		return error_set(e, E_TYPE, at, "a twisted torus wraps in its own way");
	if (strlen(f->wraps) != (size_t)f->naxes)
		return error_set(e, E_RANGE, at,
		                 "wrap=%s has %zu digits, but the shape has %d axes",
		                 f->wraps, strlen(f->wraps), f->naxes);
	for (int a = 0; a < f->naxes; a++)
		if (f->wraps[a] == '1' && m->shape[a] < 3)
			return error_set(
				e, E_RANGE, at,
				"wrap=%s: an axis of %d cannot wrap, expected 0",
				f->wraps, (int)m->shape[a]);
	return OK;
}

/* Finds which axes wrap. */
static enum status torus_settle(struct family_machine *m, struct arena *a,
                                struct where at, struct error *e)
{
	(void)a;
	if (m->family.wrap == WRAP_SET && wraps_check(m, at, e) != OK)
		return e->code;
	for (int i = 0; i < m->family.naxes; i++)
		m->wrap[i] = m->twist ? m->shape[i] > m->twist
		                      : m->shape[i] > 2 && axis_wraps(m, i);
	return OK;
}

static enum status torus_set(struct family *f, struct arena *a, int key,
                             const char *value, struct where at, struct error *e)
{
	(void)a;
	(void)key;
	if (!value[0] || value[strspn(value, "01")])
		return error_set(
			e, E_SYNTAX, at,
			"expected a digit for each axis, 1 where it closes to a ring "
			"and 0 where not, such as wrap=110");
	f->wrap = WRAP_SET;
	f->wraps = value;
	return OK;
}

/* Reads "2*4x4x8_twisted". */
static enum status torus_shape(struct family_machine *m, struct scan *s,
                               const char *text)
{
	const struct family *f = &m->family;
	int32_t chips;

	s->pos = text;
	if (slices_scan(m, s) != OK)
		return s->error->code;
	text = s->pos;
	if (axes_scan(m, s) != OK || twisted_scan(m, s) != OK || scan_finish(s) != OK ||
	    shape_bounds(m, m->slices * f->cores, s, text) != OK)
		return s->error->code;
	chips = m->ndevices / m->slices / f->cores;
	if (chips > f->chips)
		return error_set(s->error, E_RANGE, scan_where(s, text),
		                 "%s has no such shape: %d chips are above %d", f->name,
		                 (int)chips, (int)f->chips);
	return OK;
}

static void torus_describe(struct text *what, struct text *shapes,
                           const struct family *f)
{
	int64_t chips = 1;

	if (f->naxes)
		text_printf(what, "%dD torus of chips", f->naxes);
	else
		text_printf(what, "torus of chips with up to %d axes", TORUS_AXES_MAX);
	if (f->cores > 1)
		text_printf(what, " of %d devices", (int)f->cores);
	if (f->slices > 1)
		text_printf(what, ", slices");
	text_printf(shapes, "up to ");
	if (!f->naxes)
		text_printf(shapes, "%d chips", (int)f->chips);
	shape_print(shapes, f->largest, f->naxes);
	for (int k = 0; k < f->naxes; k++)
		chips *= f->largest[k];
	if (f->naxes && f->chips < chips)
		text_printf(shapes, ", %d chips", (int)f->chips);
}

static const char *const keys[] = {"axes",   "wrap",   "twisted", "chips", "cores",
                                   "slices", "fabric", "offered", NULL};
static const char *const settings[] = {"wrap", NULL};

const struct kind kind_torus = {
	.name = "torus",
	.keys = keys,
	.read = torus_read,
	.settings = settings,
	.set = torus_set,
	.shape = torus_shape,
	.settle = torus_settle,
	.describe = torus_describe,
};
