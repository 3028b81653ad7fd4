/* StableHLO's text, with shardings of sdy or mhlo: a module of meshes and functions. */
#include "program/read/shlo.h"

#include <string.h>

struct result_texts {
	LIST(struct span) sharding, written;
	struct span type; /* the only one, without brackets */
};

/* The types of the results; how each is sharded, if it is said. */
static bool read_results(struct build *b, struct shlo_op *attrs,
                         struct result_texts *out)
{
	static const char *const keys[] = {"sdy.sharding", "mhlo.sharding", NULL};
	struct span place;

	b->type.leaf.n = b->type.split.n = 0;
	if (!lex_take(&b->s, "->"))
		return true;
	if (lex_peek(&b->s) != '(') {
		const char *start = b->s.pos;

		if (!shlo_type(b))
			return false;
		out->type = span_up_to(start, b->s.pos);
		return true;
	}
	b->s.pos++;
	for (bool first = true; !lex_take(&b->s, ")"); first = false) {
		attrs->pair.n = 0;
		if ((!first && !lex_expect(&b->s, ",")) || !shlo_type(b) ||
		    !shlo_dict_of(b, attrs, list_add(&out->written, b->a)) ||
		    !shlo_place(b, &place))
			return false;
		*list_add(&out->sharding, b->a) = shlo_find_of(attrs, keys);
	}
	return true;
}

/* Arguments of the entry whose buffers are given away, some of them to a result. */
static bool set_aliases(struct build *b, const struct shlo_op *attrs, int32_t region)
{
	const struct region *r = &b->p->region.at[region];
	int64_t at = 0;

	for (int64_t i = 0; i < attrs->pair.n; i++) {
		const struct shlo_pair *pair = &attrs->pair.at[i];
		bool alias = span_is(pair->key, "tf.aliasing_output");
		struct ints result;

		if (!alias && !span_is(pair->key, "jax.buffer_donor"))
			continue;
		result = shlo_ints(b, pair->value);
		if (alias &&
		    (!result.n || result.at[0] < 0 || result.at[0] >= r->result.n)) {
			scan_fail_at(&b->s, pair->key.at, E_RANGE, "no such result");
			return false;
		}
		*list_add(&b->p->alias, b->a) = (struct alias){
			alias ? (int32_t)result.at[0] : -1, attrs->operand.at[at++]};
	}
	return true;
}

static bool read_function(struct shlo *r)
{
	struct build *b = r->b;
	struct shlo_block args = {0};
	struct shlo_op attrs = {0}, more = {0};
	struct result_texts results = {{0}, {0}, {NULL, 0}};
	struct region *region;
	struct span name, place;
	int32_t number;

	if (!lex_word(&b->s, "public"))
		lex_word(&b->s, "private");
	if (!shlo_name(b, '@', &name)) {
		scan_fail(&b->s, E_SYNTAX, "expected the name of a function");
		return false;
	}
	if (!lex_expect(&b->s, "(") || !shlo_args(b, &args, &attrs) ||
	    !read_results(b, &more, &results) ||
	    (lex_word(&b->s, "attributes") &&
	     (!lex_expect(&b->s, "{") || !shlo_dict(b, &more))))
		return false;
	/* One that is only declared is not called. */
	if (!lex_take(&b->s, "{"))
		return true;
	if (!shlo_block(r, &args, name, &number) || !build_region_name(b, number) ||
	    !shlo_place(b, &place))
		return false;
	region = &b->p->region.at[number];
	region->result_type = results.type;
	if (results.sharding.n && results.sharding.n == region->result.n) {
		region->result_sharding = results.sharding.at;
		region->result_written = results.written.at;
	}
	if (b->p->entry >= 0 && !span_is(name, "main"))
		return true;
	b->p->entry = number;
	b->p->alias.n = 0;
	return set_aliases(b, &attrs, number);
}

/* Reads a count of devices among a module's attributes, which keeps *out if not there. */
static bool read_devices(struct build *b, const struct shlo_op *attrs, const char *key,
                         int32_t *out)
{
	struct span value = shlo_find(attrs, key);
	struct ints n = shlo_ints(b, value);

	if (!value.length)
		return true;
	if (n.n != 1 || n.at[0] < 1 || n.at[0] > MESH_DEVICES_MAX) {
		scan_fail_at(&b->s, value.at, E_RANGE, "expected %s of 1 to %d", key,
		             MESH_DEVICES_MAX);
		return false;
	}
	*out = (int32_t)n.at[0];
	return true;
}

static bool read_module(struct shlo *r)
{
	struct build *b = r->b;
	struct shlo_op attrs = {0};

	if (lex_peek(&b->s) == '@' && !shlo_name(b, '@', &b->p->name))
		return false;
	if (lex_word(&b->s, "attributes") &&
	    (!lex_expect(&b->s, "{") || !shlo_dict(b, &attrs)))
		return false;
	if (!read_devices(b, &attrs, "mhlo.num_partitions", &r->partitions) ||
	    !read_devices(b, &attrs, "mhlo.num_replicas", &b->p->replicas))
		return false;
	b->p->partitions = r->partitions;
	return lex_expect(&b->s, "{");
}

/* Keeps `@name = <["x"=2]>`; where no number of devices is said its mesh has it. */
static bool read_mesh(struct shlo *r)
{
	struct build *b = r->b;
	struct shlo_op attrs = {0};
	struct shlo_alias mesh;
	struct ints sizes;
	int64_t n = 1;

	if (!shlo_name(b, '@', &mesh.name) || !lex_expect(&b->s, "=") ||
	    !lex_balanced(&b->s, &mesh.value)) {
		scan_fail(&b->s, E_SYNTAX,
		          "expected a mesh such as @mesh = <[\"x\"=2]>");
		return false;
	}
	*list_add(&r->mesh, b->a) = mesh;
	*list_add(&b->p->mesh, b->a) = (struct span){
		mesh.name.at - 1,
		(int32_t)(mesh.value.at + mesh.value.length - mesh.name.at + 1)};
	for (const char *p = mesh.value.at; p < mesh.value.at + mesh.value.length; p++) {
		if (*p != '=' || p[-1] != '"')
			continue;
		sizes = shlo_ints(
			b, (struct span){p + 1, (int32_t)(mesh.value.at +
		                                          mesh.value.length - p - 1)});
		if (sizes.n && sizes.at[0] > 0 && n <= MESH_DEVICES_MAX / sizes.at[0])
			n *= sizes.at[0];
	}
	if (r->partitions && n > r->partitions) {
		scan_fail_at(
			&b->s, mesh.value.at, E_TYPE,
			"a mesh of %lld devices: expected at most %d, the module's "
			"mhlo.num_partitions",
			(long long)n, r->partitions);
		return false;
	}
	if (n > b->p->partitions)
		b->p->partitions = (int32_t)n;
	return !lex_take(&b->s, "{") || shlo_dict(b, &attrs);
}

static bool read_alias(struct shlo *r)
{
	struct shlo_alias alias;

	if (!shlo_name(r->b, '#', &alias.name) || !lex_expect(&r->b->s, "=") ||
	    !lex_value(&r->b->s, &alias.value))
		return false;
	*list_add(&r->alias, r->b->a) = alias;
	return true;
}

static bool read_item(struct shlo *r, int *open)
{
	struct build *b = r->b;
	struct span place;

	if (lex_peek(&b->s) == '#')
		return read_alias(r);
	if (*open && lex_take(&b->s, "}")) {
		--*open;
		return shlo_place(b, &place);
	}
	if (lex_word(&b->s, "module")) {
		++*open;
		return read_module(r);
	}
	if (lex_take(&b->s, "sdy.mesh"))
		return read_mesh(r);
	if (lex_take(&b->s, "func.func"))
		return read_function(r);
	scan_fail(&b->s, E_SYNTAX, "expected 'module', 'sdy.mesh' or 'func.func'");
	return false;
}

bool read_stablehlo(struct build *b)
{
	struct shlo r = {.b = b};
	int open = 0;

	while (lex_peek(&b->s))
		if (!read_item(&r, &open))
			return false;
	if (open) {
		scan_fail(&b->s, E_SYNTAX, "expected '}' at the end of the module");
		return false;
	}
	if (b->p->entry < 0) {
		scan_fail(&b->s, E_SYNTAX, "expected a function");
		return false;
	}
	if (!build_resolve(b))
		return false;
	shlo_places(&r);
	return build_finish(b);
}
