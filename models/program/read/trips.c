#include "program/read/trips.h"

#include <math.h>

enum { DEPTH_MAX = 32 };

/* What a scalar is: a number, or parameter `param` of a region plus a number. */
struct scalar {
	enum { UNKNOWN, NUMBER, PARAM } kind;
	int32_t param;
	double number;
};

/* The op by which a region was entered: a call, or a loop; NULL: it was entered by none. */
struct scope {
	const struct scope *outer;
	const struct instruction *call;
};

static struct scalar eval(const struct program *p, int32_t value,
                          const struct scope *scope, int depth);

static int32_t place(struct numbers list, int32_t value)
{
	for (int32_t i = 0; i < list.n; i++)
		if (list.at[i] == value)
			return i;
	return -1;
}

/* Of what a loop carries only what no turn changes is known: it is what it was at first. */
static struct scalar eval_parameter(const struct program *p,
                                    const struct instruction *op, int32_t value,
                                    const struct scope *scope, int depth)
{
	int32_t k = place(p->region.at[op->region].param, value);
	struct scalar carried = {.kind = PARAM, .param = k}, start;
	const struct region *body;

	if (k < 0)
		return (struct scalar){.kind = UNKNOWN};
	if (!scope || k >= scope->call->noperands)
		return carried;
	if (scope->call->code != HLO_WHILE)
		return eval(p, op_operand(p, scope->call, k), scope->outer, depth + 1);
	body = &p->region.at[op_called(p, scope->call, 1)];
	if (body->result.at[k] != body->param.at[k])
		return carried;
	start = eval(p, op_operand(p, scope->call, k), NULL, depth + 1);
	return start.kind == NUMBER ? start : carried;
}

static struct scalar eval_sum(const struct program *p, const struct instruction *op,
                              const struct scope *scope, int depth)
{
	struct scalar l = eval(p, op_operand(p, op, 0), scope, depth + 1);
	struct scalar r = eval(p, op_operand(p, op, 1), scope, depth + 1);

	if (l.kind == UNKNOWN || r.kind == UNKNOWN ||
	    (r.kind == PARAM && (l.kind == PARAM || op->code == HLO_SUBTRACT)))
		return (struct scalar){.kind = UNKNOWN};
	if (op->code == HLO_SUBTRACT)
		r.number = -r.number;
	if (r.kind == PARAM) {
		r.number += l.number;
		return r;
	}
	l.number += r.number;
	return l;
}

static struct scalar eval(const struct program *p, int32_t value,
                          const struct scope *scope, int depth)
{
	const struct instruction *op = &p->op.at[p->value.at[value].op];
	struct scope inner = {scope, op};
	int32_t k;

	if (depth > DEPTH_MAX || p->value.at[value].type.rank > 1)
		return (struct scalar){.kind = UNKNOWN};
	switch (op->code) {
	case HLO_PARAMETER:
		return eval_parameter(p, op, value, scope, depth);
	case HLO_CONSTANT:
		if (op->as.constant && op->as.constant->known)
			return (struct scalar){.kind = NUMBER,
			                       .number = op->as.constant->value};
		break;
	case HLO_ADD:
	case HLO_SUBTRACT:
		if (op->noperands == 2)
			return eval_sum(p, op, scope, depth);
		break;
	case HLO_CONVERT:
	case HLO_COPY:
	case HLO_BITCAST:
	case HLO_RESHAPE:
		if (op->noperands == 1)
			return eval(p, op_operand(p, op, 0), scope, depth + 1);
		break;
	case HLO_CALL:
	case HLO_FUSION:
		k = value - op->first_value;
		if (op->ncalled == 1 && k < p->region.at[op_called(p, op, 0)].result.n)
			return eval(p, p->region.at[op_called(p, op, 0)].result.at[k],
			            &inner, depth + 1);
		break;
	default:
		break;
	}
	return (struct scalar){.kind = UNKNOWN};
}

/* A comparison of two scalars, mirrored so that the first one is a parameter. */
struct compared {
	struct scalar l, r;
	char direction; /* < { > } ! for LT LE GT GE NE; 0: none of these */
};

static char direction_of(struct span s, bool mirrored)
{
	static const struct {
		char two[3];
		char is, mirror;
	} known[] = {{"LT", '<', '>'},
	             {"LE", '{', '}'},
	             {"GT", '>', '<'},
	             {"GE", '}', '{'},
	             {"NE", '!', '!'}};

	for (size_t i = 0; s.at && s.length == 2 && i < 5; i++)
		if (s.at[0] == known[i].two[0] && s.at[1] == known[i].two[1])
			return mirrored ? known[i].mirror : known[i].is;
	return 0;
}

static struct compared find_compare(const struct program *p, int32_t value,
                                    const struct scope *scope, int depth)
{
	const struct instruction *op = &p->op.at[p->value.at[value].op];
	struct scope inner = {scope, op};
	struct compared c = {.direction = 0};
	bool mirrored;

	if (depth > DEPTH_MAX)
		return c;
	if (op->code == HLO_CALL || op->code == HLO_FUSION)
		return find_compare(p, p->region.at[op_called(p, op, 0)].result.at[0],
		                    &inner, depth + 1);
	if (op->code != HLO_COMPARE || op->noperands != 2)
		return c;
	c.l = eval(p, op_operand(p, op, 0), scope, depth);
	c.r = eval(p, op_operand(p, op, 1), scope, depth);
	mirrored = c.l.kind == NUMBER && c.r.kind == PARAM;
	if (mirrored) {
		struct scalar swap = c.l;

		c.l = c.r;
		c.r = swap;
	}
	c.direction = direction_of(op->direction, mirrored);
	return c;
}

/* Returns the trips, -1 if they are not found. */
static double find_trips(const struct program *p, const struct instruction *loop)
{
	const struct region *condition = &p->region.at[op_called(p, loop, 0)];
	const struct region *body = &p->region.at[op_called(p, loop, 1)];
	struct scope turn = {NULL, loop};
	struct scalar start, next;
	struct compared c;
	double way, step;

	if (condition->result.n != 1)
		return -1;
	c = find_compare(p, condition->result.at[0], &turn, 0);
	if (!c.direction || c.l.kind != PARAM)
		return -1;
	start = eval(p, op_operand(p, loop, c.l.param), NULL, 0);
	next = eval(p, body->result.at[c.l.param], &turn, 0);
	if (c.r.kind != NUMBER || start.kind != NUMBER || next.kind != PARAM ||
	    next.param != c.l.param || next.number == 0)
		return -1;
	way = c.r.number - c.l.number - start.number;
	step = next.number;
	if (c.direction == '>' || c.direction == '}') {
		way = -way;
		step = -step;
	}
	if (c.direction == '!')
		return way / step >= 0 && fmod(way, step) == 0 ? way / step : -1;
	if (step < 0)
		return -1;
	if (c.direction == '<' || c.direction == '>')
		return way > 0 ? ceil(way / step) : 0;
	return way >= 0 ? floor(way / step) + 1 : 0;
}

void trips_find(struct program *p)
{
	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];
		double n;

		if (op->code != HLO_WHILE || op->async == ASYNC_DONE ||
		    op->as.loop->known)
			continue;
		n = find_trips(p, op);
		if (n >= 0 && n <= 1e15) {
			op->as.loop->trips = (int64_t)n;
			op->as.loop->known = true;
		}
	}
}

void trips_warn(struct program *p)
{
	for (int64_t i = 0; i < p->op.n; i++) {
		const struct instruction *op = &p->op.at[i];

		if (op->code != HLO_WHILE || op->async == ASYNC_DONE ||
		    op->as.loop->known || p->region.at[op->region].runs <= 0)
			continue;
		program_warn(
			p, op->line,
			"the trips of loop '%.*s' are not known: 1 is taken, set them "
			"with --trip %.*s=N",
			(int)op->name.length, op->name.at, (int)op->name.length,
			op->name.at);
	}
}
