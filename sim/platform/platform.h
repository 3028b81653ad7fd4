/*
 * Platforms: a SimGrid 4.1 XML file, or `family:shape` (facts/families.h), for which the file
 * is generated.
 *
 * The machine is always built from the file by our own reader, which knows the names
 * that SimGrid gives to links, and the geometry the hosts state; so `plan` and the
 * clocks `model` and `fluid` need no simulator. When SimGrid is started, what it made of the file is
 * compared: every link with its bandwidth and latency, the routes of all neighbours and
 * of 1,000 seeded other pairs of each fabric. `geometry graph` states no routes: our
 * reader has those of fat trees and dragonflies and those written out in zones with
 * routing Full, which are compared alike. Others, of zones that find shortest paths,
 * only SimGrid knows: such a platform is always loaded, and there must be a route
 * between any two hosts of a domain (asked for all pairs where the domain is small).
 *
 * The file must have passed our reader before SimGrid sees it, and a file that was not
 * generated is loaded and compared in a child process first, because SimGrid ends the
 * process on a fault.
 */
#ifndef SHARDSIM_SIM_PLATFORM_PLATFORM_H
#define SHARDSIM_SIM_PLATFORM_PLATFORM_H

#include "array/machine.h"
#include "base/error.h"
#include "facts/families.h"

struct loader;

struct platform {
	struct arena *arena; /* borrowed: the caller's, which holds all of this */
	struct machine *machine;
	/*
	 * SimGrid's host of a device on a fabric at [fabric * ndevices + device], or
	 * NULL if the device is not on it. All are NULL until SimGrid is started.
	 */
	void **host;
	struct loader *loader; /* platform.c's own */
};

enum { PLATFORM_SETTINGS_MAX = 16 };

/* family:shape{key=value,...} in its parts, or a file. */
struct platform_name {
	const char *base;
	int nset;
	const char *set[PLATFORM_SETTINGS_MAX]; /* "key=value" */
};

/*
 * Returns whether the platform is asked for by its size, `family:{64}` or `family:{n}`
 * (facts/families.h), of which settings may stand behind, too.
 */
bool platform_sized(const char *spec);

/*
 * Names the machine of that size, family:shape with the settings of `spec`, for a mesh
 * of n devices (0: there is none); `set` are more settings. Errors: those of family_size().
 */
enum status platform_size(struct family_size *out, struct arena *a, const char *spec,
                          const char *const *set, int nset, int64_t n, struct error *e);

/* Puts the name of the machine of that size in the place of one that asks for a size. */
enum status platform_resize(const char **spec, struct arena *a, const char *const *set,
                            int nset, int64_t n, struct error *e);

/*
 * Points an error that is at a part of a platform's name, such as a setting in its braces,
 * at that place of the name, as --platform. Those of the settings set[] are left as they are.
 */
void platform_point(struct error *e, const char *spec, const char *const *set, int nset);

/*
 * Checks a platform `family:{n}` before n is known: the family, and the settings on the largest
 * machine that is offered, for what that refuses is a mistake and no matter of size. Settings
 * that name devices are left for platform_size()'s machine. Errors: those of family_size() and
 * family_parse(), at their place in `spec` or set[].
 */
enum status platform_check_any_size(struct arena *a, const char *spec,
                                    const char *const *set, int nset, struct error *e);

/*
 * Splits the name of a platform, which starts at `at`. It is an E_SYNTAX if the braces have
 * no settings or what is none, or if nothing stands before them.
 */
enum status platform_split(struct platform_name *out, struct arena *a, const char *spec,
                           struct where at, struct error *e);

/*
 * Makes the machine alone, never with SimGrid, whose routes cannot be asked. `spec` is a file
 * (it has a '/' before any '{' or '=', or ends in .xml) or family:shape or family:{64}, also with
 * settings behind it, {key=value,...}; more of them in `set`, each "key=value", come after these,
 * and none are for files. Errors: facts/families.h's, and for a file what is wrong with it,
 * with line and column.
 */
enum status platform_machine(struct machine **out, struct arena *a, const char *spec,
                             const char *const *set, int nset, struct error *e);

/*
 * Makes a platform with nothing started, for platform_begin(), and for what has to be forked
 * before SimGrid is.
 */
enum status platform_read(struct platform **out, struct arena *a, const char *spec,
                          const char *const *set, int nset, struct error *e);

/*
 * Gets a platform ready to be planned on. SimGrid is started at once where it alone knows routes, and
 * for a file where `simgrid` says that a clock will need it, so that a file SimGrid
 * refuses is known from the start; otherwise platform_start() does it when there is a
 * plan to time.
 */
enum status platform_begin(struct platform *p, bool simgrid, struct error *e);

/* Does what platform_read() and platform_begin() do. */
enum status platform_open(struct platform **out, struct arena *a, const char *spec,
                          const char *const *set, int nset, bool simgrid,
                          struct error *e);

/*
 * Loads the platform into SimGrid with the settings for parallel tasks, ready for
 * clock/simgrid.h, unless that is done. SimGrid takes one platform per process: fork
 * for more. It is an error that names the host or link if SimGrid refuses the file, or
 * if its links or routes are not what the hosts state.
 */
enum status platform_start(struct platform *p, struct error *e);

/*
 * Opens SimGrid's library, with no platform in it, where processes forked later will each
 * start one: the opening takes 40 ms. A fault is left to them.
 */
void platform_prepare(void);

/*
 * Loads it with the settings for single flows, in a process that is for flows alone: what
 * tests hold the clock flow (cost/flow.h) to. A file is not tried in a child first.
 */
enum status platform_start_flows(struct platform *p, struct error *e);

/* Does what platform_open() and platform_start() do. */
enum status platform_load(struct platform **out, struct arena *a, const char *spec,
                          const char *const *set, int nset, struct error *e);

/*
 * Appends the XML text of `spec`, as `shardsim platform` prints it, or `brief`, as facts/families.h
 * says; a file is given back as it is once platform_machine() would read it. Errors may
 * borrow from the arena.
 */
enum status platform_text(struct text *out, struct arena *a, const char *spec,
                          const char *const *set, int nset, bool brief, struct error *e);

#endif
