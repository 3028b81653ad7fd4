/* YAML files as texts that libyaml reads in time. */
#ifndef SHARDSIM_FACTS_YAML_TEXT_H
#define SHARDSIM_FACTS_YAML_TEXT_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Appends the bytes of a YAML file, of at most 16 MiB, with at most 64 levels and 1,000
 * anchors, for libyaml takes the square of these. Errors: no file, one beyond a limit.
 */
enum status yaml_text(struct text *out, const char *path, struct error *e);

#endif
