/* Attributes of MLIR's ops: pairs of keys and values, and the numbers in these. */
#include "program/read/shlo.h"

#include <ctype.h>
#include <string.h>

struct span shlo_find(const struct shlo_op *m, const char *key)
{
	for (int64_t i = 0; i < m->pair.n; i++)
		if (span_is(m->pair.at[i].key, key))
			return m->pair.at[i].value;
	return (struct span){NULL, 0};
}

struct span shlo_find_of(const struct shlo_op *m, const char *const *keys)
{
	struct span value = {NULL, 0};

	for (; *keys && !value.at; keys++)
		value = shlo_find(m, *keys);
	return value;
}

/* The product of the dimensions of `tensor<2x3xi64>` behind a value. */
static int64_t tensor_size(const char *p, const char *end)
{
	int64_t n = 1;

	for (; p + 7 <= end; p++)
		if (!memcmp(p, "tensor<", 7))
			break;
	for (p += 7; p < end && isdigit((unsigned char)*p);) {
		int64_t one = 0;

		for (; p < end && isdigit((unsigned char)*p) && one < INT32_MAX; p++)
			one = one * 10 + (*p - '0');
		if (p < end && *p == 'x')
			p++;
		n = one && n > INT32_MAX / one ? INT32_MAX : n * one;
	}
	return n;
}

struct int_list {
	LIST(int64_t) list;
};

/* Reads numbers, true and false up to the bracket that closes the value. */
static void read_numbers(struct build *b, const char *p, const char *end,
                         struct int_list *out)
{
	int depth = 0;

	for (; p < end; p++) {
		bool negative = *p == '-';
		int64_t n = 0;

		if (strchr("[<(", *p))
			depth++;
		if (strchr("]>)", *p) && --depth <= 0)
			return;
		if (*p == ':' && !depth)
			return;
		if (!memcmp(p, "true", p + 4 <= end ? 4 : 0) && p + 4 <= end) {
			*list_add(&out->list, b->a) = 1;
			p += 3;
			continue;
		}
		if (p + 5 <= end && !memcmp(p, "false", 5)) {
			*list_add(&out->list, b->a) = 0;
			p += 4;
			continue;
		}
		p += negative;
		if (p >= end || !isdigit((unsigned char)*p))
			continue;
		for (; p < end && isdigit((unsigned char)*p); p++)
			n = n < INT64_MAX / 16 ? n * 10 + (*p - '0') : n;
		*list_add(&out->list, b->a) = negative ? -n : n;
		p--;
	}
}

struct ints shlo_ints(struct build *b, struct span value)
{
	struct int_list all = {{0}};
	const char *p = value.at, *end = span_end(value);
	bool dense = value.at && value.length > 6 && !memcmp(p, "dense<", 6);

	if (!value.at)
		return (struct ints){0, NULL};
	/* The type of an array's elements has digits, too. */
	if (value.length > 6 && !memcmp(p, "array<", 6)) {
		const char *colon = memchr(p, ':', (size_t)value.length);

		if (!colon)
			return (struct ints){0, NULL};
		p = colon + 1;
		end--;
	}
	read_numbers(b, dense ? p + 5 : p, end, &all);
	if (dense && all.list.n == 1) {
		int64_t n = tensor_size(p, end), first = all.list.at[0];

		for (int64_t i = 1; i < n && i < 4096; i++)
			*list_add(&all.list, b->a) = first;
	}
	return (struct ints){(int32_t)all.list.n, all.list.at};
}

struct ints shlo_ints_in(struct build *b, struct span value, const char *key)
{
	const char *p = value.at ? span_find(value, key) : NULL;
	const char *end = span_end(value);

	while (p && p < end && (*p == ' ' || *p == '='))
		p++;
	if (!p || p >= end)
		return (struct ints){0, NULL};
	if (*p == '[') {
		const char *close = memchr(p, ']', (size_t)(end - p));

		end = close ? close + 1 : end;
	} else {
		const char *q = p;

		while (q < end && (isdigit((unsigned char)*q) || *q == '-'))
			q++;
		end = q;
	}
	return shlo_ints(b, (struct span){p, (int32_t)(end - p)});
}

/* The two sizes of `tensor<2x4xi64>` behind a value. */
static bool two_sizes(struct span value, int64_t size[2])
{
	const char *p = span_find(value, "tensor<"), *end = span_end(value);
	int n = 0;

	size[0] = size[1] = 0;
	for (; p && p < end && n < 2 && isdigit((unsigned char)*p); n++) {
		for (; p < end && isdigit((unsigned char)*p); p++)
			size[n] = size[n] < INT32_MAX ? size[n] * 10 + (*p - '0')
			                              : size[n];
		if (p < end && *p == 'x')
			p++;
	}
	return n == 2;
}

int32_t shlo_groups(struct shlo *r, const struct shlo_op *m, struct span value)
{
	struct build *b = r->b;
	struct ints ids = shlo_ints(b, value);
	int32_t *first, *at, n = 0;
	int64_t size[2];

	if (!value.at || !span_find(value, "dense<") || !two_sizes(value, size) ||
	    size[0] * size[1] != ids.n) {
		scan_fail_at(&b->s, value.at ? value.at : m->pos, E_SYNTAX,
		             "expected groups such as dense<[[0, 1], [2, 3]]> : "
		             "tensor<2x2xi64>");
		return -1;
	}
	first = arena_alloc(b->a, (size_t)size[0] + 1, sizeof(*first));
	at = arena_alloc(b->a, (size_t)ids.n, sizeof(*at));
	for (int64_t i = 0; i < size[0]; i++) {
		first[i] = n;
		for (int64_t k = 0; k < size[1]; k++) {
			int64_t id = ids.at[i * size[1] + k];

			if (id >= MESH_DEVICES_MAX) {
				scan_fail_at(&b->s, value.at, E_RANGE, "no such device");
				return -1;
			}
			/* Shorter groups end in -1. */
			if (id >= 0)
				at[n++] = (int32_t)id;
		}
	}
	first[size[0]] = n;
	return build_add_groups(b, value, (int32_t)size[0], first, at);
}

/* --- dictionaries and values --- */

/* Reads the value of a key in a dictionary: up to the next comma or its end. */
static bool dict_value(struct build *b, struct span *out)
{
	struct span more;

	if (!lex_value(&b->s, out))
		return false;
	/* Texts may go on in the next line. */
	while (lex_peek(&b->s) && !strchr(",}>)]", *b->s.pos)) {
		if (!lex_value(&b->s, &more))
			return false;
		out->length = (int32_t)(more.at + more.length - out->at);
	}
	return true;
}

bool shlo_dict(struct build *b, struct shlo_op *m)
{
	bool first = true;

	for (; !lex_take(&b->s, "}"); first = false) {
		struct shlo_pair *pair = list_add(&m->pair, b->a);

		*pair = (struct shlo_pair){{NULL, 0}, {NULL, 0}};
		if (!first && !lex_expect(&b->s, ","))
			return false;
		if (lex_peek(&b->s) == '"') {
			if (!lex_quoted(&b->s, &pair->key))
				return false;
		} else if (!lex_name(&b->s, "", &pair->key)) {
			scan_fail(&b->s, E_SYNTAX, "expected the name of an attribute");
			return false;
		}
		if (lex_take(&b->s, "=") && !dict_value(b, &pair->value))
			return false;
	}
	return true;
}

bool shlo_dict_of(struct build *b, struct shlo_op *m, struct span *written)
{
	const char *behind = b->s.pos;

	*written = (struct span){behind, 0};
	if (lex_peek(&b->s) != '{')
		return true;
	behind = b->s.pos++;
	if (!shlo_dict(b, m))
		return false;
	*written = span_up_to(behind, b->s.pos);
	return true;
}

bool shlo_value(struct build *b, struct span *out)
{
	struct span part;
	char c = lex_peek(&b->s);

	*out = (struct span){b->s.pos, 0};
	if (strchr("[{<(", c) && c) {
		if (!lex_balanced(&b->s, &part))
			return false;
		while (c == '[' && (lex_take(&b->s, "x") || lex_take(&b->s, "->")))
			if (!lex_balanced(&b->s, &part))
				return false;
	} else if (c == '"') {
		if (!lex_quoted(&b->s, &part))
			return false;
	} else {
		while (isalnum((unsigned char)*b->s.pos) ||
		       (*b->s.pos && strchr("_.-#@!$", *b->s.pos)))
			b->s.pos++;
		if (*b->s.pos == '<' && !lex_balanced(&b->s, &part))
			return false;
		if (b->s.pos == out->at) {
			scan_fail(&b->s, E_SYNTAX, "expected a value");
			return false;
		}
	}
	out->length = (int32_t)(b->s.pos - out->at);
	return true;
}

bool shlo_place(struct build *b, struct span *out)
{
	*out = (struct span){NULL, 0};
	return !lex_word(&b->s, "loc") || lex_balanced(&b->s, out);
}

/* --- places in the source --- */

static struct span alias_of(const struct shlo *r, struct span name)
{
	for (int64_t i = 0; i < r->alias.n; i++)
		if (r->alias.at[i].name.length == name.length &&
		    !memcmp(r->alias.at[i].name.at, name.at, (size_t)name.length))
			return r->alias.at[i].value;
	return (struct span){NULL, 0};
}

/*
 * A text in quotes before a colon and a number is a file, `"f.py":10:4`; the first other one
 * is the name of the op, `"jit(f)/add"(..)`.
 */
static void read_place(const struct shlo *r, struct instruction *op, struct span s,
                       int depth)
{
	const char *p = s.at, *end = span_end(s);

	for (; s.at && p < end; p++) {
		const char *q = p + 1;

		if (*p == '#' && depth < 6) {
			while (q < end && (isalnum((unsigned char)*q) || *q == '_'))
				q++;
			read_place(
				r, op,
				alias_of(r, (struct span){p + 1, (int32_t)(q - p - 1)}),
				depth + 1);
			p = q - 1;
		}
		if (*p != '"')
			continue;
		while (q < end && *q != '"')
			q++;
		struct span text = {p + 1, (int32_t)(q - p - 1)};
		bool file = q + 2 < end && q[1] == ':' && isdigit((unsigned char)q[2]);

		if (file && !op->source_file.at) {
			op->source_file = text;
			for (q += 2; q < end && isdigit((unsigned char)*q) &&
			             op->source_line < INT32_MAX / 16;
			     q++)
				op->source_line = op->source_line * 10 + (*q - '0');
		} else if (!file && !op->op_name.at) {
			op->op_name = text;
		}
		p = q;
	}
}

void shlo_places(struct shlo *r)
{
	for (int64_t i = 0; i < r->places.n; i++)
		read_place(r, &r->b->p->op.at[r->places.at[i].op],
		           r->places.at[i].place, 0);
}
