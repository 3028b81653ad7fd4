#include "measure/trace.h"

#include "collective/local.h"
#include "measure/links.h"
#include "text/events.h"

#include <math.h>
#include <string.h>

/*
 * What a device does in round number `round`, which may be one before the round drawn.
 */
struct share {
	int64_t round;
	double sent_bytes, received_bytes;
	double end_s;  /* seconds after the round begins */
	int32_t peers; /* how many messages it sends and receives */
	int32_t peer;  /* the device at the other end of the last message */
};

/* A trace that is being drawn. */
struct drawing {
	struct text *out;
	struct bench *bench;
	const struct timed *of;
	int clock;
	int pid; /* the process of the devices; that of the links is pid + 1 */
	struct arena *arena;
	struct links *links;
	struct model *model;
	int32_t ndevices, *device; /* the problem's devices, as platform devices */
	struct share *part;        /* [machine.ndevices] */
	int32_t *taking, ntaking;  /* the devices that take part in the round */
	int64_t rounds;            /* how many rounds were drawn so far */
	bool *named;               /* [nlinks]: the link's row has its name */
};

/* --- rounds ------------------------------------------------------------------------ */

/* Returns the device's share of the round, which is empty at first. */
static struct share *share_of(struct drawing *d, int32_t device)
{
	struct share *part = &d->part[device];

	if (part->round != d->rounds) {
		*part = (struct share){.round = d->rounds};
		d->taking[d->ntaking++] = device;
	}
	return part;
}

/* Finds what devices do in tasks [first, first + n), which end after most_s at most. */
static void find_shares(struct drawing *d, const struct schedule *s, int64_t first,
                        int64_t n, double most_s)
{
	for (int64_t t = first; t < first + n; t++) {
		const struct task *task = &s->task[t];
		struct round alone = {t, 1};
		struct schedule one = *s;
		double own_s;

		one.nrounds = 1;
		one.round = &alone;
		own_s = fmin(model_schedule_s(d->model, &one), most_s);
		for (int64_t i = 0; i < task->nmessages; i++) {
			const struct message *msg = &s->message[task->first + i];
			struct share *src = share_of(d, msg->src);
			struct share *dst = share_of(d, msg->dst);

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

/* Draws how long each link is busy with tasks [first, first + n). */
static void draw_links(struct drawing *d, const struct schedule *s, int64_t first,
                       int64_t n, double from_s, double to_s, const char *name)
{
	const struct machine *m = d->bench->machine;
	const struct link_load *load;
	int32_t used = links_of_tasks(&load, d->links, s, first, n);

	for (int32_t i = 0; i < used; i++) {
		const struct link *link = &m->link[load[i].link];
		double busy_s = load[i].bytes / link->bandwidth_Bps;

		if (!d->named[load[i].link])
			events_row(d->out, d->pid + 1, load[i].link,
			           events_quoted(link->name, d->arena));
		d->named[load[i].link] = true;
		events_slice(d->out, d->pid + 1, load[i].link, name, from_s,
		             fmin(from_s + busy_s, to_s));
		text_printf(d->out, "\"bytes\":%.17g,\"busy\":%.6g}}", load[i].bytes,
		            to_s > from_s ? busy_s / (to_s - from_s) : 1);
	}
}

/* Draws tasks [first, first + n) as one round of the step `name`. */
static void draw_round(struct drawing *d, const struct schedule *s, int64_t first,
                       int64_t n, double from_s, double to_s, const char *name,
                       const char *round)
{
	d->rounds++;
	d->ntaking = 0;
	find_shares(d, s, first, n, to_s - from_s);
	for (int32_t i = 0; i < d->ntaking; i++) {
		const struct share *part = &d->part[d->taking[i]];

		events_slice(d->out, d->pid, d->taking[i], round, from_s,
		             from_s + part->end_s);
		text_printf(d->out, "\"sent_bytes\":%.17g,\"received_bytes\":%.17g",
		            part->sent_bytes, part->received_bytes);
		if (part->peers == 1)
			text_printf(d->out, ",\"peer\":%d", part->peer);
		text_printf(d->out, "}}");
	}
	draw_links(d, s, first, n, from_s, to_s, name);
}

static bool overlaps(const struct bench *b, int clock)
{
	return strcmp(b->clock[clock]->name, "flow") == 0;
}

/* Returns whether steps overlap in what was timed by that clock. */
static bool is_flat(const struct bench *b, int clock, const struct timed *t)
{
	return overlaps(b, clock) && t->time[clock] && t->steps.n > 1;
}

bool trace_hides_overlap(const struct bench *b, const struct timed *t, int n)
{
	for (int i = 0; i < n; i++)
		for (int clock = 0; clock < b->nclocks; clock++)
			if (is_flat(b, clock, &t[i]))
				return true;
	return false;
}

/* Returns whether the rounds of a step are drawn one by one. */
static bool has_rounds(struct drawing *d, const struct schedule *s)
{
	const struct link_load *load;
	int32_t used = links_of_tasks(&load, d->links, s, 0, s->ntasks);

	return !overlaps(d->bench, d->clock) &&
	       s->nrounds * ((int64_t)d->ndevices + used) <= TRACE_EVENTS_MAX;
}

/* Draws what a step sends, round by round where that can be told. */
static void draw_wire(struct drawing *d, const struct schedule *s, double from_s,
                      double to_s, const char *name)
{
	struct bench *b = d->bench;
	char message[256], label[80];

	if (!has_rounds(d, s)) {
		snprintf(label, sizeof(label), "\"%lld rounds\"", (long long)s->nrounds);
		draw_round(d, s, 0, s->ntasks, from_s, to_s, name, label);
		return;
	}
	for (int64_t r = 0; r < s->nrounds; r++) {
		struct schedule one = *s;
		double time_s, end_s;

		one.nrounds = 1;
		one.round = &s->round[r];
		time_s = b->clock[d->clock]->clock(b->clock_self[d->clock], &one,
		                                   message, sizeof(message));
		end_s = r + 1 < s->nrounds ? fmin(from_s + time_s, to_s) : to_s;
		snprintf(label, sizeof(label), "\"round %lld of %lld\"",
		         (long long)r + 1, (long long)s->nrounds);
		draw_round(d, s, s->round[r].first, s->round[r].ntasks, from_s, end_s,
		           name, label);
		from_s = end_s;
	}
}

/* --- steps ------------------------------------------------------------------------- */

static void draw_step(struct drawing *d, int step, double from_s, double to_s)
{
	const struct step_time *t = &d->of->time[d->clock][step];
	const struct steps *steps = &d->of->steps;
	const char *name = events_quoted(d->of->step[step], d->arena);
	double launched_s = from_s + t->launch_s, sent_s = launched_s + t->wire_s;
	struct lowered lowered;
	struct text why = {0};

	for (int32_t i = 0; i < d->ndevices; i++) {
		events_slice(d->out, d->pid, d->device[i], name, from_s, to_s);
		text_printf(d->out, "%s,\"time_s\":%.17g", d->of->more[step], t->time_s);
		if (t->algorithm)
			text_printf(d->out, ",\"algorithm\":%s",
			            events_quoted(t->algorithm, d->arena));
		text_printf(d->out, "}}");
		if (t->launch_s > 0) {
			events_slice(d->out, d->pid, d->device[i], "\"launch\"", from_s,
			             launched_s);
			text_printf(d->out, "}}");
		}
	}
	if (steps->lower(steps->self, &lowered, d->arena, step, &why))
		draw_wire(d, &lowered.schedule, launched_s, fmin(sent_s, to_s), name);
	for (int32_t i = 0; i < d->ndevices && t->local_s > 0; i++) {
		events_slice(d->out, d->pid, d->device[i], "\"local\"", sent_s, to_s);
		text_printf(d->out, "}}");
	}
	text_free(&why);
	arena_reset(d->arena);
}

/* Draws the rows of one plan or program by the clock at hand. */
static void draw_timed(struct drawing *d, const struct timed *t)
{
	const char *clock = d->bench->clock[d->clock]->name;
	const char *how = is_flat(d->bench, d->clock, t) ? ", without overlap" : "";
	double from_s = 0;

	d->of = t;
	for (int32_t l = 0; l < d->bench->machine->nlinks; l++)
		d->named[l] = false;
	events_group(d->out, d->pid,
	             events_quoted(arena_printf(d->arena, "%s by %s%s: devices",
	                                        t->name, clock, how),
	                           d->arena));
	events_group(d->out, d->pid + 1,
	             events_quoted(arena_printf(d->arena, "%s by %s%s: links", t->name,
	                                        clock, how),
	                           d->arena));
	for (int32_t i = 0; i < d->ndevices; i++)
		events_row(d->out, d->pid, d->device[i],
		           arena_printf(d->arena, "\"device %d\"", d->device[i]));
	arena_reset(d->arena);
	for (int i = 0; i < t->steps.n; i++) {
		double to_s = from_s + t->time[d->clock][i].time_s;

		draw_step(d, i, from_s, to_s);
		from_s = to_s;
	}
}

void trace_print(struct text *out, struct bench *b, const struct placement *devices,
                 const struct timed *t, int n)
{
	const struct machine *machine = b->machine;
	size_t ndevices = (size_t)machine->ndevices, links = (size_t)machine->nlinks + 1;
	struct arena *a = arena_new();
	struct drawing drawing = {.out = out, .bench = b, .arena = arena_new(), .pid = 1};

	drawing.ndevices = devices->n;
	drawing.device = arena_alloc(a, (size_t)devices->n, sizeof(*drawing.device));
	for (int32_t d = 0; d < devices->n; d++)
		drawing.device[d] = devices->platform ? devices->platform[d] : d;
	drawing.part = arena_alloc(a, ndevices, sizeof(*drawing.part));
	drawing.taking = arena_alloc(a, ndevices, sizeof(*drawing.taking));
	drawing.named = arena_alloc(a, links, sizeof(*drawing.named));
	drawing.links = links_new(machine);
	drawing.model = model_new(machine);
	events_start(out, machine->name);
	for (int i = 0; i < n; i++)
		for (drawing.clock = 0; drawing.clock < b->nclocks;
		     drawing.clock++, drawing.pid += 2)
			if (t[i].time[drawing.clock])
				draw_timed(&drawing, &t[i]);
	events_end(out);
	links_free(drawing.links);
	model_free(drawing.model);
	arena_free(drawing.arena);
	arena_free(a);
}
