/* Scenarios that are training steps: a model, and degrees that may vary. */
#include "suite/reader.h"

#include "base/input.h"
#include "facts/model.h"
#include "program/step.h"

#include <stdint.h>
#include <string.h>

/* Degrees of one axis, in a map of such. */
struct degree {
	const char *name;
	struct suite_value *value;
	int n;
};

/* Notes what the scenario's result depends on beside its texts: what the model's file says. */
static enum status read_model(struct reader *r, struct scenario *s)
{
	const char *slash = strrchr(r->path, '/'), *path = s->step.model;
	struct suite *suite = r->suite;
	struct architecture m;
	char *text;

	if (*path != '/' && slash)
		path = arena_printf(suite->arena, "%.*s/%s", (int)(slash - r->path),
		                    r->path, path);
	s->step.path = path;
	text = input_text(suite->arena, path, r->error);
	if (!text || architecture_read(&m, suite->arena, path, r->error) != OK)
		return r->error->code;
	s->step.text = text;
	return OK;
}

static enum status add_step(struct reader *r, const struct scenario *s,
                            const char *parallel, struct where at, bool varied)
{
	struct arena *a = r->suite->arena;
	struct scenario one = *s;
	struct step_degrees d;
	int64_t devices;

	if (step_degrees_parse(&d, a, parallel, at, r->error) != OK)
		return r->error->code;
	devices = step_devices(&d);
	if (devices > MESH_DEVICES_MAX)
		return error_set(r->error, E_RANGE, at,
		                 "%lld devices, expected at most %d",
		                 (long long)devices, MESH_DEVICES_MAX);
	one.needs = (int32_t)devices;
	one.step.parallel = parallel;
	if (varied) {
		one.name = arena_printf(a, "%s{parallel=%s}", s->name, parallel);
		one.varied = arena_printf(a, "parallel=%s", parallel);
	}
	suite_add(r->suite, &one);
	return OK;
}

/* --- degrees --------------------------------------------------------------------------- */

/* The number of devices that scenarios of a map must have; 0: any. */
static enum status read_count(int64_t *out, struct reader *r, const struct scenario *s)
{
	struct scan scan;

	*out = 0;
	if (!s->text.num_devices)
		return OK;
	scan = scan_start(s->text.num_devices, s->text.num_devices_at, r->error);
	return scan_int(&scan, "a number of devices", 1, MESH_DEVICES_MAX, out)
	               ? scan_finish(&scan)
	               : r->error->code;
}

/* Adds the combination of degrees number k, the last axis changing fastest. */
static enum status add_combination(struct reader *r, const struct scenario *s,
                                   const struct degree *axis, int naxes, int64_t k,
                                   int64_t devices, struct where at)
{
	struct arena *a = r->suite->arena;
	const char *text = "";
	struct step_degrees d;

	for (int i = naxes; i-- > 0; k /= axis[i].n) {
		const char *value = axis[i].value[k % axis[i].n].text;

		if (strcmp(value, "1") != 0)
			text = arena_printf(a, "%s=%s%s%s", axis[i].name, value,
			                    *text ? "," : "", text);
	}
	if (!*text)
		text = arena_printf(a, "%s=1", axis[0].name);
	if (step_degrees_parse(&d, a, text, at, r->error) != OK)
		return r->error->code;
	if (devices && step_devices(&d) != devices)
		return OK;
	return add_step(r, s, text, at, true);
}

/* A map of axes, of which each may be a number, a range or a list of these. */
static enum status add_map(struct reader *r, const struct scenario *s,
                           const yaml_node_t *map)
{
	struct where at = reader_mark(r, map->start_mark);
	int32_t before = r->suite->n;
	struct degree axis[STEP_AXES_NAMED];
	int64_t all = 1, devices;
	int naxes = 0;

	if (reader_check_keys(r, map) != OK || read_count(&devices, r, s) != OK)
		return r->error->code;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     p < map->data.mapping.pairs.top; p++, naxes++) {
		struct degree *one = &axis[naxes];
		struct where key;

		if (naxes == STEP_AXES_NAMED)
			return error_set(r->error, E_RANGE, at,
			                 "more axes than a step has");
		one->name = reader_scalar(
			r, yaml_document_get_node(r->document, p->key), &key);
		if (!one->name ||
		    suite_values(&one->value, &one->n, r,
		                 yaml_document_get_node(r->document, p->value),
		                 VARIED_COUNT) != OK)
			return r->error->code;
		all *= one->n;
		if (all > GENERATED_MAX)
			return error_set(r->error, E_RANGE, at,
			                 "more than %d combinations", GENERATED_MAX);
	}
	if (!naxes)
		return error_set(r->error, E_SYNTAX, at,
		                 "no axes, expected some, such as {fsdp: 8}");
	for (int64_t k = 0; k < all; k++)
		if (add_combination(r, s, axis, naxes, k, devices, at) != OK)
			return r->error->code;
	if (r->suite->n == before)
		return error_set(r->error, E_TYPE, at,
		                 "no combination comes to %lld devices",
		                 (long long)devices);
	return OK;
}

/* Fields of redistributions, which a step does not have. */
static enum status check_fields(struct reader *r, const struct scenario *s,
                                const struct suite_list *list)
{
	const struct problem_text *t = &s->text;

	if (!t->array && !t->mesh && !list->mesh && !t->from && !t->to && !t->to_mesh &&
	    !t->to_devices && !t->devices && !t->memory_limit && !t->vocabulary &&
	    !list->bytes && !list->placement && !s->hierarchy)
		return OK;
	return error_set(r->error, E_TYPE, s->at,
	                 "a step takes model, parallel, batch, micro_batch, seq, "
	                 "recompute and num_devices, and nothing of a "
	                 "redistribution");
}

enum status suite_vary_step(struct reader *r, const struct scenario *s,
                            const struct suite_list *list)
{
	struct scenario one = *s;
	struct suite_value *value;
	int n;

	one.base = s->name;
	one.varied = "";
	if (check_fields(r, s, list) != OK)
		return r->error->code;
	if (!list->parallel)
		return error_set(r->error, E_SYNTAX, s->at,
		                 "a step needs name, model and parallel");
	if (read_model(r, &one) != OK)
		return r->error->code;
	if (list->parallel->type == YAML_MAPPING_NODE)
		return add_map(r, &one, list->parallel);
	if (one.text.num_devices)
		return error_set(r->error, E_TYPE, one.text.num_devices_at,
		                 "num_devices chooses from a map of degrees, and "
		                 "parallel is none");
	if (suite_values(&value, &n, r, list->parallel, VARIED_TEXT) != OK)
		return r->error->code;
	for (int i = 0; i < n; i++)
		if (add_step(r, &one, value[i].text, value[i].at,
		             list->parallel->type == YAML_SEQUENCE_NODE) != OK)
			return r->error->code;
	return OK;
}
