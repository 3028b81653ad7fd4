#include "measure/timeline.h"

#include "measure/links.h"
#include "price/price.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- links -------------------------------------------------------------------------- */

static double busy_s(const struct machine *m, const struct link_load *load)
{
	return load->bytes / m->link[load->link].bandwidth_Bps;
}

/* Returns whether two sums differ by rounding at most. */
static bool as_busy(double a_s, double b_s)
{
	return fabs(a_s - b_s) <= 1e-9 * fmax(a_s, b_s);
}

/* Stores the busiest of n loads, the busiest first, and returns how many it stored. */
static int find_busiest(const struct link_load **top, const struct machine *m,
                        const struct link_load *load, int32_t n)
{
	int kept = 0;

	for (int32_t i = 0; i < n; i++) {
		double own_s = busy_s(m, &load[i]);
		int at = kept;

		while (at > 0 && own_s > busy_s(m, top[at - 1]) &&
		       !as_busy(own_s, busy_s(m, top[at - 1])))
			at--;
		if (at == TIMELINE_LINKS)
			continue;
		kept += kept < TIMELINE_LINKS;
		for (int k = kept - 1; k > at; k--)
			top[k] = top[k - 1];
		top[at] = &load[i];
	}
	return kept;
}

/* --- writing ------------------------------------------------------------------------ */

/* Prints a JSON string, or null for NULL or a text that is not UTF-8. */
static void print_string(struct text *out, const char *s)
{
	json_t *string = json_string(s);
	char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	text_printf(out, "%s", quoted ? quoted : "null");
	free(quoted);
	json_decref(string);
}

static void print_links(struct text *out, struct links *links, const struct machine *m,
                        const struct schedule *s)
{
	const struct link_load *top[TIMELINE_LINKS], *load;
	int32_t n = links_of_tasks(&load, links, s, 0, s->ntasks), busiest = 0;
	int kept = n > 0 ? find_busiest(top, m, load, n) : 0;

	for (int32_t i = 0; i < n; i++)
		busiest += as_busy(busy_s(m, &load[i]), busy_s(m, top[0]));
	text_printf(out, ",\"busiest\":%d,\"links\":[", busiest);
	for (int k = 0; k < kept; k++) {
		text_printf(out, k ? ",[" : "[");
		print_string(out, m->link[top[k]->link].name);
		text_printf(out, ",%.9g,%.9g]", top[k]->bytes, busy_s(m, top[k]));
	}
	text_printf(out, "]}");
}

static void print_step(struct text *out, struct links *links,
                       const struct measurement *m, const struct bench *b, int clock,
                       int step)
{
	const struct placement *place = b->placement.platform ? &b->placement : NULL;
	const struct step_time *time = &m->step[clock][step];
	const struct step *s = &m->plan->step[step];
	struct arena *scratch = arena_new();
	struct lowered lowered = {0};
	struct text why = {0};

	text_printf(out, "{\"op\":\"%s\",\"algorithm\":", op_name(s->op));
	print_string(out, time->algorithm);
	text_printf(out, ",\"time_s\":%.9g,\"launch_s\":%.9g,\"local_s\":%.9g",
	            time->time_s, time->launch_s, time->local_s);
	text_printf(out, ",\"recv_bytes\":%lld", (long long)s->recv_bytes);
	if (op_communicates(s->op) &&
	    !lower_step(&lowered, scratch, b->machine, place, m->plan, step, &why))
		lowered = (struct lowered){0};
	print_links(out, links, b->machine, &lowered.schedule);
	text_free(&why);
	arena_free(scratch);
}

const char *timeline_make(struct arena *a, const struct measurement *m, struct bench *b,
                          int clock)
{
	struct proved *proved = m->proved ? &b->proved.at[m->proved - 1] : NULL;
	const char *made;
	struct text t = {0};
	struct links *links;

	if (!m->plan || !m->step[clock])
		return "";
	if (proved && proved->timeline[clock])
		return proved->timeline[clock];
	links = links_new(b->machine);
	text_printf(&t, "[");
	for (int i = 0; i < m->plan->nsteps; i++) {
		text_printf(&t, i ? "," : "");
		print_step(&t, links, m, b, clock, i);
	}
	text_printf(&t, "]");
	links_free(links);
	made = text_take(&t, a);
	if (proved)
		proved->timeline[clock] = made;
	return made;
}

/* --- reading ------------------------------------------------------------------------ */

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *string_of(struct arena *a, const json_t *value)
{
	return json_is_string(value) ? arena_strdup(a, json_string_value(value)) : NULL;
}

static void read_links(struct timeline_step *s, struct arena *a, const json_t *links)
{
	size_t n = json_array_size(links);

	for (size_t i = 0; i < n && s->nlinks < TIMELINE_LINKS; i++) {
		const json_t *link = json_array_get(links, i);
		const char *name = string_of(a, json_array_get(link, 0));

		if (name)
			s->link[s->nlinks++] = (struct timeline_link){
				name, json_number_value(json_array_get(link, 1)),
				json_number_value(json_array_get(link, 2))};
	}
}

int timeline_read(struct timeline_step **out, struct arena *a, const char *text)
{
	json_t *steps = json_loads(text, 0, NULL);
	int n = (int)json_array_size(steps);

	*out = n ? arena_alloc(a, (size_t)n, sizeof(**out)) : NULL;
	for (int i = 0; i < n; i++) {
		const json_t *o = json_array_get(steps, (size_t)i);
		const char *op = string_of(a, json_object_get(o, "op"));
		double recv_bytes = number_of(o, "recv_bytes");
		double busiest = number_of(o, "busiest");
		struct timeline_step *s = &(*out)[i];

		*s = (struct timeline_step){
			.op = op ? op : "",
			.algorithm = string_of(a, json_object_get(o, "algorithm")),
			.time_s = number_of(o, "time_s"),
			.launch_s = number_of(o, "launch_s"),
			.local_s = number_of(o, "local_s"),
			.recv_bytes = recv_bytes >= 0 ? (int64_t)recv_bytes : -1,
			.busiest = busiest > 0 ? (int64_t)busiest : 0,
		};
		read_links(s, a, json_object_get(o, "links"));
	}
	json_decref(steps);
	return n;
}
