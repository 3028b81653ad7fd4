/* Shardings of all values of a program. */
#include "program/sharding.h"

#include "program/lex.h"

#include <ctype.h>
#include <string.h>

void shardings_start(struct shardings *s, struct arena *a, const struct program *p)
{
	const struct numbers result = p->region.at[p->entry].result;
	int32_t values = (int32_t)p->value.n + result.n, n = values;
	int32_t *operand;

	*s = (struct shardings){0};
	s->manual = arena_alloc(a, (size_t)p->op.n + 1, sizeof(*s->manual));
	for (int64_t i = 0; i < p->op.n; i++) {
		bool manual = p->op.at[i].code == HLO_MANUAL_COMPUTATION;

		s->manual[i] = manual ? n : -1;
		n += manual ? p->op.at[i].noperands : 0;
	}
	operand = arena_alloc(a, (size_t)(n - values) + 1, sizeof(*operand));
	for (int64_t i = 0; i < p->op.n; i++)
		for (int32_t k = 0; s->manual[i] >= 0 && k < p->op.at[i].noperands; k++)
			operand[s->manual[i] - values + k] =
				op_operand(p, &p->op.at[i], k);
	s->n = n;
	s->of = arena_alloc(a, (size_t)n, sizeof(*s->of));
	s->at = arena_alloc(a, (size_t)n, sizeof(*s->at));
	for (int32_t i = 0; i < n; i++) {
		int32_t v = i < p->value.n ? i
		            : i < values   ? result.at[i - p->value.n]
		                           : operand[i - values];

		s->of[i] = i < p->value.n ? p->value.at[i].same : i;
		s->at[i].type = &p->value.at[v].type;
		s->at[i].dim = arena_alloc(a, (size_t)s->at[i].type->rank,
		                           sizeof(*s->at[i].dim));
	}
}

bool manual_has_axis(const struct instruction *op, const struct mesh *m, int axis)
{
	struct span axes = op->as.manual->axes;
	size_t n = strlen(m->axis[axis].name);

	for (int32_t i = 0; axes.at && i + (int32_t)n + 2 <= axes.length; i++)
		if (axes.at[i] == '"' && axes.at[i + (int32_t)n + 1] == '"' &&
		    !memcmp(axes.at + i + 1, m->axis[axis].name, n))
			return true;
	return false;
}

bool manual_leaves_axes(const struct instruction *op, const struct mesh *m)
{
	for (int i = 0; i < m->naxes; i++)
		if (m->axis[i].size > 1 && !manual_has_axis(op, m, i))
			return true;
	return false;
}

static bool has_axes(struct span mesh)
{
	const char *p = mesh.at ? memchr(mesh.at, '<', (size_t)mesh.length) : NULL;

	return p && p + 2 < mesh.at + mesh.length && p[1] == '[' && p[2] != ']';
}

struct span mesh_name_of(struct span mesh)
{
	const char *end = mesh.at + 1;

	if (*end == '"')
		return span_up_to(mesh.at, end + strcspn(end + 1, "\"") + 2);
	while (isalnum((unsigned char)*end) || (*end && strchr("_$.-", *end)))
		end++;
	return span_up_to(mesh.at, end);
}

static bool has_name(struct span sharding, struct span name)
{
	const char *at = sharding.at, *end = span_end(sharding);

	while (at && (at = memchr(at, '@', (size_t)(end - at)))) {
		struct span other = mesh_name_of(span_up_to(at, end));

		if (other.length == name.length &&
		    !memcmp(at, name.at, (size_t)name.length))
			return true;
		at++;
	}
	return false;
}

static bool is_named(const struct program *p, struct span name)
{
	const struct region *entry = &p->region.at[p->entry];

	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];
		bool manual = op->code == HLO_MANUAL_COMPUTATION;

		if (has_name(op->sharding, name) || has_name(op->frontend, name) ||
		    (manual && (has_name(op->as.manual->in, name) ||
		                has_name(op->as.manual->out, name))))
			return true;
	}
	for (int32_t k = 0; entry->result_sharding && k < entry->result.n; k++)
		if (has_name(entry->result_sharding[k], name))
			return true;
	return false;
}

static bool same_axes(struct span a, struct span b)
{
	const char *x = memchr(a.at, '<', (size_t)a.length);
	const char *y = memchr(b.at, '<', (size_t)b.length);
	int64_t n = span_end(a) - x;

	return n == span_end(b) - y && !memcmp(x, y, (size_t)n);
}

const struct span *shardings_mesh(const struct program *p, const struct span **second)
{
	const struct span *first = NULL, *named = NULL;

	*second = NULL;
	for (int64_t i = 0; i < p->mesh.n; i++) {
		const struct span *m = &p->mesh.at[i];

		if (!has_axes(*m))
			continue;
		first = first ? first : m;
		if (p->mesh.n == 1 || *m->at != '@' || !is_named(p, mesh_name_of(*m)))
			continue;
		if (!named)
			named = m;
		else if (!same_axes(*m, *named))
			*second = m;
	}
	return named ? named : first;
}

struct layout sharding_layout(const struct sharding *s)
{
	struct layout l =
		layout_replicated(s->type->rank <= RANK_MAX ? s->type->rank : 0);

	for (int32_t d = 0; d < l.rank; d++)
		for (int32_t i = 0; i < s->dim[d].axes.n; i++)
			layout_append(&l, d, s->dim[d].axes.at[i]);
	for (int32_t i = 0; i < s->unreduced.n; i++)
		layout_append(&l, l.rank, s->unreduced.at[i]);
	layout_normalise(&l);
	return l;
}

struct layout shardings_value(const struct shardings *s, int32_t value)
{
	return sharding_layout(&s->at[s->of[value]]);
}

struct layout shardings_result(const struct shardings *s, const struct program *p,
                               int32_t k)
{
	return shardings_value(s, (int32_t)p->value.n + k);
}
