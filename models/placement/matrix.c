#include "placement/matrix.h"

#include "base/assert.h"
#include "base/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum status axes_parse(struct mesh *out, struct arena *a, const char *text,
                       struct where at, struct error *e)
{
	struct scan s = scan_start(text, at, e);

	if (!isdigit((unsigned char)scan_peek(&s))) {
		if (mesh_parse(out, a, text, at, e) != OK)
			return e->code;
		if (out->naxes > MATRIX_AXES_MAX)
			return error_set(e, E_RANGE, at, "more than %d axes",
			                 MATRIX_AXES_MAX);
		return OK;
	}
	*out = (struct mesh){.ndevices = 1};
	do {
		int64_t size;

		if (out->naxes == MATRIX_AXES_MAX)
			return scan_fail(&s, E_RANGE, "more than %d axes",
			                 MATRIX_AXES_MAX);
		if (!scan_int(&s, "the size of an axis", 1,
		              MESH_DEVICES_MAX / out->ndevices, &size))
			return e->code;
		out->axis[out->naxes] = (struct axis){
			.name = arena_printf(a, "%d", out->naxes),
			.size = (int32_t)size,
		};
		out->naxes++;
		out->ndevices *= (int32_t)size;
	} while (scan_take(&s, ","));
	return scan_finish(&s);
}

bool axes_named(const struct mesh *axes)
{
	for (int i = 0; i < axes->naxes; i++) {
		char number[12];

		snprintf(number, sizeof(number), "%d", i);
		if (strcmp(axes->axis[i].name, number) != 0)
			return true;
	}
	return false;
}

void axes_print(struct text *out, const struct mesh *axes)
{
	if (axes_named(axes)) {
		mesh_print(out, axes);
		return;
	}
	for (int i = 0; i < axes->naxes; i++)
		text_printf(out, "%s%d", i ? "," : "", (int)axes->axis[i].size);
}

/*
 * Reads one axis by its number or, where it is no number, its name; -1 with an error.
 */
static int scan_axis(struct scan *s, const struct mesh *axes)
{
	const char *name;
	size_t length;
	int64_t number;
	int axis;

	if (isdigit((unsigned char)scan_peek(s)))
		return scan_int(s, "an axis", 0, axes->naxes - 1, &number) ? (int)number
		                                                           : -1;
	if (!scan_name(s, &name, &length)) {
		scan_fail(s, E_SYNTAX, "expected the number or name of an axis");
		return -1;
	}
	axis = mesh_axis(axes, name, length);
	if (axis < 0)
		scan_fail_at(s, name, E_TYPE, "no axis '%.*s'", (int)length, name);
	return axis;
}

enum status reduce_parse(uint32_t *out, const struct mesh *axes, const char *text,
                         struct where at, struct error *e)
{
	struct scan s = scan_start(text, at, e);

	assert(axes->naxes <= MATRIX_AXES_MAX);
	*out = 0;
	do {
		const char *start;
		int axis;

		scan_peek(&s);
		start = s.pos;
		axis = scan_axis(&s, axes);
		if (axis < 0)
			return e->code;
		if (*out & 1u << axis)
			return scan_fail_at(&s, start, E_TYPE,
			                    "axis %d is listed twice", axis);
		*out |= 1u << axis;
	} while (scan_take(&s, ","));
	return scan_finish(&s);
}

void reduce_print(struct text *out, uint32_t reduce)
{
	const char *comma = "";

	for (int i = 0; i < MATRIX_AXES_MAX; i++) {
		if (!(reduce & 1u << i))
			continue;
		text_printf(out, "%s%d", comma, i);
		comma = ",";
	}
}

/*
 * Depth first, one entry after the other. `row` and `column` hold what is left of every
 * axis and level. An entry is possible if what the row still needs after it divides
 * what the columns behind it still offer: per prime that is the condition for a
 * transport to exist, so the search meets no dead end.
 */
struct search {
	struct matrix at;
	int32_t column[HIERARCHY_LEVELS_MAX];
	const struct mesh *axes;
	struct matrix *out; /* NULL: count only */
	int64_t n;
};

static void fill_cells(struct search *s, int i, int j, int32_t left)
{
	int64_t behind = 1;

	if (j == s->at.nlevels) {
		if (i + 1 < s->at.naxes) {
			fill_cells(s, i + 1, 0, s->axes->axis[i + 1].size);
			return;
		}
		if (s->out)
			s->out[s->n] = s->at;
		s->n++;
		return;
	}
	for (int k = j + 1; k < s->at.nlevels; k++)
		behind *= s->column[k];
	for (int32_t x = 1; x <= left && s->n <= MATRICES_MAX; x++) {
		if (left % x || s->column[j] % x || behind % (left / x))
			continue;
		s->at.x[i][j] = x;
		s->column[j] /= x;
		fill_cells(s, i, j + 1, left / x);
		s->column[j] *= x;
	}
}

static int64_t fill_all(struct matrix *out, const struct hierarchy *h,
                        const struct mesh *axes)
{
	struct search s = {
		.at = {.naxes = axes->naxes, .nlevels = h->nlevels},
		.axes = axes,
		.out = out,
	};

	for (int j = 0; j < h->nlevels; j++)
		s.column[j] = h->level[j].size;
	fill_cells(&s, 0, 0, axes->axis[0].size);
	return s.n;
}

enum status matrices_of(struct matrix **out, int64_t *n, struct arena *a,
                        const struct hierarchy *h, const struct mesh *axes,
                        struct where at, struct error *e)
{
	assert(axes->naxes >= 1 && axes->naxes <= MATRIX_AXES_MAX && h->nlevels >= 1);
	if (axes->ndevices != h->ndevices)
		return error_set(e, E_TYPE, at,
		                 "the axes have %d devices, the hierarchy %d",
		                 (int)axes->ndevices, (int)h->ndevices);
	*n = fill_all(NULL, h, axes);
	if (*n > MATRICES_MAX)
		return error_set(e, E_RANGE, at, "more than %d placements",
		                 MATRICES_MAX);
	*out = arena_alloc(a, (size_t)*n, sizeof(**out));
	fill_all(*out, h, axes);
	return OK;
}

void matrix_print(struct text *out, const struct matrix *m)
{
	text_printf(out, "[");
	for (int i = 0; i < m->naxes; i++) {
		text_printf(out, "[");
		for (int j = 0; j < m->nlevels; j++)
			text_printf(out, "%s%d", j ? " " : "", (int)m->x[i][j]);
		text_printf(out, "]");
	}
	text_printf(out, "]");
}

static enum status scan_row(struct matrix *out, struct scan *s)
{
	int nlevels = 0;

	if (!scan_expect(s, "["))
		return s->error->code;
	do {
		int64_t x;

		if (nlevels == HIERARCHY_LEVELS_MAX)
			return scan_fail(s, E_RANGE, "more than %d columns",
			                 HIERARCHY_LEVELS_MAX);
		if (!scan_int(s, "an entry", 1, MESH_DEVICES_MAX, &x))
			return s->error->code;
		out->x[out->naxes][nlevels++] = (int32_t)x;
		scan_take(s, ",");
	} while (!scan_take(s, "]"));
	if (out->naxes && nlevels != out->nlevels)
		return scan_fail(s, E_TYPE, "a row of %d after rows of %d", nlevels,
		                 out->nlevels);
	out->nlevels = nlevels;
	out->naxes++;
	return OK;
}

enum status matrix_parse(struct matrix *out, const char *text, struct where at,
                         struct error *e)
{
	struct scan s = scan_start(text, at, e);
	int64_t devices = 1;

	*out = (struct matrix){0};
	if (!scan_expect(&s, "["))
		return e->code;
	do {
		if (out->naxes == MATRIX_AXES_MAX)
			return scan_fail(&s, E_RANGE, "more than %d rows",
			                 MATRIX_AXES_MAX);
		if (scan_row(out, &s) != OK)
			return e->code;
		for (int j = 0; j < out->nlevels; j++)
			if ((devices *= out->x[out->naxes - 1][j]) > MESH_DEVICES_MAX)
				return scan_fail(&s, E_RANGE, "more than %d devices",
				                 MESH_DEVICES_MAX);
		scan_take(&s, ",");
	} while (!scan_take(&s, "]"));
	return scan_finish(&s);
}

int32_t matrix_axis_size(const struct matrix *m, int axis)
{
	int32_t size = 1;

	for (int j = 0; j < m->nlevels; j++)
		size *= m->x[axis][j];
	return size;
}

int32_t matrix_level_size(const struct matrix *m, int level)
{
	int32_t size = 1;

	for (int i = 0; i < m->naxes; i++)
		size *= m->x[i][level];
	return size;
}

int32_t matrix_ndevices(const struct matrix *m)
{
	int32_t n = 1;

	for (int i = 0; i < m->naxes; i++)
		n *= matrix_axis_size(m, i);
	return n;
}

enum status matrix_check(const struct matrix *m, const struct hierarchy *h,
                         const struct mesh *axes, struct where at, struct error *e)
{
	if (m->naxes != axes->naxes || m->nlevels != h->nlevels)
		return error_set(
			e, E_TYPE, at,
			"a matrix of %d rows and %d columns for %d axes and %d "
			"levels",
			m->naxes, m->nlevels, axes->naxes, h->nlevels);
	for (int i = 0; i < m->naxes; i++)
		if (matrix_axis_size(m, i) != axes->axis[i].size)
			return error_set(e, E_TYPE, at,
			                 "row %d has the product %d, its axis is %d", i,
			                 (int)matrix_axis_size(m, i),
			                 (int)axes->axis[i].size);
	for (int j = 0; j < m->nlevels; j++)
		if (matrix_level_size(m, j) != h->level[j].size)
			return error_set(
				e, E_TYPE, at,
				"column %d has the product %d, its level is %d", j,
				(int)matrix_level_size(m, j), (int)h->level[j].size);
	return OK;
}

/*
 * Returns how far one step of the digit of axis i at level j moves among the devices.
 */
static int32_t digit_stride(const struct matrix *m, int i, int j)
{
	int32_t stride = 1;

	for (int k = i + 1; k < m->naxes; k++)
		stride *= m->x[k][j];
	for (int l = j + 1; l < m->nlevels; l++)
		stride *= matrix_level_size(m, l);
	return stride;
}

int32_t matrix_device(const struct matrix *m, const int32_t *coordinate)
{
	int32_t device = 0;

	for (int i = 0; i < m->naxes; i++) {
		int32_t left = coordinate[i];

		for (int j = m->nlevels - 1; j >= 0; j--) {
			device += left % m->x[i][j] * digit_stride(m, i, j);
			left /= m->x[i][j];
		}
		assert(left == 0);
	}
	return device;
}

/*
 * Returns the devices by position. Digits add up, so positions are filled factor by
 * factor, from the innermost outwards.
 */
int32_t *matrix_devices(const struct matrix *m, struct arena *a)
{
	int32_t n = matrix_ndevices(m), filled = 1;
	int32_t *device = arena_alloc(a, (size_t)n, sizeof(*device));

	for (int i = m->naxes - 1; i >= 0; i--)
		for (int j = m->nlevels - 1; j >= 0; j--) {
			int32_t stride = digit_stride(m, i, j);

			for (int32_t p = filled; p < filled * m->x[i][j]; p++)
				device[p] = device[p % filled] + p / filled * stride;
			filled *= m->x[i][j];
		}
	return device;
}

int32_t *matrix_platform(const struct matrix *m, const struct hierarchy *h,
                         struct arena *a)
{
	int32_t *device = matrix_devices(m, a), n = matrix_ndevices(m);

	for (int32_t p = 0; h->on && p < n; p++)
		device[p] = h->on[device[p]];
	return device;
}
