#include "measure/choose.h"

#include "measure/measure.h"
#include "text/words_list.h"

#include "base/suggest.h"

#include <string.h>

static enum status refuse_planner(const char *list, int word, struct error *e)
{
	struct where at = words_list_at("--planner", list, word);
	const char *name = at.source + at.col - 1;
	struct suggestion near = suggest_start(name, strcspn(name, ","));
	struct text known = {0};

	for (int i = 0; planners[i]; i++) {
		suggest_offer(&near, planners[i]->name);
		text_printf(&known, "%s%s", i ? ", " : "", planners[i]->name);
	}
	suggest_offer(&near, "all");
	error_set(e, E_TYPE, at, "unknown planner, expected all, or some of %s%s",
	          known.s, suggest_ask(&near, ""));
	text_free(&known);
	return e->code;
}

enum status choose_planners(const struct planner ***out, int *n, struct arena *a,
                            const char *list, struct error *e)
{
	const char **words;
	int count = 0;

	if (words_list_read(&words, a, "--planner", list, e) != OK)
		return e->code;
	if (words[0] && !words[1] && strcmp(words[0], "all") == 0) {
		for (; planners[count]; count++)
			;
		*out = arena_alloc(a, (size_t)count, sizeof(**out));
		memcpy(*out, planners, (size_t)count * sizeof(**out));
		*n = count;
		return OK;
	}
	for (; words[count]; count++)
		;
	if (!count)
		return refuse_planner(list, 0, e);
	*out = arena_alloc(a, (size_t)count, sizeof(**out));
	for (int i = 0; i < count; i++) {
		(*out)[i] = planner_find(words[i], strlen(words[i]));
		if (!(*out)[i])
			return refuse_planner(list, i, e);
	}
	*n = count;
	return words_list_once("--planner", list, words, e);
}

static enum status refuse_clock(const char *list, int word, struct error *e)
{
	struct where at = words_list_at("--clock", list, word);
	const char *name = at.source + at.col - 1;
	struct suggestion near = suggest_start(name, strcspn(name, ","));
	struct text known = {0};

	for (int i = 0; clock_kinds[i].name; i++) {
		suggest_offer(&near, clock_kinds[i].name);
		text_printf(&known, "%s%s",
		            !i                        ? ""
		            : clock_kinds[i + 1].name ? ", "
		                                      : " or ",
		            clock_kinds[i].name);
	}
	error_set(e, E_TYPE, at, "unknown clock, expected %s%s", known.s,
	          suggest_ask(&near, ""));
	text_free(&known);
	return e->code;
}

enum status choose_clocks(int **out, int *n, struct arena *a, const char *list,
                          struct error *e)
{
	const char **words;

	*n = 0;
	if (words_list_read(&words, a, "--clock", list, e) != OK ||
	    words_list_once("--clock", list, words, e) != OK)
		return e->code;
	*out = arena_alloc(a, CLOCKS_MAX, sizeof(**out));
	for (int i = 0; i == 0 || words[i]; i++) {
		int k = words[i] ? clock_find(words[i], strlen(words[i])) : -1;

		if (k < 0)
			return refuse_clock(list, i, e);
		(*out)[(*n)++] = k;
	}
	return OK;
}
