/*
 * SimGrid's functions, each as itself. The library is not linked, for loading it with all
 * that it needs takes 40 ms, several times as long as the rest of a small run.
 *
 * platform_simgrid_load() is the one place that opens it. It is called when a platform is
 * started in SimGrid: for the first replay of the clock `simgrid`, to try a file for it,
 * and for a file whose routes only SimGrid knows; and by a sweep with this clock, for all
 * its workers. Planning and the other clocks never open it otherwise.
 */
#include "platform/loader.h"

#include <assert.h>
#include <dlfcn.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/exec.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>
#include <simgrid/version.h>
#include <xbt/dynar.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define RELEASE TEXT(SIMGRID_VERSION_MAJOR) "." TEXT(SIMGRID_VERSION_MINOR)

static void *library;

enum status platform_simgrid_load(struct error *e)
{
	/* The name of the library of a release between two others has a third number. */
	static const char *const names[] = {"libsimgrid.so." RELEASE,
	                                    "libsimgrid.so." RELEASE
	                                    "." TEXT(SIMGRID_VERSION_PATCH)};

	char why[2][160] = {"", ""};

	for (int i = 0; i < 2 && !library; i++) {
		library = dlopen(names[i], RTLD_LAZY);
		if (library && dlsym(library, "simgrid_load_platform"))
			break;
		snprintf(why[i], sizeof(why[i]), "%s", dlerror());
		if (library)
			dlclose(library);
		library = NULL;
	}
	return library ? OK
	               : error_set(e, E_IO, (struct where){.file = names[0]},
	                           "SimGrid " RELEASE " cannot be loaded: %s; %s",
	                           why[0], why[1]);
}

/* The release is that of the headers, so the library has what they declare. */
static void *address(const char *name)
{
	void *at = dlsym(library, name);

	assert(at);
	return at;
}

/* A function by SimGrid's name that looks SimGrid's own up when it is first called. */
#define FORWARD(type, name, parameters, arguments)                                     \
	type name parameters                                                           \
	{                                                                              \
		static type(*function) parameters;                                     \
                                                                                       \
		if (!function)                                                         \
			function = (type(*) parameters)address(#name);                 \
		return function arguments;                                             \
	}

FORWARD(void, simgrid_init, (int *argc, char **argv), (argc, argv))
FORWARD(void, simgrid_load_platform, (const char *path), (path))
FORWARD(void, simgrid_run, (void), ())
FORWARD(double, simgrid_get_clock, (void), ())

FORWARD(size_t, sg_host_count, (void), ())
FORWARD(sg_host_t *, sg_host_list, (void), ())
FORWARD(const char *, sg_host_get_name, (const_sg_host_t host), (host))
FORWARD(double, sg_host_get_speed, (const_sg_host_t host), (host))
FORWARD(void, sg_host_get_route,
        (const_sg_host_t from, const_sg_host_t to, xbt_dynar_t links), (from, to, links))

FORWARD(size_t, sg_link_count, (void), ())
FORWARD(sg_link_t *, sg_link_list, (void), ())
FORWARD(const char *, sg_link_get_name, (const_sg_link_t link), (link))
FORWARD(double, sg_link_get_bandwidth, (const_sg_link_t link), (link))
FORWARD(double, sg_link_get_latency, (const_sg_link_t link), (link))

FORWARD(sg_actor_t, sg_actor_init, (const char *name, sg_host_t host), (name, host))
FORWARD(sg_actor_t, sg_actor_self, (void), ())
FORWARD(void, sg_actor_set_data, (sg_actor_t actor, void *data), (actor, data))
FORWARD(void *, sg_actor_get_data, (const_sg_actor_t actor), (actor))
FORWARD(void, sg_actor_set_host, (sg_actor_t actor, sg_host_t host), (actor, host))
FORWARD(void, sg_actor_start_,
        (sg_actor_t actor, xbt_main_func_t code, int argc, const char *const *argv),
        (actor, code, argc, argv))
FORWARD(void, sg_actor_sleep_for, (double seconds), (seconds))
FORWARD(void, sg_actor_daemonize, (sg_actor_t actor), (actor))

FORWARD(sg_exec_t, sg_actor_parallel_exec_init,
        (int n, const sg_host_t *hosts, double *flops, double *bytes),
        (n, hosts, flops, bytes))
FORWARD(void, sg_exec_start, (sg_exec_t exec), (exec))
FORWARD(sg_error_t, sg_exec_wait, (sg_exec_t exec), (exec))

FORWARD(sg_mailbox_t, sg_mailbox_by_name, (const char *name), (name))
FORWARD(void, sg_mailbox_set_receiver, (const char *name), (name))
FORWARD(void, sg_mailbox_put, (sg_mailbox_t box, void *payload, long bytes),
        (box, payload, bytes))
FORWARD(void *, sg_mailbox_get, (sg_mailbox_t box), (box))

FORWARD(sg_sem_t, sg_sem_init, (int value), (value))
FORWARD(void, sg_sem_acquire, (sg_sem_t sem), (sem))

FORWARD(xbt_dynar_t, xbt_dynar_new, (unsigned long size, void_f_pvoid_t free_item),
        (size, free_item))
FORWARD(unsigned long, xbt_dynar_length, (const_xbt_dynar_t dynar), (dynar))
FORWARD(void *, xbt_dynar_get_ptr, (const_xbt_dynar_t dynar, unsigned long at),
        (dynar, at))
FORWARD(void, xbt_dynar_free, (xbt_dynar_t * dynar), (dynar))
