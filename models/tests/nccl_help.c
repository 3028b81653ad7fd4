#include "nccl_help.h"

#include <check.h>

#include <math.h>

const double STEP = 0.8, NET_STEP = 1.3, FILL_S = 3e-6, NET_FILL_S = 11e-6,
	     SEND_S = 0.6e-6, NET_SEND_S = 2.1e-6, SHARE = 0.75, CHANNEL_BPS = 21e9;
const double CALL_S = 6e-6;

double far_s(int32_t peers)
{
	return CALL_S + fmax(1, peers / 8.) * (1.8e-6 + 11.3e-6 * NET_STEP);
}

const int cube_mesh[64] = {0, 2, 1, 1, 2, 0, 0, 0, 2, 0, 1, 2, 0, 1, 0, 0,
                           1, 1, 0, 2, 0, 0, 2, 0, 1, 2, 2, 0, 0, 0, 0, 1,
                           2, 0, 0, 0, 0, 2, 1, 1, 0, 1, 0, 0, 2, 0, 1, 2,
                           0, 0, 2, 0, 1, 1, 0, 2, 0, 0, 0, 1, 1, 2, 2, 0};

struct machine *tuned(int32_t nodes, int32_t gpus, int cc)
{
	struct machine *m = cluster(nodes, gpus);

	for (int f = 0; f < m->nfabrics; f++)
		m->fabric[f].profile = "nccl";
	m->tuning.value[TUNING_CC] = cc;
	m->tuning.value[TUNING_STEP] = STEP;
	m->tuning.value[TUNING_NET_STEP] = NET_STEP;
	m->tuning.value[TUNING_FILL_S] = FILL_S;
	m->tuning.value[TUNING_NET_FILL_S] = NET_FILL_S;
	m->tuning.value[TUNING_SEND_S] = SEND_S;
	m->tuning.value[TUNING_NET_SEND_S] = NET_SEND_S;
	m->tuning.value[TUNING_NET_SEND_SHARE] = SHARE;
	m->tuning.value[TUNING_CHANNEL_BPS] = CHANNEL_BPS;
	m->tuning.value[TUNING_NET_CHUNK_BYTES] = 512 * 1024;
	return m;
}

/* The link from i to k in node b is number first + (b * gpus + i) * gpus + k. */
struct mesh_links {
	int32_t first, gpus;
	const int *cables;
};

/* Over one cable, or over the first GPU that has one to both. */
static int mesh_route(const struct machine *m, int f, int32_t src, int32_t dst,
                      int32_t *links, int capacity)
{
	const struct mesh_links *w = m->ask_state;
	int32_t n = w->gpus, i = src % n, k = dst % n;
	int32_t base = w->first + src / n * n * n;

	ck_assert_int_eq(f, 0);
	if (w->cables[i * n + k]) {
		if (capacity < 1)
			return -1;
		links[0] = base + i * n + k;
		return 1;
	}
	for (int32_t via = 0; via < n; via++)
		if (w->cables[i * n + via] && w->cables[via * n + k]) {
			if (capacity < 2)
				return -1;
			links[0] = base + i * n + via;
			links[1] = base + via * n + k;
			return 2;
		}
	return -1;
}

struct machine *meshed(int32_t nodes, int32_t gpus, const int *cables)
{
	struct machine *m = tuned(nodes, gpus, 70);
	struct mesh_links *w = arena_alloc(arena, 1, sizeof(*w));
	int32_t more = nodes * gpus * gpus;
	struct link *all = arena_alloc(arena, (size_t)(m->nlinks + more), sizeof(*all));

	for (int32_t l = 0; l < m->nlinks; l++)
		all[l] = m->link[l];
	for (int32_t l = 0; l < more; l++) {
		int n = cables[l % (gpus * gpus)];

		all[m->nlinks + l] = nvlink;
		all[m->nlinks + l].bandwidth_Bps *= n ? n : 1;
	}
	*w = (struct mesh_links){m->nlinks, gpus, cables};
	m->link = all;
	m->nlinks += more;
	m->fabric[0].geometry = GEOMETRY_GRAPH;
	m->ask = mesh_route;
	m->ask_state = w;
	model_free(model);
	model = model_new(m);
	return m;
}

struct groups everybody(const struct machine *m)
{
	int32_t *ids = arena_alloc(arena, (size_t)m->ndevices, sizeof(*ids));

	for (int32_t d = 0; d < m->ndevices; d++)
		ids[d] = d;
	return (struct groups){.ngroups = 1, .size = m->ndevices, .ids = ids};
}

struct lowered lowered_all(const struct machine *m, enum op op, double bytes)
{
	struct text why = {0};
	struct lowered l;
	bool done;

	if (op == OP_ALL_GATHER)
		bytes /= m->ndevices;
	done = lower_collective(&l, arena, m, op, everybody(m), bytes, &why);
	ck_assert_msg(done, "%s", why.s);
	text_free(&why);
	return l;
}

double seconds_of(const struct machine *m, const struct lowered *l)
{
	struct model *w = model_new(m);
	double s = model_schedule_s(w, &l->schedule);

	model_free(w);
	ck_assert(s >= 0);
	return l->launch_s + s;
}
