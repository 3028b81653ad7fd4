#include "cost/flow_rates.h"
#include "tests/tests.h"

#include "base/rng.h"

#include <check.h>

#include <math.h>
#include <string.h>

enum { FLOWS = 120, LINKS = 25, USES_MAX = 4, CHANGES = 400, NETS = 12 };

/* A net of flows alone; its last link is a member, which rates know nothing of. */
struct random_net {
	struct flow_net net;
	struct fair_task task[FLOWS];
	struct fair_use use[FLOWS * (USES_MAX + 1)];
	double link_Bps[LINKS + 1];
	bool moves[FLOWS];
};

/*
 * Draws routes over random links. Equal links make most shares ties, which rounding parts;
 * flows that stand for several make the shares of links uneven.
 */
static void draw_net(struct random_net *n, struct rng *r, bool equal, bool several)
{
	*n = (struct random_net){
		.net = {.nmessages = FLOWS, .nlinks = LINKS, .nmembers = 1}};
	n->net.fair = (struct fair){.ntasks = FLOWS,
	                            .nlinks = LINKS + 1,
	                            .task = n->task,
	                            .use = n->use,
	                            .link_Bps = n->link_Bps};
	for (int l = 0; l < LINKS; l++)
		n->link_Bps[l] = equal ? 45e9 : 1e9 + 1e9 * rng_below(r, 100);
	for (int i = 0; i < FLOWS; i++) {
		int32_t link = (int32_t)rng_below(r, LINKS);
		uint32_t uses = 1 + rng_below(r, USES_MAX);

		n->task[i].first = n->net.fair.nuses;
		for (uint32_t k = 0; k < uses; k++) {
			n->use[n->net.fair.nuses++] = (struct fair_use){
				link, several ? 1 + (int32_t)rng_below(r, 3) : 1,
				NET_WIRE};
			link = (link + 1 + (int32_t)rng_below(r, 5)) % LINKS;
		}
		n->use[n->net.fair.nuses++] = (struct fair_use){LINKS, 1, NET_SENDS};
		n->task[i].nuses = n->net.fair.nuses - n->task[i].first;
	}
}

/* How much of a link is left, and for how many flows that have no rate yet. */
struct plain_link {
	double left_Bps;
	int32_t open;
};

static void plain_links(struct plain_link *link, const struct random_net *n,
                        const double *rate_Bps)
{
	for (int l = 0; l < LINKS; l++)
		link[l] = (struct plain_link){n->link_Bps[l], 0};
	for (int i = 0; i < FLOWS; i++)
		for (int64_t k = 0; n->moves[i] && k < n->task[i].nuses - 1; k++) {
			const struct fair_use *u = &n->use[n->task[i].first + k];

			if (rate_Bps[i] > 0)
				link[u->link].left_Bps -= u->tasks * rate_Bps[i];
			else
				link[u->link].open += u->tasks;
		}
}

/* Fills one link after another, the one with the least share first, from the beginning. */
static void plain_rates(double *rate_Bps, const struct random_net *n)
{
	struct plain_link link[LINKS];
	int least;

	memset(rate_Bps, 0, FLOWS * sizeof(*rate_Bps));
	for (;;) {
		double share_Bps;

		plain_links(link, n, rate_Bps);
		least = -1;
		for (int l = 0; l < LINKS; l++)
			if (link[l].open &&
			    (least < 0 ||
			     link[l].left_Bps / link[l].open <
			             link[least].left_Bps / link[least].open))
				least = l;
		if (least < 0)
			return;
		share_Bps = link[least].left_Bps / link[least].open;
		for (int i = 0; i < FLOWS; i++)
			for (int64_t k = 0; n->moves[i] && k < n->task[i].nuses - 1; k++)
				if (n->use[n->task[i].first + k].link == least &&
				    !(rate_Bps[i] > 0))
					rate_Bps[i] = share_Bps;
	}
}

/* Lets flows come and go, up to `most` of them before rates are asked for. */
static void change_some(struct random_net *n, struct flow_rates *rates, struct rng *r,
                        uint32_t most)
{
	for (uint32_t k = 1 + rng_below(r, most); k > 0; k--) {
		int32_t i = (int32_t)rng_below(r, FLOWS);

		if (n->moves[i])
			flow_rates_end(rates, i);
		else
			flow_rates_begin(rates, i);
		n->moves[i] = !n->moves[i];
	}
}

/* What is kept from change to change is what is found from the beginning. */
START_TEST(rates_are_kept_up_to_date)
{
	struct rng *r = rng_new((uint64_t)_i + 1);
	struct random_net n;
	struct flow_rates *rates;
	double plain_Bps[FLOWS];
	int32_t nchanged;

	draw_net(&n, r, _i % 2, _i % 3 == 2);
	rates = flow_rates_new(&n.net);
	for (int k = 0; k < CHANGES; k++) {
		change_some(&n, rates, r, k % 20 ? 2 : FLOWS / 2);
		flow_rates_find(&nchanged, rates);
		plain_rates(plain_Bps, &n);
		for (int32_t i = 0; i < FLOWS; i++)
			ck_assert_msg(!n.moves[i] ||
			                      fabs(flow_rate_Bps(rates, i) -
			                           plain_Bps[i]) <= 1e-9 * plain_Bps[i],
			              "change %d, flow %d: %.17g, expected %.17g", k, i,
			              flow_rate_Bps(rates, i), plain_Bps[i]);
	}
	flow_rates_free(rates);
	rng_free(r);
}
END_TEST

/* Two pairs of links that nothing joins: what happens on one is no matter of the other. */
START_TEST(only_what_may_change_is_looked_at)
{
	struct random_net n = {.net = {.nmessages = 5, .nlinks = 4}};
	static const int32_t link[] = {0, 0, 1, 2, 3};
	struct flow_rates *rates;
	const int32_t *changed;
	int32_t nchanged;

	n.net.fair = (struct fair){.ntasks = 5,
	                           .nuses = 7,
	                           .nlinks = 4,
	                           .task = n.task,
	                           .use = n.use,
	                           .link_Bps = n.link_Bps};
	for (int i = 0; i < 5; i++) {
		n.use[i] = (struct fair_use){link[i], 1, NET_WIRE};
		n.task[i] = (struct fair_task){.first = i, .nuses = 1};
	}
	n.task[4] = (struct fair_task){.first = 4, .nuses = 3};
	n.use[4].link = 2;
	n.use[5] = (struct fair_use){3, 1, NET_WIRE};
	n.use[6] = (struct fair_use){0, 1, NET_WIRE};
	n.link_Bps[0] = 6;
	n.link_Bps[1] = n.link_Bps[2] = n.link_Bps[3] = 10;
	rates = flow_rates_new(&n.net);
	for (int i = 0; i < 5; i++)
		flow_rates_begin(rates, i);
	flow_rates_find(&nchanged, rates);
	ck_assert_int_eq(nchanged, 5);
	ck_assert_double_eq(flow_rate_Bps(rates, 4), 2);
	ck_assert_double_eq(flow_rate_Bps(rates, 3), 8);
	/* It had more than those of link 0, which go on as before. */
	flow_rates_end(rates, 3);
	changed = flow_rates_find(&nchanged, rates);
	ck_assert_int_eq(nchanged, 0);
	flow_rates_end(rates, 0);
	changed = flow_rates_find(&nchanged, rates);
	ck_assert_int_eq(nchanged, 2);
	ck_assert_int_eq(changed[0] + changed[1], 1 + 4);
	ck_assert_double_eq(flow_rate_Bps(rates, 1), 3);
	flow_rates_free(rates);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("flow rates");
	TCase *tcase = tcase_create("flow rates");

	tcase_add_loop_test(tcase, rates_are_kept_up_to_date, 0, NETS);
	tcase_add_test(tcase, only_what_may_change_is_looked_at);
	suite_add_tcase(suite, tcase);
	return suite;
}
