#include "sweep/setup.h"

#include "facts/families.h"
#include "measure/choose.h"
#include "plan/vocabulary.h"
#include "sweep/step.h"
#include "system/version.h"
#include "text/words_list.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No sweep has more cases on a platform: a scenario is a number of 32 bits. */
static const int64_t CASES_MAX = INT64_C(1) << 40;

/* Takes the platforms of the command line, on which all suites run. */
static enum status ask_for_platforms(struct suite *suite, const char *list,
                                     struct arena *a, struct error *e)
{
	const char **words;

	if (words_list_read(&words, a, "--platform", list, e) != OK)
		return e->code;
	if (!words[0])
		return error_set(e, E_TYPE, where_option("--platform", list),
		                 "expected platforms such as tpu-v4:4x4x4,dgx-a100:4");
	if (words_list_once("--platform", list, words, e) != OK)
		return e->code;
	suite->nplatforms = 0;
	for (int i = 0; words[i]; i++) {
		const struct where in_word = {.col = 1};
		struct where at = words_list_at("--platform", list, i);
		struct error fault = {0};
		int p;

		if (suite_platform_parse(&p, suite, words[i], in_word, &fault) != OK) {
			at.col += fault.at.col - 1;
			return error_set(e, fault.code, at, "%s", fault.text);
		}
		suite->platform[p].files = UINT64_MAX;
	}
	return OK;
}

/* Checks that every suite has some platforms. */
static enum status check_platforms(const struct suite *suite,
                                   const struct sweep_request *r, struct error *e)
{
	uint64_t files = 0;

	for (int p = 0; p < suite->nplatforms; p++)
		files |= suite->platform[p].files;
	for (int k = 0; k < suite->nfiles; k++)
		if (!((files | suite->no_scenarios) >> k & 1))
			return error_set(e, E_TYPE, (struct where){.file = r->suite[k]},
			                 "no platforms in it, expected some, or "
			                 "--platform");
	return OK;
}

/* Gives all scenarios the vocabulary of the command line, if there is one. */
static enum status ask_for_vocabulary(struct suite *suite, const char *vocabulary,
                                      struct error *e)
{
	const struct where at = where_option("--vocabulary", vocabulary);
	enum vocabulary asked;

	if (!vocabulary || vocabulary_parse(&asked, vocabulary, at, e) != OK)
		return e->code;
	for (int32_t i = 0; i < suite->n; i++) {
		suite->scenario[i].text.vocabulary = vocabulary;
		suite->scenario[i].text.vocabulary_at = at;
	}
	return OK;
}

/* Steps have one planner and one clock; their models must tell all that is needed. */
static enum status take_steps(struct sweep *out, const struct suite *suite,
                              const struct sweep_request *r, struct arena *a,
                              struct error *e)
{
	const struct planner **planner =
		arena_alloc(a, 2, sizeof(const struct planner *));
	struct architecture m;

	if (strcmp(r->planner, "all") != 0)
		return error_set(e, E_TYPE, where_option("--planner", r->planner),
		                 "a sweep of steps has no planners");
	if (strcmp(r->clock, "model") != 0)
		return error_set(e, E_TYPE, where_option("--clock", r->clock),
		                 "a sweep of steps has no clock but model");
	if (r->vocabulary)
		return error_set(e, E_TYPE, where_option("--vocabulary", r->vocabulary),
		                 "a sweep of steps has no vocabulary");
	for (int32_t i = 0; i < suite->n; i++)
		if (sweep_step_model(&m, a, &suite->scenario[i].step, e) != OK)
			return e->code;
	planner[0] = &sweep_step_planner;
	out->planner = planner;
	out->nplanners = 1;
	return OK;
}

enum status sweep_setup(struct sweep *out, const struct sweep_request *r,
                        struct arena *a, struct error *e)
{
	struct suite *suite = arena_alloc(a, 1, sizeof(*suite));
	const struct planner **planner;
	int *clock;
	bool steps;

	suite->arena = a;
	for (int i = 0; i < r->nsuites; i++)
		if (suite_read(suite, r->suite[i], e) != OK)
			return e->code;
	steps = suite->n && suite->scenario[0].step.model;
	if (suite_check_names(suite, e) != OK ||
	    suite_check_steps(suite, steps, e) != OK ||
	    choose_planners(&planner, &out->nplanners, a, r->planner, e) != OK ||
	    choose_clocks(&clock, &out->nclocks, a, r->clock, e) != OK)
		return e->code;
	if (r->platform && ask_for_platforms(suite, r->platform, a, e) != OK)
		return e->code;
	if (!r->platform)
		suite_take_machines(suite);
	if (check_platforms(suite, r, e) != OK ||
	    suite_set(suite, r->set, r->nset, e) != OK ||
	    ask_for_vocabulary(suite, r->vocabulary, e) != OK)
		return e->code;
	out->suite = suite;
	out->planner = planner;
	if (steps && take_steps(out, suite, r, a, e) != OK)
		return e->code;
	out->clock = clock;
	out->library = r->library;
	return sweep_identify(out, a, e);
}

/* --- as text ------------------------------------------------------------------------ */

void sweep_quote(struct text *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-./:,=+@%";

	if (word[0] && !word[strspn(word, plain)]) {
		text_printf(out, "%s", word);
		return;
	}
	text_append(out, "'", 1);
	for (; *word; word++)
		text_append(out, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
	text_append(out, "'", 1);
}

void sweep_command(struct text *out, const struct sweep_request *r)
{
	const char *const option[][2] = {
		{"--platform", r->platform},     {"--planner", r->planner},
		{"--clock", r->clock},           {"--vocabulary", r->vocabulary},
		{"--launch", r->library.launch}, {"--families", getenv(FAMILIES_MORE)}};

	text_printf(out, "shardsim sweep");
	for (int i = 0; i < r->nsuites; i++) {
		text_append(out, " ", 1);
		sweep_quote(out, r->suite[i]);
	}
	for (int i = 0; i < r->nset; i++) {
		text_printf(out, " --set ");
		sweep_quote(out, r->set[i]);
	}
	for (size_t i = 0; i < sizeof(option) / sizeof(*option); i++) {
		if (!option[i][1] || !option[i][1][0])
			continue;
		text_printf(out, " %s ", option[i][0]);
		sweep_quote(out, option[i][1]);
	}
}

/* --- in a store --------------------------------------------------------------------- */

static enum status save_cases(struct store *s, const struct sweep *sweep,
                              struct error *e)
{
	char number[24], plan[DIGEST_TEXT];

	digest_print(plan, sweep_cases_digest(sweep));
	if (store_set(s, "plan", 0, plan, e) != OK ||
	    store_set(s, "version", 0, version_text, e) != OK)
		return e->code;
	snprintf(number, sizeof(number), "%d", sweep->nplatforms);
	if (store_set(s, "platforms", 0, number, e) != OK)
		return e->code;
	for (int p = 0; p < sweep->nplatforms; p++) {
		snprintf(number, sizeof(number), "%lld",
		         (long long)sweep_platform_cases(sweep, p));
		if (store_set(s, "platform", p, sweep->platform[p].name, e) != OK ||
		    store_set(s, "machine", p, sweep->platform[p].asked->machine, e) !=
		            OK ||
		    store_set(s, "cases", p, number, e) != OK)
			return e->code;
	}
	return OK;
}

enum status sweep_save(struct store *s, const struct sweep *sweep,
                       const struct sweep_request *r, struct error *e)
{
	struct text command = {0};
	const char *more = getenv(FAMILIES_MORE);
	char *folder = getcwd(NULL, 0);

	sweep_command(&command, r);
	save_cases(s, sweep, e);
	store_set(s, "command", 0, command.s, e);
	store_set(s, "folder", 0, folder ? folder : ".", e);
	store_set(s, "list platform", 0, r->platform ? r->platform : "", e);
	store_set(s, "list planner", 0, r->planner, e);
	store_set(s, "list clock", 0, r->clock, e);
	store_set(s, "vocabulary", 0, r->vocabulary ? r->vocabulary : "", e);
	store_set(s, "launch", 0, r->library.launch ? r->library.launch : "", e);
	store_set(s, "families", 0, more ? more : "", e);
	for (int i = 0; i < SUITE_FILES_MAX; i++)
		if (i <= r->nsuites)
			store_set(s, "suite", i, i < r->nsuites ? r->suite[i] : "", e);
	for (int i = 0; i < PLATFORM_SETTINGS_MAX; i++)
		if (i <= r->nset)
			store_set(s, "set", i, i < r->nset ? r->set[i] : "", e);
	text_free(&command);
	free(folder);
	return e->code == OK ? store_commit(s, e) : e->code;
}

static const char *load_setting(struct store *s, struct arena *a, const char *name,
                                int number, struct error *e)
{
	const char *value = NULL;

	store_get(&value, s, a, name, number, e);
	return value;
}

bool sweep_load(struct sweep_request *r, const char **folder, struct store *s,
                struct arena *a, struct error *e)
{
	const char *more = load_setting(s, a, "families", 0, e);

	*r = (struct sweep_request){0};
	if (more && more[0])
		setenv(FAMILIES_MORE, more, 0);
	*folder = load_setting(s, a, "folder", 0, e);
	r->platform = load_setting(s, a, "list platform", 0, e);
	r->planner = load_setting(s, a, "list planner", 0, e);
	r->clock = load_setting(s, a, "list clock", 0, e);
	r->vocabulary = load_setting(s, a, "vocabulary", 0, e);
	r->library.launch = load_setting(s, a, "launch", 0, e);
	for (; r->nsuites < SUITE_FILES_MAX; r->nsuites++) {
		const char *suite = load_setting(s, a, "suite", r->nsuites, e);

		if (!suite || !suite[0])
			break;
		r->suite[r->nsuites] = suite;
	}
	for (; r->nset < PLATFORM_SETTINGS_MAX; r->nset++) {
		const char *set = load_setting(s, a, "set", r->nset, e);

		if (!set || !set[0])
			break;
		r->set[r->nset] = set;
	}
	if (e->code != OK || !*folder || !r->platform || !r->planner || !r->clock ||
	    !r->vocabulary || !r->library.launch || r->nsuites == 0)
		return false;
	if (!r->platform[0])
		r->platform = NULL;
	if (!r->vocabulary[0])
		r->vocabulary = NULL;
	if (!r->library.launch[0])
		r->library.launch = NULL;
	return true;
}

/* Reads a whole number, which is damaged if it is anything else. */
static enum status load_number(int64_t *out, struct store *s, const char *dir,
                               struct arena *a, const char *name, int number,
                               int64_t most, struct error *e)
{
	const char *text = load_setting(s, a, name, number, e);
	struct error fault = {0};
	struct scan scan = scan_start(text ? text : "", (struct where){0}, &fault);

	if (e->code == OK &&
	    (!scan_int(&scan, NULL, 0, most, out) || scan_finish(&scan) != OK))
		return error_set(e, E_IO, (struct where){.file = dir},
		                 "sweep.db is damaged: its setting '%s' number %d is "
		                 "'%.40s', expected a whole number up to %lld; the "
		                 "sweep's command, given again, mends it",
		                 name, number, text ? text : "", (long long)most);
	return e->code;
}

enum status sweep_saved(struct sweep_saved **out, int *n, struct store *s,
                        const char *dir, struct arena *a, struct error *e)
{
	LIST(struct sweep_saved) all = {0};
	int64_t count;

	*out = NULL;
	*n = 0;
	if (!load_setting(s, a, "platforms", 0, e) ||
	    load_number(&count, s, dir, a, "platforms", 0, INT32_MAX, e) != OK)
		return e->code;
	list_reserve(&all, a, 1);
	for (int p = 0; p < count; p++) {
		struct sweep_saved *one = list_add(&all, a);

		one->platform = load_setting(s, a, "platform", p, e);
		one->machine = load_setting(s, a, "machine", p, e);
		one->machine = one->machine ? one->machine : "";
		if (load_number(&one->cases, s, dir, a, "cases", p, CASES_MAX, e) != OK)
			return e->code;
		if (!one->platform)
			return error_set(e, E_IO, (struct where){.file = dir},
			                 "sweep.db is damaged: it has %lld platforms, "
			                 "but does not tell the name of number %d; "
			                 "the sweep's command, given again, mends it",
			                 (long long)count, p);
	}
	*out = all.at;
	*n = (int)all.n;
	return OK;
}

enum status sweep_unfinished(const char **out, struct store *s, const char *dir,
                             struct arena *a, struct error *e)
{
	int64_t cases = 0, rows = 0;
	struct sweep_saved *platform;
	struct text word = {0};
	int n;

	*out = NULL;
	if (sweep_saved(&platform, &n, s, dir, a, e) != OK)
		return e->code;
	for (int p = 0; p < n; p++)
		cases += platform[p].cases;
	if (store_count(&rows, s, e) != OK || rows >= cases)
		return e->code;
	sweep_quote(&word, dir);
	*out = arena_printf(a,
	                    "%lld of %lld cases have no row: the sweep is unfinished; "
	                    "go on with: shardsim sweep --resume %s",
	                    (long long)(cases - rows), (long long)cases, word.s);
	text_free(&word);
	return OK;
}
