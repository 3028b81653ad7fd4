/*
 * shardsim: plans and prices the redistribution of sharded arrays.
 *
 * An array lies sharded over the devices of a mesh, and is needed in another layout. A
 * *problem* says so, a *planner* turns it into a *plan* of collective steps, a *machine*
 * says what the steps cost. Everything this library offers is declared here, but for what
 * a planner of one's own needs: that is in planner/planner.h.
 *
 *	struct shardsim_problem_text text = {
 *		.array = "bf16[8192,8192]", .mesh = "x=4,y=2",
 *		.from = "P('x', None)", .to = "P(None, 'y')"};
 *	struct shardsim_problem *problem;
 *	struct shardsim_plan *plan;
 *	char *steps;
 *
 *	if (shardsim_problem_read(&problem, &text, &e) == SHARDSIM_OK &&
 *	    shardsim_plan(&plan, problem, NULL, "best", &e) == SHARDSIM_OK &&
 *	    shardsim_print(&steps, plan, SHARDSIM_TEXT, &e) == SHARDSIM_OK)
 *		puts(steps);
 *
 * Results come first among the parameters, the error last. Units are bytes, bytes per
 * second and seconds; texts are UTF-8 or any bytes but NUL, and are not kept.
 *
 * Errors. Functions that can fail return a status and, unless `error` is NULL, fill it;
 * results are then NULL, or are left alone where they are no handles. Nothing is printed
 * and the program is never ended: a NULL where there must be something, a handle of
 * another kind, a name that is not known and a want of memory are errors like any other,
 * and leave everything as it was before the call.
 *
 * Handles. What a function stores in its first parameter is the caller's, who gives it
 * back with shardsim_free() once, in any order: a plan keeps its problem, a layout its
 * mesh. Handles do not change once they are made.
 *
 * Threads. Any number of threads may call any functions at once, also on the same handle;
 * only shardsim_free() must be the last call that uses its handle. JSON is written and read
 * with jansson: at the first such call the library puts functions of its own in front of
 * those that jansson allocates with (json_set_alloc_funcs), which pass on all requests
 * but its own. A program that sets them itself does so before that.
 */
#ifndef SHARDSIM_H
#define SHARDSIM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shardsim_mesh;
struct shardsim_layout;
struct shardsim_machine;
struct shardsim_problem;
struct shardsim_plan;
struct planner; /* planner/planner.h */

/* --- errors -------------------------------------------------------------------------- */

enum shardsim_status {
	SHARDSIM_OK,
	SHARDSIM_SYNTAX, /* a text is not of its form */
	SHARDSIM_TYPE,   /* well-formed, but does not fit together */
	SHARDSIM_RANGE,  /* a number or name outside what there is */
	SHARDSIM_IO,     /* a file cannot be read */
	SHARDSIM_MISUSE, /* NULL, a handle of another kind, a step that is not there */
	SHARDSIM_NOT_APPLICABLE, /* the planner cannot say it, the machine cannot run it */
	SHARDSIM_OVER_MEMORY,    /* no plan of the planner fits limit and memory */
	SHARDSIM_WRONG,          /* a plan does not do what its problem asks */
	SHARDSIM_NO_MEMORY,      /* out of memory */
	SHARDSIM_FAULT /* an invariant of the library is broken: please report it */
};

/*
 * What was wrong and what was expected, and where: `of` names the text ("from", "mesh",
 * "families.yaml"; "" where no text is at fault), line and column count from 1, columns in
 * bytes (0: no place is known).
 */
struct shardsim_error {
	enum shardsim_status status;
	unsigned line, column;
	char of[64];
	char text[400];
};

/* The version of this header, and that of the library that is linked. */
#define SHARDSIM_VERSION "0.1.0"
const char *shardsim_version(void);

/* Gives a handle of any kind back; NULL is fine. What it was made of stays as it is. */
void shardsim_free(void *handle);

/* --- meshes and layouts -------------------------------------------------------------- */

/*
 * Reads a mesh: `x=4,y=2`, the first axis most major; also as Shardy,
 * `<["x"=4, "y"=2], device_ids=[...]>`, or JAX, `Mesh('x': 4, 'y': 2)`, writes it.
 */
enum shardsim_status shardsim_mesh_read(struct shardsim_mesh **out, const char *text,
                                        struct shardsim_error *error);

/*
 * Reads the layout of an array (`bf16[8192,8192]`) over a mesh. Which of the spellings the
 * text is in is told by its form:
 *	JAX      P('x', None)                HLO    {devices=[2,1,4]<=[8] last_tile_dim_replicate}
 *	Shardy   [{"x"}, {"y":(1)2}]         paper  [32{x}128, 8{}8], as arXiv 2112.01075
 *	DTensor  [Shard(0), Replicate()] or S(0)R
 */
enum shardsim_status shardsim_layout_read(struct shardsim_layout **out,
                                          const struct shardsim_mesh *mesh,
                                          const char *array, const char *text,
                                          struct shardsim_error *error);

/*
 * Writes the layout in a spelling, "jax", "hlo", "shardy", "dtensor" or "paper"; NULL: in
 * the first of JAX, Shardy and HLO that can say it. SHARDSIM_NOT_APPLICABLE where the
 * spelling cannot. *out is malloc's: free() it.
 */
enum shardsim_status shardsim_layout_print(char **out,
                                           const struct shardsim_layout *layout,
                                           const char *spelling,
                                           struct shardsim_error *error);

/* --- machines ------------------------------------------------------------------------ */

/* A cable, one way: bandwidth above 0, latency 0 or more. */
struct shardsim_link {
	double bandwidth_Bps, latency_s;
};

/*
 * What is said of every device: its memory, which plans must fit (0: not known), the rate of local passes over
 * it (0: they cost nothing), and what each step that communicates takes to start.
 */
struct shardsim_device {
	double memory_bytes, memory_Bps, launch_s;
};

/*
 * Reads `family:shape`, such as "tpu-v4:4x4x8", "tpu-v4:4x4x8_twisted" or "dgx-h100:4", or
 * `family:{64}`, the smallest offered machine of at least 64 devices, by the facts in the file `families`, which is written as platforms/families.yaml is. NULL:
 * that file itself, in the folder $SHARDSIM_DATA or, if that is not set, where the library
 * is installed (share/shardsim/platforms beside its folder).
 *
 * These are the machines whose wires the numbers below could say, too: one torus, or nodes
 * of devices behind a switch whose NICs, one or more for each device, are on another.
 * For others (several slices, several devices of a chip, cables between GPUs, shared
 * NICs, nets of several switches) the program writes wires out: SHARDSIM_NOT_APPLICABLE.
 * Times are those of the program's clock `model`, to the last digit, with collectives that a
 * compiler calls (XLA) on TPUs and on Hopper and Blackwell GPUs, else a process for each device.
 */
enum shardsim_status shardsim_machine_read(struct shardsim_machine **out,
                                           const char *text, const char *families,
                                           struct shardsim_error *error);

/*
 * A torus of `naxes` (1 to 6) axes, the last one fastest in device numbers. Axes close to
 * rings where `wrap` says so and they are longer than 2; NULL: all do. `link` is of one
 * cable between neighbours. Collectives are those of XLA on TPUs.
 */
enum shardsim_status shardsim_machine_torus(struct shardsim_machine **out, int naxes,
                                            const int32_t *shape, const bool *wrap,
                                            struct shardsim_link link,
                                            struct shardsim_device device,
                                            struct shardsim_error *error);

/*
 * `nodes` of `gpus` devices each: `inside` joins those of a node, `net` the NICs, one per
 * device, of all nodes. Behind each is a switch; latencies are end to end. `net` is not
 * looked at for one node. Collectives cost what the links cost and nothing else.
 */
enum shardsim_status
shardsim_machine_nodes(struct shardsim_machine **out, int32_t nodes, int32_t gpus,
                       struct shardsim_link inside, struct shardsim_link net,
                       struct shardsim_device device, struct shardsim_error *error);

/* Returns how many devices it has; 0 for NULL. */
int32_t shardsim_machine_devices(const struct shardsim_machine *machine);

/* --- problems ------------------------------------------------------------------------ */

/*
 * A problem in texts. Needed are array, from and to, and the mesh unless both layouts are
 * HLO's; the rest is NULL where it is not given: another mesh of the target, the largest
 * live array of a device ("2GiB"; "none": the memory of devices does not count either),
 * how many devices HLO layouts are for, and the devices of the machine that the meshes'
 * are ("0-3,8-11", or "@FILE" of such a list). Without these, meshes smaller than a torus
 * sit on a compact slice of it (shardsim_place()), and on the first devices of other
 * machines.
 */
struct shardsim_problem_text {
	const char *array, *mesh, *to_mesh, *from, *to;
	const char *memory_limit, *num_devices, *devices, *to_devices;
};

/* Reads a problem. The error's `of` is the name of the member at fault. */
enum shardsim_status shardsim_problem_read(struct shardsim_problem **out,
                                           const struct shardsim_problem_text *text,
                                           struct shardsim_error *error);

/*
 * The problem to bring an array from one layout, over whichever mesh, into another; both
 * are of the same array. A memory limit below 0 is none; the memory of devices counts.
 */
enum shardsim_status shardsim_problem_new(struct shardsim_problem **out,
                                          const struct shardsim_layout *from,
                                          const struct shardsim_layout *to,
                                          int64_t memory_limit_bytes,
                                          struct shardsim_error *error);

/* --- plans --------------------------------------------------------------------------- */

/*
 * The names of the planners: those of the library from 0 on, then those added; NULL
 * behind the last one, and for a number below 0.
 */
const char *shardsim_planner_name(int number);

/*
 * Adds a planner, which is borrowed for as long as the program runs. From then on
 * shardsim_plan() knows its name. Where the library runs out of memory in something that
 * it calls (arena_alloc() and all that takes an arena), or it breaks what plan.h asks of
 * it, it is left by longjmp() and shardsim_plan() returns the error. SHARDSIM_MISUSE: it
 * has no name or no function, or there is one of that name.
 */
enum shardsim_status shardsim_planner_add(const struct planner *planner,
                                          struct shardsim_error *error);

/*
 * Plans a problem: for the least time on the machine, whose devices must suffice, or,
 * where that is NULL, for the fewest bytes. The plan has been checked. Errors:
 * SHARDSIM_RANGE, there is no such planner, or the machine has too few devices;
 * SHARDSIM_NOT_APPLICABLE; SHARDSIM_OVER_MEMORY, which says what limit would do or, on a
 * machine, what the plan needs and a device has;
 * SHARDSIM_WRONG, which only a planner of one's own should cause.
 */
enum shardsim_status shardsim_plan(struct shardsim_plan **out,
                                   const struct shardsim_problem *problem,
                                   const struct shardsim_machine *machine,
                                   const char *planner, struct shardsim_error *error);

/*
 * Reads a plan of the problem from either form of shardsim_print(); of JSON a bare array
 * of steps will do. It is well-formed then, but only shardsim_check() tells if it is right.
 */
enum shardsim_status shardsim_plan_read(struct shardsim_plan **out,
                                        const struct shardsim_problem *problem,
                                        const char *text, struct shardsim_error *error);

/*
 * Proves the plan: runs its steps on every device's indices and compares what each device
 * has in the end with what the target layout says. SHARDSIM_WRONG names the first step
 * at fault.
 */
enum shardsim_status shardsim_check(const struct shardsim_plan *plan,
                                    struct shardsim_error *error);

/*
 * A plan in figures. The bytes are those of the busiest device over all steps; the peaks
 * are of the largest array, to which the memory limit applies, and of all arrays of a
 * step together.
 */
struct shardsim_figures {
	const char *planner; /* the plan's */
	int nsteps;
	int64_t recv_bytes, send_bytes;
	int64_t peak_array_bytes, peak_live_bytes;
};

enum shardsim_status shardsim_figures(struct shardsim_figures *out,
                                      const struct shardsim_plan *plan,
                                      struct shardsim_error *error);

/*
 * What a collective does to dimensions of the array, from 0; -1: none. A slice cuts
 * to_dim into `factor` blocks and keeps one, an all-gather puts from_dim together of so
 * many, an all-to-all does the one to from_dim and the other to to_dim, a reduce-scatter
 * sums and cuts to_dim.
 */
struct shardsim_move {
	int from_dim, to_dim;
	int32_t factor;
};

/*
 * A box of elements that one device sends to another: [bounds[2 * i], bounds[2 * i + 1])
 * of dimension i of the array, or of its digits where the step's layout is strided.
 */
struct shardsim_transfer {
	int32_t src, dst;
	int64_t elements;
	const int64_t *bounds; /* NULL where the layouts before and after tell */
};

/*
 * One step of a plan; all pointers are into the plan. A collective has moves, and
 * `ngroups` groups of `group_size` devices each, in `group` one after another, each in
 * the order of its blocks. A permute has pairs, pair[2 * i] sends its tile to
 * pair[2 * i + 1]; an exchange has transfers. Devices are numbered as the problem's
 * mesh numbers them.
 */
struct shardsim_step {
	const char *op;     /* "slice", "all-gather", "all-to-all", "permute", ... */
	const char *text;   /* as shardsim_print() has it: "all-to-all {x}: 0->1" */
	const char *layout; /* after it: "P(None, 'x')" */
	bool communicates;
	int64_t recv_bytes, send_bytes, padding_bytes; /* of the busiest device */
	int nmoves;
	const struct shardsim_move *move;
	int32_t ngroups, group_size, npairs;
	const int32_t *group, *pair;
	int64_t ntransfers;
	const struct shardsim_transfer *transfer;
};

/* Step number `step` of a plan, from 0. SHARDSIM_MISUSE behind the last one. */
enum shardsim_status shardsim_step(struct shardsim_step *out,
                                   const struct shardsim_plan *plan, int step,
                                   struct shardsim_error *error);

/*
 * TEXT: a line for each step, "" for none. JSON: an object with the problem, the planner,
 * the steps and the figures, as in a result of `shardsim plan --format json`.
 */
enum shardsim_format { SHARDSIM_TEXT, SHARDSIM_JSON };

/* Writes a plan. *out is malloc's: free() it. */
enum shardsim_status shardsim_print(char **out, const struct shardsim_plan *plan,
                                    enum shardsim_format format,
                                    struct shardsim_error *error);

/* --- prices -------------------------------------------------------------------------- */

/* Seconds of a step, and what they are the sum of. */
struct shardsim_time {
	double time_s, wire_s, local_s, launch_s;
	const char *algorithm; /* of its collective, for good; NULL for a local step */
};

/*
 * Seconds of a plan on a machine by the closed-form clock `model`. `times` gets those of
 * each of its steps, unless it is NULL. SHARDSIM_RANGE: the machine has too few devices.
 */
enum shardsim_status shardsim_price(double *seconds, struct shardsim_time *times,
                                    const struct shardsim_plan *plan,
                                    const struct shardsim_machine *machine,
                                    struct shardsim_error *error);

/*
 * Where a problem is on a machine: device[d] is the machine's device of number d of the
 * problem's, which plans count by. *n is the room in `device`, and afterwards how many
 * devices there are; without `device` (NULL) only that is told. SHARDSIM_RANGE: the
 * machine has too few devices, or there is too little room.
 */
enum shardsim_status shardsim_place(int32_t *device, int32_t *n,
                                    const struct shardsim_problem *problem,
                                    const struct shardsim_machine *machine,
                                    struct shardsim_error *error);

/* Seconds that no plan can be below, and why: "receive of device 5"; "" for 0. */
struct shardsim_bound {
	double seconds;
	char what[120];
};

/* The lower bound of a problem on a machine, launches and local work left out. */
enum shardsim_status shardsim_bound(struct shardsim_bound *out,
                                    const struct shardsim_problem *problem,
                                    const struct shardsim_machine *machine,
                                    struct shardsim_error *error);

#ifdef __cplusplus
}
#endif

#endif
