/*
 * Lists of tensors in JSON: {"NAME": {"shape": [2048, 7168], "dtype": "F8_E4M3"}, ...}, the
 * header of a safetensors file and the form of weight-transfer libraries, or {"tensors":
 * [{"name": ..., "shape": ..., "dtype": ...}, ...]}. A tensor may have `from`, `to`, `mesh`,
 * `to_mesh`, `devices` and `to_devices` of its own, and so may the object that holds the
 * list. Members `__metadata__` and `data_offsets` are passed over. The tensors of experts,
 * NAME.experts.3.NAME, are put together as one with a dimension of experts in front.
 */
#include "move/read.h"

#include "base/hash.h"
#include "base/input.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

/* Names of types in safetensors files, and in libraries that take after PyTorch. */
static const struct {
	const char *theirs, *ours;
} types[] = {
	{"BOOL", "pred"},      {"I8", "s8"},
	{"I16", "s16"},        {"I32", "s32"},
	{"I64", "s64"},        {"F8_E4M3", "f8e4m3fn"},
	{"F8_E5M2", "f8e5m2"}, {"F8_E8M0", "f8e8m0fnu"},
};

/* A tensor of the list, or all of some experts. */
struct listed {
	struct model_tensor tensor;
	const struct dtype *dtype;
	struct problem_text said;
	int64_t experts; /* that were put together; 0: it is none */
};

struct listing {
	struct move_work *work;
	const char *path;
	LIST(struct listed) listed;
	struct table index; /* of experts, by their names */
	struct problem_text common;
	struct error *error;
};

static struct where listing_where(const struct listing *l)
{
	return (struct where){.file = l->path};
}

static enum status bad_tensor(struct listing *l, const char *name, const char *what)
{
	return error_set(l->error, E_SYNTAX, listing_where(l), "tensor '%.100s': %s",
	                 name, what);
}

static const struct dtype *listed_dtype(const char *name)
{
	char lower[32];
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i].theirs, name))
			name = types[i].ours;
	if (n >= sizeof(lower))
		return NULL;
	for (size_t i = 0; i <= strlen(name); i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	return dtype_find(lower, strlen(lower));
}

static enum status read_shape(struct listing *l, struct model_tensor *t,
                              const json_t *shape)
{
	size_t i;
	json_t *dim;

	if (!json_is_array(shape) || json_array_size(shape) > TENSOR_RANK - 1)
		return bad_tensor(l, t->name,
		                  "expected \"shape\", a list of at most 7 numbers");
	json_array_foreach(shape, i, dim)
	{
		t->dim[t->rank] = json_integer_value(dim);
		if (t->dim[t->rank++] < 1)
			return bad_tensor(
				l, t->name,
				"expected a shape of whole numbers from 1 on");
	}
	return OK;
}

/* Reads the texts that a tensor or the whole list may have. */
static enum status read_said(struct listing *l, struct problem_text *t,
                             const char *name, const json_t *object)
{
	const struct {
		const char *key, **text;
		struct where *at;
	} texts[] = {
		{"from", &t->from, &t->from_at},
		{"to", &t->to, &t->to_at},
		{"mesh", &t->mesh, &t->mesh_at},
		{"to_mesh", &t->to_mesh, &t->to_mesh_at},
		{"devices", &t->devices, &t->devices_at},
		{"to_devices", &t->to_devices, &t->to_devices_at},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const json_t *value = json_object_get(object, texts[i].key);

		if (!value)
			continue;
		if (!json_is_string(value))
			return bad_tensor(l, name,
			                  arena_printf(l->work->arena,
			                               "expected a text as \"%s\"",
			                               texts[i].key));
		*texts[i].text = arena_strdup(l->work->arena, json_string_value(value));
		*texts[i].at = listing_where(l);
	}
	return OK;
}

/* Checks that a tensor has no member that is not known. */
static enum status check_members(struct listing *l, const char *name, json_t *object)
{
	static const char *const known[] = {
		"name", "shape",   "dtype",   "data_offsets", "from", "to",
		"mesh", "to_mesh", "devices", "to_devices",   NULL};
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		int i = 0;

		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			return bad_tensor(l, name,
			                  arena_printf(l->work->arena,
			                               "unknown member \"%.60s\"", key));
	}
	return OK;
}

/*
 * Returns the name without the number of the expert, NULL where it is of none:
 * "mlp.experts.gate_proj.weight" of "mlp.experts.12.gate_proj.weight".
 */
static const char *without_expert(struct arena *a, const char *name)
{
	const char *experts = strstr(name, ".experts."), *number, *end;

	if (!experts)
		return NULL;
	number = experts + strlen(".experts.");
	end = number + strspn(number, "0123456789");
	if (end == number || *end != '.')
		return NULL;
	return arena_printf(a, "%.*s%s", (int)(number - name), name, end + 1);
}

/* Adds an expert to those of its layer. */
static enum status add_expert(struct listing *l, struct listed *one, const char *name)
{
	uint64_t hash = hash_bytes(HASH_START, name, strlen(name));
	struct model_tensor *t = &one->tensor;
	size_t slot;

	for (int32_t i = table_first(&l->index, hash, &slot); i >= 0;
	     i = table_next(&l->index, hash, &slot)) {
		struct listed *all = &l->listed.at[i];

		if (strcmp(all->tensor.name, name) != 0)
			continue;
		if (all->dtype != one->dtype || all->tensor.rank != t->rank + 1 ||
		    memcmp(&all->tensor.dim[1], t->dim,
		           (size_t)t->rank * sizeof(*t->dim)) != 0)
			return bad_tensor(l, t->name,
			                  "another shape or type than the experts "
			                  "before it");
		all->tensor.dim[0]++;
		return OK;
	}
	l->index.arena = l->work->arena;
	table_add(&l->index, hash, (int32_t)l->listed.n);
	memmove(&t->dim[1], t->dim, (size_t)t->rank * sizeof(*t->dim));
	t->dim[0] = 1;
	t->rank++;
	t->name = name;
	*list_add(&l->listed, l->work->arena) = *one;
	return OK;
}

static enum status add_listed(struct listing *l, const char *name, json_t *object)
{
	struct listed one = {.said = l->common};
	const char *type = json_string_value(json_object_get(object, "dtype")), *expert;

	one.tensor.name = arena_strdup(l->work->arena, name);
	if (!json_is_object(object))
		return bad_tensor(l, name, "expected an object with shape and dtype");
	if (!type)
		return bad_tensor(l, name, "expected \"dtype\", a text");
	one.dtype = listed_dtype(type);
	if (!one.dtype)
		return bad_tensor(
			l, name,
			arena_printf(l->work->arena, "unknown type '%.40s'", type));
	if (check_members(l, name, object) != OK ||
	    read_shape(l, &one.tensor, json_object_get(object, "shape")) != OK ||
	    read_said(l, &one.said, name, object) != OK)
		return l->error->code;
	expert = one.said.mesh ? NULL : without_expert(l->work->arena, one.tensor.name);
	if (expert)
		return add_expert(l, &one, expert);
	*list_add(&l->listed, l->work->arena) = one;
	return OK;
}

/* Reads {"tensors": [...]}, with what they share beside the list. */
static enum status read_array(struct listing *l, json_t *root, const json_t *list)
{
	static const char *const known[] = {"tensors", "from",    "to",         "mesh",
	                                    "to_mesh", "devices", "to_devices", NULL};
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach(root, key, value)
	{
		int k = 0;

		while (known[k] && strcmp(known[k], key) != 0)
			k++;
		if (!known[k])
			return error_set(l->error, E_SYNTAX, listing_where(l),
			                 "unknown member \"%.60s\" beside tensors", key);
	}
	if (read_said(l, &l->common, "of all", root) != OK)
		return l->error->code;
	json_array_foreach(list, i, value)
	{
		const char *name = json_string_value(json_object_get(value, "name"));

		if (!name)
			return error_set(l->error, E_SYNTAX, listing_where(l),
			                 "tensors[%zu]: expected \"name\", a text", i);
		if (add_listed(l, name, value) != OK)
			return l->error->code;
	}
	return OK;
}

static enum status read_root(struct listing *l, json_t *root)
{
	const json_t *list = json_object_get(root, "tensors");
	const char *name;
	json_t *value;

	if (!json_is_object(root))
		return error_set(
			l->error, E_SYNTAX, listing_where(l),
			"expected an object of tensors by name, or {\"tensors\": "
			"[...]}");
	if (json_is_array(list))
		return read_array(l, root, list);
	json_object_foreach(root, name, value)
	{
		if (strcmp(name, "__metadata__") != 0 && add_listed(l, name, value) != OK)
			return l->error->code;
	}
	return OK;
}

/* Adds what was listed to the workload. */
static enum status add_all(struct listing *l, struct move_sides *sides)
{
	int64_t layers = 0;

	if (l->listed.n == 0)
		return error_set(l->error, E_SYNTAX, listing_where(l),
		                 "no tensors in it");
	for (int64_t i = 0; i < l->listed.n; i++) {
		struct model_tensor *t = &l->listed.at[i].tensor;

		scheme_name_axes(t);
		if (t->layer < INT64_MAX && t->layer >= layers)
			layers = t->layer + 1;
	}
	sides->from.layers = sides->to.layers = layers ? layers : 1;
	for (int64_t i = 0; i < l->listed.n; i++) {
		const struct listed *one = &l->listed.at[i];

		if (move_add_tensor(l->work, sides, &one->tensor, one->dtype,
		                    &one->said, listing_where(l), l->error) != OK)
			return l->error->code;
	}
	return OK;
}

enum status move_add_list(struct move_work *w, struct move_sides *sides,
                          const char *path, struct error *e)
{
	struct listing l = {.work = w, .path = path, .error = e};
	struct text text = {0};
	json_error_t bad;
	json_t *root;

	if (input_read(&text, path, e) != OK) {
		text_free(&text);
		return e->code;
	}
	root = json_loadb(text.s ? text.s : "", text.length, JSON_REJECT_DUPLICATES,
	                  &bad);
	text_free(&text);
	if (!root)
		return error_set(e, E_SYNTAX,
		                 (struct where){.file = path,
		                                .line = (unsigned)bad.line,
		                                .col = (unsigned)bad.column},
		                 "no JSON: %.200s", bad.text);
	if (read_root(&l, root) == OK)
		add_all(&l, sides);
	json_decref(root);
	return e->code;
}
