#include "move/scheme.h"

#include "base/suggest.h"
#include "notation/notation.h"
#include "plan/devices.h"

#include <stdlib.h>
#include <string.h>

static const char *const axis_names[] = {"data",     "fsdp",   "tensor", "context",
                                         "pipeline", "expert", NULL};

/* --- meshes and devices --------------------------------------------------------------- */

/* Takes `expert=N` out of the list of axes. */
static enum status take_expert(struct scheme *s, struct text *rest, struct error *e)
{
	const char *pos = s->text;

	s->expert = 1;
	while (*pos) {
		size_t n = strcspn(pos, ",");

		if (n > 7 && strncmp(pos, "expert=", 7) == 0) {
			struct where at = s->at;
			struct scan scan;
			int64_t size;

			at.col += (unsigned)(pos + 7 - s->text);
			scan = scan_start(arena_strndup(s->arena, pos + 7, n - 7), at,
			                  e);
			if (!scan_int(&scan, "expert", 1, MESH_DEVICES_MAX, &size) ||
			    scan_finish(&scan) != OK)
				return e->code;
			s->expert = (int32_t)size;
		} else {
			text_printf(rest, "%s%.*s", rest->length ? "," : "", (int)n,
			            pos);
		}
		pos += n + (pos[n] == ',');
	}
	return OK;
}

/* Finds the axes that schemes know; of other names one is remembered. */
static void find_axes(struct scheme *s)
{
	int *const axis[] = {&s->data, &s->fsdp, &s->tensor, &s->context};
	const struct mesh *m = &s->stage;

	for (int i = 0; i < 4; i++)
		*axis[i] = mesh_axis(m, axis_names[i], strlen(axis_names[i]));
	s->unknown = NULL;
	for (int i = 0; i < m->naxes && !s->unknown; i++)
		if (i != s->data && i != s->fsdp && i != s->tensor && i != s->context)
			s->unknown = m->axis[i].name;
}

/* Makes the mesh of one stage: without the axis of the stages. */
static void make_stage(struct scheme *s)
{
	struct text text = {0};
	int k = s->pipeline;

	s->stage = s->whole;
	s->stages = 1;
	if (k >= 0) {
		s->stages = s->whole.axis[k].size;
		s->stage.ndevices = s->whole.ndevices / s->stages;
		s->stage.naxes--;
		memmove(&s->stage.axis[k], &s->stage.axis[k + 1],
		        (size_t)(s->stage.naxes - k) * sizeof(struct axis));
	}
	if (s->stage.naxes == 0)
		s->stage.axis[s->stage.naxes++] = (struct axis){"data", 1};
	s->stage.ids = NULL;
	s->stage.nids = 0;
	mesh_print(&text, &s->stage);
	s->stage_text = text_take(&text, s->arena);
}

/* Appends the devices from `first` to `last` to a list. */
static void add_devices(struct text *list, int32_t first, int32_t last)
{
	text_printf(list, first == last ? "%s%d" : "%s%d-%d", list->length ? "," : "",
	            (int)first, (int)last);
}

/* Returns the devices of a stage as a list `0-3,8-11`. */
static const char *stage_list(const struct scheme *s, int32_t stage)
{
	int64_t stride = s->pipeline < 0 ? s->whole.ndevices
	                                 : mesh_stride(&s->whole, s->pipeline);
	struct text text = {0};
	int32_t first = -1, last = -1;

	for (int64_t i = 0; i < s->stage.ndevices; i++) {
		int64_t position =
			(i / stride * s->stages + stage) * stride + i % stride;
		int32_t d = s->device[position];

		if (first >= 0 && d != last + 1)
			add_devices(&text, first, last);
		if (first < 0 || d != last + 1)
			first = d;
		last = d;
	}
	add_devices(&text, first, last);
	return text_take(&text, s->arena);
}

static enum status make_devices(struct scheme *s, struct error *e)
{
	int32_t n = s->whole.ndevices, *list, given;

	if (s->devices) {
		if (devices_parse(&list, &given, s->arena, s->devices, s->devices_at,
		                  MESH_DEVICES_MAX, e) != OK)
			return e->code;
		if (given != n)
			return error_set(e, E_TYPE, s->devices_at,
			                 "%d devices, expected %d as the mesh has",
			                 (int)given, (int)n);
	} else {
		list = arena_alloc(s->arena, (size_t)n, sizeof(*list));
		for (int32_t i = 0; i < n; i++)
			list[i] = i;
	}
	s->device = list;
	s->stage_devices =
		arena_alloc(s->arena, (size_t)s->stages, sizeof(*s->stage_devices));
	for (int32_t i = 0; i < s->stages; i++)
		s->stage_devices[i] = stage_list(s, i);
	return OK;
}

static int64_t axis_size(const struct scheme *s, int axis)
{
	return axis < 0 ? 1 : s->stage.axis[axis].size;
}

/* Returns how many devices the axes have over which experts are cut first. */
static int64_t expert_devices(const struct scheme *s)
{
	return axis_size(s, s->data) * axis_size(s, s->fsdp) * axis_size(s, s->context);
}

/* Returns whether experts are cut over the tensor axis as well. */
static bool expert_folds(const struct scheme *s)
{
	return expert_devices(s) % s->expert != 0;
}

enum status scheme_make(struct scheme *s, struct error *e)
{
	struct text rest = {0};
	int64_t all;

	if (take_expert(s, &rest, e) != OK) {
		text_free(&rest);
		return e->code;
	}
	if (mesh_parse(&s->whole, s->arena, text_take(&rest, s->arena), s->at, e) != OK)
		return e->code;
	s->pipeline = mesh_axis(&s->whole, "pipeline", strlen("pipeline"));
	make_stage(s);
	find_axes(s);
	all = expert_devices(s) * axis_size(s, s->tensor);
	if (expert_folds(s) && all % s->expert)
		return error_set(e, E_TYPE, s->at,
		                 "expert=%d divides neither the %lld devices of data, "
		                 "fsdp and context nor the %lld of these and tensor",
		                 (int)s->expert, (long long)expert_devices(s),
		                 (long long)all);
	return make_devices(s, e);
}

/* --- rules ---------------------------------------------------------------------------- */

enum status scheme_rule_add(struct scheme *s, const char *match, struct where match_at,
                            const char *layout, struct where layout_at, struct error *e)
{
	struct scheme_rule *rule = list_add(&s->rule, s->arena);

	*rule = (struct scheme_rule){.layout = layout, .layout_at = layout_at};
	if (pattern_compile(&rule->match, match, match_at, e) != OK)
		s->rule.n--;
	return e->code;
}

void scheme_free(struct scheme *s)
{
	for (int64_t i = 0; i < s->rule.n; i++)
		regfree(&s->rule.at[i].match);
	s->rule.n = 0;
}

/* --- layouts of the schemes ----------------------------------------------------------- */

/* What of the axes is not yet used by a layout. */
struct free_parts {
	struct part part[LAYOUT_PARTS_MAX];
	int n;
};

static struct part whole_axis(const struct scheme *s, int axis)
{
	return (struct part){axis, 1, s->stage.axis[axis].size};
}

static enum status not_over(const struct model_tensor *t, const struct scheme *s,
                            int64_t n, const char *what, const char *axis, int64_t size,
                            struct error *e)
{
	return error_set(e, E_TYPE, s->at, "%.100s: %lld %s do not go over %s=%lld",
	                 t->name, (long long)n, what, axis, (long long)size);
}

/* Cuts the heads of keys and values, each of which may be on several devices. */
static enum status cut_kv_heads(struct layout *l, int dim, const struct scheme *s,
                                const struct model_tensor *t, struct error *e)
{
	struct part p = whole_axis(s, s->tensor);
	int64_t n = s->kv_heads;

	if (n && n % p.size && p.size % n)
		return not_over(t, s, n, "heads of keys and values", "tensor", p.size,
		                e);
	if (n && p.size > n)
		p.size = (int32_t)n;
	layout_append(l, dim, p);
	return OK;
}

static enum status cut_tensor(struct layout *l, const struct scheme *s,
                              const struct model_tensor *t, struct error *e)
{
	if (s->tensor < 0 || (t->in_expert && s->expert > 1 && expert_folds(s)))
		return OK;
	for (int i = 0; i < t->rank; i++) {
		int64_t size = axis_size(s, s->tensor);

		switch (t->axis[i]) {
		case TENSOR_KV_HEADS:
			if (cut_kv_heads(l, i, s, t, e) != OK)
				return e->code;
			break;
		case TENSOR_HEADS:
			if (s->heads && s->heads % size)
				return not_over(t, s, s->heads, "heads", "tensor", size,
				                e);
			layout_append(l, i, whole_axis(s, s->tensor));
			break;
		case TENSOR_FFN:
		case TENSOR_VOCAB:
			layout_append(l, i, whole_axis(s, s->tensor));
			break;
		default:
			break;
		}
	}
	return OK;
}

/*
 * Cuts the experts over the minor-most devices of the axes they go over, and takes what
 * that uses of the axis fsdp out of *fsdp.
 */
static enum status cut_experts(struct layout *l, struct part *fsdp,
                               const struct scheme *s, const struct model_tensor *t,
                               struct error *e)
{
	struct part part[MESH_AXES_MAX];
	bool folds = expert_folds(s);
	int32_t left = s->expert;
	int n = 0;

	if (s->expert == 1 || !t->in_expert)
		return OK;
	if (t->dim[0] % s->expert)
		return not_over(t, s, t->dim[0], "experts", "expert", s->expert, e);
	for (int i = s->stage.naxes - 1; i >= 0 && left > 1; i--) {
		int32_t size = s->stage.axis[i].size;

		if (i != s->data && i != s->fsdp && i != s->context &&
		    !(folds && i == s->tensor))
			continue;
		if (size % left && left % size)
			return not_over(t, s, size, "devices of an axis", "expert",
			                s->expert, e);
		part[n] = size > left ? (struct part){i, size / left, left}
		                      : (struct part){i, 1, size};
		if (i == s->fsdp)
			fsdp->size /= part[n].size;
		left /= part[n++].size;
	}
	while (n > 0)
		layout_append(l, 0, part[--n]);
	return OK;
}

/* Cuts the first dimension that has elements left for it over what fsdp has left. */
static void cut_fsdp(struct layout *l, struct part fsdp, const struct model_tensor *t)
{
	int dim = 0;

	if (fsdp.size < 2)
		return;
	if (t->in_expert && t->rank > 1 && t->dim[0] % (layout_shards(l, 0) * fsdp.size))
		dim = 1;
	layout_append(l, dim, fsdp);
}

static enum status scheme_text(const char **out, const struct scheme *s,
                               const struct model_tensor *t, struct error *e)
{
	struct layout l = layout_replicated(t->rank);
	struct part fsdp = {s->fsdp, 1, 1};
	struct shape shape = {.rank = t->rank};
	struct text text = {0};

	if (s->unknown) {
		struct suggestion near =
			suggest_among(s->unknown, strlen(s->unknown), axis_names);

		return error_set(
			e, E_TYPE, s->at,
			"no rule says the layout of %.100s, and axis '%.40s' "
			"says no scheme, expected data, fsdp, tensor, context, "
			"expert or pipeline%s",
			t->name, s->unknown, suggest_ask(&near, ""));
	}
	if (s->fsdp >= 0)
		fsdp = whole_axis(s, s->fsdp);
	if (cut_experts(&l, &fsdp, s, t, e) != OK || cut_tensor(&l, s, t, e) != OK)
		return e->code;
	cut_fsdp(&l, fsdp, t);
	layout_normalise(&l);
	memcpy(shape.dim, t->dim, sizeof(t->dim));
	layout_print(&text, &l, &s->stage, &shape);
	*out = text_take(&text, s->arena);
	return OK;
}

int32_t scheme_stage(const struct scheme *s, const struct model_tensor *t)
{
	if (t->layer < 0 || s->stages == 1)
		return 0;
	if (t->layer >= s->layers)
		return s->stages - 1;
	return (int32_t)(t->layer * s->stages / s->layers);
}

enum status scheme_layout(const char **out, struct where *at, const struct scheme *s,
                          const struct model_tensor *t, struct error *e)
{
	for (int64_t i = 0; i < s->rule.n; i++)
		if (regexec(&s->rule.at[i].match, t->name, 0, NULL, 0) == 0) {
			*out = s->rule.at[i].layout;
			*at = s->rule.at[i].layout_at;
			return OK;
		}
	*at = s->at;
	return scheme_text(out, s, t, e);
}

/* --- what names say ------------------------------------------------------------------- */

/* Ends of names, without ".weight" and ".bias", and what rows and columns run over. */
static const struct {
	const char *end;
	enum tensor_axis row, column;
} named[] = {
	{"q_proj", TENSOR_HEADS, TENSOR_HIDDEN},
	{"q_b_proj", TENSOR_HEADS, TENSOR_OTHER},
	{"kv_b_proj", TENSOR_HEADS, TENSOR_OTHER},
	{"k_proj", TENSOR_KV_HEADS, TENSOR_HIDDEN},
	{"v_proj", TENSOR_KV_HEADS, TENSOR_HIDDEN},
	{"o_proj", TENSOR_HIDDEN, TENSOR_HEADS},
	{"gate_proj", TENSOR_FFN, TENSOR_HIDDEN},
	{"up_proj", TENSOR_FFN, TENSOR_HIDDEN},
	{"down_proj", TENSOR_HIDDEN, TENSOR_FFN},
	{"w1", TENSOR_FFN, TENSOR_HIDDEN},
	{"w3", TENSOR_FFN, TENSOR_HIDDEN},
	{"w2", TENSOR_HIDDEN, TENSOR_FFN},
	{"embed_tokens", TENSOR_VOCAB, TENSOR_HIDDEN},
	{"lm_head", TENSOR_VOCAB, TENSOR_HIDDEN},
};

/* Returns whether the first n bytes of the name end with a word, from a dot on. */
static bool ends_with(const char *name, size_t n, const char *word)
{
	size_t k = strlen(word);

	return n >= k && memcmp(name + n - k, word, k) == 0 &&
	       (n == k || name[n - k - 1] == '.');
}

void scheme_name_axes(struct model_tensor *t)
{
	const char *layer = strstr(t->name, "layers."), *dot = strrchr(t->name, '.');
	size_t n = dot && (!strcmp(dot, ".weight") || !strcmp(dot, ".bias"))
	                   ? (size_t)(dot - t->name)
	                   : strlen(t->name);
	int first = t->rank == 3;

	t->in_expert = strstr(t->name, ".experts.") && t->rank == 3;
	t->layer = layer ? strtoll(layer + strlen("layers."), NULL, 10)
	           : ends_with(t->name, n, "embed_tokens") ? -1
	                                                   : INT64_MAX;
	for (int i = 0; i < t->rank; i++)
		t->axis[i] = TENSOR_OTHER;
	if (t->in_expert)
		t->axis[0] = TENSOR_EXPERTS;
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (ends_with(t->name, n, named[i].end)) {
			if (t->rank > first)
				t->axis[first] = named[i].row;
			if (t->rank > first + 1)
				t->axis[first + 1] = named[i].column;
		}
}
