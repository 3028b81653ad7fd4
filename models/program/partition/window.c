/* Ops that move elements along a dimension, on tiles of it. */
#include "program/partition/split.h"
#include "program/propagate_op.h"

#include <string.h>

/* A dimension along which an op moves what it has of its first operand. */
struct moved {
	int32_t in, out, kernel; /* dimensions; -1: of none */
	int32_t factor;          /* that is split; -1: none */
	int32_t at;              /* number in the op's attributes */
	bool sums;               /* it is the kernel that is split */
};

static int32_t count_moved(const struct instruction *op, const struct op_rule *rule)
{
	switch (op->code) {
	case HLO_SLICE:
	case HLO_PAD:
	case HLO_REVERSE:
	case HLO_REDUCE_WINDOW:
		return rule->tensor[0].rank;
	case HLO_CONVOLUTION:
		return op->as.conv->nspatial;
	default:
		return 0;
	}
}

/* The k-th such dimension. */
static struct moved moved_at(const struct instruction *op, const struct op_rule *rule,
                             const struct axes *factor, int32_t k)
{
	struct moved m = {k, k, -1, -1, k, false};
	const struct conv_attr *c = op->as.conv;

	if (op->code == HLO_CONVOLUTION)
		m = (struct moved){
			c->spatial[k], c->out_spatial[k], c->kernel_spatial[k], -1, k,
			false};
	m.factor = split_factor(rule, factor, rule->noperands, m.out);
	if (m.factor < 0 && m.kernel >= 0) {
		m.factor = split_factor(rule, factor, 1, m.kernel);
		m.sums = m.factor >= 0;
	}
	return m;
}

static int64_t number(const int64_t *list, int32_t k, int64_t usual)
{
	return list ? list[k] : usual;
}

/* Whether it stays where it is: nothing is moved along this dimension. */
static bool is_still(const struct instruction *op, const struct value_type *in,
                     const struct moved *m)
{
	const struct slice_attr *s = op->as.slice;

	switch (op->code) {
	case HLO_SLICE:
		return s->start.at[m->at] == 0 &&
		       s->limit.at[m->at] == in->dim[m->in] && s->stride.at[m->at] == 1;
	case HLO_PAD:
		return !s->start.at[m->at] && !s->limit.at[m->at] &&
		       !s->stride.at[m->at];
	case HLO_REVERSE:
		return !ints_have(op->dims, m->at);
	default:
		return false;
	}
}

static int64_t tile_size(const struct value_type *t, int32_t dim, int64_t shards)
{
	return (t->dim[dim] + shards - 1) / shards;
}

/* The window over an array: `out` positions of a kernel that has `size` elements. */
static void window_halo(struct halo *h, const struct window *w, int32_t k, int64_t out,
                        int64_t size, int64_t shift)
{
	int64_t stride = number(w->stride, k, 1), dilate = number(w->rhs_dilate, k, 1);

	h->first = -number(w->low, k, 0);
	h->step = shift ? shift * dilate : out * stride;
	h->size = (out - 1) * stride + (size - 1) * dilate + 1;
}

/* How far the operand's elements are apart for the op. */
static int64_t dilation(const struct instruction *op, const struct moved *m)
{
	switch (op->code) {
	case HLO_PAD:
		return op->as.slice->stride.at[m->at] + 1;
	case HLO_REDUCE_WINDOW:
		return number(op->as.window->lhs_dilate, m->at, 1);
	case HLO_CONVOLUTION:
		return number(op->as.conv->window.lhs_dilate, m->at, 1);
	default:
		return 1;
	}
}

/* From positions of the dilated array to elements. They are the same for all devices. */
static void undilate(struct halo *h, int64_t apart)
{
	h->lead = (apart - h->first % apart) % apart;
	h->first = (h->first + h->lead) / apart;
	h->tail = (h->size - h->lead - 1) % apart;
	h->size = h->size > h->lead ? (h->size - h->lead - 1) / apart + 1 : 0;
	h->step /= apart;
}

/* What a device needs of the operand along a moved dimension; the fill is left out. */
static void halo_of(struct halo *h, const struct split *b, const struct instruction *op,
                    const struct moved *m, int64_t shards)
{
	const struct value_type *out = &b->p->value.at[op->first_value].type;
	const struct value_type *kernel;
	int64_t tile = tile_size(out, m->out, m->sums ? 1 : shards), part;

	*h = (struct halo){.dim = m->in, .fill = -1};
	switch (op->code) {
	case HLO_SLICE:
		h->first = op->as.slice->start.at[m->at];
		h->step = tile * op->as.slice->stride.at[m->at];
		h->size = (tile - 1) * op->as.slice->stride.at[m->at] + 1;
		break;
	case HLO_PAD:
		h->first = -op->as.slice->start.at[m->at];
		h->step = h->size = tile;
		break;
	case HLO_REDUCE_WINDOW:
		window_halo(h, op->as.window, m->at, tile,
		            number(op->as.window->size, m->at, 1), 0);
		break;
	default:
		kernel = &b->p->value.at[op_operand(b->p, op, 1)].type;
		part = tile_size(kernel, m->kernel, m->sums ? shards : 1);
		window_halo(h, &op->as.conv->window, m->at, tile, part,
		            m->sums ? part : 0);
	}
	if (h->step % dilation(op, m))
		h->size = 0;
	else
		undilate(h, dilation(op, m));
}

/* Whether neighbours can exchange what is moved, and that is less than all that they have. */
static bool can_move(const struct split *b, const struct instruction *op,
                     const struct moved *m, int64_t shards)
{
	const struct value_type *in = &b->p->value.at[op_operand(b->p, op, 0)].type;
	const struct window *w =
		op->code == HLO_CONVOLUTION ? &op->as.conv->window : op->as.window;
	struct halo h;

	if (is_still(op, in, m))
		return true;
	if (op->code == HLO_REVERSE)
		return in->dim[m->in] % shards == 0;
	if (op->code == HLO_REDUCE_WINDOW && op->noperands != 2)
		return false;
	if (m->sums && dilation(op, m) != 1)
		return false;
	if (m->sums) {
		const struct value_type *k =
			&b->p->value.at[op_operand(b->p, op, 1)].type;

		if (k->dim[m->kernel] % shards || (w->reversal && w->reversal[m->at]))
			return false;
	}
	halo_of(&h, b, op, m, shards);
	return h.size > 0 && split_halo_fits(&h, in->dim[m->in], shards);
}

/* Whether a dimension has several factors that are split, of which only one can move. */
static bool is_double(const struct op_rule *rule, const struct axes *factor,
                      const struct moved *m)
{
	const struct rule_dim *d = &rule->tensor[0].dim[m->in];
	int n = 0;

	for (int32_t k = 0; k < d->n; k++)
		n += factor[d->at[k]].n > 0;
	return n > 1;
}

void split_windows_keep(struct split *b, const struct instruction *op,
                        const struct op_rule *rule, struct axes *factor)
{
	int32_t n = count_moved(op, rule);

	for (int32_t k = 0; k < n; k++) {
		struct moved m = moved_at(op, rule, factor, k);

		while (m.factor >= 0 &&
		       (is_double(rule, factor, &m) ||
		        !can_move(b, op, &m, axes_shards(&factor[m.factor])))) {
			factor[m.factor].n = 0;
			m = moved_at(op, rule, factor, k);
		}
	}
	/* Others gather what they move. */
	for (int32_t f = 0; f < rule->factor.n && !n; f++)
		if (rule->factor.at[f].kind == FACTOR_PERMUTE)
			factor[f].n = 0;
}

/* What stands outside of the array: of a window's reduction what it begins with. */
static int32_t fill_of(struct split *b, const struct instruction *op,
                       const int32_t *operand)
{
	if (op->code == HLO_SLICE)
		return -1;
	if (op->code == HLO_CONVOLUTION)
		return split_number(b, op, b->q->value.at[operand[0]].type.dtype, 0);
	return operand[1];
}

void split_windows_take(struct split *b, const struct instruction *op,
                        const struct op_rule *rule, const struct axes *factor,
                        const int32_t *layout, int32_t *operand)
{
	for (int32_t k = 0; k < count_moved(op, rule); k++) {
		const struct moved m = moved_at(op, rule, factor, k);
		const struct value_type *in =
			&b->p->value.at[op_operand(b->p, op, 0)].type;
		struct halo h;

		if (m.factor < 0 || is_still(op, in, &m))
			continue;
		if (op->code == HLO_REVERSE) {
			operand[0] = split_turned(b, op, operand[0], layout[0], m.in);
			continue;
		}
		halo_of(&h, b, op, &m, axes_shards(&factor[m.factor]));
		h.fill = fill_of(b, op, operand);
		operand[0] = split_halo(b, op, operand[0], layout[0], &h, in->dim[m.in]);
	}
}

/* A list that is not there is of `usual` numbers. */
static void set(struct split *b, const int64_t **list, int32_t n, int32_t k, int64_t to,
                int64_t usual)
{
	int64_t *at;

	if (!*list && to == usual)
		return;
	at = arena_alloc(b->a, (size_t)n, sizeof(*at));
	for (int32_t i = 0; i < n; i++)
		at[i] = i == k ? to : number(*list, i, usual);
	*list = at;
}

static void set_window(struct split *b, struct window *w, const struct moved *m,
                       const struct halo *h, const struct value_type *kernel)
{
	set(b, &w->low, w->n, m->at, h->lead, 0);
	set(b, &w->high, w->n, m->at, h->tail, 0);
	if (kernel)
		set(b, &w->size, w->n, m->at, kernel->dim[m->kernel], 1);
}

void split_windows_set(struct split *b, const struct instruction *op,
                       const struct op_rule *rule, const struct axes *factor,
                       struct instruction *added)
{
	const struct value_type *in = &b->p->value.at[op_operand(b->p, op, 0)].type;
	const struct value_type *tile = &b->q->value.at[op_operand(b->q, added, 0)].type;

	for (int32_t k = 0; k < count_moved(op, rule); k++) {
		const struct moved m = moved_at(op, rule, factor, k);
		struct slice_attr slice;
		struct window window;
		struct conv_attr conv;
		struct halo h;

		if (m.factor < 0 || is_still(op, in, &m) || op->code == HLO_REVERSE)
			continue;
		halo_of(&h, b, op, &m, axes_shards(&factor[m.factor]));
		if (op->code == HLO_CONVOLUTION) {
			conv = *added->as.conv;
			set_window(b, &conv.window, &m, &h,
			           &b->q->value.at[op_operand(b->q, added, 1)].type);
			added->as.conv = arena_dup(b->a, &conv, 1, sizeof(conv));
		} else if (op->code == HLO_REDUCE_WINDOW) {
			window = *added->as.window;
			set_window(b, &window, &m, &h, NULL);
			added->as.window = arena_dup(b->a, &window, 1, sizeof(window));
		} else {
			slice = *added->as.slice;
			set(b, &slice.start.at, slice.start.n, m.at, h.lead, 0);
			set(b, &slice.limit.at, slice.limit.n, m.at,
			    op->code == HLO_PAD ? h.tail : tile->dim[m.in], 0);
			added->as.slice = arena_dup(b->a, &slice, 1, sizeof(slice));
		}
	}
}
