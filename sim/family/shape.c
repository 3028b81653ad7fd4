/* Shapes such as "4x4x8". */
#include "family/kind.h"

#include <limits.h>
#include <string.h>

void shape_sort(int32_t *x, int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && x[j - 1] < x[j]; j--) {
			int32_t t = x[j];

			x[j] = x[j - 1];
			x[j - 1] = t;
		}
}

enum status shape_scan_axes(struct scan *s, int32_t *shape, int n)
{
	for (int a = 0; a < n; a++) {
		int64_t size;

		if (a && !scan_expect(s, "x"))
			return s->error->code;
		if (!scan_int(s, "the length of an axis", 1, INT32_MAX, &size))
			return s->error->code;
		shape[a] = (int32_t)size;
	}
	return OK;
}

enum status shape_scan(struct scan *s, int32_t *shape, int n)
{
	if (shape_scan_axes(s, shape, n) != OK)
		return s->error->code;
	return scan_finish(s);
}

enum status shape_bounds(struct family_machine *m, int32_t per, struct scan *s,
                         const char *text)
{
	const struct family *f = &m->family;
	struct where at = scan_where(s, text);
	int32_t sorted[TORUS_AXES_MAX];
	int64_t n = per;

	memcpy(sorted, m->shape, sizeof(sorted));
	shape_sort(sorted, f->naxes);
	for (int a = 0; a < f->naxes; a++) {
		if (sorted[a] > f->largest[a])
			return error_set(
				s->error, E_RANGE, at,
				"%s has no such shape: a length of %d is above %d",
				f->name, (int)sorted[a], (int)f->largest[a]);
		n *= m->shape[a];
		if (n > INT32_MAX / (2 * TORUS_AXES_MAX))
			return error_set(s->error, E_RANGE, at, "too many devices");
	}
	m->ndevices = (int32_t)n;
	return OK;
}
