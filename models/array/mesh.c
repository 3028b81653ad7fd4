#include "array/mesh.h"

#include <string.h>

int mesh_axis(const struct mesh *m, const char *name, size_t length)
{
	for (int i = 0; i < m->naxes; i++)
		if (strlen(m->axis[i].name) == length &&
		    memcmp(m->axis[i].name, name, length) == 0)
			return i;
	return -1;
}

int64_t mesh_stride(const struct mesh *m, int axis)
{
	int64_t stride = 1;

	for (int i = axis + 1; i < m->naxes; i++)
		stride *= m->axis[i].size;
	return stride;
}

void mesh_add_digit(int32_t *value, int every, int32_t n, int32_t stride, int32_t size,
                    int32_t weight)
{
	for (int32_t p = 0; p < n;)
		for (int32_t c = 0; c < size; c++)
			for (int32_t i = 0; i < stride; i++, p++)
				value[(int64_t)p * every] += c * weight;
}

int32_t mesh_device(const struct mesh *m, int32_t position)
{
	return m->ids ? m->ids[position] : position;
}

int32_t mesh_nids(const struct mesh *m)
{
	return m->nids ? m->nids : m->ndevices;
}

const int32_t *mesh_positions(const struct mesh *m, struct arena *a)
{
	int32_t n = mesh_nids(m);
	int32_t *position = arena_alloc(a, (size_t)n, sizeof(*position));

	for (int32_t i = 0; i < n; i++)
		position[i] = -1;
	for (int32_t i = 0; i < m->ndevices; i++)
		position[mesh_device(m, i)] = i;
	return position;
}

bool mesh_same_axes(const struct mesh *a, const struct mesh *b)
{
	if (a->naxes != b->naxes)
		return false;
	for (int i = 0; i < a->naxes; i++)
		if (a->axis[i].size != b->axis[i].size ||
		    strcmp(a->axis[i].name, b->axis[i].name) != 0)
			return false;
	return true;
}

bool mesh_equal(const struct mesh *a, const struct mesh *b)
{
	if (mesh_nids(a) != mesh_nids(b) || !mesh_same_axes(a, b))
		return false;
	if (!a->ids && !b->ids)
		return true;
	for (int32_t i = 0; i < a->ndevices; i++)
		if (mesh_device(a, i) != mesh_device(b, i))
			return false;
	return true;
}

/* Reads an axis name, bare or quoted; false with an error. */
static bool scan_axis_name(struct scan *s, const char **start, size_t *length)
{
	if (scan_quoted(s, '"', start, length) || scan_quoted(s, '\'', start, length)) {
		if (*length > 0)
			return true;
		scan_fail_at(s, *start, E_SYNTAX, "expected an axis name in the quotes");
		return false;
	}
	if (s->error->code == OK && scan_name(s, start, length))
		return true;
	scan_fail(s, E_SYNTAX, "expected an axis such as x=4");
	return false;
}

static enum status scan_axis(struct mesh *out, struct arena *a, struct scan *s)
{
	const char *start, *size_at;
	size_t length;
	int64_t size, total;

	if (!scan_axis_name(s, &start, &length))
		return s->error->code;
	if (mesh_axis(out, start, length) >= 0)
		return scan_fail_at(s, start, E_TYPE, "axis '%.*s' is in the mesh twice",
		                    (int)length, start);
	if (out->naxes == MESH_AXES_MAX)
		return scan_fail_at(s, start, E_RANGE, "expected at most %d axes",
		                    MESH_AXES_MAX);
	if (!scan_take(s, "=") && !scan_take(s, ":"))
		return scan_fail(s, E_SYNTAX, "expected '=' and the size of axis '%.*s'",
		                 (int)length, start);
	scan_peek(s);
	size_at = s->pos;
	if (!scan_int(s, "the axis size", 1, MESH_DEVICES_MAX, &size))
		return s->error->code;
	total = out->ndevices * size;
	if (total > MESH_DEVICES_MAX)
		return scan_fail_at(s, size_at, E_RANGE,
		                    "too many devices, expected at most %d in a mesh",
		                    MESH_DEVICES_MAX);
	out->axis[out->naxes].name = arena_strndup(a, start, length);
	out->axis[out->naxes++].size = (int32_t)size;
	out->ndevices = (int32_t)total;
	return OK;
}

static enum status scan_ids(struct mesh *out, struct arena *a, struct scan *s)
{
	int32_t n = out->ndevices;
	int32_t *ids = arena_alloc(a, (size_t)n, sizeof(*ids));
	bool *seen = arena_alloc(a, (size_t)n, sizeof(*seen));

	if (!scan_expect(s, "["))
		return s->error->code;
	for (int32_t i = 0; i < n; i++) {
		int64_t id;

		if (i > 0 && !scan_expect(s, ","))
			return s->error->code;
		if (!scan_int(s, "a device id", 0, n - 1, &id))
			return s->error->code;
		if (seen[id])
			return scan_fail(s, E_TYPE, "device %lld is listed twice",
			                 (long long)id);
		seen[id] = true;
		ids[i] = (int32_t)id;
	}
	if (!scan_expect(s, "]"))
		return s->error->code;
	for (int32_t i = 0; i < n && !out->ids; i++)
		if (ids[i] != i)
			out->ids = ids;
	return OK;
}

/* Reads axes until the closing token (NULL: the end of the text). */
static enum status scan_axes(struct mesh *out, struct arena *a, struct scan *s,
                             const char *close)
{
	do {
		if (scan_axis(out, a, s) != OK)
			return s->error->code;
	} while (scan_take(s, ","));
	if (close)
		scan_expect(s, close);
	return s->error->code;
}

static enum status scan_shardy_mesh(struct mesh *out, struct arena *a, struct scan *s)
{
	if (!scan_expect(s, "[") || scan_axes(out, a, s, "]") != OK)
		return s->error->code;
	if (scan_take(s, ",")) {
		if (!scan_expect(s, "device_ids") || !scan_expect(s, "="))
			return s->error->code;
		if (scan_ids(out, a, s) != OK)
			return s->error->code;
	}
	scan_expect(s, ">");
	return s->error->code;
}

/* Scans a mesh of JAX, whose repr may go on with axis_types=(...) behind the axes. */
static enum status scan_jax_mesh(struct mesh *out, struct arena *a, struct scan *s)
{
	do {
		if (scan_take(s, "axis_types")) {
			s->pos += strcspn(s->pos, ")");
			if (!scan_expect(s, ")"))
				return s->error->code;
		} else if (scan_axis(out, a, s) != OK) {
			return s->error->code;
		}
	} while (scan_take(s, ","));
	scan_expect(s, ")");
	return s->error->code;
}

enum status mesh_parse(struct mesh *out, struct arena *a, const char *text,
                       struct where at, struct error *e)
{
	struct scan s = scan_start(text, at, e);
	const char *name;
	size_t length;

	*out = (struct mesh){.ndevices = 1};
	if (scan_take(&s, "sdy.mesh")) {
		if (scan_expect(&s, "@") && scan_name(&s, &name, &length))
			scan_expect(&s, "=");
	}
	if (e->code != OK)
		return e->code;
	if (scan_take(&s, "<"))
		scan_shardy_mesh(out, a, &s);
	else if (scan_take(&s, "Mesh("))
		scan_jax_mesh(out, a, &s);
	else
		scan_axes(out, a, &s, NULL);
	return scan_finish(&s);
}

void mesh_print(struct text *out, const struct mesh *m)
{
	bool shardy = m->ids != NULL;

	text_printf(out, "%s", shardy ? "<[" : "");
	for (int i = 0; i < m->naxes; i++) {
		bool quote = shardy || !scan_plain_name(m->axis[i].name);

		text_printf(out, "%s%s%s%s=%d", i ? "," : "", quote ? "\"" : "",
		            m->axis[i].name, quote ? "\"" : "", m->axis[i].size);
	}
	if (!shardy)
		return;
	text_printf(out, "], device_ids=[");
	for (int32_t i = 0; i < m->ndevices; i++)
		text_printf(out, "%s%d", i ? "," : "", m->ids[i]);
	text_printf(out, "]>");
}
