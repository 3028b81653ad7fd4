#include "clock/simgrid.h"

#include "clock/replay.h"
#include "clock/replays.h"
#include "clock/simgrid_run.h"
#include "cost/hosts.h"
#include "cost/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct simgrid {
	struct platform *platform;
	struct hosts hosts;
	struct replays done;
	struct error refusal; /* the error of loading the platform, if that failed */
};

struct simgrid *simgrid_new(struct platform *p)
{
	struct simgrid *simgrid = xmalloc(1, sizeof(*simgrid));

	*simgrid = (struct simgrid){.platform = p};
	hosts_open(&simgrid->hosts, p->machine);
	return simgrid;
}

void simgrid_free(struct simgrid *simgrid)
{
	if (!simgrid)
		return;
	hosts_close(&simgrid->hosts);
	replays_free(&simgrid->done);
	free(simgrid);
}

enum status simgrid_start(struct simgrid *simgrid, struct error *e)
{
	if (simgrid->refusal.code == OK)
		platform_start(simgrid->platform, &simgrid->refusal);
	*e = simgrid->refusal;
	return e->code;
}

/* Returns whether a round is too large for this clock, and prints the reason. */
static bool is_too_large(struct simgrid *simgrid, const struct schedule *s,
                         const struct round *r, char *message, size_t size)
{
	int64_t n = 0;

	hosts_clear(&simgrid->hosts);
	for (int64_t i = 0; i < r->ntasks; i++) {
		const struct task *t = &s->task[r->first + i];

		hosts_add(&simgrid->hosts, &s->message[t->first], t->nmessages);
		n += t->nmessages;
	}
	if (n * simgrid->hosts.n <= SIMGRID_ROUND_MAX)
		return false;
	snprintf(message, size,
	         "takes rounds of up to %d messages times hosts, but one has %lld "
	         "messages between %d hosts",
	         SIMGRID_ROUND_MAX, (long long)n, (int)simgrid->hosts.n);
	return true;
}

static double fail_replay(char *message, size_t size, const char *why)
{
	snprintf(message, size, "%s", why);
	return CLOCK_FAILED_S;
}

double simgrid_schedules(void *self, double *wire_s, const struct schedule *s, int n,
                         char *message, size_t size)
{
	struct simgrid *simgrid = self;
	struct replay *replay;
	int64_t nmessages = 0;
	struct error e = {0};
	double total_s;

	for (int i = 0; i < n; i++) {
		wire_s[i] = 0;
		nmessages += s[i].nmessages;
		for (int64_t r = 0; r < s[i].nrounds; r++)
			if (is_too_large(simgrid, &s[i], &s[i].round[r], message, size))
				return CLOCK_REFUSED_S;
	}
	if (nmessages == 0)
		return 0;
	if (replays_find(&simgrid->done, &total_s, wire_s, s, n))
		return total_s;
	if (simgrid_start(simgrid, &e) != OK)
		return fail_replay(message, size, e.text);
	replay = replay_new(n);
	if (!replay)
		return fail_replay(message, size, strerror(errno));
	replay_run(replay, simgrid_run_schedules, simgrid->platform, s, n);
	total_s = replay->total_s;
	if (total_s < 0) {
		snprintf(message, size, "%s", replay->message);
	} else {
		memcpy(wire_s, replay->wire_s, (size_t)n * sizeof(*wire_s));
		replays_keep(&simgrid->done, total_s, wire_s, n);
	}
	replay_free(replay, n);
	return total_s;
}

double simgrid_clock(void *self, const struct schedule *s, char *message, size_t size)
{
	double wire_s;

	return simgrid_schedules(self, &wire_s, s, 1, message, size);
}
