/* The machines of a sweep: those asked for, and of sizes those that scenarios need. */
#include "sweep/sweep.h"

#include "collective/profile.h"
#include "facts/families.h"
#include "platform/platform.h"
#include "sweep/step.h"

#include "base/list.h"

#include <stdlib.h>

/*
 * Records an error of a platform at its place in the suite, or on the command line, be it
 * that of a setting of all platforms.
 */
static enum status platform_fault(const struct suite_platform *p, struct error *fault,
                                  struct error *e)
{
	for (int i = 0; p->set_at && i < p->nset; i++)
		if (fault->at.source == p->set[i] && p->set_at[i].file)
			return error_set(e, fault->code, p->set_at[i], "%s",
			                 fault->text);
	if (p->at.file)
		return error_set(e, fault->code, p->at, "%s", fault->text);
	platform_point(fault, p->name, NULL, 0);
	/* Texts other than the platform's are gone when the arena is. */
	if (fault->at.source != p->name)
		fault->at = where_option("--platform", p->name);
	*e = *fault;
	return e->code;
}

enum status sweep_launch(struct machine *m, const struct sweep *s, struct error *e)
{
	bool steps = s->planner[0] == &sweep_step_planner;

	return steps ? library_set(m, &s->library, NULL, e)
	             : library_of_plans(m, &s->library, NULL, e);
}

static const char *unread(const struct machine *m, const struct sweep *s,
                          const struct sweep_platform *p, struct arena *notes)
{
	struct text out = {0};

	library_unread(&out, m, &s->library, p->base, p->set, p->nset);
	return text_take(&out, notes);
}

/*
 * Makes the digest of a platform's name and its file, which is read as a platform once,
 * and takes what is assumed of it. Of a machine of a size that cannot be made, the reason
 * stands for the file.
 */
enum status sweep_platform_digest(struct digest *d, struct sweep_known *known,
                                  const struct sweep *s, const struct sweep_platform *p,
                                  struct arena *notes, struct error *e)
{
	const struct suite_platform *asked = p->asked;
	struct arena *a = arena_new();
	struct error fault = {0};
	struct text text = {0};
	struct machine *m;

	*d = digest_start();
	*known = (struct sweep_known){.caller = "", .unread = ""};
	if (platform_machine(&m, a, p->base, p->set, p->nset, &fault) == OK &&
	    platform_text(&text, a, p->base, p->set, p->nset, true, &fault) == OK) {
		digest_text(d, p->name);
		digest_text(d, asked->machine);
		digest_bytes(d, text.s, text.length);
		known->note = m->note ? arena_printf(notes, "%s", m->note) : NULL;
		if (sweep_launch(m, s, e) == OK) {
			if (profile_caller(m))
				known->caller = profile_caller(m);
			known->unread = unread(m, s, p, notes);
		}
		digest_text(d, known->caller);
	} else if (platform_sized(asked->base)) {
		known->refusal = arena_strdup(notes, fault.text);
		digest_text(d, p->name);
		digest_text(d, asked->machine);
		digest_text(d, known->refusal);
	} else {
		platform_fault(asked, &fault, e);
	}
	text_free(&text);
	arena_free(a);
	return e->code;
}

struct machines {
	struct arena *arena;
	LIST(struct sweep_platform) list;
};

/* Leaves out settings of a network from a machine that has none, and names it by the rest. */
static void take_settings(struct sweep_platform *p, bool net, struct arena *a)
{
	const struct suite_platform *asked = p->asked;
	const char **set = arena_alloc(a, (size_t)asked->nset, sizeof(*set));
	struct text name = {0};

	text_printf(&name, "%s", p->base);
	for (int i = 0; i < asked->nset; i++) {
		if (!net && setting_of_net(asked->set[i]))
			continue;
		text_printf(&name, "%s%s", p->nset ? "," : "{", asked->set[i]);
		set[p->nset++] = asked->set[i];
	}
	text_printf(&name, "%s", p->nset ? "}" : "");
	p->set = set;
	p->name = text_take(&name, a);
}

/*
 * Adds the machine of the size that a scenario needs, unless one that was added from
 * number `first` on is it.
 */
static enum status add_sized(struct machines *m, const struct suite_platform *asked,
                             int64_t first, int32_t needs, struct error *e)
{
	struct family_size size;
	struct error fault = {0};
	struct sweep_platform p = {.asked = asked};

	for (int64_t i = first; i < m->list.n; i++)
		if (needs >= m->list.at[i].least && needs <= m->list.at[i].most)
			return OK;
	if (platform_size(&size, m->arena, asked->base, asked->set, asked->nset, needs,
	                  &fault) != OK)
		return platform_fault(asked, &fault, e);
	p.base = size.spec;
	p.least = size.least;
	p.most = size.most;
	take_settings(&p, size.net, m->arena);
	*list_add(&m->list, m->arena) = p;
	return OK;
}

/*
 * Checks the settings of a platform that is asked for by a size on the largest machine of
 * the family: what that refuses is a mistake, and no matter of size.
 */
static enum status check_settings(struct machines *m,
                                  const struct suite_platform *asked, struct error *e)
{
	struct sweep_platform p = {.asked = asked};
	struct family_machine unused;
	struct family_size size;
	struct error fault = {0};

	if (platform_size(&size, m->arena, asked->base, asked->set, asked->nset,
	                  INT32_MAX, &fault) != OK)
		return platform_fault(asked, &fault, e);
	p.base = size.spec;
	take_settings(&p, size.net, m->arena);
	if (family_parse(&unused, m->arena, NULL, p.base, p.set, p.nset, &fault) != OK)
		return platform_fault(asked, &fault, e);
	return OK;
}

static int by_size(const void *a, const void *b)
{
	const struct sweep_platform *x = a, *y = b;

	return (x->least > y->least) - (x->least < y->least);
}

/* Adds the machines of a platform of the suite, those of a size by rising size. */
static enum status add_machines(struct machines *m, const struct suite *suite,
                                const struct suite_platform *asked, struct error *e)
{
	int64_t first = m->list.n;

	if (!platform_sized(asked->base)) {
		*list_add(&m->list, m->arena) = (struct sweep_platform){
			asked,      asked->name, asked->base, asked->nset,
			asked->set, 0,           INT64_MAX};
		return OK;
	}
	if (check_settings(m, asked, e) != OK)
		return e->code;
	for (int32_t i = 0; i < suite->n; i++)
		if (asked->files >> suite->scenario[i].file & 1 &&
		    add_sized(m, asked, first, suite->scenario[i].needs, e) != OK)
			return e->code;
	qsort(m->list.at + first, (size_t)(m->list.n - first), sizeof(*m->list.at),
	      by_size);
	return OK;
}

enum status sweep_machines(struct sweep *s, struct arena *a, struct error *e)
{
	struct machines machines = {.arena = a};
	const struct suite *suite = s->suite;

	for (int p = 0; p < suite->nplatforms; p++)
		if (add_machines(&machines, suite, &suite->platform[p], e) != OK)
			return e->code;
	s->platform = machines.list.at;
	s->nplatforms = (int)machines.list.n;
	return OK;
}

int sweep_asked(const struct sweep *s, int platform)
{
	return (int)(s->platform[platform].asked - s->suite->platform);
}

struct digest sweep_asked_digest(const struct sweep *s,
                                 const struct suite_platform *asked)
{
	struct digest d = digest_start();

	for (int p = 0; p < s->nplatforms; p++)
		if (s->platform[p].asked == asked)
			digest_add(&d, s->platform_digest[p]);
	return d;
}
