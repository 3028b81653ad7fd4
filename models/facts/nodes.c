/* Nodes of GPUs: what joins those of one node, and the nodes. */
#include "facts/kind.h"
#include "facts/overlay.h"

#include <string.h>

enum {
	CABLED_GPUS_MAX = 64,
	LINKS_OF_PAIR_MAX = 1024,
	NODE_GPUS_MAX = 1024,
	NODE_NICS_MAX = 1024
};

static const char *const nets[NETS] = {
	[NET_SWITCH] = "switch",
	[NET_RAILS] = "rails",
	[NET_FAT_TREE] = "fat-tree",
	[NET_DRAGONFLY] = "dragonfly",
};

static enum status net_read(struct family *f, const char *text, struct where at,
                            struct error *e)
{
	for (int n = 0; n < NETS; n++)
		if (!strcmp(text, nets[n])) {
			f->net = n;
			return OK;
		}
	return error_set(
		e, E_SYNTAX, at,
		"unknown net '%s', expected switch, rails, fat-tree or dragonfly", text);
}

static enum status gpus_read(struct family *f, const char *text, struct where at,
                             struct error *e)
{
	struct scan s = scan_start(text, at, e);
	int64_t n;

	if (!scan_int(&s, "GPUs of a node", 1, NODE_GPUS_MAX, &n) ||
	    scan_finish(&s) != OK)
		return e->code;
	f->gpus = (int32_t)n;
	if (!f->own_nics)
		f->nics = f->gpus;
	return OK;
}

static enum status nics_check(const struct family *f, struct where at, struct error *e)
{
	if (f->nics % f->gpus && f->gpus % f->nics)
		return error_set(e, E_RANGE, at,
		                 "%d NICs and %d GPUs: one must divide the other",
		                 (int)f->nics, (int)f->gpus);
	return OK;
}

static enum status nics_read(struct family *f, const char *text, struct where at,
                             struct error *e)
{
	struct scan s = scan_start(text, at, e);
	int64_t n;

	if (!scan_int(&s, "NICs of a node", 1, NODE_NICS_MAX, &n) ||
	    scan_finish(&s) != OK)
		return e->code;
	f->nics = (int32_t)n;
	f->own_nics = true;
	return nics_check(f, at, e);
}

/* Reads "xN" if it is there, else stores 1. */
static bool multiplicity(struct scan *s, int32_t *out)
{
	int64_t n = 1;

	if (scan_take(s, "x") &&
	    !scan_int(s, "a number of links", 1, LINKS_OF_PAIR_MAX, &n))
		return false;
	*out = (int32_t)n;
	return true;
}

/* Reads one "a-bxN" of the list. */
static enum status cable_read(struct cable *out, const struct family *f, struct scan *s)
{
	const char *start;
	int64_t a, b;

	scan_peek(s);
	start = s->pos;
	if (!scan_int(s, "a GPU", 0, f->gpus - 1, &a) || !scan_expect(s, "-") ||
	    !scan_int(s, "a GPU", 0, f->gpus - 1, &b) || !multiplicity(s, &out->n))
		return s->error->code;
	if (a == b)
		return scan_fail_at(s, start, E_TYPE, "a link of a GPU to itself");
	out->a = (int32_t)(a < b ? a : b);
	out->b = (int32_t)(a < b ? b : a);
	for (int i = 0; i < f->ncables; i++)
		if (f->cable[i].a == out->a && f->cable[i].b == out->b)
			return scan_fail_at(s, start, E_TYPE,
			                    "the links of %d and %d are there twice",
			                    (int)out->a, (int)out->b);
	return OK;
}

/* Returns whether every GPU reaches every other. */
bool cables_join(const struct family *f)
{
	uint64_t reached = 1, before = 0;

	while (reached != before) {
		before = reached;
		for (int i = 0; i < f->ncables; i++) {
			uint64_t ends = UINT64_C(1) << f->cable[i].a |
			                UINT64_C(1) << f->cable[i].b;

			if (reached & ends)
				reached |= ends;
		}
	}
	return reached == UINT64_MAX >> (64 - f->gpus);
}

/*
 * Checks PCIe, which ends a list; its switches take two GPUs each, its halves as many
 * switches.
 */
static enum status pcie_check(const struct family *f, struct scan *s, struct where at)
{
	if (scan_finish(s) != OK)
		return s->error->code;
	if (f->gpus % 4)
		return error_set(s->error, E_RANGE, at,
		                 "PCIe joins two halves of pairs of GPUs, and %d GPUs "
		                 "are no multiple of 4",
		                 (int)f->gpus);
	return OK;
}

/*
 * Reads "switch", "none", "pairs", "pairs x4" or a list "0-1x2 0-2", "0-1 1-2 pcie", "pcie".
 */
static enum status inside_read(struct family *f, struct arena *a, const char *text,
                               struct where at, struct error *e)
{
	struct scan s = scan_start(text, at, e);
	struct cable *cable;
	int32_t n;

	f->ncables = 0;
	f->pcie = false;
	f->inside = text;
	f->apart = scan_word(&s, "none");
	if (f->apart || scan_word(&s, "switch"))
		return scan_finish(&s);
	if (f->gpus > CABLED_GPUS_MAX)
		return error_set(e, E_RANGE, at, "links between more than %d GPUs",
		                 CABLED_GPUS_MAX);
	cable = arena_alloc(a, (size_t)f->gpus * (size_t)f->gpus, sizeof(*cable));
	f->cable = cable;
	if (scan_word(&s, "pairs")) {
		if (!multiplicity(&s, &n))
			return e->code;
		for (int32_t i = 0; i < f->gpus; i++)
			for (int32_t j = i + 1; j < f->gpus; j++)
				cable[f->ncables++] = (struct cable){i, j, n};
		return scan_finish(&s);
	}
	while (!scan_done(&s)) {
		f->pcie = scan_word(&s, "pcie");
		if (f->pcie)
			return pcie_check(f, &s, at);
		if (cable_read(&cable[f->ncables], f, &s) != OK)
			return e->code;
		f->ncables++;
	}
	if (!cables_join(f))
		return error_set(e, E_TYPE, at,
		                 "the links do not join all %d GPUs; expected switch, "
		                 "pcie, none, pairs, pairs xN, or a list such as 0-1x2 "
		                 "0-2",
		                 (int)f->gpus);
	return OK;
}

/* The structure a setting may change, in the order of `settings`. */
enum setting { SET_GPUS, SET_INSIDE, SET_NICS, SET_NET };
static const char *const settings[] = {"gpus", "inside", "nics", "net", NULL};
static const char *const keys[] = {"gpus", "fabric", "inside", "nics", "net", NULL};

static enum status nodes_set(struct family *f, struct arena *a, int key,
                             const char *value, struct where at, struct error *e)
{
	switch ((enum setting)key) {
	case SET_GPUS:
		return gpus_read(f, value, at, e);
	case SET_INSIDE:
		return inside_read(f, a, value, at, e);
	case SET_NICS:
		return nics_read(f, value, at, e);
	case SET_NET:
		break;
	}
	return net_read(f, value, at, e);
}

static enum status nodes_read(struct reader *r, yaml_node_t *map, struct family *f)
{
	struct where at;
	const char *text;

	f->naxes = 1;
	f->fabric = "nvlink";
	if (!map_get(r, map, "gpus"))
		return r->error->code;
	if (map_find(r, map, "fabric")) {
		f->fabric = map_text(r, map, "fabric", &at);
		if (f->fabric && strcmp(f->fabric, "nvlink") != 0 &&
		    strcmp(f->fabric, "xgmi") != 0 && strcmp(f->fabric, "link") != 0)
			error_set(r->error, E_SYNTAX, at,
			          "unknown fabric '%s', expected nvlink, xgmi or link",
			          f->fabric);
	}
	for (int k = 0; settings[k] && r->error->code == OK; k++)
		if (map_find(r, map, settings[k]) &&
		    (text = map_text(r, map, settings[k], &at)))
			nodes_set(f, r->arena, k, text, at, r->error);
	return r->error->code;
}

static enum status nodes_shape(struct family_machine *m, struct scan *s,
                               const char *text)
{
	const struct family *f = &m->family;
	int64_t n;

	s->pos = text;
	m->shape[0] = 1;
	if (strchr(text, 'x') && !text[strspn(text, "0123456789x")])
		return scan_fail_at(s, text, E_RANGE,
		                    "a shape of %s is a number of nodes, such as %s:4",
		                    f->name, f->name);
	if (!scan_int(s, "the number of nodes", 1, f->largest[0], &n) ||
	    scan_finish(s) != OK)
		return s->error->code;
	m->shape[0] = (int32_t)n;
	return shape_bounds(m, f->gpus, s, text);
}

/* Makes the inside and the NICs anew where a setting changed the number of GPUs. */
static enum status nodes_settle(struct family_machine *m, struct arena *a,
                                struct where at, struct error *e)
{
	struct family *f = &m->family;
	int64_t n = (int64_t)m->shape[0] * f->gpus;

	if (n > INT32_MAX / (2 * TORUS_AXES_MAX))
		return error_set(e, E_RANGE, at, "too many devices");
	m->ndevices = (int32_t)n;
	if (nics_check(f, at, e) != OK ||
	    (f->inside && inside_read(f, a, f->inside, at, e) != OK))
		return e->code;
	if (f->apart && f->nics < f->gpus)
		return error_set(
			e, E_TYPE, at,
			"inside=none: %d GPUs share %d NIC%s and nothing joins them, "
			"expected a NIC for each",
			(int)f->gpus, (int)f->nics, f->nics > 1 ? "s" : "");
	return OK;
}

static void nodes_describe(struct text *what, struct text *shapes,
                           const struct family *f)
{
	text_printf(what, "nodes of %d %sGPU%s", (int)f->gpus,
	            f->ncables ? "linked " : "", f->gpus > 1 ? "s" : "");
	if (f->nics != f->gpus)
		text_printf(what, ", %d NIC%s", (int)f->nics, f->nics > 1 ? "s" : "");
	if (f->net != NET_SWITCH)
		text_printf(what, ", %s", nets[f->net]);
	text_printf(shapes, "up to %d nodes", (int)f->largest[0]);
}

const struct kind kind_nodes = {
	.name = "nodes",
	.keys = keys,
	.read = nodes_read,
	.settings = settings,
	.set = nodes_set,
	.shape = nodes_shape,
	.settle = nodes_settle,
	.describe = nodes_describe,
};
