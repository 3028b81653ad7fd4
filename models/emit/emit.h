/*
 * Plans as texts that run: a program for the user's own runtime, or a trace for another
 * simulator.
 *
 * An emitter turns one finished and proven plan into one text. It never changes the plan,
 * and it never writes a text that does something else than the plan: what the form cannot
 * express is an answer with the reason and what would do instead (another kind, another
 * planner, `--vocabulary portable`).
 *
 * Adding a kind is one file that ends in `const struct emitter emitter_<name>` and one line
 * in registry.c; tests and the command line loop over `emitters`.
 */
#ifndef SHARDSIM_EMIT_EMIT_H
#define SHARDSIM_EMIT_EMIT_H

#include "array/machine.h"
#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

/* What is to be emitted, and what its heading says. All is borrowed. */
struct emission {
	const struct plan *plan;
	const struct machine *machine; /* the platform of the plan; NULL: none */
	const char *command;  /* the command line that asked, for the heading */
	const char *version;  /* of shardsim, for the heading */
	double time_s;        /* predicted; NAN: unknown */
	const double *step_s; /* [nsteps], of each step; NULL: unknown */
	const char *clock;    /* that predicted time_s; NULL: none */
};

enum emitted {
	EMITTED,     /* the text is whole */
	EMIT_CANNOT, /* the form cannot express this plan; `why` says what could */
};

struct emitter {
	/* The kind as users type it, and what --help and list say of it. */
	const char *name;
	const char *help;
	/* What begins a comment line in this form, such as "# ", and ends it ("": the line). */
	const char *comment;
	const char *comment_end;
	/* Who calls its collectives on GPUs (struct nccl_caller); NULL: a plan's caller. */
	const char *caller;
	/* Appends the text to `out`, or the reason to `why`. Needs no global state. */
	enum emitted (*emit)(struct text *out, const struct emission *what,
	                     struct arena *scratch, struct text *why);
};

extern const struct emitter *const emitters[]; /* ended by NULL */
const struct emitter *emitter_find(const char *name, size_t length);

/*
 * Appends the heading that every text begins with, as comment lines of the emitter: the
 * command line, the version, the platform, the predicted time and its clock, the bytes that
 * the busiest device receives, and the peak memory.
 */
void emit_heading(struct text *out, const struct emitter *emitter,
                  const struct emission *what);

/*
 * Appends what the programs for MPI include, which says where mpi.h is if there is none.
 */
void emit_mpi_includes(struct text *out);

/* Appends a string literal of C. */
void emit_string(struct text *out, const char *s);

/* The files models/emit/NAME.in: the parts of programs that no plan changes. */
extern const char emit_text_mpi_types[], emit_text_mpi_ready[], emit_text_mpi_run[];
extern const char emit_text_mpi_bench[];
extern const char emit_text_torch_p2p[];

#endif
