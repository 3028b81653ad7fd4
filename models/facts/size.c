/* Machines of a size: `family:{64}` and `family:{n}`. */
#include "facts/kind.h"
#include "facts/switches.h"

#include <ctype.h>
#include <string.h>

/* Of a torus of any number of axes, so many are chosen. */
enum { GENERIC_AXES = 3 };

/* The best shape so far for at least `wanted` chips, and the largest that is too small. */
struct fit {
	const struct family *family;
	int64_t wanted, chips, below, sum;
	int32_t shape[TORUS_AXES_MAX];
};

/* Takes a shape that is offered if it fits better: fewest chips, then nearest a cube. */
static void fit_offer(struct fit *fit, const int32_t *shape)
{
	const struct family *f = fit->family;
	int64_t chips = 1, sum = 0;

	for (int a = 0; a < f->naxes; a++) {
		chips *= shape[a];
		sum += shape[a];
	}
	if (chips > f->chips)
		return;
	if (chips < fit->wanted) {
		fit->below = chips > fit->below ? chips : fit->below;
		return;
	}
	if (fit->chips &&
	    (chips > fit->chips || (chips == fit->chips && sum >= fit->sum)))
		return;
	fit->chips = chips;
	fit->sum = sum;
	memcpy(fit->shape, shape, sizeof(fit->shape));
}

/*
 * Offers shapes of rising lengths that are multiples of `step` and go on from those of
 * the first axes, with `chips` in them: of the last lengths those next to what is wanted.
 */
static void fit_multiples(struct fit *fit, int32_t *shape, int axis, int64_t chips)
{
	const struct family *f = fit->family;
	int32_t step = f->multiples, from = axis ? shape[axis - 1] : step;
	/* The lengths rise, so the first axis has the least of the largest shape. */
	int32_t most = f->largest[f->naxes - 1 - axis];

	if (axis == f->naxes - 1) {
		int64_t room = f->chips / chips;
		int64_t next = (fit->wanted + chips * step - 1) / (chips * step) * step;

		for (int64_t n = next > step ? next - step : next; n <= next; n += step) {
			int64_t length = n > from ? n : from;

			length = length < most ? length : most;
			length = (length < room ? length : room) / step * step;
			if (length < from)
				continue;
			shape[axis] = (int32_t)length;
			fit_offer(fit, shape);
		}
		return;
	}
	for (int32_t n = from; n <= most; n += step) {
		shape[axis] = n;
		fit_multiples(fit, shape, axis + 1, chips * n);
	}
}

static void torus_fit(struct fit *fit)
{
	const struct family *f = fit->family;
	int32_t shape[TORUS_AXES_MAX] = {0};

	for (int i = 0; i < f->noffered; i++)
		fit_offer(fit, f->offered + (ptrdiff_t)i * TORUS_AXES_MAX);
	if (f->multiples)
		fit_multiples(fit, shape, 0, 1);
}

/* Returns whether there is a machine of so many nodes: a single one has no net. */
static bool nodes_offered(const struct family *f, int64_t nodes)
{
	struct switches s;

	return (nodes == 1 && !f->apart) || switches_find(&s, f, (int32_t)nodes, NULL);
}

/* Nodes come in any number that the switches of their net join. */
static void nodes_fit(struct fit *fit)
{
	const struct family *f = fit->family;
	int64_t most = f->largest[0], nodes = fit->wanted;

	while (nodes <= most && !nodes_offered(f, nodes))
		nodes++;
	fit->below = fit->wanted <= most ? fit->wanted - 1 : most;
	while (fit->below > 0 && !nodes_offered(f, fit->below))
		fit->below--;
	fit->chips = nodes <= most ? nodes : 0;
	fit->shape[0] = (int32_t)fit->chips;
}

/*
 * Reads "{64}" or "{n}" behind the colon, which ends the text; *n is 0 for the second.
 */
static enum status size_scan(int64_t *n, const char *spec, const char *text,
                             struct where at, struct error *e)
{
	struct scan s = scan_start(spec, at, e);

	s.pos = text + 1;
	*n = 0;
	if (!scan_word(&s, "n")) {
		scan_peek(&s);
		if (!isdigit((unsigned char)*s.pos))
			return scan_fail(&s, E_SYNTAX,
			                 "expected {n}, for the number of devices of "
			                 "the mesh, or a number such as {64}");
		if (!scan_int(&s, "the number of devices", 1, INT32_MAX, n))
			return e->code;
	}
	if (!scan_expect(&s, "}"))
		return e->code;
	return scan_finish(&s);
}

/* Finds the shape for so many devices; fit->chips is 0 where none is large enough. */
static struct fit fit_find(const struct family *f, int64_t devices, int64_t each)
{
	struct fit fit = {.family = f, .wanted = (devices + each - 1) / each};

	if (f->kind == FAMILY_TORUS)
		torus_fit(&fit);
	else
		nodes_fit(&fit);
	return fit;
}

/*
 * Makes the settings of a family of nodes, on which the GPUs of a node and the switches
 * depend. What is wrong with one is said when the machine is made.
 */
static void settings_apply(struct family *f, struct arena *a, const char *path,
                           const char *const *set, int nset)
{
	const char *spec = arena_printf(a, "%s:%d", f->name, f->largest[0] > 1 ? 2 : 1);
	const char **kept = arena_alloc(a, (size_t)nset + 1, sizeof(*kept));
	struct family_machine m;
	struct error ignored = {0};
	int nkept = 0;

	if (f->kind != FAMILY_NODES)
		return;
	for (int i = 0; i < nset; i++)
		if (strncmp(set[i], "gpus=", 5) == 0 ||
		    strncmp(set[i], "inside=", 7) == 0 ||
		    (f->largest[0] > 1 && setting_of_net(set[i])))
			kept[nkept++] = set[i];
	if (nkept && family_parse(&m, a, path, spec, kept, nkept, &ignored) == OK)
		*f = m.family;
}

bool family_sized(const char *spec)
{
	const char *colon = strchr(spec, ':');

	return colon && colon[1] == '{';
}

enum status family_size(struct family_size *out, struct arena *a, const char *path,
                        const char *spec, const char *const *set, int nset, int64_t n,
                        struct error *e)
{
	struct where at = where_option("--platform", spec);
	const char *colon = strchr(spec, ':');
	struct text name = {0};
	struct family f;
	struct fit fit;
	int64_t given, each;

	if (family_find(&f, a, path, spec, (size_t)(colon - spec), at, e) != OK ||
	    size_scan(&given, spec, colon + 1, at, e) != OK)
		return e->code;
	n = given ? given : n;
	if (n < 1)
		return error_set(e, E_TYPE, at,
		                 "{n} is the number of devices of a mesh, and here is "
		                 "none; expected a number, such as %.*s:{64}",
		                 (int)(colon - spec), spec);
	if (!f.naxes)
		f.naxes = GENERIC_AXES;
	settings_apply(&f, a, path, set, nset);
	each = f.kind == FAMILY_TORUS ? f.cores : f.gpus;
	fit = fit_find(&f, n, each);
	if (!fit.chips && given)
		return error_set(e, E_RANGE, at,
		                 "%lld devices, but the largest %s that is offered has "
		                 "%lld",
		                 (long long)n, f.name, (long long)(fit.below * each));
	if (!fit.chips)
		fit = fit_find(&f, fit.below * each, each);
	out->most = fit.chips * each;
	if (!fit_find(&f, out->most + 1, each).chips)
		out->most = INT64_MAX;
	out->least = fit.below * each + 1;
	out->net = f.kind == FAMILY_NODES && fit.chips > 1;
	text_printf(&name, "%s:", f.name);
	for (int i = 0; i < f.naxes; i++)
		text_printf(&name, "%s%d", i ? "x" : "", (int)fit.shape[i]);
	out->spec = text_take(&name, a);
	return OK;
}
