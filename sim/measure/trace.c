#include "measure/trace.h"

#include "collective/local.h"
#include "measure/links.h"
#include "plan/plan_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a device does in the round that is drawn; `round` tells whether it is of this one. */
struct share {
	int64_t round;
	double sent_bytes, received_bytes;
	double end_s;        /* after the round begins */
	int32_t peers, peer; /* messages, and the device at the other end of the last */
};

/* The trace under way. */
struct pen {
	struct text *out;
	struct bench *bench;
	const struct timed *of;
	int clock;
	int pid; /* of the devices; + 1: of the links */
	struct arena *arena;
	struct links *links;
	struct model *model;
	int32_t ndevices, *device; /* of the problem, as platform devices */
	struct share *part;        /* [machine.ndevices] */
	int32_t *taking, ntaking;  /* the devices that take part in the round */
	int64_t rounds;            /* drawn so far */
	bool *named;               /* [nlinks]: the link's row has its name */
};

/* A text as JSON, in quotes; the arena's. */
static const char *quoted(const char *s, struct arena *a)
{
	json_t *json = json_text(s);
	char *text = json_dumps(json, JSON_ENCODE_ANY);
	const char *copy = arena_strdup(a, text);

	free(text);
	json_decref(json);
	return copy;
}

/* An event, after a comma unless it is the first; the caller goes on from its name. */
static void event(struct pen *p, const char *kind, int pid, int32_t tid,
                  const char *name)
{
	bool first = p->out->s[p->out->length - 1] == '[';

	text_printf(p->out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":%s",
	            first ? "" : ",", kind, pid, tid + 1, name);
}

/* A slice; the caller goes on with what is in `args` and two closing braces. */
static void slice(struct pen *p, int pid, int32_t tid, const char *name, double from_s,
                  double to_s)
{
	double from_ns = nearbyint(from_s * 1e9), to_ns = nearbyint(to_s * 1e9);

	event(p, "X", pid, tid, name);
	text_printf(p->out, ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{", from_ns / 1e3,
	            (to_ns - from_ns) / 1e3);
}

static void name_row(struct pen *p, int pid, int32_t tid, const char *name)
{
	event(p, "M", pid, tid, "\"thread_name\"");
	text_printf(p->out, ",\"args\":{\"name\":%s}}", name);
	event(p, "M", pid, tid, "\"thread_sort_index\"");
	text_printf(p->out, ",\"args\":{\"sort_index\":%d}}", tid);
}

static void name_group(struct pen *p, int pid, const char *name)
{
	event(p, "M", pid, -1, "\"process_name\"");
	text_printf(p->out, ",\"args\":{\"name\":%s}}", name);
	event(p, "M", pid, -1, "\"process_sort_index\"");
	text_printf(p->out, ",\"args\":{\"sort_index\":%d}}", pid);
}

/* --- rounds ------------------------------------------------------------------------ */

static struct share *share_of(struct pen *p, int32_t device)
{
	struct share *part = &p->part[device];

	if (part->round != p->rounds) {
		*part = (struct share){.round = p->rounds};
		p->taking[p->ntaking++] = device;
	}
	return part;
}

/* What devices do in tasks [first, first + n), and until when at most. */
static void find_shares(struct pen *p, const struct schedule *s, int64_t first,
                        int64_t n, double most_s)
{
	for (int64_t t = first; t < first + n; t++) {
		const struct task *task = &s->task[t];
		struct round alone = {t, 1};
		struct schedule one = *s;
		double own_s;

		one.nrounds = 1;
		one.round = &alone;
		own_s = fmin(model_schedule_s(p->model, &one), most_s);
		for (int64_t i = 0; i < task->nmessages; i++) {
			const struct message *msg = &s->message[task->first + i];
			struct share *src = share_of(p, msg->src);
			struct share *dst = share_of(p, msg->dst);

			src->sent_bytes += msg->bytes;
			src->end_s = fmax(src->end_s, own_s);
			src->peers++;
			src->peer = msg->dst;
			dst->received_bytes += msg->bytes;
			dst->end_s = fmax(dst->end_s, own_s);
			dst->peers++;
			dst->peer = msg->src;
		}
	}
}

static void draw_links(struct pen *p, const struct schedule *s, int64_t first,
                       int64_t n, double from_s, double to_s, const char *name)
{
	const struct machine *m = p->bench->machine;
	const struct link_load *load;
	int32_t used = links_of_tasks(&load, p->links, s, first, n);

	for (int32_t i = 0; i < used; i++) {
		const struct link *link = &m->link[load[i].link];
		double busy_s = load[i].bytes / link->bandwidth_Bps;

		if (!p->named[load[i].link])
			name_row(p, p->pid + 1, load[i].link,
			         quoted(link->name, p->arena));
		p->named[load[i].link] = true;
		slice(p, p->pid + 1, load[i].link, name, from_s,
		      fmin(from_s + busy_s, to_s));
		text_printf(p->out, "\"bytes\":%.17g,\"busy\":%.6g}}", load[i].bytes,
		            to_s > from_s ? busy_s / (to_s - from_s) : 1);
	}
}

/* The tasks as one round of the step `name`. */
static void draw_round(struct pen *p, const struct schedule *s, int64_t first, int64_t n,
                       double from_s, double to_s, const char *name, const char *round)
{
	p->rounds++;
	p->ntaking = 0;
	find_shares(p, s, first, n, to_s - from_s);
	for (int32_t i = 0; i < p->ntaking; i++) {
		const struct share *part = &p->part[p->taking[i]];

		slice(p, p->pid, p->taking[i], round, from_s, from_s + part->end_s);
		text_printf(p->out, "\"sent_bytes\":%.17g,\"received_bytes\":%.17g",
		            part->sent_bytes, part->received_bytes);
		if (part->peers == 1)
			text_printf(p->out, ",\"peer\":%d", part->peer);
		text_printf(p->out, "}}");
	}
	draw_links(p, s, first, n, from_s, to_s, name);
}

/* Are the rounds of a step to be told apart? */
static bool has_rounds(struct pen *p, const struct schedule *s)
{
	const struct link_load *load;
	int32_t used = links_of_tasks(&load, p->links, s, 0, s->ntasks);

	return strcmp(p->bench->clock[p->clock]->name, "flow") != 0 &&
	       s->nrounds * ((int64_t)p->ndevices + used) <= TRACE_EVENTS_MAX;
}

static void draw_wire(struct pen *p, const struct schedule *s, double from_s,
                      double to_s, const char *name)
{
	struct bench *b = p->bench;
	char message[256], label[80];

	if (!has_rounds(p, s)) {
		snprintf(label, sizeof(label), "\"%lld rounds\"", (long long)s->nrounds);
		draw_round(p, s, 0, s->ntasks, from_s, to_s, name, label);
		return;
	}
	for (int64_t r = 0; r < s->nrounds; r++) {
		struct schedule one = *s;
		double time_s, end_s;

		one.nrounds = 1;
		one.round = &s->round[r];
		time_s = b->clock[p->clock]->clock(b->clock_self[p->clock], &one,
		                                   message, sizeof(message));
		end_s = r + 1 < s->nrounds ? fmin(from_s + time_s, to_s) : to_s;
		snprintf(label, sizeof(label), "\"round %lld of %lld\"",
		         (long long)r + 1, (long long)s->nrounds);
		draw_round(p, s, s->round[r].first, s->round[r].ntasks, from_s, end_s,
		           name, label);
		from_s = end_s;
	}
}

/* --- steps ------------------------------------------------------------------------- */

static void draw_step(struct pen *p, int step, double from_s, double to_s)
{
	const struct step_time *t = &p->of->time[p->clock][step];
	const struct steps *steps = &p->of->steps;
	const char *name = quoted(p->of->step[step], p->arena);
	double launched_s = from_s + t->launch_s, sent_s = launched_s + t->wire_s;
	struct lowered lowered;
	struct text why = {0};

	for (int32_t i = 0; i < p->ndevices; i++) {
		slice(p, p->pid, p->device[i], name, from_s, to_s);
		text_printf(p->out, "%s,\"time_s\":%.17g", p->of->more[step], t->time_s);
		if (t->algorithm)
			text_printf(p->out, ",\"algorithm\":%s",
			            quoted(t->algorithm, p->arena));
		text_printf(p->out, "}}");
		if (t->launch_s > 0) {
			slice(p, p->pid, p->device[i], "\"launch\"", from_s, launched_s);
			text_printf(p->out, "}}");
		}
	}
	if (steps->lower(steps->self, &lowered, p->arena, step, &why))
		draw_wire(p, &lowered.schedule, launched_s, fmin(sent_s, to_s), name);
	for (int32_t i = 0; i < p->ndevices && t->local_s > 0; i++) {
		slice(p, p->pid, p->device[i], "\"local\"", sent_s, to_s);
		text_printf(p->out, "}}");
	}
	text_free(&why);
	arena_reset(p->arena);
}

static void draw(struct pen *p, const struct timed *t)
{
	const struct clock_kind *kind = p->bench->clock[p->clock];
	double from_s = 0;

	p->of = t;
	for (int32_t l = 0; l < p->bench->machine->nlinks; l++)
		p->named[l] = false;
	name_group(
		p, p->pid,
		quoted(arena_printf(p->arena, "%s by %s: devices", t->name, kind->name),
	               p->arena));
	name_group(p, p->pid + 1,
	           quoted(arena_printf(p->arena, "%s by %s: links", t->name, kind->name),
	                  p->arena));
	for (int32_t i = 0; i < p->ndevices; i++)
		name_row(p, p->pid, p->device[i],
		         arena_printf(p->arena, "\"device %d\"", p->device[i]));
	arena_reset(p->arena);
	for (int i = 0; i < t->steps.n; i++) {
		double to_s = from_s + t->time[p->clock][i].time_s;

		draw_step(p, i, from_s, to_s);
		from_s = to_s;
	}
}

void trace_print(struct text *out, struct bench *b, const struct placement *devices,
                 const struct timed *t, int n)
{
	const struct machine *machine = b->machine;
	size_t ndevices = (size_t)machine->ndevices, links = (size_t)machine->nlinks + 1;
	struct arena *a = arena_new();
	struct pen pen = {.out = out, .bench = b, .arena = arena_new(), .pid = 1};

	pen.ndevices = devices->n;
	pen.device = arena_alloc(a, (size_t)devices->n, sizeof(*pen.device));
	for (int32_t d = 0; d < devices->n; d++)
		pen.device[d] = devices->platform ? devices->platform[d] : d;
	pen.part = arena_alloc(a, ndevices, sizeof(*pen.part));
	pen.taking = arena_alloc(a, ndevices, sizeof(*pen.taking));
	pen.named = arena_alloc(a, links, sizeof(*pen.named));
	pen.links = links_new(machine);
	pen.model = model_new(machine);
	text_printf(out,
	            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"platform\":%s},"
	            "\"traceEvents\":[",
	            quoted(machine->name, a));
	for (int i = 0; i < n; i++)
		for (pen.clock = 0; pen.clock < b->nclocks; pen.clock++, pen.pid += 2)
			if (t[i].time[pen.clock])
				draw(&pen, &t[i]);
	text_printf(out, "\n]}\n");
	links_free(pen.links);
	model_free(pen.model);
	arena_free(pen.arena);
	arena_free(a);
}
