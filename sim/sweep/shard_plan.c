/* Plans: a sweep as lines of JSON. */
#include "sweep/shard.h"

#include "platform/platform.h"
#include "sweep/step.h"
#include "system/file.h"
#include "system/version.h"

#include "base/input.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>

/* The texts of a scenario by name, with those of its `struct problem_text`. */
enum { SCENARIO_TEXTS = 22 };
static const struct {
	const char *name;
	size_t offset;
} scenario_texts[SCENARIO_TEXTS] = {
	{"family", offsetof(struct scenario, family)},
	{"source", offsetof(struct scenario, source)},
	{"base", offsetof(struct scenario, base)},
	{"varied", offsetof(struct scenario, varied)},
	{"array", offsetof(struct scenario, text.array)},
	{"mesh", offsetof(struct scenario, text.mesh)},
	{"to_mesh", offsetof(struct scenario, text.to_mesh)},
	{"from", offsetof(struct scenario, text.from)},
	{"to", offsetof(struct scenario, text.to)},
	{"num_devices", offsetof(struct scenario, text.num_devices)},
	{"devices", offsetof(struct scenario, text.devices)},
	{"to_devices", offsetof(struct scenario, text.to_devices)},
	{"memory_limit", offsetof(struct scenario, text.memory_limit)},
	{"vocabulary", offsetof(struct scenario, text.vocabulary)},
	{"hierarchy", offsetof(struct scenario, hierarchy)},
	{"model", offsetof(struct scenario, step.model)},
	{"path", offsetof(struct scenario, step.path)},
	{"parallel", offsetof(struct scenario, step.parallel)},
	{"batch", offsetof(struct scenario, step.batch)},
	{"micro_batch", offsetof(struct scenario, step.micro_batch)},
	{"seq", offsetof(struct scenario, step.seq)},
	{"recompute", offsetof(struct scenario, step.recompute)},
};

/* --- writing ------------------------------------------------------------------------ */

/* Returns NULL for a text that is no UTF-8, which the object then lacks. */
static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *head_json(const struct sweep *s, const struct sweep_request *r)
{
	json_t *planners = json_array(), *clocks = json_array(), *suites = json_array();
	json_t *set = json_array();
	char digest[DIGEST_TEXT];

	digest_print(digest, sweep_digest(s));
	for (int i = 0; i < s->nplanners; i++)
		json_array_append_new(planners, json_string(s->planner[i]->name));
	for (int i = 0; i < s->nclocks; i++)
		json_array_append_new(clocks,
		                      json_string(clock_kinds[s->clock[i]].name));
	for (int i = 0; i < r->nsuites; i++)
		json_array_append_new(suites, json_string(r->suite[i]));
	for (int i = 0; i < r->nset; i++)
		json_array_append_new(set, json_string(r->set[i]));
	return json_pack("{ss ss ss sI so so s{so so so ss ss so so}}", "schema",
	                 "shardsim-plan/1", "version", version_text, "plan", digest,
	                 "cases", (json_int_t)sweep_cases(s), "planners", planners,
	                 "clocks", clocks, "request", "suites", suites, "platform",
	                 text_or_null(r->platform), "set", set, "planner", r->planner,
	                 "clock", r->clock, "vocabulary", text_or_null(r->vocabulary),
	                 "launch", text_or_null(r->library.launch));
}

static json_t *platform_json(const struct sweep *s, int p)
{
	const struct suite_platform *platform = &s->suite->platform[p];
	json_t *set = json_array();
	char digest[DIGEST_TEXT], files[20];

	digest_print(digest, sweep_asked_digest(s, platform));
	snprintf(files, sizeof(files), "%llx", (unsigned long long)platform->files);
	for (int i = 0; i < platform->nset; i++)
		json_array_append_new(set, json_string(platform->set[i]));
	return json_pack("{ss ss ss ss so ss ss}", "platform", platform->name,
	                 "machine", platform->machine, "base", platform->base, "varied",
	                 platform->varied, "set", set, "files", files, "digest", digest);
}

/* What is in a model's file, as a digest; "" where there is none. */
static const char *print_model(char out[DIGEST_TEXT], const char *text)
{
	struct digest d = digest_start();

	out[0] = 0;
	if (!text)
		return out;
	digest_bytes(&d, text, strlen(text));
	digest_print(out, d);
	return out;
}

static json_t *scenario_json(const struct scenario *sc)
{
	char digest[DIGEST_TEXT];
	json_t *o = json_pack("{ss si si ss* ss*}", "scenario", sc->name, "file",
	                      sc->file, "needs", (int)sc->needs, "placement",
	                      sc->free ? "free" : NULL, "digest",
	                      sc->step.text ? print_model(digest, sc->step.text) : NULL);

	for (int i = 0; o && i < SCENARIO_TEXTS; i++) {
		const char *text = *(const char *const *)((const char *)sc +
		                                          scenario_texts[i].offset);

		if (text && json_object_set_new(o, scenario_texts[i].name,
		                                json_string(text)) != 0) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

/* Appends the object's line and frees the object; false if there is none. */
static bool add_line(struct text *out, json_t *o)
{
	char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (line)
		text_printf(out, "%s\n", line);
	free(line);
	json_decref(o);
	return line != NULL;
}

enum status plan_write(const char *path, const struct sweep *s,
                       const struct sweep_request *r, struct error *e)
{
	struct text text = {0};
	bool good = add_line(&text, head_json(s, r));

	for (int p = 0; good && p < s->suite->nplatforms; p++)
		good = add_line(&text, platform_json(s, p));
	for (int32_t i = 0; good && i < s->suite->n; i++)
		good = add_line(&text, scenario_json(&s->suite->scenario[i]));
	if (good)
		file_write(path, text.s, text.length, e);
	else
		error_set(
			e, E_SYNTAX, (struct where){0},
			"a name of a suite or a platform is not UTF-8, of which plans "
			"are");
	text_free(&text);
	return e->code;
}

/* --- reading ------------------------------------------------------------------------ */

struct reading {
	struct sweep *sweep;
	struct suite *suite;
	struct sweep_request *request;
	struct arena *arena;
	struct digest plan;
	struct text digests; /* the platforms' digests as they stand in the plan */
	struct where at;
	struct error *error;
};

static enum status bad_plan(struct reading *r, const char *what)
{
	return error_set(r->error, E_SYNTAX, r->at,
	                 "%s, expected what `sweep plan` writes", what);
}

/*
 * Returns a copy of the object's text of that key, in the arena; NULL if there is none.
 */
static const char *copy_text(struct reading *r, const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? arena_strdup(r->arena, text) : NULL;
}

static enum status read_plan_lists(struct reading *r, const json_t *head)
{
	const json_t *names = json_object_get(head, "planners");
	const json_t *clocks = json_object_get(head, "clocks");
	size_t n = json_array_size(names), k = json_array_size(clocks);
	const struct planner **planner;
	int *clock;

	if (n < 1 || k < 1 || n * k > SWEEP_UNITS_MAX)
		return bad_plan(r, "no planners or clocks");
	planner = arena_alloc(r->arena, n, sizeof(*planner));
	clock = arena_alloc(r->arena, k, sizeof(*clock));
	for (size_t i = 0; i < n; i++) {
		const char *name = json_string_value(json_array_get(names, i));

		planner[i] = name ? planner_find(name, strlen(name)) : NULL;
		if (name && !strcmp(name, sweep_step_planner.name))
			planner[i] = &sweep_step_planner;
		if (!planner[i])
			return bad_plan(r, "an unknown planner");
	}
	for (size_t i = 0; i < k; i++) {
		const char *name = json_string_value(json_array_get(clocks, i));

		clock[i] = name ? clock_find(name, strlen(name)) : -1;
		if (clock[i] < 0)
			return bad_plan(r, "an unknown clock");
	}
	r->sweep->planner = planner;
	r->sweep->nplanners = (int)n;
	r->sweep->clock = clock;
	r->sweep->nclocks = (int)k;
	return OK;
}

static enum status read_request(struct reading *r, const json_t *o)
{
	const json_t *suites = json_object_get(o, "suites");
	const json_t *set = json_object_get(o, "set");

	*r->request = (struct sweep_request){.nsuites = (int)json_array_size(suites)};
	r->request->platform = copy_text(r, o, "platform");
	r->request->planner = copy_text(r, o, "planner");
	r->request->clock = copy_text(r, o, "clock");
	r->request->vocabulary = copy_text(r, o, "vocabulary");
	r->request->library.launch = copy_text(r, o, "launch");
	r->sweep->library = r->request->library;
	if (r->request->nsuites < 1 || r->request->nsuites > SUITE_FILES_MAX ||
	    !r->request->planner || !r->request->clock)
		return bad_plan(r, "no request");
	for (int i = 0; i < r->request->nsuites; i++) {
		const char *path = json_string_value(json_array_get(suites, (size_t)i));

		if (!path)
			return bad_plan(r, "a suite without a name");
		r->request->suite[i] = arena_strdup(r->arena, path);
	}
	for (size_t i = 0; i < json_array_size(set); i++) {
		const char *one = json_string_value(json_array_get(set, i));

		if (!one || r->request->nset == PLATFORM_SETTINGS_MAX)
			return bad_plan(r, "no setting");
		r->request->set[r->request->nset++] = arena_strdup(r->arena, one);
	}
	r->suite->nfiles = r->request->nsuites;
	return OK;
}

static enum status read_head(struct reading *r, const json_t *head)
{
	const char *schema = json_string_value(json_object_get(head, "schema"));
	const char *version = json_string_value(json_object_get(head, "version"));
	const char *digest = json_string_value(json_object_get(head, "plan"));

	if (!schema || strcmp(schema, "shardsim-plan/1") != 0 || !version || !digest ||
	    !digest_parse(&r->plan, digest))
		return bad_plan(r, "this is no plan");
	if (strcmp(version, version_text) != 0)
		return error_set(r->error, E_TYPE, r->at,
		                 "a plan of shardsim %.60s, but this is %s: plan anew",
		                 version, version_text);
	if (read_plan_lists(r, head) != OK)
		return r->error->code;
	return read_request(r, json_object_get(head, "request"));
}

static enum status read_plan_platform(struct reading *r, const json_t *o)
{
	const json_t *set = json_object_get(o, "set");
	const char *base = copy_text(r, o, "base"), *files = copy_text(r, o, "files");
	const char *machine = copy_text(r, o, "machine");
	const char *digest = json_string_value(json_object_get(o, "digest"));
	const char *key[PLATFORM_SETTINGS_MAX], *value[PLATFORM_SETTINGS_MAX];
	int n = (int)json_array_size(set), p;

	if (!base || !machine || !files || !digest ||
	    strlen(digest) != DIGEST_TEXT - 1 || n > PLATFORM_SETTINGS_MAX)
		return bad_plan(r, "no platform");
	for (int i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(set, (size_t)i));
		size_t length = text ? strcspn(text, "=") : 0;

		if (!text || text[length] != '=')
			return bad_plan(r, "no setting");
		key[i] = arena_strndup(r->arena, text, length);
		value[i] = arena_strdup(r->arena, text + length + 1);
	}
	p = suite_platform(r->suite, machine, base, n, key, value, r->at);
	r->suite->platform[p].files = strtoull(files, NULL, 16);
	text_append(&r->digests, digest, DIGEST_TEXT - 1);
	text_append(&r->digests, "", 1);
	return OK;
}

/* Reads what is in a model's file, which must be what it was. */
static enum status read_plan_model(struct reading *r, struct suite_step *step,
                                   const char *digest)
{
	struct text text = {0};
	char is[DIGEST_TEXT];

	if (!step->path || !step->parallel || !digest)
		return bad_plan(r, "no step");
	step->batch_at = step->micro_batch_at = step->seq_at = step->recompute_at =
		r->at;
	if (input_read(&text, step->path, r->error) != OK) {
		text_free(&text);
		return r->error->code;
	}
	step->text = arena_strndup(r->arena, text.s ? text.s : "", text.length);
	text_free(&text);
	if (strcmp(print_model(is, step->text), digest) != 0)
		return error_set(
			r->error, E_TYPE, r->at,
			"model %.80s is not what it was when the plan was made: "
			"plan anew",
			step->path);
	return OK;
}

static enum status read_plan_scenario(struct reading *r, const json_t *o)
{
	struct scenario sc = {.name = copy_text(r, o, "scenario"), .at = r->at};
	json_int_t file = json_integer_value(json_object_get(o, "file"));
	json_int_t needs = json_integer_value(json_object_get(o, "needs"));

	sc.free = json_object_get(o, "placement") != NULL;
	for (int i = 0; i < SCENARIO_TEXTS; i++)
		*(const char **)((char *)&sc + scenario_texts[i].offset) =
			copy_text(r, o, scenario_texts[i].name);
	if (!sc.name || !sc.family || !sc.base || !sc.varied || file < 0 ||
	    file >= r->suite->nfiles || needs < 0 || needs > MESH_DEVICES_MAX ||
	    (!sc.step.model && (!sc.text.array || !sc.text.from || !sc.text.to)))
		return bad_plan(r, "no scenario");
	if (sc.step.model &&
	    read_plan_model(r, &sc.step,
	                    json_string_value(json_object_get(o, "digest"))) != OK)
		return r->error->code;
	sc.needs = (int32_t)needs;
	suite_add(r->suite, &sc);
	r->suite->scenario[r->suite->n - 1].file = (int)file;
	return OK;
}

static enum status read_line(struct reading *r, const char *line, size_t length)
{
	json_t *o = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);

	if (!json_is_object(o))
		bad_plan(r, "a line that is no JSON object");
	else if (r->at.line == 1)
		read_head(r, o);
	else if (json_object_get(o, "platform"))
		read_plan_platform(r, o);
	else
		read_plan_scenario(r, o);
	json_decref(o);
	return r->error->code;
}

/* Whether all scenarios are steps, for which the planner stands, or none is. */
static bool is_of_one_kind(const struct sweep *s, const struct suite *suite)
{
	bool steps = s->nplanners == 1 && s->planner[0] == &sweep_step_planner;

	for (int i = 0; i < s->nplanners; i++)
		if (!steps && s->planner[i] == &sweep_step_planner)
			return false;
	for (int32_t i = 0; i < suite->n; i++)
		if ((suite->scenario[i].step.model != NULL) != steps)
			return false;
	return true;
}

/* Checks that what the plan was made of is still there. */
static enum status check_plan(struct reading *r)
{
	struct sweep *s = r->sweep;
	char digest[DIGEST_TEXT];

	r->at.col = r->at.line = 0;
	if (!r->suite->n || !r->digests.s)
		return bad_plan(r, "the plan is cut off");
	if (!is_of_one_kind(s, r->suite))
		return bad_plan(r, "steps and redistributions in one plan");
	s->suite = r->suite;
	if (suite_check_names(r->suite, r->error) != OK ||
	    sweep_identify(s, r->arena, r->error) != OK)
		return r->error->code;
	for (int p = 0; p < r->suite->nplatforms; p++) {
		const struct suite_platform *asked = &r->suite->platform[p];

		digest_print(digest, sweep_asked_digest(s, asked));
		if (memcmp(digest, r->digests.s + (size_t)p * DIGEST_TEXT,
		           DIGEST_TEXT) != 0)
			return error_set(r->error, E_TYPE, asked->at,
			                 "platform %.80s is not what it was when the "
			                 "plan was made: plan anew",
			                 asked->name);
	}
	if (!digest_equal(sweep_digest(s), r->plan))
		return bad_plan(r, "the plan is not whole");
	return OK;
}

enum status plan_read(struct sweep *out, struct sweep_request *request,
                      const char *path, struct arena *a, struct error *e)
{
	struct reading r = {.sweep = out, .request = request, .arena = a, .error = e};
	struct text text = {0};

	r.suite = arena_alloc(a, 1, sizeof(*r.suite));
	r.suite->arena = a;
	r.at = (struct where){.file = path, .col = 1};
	input_read(&text, path, e);
	for (size_t at = 0, n; e->code == OK && at < text.length; at += n) {
		const char *end = memchr(text.s + at, '\n', text.length - at);

		n = end ? (size_t)(end - text.s) - at + 1 : text.length - at;
		r.at.line++;
		read_line(&r, text.s + at, n);
	}
	if (e->code == OK)
		check_plan(&r);
	text_free(&r.digests);
	text_free(&text);
	return e->code;
}
