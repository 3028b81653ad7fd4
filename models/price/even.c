#include "price/even.h"

#include "base/keys.h"
#include "collective/nccl_data.h"
#include "collective/profile.h"

#include <math.h>
#include <string.h>

struct even_prices {
	struct arena *arena;
	struct machine machine; /* with nothing forced, as all prices are (price/price.h) */
	int32_t per_node;
	int32_t *kind; /* [links] all are of their own direction's and fabric's */
	struct keys keys;
	LIST(struct nccl_prepared *) prepared; /* by the number of the key */
};

static bool same_links(const struct machine *m, const struct fabric *f, int32_t *kind,
                       int first)
{
	for (int32_t i = 0; i < 2 * m->ndevices; i++) {
		const struct link *a = &m->link[f->port[i % 2]],
				  *b = &m->link[f->port[i]];

		if (a->bandwidth_Bps != b->bandwidth_Bps || a->latency_s != b->latency_s)
			return false;
		kind[f->port[i]] = first + i % 2;
	}
	return true;
}

/* The size of the domains of a fabric, which follow each other; 0: they differ. */
static int32_t domain_size(const struct machine *m, const struct fabric *f)
{
	int32_t size = m->ndevices / (f->ndomains > 0 ? f->ndomains : 1);

	for (int32_t d = 0; d < m->ndevices; d++)
		if (size < 1 || f->domain[d] != d / size)
			return 0;
	return size;
}

static bool is_even(struct even_prices *p)
{
	const struct machine *m = &p->machine;

	p->per_node = 1;
	if (m->nfabrics < 1 || m->nfabrics > 2)
		return false;
	for (int i = 0; i < m->nfabrics; i++) {
		const struct fabric *f = &m->fabric[i];
		int32_t size;

		if (f->geometry != GEOMETRY_SWITCH || f->share != 1 ||
		    !profile_of_fabric(m, i)->library ||
		    !same_links(m, f, p->kind, 2 * i))
			return false;
		size = domain_size(m, f);
		if (!size || (i == m->nfabrics - 1 && size != m->ndevices))
			return false;
		if (!nccl_is_network(m, i))
			p->per_node = size;
	}
	if (nccl_callers[m->launch].core_turn_s > 0) /* groups wait for one another */
		return false;
	for (int32_t d = 1; d < m->ndevices; d++)
		if (m->device[d].memory_Bps != m->device[0].memory_Bps ||
		    m->device[d].launch_s != m->device[0].launch_s)
			return false;
	return true;
}

struct even_prices *even_prices_new(const struct machine *m)
{
	struct even_prices *p = xmalloc(1, sizeof(*p));

	*p = (struct even_prices){.arena = arena_new(), .machine = *m};
	p->keys.arena = p->arena;
	p->machine.forced = (struct forced){0};
	p->machine.tuning.value[TUNING_SCHEDULED] = 0;
	p->kind = arena_alloc(p->arena, (size_t)m->nlinks + 1, sizeof(*p->kind));
	if (!is_even(p)) {
		even_prices_free(p);
		return NULL;
	}
	return p;
}

void even_prices_free(struct even_prices *p)
{
	if (!p)
		return;
	arena_free(p->arena);
	xfree(p);
}

/* --- shapes of groups ------------------------------------------------------------- */

/*
 * The node of each position of the mesh on the devices (NULL: in order), or the tray of a node;
 * on the heap.
 */
static int32_t *nodes_of(const struct even_prices *p, const struct mesh *mesh,
                         const int32_t *device, bool trays)
{
	int32_t *node = xmalloc((size_t)mesh->ndevices, sizeof(*node));
	int32_t size = p->per_node, tray = nccl_data.tray,
		ntrays = (size + tray - 1) / tray;

	for (int32_t i = 0; i < mesh->ndevices; i++) {
		int32_t d = mesh->ids ? mesh->ids[i] : i;

		d = device ? device[d] : d;
		node[i] = trays ? d / size * ntrays + d % size / tray : d / size;
	}
	return node;
}

/* Goes to the next position along the axes whose bits are set; false behind the last one. */
static bool advance(const struct mesh *mesh, unsigned axes, int32_t *at,
                    int32_t *position)
{
	int32_t stride = 1;

	for (int a = mesh->naxes - 1; a >= 0; a--) {
		int32_t size = mesh->axis[a].size;

		if (axes >> a & 1) {
			*position += stride;
			if (++at[a] < size)
				return true;
			*position -= stride * size;
			at[a] = 0;
		}
		stride *= size;
	}
	return false;
}

/* Whether the first group has as many members in each of its nodes. */
static struct even_shape shape_of_first(const struct mesh *mesh, unsigned axes,
                                        const int32_t *node)
{
	struct even_shape out = {0};
	int32_t at[MESH_AXES_MAX] = {0}, position = 0, n = 0, least = 0, most = 0;
	int32_t *count;

	for (int32_t i = 0; i < mesh->ndevices; i++)
		most = node[i] > most ? node[i] : most;
	count = xmalloc((size_t)most + 1, sizeof(*count));
	memset(count, 0, ((size_t)most + 1) * sizeof(*count));
	do {
		count[node[position]]++;
		n++;
	} while (advance(mesh, axes, at, &position));
	for (int32_t i = 0; i <= most; i++) {
		out.nodes += count[i] > 0;
		out.per_node = count[i] > out.per_node ? count[i] : out.per_node;
	}
	for (int32_t i = 0; i <= most; i++)
		least += count[i] > 0 && count[i] != out.per_node;
	xfree(count);
	return least ? (struct even_shape){0} : out;
}

/* Whether the nodes of all groups lie to each other as those of the first group. */
static bool groups_alike(const struct mesh *mesh, unsigned axes, const int32_t *node)
{
	int32_t at[MESH_AXES_MAX] = {0}, position = 0;

	do {
		int32_t other[MESH_AXES_MAX] = {0}, base = 0;

		while (advance(mesh, ~axes, other, &base))
			if (node[position + base] - node[base] !=
			    node[position] - node[0])
				return false;
	} while (advance(mesh, axes, at, &position));
	return true;
}

struct even_shape even_shape_of(const struct even_prices *p, const struct mesh *mesh,
                                const int32_t *device, const struct part *part,
                                int nparts)
{
	int32_t *node = nodes_of(p, mesh, device, false), *tray;
	struct even_shape out = {0};
	unsigned axes = 0;

	for (int i = 0; i < nparts; i++)
		axes |= 1u << part[i].axis;
	if (groups_alike(mesh, axes, node))
		out = shape_of_first(mesh, axes, node);
	xfree(node);
	if (out.nodes != 1 || out.per_node > nccl_data.tray ||
	    !nccl_is_rack(&p->machine))
		return out;
	tray = nodes_of(p, mesh, device, true);
	if (groups_alike(mesh, axes, tray))
		out.apart = shape_of_first(mesh, axes, tray).nodes != 1;
	else
		out = (struct even_shape){0};
	xfree(tray);
	return out;
}

/* --- seconds ---------------------------------------------------------------------- */

/* Prepares a group of that shape, the first members of the first nodes or of the first trays. */
static struct nccl_prepared *prepare(struct even_prices *p, enum op op,
                                     struct even_shape shape)
{
	const struct machine *m = &p->machine;
	int32_t n = shape.nodes * shape.per_node;
	int32_t *ids = arena_alloc(p->arena, (size_t)n, sizeof(*ids));
	const struct groups g = {1, n, ids};

	for (int32_t i = 0; i < n; i++)
		ids[i] = i / shape.per_node * p->per_node +
		         i % shape.per_node * (shape.apart ? nccl_data.tray : 1);
	return nccl_prepare(p->arena, profile_of(m, &g)->library, m, op, ids, n,
	                    p->kind, 2 * m->nfabrics);
}

double even_wires_s(struct even_prices *p, enum op op, struct even_shape shape,
                    double bytes)
{
	const struct {
		enum op op;
		struct even_shape shape;
	} key = {op, shape};
	const char *algorithm, *protocol;
	bool fresh;
	int32_t number = keys_add(&p->keys, &key, sizeof(key), &fresh);

	if (fresh)
		*list_add(&p->prepared, p->arena) = prepare(p, op, shape);
	if (bytes <= 0)
		return 0;
	if (op == OP_ALL_GATHER)
		bytes *= shape.nodes * shape.per_node;
	return nccl_prepared_s(p->prepared.at[number], bytes, &algorithm, &protocol);
}
