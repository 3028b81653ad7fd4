/*
 * What planning costs by kind of platform and number of prime factors of the mesh, in
 * processor time: mean and slowest of 20 seeded problems of rank 4 per line, priced in
 * seconds of the clock `model` on nodes of eight GPUs, 3-D tori and, as far as pods go, 2-D
 * tori; `best` also where the runtime takes schedules of messages. Nothing is known of a
 * platform before the first problem of a line. A benchmark, not a test: nothing is asserted.
 */
#include "measure/library.h"
#include "measure/measure.h"
#include "platform/platform.h"

#include "base/rng.h"

#include <gsl/gsl_errno.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Platforms of 2^atoms devices; "" where there is none of the kind. */
static const char *gpu_spec(struct arena *a, int atoms)
{
	return arena_printf(a, "dgx-h100:%d", (1 << atoms) / 8);
}

static const char *torus_spec(struct arena *a, int atoms)
{
	return arena_printf(a, "tpu-v4:%dx%dx%d", 1 << atoms / 3, 1 << (atoms + 1) / 3,
	                    1 << (atoms + 2) / 3);
}

static const char *flat_torus_spec(struct arena *a, int atoms)
{
	return atoms > 8 ? ""
	                 : arena_printf(a, "tpu-v5e:%dx%d", 1 << atoms / 2,
	                                1 << (atoms + 1) / 2);
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench_line(int atoms, const char *spec, const char *name, struct bench *b)
{
	const struct planner *planner = planner_find(name, strlen(name));
	struct mesh m = make_mesh(atoms);
	struct rng *r = rng_new(1);
	double sum = 0, most = 0;

	for (int i = 0; i < PROBLEMS; i++) {
		struct arena *a = arena_new();
		struct problem p = make_problem(r, &m, a);
		struct text why = {0};
		struct plan *plan;
		double start = cpu_s(), planning_s;

		planner_run(planner, &plan, &p, &b->prices, a, &why);
		planning_s = cpu_s() - start;
		sum += planning_s;
		most = planning_s > most ? planning_s : most;
		text_free(&why);
		arena_free(a);
	}
	printf("%-31s %5d %7d  %-6s %12.3f %12.3f%s\n", spec, atoms, m.ndevices, name,
	       1e3 * sum / PROBLEMS, 1e3 * most,
	       atoms == 12 && strcmp(name, "best") == 0 ? "   goals 150, 500" : "");
	rng_free(r);
}

/* Some planners on one platform; false where it cannot be made. */
static bool bench_platform(int atoms, const char *spec, const char *const *names, int n,
                           struct arena *a)
{
	struct machine *machine;
	struct error e = {0};
	struct bench b;

	if (platform_machine(&machine, a, spec, NULL, 0, &e) != OK ||
	    library_of_plans(machine, &(struct library_text){0}, NULL, &e) != OK) {
		error_print(stderr, &e);
		return false;
	}
	for (int i = 0; i < n; i++) {
		bench_init(&b, machine);
		bench_line(atoms, spec, names[i], &b);
		bench_free(&b);
	}
	return true;
}

/* With a number, meshes of more prime factors are left out. */
int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : 12;
	static const char *const names[] = {"direct", "synth", "best"};
	static const char *(*const specs[])(struct arena * a, int atoms) = {
		gpu_spec, torus_spec, flat_torus_spec};

	memory_keep();
	gsl_set_error_handler_off();
	printf("%-31s %5s %7s  %-6s %12s %12s\n", "platform", "atoms", "devices", "",
	       "mean ms", "slowest ms");
	for (int kind = 0; kind < 3; kind++)
		for (int atoms = 3; atoms <= most; atoms++) {
			struct arena *a = arena_new();
			const char *spec = specs[kind](a, atoms);

			if (*spec &&
			    (!bench_platform(atoms, spec, names, 3, a) ||
			     !bench_platform(atoms,
			                     arena_printf(a, "%s{scheduled=1}", spec),
			                     names + 2, 1, a)))
				return EXIT_FAILURE;
			arena_free(a);
		}
	return EXIT_SUCCESS;
}
