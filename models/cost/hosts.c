#include "cost/hosts.h"

#include <stdlib.h>
#include <string.h>

void hosts_open(struct hosts *h, const struct machine *m)
{
	size_t n = (size_t)m->nfabrics * (size_t)m->ndevices;

	*h = (struct hosts){.machine = m};
	h->place = xmalloc(n, sizeof(*h->place));
	memset(h->place, -1, n * sizeof(*h->place));
	h->number = xmalloc(n, sizeof(*h->number));
}

void hosts_close(struct hosts *h)
{
	xfree(h->place);
	xfree(h->number);
}

int32_t host_number(const struct machine *m, int32_t fabric, int32_t device)
{
	int32_t share = m->fabric[fabric].share;

	return fabric * m->ndevices + (share > 1 ? device / share * share : device);
}

void hosts_clear(struct hosts *h)
{
	while (h->n > 0)
		h->place[h->number[--h->n]] = -1;
}

static void host_add(struct hosts *h, int32_t number)
{
	if (h->place[number] >= 0)
		return;
	h->place[number] = h->n;
	h->number[h->n++] = number;
}

void hosts_add(struct hosts *h, const struct message *msg, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		host_add(h, host_number(h->machine, msg[i].fabric, msg[i].src));
		host_add(h, host_number(h->machine, msg[i].fabric, msg[i].dst));
	}
}

bool hosts_are_one_task(struct hosts *h, const struct schedule *s, const struct task *t)
{
	if (t->nmessages <= HOSTS_TASK_MAX / 2)
		return true;
	hosts_clear(h);
	hosts_add(h, &s->message[t->first], t->nmessages);
	return h->n <= HOSTS_TASK_MAX;
}

struct task_times task_times(const struct task *t, double longest_s)
{
	return (struct task_times){t->delay_s + (t->repeats - 1) * longest_s,
	                           t->delay_s + t->repeats * longest_s + t->least_s};
}
