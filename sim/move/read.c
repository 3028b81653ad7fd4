/* Workloads of every form: which one a file has. */
#include "move/read.h"

#include "facts/yaml_reader.h"
#include "suite/suite.h"

#include <string.h>

/* What a YAML file is by the keys of its mapping. */
enum form { FORM_SUITE, FORM_MODEL, FORM_TRANSFER };

static enum status find_form(struct reader *r, void *into)
{
	yaml_node_t *map = yaml_document_get_root_node(&r->doc);
	enum form *form = into;

	if (!map || map->type != YAML_MAPPING_NODE)
		return OK;
	if (map_find(r, map, "layers"))
		*form = FORM_MODEL;
	else if (map_find(r, map, "model") || map_find(r, map, "tensors"))
		*form = FORM_TRANSFER;
	return OK;
}

static bool is_json(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

/* Makes both ends as options say them. */
static enum status sides_of_options(struct move_sides *sides, struct move_work *w,
                                    const struct move_ends *ends, struct error *e)
{
	sides->from = (struct scheme){
		.arena = w->arena, .text = ends->from, .devices = ends->devices};
	sides->to = (struct scheme){
		.arena = w->arena, .text = ends->to, .devices = ends->to_devices};
	if (ends->dtype) {
		sides->dtype = dtype_find(ends->dtype, strlen(ends->dtype));
		if (!sides->dtype)
			return error_set(e, E_SYNTAX,
			                 where_option("--dtype", ends->dtype),
			                 "unknown type '%.40s', expected one of those "
			                 "that 'shardsim list dtypes' prints",
			                 ends->dtype);
	}
	sides->given = ends->from && ends->to;
	if (!sides->given)
		return OK;
	sides->from.at = where_option("--from", ends->from);
	sides->to.at = where_option("--to", ends->to);
	if (ends->devices)
		sides->from.devices_at = where_option("--devices", ends->devices);
	if (ends->to_devices)
		sides->to.devices_at = where_option("--to-devices", ends->to_devices);
	if (scheme_make(&sides->from, e) == OK)
		scheme_make(&sides->to, e);
	return e->code;
}

/* Ends that the file says itself, or that it cannot take, are not for options. */
static enum status check_no_ends(const struct move_ends *ends, bool dtype_too,
                                 const char *form, struct error *e)
{
	const char *const given[] = {ends->from, ends->to, ends->devices,
	                             ends->to_devices, dtype_too ? ends->dtype : NULL};
	static const char *const option[] = {"--from", "--to", "--devices",
	                                     "--to-devices", "--dtype"};

	for (int i = 0; i < 5; i++)
		if (given[i])
			return error_set(e, E_TYPE, where_option(option[i], given[i]),
			                 "%s does not go with %s", option[i], form);
	return OK;
}

static enum status read_scenarios(struct move_work *w, const char *path, struct error *e)
{
	struct suite *suite = arena_alloc(w->arena, 1, sizeof(*suite));
	struct move_texts texts;

	suite->arena = w->arena;
	if (suite_read(suite, path, e) != OK || suite_check_names(suite, e) != OK ||
	    suite_check_steps(suite, false, e) != OK)
		return e->code;
	texts = (struct move_texts){suite->move.concurrent,      suite->move.batch,
	                            suite->move.memory_limit,    suite->move.source,
	                            suite->move.concurrent_at,   suite->move.batch_at,
	                            suite->move.memory_limit_at, suite->move.source_at};
	if (move_settings(w, &texts, e) != OK)
		return e->code;
	for (int32_t i = 0; i < suite->n; i++) {
		const struct scenario *sc = &suite->scenario[i];
		int64_t count = sc->weight <= MOVE_ARRAYS_MAX ? (int64_t)sc->weight
		                                              : MOVE_ARRAYS_MAX + 1;

		if ((double)count != sc->weight && count <= MOVE_ARRAYS_MAX)
			return error_set(
				e, E_RANGE, sc->at,
				"scenario '%.60s' has the weight %g, expected a "
				"whole number of arrays",
				sc->name, sc->weight);
		if (sc->free)
			return error_set(e, E_TYPE, sc->at,
			                 "scenario '%.60s' has a free placement, but a "
			                 "workload is moved where it stands",
			                 sc->name);
		if (move_add(w, sc->name, &sc->text, count, sc->at, e) != OK)
			return e->code;
	}
	return OK;
}

static enum status read_ends(struct move_work *w, const char *path, bool model,
                             const struct move_ends *ends, struct error *e)
{
	struct move_sides sides = {.given = false};

	if (model && (!ends->from || !ends->to))
		return error_set(
			e, E_TYPE, (struct where){.file = path},
			"a model needs --from and --to, such as --from fsdp=64 "
			"--to data=8,tensor=8");
	if (!ends->from != !ends->to)
		return error_set(e, E_TYPE, (struct where){.file = path},
		                 "--from and --to go together");
	if (sides_of_options(&sides, w, ends, e) != OK)
		return e->code;
	return model ? move_add_model(w, &sides, path, e)
	             : move_add_list(w, &sides, path, e);
}

enum status move_read(struct move_work *w, const char *path,
                      const struct move_ends *ends, struct error *e)
{
	enum form form = FORM_SUITE;

	w->memory_limit_bytes = -1;
	if (is_json(path)) {
		read_ends(w, path, false, ends, e);
	} else if (yaml_read(w->arena, path, find_form, &form, e) != OK) {
		return e->code;
	} else if (form == FORM_MODEL) {
		read_ends(w, path, true, ends, e);
	} else if (form == FORM_TRANSFER) {
		if (check_no_ends(ends, false, "a workload that says from and to", e) ==
		    OK)
			move_read_transfer(w, path, ends, e);
	} else if (check_no_ends(ends, true, "a suite of scenarios", e) == OK) {
		read_scenarios(w, path, e);
	}
	if (!w->name)
		w->name = path;
	return e->code;
}
