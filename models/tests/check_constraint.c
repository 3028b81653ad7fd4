/* Layouts as lines of programs, word for word. */
#include "planner_case.h"
#include "tests/tests.h"

#include "emit/constraint.h"
#include "notation/notation.h"

#include <check.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* Layouts between, in any spelling; text NULL: it cannot be said, for the reason `why`. */
static const struct {
	const char *array, *mesh, *layout[2];
	bool names_mesh;
	int manual;
	enum constraint_form form;
	const char *text, *why;
} lines[] = {
	{"bf16[8,16]",
         "x=4,y=2",
         {"P(None, ('y', 'x'))"},
         false,
         0,
         CONSTRAINT_JAX,
         "x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, ('y', "
         "'x'))))\n",
         NULL},
	/* a mesh of ours, and two layouts in a row */
	{"bf16[8,16]",
         "a=4,b=2",
         {"P('a')", "P('b', 'a')"},
         true,
         0,
         CONSTRAINT_JAX,
         "mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ('a', 'b'))\n"
         "x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P('a', None)))\n"
         "x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P('b', 'a')))\n",
         NULL},
	/* x of 8 as 2 x 2 x 2, of which the middle one is used; y is left whole */
	{"f32[8,16]",
         "x=8,y=3",
         {"[{}, {\"x\":(2)2}]"},
         false,
         0,
         CONSTRAINT_JAX,
         "cut_mesh = Mesh(mesh.devices.reshape(2, 2, 2, 3), ('x_0', 'x_1', 'x_2', "
         "'y'))\n"
         "x = jax.lax.with_sharding_constraint(x, NamedSharding(cut_mesh, P(None, "
         "'x_1')))\n",
         NULL},
	/* a whole axis that another layout cuts; a name that is taken; one axis */
	{"f32[8]",
         "x=4,x_0=2",
         {"[{\"x\"}]", "[{\"x\":(1)2, \"x_0\"}]"},
         true,
         0,
         CONSTRAINT_JAX,
         "cut_mesh = Mesh(np.array(jax.devices()).reshape(2, 2, 2), ('x_0_', 'x_1', "
         "'x_0'))\n"
         "x = jax.lax.with_sharding_constraint(x, NamedSharding(cut_mesh, P(('x_0_', "
         "'x_1'))))\n"
         "x = jax.lax.with_sharding_constraint(x, NamedSharding(cut_mesh, P(('x_0_', "
         "'x_0'))))\n",
         NULL},
	{"f32[8]",
         "<[\"x\"=3], device_ids=[2,0,1]>",
         {"P('x')"},
         true,
         0,
         CONSTRAINT_JAX,
         "mesh = Mesh(np.array(jax.devices())[[2, 0, 1]].reshape(3,), ('x',))\n"
         "x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P('x')))\n",
         NULL},
	{"f32[12]",
         "x=12",
         {"[{\"x\":(1)2}]", "[{\"x\":(1)3}]"},
         false,
         0,
         CONSTRAINT_JAX,
         NULL,
         "no axes have all these sub-axes"},
	/* inside a manual region over m */
	{"f32[2,8,8]",
         "m=2,x=4",
         {"P('m', None, 'x')"},
         false,
         1,
         CONSTRAINT_JAX,
         "x = jax.lax.with_sharding_constraint(x, P(None, 'x'))  # inside the "
         "shard_map "
         "over m\n",
         NULL},
	{"f8e4m3fn[8,16]",
         "x=8,y=2",
         {"[{}, {\"x\":(2)2}]", "P('x')"},
         false,
         0,
         CONSTRAINT_SDY,
         "sdy.mesh @mesh = <[\"x\"=8, \"y\"=2]>\n"
         "%1 = sdy.sharding_constraint %0 <@mesh, [{}, {\"x\":(2)2}]> : "
         "tensor<8x16xf8E4M3FN>\n"
         "%2 = sdy.sharding_constraint %1 <@mesh, [{\"x\"}, {}]> : "
         "tensor<8x16xf8E4M3FN>\n",
         NULL},
	{"s8[4]",
         "<[\"x\"=2], device_ids=[1,0]>",
         {"P('x')"},
         false,
         0,
         CONSTRAINT_SDY,
         "sdy.mesh @mesh = <[\"x\"=2], device_ids=[1, 0]>\n"
         "%1 = sdy.sharding_constraint %0 <@mesh, [{\"x\"}]> : tensor<4xi8>\n",
         NULL},
	{"c64[4]",
         "x=2",
         {"P('x')"},
         false,
         0,
         CONSTRAINT_SDY,
         "sdy.mesh @mesh = <[\"x\"=2]>\n"
         "%1 = sdy.sharding_constraint %0 <@mesh, [{\"x\"}]> : "
         "tensor<4xcomplex<f32>>\n",
         NULL},
	{"pred[2,4]",
         "m=2,x=2",
         {"P('m', 'x')"},
         false,
         1,
         CONSTRAINT_SDY,
         "sdy.mesh @mesh = <[\"m\"=2, \"x\"=2]>\n"
         "%1 = sdy.sharding_constraint %0 <@mesh, [{\"x\"}]> : tensor<4xi1>\n",
         NULL},
	{"f32[8,16]",
         "x=4,y=2",
         {"P(None, 'x')"},
         false,
         0,
         CONSTRAINT_HLO,
         "sharding={devices=[1,4,2]<=[8] last_tile_dim_replicate}\n",
         NULL},
	/* groups of m: devices 0-3 and 4-7; tiles by x, copies over y */
	{"f32[2,8,8]",
         "m=2,x=2,y=2",
         {"P('m', None, 'x')"},
         false,
         1,
         CONSTRAINT_HLO,
         "sharding={devices=[1,2,2,2]<=[2,2,2]T(1,0,2) last_tile_dims={manual, "
         "replicated}}\n",
         NULL},
	{"f32[2,8,8]",
         "x=4,m=2",
         {"P('m', None, 'x')"},
         false,
         1,
         CONSTRAINT_HLO,
         "sharding={devices=[1,4,2]<=[8] last_tile_dims={manual}}\n",
         NULL},
	{"f32[8,16]",
         "a=4,b=2",
         {"P(None, 'a')", "P(('a', 'b'))"},
         true,
         0,
         CONSTRAINT_DTENSOR,
         "mesh = init_device_mesh('cuda', (4, 2), mesh_dim_names=('a', 'b'))\n"
         "x = x.redistribute(mesh, [Shard(1), Replicate()])\n"
         "x = x.redistribute(mesh, [Shard(0), Shard(0)])\n",
         NULL},
	{"f32[8,16]",
         "x=4,y=2",
         {"P(None, 'x')", "P(('y', 'x'))"},
         false,
         0,
         CONSTRAINT_DTENSOR,
         NULL,
         "placements list no mesh dimensions in another order than the mesh's, as "
         "S(0)[1]S(0)[0] has them"},
	{"f32[8,16]",
         "x=4,y=2",
         {"[{\"x\":(1)2}, {}]"},
         false,
         0,
         CONSTRAINT_DTENSOR,
         NULL,
         "DTensor places whole mesh dimensions, and x:(1)2 is a part of one"},
	{"f32[2,8]",
         "m=2,x=2",
         {"P('m', 'x')"},
         false,
         1,
         CONSTRAINT_DTENSOR,
         NULL,
         "PyTorch has no manual regions"},
};

START_TEST(test_lines)
{
	struct constraint at[2];
	struct constraints c = {.names_mesh = lines[_i].names_mesh,
	                        .manual = lines[_i].manual,
	                        .at = at};
	struct problem_text t = {.array = lines[_i].array,
	                         .mesh = lines[_i].mesh,
	                         .from = "P()",
	                         .to = "P()"};
	struct layout layout[2];
	struct problem p;
	struct text out = {0}, why = {0};
	struct error e = {0};
	bool said;

	ck_assert_msg(problem_make(&p, arena, &t, &e) == OK, "%s", e.text);
	for (; c.n < 2 && lines[_i].layout[c.n]; c.n++) {
		ck_assert_msg(layout_parse(&layout[c.n], &p.mesh, &p.array.shape, arena,
		                           lines[_i].layout[c.n], (struct where){0},
		                           &e) == OK,
		              "%s", e.text);
		at[c.n] = (struct constraint){&layout[c.n], &p.mesh};
	}
	c.problem = &p;
	said = constraints_print(&out, lines[_i].form, &c, &why);
	ck_assert_int_eq(said, lines[_i].text != NULL);
	if (said)
		ck_assert_str_eq(out.s, lines[_i].text);
	else
		ck_assert_str_eq(why.s, lines[_i].why);
	ck_assert(said || out.length == 0);
	text_free(&out);
	text_free(&why);
}
END_TEST

Suite *tests(void)
{
	Suite *s = suite_create("constraint");
	TCase *c = tcase_create("constraint");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, test_lines, 0, (int)(sizeof(lines) / sizeof(*lines)));
	suite_add_tcase(s, c);
	return s;
}
