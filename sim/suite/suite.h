/*
 * Suites: named redistribution problems in YAML (scenarios/README.md).
 *
 *   defaults: {family: issue, memory_limit: 2GiB}
 *   scenarios:
 *     - {name: one, family: issue, array: "f32[16,16]", mesh: "x=4,y=2",
 *        from: "P('x', None)", to: "P(None, 'y')", source: "..."}
 *   generate:
 *     - {kind: random, family: random, count: 500, seed: 1, rank: 2..3, axes: 2..3,
 *        devices: 4..64, bytes: 1MiB..8GiB}
 *     - {kind: layouts, family: all-2x4, mesh: "x=2,y=4", array: "bf16[8192,8192]",
 *        sample: 100, seed: 1}
 *     - {kind: layouts, family: 2x4-r2, mesh: "x=2,y=4", rank: 2, bytes: "1MiB,4GiB",
 *        sub_axes: "yes", sample: 100, seed: 1}
 *
 *   platforms:
 *     - tpu-v4:8x8x8
 *     - {base: "dgx-h100:32", set: {nic.bandwidth: [25GBps, 50GBps, 100GBps]}}
 *
 * `generate` may be one map or a list of them.
 *
 * A scenario may vary: `mesh` may be a list, which gives a scenario per mesh, and `bytes`
 * (`1MiB..8GiB x2`, `1MiB,64MiB`, or a list of these) one per size of the array, whose
 * first dimension is scaled to have exactly that many bytes; a size that is not a whole
 * number of rows is an error. They are named `NAME{mesh=x=4,y=2}`, `NAME{bytes=1MiB}`,
 * `NAME{mesh=x=4,y=2}{bytes=1MiB}`.
 *
 * A scenario may be a training step in place of a redistribution:
 *
 *   - {name: llama, model: models/llama-3-70b.yaml, parallel: "fsdp=64,tensor=8", seq: 8192}
 *   - {name: more, model: models/llama-3-70b.yaml, num_devices: 64,
 *      parallel: {fsdp: "1..64 x2", tensor: [1, 2, 4, 8], pipeline: [1, 2]}}
 *
 * `model` is relative to the file; `parallel`, a text, a list of texts, or a map from axes to
 * numbers, ranges or lists, of which all combinations that come to num_devices devices (any,
 * where that is not said) are scenarios, named `NAME{parallel=fsdp=8,tensor=2}`. `batch`,
 * `micro_batch`, `seq` and `recompute` are in place of the model's. `sweep` alone reads such
 * scenarios.
 *
 * With `placement: free` the order of its devices is not given but chosen: `best` is run on
 * every placement of the mesh on the platform's hierarchy, or on `hierarchy` (place/placing.h).
 * Other planners run in row-major order. `weight` counts in workloads (`place --with`).
 *
 * `platforms` are those that the file's scenarios run on unless the command line names
 * others: texts as there, or a family:shape with settings (facts/families.h) of which each may
 * be a text, a range or a list; all combinations are platforms of their own, named
 * `dgx-h100:32{nic.bandwidth=25GBps}`, settings in the order of the file.
 *
 * `set` is a map of settings like that of a platform, for all platforms of the sweep. A
 * file may have `platforms` or `set` alone: its platforms are then those of all suites
 * beside it, in the place of theirs.
 *
 * `concurrent`, `batch`, `memory_limit` and `source` beside the scenarios are for `move`,
 * which moves them together (move/work.h); nobody else reads them.
 *
 * `random`: meshes of `axes` axes whose sizes multiply to within `devices`, arrays of
 * `rank` whose bytes are within `bytes`, both layouts of whole axes, even, and not equal.
 * With `uneven: yes` dimensions that are cut lose some elements, so that at least one of
 * the layouts does not divide the array.
 *
 * `layouts`: all ordered pairs of distinct whole-axis layouts of the array on the mesh,
 * or a seeded `sample` of them. With `sub_axes: yes` a sample of pairs in which at least
 * one layout has a sub-axis: every axis is cut between its prime factors or not, by a
 * coin each, and every piece is placed like an axis. In place of `array` one `rank` and a
 * list of `bytes`: the family once per size, its name and the size's (`2x4-r2-1MiB`), with
 * the same pairs; the array has in each dimension a multiple of the mesh's devices, which
 * every layout divides, doubled from the first to the last until it has at least the
 * bytes.
 *
 * Equal seeds give equal problems on every machine. The source of generated scenarios is
 * "generated: random" or "generated: layouts". A range is `2..3`, or `2` for 2..2.
 *
 * All values are strings exactly as on the command line; a key that is there twice is an
 * error. Errors are file:line:col.
 */
#ifndef SHARDSIM_SIM_SUITE_SUITE_H
#define SHARDSIM_SIM_SUITE_SUITE_H

#include "base/arena.h"
#include "plan/problem.h"

enum { SUITE_FILES_MAX = 64, SUITE_PLATFORMS_MAX = 10000 };

/* Of a scenario that is a training step, as the command line of `step` has it. */
struct suite_step {
	const char *model; /* NULL: the scenario is a redistribution */
	const char *path;  /* of the model's file, and what is in it */
	const char *text;
	const char *parallel;
	/* NULL: as the model says. */
	const char *batch, *micro_batch, *seq, *recompute;
	struct where batch_at, micro_batch_at, seq_at, recompute_at;
};

struct scenario {
	const char *name, *family, *source;
	const char *base;   /* the name before anything was varied */
	const char *varied; /* "mesh=x=4,y=2 bytes=1MiB", "" where nothing was */
	int file;           /* its suite, in the order they were read */
	int32_t needs;      /* how many devices a platform must have */
	struct problem_text text;
	struct suite_step step;
	double weight;         /* how often its time counts in a workload */
	bool free;             /* its placement is free */
	const char *hierarchy; /* NULL for the platform's own */
	struct where hierarchy_at;
	struct where at; /* where the scenario itself stands */
};

/*
 * A platform that suites ask for; `base` may be a size, `family:{n}`, for which every
 * scenario has a machine of its own.
 */
struct suite_platform {
	const char *name;    /* `base`, with its settings behind it in braces */
	const char *base;    /* family:shape, or a file without settings */
	const char *machine; /* what tables call it; `name` unless the suite says */
	const char *varied;  /* "nic.bandwidth=25GBps nic.latency=2us", "" */
	int nset;
	const char *const *set; /* "nic.bandwidth=25GBps" */
	/* [nset]: where suite_set() has them from; {0} for its own, NULL if all are. */
	const struct where *set_at;
	uint64_t files; /* bit k: the scenarios of suite k run on it */
	struct where at;
};

/* What a suite says of its scenarios as one workload, for `move`; NULL: nothing. */
struct suite_move {
	const char *concurrent, *batch, *memory_limit, *source;
	struct where concurrent_at, batch_at, memory_limit_at, source_at;
};

struct suite {
	struct arena *arena; /* borrowed; owns all texts */
	struct suite_move move;
	int32_t n;
	int64_t room; /* for scenarios */
	struct scenario *scenario;
	int nplatforms;
	int64_t platform_room;
	struct suite_platform *platform;
	struct suite_settings *settings; /* of all platforms; NULL: none (platforms.c) */
	int nfiles;
	const char *path;      /* the file read last */
	uint64_t no_scenarios; /* bit k: file k has platforms or settings alone */
};

/*
 * Appends the scenarios and platforms of a file; there may be SUITE_FILES_MAX files.
 * Every problem is read here, so that a bad one is found before anything runs, but
 * platforms are not.
 */
enum status suite_read(struct suite *s, const char *path, struct error *e);

/*
 * Appends a scenario of the file read last. Where its `base` is NULL, that is its name;
 * where `needs` is 0, it is the number of devices of its mesh.
 */
void suite_add(struct suite *s, const struct scenario *sc);

/*
 * Returns the index in suite->platform of the platform with that label (NULL: its
 * name), base and these settings, which is appended if it is not there. `value` [nset]
 * has what the keys are set to.
 */
int suite_platform(struct suite *s, const char *machine, const char *base, int nset,
                   const char *const *key, const char *const *value, struct where at);

/*
 * Stores the index of the platform of that name, `family:shape{key=value,...}`, which
 * is appended if it is not there; texts are the suite's. It is an E_SYNTAX if the
 * braces do not have that form.
 */
enum status suite_platform_parse(int *out, struct suite *s, const char *name,
                                 struct where at, struct error *e);

/*
 * After the last file, makes the platforms of files that have no scenarios those of all
 * scenarios, in the place of any others.
 */
void suite_take_machines(struct suite *s);

/*
 * After suite_take_machines(), puts in the place of each platform one for every
 * combination of the values of settings: those of the suites' `set`, and `nset` texts
 * "KEY=VALUES" of --set, which count in their place. VALUES are those of suites, also in
 * braces: `{25GBps,50GBps}`, `25GBps..100GBps +25GBps`. It is an E_TYPE if a platform has
 * a setting of its own.
 */
enum status suite_set(struct suite *s, const char *const *set, int nset,
                      struct error *e);

/*
 * Checks, after the last file, that no scenario is a step, or with `steps` that all are; an
 * E_TYPE is at the first that is not as it should be.
 */
enum status suite_check_steps(const struct suite *s, bool steps, struct error *e);

/*
 * Checks, after the last file, that there are scenarios (E_SYNTAX) and no two of one name
 * (E_TYPE).
 */
enum status suite_check_names(const struct suite *s, struct error *e);

enum {
	GENERATED_RANK_MAX = 8,
	GENERATED_AXES_MAX = 8,
	GENERATED_SIZES_MAX = 8,
	GENERATED_MAX = 1000000,   /* most scenarios of one block */
	LAYOUT_PAIRS_MAX = 1 << 26 /* most pairs that a sample may be taken from */
};

#define GENERATED_BYTES_MAX ((int64_t)1 << 58) /* an array has at most 2^62 bits */

/* A generate block, whose scenarios suite_read() appends. */
struct generate {
	bool random;   /* its kind is `random`, else `layouts` */
	bool uneven;   /* random problems are uneven */
	bool sub_axes; /* layouts have sub-axes */
	const char *family, *mesh, *array, *dtype;
	struct where mesh_at, array_at, at;
	int64_t count; /* of problems, or of the sample of layouts, 0 for all */
	int64_t seed;
	int64_t rank[2], axes[2], devices[2], bytes[2]; /* lowest and highest */
	/* Layouts without `array` have sizes, whose texts are kept. */
	int nsizes;
	int64_t size_bytes[GENERATED_SIZES_MAX];
	const char *size_text[GENERATED_SIZES_MAX];
};

/*
 * Appends the scenarios of a block. It is an E_RANGE if there are too many layouts, if
 * an array is too large, or if 1,000,000 draws found no random problem within the
 * ranges.
 */
enum status suite_generate(struct suite *s, const struct generate *g, struct error *e);

#endif
