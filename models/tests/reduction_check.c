#include "reduction_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Chunk r of device d is value[d * k + r], if held[d * k + r]. */
struct memory {
	int32_t ndevices, k;
	uint64_t *value;   /* [ndevices * k] */
	bool *held, *mine; /* [ndevices * k], [ndevices] */
	struct text *why;
};

struct checker {
	int32_t ndevices, k;
	size_t n; /* chunks on all devices */
	/* [steps + 1] times n: at the start, after the first step, ... */
	uint64_t *value;
	bool *held;
	uint64_t *wanted; /* [n]: the sums */
	bool *mine;       /* [ndevices] */
};

/* 64 well mixed bits (splitmix64, Steele, Lea and Flood 2014). */
static uint64_t chunk_number(uint64_t x)
{
	x = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t *values_of(const struct memory *mem, int32_t d)
{
	return mem->value + (int64_t)d * mem->k;
}

static bool *held_by(const struct memory *mem, int32_t d)
{
	return mem->held + (int64_t)d * mem->k;
}

static int32_t chunks_of(const struct memory *mem, int32_t d)
{
	int32_t n = 0;

	for (int32_t r = 0; r < mem->k; r++)
		n += held_by(mem, d)[r];
	return n;
}

static void drop_chunks(struct memory *mem, int32_t d)
{
	memset(held_by(mem, d), 0, (size_t)mem->k);
	memset(values_of(mem, d), 0, (size_t)mem->k * sizeof(*mem->value));
}

static void copy_chunks(struct memory *mem, int32_t to, int32_t from)
{
	memcpy(held_by(mem, to), held_by(mem, from), (size_t)mem->k);
	memcpy(values_of(mem, to), values_of(mem, from),
	       (size_t)mem->k * sizeof(*mem->value));
}

/* Add up the chunks of all members, who must hold the same, in the first one. */
static bool add_members(struct memory *mem, const int32_t *ids, int32_t n)
{
	uint64_t *sum = values_of(mem, ids[0]);

	for (int32_t i = 1; i < n; i++) {
		if (memcmp(held_by(mem, ids[0]), held_by(mem, ids[i]),
		           (size_t)mem->k) != 0) {
			text_printf(mem->why, "devices %d and %d add different chunks",
			            (int)ids[0], (int)ids[i]);
			return false;
		}
		for (int32_t r = 0; r < mem->k; r++)
			sum[r] += values_of(mem, ids[i])[r];
	}
	return true;
}

/* Put the chunks of all members, equally many of each, together in the first one. */
static bool gather_members(struct memory *mem, const int32_t *ids, int32_t n)
{
	int32_t chunks = chunks_of(mem, ids[0]);

	for (int32_t i = 1; i < n; i++) {
		if (chunks_of(mem, ids[i]) != chunks) {
			text_printf(mem->why,
			            "devices %d and %d gather %d and %d chunks",
			            (int)ids[0], (int)ids[i], (int)chunks,
			            (int)chunks_of(mem, ids[i]));
			return false;
		}
		for (int32_t r = 0; r < mem->k; r++) {
			if (!held_by(mem, ids[i])[r])
				continue;
			if (held_by(mem, ids[0])[r]) {
				text_printf(mem->why, "chunk %d is gathered twice",
				            (int)r);
				return false;
			}
			held_by(mem, ids[0])[r] = true;
			values_of(mem, ids[0])[r] = values_of(mem, ids[i])[r];
		}
	}
	return true;
}

/* Leave each member its block of the chunks of the first one. */
static bool hand_out(struct memory *mem, const int32_t *ids, int32_t n)
{
	int32_t chunks = chunks_of(mem, ids[0]), at = 0;

	if (chunks % n) {
		text_printf(mem->why, "%d chunks for %d devices", (int)chunks, (int)n);
		return false;
	}
	for (int32_t i = 1; i < n; i++)
		copy_chunks(mem, ids[i], ids[0]);
	for (int32_t r = 0; r < mem->k; r++) {
		int32_t owner;

		if (!held_by(mem, ids[0])[r])
			continue;
		owner = at++ / (chunks / n);
		for (int32_t i = 0; i < n; i++)
			if (i != owner) {
				held_by(mem, ids[i])[r] = false;
				values_of(mem, ids[i])[r] = 0;
			}
	}
	return true;
}

static bool group_run(struct memory *mem, enum op op, const int32_t *ids, int32_t n)
{
	if (op == OP_ALL_GATHER ? !gather_members(mem, ids, n)
	                        : op != OP_BROADCAST && !add_members(mem, ids, n))
		return false;
	if (op == OP_REDUCE_SCATTER)
		return hand_out(mem, ids, n);
	for (int32_t i = 1; i < n; i++)
		if (op == OP_REDUCE)
			drop_chunks(mem, ids[i]);
		else
			copy_chunks(mem, ids[i], ids[0]);
	return true;
}

/* Devices exist, are in one group only, and the roots hold what the step says. */
static bool reduction_step_fits(struct memory *mem, const struct reduction_step *s)
{
	int64_t n = (int64_t)s->groups.ngroups * s->groups.size;

	memset(mem->mine, 0, (size_t)mem->ndevices);
	for (int64_t i = 0; i < n; i++) {
		int32_t d = s->groups.ids[i];

		if (d < 0 || d >= mem->ndevices || mem->mine[d]) {
			text_printf(mem->why,
			            "device %d does not exist or is in two groups",
			            (int)d);
			return false;
		}
		mem->mine[d] = true;
		if (i % s->groups.size == 0 &&
		    fabs(s->share * mem->k - chunks_of(mem, d)) > 1e-6) {
			text_printf(mem->why, "device %d holds %d of %d chunks, not %g",
			            (int)d, (int)chunks_of(mem, d), (int)mem->k,
			            s->share * mem->k);
			return false;
		}
	}
	return true;
}

/* The coordinate of every device on the axes that are not reduced, as one number. */
static int32_t *other_coordinates(const struct matrix *m, uint32_t reduce)
{
	int32_t n = matrix_ndevices(m), *other = xmalloc((size_t)n, sizeof(*other));

	for (int32_t p = 0; p < n; p++) {
		int32_t coordinate[MATRIX_AXES_MAX], left = p, number = 0;

		for (int i = m->naxes - 1; i >= 0; i--) {
			coordinate[i] = left % matrix_axis_size(m, i);
			left /= matrix_axis_size(m, i);
		}
		for (int i = 0; i < m->naxes; i++)
			if (!(reduce & 1u << i))
				number = number * matrix_axis_size(m, i) + coordinate[i];
		other[matrix_device(m, coordinate)] = number;
	}
	return other;
}

/* The sum of every chunk over the reduction group of every device. */
static void sum_chunks(struct checker *c, const struct matrix *m, uint32_t reduce)
{
	int32_t copies = c->ndevices / c->k, *other = other_coordinates(m, reduce);
	uint64_t *sum = xmalloc((size_t)c->ndevices, sizeof(*sum));

	memset(sum, 0, (size_t)c->ndevices * sizeof(*sum));
	for (size_t i = 0; i < c->n; i++) {
		size_t d = i / (size_t)c->k, r = i % (size_t)c->k;

		sum[r * (size_t)copies + (size_t)other[d]] += chunk_number(i);
	}
	for (size_t i = 0; i < c->n; i++) {
		size_t d = i / (size_t)c->k, r = i % (size_t)c->k;

		c->wanted[i] = sum[r * (size_t)copies + (size_t)other[d]];
	}
	free(sum);
	free(other);
}

struct checker *checker_new(const struct matrix *m, uint32_t reduce, int steps)
{
	struct checker *c = xmalloc(1, sizeof(*c));
	size_t states = (size_t)steps + 1;

	*c = (struct checker){.ndevices = matrix_ndevices(m), .k = 1};
	for (int i = 0; i < m->naxes; i++)
		if (reduce & 1u << i)
			c->k *= matrix_axis_size(m, i);
	c->n = (size_t)c->ndevices * (size_t)c->k;
	c->value = xmalloc(states * c->n, sizeof(*c->value));
	c->held = xmalloc(states * c->n, sizeof(*c->held));
	c->wanted = xmalloc(c->n, sizeof(*c->wanted));
	c->mine = xmalloc((size_t)c->ndevices, sizeof(*c->mine));
	for (size_t i = 0; i < c->n; i++) {
		c->value[i] = chunk_number(i);
		c->held[i] = true;
	}
	sum_chunks(c, m, reduce);
	return c;
}

void checker_free(struct checker *c)
{
	if (!c)
		return;
	free(c->value);
	free(c->held);
	free(c->wanted);
	free(c->mine);
	free(c);
}

bool checker_step(struct checker *c, int i, const struct reduction_step *s,
                  struct text *why)
{
	const struct groups *g = &s->groups;
	uint64_t *value = c->value + (size_t)i * c->n;
	bool *held_chunks = c->held + (size_t)i * c->n;
	struct memory mem = {c->ndevices,        c->k,    value + c->n,
	                     held_chunks + c->n, c->mine, why};
	bool right;

	memcpy(mem.value, value, c->n * sizeof(*value));
	memcpy(mem.held, held_chunks, c->n * sizeof(*held_chunks));
	right = reduction_step_fits(&mem, s);
	for (int32_t k = 0; k < g->ngroups && right; k++)
		right = group_run(&mem, s->op, g->ids + (int64_t)k * g->size, g->size);
	if (!right)
		text_printf(why, " in step %d, %s", i + 1, op_name(s->op));
	return right;
}

bool checker_end(const struct checker *c, int n, struct text *why)
{
	const uint64_t *value = c->value + (size_t)n * c->n;
	const bool *held_chunks = c->held + (size_t)n * c->n;

	for (size_t i = 0; i < c->n; i++) {
		if (held_chunks[i] && value[i] == c->wanted[i])
			continue;
		text_printf(why, "chunk %d of device %d %s", (int)(i % (size_t)c->k),
		            (int)(i / (size_t)c->k),
		            held_chunks[i] ? "is not the sum" : "is missing");
		return false;
	}
	return true;
}

bool reduction_check(const struct reduction *r, const struct matrix *m, uint32_t reduce,
                     struct text *why)
{
	struct checker *c = checker_new(m, reduce, r->n);
	bool right = true;

	for (int i = 0; i < r->n && right; i++)
		right = checker_step(c, i, &r->step[i], why);
	right = right && checker_end(c, r->n, why);
	checker_free(c);
	return right;
}
