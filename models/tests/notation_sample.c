#include "notation_sample.h"

#include <stdlib.h>
#include <string.h>

static void sample_mesh(struct sample *c, struct rng *rng)
{
	static const int32_t sizes[] = {2, 3, 4, 6, 5, 1, 2, 4};
	static const char *const names[] = {"x", "data", "Y.1", "model_2"};
	int naxes = 1 + (int)rng_below(rng, 4);

	c->mesh = (struct mesh){.ndevices = 1};
	for (int i = 0; i < naxes; i++) {
		int32_t size = sizes[rng_below(rng, 8)];

		c->mesh.axis[i] = (struct axis){.name = names[i], .size = size};
		c->mesh.ndevices *= size;
		c->mesh.naxes++;
		if (c->mesh.ndevices > SAMPLE_DEVICES / 6)
			break;
	}
	if (rng_below(rng, 3))
		return;
	for (int32_t i = 0; i < c->mesh.ndevices; i++)
		c->ids[i] = i;
	for (int32_t i = c->mesh.ndevices; i-- > 1;) {
		int32_t j = (int32_t)rng_below(rng, (uint32_t)i + 1), id = c->ids[i];

		c->ids[i] = c->ids[j];
		c->ids[j] = id;
	}
	c->mesh.ids = c->ids;
}

/* Put a part at a random place of a random list, or nowhere. */
static void sample_put(struct sample *c, struct rng *rng, struct part p, bool reduce)
{
	int list = (int)rng_below(rng, (uint32_t)c->shape.rank + 1), at;

	if (list == c->shape.rank) {
		if (!reduce || rng_below(rng, 2))
			return;
		list = SAMPLE_RANK;
	}
	at = (int)rng_below(rng, (uint32_t)c->count[list] + 1);
	memmove(&c->part[list][at + 1], &c->part[list][at],
	        (size_t)(c->count[list] - at) * sizeof(p));
	c->part[list][at] = p;
	c->count[list]++;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	return p->axis != q->axis ? p->axis - q->axis : p->pre - q->pre;
}

/* Neighbours that continue each other are one part; then look for sub-axes. */
static void sample_merge(struct sample *c)
{
	qsort(c->part[SAMPLE_RANK], (size_t)c->count[SAMPLE_RANK], sizeof(struct part),
	      compare_parts);
	for (int list = 0; list <= SAMPLE_RANK; list++) {
		int n = 0;

		for (int k = 0; k < c->count[list]; k++) {
			struct part p = c->part[list][k];
			struct part *last = n ? &c->part[list][n - 1] : NULL;

			if (last && last->axis == p.axis &&
			    last->pre * last->size == p.pre)
				last->size *= p.size;
			else
				c->part[list][n++] = p;
		}
		c->count[list] = n;
		for (int k = 0; k < n; k++)
			if (c->part[list][k].size !=
			    c->mesh.axis[c->part[list][k].axis].size)
				c->sub = &c->part[list][k];
	}
}

/* idx = ((c_1) |a_2| + c_2) |a_3| + ..., c = (c_x / (n / (pre size))) mod size. */
static void sample_index(struct sample *c)
{
	for (int32_t p = 0; p < c->mesh.ndevices; p++) {
		int32_t coordinate[8], rest = p;

		for (int i = c->mesh.naxes - 1; i >= 0; i--) {
			coordinate[i] = rest % c->mesh.axis[i].size;
			rest /= c->mesh.axis[i].size;
		}
		for (int dim = 0; dim < c->shape.rank; dim++) {
			int32_t idx = 0;

			for (int k = 0; k < c->count[dim]; k++) {
				struct part a = c->part[dim][k];
				int32_t n = c->mesh.axis[a.axis].size;

				idx = idx * a.size + coordinate[a.axis] /
				                             (n / (a.pre * a.size)) %
				                             a.size;
			}
			c->index[c->mesh.ids ? c->ids[p] : p][dim] = idx;
		}
	}
}

void sample_make(struct sample *c, struct rng *rng)
{
	bool split = rng_below(rng, 2), reduce = rng_below(rng, 4) == 0;

	memset(c, 0, sizeof(*c));
	sample_mesh(c, rng);
	c->shape.rank = 1 + (int)rng_below(rng, SAMPLE_RANK);
	for (int i = 0; i < c->shape.rank; i++)
		c->shape.dim[i] = 1 + rng_below(rng, 99);
	for (int i = 0; i < c->mesh.naxes; i++) {
		int32_t n = c->mesh.axis[i].size;
		int32_t a = n % 2 == 0 && n > 2 && split ? 2 : n;

		if (n == 6 && rng_below(rng, 2) && split)
			a = 3;
		if (a > 1)
			sample_put(c, rng, (struct part){(int16_t)i, 1, a}, reduce);
		if (a < n)
			sample_put(c, rng, (struct part){(int16_t)i, a, n / a}, reduce);
	}
	sample_merge(c);
	sample_index(c);
}

const char *sample_shardy(struct arena *a, const struct sample *c)
{
	struct text t = {0};

	text_printf(&t, "#sdy.sharding<@m, [");
	for (int list = 0; list <= SAMPLE_RANK; list++) {
		if (list >= c->shape.rank && list < SAMPLE_RANK)
			continue;
		text_printf(&t, "%s{",
		            list == SAMPLE_RANK ? "], unreduced="
		            : list              ? ","
		                                : "");
		for (int k = 0; k < c->count[list]; k++) {
			struct part p = c->part[list][k];

			text_printf(&t, "%s\"%s\"", k ? "," : "",
			            c->mesh.axis[p.axis].name);
			if (p.size != c->mesh.axis[p.axis].size)
				text_printf(&t, ":(%d)%d", p.pre, p.size);
		}
		text_printf(&t, list == SAMPLE_RANK ? "}" : list % 2 ? ", ?}p1" : "}");
	}
	text_printf(&t, ">");
	/* `{, ?}` is `{?}` where there is no axis before it. */
	for (char *at; (at = strstr(t.s, "{, ?}"));)
		memmove(at + 1, at + 3, strlen(at + 3) + 1);
	return text_take(&t, a);
}

const char *sample_jax(struct arena *a, const struct sample *c)
{
	struct text t = {0};

	text_printf(&t, "PartitionSpec(");
	for (int list = 0; list <= SAMPLE_RANK; list++) {
		if (list >= c->shape.rank && list < SAMPLE_RANK)
			continue;
		text_printf(&t, list == SAMPLE_RANK ? "unreduced={" : "(");
		for (int k = 0; k < c->count[list]; k++)
			text_printf(&t, "\"%s\",",
			            c->mesh.axis[c->part[list][k].axis].name);
		text_printf(&t, list == SAMPLE_RANK ? "}" : "),");
	}
	text_printf(&t, ")");
	return text_take(&t, a);
}

/* Which list an axis is in, and its place there; -1 for none. */
static int sample_find(const struct sample *c, int axis, int *place)
{
	for (int list = 0; list <= SAMPLE_RANK; list++)
		for (*place = 0; *place < c->count[list]; ++*place)
			if (c->part[list][*place].axis == axis)
				return list;
	return -1;
}

const char *sample_dtensor(struct arena *a, const struct sample *c)
{
	struct text t = {0};
	int place;

	for (int i = 0; i < c->mesh.naxes; i++) {
		int list = sample_find(c, i, &place);

		if (list < 0 || list == SAMPLE_RANK)
			text_printf(&t, list < 0 ? "R" : "P");
		else
			text_printf(&t, "S(%d)[%d]", list, place);
	}
	return text_take(&t, a);
}

const char *sample_dtensor_lists(struct arena *a, const struct sample *c)
{
	struct text t = {0};
	bool several = false;

	for (int dim = 0; dim < c->shape.rank; dim++) {
		several = several || c->count[dim] > 1;
		if (!c->count[dim])
			continue;
		text_printf(&t, "S(%d)", dim);
		for (int k = 0; k < c->count[dim]; k++)
			text_printf(&t, "%s%d", k ? "," : "[", c->part[dim][k].axis);
		text_printf(&t, "]");
	}
	if (several && !c->count[SAMPLE_RANK])
		return text_take(&t, a);
	text_free(&t);
	return NULL;
}

const char *sample_paper(struct arena *a, const struct sample *c)
{
	struct text t = {0};

	for (int dim = 0; dim < c->shape.rank; dim++) {
		int64_t g = c->shape.dim[dim], shards = 1;

		for (int k = 0; k < c->count[dim]; k++)
			shards *= c->part[dim][k].size;
		text_printf(&t, "%s %lld {", dim ? " ," : "[",
		            (long long)((g + shards - 1) / shards));
		for (int k = c->count[dim]; k-- > 0;)
			text_printf(&t, "%s%s", c->mesh.axis[c->part[dim][k].axis].name,
			            k ? "," : "");
		text_printf(&t, "} %lld", (long long)g);
	}
	text_printf(&t, " ]");
	return text_take(&t, a);
}

/* The ids tile by tile, from the index alone. */
const char *sample_hlo_list(struct arena *a, const struct sample *c)
{
	struct text t = {0};
	int32_t ntiles = 1, shards[SAMPLE_RANK] = {1, 1, 1};

	text_printf(&t, "{devices=[");
	for (int dim = 0; dim < c->shape.rank; dim++) {
		for (int k = 0; k < c->count[dim]; k++)
			shards[dim] *= c->part[dim][k].size;
		text_printf(&t, "%d,", shards[dim]);
		ntiles *= shards[dim];
	}
	text_printf(&t, "%d]", c->mesh.ndevices / ntiles);
	for (int32_t tile = 0; tile < ntiles; tile++)
		for (int32_t d = c->mesh.ndevices; d-- > 0;) {
			int32_t number = 0;

			for (int dim = 0; dim < c->shape.rank; dim++)
				number = number * shards[dim] + c->index[d][dim];
			if (number == tile)
				text_printf(&t, "%d, ", d);
		}
	t.s[t.length - 2] = '\0';
	t.length -= 2;
	text_printf(&t, " last_tile_dim_replicate}");
	return text_take(&t, a);
}

/* <=[m]T(order): axes as the dimensions name them, then the unused. */
const char *sample_hlo_iota(struct arena *a, const struct sample *c)
{
	struct text t = {0}, order = {0};
	int32_t rest = c->mesh.ndevices;
	int place;

	text_printf(&t, "{devices=[");
	for (int dim = 0; dim < c->shape.rank; dim++) {
		int32_t shards = 1;

		for (int k = 0; k < c->count[dim]; k++) {
			shards *= c->part[dim][k].size;
			text_printf(&order, "%d,", c->part[dim][k].axis);
		}
		text_printf(&t, "%d,", shards);
		rest /= shards;
	}
	for (int i = 0; i < c->mesh.naxes; i++)
		if (sample_find(c, i, &place) < 0)
			text_printf(&order, "%d,", i);
	order.s[order.length - 1] = '\0';
	text_printf(&t, "%d]<=[", rest);
	for (int i = 0; i < c->mesh.naxes; i++)
		text_printf(&t, "%s%d", i ? "," : "", c->mesh.axis[i].size);
	text_printf(&t, "]T(%s) last_tile_dim_replicate}", order.s);
	text_free(&order);
	return text_take(&t, a);
}
