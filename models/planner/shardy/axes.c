#include "base/assert.h"
#include "planner/shardy/greedy.h"

#include <string.h>

static bool same_sub_axis(struct part a, struct part b)
{
	return a.axis == b.axis && a.pre == b.pre && a.size == b.size;
}

int shardy_find(const struct shardy_axes *axes, struct part part)
{
	for (int i = 0; i < axes->n; i++)
		if (same_sub_axis(axes->part[i], part))
			return i;
	return -1;
}

void shardy_insert(struct shardy_axes *axes, int at, struct part part)
{
	assert(axes->n < SHARDY_AXES_MAX && at >= 0 && at <= axes->n);
	memmove(axes->part + at + 1, axes->part + at,
	        (size_t)(axes->n - at) * sizeof(part));
	axes->part[at] = part;
	axes->n++;
}

void shardy_push(struct shardy_axes *axes, struct part part)
{
	shardy_insert(axes, axes->n, part);
}

void shardy_remove(struct shardy_axes *axes, int at, int n)
{
	assert(at >= 0 && at + n <= axes->n);
	memmove(axes->part + at, axes->part + at + n,
	        (size_t)(axes->n - at - n) * sizeof(axes->part[0]));
	axes->n -= n;
}

int64_t shardy_size(const struct shardy_axes *axes)
{
	int64_t size = 1;

	for (int i = 0; i < axes->n; i++)
		size *= axes->part[i].size;
	return size;
}

bool shardy_take(struct part *within, struct part *rest, struct part axis, int64_t *room)
{
	*within = *rest = axis;
	rest->size = 1;
	if (*room <= 1 || (axis.size % *room != 0 && *room % axis.size != 0))
		return false;
	if (*room >= axis.size) {
		*room /= axis.size;
		return true;
	}
	within->size = (int32_t)*room;
	rest->pre = axis.pre * within->size;
	rest->size = axis.size / within->size;
	*room = 1;
	return true;
}

/*
 * Returns the first place strictly inside `axis` where one of `others` begins or ends,
 * or 0.
 */
static int64_t border_inside(struct part axis, const struct shardy_axes *others)
{
	int64_t end = (int64_t)axis.pre * axis.size, first = 0;

	for (int i = 0; i < others->n; i++) {
		struct part o = others->part[i];
		int64_t borders[2] = {o.pre, (int64_t)o.pre * o.size};

		for (int k = 0; k < 2 && o.axis == axis.axis; k++)
			if (borders[k] > axis.pre && borders[k] < end &&
			    (first == 0 || borders[k] < first))
				first = borders[k];
	}
	return first;
}

void shardy_cut(struct shardy_axes *axes, const struct shardy_axes *others)
{
	for (int i = 0; i < axes->n; i++) {
		struct part minor = axes->part[i];
		int64_t border = border_inside(minor, others);

		if (border == 0)
			continue;
		axes->part[i].size = (int32_t)(border / minor.pre);
		assert(minor.size % axes->part[i].size == 0);
		minor.pre = (int32_t)border;
		minor.size /= axes->part[i].size;
		shardy_insert(axes, i + 1, minor);
	}
}

/*
 * Returns whether two sub-axes go together: those of one axis do if their borders are
 * one chain of factors.
 */
static bool coexist(struct part a, struct part b)
{
	int64_t a_end = (int64_t)a.pre * a.size, b_end = (int64_t)b.pre * b.size;
	int64_t first = a.pre < b.pre ? a.pre : b.pre;
	int64_t second = a.pre < b.pre ? b.pre : a.pre;
	int64_t near = a_end < b_end ? a_end : b_end;
	int64_t far = a_end < b_end ? b_end : a_end;

	if (near <= second)
		return second % near == 0;
	return second % first == 0 && near % second == 0 && far % near == 0;
}

bool shardy_coexist(const struct mesh *m, const struct layout *from,
                    const struct layout *to)
{
	int nfrom = from->nunreduced, nto = to->nunreduced;

	for (int dim = 0; dim < from->rank; dim++) {
		nfrom += from->nparts[dim];
		nto += to->nparts[dim];
	}
	for (int i = 0; i < nfrom; i++) {
		for (int k = 0; k < nto; k++) {
			struct part a = from->part[i], b = to->part[k];

			if (a.axis == b.axis && m->axis[a.axis].size > 1 &&
			    !coexist(a, b))
				return false;
		}
	}
	return true;
}
