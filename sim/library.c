#include "library.h"

#include "collective/collective.h"
#include "collective/profile.h"

#include <string.h>

bool library_option(struct library_text *out, int key, const char *arg)
{
	switch (key) {
	case KEY_ALGORITHM:
		out->algorithm = arg;
		return true;
	case KEY_PROTOCOL:
		out->protocol = arg;
		return true;
	case KEY_LAUNCH:
		out->launch = arg;
		return true;
	default:
		return false;
	}
}

static enum status unknown(const char *option, const char *text, const struct where *at,
                           const char *known, struct error *e)
{
	return error_set(e, E_RANGE, at ? *at : where_option(option, text),
	                 "unknown %s '%s', expected one of %s", option + 2, text, known);
}

/* Is it among the names that are appended to `known`, each once? */
static void name_add(struct text *known, bool *found, const char *name, const char *is)
{
	size_t n = strlen(name);

	*found = *found || !strcmp(name, is);
	for (const char *p = known->s; p && (p = strstr(p, name)); p++)
		if ((p == known->s || p[-1] == ' ') && (!p[n] || p[n] == ','))
			return;
	text_printf(known, "%s%s", known->length ? ", " : "", name);
}

/* An algorithm of any profile; "tuner" leaves the choice to NCCL's own model (nccl.h). */
static bool algorithm_known(struct text *known, const char *name)
{
	bool found = false;

	for (int i = 0; algorithms[i]; i++)
		name_add(known, &found, algorithms[i]->name, name);
	for (int p = 0; profiles[p]; p++)
		for (int i = 0; profiles[p]->library && profiles[p]->library[i]; i++)
			name_add(known, &found, profiles[p]->library[i]->name, name);
	name_add(known, &found, "tuner", name);
	return found;
}

static bool protocol_known(struct text *known, const char *name)
{
	bool found = false;

	for (int p = 0; p < PROTOCOLS; p++)
		name_add(known, &found, protocol_name((enum protocol)p), name);
	return found;
}

enum status library_set(struct machine *m, const struct library_text *text,
                        const struct where *at, struct error *e)
{
	static const char *const modes[] = {
		[LAUNCH_PROCESS] = "process",
		[LAUNCH_SINGLE] = "single",
		[LAUNCH_GRAPH] = "graph",
	};
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
	for (int i = 0; text->launch && i < 3; i++)
		if (!strcmp(modes[i], text->launch)) {
			m->launch = (enum launch_mode)i;
			return OK;
		}
	return text->launch ? unknown("--launch", text->launch, at,
	                              "process, single, graph", e)
	                    : OK;
}
