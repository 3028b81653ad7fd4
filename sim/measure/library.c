#include "measure/library.h"

#include "collective/collective.h"
#include "collective/nccl.h"
#include "collective/nccl_data.h"
#include "collective/profile.h"

#include <string.h>

static enum status unknown(const char *option, const char *text, const struct where *at,
                           const char *known, struct error *e)
{
	return error_set(e, E_RANGE, at ? *at : where_option(option, text),
	                 "unknown %s '%s', expected one of %s", option + 2, text, known);
}

/* Appends `name` to `known` unless it is there, and sets *found if `name` is `is`. */
static void name_add(struct text *known, bool *found, const char *name, const char *is)
{
	size_t n = strlen(name);

	*found = *found || !strcmp(name, is);
	for (const char *p = known->s; p && (p = strstr(p, name)); p++)
		if ((p == known->s || p[-1] == ' ') && (!p[n] || p[n] == ','))
			return;
	text_printf(known, "%s%s", known->length ? ", " : "", name);
}

/*
 * Returns whether some profile has an algorithm of that name, and appends all names to
 * `known`. The name "tuner" leaves the choice to NCCL's own model (nccl.h), "scheduled"
 * lets exchanges be schedules of messages (array/tuning.h).
 */
static bool algorithm_known(struct text *known, const char *name)
{
	bool found = false;

	for (int i = 0; algorithms[i]; i++)
		name_add(known, &found, algorithms[i]->name, name);
	for (int p = 0; profiles[p]; p++)
		for (int i = 0; profiles[p]->library && profiles[p]->library[i]; i++)
			name_add(known, &found, profiles[p]->library[i]->name, name);
	name_add(known, &found, "tuner", name);
	name_add(known, &found, "scheduled", name);
	return found;
}

static bool protocol_known(struct text *known, const char *name)
{
	bool found = false;

	for (int p = 0; p < PROTOCOLS; p++)
		name_add(known, &found, protocol_name((enum protocol)p), name);
	return found;
}

/* Returns whether the machine has what a launch mode takes (profile_launch_s()). */
static bool launch_has(const struct machine *m, enum launch_mode mode)
{
	return mode == LAUNCH_PROCESS || mode == LAUNCH_XLA ||
	       ((mode == LAUNCH_EAGER || mode == LAUNCH_MPI) &&
	        profile_of_fabric(m, 0)->library) ||
	       (nccl_callers[mode].one_process &&
	        m->tuning.value[TUNING_LAUNCH_EACH_S] > 0) ||
	       (mode == LAUNCH_GRAPH && m->tuning.value[TUNING_LAUNCH_GRAPH_S] > 0);
}

/* Appends the names of the modes, of those that the machine has if there is one. */
static void launch_names(struct text *out, const struct machine *m)
{
	for (int i = 0; i < LAUNCH_MODES; i++)
		if (!m || launch_has(m, (enum launch_mode)i))
			text_printf(out, "%s%s", out->length ? ", " : "",
			            nccl_callers[i].name);
}

static enum status launch_set(struct machine *m, const char *text,
                              const struct where *at, struct error *e)
{
	struct text known = {0};
	int mode = 0;

	while (mode < LAUNCH_MODES && strcmp(nccl_callers[mode].name, text) != 0)
		mode++;
	if (mode == LAUNCH_MODES) {
		launch_names(&known, NULL);
		unknown("--launch", text, at, known.s, e);
	} else if (launch_has(m, (enum launch_mode)mode)) {
		m->launch = (enum launch_mode)mode;
	} else {
		launch_names(&known, m);
		error_set(e, E_TYPE, at ? *at : where_option("--launch", text),
		          "%s has no launch mode '%s', as it has no %s; expected %s",
		          m->name, text,
		          nccl_callers[mode].one_process ? "launch_each_s"
		          : mode == LAUNCH_GRAPH         ? "launch_graph_s"
		                                         : "library that it calls",
		          known.s);
	}
	text_free(&known);
	return e->code;
}

enum status library_set(struct machine *m, const struct library_text *text,
                        const struct where *at, struct error *e)
{
	struct text known = {0};
	enum status status = OK;

	if (text->algorithm && !algorithm_known(&known, text->algorithm))
		status = unknown("--algorithm", text->algorithm, at, known.s, e);
	else if (text->protocol && !protocol_known(&known, text->protocol))
		status = unknown("--protocol", text->protocol, at, known.s, e);
	text_free(&known);
	if (status != OK)
		return status;
	m->forced = (struct forced){text->algorithm, text->protocol};
	if (text->algorithm && !strcmp(text->algorithm, "scheduled")) {
		m->tuning.value[TUNING_SCHEDULED] = 1;
		m->forced.algorithm = NULL;
	}
	return text->launch ? launch_set(m, text->launch, at, e) : OK;
}

enum status library_of_plans(struct machine *m, const struct library_text *text,
                             const struct where *at, struct error *e)
{
	m->launch = profile_compiler(m);
	return library_set(m, text, at, e);
}

/* Appends a line if nothing reads who calls. */
static void launch_unread(struct text *out, const struct machine *m, const char *launch)
{
	const char *caller = profile_caller(m);

	/* launch_set() takes other modes only where they change a launch. */
	if (!launch || profile_of_fabric(m, 0)->library ||
	    (m->launch != LAUNCH_PROCESS && m->launch != LAUNCH_XLA) ||
	    (caller && !strcmp(caller, launch)))
		return;
	text_printf(out, "--launch %s changes nothing on %s: %s\n", launch, m->name,
	            caller ? "XLA calls its collectives"
	                   : "no library runs its collectives");
}

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/*
 * Returns whether only the tuner reads a figure. Figures of graphs between nodes are such, but for
 * their channels, which trees have as well. Those of a node are such unless GPUs are behind a
 * switch that reduces, where the library's own model always chooses.
 */
static bool tuner_alone_reads(const char *set, const struct machine *m)
{
	bool over_nodes = begins(set, "graph_net_") || begins(set, "graph_tree_");
	bool switches = false;

	if (!begins(set, "graph_") || begins(set, "graph_net_channels="))
		return false;
	for (int f = 0; f < m->nfabrics; f++)
		switches |= profile_switch_adds(m, f);
	return over_nodes || !switches;
}

/* Appends a line if a text sets a figure that nothing reads on the machine. */
static void figure_unread(struct text *out, const struct machine *m, const char *set)
{
	const char *unread = NULL;

	if (tuner_alone_reads(set, m) && !nccl_asks_tuner(m))
		unread = "tuner ranks";
	if (begins(set, "scheduled_round_s=") && m->tuning.value[TUNING_SCHEDULED] == 0)
		unread = "scheduled sends";
	if (unread)
		text_printf(out,
		            "%.*s counts where --algorithm %s, and is read by nothing "
		            "else\n",
		            (int)strcspn(set, "="), set, unread);
}

void library_unread(struct text *out, const struct machine *m,
                    const struct library_text *text, const char *spec,
                    const char *const *set, int n)
{
	if (!m->nfabrics)
		return;
	launch_unread(out, m, text->launch);
	for (const char *at = strpbrk(spec, "{"); at; at = strpbrk(at, ","))
		figure_unread(out, m, ++at);
	for (int i = 0; i < n; i++)
		figure_unread(out, m, set[i]);
}

const char *library_words(const struct machine *m, struct arena *a)
{
	struct text t = {0};

	profile_print_caller(&t, m);
	return text_take(&t, a);
}

json_t *library_json(const struct machine *m)
{
	const char *caller = m ? profile_caller(m) : NULL;

	return caller ? json_string(caller) : json_null();
}
