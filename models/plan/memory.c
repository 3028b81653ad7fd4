#include "plan/memory.h"

#include "base/units.h"

#include <string.h>

void problem_use_memory(struct problem *p, const struct machine *m)
{
	double least = 0;

	for (int32_t i = 0; m && i < p->ndevices; i++) {
		int32_t d = p->platform ? p->platform[i] : i;
		double bytes = d < m->ndevices ? m->device[d].memory_bytes : 0;

		if (bytes > 0 && (least == 0 || bytes < least))
			least = bytes;
	}
	/* Below one byte, or beyond any array, it says nothing. */
	p->device_memory_bytes =
		p->any_memory || least < 1 || least >= 0x1p62 ? 0 : (int64_t)least;
}

static bool above_limit(const struct problem *p, int64_t array_bytes)
{
	return p->memory_limit_bytes >= 0 && array_bytes > p->memory_limit_bytes;
}

static bool above_device(const struct problem *p, int64_t live_bytes)
{
	return p->device_memory_bytes > 0 && live_bytes > p->device_memory_bytes;
}

bool memory_exceeded(const struct problem *p, int64_t array_bytes, int64_t live_bytes)
{
	return above_limit(p, array_bytes) || above_device(p, live_bytes);
}

bool plan_over_memory(const struct plan *p)
{
	return memory_exceeded(p->problem, p->peak_array_bytes, p->peak_live_bytes);
}

/* Returns the bytes that a step leaves on a device; sums leave arrays of their own size. */
static int64_t result_bytes(const struct plan *p, const struct step *s)
{
	return dtype_bytes(p->problem->array.dtype,
	                   shape_elements(s->gathers ? &s->summed : &s->local));
}

int64_t plan_live_beside(const struct plan *p, int64_t beside_bytes)
{
	struct shape local = layout_local(&p->from, &p->shape);
	int64_t operand = dtype_bytes(p->problem->array.dtype, shape_elements(&local));
	int64_t most = beside_bytes + operand;

	for (int i = 0; i < p->nsteps; i++) {
		const struct step *s = &p->step[i];
		int64_t result = result_bytes(p, s);
		int64_t live = beside_bytes + (s->gathers ? result : operand) + result;

		most = live > most ? live : most;
		operand = result;
	}
	return most;
}

/*
 * Says the need in binary units and the memory as vendors state it. Where the two are so
 * near that 15 GiB would look less than 16 GB, the memory follows in the other units or, if
 * four digits do not tell them apart, both are in bytes.
 */
static void explain_device(struct text *out, int64_t need, int64_t has)
{
	struct text need_text = {0}, has_text = {0}, stated = {0};

	units_print_bytes(&need_text, (double)need);
	units_print_bytes(&has_text, (double)has);
	units_print_capacity(&stated, (double)has);
	if (strcmp(need_text.s, has_text.s) == 0)
		text_printf(out, "needs %lld bytes, the device has %lld",
		            (long long)need, (long long)has);
	else if (strcmp(has_text.s, stated.s) != 0 && (double)need < 1.1 * (double)has)
		text_printf(out, "needs %s, the device has %s (%s)", need_text.s,
		            stated.s, has_text.s);
	else
		text_printf(out, "needs %s, the device has %s", need_text.s, stated.s);
	text_free(&need_text);
	text_free(&has_text);
	text_free(&stated);
}

/* Says which limit would do: exactly, so that it can be given, and in a unit a person reads. */
static void explain_limit(struct text *out, int64_t need)
{
	struct text readable = {0};

	text_printf(out, "needs a memory limit of at least %lld bytes", (long long)need);
	if (need >= 1024) {
		units_print_bytes(&readable, (double)need);
		text_printf(out, ", that is %s", readable.s);
	}
	text_free(&readable);
}

void memory_explain(struct text *out, const struct problem *p, int64_t array_bytes,
                    int64_t live_bytes)
{
	bool limit = above_limit(p, array_bytes);

	if (limit)
		explain_limit(out, array_bytes);
	if (above_device(p, live_bytes)) {
		text_printf(out, "%s", limit ? "; " : "");
		explain_device(out, live_bytes, p->device_memory_bytes);
	}
}
