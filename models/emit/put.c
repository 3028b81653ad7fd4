#include "emit/put.h"

void put_quoted(struct text *out, const char *name, char quote)
{
	text_append(out, &quote, 1);
	for (; *name; name++) {
		if (*name == quote || *name == '\\')
			text_append(out, "\\", 1);
		text_append(out, name, 1);
	}
	text_append(out, &quote, 1);
}

void put_tuple(struct text *out, const int64_t *value, int n)
{
	text_printf(out, "(");
	for (int i = 0; i < n; i++)
		text_printf(out, "%s%lld", i ? ", " : "", (long long)value[i]);
	text_printf(out, n == 1 ? ",)" : ")");
}

void put_list(struct text *out, const int32_t *value, int64_t n)
{
	text_printf(out, "[");
	for (int64_t i = 0; i < n; i++)
		text_printf(out, "%s%d", i ? ", " : "", value[i]);
	text_printf(out, "]");
}

void put_lists(struct text *out, const int32_t *value, int64_t n, int64_t each)
{
	text_printf(out, "[");
	for (int64_t i = 0; i < n; i++) {
		text_printf(out, "%s", i ? ", " : "");
		put_list(out, value + i * each, each);
	}
	text_printf(out, "]");
}

void put_array_type(struct text *out, const char *dtype, const struct shape *s)
{
	text_printf(out, "%s[", dtype);
	for (int i = 0; i < s->rank; i++)
		text_printf(out, "%s%lld", i ? "," : "", (long long)s->dim[i]);
	text_printf(out, "]");
}

static void put_split_digits(struct text *out, const struct local *l)
{
	const struct plan *p = l->plan;
	struct shape tile = local_tile(l, 0, false);

	for (int k = 0; k < tile.rank; k++) {
		int dim = p->view->dim[k];
		int64_t others = 1;

		text_printf(out, k ? ", " : "");
		if (l->free[dim] != k) {
			text_printf(out, "%lld", (long long)tile.dim[k]);
			continue;
		}
		for (int i = 0; i < tile.rank; i++)
			others *= i != k && p->view->dim[i] == dim ? tile.dim[i] : 1;
		text_printf(out, "a.shape[%d]", dim);
		if (others > 1)
			text_printf(out, " // %lld", (long long)others);
	}
}

void put_digits(struct text *out, const struct local *l, bool join)
{
	const struct plan *p = l->plan;
	int k = 0;

	text_printf(out, "    a = a.reshape(");
	if (!join)
		put_split_digits(out, l);
	for (int dim = 0; join && dim < p->problem->array.shape.rank; dim++) {
		text_printf(out, dim ? ", " : "");
		if (k == p->shape.rank || p->view->dim[k] != dim)
			text_printf(out, "1");
		for (int n = 0; k < p->shape.rank && p->view->dim[k] == dim; k++, n++)
			text_printf(out, "%sa.shape[%d]", n ? " * " : "", k);
	}
	text_printf(out, ")\n");
}

void put_name(struct text *out, int i, const char *name)
{
	text_printf(out, i ? ", " : "");
	put_quoted(out, name, '\'');
}

void put_device_mesh(struct text *out, const struct mesh *m)
{
	int64_t size[MESH_AXES_MAX];

	for (int i = 0; i < m->naxes; i++)
		size[i] = m->axis[i].size;
	text_printf(out, m->ids ? "mesh = DeviceMesh(DEVICE, torch.tensor("
	                        : "mesh = init_device_mesh(DEVICE, ");
	if (m->ids) {
		put_list(out, m->ids, m->ndevices);
		text_printf(out, ").reshape(");
	}
	put_tuple(out, size, m->naxes);
	text_printf(out, m->ids ? "), mesh_dim_names=(" : ", mesh_dim_names=(");
	for (int i = 0; i < m->naxes; i++)
		put_name(out, i, m->axis[i].name);
	text_printf(out, m->naxes == 1 ? ",))\n" : "))\n");
}

void put_weights(struct text *out, const int32_t *which, int32_t ndevices, int32_t n)
{
	text_printf(out, "[");
	for (int32_t d = 0; d < ndevices; d++)
		text_printf(out, "%s%lld", d ? ", " : "",
		            (long long)local_weight(which[d], n));
	text_printf(out, "]");
}

void put_torch_check(struct text *out, int32_t ndevices, const struct shape *s)
{
	text_printf(
		out,
		"\n\nif __name__ == '__main__':  # the check, a small array: torchrun "
		"--nproc-per-node %d FILE\n    shape = ",
		ndevices);
	put_tuple(out, s->dim, s->rank);
	text_printf(
		out,
		"\n    size = %lld\n    want = torch.arange(size, dtype=torch.int32, "
		"device=DEVICE).reshape(shape)\n",
		(long long)shape_elements(s));
}

void put_torch(struct text *out, const char *imports)
{
	text_printf(
		out,
		"import os\n\nimport torch\nimport torch.distributed as dist\n%s\n"
		"DEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
		"if DEVICE == 'cuda':\n"
		"    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n"
		"if not dist.is_initialized():\n"
		"    dist.init_process_group('nccl' if DEVICE == 'cuda' else 'gloo')\n",
		imports);
}
