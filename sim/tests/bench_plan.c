/*
 * What planning costs by the number of prime factors of the mesh: mean and slowest of 20
 * seeded problems of rank 4 per line, priced in seconds of the clock `model` on nodes of
 * eight GPUs. A benchmark, not a test: nothing is asserted.
 */
#include "measure.h"
#include "platform.h"

#include "base/rng.h"

#include <gsl/gsl_errno.h>

#include <stdlib.h>
#include <string.h>

enum { PROBLEMS = 20, RANK = 4 };

/* A mesh of `atoms` twos in axes of 4, the last of 2 where they are odd in number. */
static struct mesh make_mesh(int atoms)
{
	static const char *const names[] = {"x", "y", "z", "w", "v", "u"};
	struct mesh m = {.ndevices = 1};

	for (int left = atoms; left > 0; left -= 2) {
		m.axis[m.naxes].name = names[m.naxes];
		m.axis[m.naxes].size = left > 1 ? 4 : 2;
		m.ndevices *= m.axis[m.naxes++].size;
	}
	return m;
}

/* Every axis to a random dimension, or to none. */
static struct layout draw(struct rng *r, const struct mesh *m)
{
	struct layout l = layout_replicated(RANK);

	for (int x = 0; x < m->naxes; x++) {
		int dim = (int)rng_below(r, RANK + 1);

		if (dim < RANK)
			layout_append(&l, dim, (struct part){x, 1, m->axis[x].size});
	}
	return l;
}

static struct problem make_problem(struct rng *r, const struct mesh *m, struct arena *a)
{
	struct problem p = {
		.arena = a, .mesh = *m, .to_mesh = *m, .memory_limit_bytes = -1};
	struct error e = {0};

	array_parse(&p.array, "bf16[4096,4096,16384,4096]", where_option("array", ""),
	            &e);
	do {
		p.from = draw(r, m);
		p.to = draw(r, m);
	} while (memcmp(&p.from, &p.to, sizeof(p.from)) == 0);
	problem_finish(&p);
	return p;
}

static void bench_line(int atoms, const char *name, struct bench *b)
{
	const struct planner *planner = planner_find(name, strlen(name));
	struct mesh m = make_mesh(atoms);
	struct rng *r = rng_new(1);
	double sum = 0, most = 0;

	for (int i = 0; i < PROBLEMS; i++) {
		struct arena *a = arena_new();
		struct problem p = make_problem(r, &m, a);
		struct measurement result;

		measure_plan(&result, b, &p, planner, a);
		sum += result.planning_s;
		most = result.planning_s > most ? result.planning_s : most;
		arena_free(a);
	}
	printf("%5d %7d  %-6s %12.3f %12.3f\n", atoms, m.ndevices, name,
	       1e3 * sum / PROBLEMS, 1e3 * most);
	rng_free(r);
}

int main(void)
{
	static const char *const names[] = {"synth", "best"};

	gsl_set_error_handler_off();
	printf("%5s %7s  %-6s %12s %12s\n", "atoms", "devices", "", "mean ms",
	       "slowest ms");
	for (int atoms = 3; atoms <= 12; atoms++) {
		struct arena *a = arena_new();
		struct machine *machine;
		struct error e = {0};
		struct bench b;
		const char *spec = arena_printf(a, "dgx-h100:%d", (1 << atoms) / 8);

		if (platform_machine(&machine, a, spec, NULL, 0, &e) != OK) {
			error_print(stderr, &e);
			return EXIT_FAILURE;
		}
		for (int i = 0; i < 2; i++) {
			bench_init(&b, machine);
			bench_line(atoms, names[i], &b);
			bench_free(&b);
		}
		arena_free(a);
	}
	return EXIT_SUCCESS;
}
