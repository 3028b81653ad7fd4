/* What is wrong with one machine: slow links and devices, missing links. */
#include "facts/overlay.h"

#include "facts/kind.h"

#include <stdlib.h>

static const char *const names[OVERLAYS] = {
	[OVERLAY_SLOW_LINK] = "slow_link",
	[OVERLAY_SLOW_DEVICE] = "slow_device",
	[OVERLAY_NO_LINK] = "no_link",
};

const char *overlay_name(enum overlay_kind kind)
{
	return names[kind];
}

/* Scans ":0.5". */
static bool factor_scan(struct scan *s, double *out)
{
	const char *start;
	char *end;

	if (!scan_expect(s, ":"))
		return false;
	scan_peek(s);
	start = s->pos;
	*out = *start >= '0' && *start <= '9' ? strtod(start, &end) : 0;
	if (!(*out >= 1e-9 && *out < 1)) {
		scan_fail_at(
			s, start, E_RANGE,
			"expected what is left of the bandwidth, above 0 and below 1, "
			"from 1e-9 on");
		return false;
	}
	s->pos = end;
	return true;
}

/* Scans "3-4:0.5", "5:0.5" or "3-4". */
static bool overlay_scan(struct overlay *out, const struct family_machine *m,
                         enum overlay_kind kind, struct scan *s)
{
	int64_t a, b;

	scan_peek(s);
	*out = (struct overlay){.kind = kind, .at = scan_where(s, s->pos)};
	if (!scan_int(s, "a device", 0, m->ndevices - 1, &a))
		return false;
	b = a;
	if (kind != OVERLAY_SLOW_DEVICE &&
	    (!scan_expect(s, "-") || !scan_int(s, "a device", 0, m->ndevices - 1, &b)))
		return false;
	if (kind != OVERLAY_NO_LINK && !factor_scan(s, &out->factor))
		return false;
	out->a = (int32_t)a;
	out->b = (int32_t)b;
	return true;
}

enum status overlay_read(struct family_machine *m, struct arena *a,
                         enum overlay_kind kind, const char *text, struct where at,
                         struct error *e)
{
	struct scan s = scan_start(text, at, e);
	size_t n = (size_t)m->noverlays, room = n + 1;
	struct overlay *all;

	for (const char *p = text; *p; p++)
		room += *p == ',';
	all = arena_alloc(a, room, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = m->overlay[i];
	do {
		if (!overlay_scan(&all[n], m, kind, &s))
			return e->code;
		n++;
	} while (scan_take(&s, ","));
	m->overlay = all;
	m->noverlays = (int)n;
	return scan_finish(&s);
}

double overlay_device(const struct family_machine *m, int32_t first, int32_t n)
{
	double left = 1;

	for (int i = 0; i < m->noverlays; i++)
		if (m->overlay[i].kind == OVERLAY_SLOW_DEVICE &&
		    m->overlay[i].a >= first && m->overlay[i].a < first + n)
			left *= m->overlay[i].factor;
	return left;
}

double overlay_cable(const struct family_machine *m, int32_t share, int32_t a, int32_t b)
{
	double left = overlay_device(m, a * share, share) *
	              overlay_device(m, b * share, share);

	for (int i = 0; i < m->noverlays; i++) {
		const struct overlay *o = &m->overlay[i];
		int32_t from = o->a / share, to = o->b / share;

		if (o->kind != OVERLAY_SLOW_DEVICE &&
		    ((from == a && to == b) || (from == b && to == a)))
			left *= o->factor;
	}
	return left;
}

bool overlay_missing(const struct family_machine *m)
{
	for (int i = 0; i < m->noverlays; i++)
		if (m->overlay[i].kind == OVERLAY_NO_LINK)
			return true;
	return false;
}

/* Fails if an overlay before number `i` contradicts this one, of the same cable. */
static enum status cable_once(const struct family_machine *m, int32_t share, int i,
                              struct error *e)
{
	const struct overlay *o = &m->overlay[i];
	int32_t a = o->a / share, b = o->b / share;

	for (int k = 0; k < i; k++) {
		const struct overlay *was = &m->overlay[k];
		int32_t from = was->a / share, to = was->b / share;

		if (was->kind == OVERLAY_SLOW_DEVICE ||
		    !((from == a && to == b) || (from == b && to == a)))
			continue;
		if (o->kind == OVERLAY_NO_LINK && was->kind == OVERLAY_NO_LINK)
			return error_set(
				e, E_TYPE, o->at,
				"the link of devices %d and %d is listed twice",
				(int)o->a, (int)o->b);
		if (o->kind == OVERLAY_NO_LINK || was->kind == OVERLAY_NO_LINK)
			return error_set(e, E_TYPE, o->at,
			                 "the link of devices %d and %d cannot be both "
			                 "slow and missing",
			                 (int)o->a, (int)o->b);
	}
	return OK;
}

enum status overlay_check(const struct family_machine *m, int32_t share,
                          bool (*joined)(const void *self, int32_t a, int32_t b),
                          const void *self, struct error *e)
{
	for (int i = 0; i < m->noverlays; i++) {
		const struct overlay *o = &m->overlay[i];

		if (o->kind == OVERLAY_SLOW_DEVICE)
			continue;
		if (o->a == o->b)
			return error_set(e, E_TYPE, o->at,
			                 "a link of device %d to itself", (int)o->a);
		if (o->a / share == o->b / share)
			return error_set(e, E_TYPE, o->at,
			                 "devices %d and %d are on one chip, without a "
			                 "cable; slow_device makes the chip slow",
			                 (int)o->a, (int)o->b);
		if (!joined)
			return error_set(e, E_TYPE, o->at,
			                 "devices %d and %d have no link of their own, "
			                 "but a switch whose ports cannot be missing; "
			                 "slow_device makes one slow",
			                 (int)o->a, (int)o->b);
		if (!joined(self, o->a / share, o->b / share))
			return error_set(e, E_TYPE, o->at,
			                 "no link joins devices %d and %d", (int)o->a,
			                 (int)o->b);
		if (cable_once(m, share, i, e) != OK)
			return e->code;
	}
	return OK;
}
