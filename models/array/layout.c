#include "array/layout.h"

#include "base/assert.h"

#include <string.h>

struct layout layout_replicated(int rank)
{
	struct layout l;

	memset(&l, 0, sizeof(l));
	l.kind = LAYOUT_AXES;
	l.rank = rank;
	return l;
}

static int parts_before(const struct layout *l, int dim)
{
	int n = 0;

	for (int i = 0; i < dim; i++)
		n += l->nparts[i];
	return n;
}

const struct part *layout_parts(const struct layout *l, int dim, int *n)
{
	*n = dim == l->rank ? l->nunreduced : l->nparts[dim];
	return l->part + parts_before(l, dim);
}

bool layout_append(struct layout *l, int dim, struct part part)
{
	int total = parts_before(l, l->rank) + l->nunreduced;
	int at = parts_before(l, dim) +
	         (dim == l->rank ? l->nunreduced : l->nparts[dim]);

	if (total == LAYOUT_PARTS_MAX)
		return false;
	memmove(l->part + at + 1, l->part + at, (size_t)(total - at) * sizeof(part));
	l->part[at] = part;
	if (dim == l->rank)
		l->nunreduced++;
	else
		l->nparts[dim]++;
	return true;
}

int64_t layout_shards(const struct layout *l, int dim)
{
	int64_t shards = 1;
	int n;
	const struct part *part;

	if (l->kind == LAYOUT_MAXIMAL)
		return 1;
	if (l->kind == LAYOUT_TILES)
		return l->tiling->tiles[dim];
	part = layout_parts(l, dim, &n);
	for (int k = 0; k < n; k++)
		shards *= part[k].size;
	return shards;
}

bool layout_divides(const struct layout *l, const struct shape *shape)
{
	for (int dim = 0; dim < l->rank; dim++)
		if (shape->dim[dim] % layout_shards(l, dim) != 0)
			return false;
	return true;
}

struct shape layout_local(const struct layout *l, const struct shape *global)
{
	struct shape local = *global;

	assert(l->rank == global->rank);
	for (int i = 0; i < l->rank; i++) {
		int64_t shards = l->kind == LAYOUT_AXES && l->nparts[i] == 0
		                         ? 1
		                         : layout_shards(l, i);

		if (shards > 1)
			local.dim[i] = (global->dim[i] + shards - 1) / shards;
	}
	return local;
}

int64_t layout_local_elements(const struct layout *l, const struct shape *global)
{
	struct shape local = layout_local(l, global);

	return shape_elements(&local);
}

/* Parts move towards the front, where there is room. */
void layout_normalise(struct layout *l)
{
	const struct part *part = l->part;
	int n = 0, first;

	if (l->kind != LAYOUT_AXES)
		return;
	for (int dim = 0; dim <= l->rank; dim++) {
		uint8_t *count = dim == l->rank ? &l->nunreduced : &l->nparts[dim];

		first = n;
		for (const struct part *end = part + *count; part < end; part++) {
			struct part *last = n > first ? &l->part[n - 1] : NULL;

			if (part->size == 1)
				continue;
			if (last && last->axis == part->axis &&
			    last->pre * last->size == part->pre)
				last->size *= part->size;
			else
				l->part[n++] = *part;
		}
		*count = (uint8_t)(n - first);
	}
	memset(l->part + n, 0, (size_t)(LAYOUT_PARTS_MAX - n) * sizeof(*part));
	memset(l->nparts + l->rank, 0, sizeof(l->nparts) - (size_t)l->rank);
	l->tiling = NULL;
	l->maximal_device = 0;
}

int parts_digits(struct part *out, const struct part *parts, int n)
{
	int count = 0;

	for (int k = 0; k < n; k++) {
		int32_t pre = parts[k].pre, rest = parts[k].size;

		/* Most are powers of two: these are not divided. */
		for (; rest % 2 == 0 && count < LAYOUT_PARTS_MAX; rest /= 2) {
			out[count++] = (struct part){parts[k].axis, pre, 2};
			pre *= 2;
		}
		for (int32_t p = 3; rest > 1; p += 2) {
			for (; rest % p == 0 && count < LAYOUT_PARTS_MAX; rest /= p) {
				out[count++] = (struct part){parts[k].axis, pre, p};
				pre *= p;
			}
		}
	}
	return count;
}

int layout_digits(struct part *out, const struct layout *l, int dim)
{
	int n;
	const struct part *parts = layout_parts(l, dim, &n);

	return parts_digits(out, parts, n);
}

bool parts_take(struct part *list, int *n, struct part gone)
{
	struct part left[2 * LAYOUT_PARTS_MAX];
	int64_t gone_end = (int64_t)gone.pre * gone.size, taken = 1;
	int nleft = 0;

	for (int i = 0; i < *n; i++) {
		struct part p = list[i];
		int64_t end = (int64_t)p.pre * p.size;
		int64_t lo = p.pre > gone.pre ? p.pre : gone.pre;
		int64_t hi = end < gone_end ? end : gone_end;

		if (p.axis != gone.axis || lo >= hi) {
			left[nleft++] = p;
			continue;
		}
		if (lo % p.pre != 0 || hi % lo != 0 || end % hi != 0)
			return false;
		taken *= hi / lo;
		p.size = (int32_t)(lo / p.pre);
		if (p.size > 1)
			left[nleft++] = p;
		p = (struct part){p.axis, (int32_t)hi, (int32_t)(end / hi)};
		if (p.size > 1)
			left[nleft++] = p;
	}
	if (taken != gone.size || nleft > LAYOUT_PARTS_MAX)
		return false;
	memcpy(list, left, (size_t)nleft * sizeof(*list));
	*n = nleft;
	return true;
}

void part_print(struct text *out, const struct mesh *m, struct part p)
{
	text_printf(out, "%s", m->axis[p.axis].name);
	if (p.pre != 1 || p.size != m->axis[p.axis].size)
		text_printf(out, ":(%d)%d", p.pre, p.size);
}

/*
 * Returns whether two parts clash. Two digits of one axis go together only if one ends
 * at or above the start of the other and the digits between them are whole: x:(1)2 and
 * x:(3)2 of an axis of 6 do not.
 */
static bool parts_clash(struct part a, struct part b)
{
	if (a.axis != b.axis || a.size == 1 || b.size == 1)
		return false;
	return b.pre % ((int64_t)a.pre * a.size) != 0 &&
	       a.pre % ((int64_t)b.pre * b.size) != 0;
}

bool layout_valid(const struct layout *l, const struct mesh *m, struct text *why)
{
	int n = parts_before(l, l->rank) + l->nunreduced;

	for (int i = 0; i < n; i++) {
		struct part p = l->part[i];
		int64_t size = m->axis[p.axis].size;

		if (p.pre < 1 || p.size < 1 || size % ((int64_t)p.pre * p.size) != 0) {
			part_print(why, m, p);
			text_printf(why, " does not divide axis '%s' of size %lld",
			            m->axis[p.axis].name, (long long)size);
			return false;
		}
		for (int j = 0; j < i; j++) {
			if (!parts_clash(l->part[j], p))
				continue;
			text_printf(why, "axis '%s' is used twice (",
			            m->axis[p.axis].name);
			part_print(why, m, l->part[j]);
			text_printf(why, " and ");
			part_print(why, m, p);
			text_printf(why, ")");
			return false;
		}
	}
	return true;
}
