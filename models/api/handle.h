/*
 * What the functions of shardsim.h share: handles, and the way in and out of a call.
 * Private to models/api.
 */
#ifndef SHARDSIM_API_HANDLE_H
#define SHARDSIM_API_HANDLE_H

#include "array/machine.h"
#include "array/mesh.h"
#include "collective/lower.h"
#include "plan/plan.h"
#include "shardsim.h"

#include <stdatomic.h>

/* What a handle is of, told from what a caller may pass by mistake. */
enum handle_kind {
	HANDLE_MESH = 0x6d657368,
	HANDLE_LAYOUT,
	HANDLE_MACHINE,
	HANDLE_PROBLEM,
	HANDLE_PLAN
};

/*
 * The head of every handle. All of a handle, itself too, lies in its arena; it holds up to
 * two others, which live as long as it does.
 */
struct handle {
	enum handle_kind kind;
	atomic_int holders;
	struct arena *arena;
	struct handle *held[2];
};

struct shardsim_mesh {
	struct handle handle;
	const char *text;
	struct mesh mesh;
};

struct shardsim_layout {
	struct handle handle; /* holds the mesh */
	const struct shardsim_mesh *mesh;
	struct array array;
	const char *array_text, *text;
	struct layout layout;
};

struct shardsim_machine {
	struct handle handle;
	const struct machine *machine;
};

struct shardsim_problem {
	struct handle handle;
	struct problem problem;
};

struct shardsim_plan {
	struct handle handle; /* holds the problem */
	const struct shardsim_problem *problem;
	const struct plan *plan;
	const struct shardsim_step *step; /* [plan->nsteps] */
};

/*
 * A call that is being made: where its errors go. The functions of the library fill
 * `error`, api_fail() what they do not know.
 */
struct api {
	struct error error;
	enum shardsim_status status;
};

/*
 * Makes a call: runs body(self), which returns whether the blocks it has made are to be
 * kept, and fills the caller's error, if there is one, with how it went. Numbers are
 * read and written as in C whatever locale the program has set.
 */
enum shardsim_status api_call(struct api *api, bool (*body)(void *self), void *self,
                              struct shardsim_error *error);

/* Notes what is wrong; returns false, for a body to return. */
bool api_fail(struct api *api, enum shardsim_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* An error, "from: expected a handle of a layout", unless `handle` is one of the kind. */
bool api_needs(struct api *api, const void *handle, enum handle_kind kind);

/* An error unless there is a text; `of` names it. */
bool api_needs_text(struct api *api, const char *text, const char *of);

/* An error unless the caller said where the result goes. */
bool api_needs_out(struct api *api, const void *out);

/* A handle of `size` bytes in an arena of its own. */
void *handle_new(enum handle_kind kind, size_t size);

/* Makes `holder` keep another handle. */
void handle_hold(struct handle *holder, const struct handle *held);

/* A text as malloc's, for the caller; the text is empty afterwards. */
char *text_give(struct text *t);

/*
 * Returns whether the devices of the problem fit on the machine, and makes an error if
 * not.
 */
bool problem_fits(struct api *api, const struct shardsim_problem *problem,
                  const struct machine *machine);

/*
 * Where the problem's devices are on a machine (plan/position.h), the arena's; NULL: the
 * identity.
 */
const struct placement *problem_place(const struct shardsim_problem *problem,
                                      const struct machine *machine, struct arena *a);

#endif
