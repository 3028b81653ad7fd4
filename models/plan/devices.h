/* Lists of platform devices, as `--devices` and suites have them. */
#ifndef SHARDSIM_PLAN_DEVICES_H
#define SHARDSIM_PLAN_DEVICES_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

/*
 * Device numbers `0-3,8-11`, or `@FILE` with numbers between white space or commas,
 * each below `limit` and none twice. The arena's; *n is how many.
 */
enum status devices_parse(int32_t **out, int32_t *n, struct arena *a, const char *text,
                          struct where at, int32_t limit, struct error *e);

#endif
