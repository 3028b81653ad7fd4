/*
 * JAX: P('x', None), P(('x', 'y'), None), PartitionSpec(...), unreduced={'x'}. An entry
 * per dimension, left to right; inside a tuple left is major; missing entries are None.
 * NamedSharding(mesh=..., spec=P(...)), as JAX's logs print it, reads as its spec.
 */
#include "notation/read.h"

#include <string.h>

struct reading {
	struct layout *out;
	const struct mesh *mesh;
	struct scan *s;
	struct used used;
};

/* Reads an axis name in either kind of quotes and appends it to `dim`. */
static bool read_axis(struct reading *r, int dim)
{
	struct scan *s = r->s;
	const char *name;
	size_t length;
	int axis;

	if (!scan_quoted(s, '\'', &name, &length) && s->error->code == OK &&
	    !scan_quoted(s, '"', &name, &length) && s->error->code == OK)
		scan_fail(s, E_SYNTAX, "expected an axis name in quotes");
	if (s->error->code != OK || !axis_find(&axis, r->mesh, s, name, length))
		return false;
	return part_use(r->out, &r->used, dim, part_whole(r->mesh, axis), r->mesh, s,
	                name);
}

/* Reads axis names until `close`; commas between, and one may stand behind the last. */
static bool read_jax_axes(struct reading *r, int dim, const char *close)
{
	while (!scan_take(r->s, close)) {
		if (!read_axis(r, dim))
			return false;
		if (!scan_take(r->s, ",") && scan_peek(r->s) != *close) {
			scan_fail(r->s, E_SYNTAX, "expected ',' or '%s'", close);
			return false;
		}
	}
	return true;
}

/* Reads {'x'}, set() or frozenset({'x'}). */
static bool read_unreduced(struct reading *r)
{
	struct scan *s = r->s;
	bool call = scan_word(s, "frozenset") || scan_word(s, "set");

	if (call && (!scan_expect(s, "(") || scan_take(s, ")")))
		return s->error->code == OK;
	if (!scan_expect(s, "{") || !read_jax_axes(r, r->out->rank, "}"))
		return false;
	return !call || scan_expect(s, ")");
}

static bool read_entry(struct reading *r, int dim)
{
	struct scan *s = r->s;
	char c = scan_peek(s);
	const char *start = s->pos;

	if (dim >= r->out->rank) {
		scan_fail(s, E_TYPE,
		          "too many entries, expected at most %d, one per dimension of "
		          "the array",
		          r->out->rank);
		return false;
	}
	if (scan_word(s, "None"))
		return true;
	if (scan_take(s, "("))
		return read_jax_axes(r, dim, ")");
	if (c == '\'' || c == '"')
		return read_axis(r, dim);
	(void)(scan_take(s, "PartitionSpec.") || scan_take(s, "P."));
	if (scan_word(s, "UNCONSTRAINED"))
		scan_fail_at(
			s, start, E_TYPE,
			"UNCONSTRAINED leaves the layout to the compiler, expected "
			"None or axes");
	else
		scan_fail_at(s, start, E_SYNTAX,
		             "expected None, an axis such as 'x' or a tuple of axes");
	return false;
}

static enum status read_spec(struct reading *r)
{
	struct scan *s = r->s;
	bool keyword = false;
	const char *start;
	int dim = 0;

	if (!scan_expect(s, "("))
		return s->error->code;
	while (!scan_take(s, ")")) {
		scan_peek(s);
		start = s->pos;
		if (scan_word(s, "unreduced")) {
			if (keyword)
				return scan_fail_at(s, start, E_SYNTAX,
				                    "unreduced= is given twice");
			keyword = true;
			if (!scan_expect(s, "=") || !read_unreduced(r))
				return s->error->code;
		} else if (keyword) {
			return scan_fail(s, E_SYNTAX, "expected ')' after unreduced=");
		} else if (!read_entry(r, dim++)) {
			return s->error->code;
		}
		if (!scan_take(s, ",") && scan_peek(s) != ')')
			return scan_fail(s, E_SYNTAX, "expected ',' or ')'");
	}
	return s->error->code;
}

static bool take_spec_name(struct scan *s)
{
	(void)(scan_take(s, "jax.sharding.") || scan_take(s, "jax."));
	return scan_word(s, "PartitionSpec") || scan_word(s, "PS") || scan_word(s, "P");
}

/* Skips the arguments of NamedSharding up to its spec, and takes the spec's name. */
static bool find_spec(struct scan *s)
{
	if (!scan_expect(s, "("))
		return false;
	do {
		if (scan_word(s, "spec"))
			scan_take(s, "=");
		if (take_spec_name(s))
			return true;
		if (!skip_argument(s))
			return false;
	} while (scan_take(s, ","));
	scan_fail(s, E_SYNTAX, "expected spec=P(...) in NamedSharding");
	return false;
}

enum status jax_parse(struct layout *out, const struct mesh *mesh,
                      const struct shape *shape, struct arena *a, struct scan *s)
{
	struct reading r = {.out = out, .mesh = mesh, .s = s};
	bool named;

	(void)a;
	*out = layout_replicated(shape->rank);
	(void)(scan_take(s, "jax.sharding.") || scan_take(s, "jax."));
	named = scan_word(s, "NamedSharding");
	if (named && !find_spec(s))
		return s->error->code;
	if (!named && !take_spec_name(s))
		return scan_fail(s, E_SYNTAX, "expected P(...) or PartitionSpec(...)");
	if (read_spec(&r) != OK)
		return s->error->code;
	while (named && scan_take(s, ","))
		if (!skip_argument(s))
			return s->error->code;
	if (named)
		scan_expect(s, ")");
	layout_tidy(out);
	return s->error->code;
}

bool jax_print(struct text *out, const struct layout *l, const struct mesh *mesh,
               const struct shape *shape, struct text *why)
{
	const struct part *sub = sub_axis_find(l, mesh), *part;
	int n;

	(void)shape;
	if (sub) {
		text_printf(why, "a PartitionSpec has no sub-axes, as ");
		part_print(why, mesh, *sub);
		text_printf(why, " is");
		return false;
	}
	text_printf(out, "P(");
	for (int dim = 0; dim < l->rank; dim++) {
		part = layout_parts(l, dim, &n);
		text_printf(out, "%s%s", dim ? ", " : "",
		            n == 0  ? "None"
		            : n > 1 ? "("
		                    : "");
		for (int k = 0; k < n; k++) {
			text_printf(out, "%s", k ? ", " : "");
			name_print(out, mesh->axis[part[k].axis].name, '\'');
		}
		text_printf(out, "%s", n > 1 ? ")" : "");
	}
	part = layout_parts(l, l->rank, &n);
	for (int k = 0; k < n; k++) {
		text_printf(out, "%s",
		            k         ? ", "
		            : l->rank ? ", unreduced={"
		                      : "unreduced={");
		name_print(out, mesh->axis[part[k].axis].name, '\'');
	}
	text_printf(out, "%s)", n ? "}" : "");
	return true;
}
