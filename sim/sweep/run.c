#include "sweep/run.h"

#include "system/wall.h"

#include <errno.h>
#include <string.h>

enum status run_system_error(struct run *r, const char *what)
{
	return error_set(r->error, E_IO, (struct where){0}, "%s: %s", what,
	                 strerror(errno));
}

enum status run_keep(struct run *r, int platform, const struct row *row,
                     struct sweep_mark mark, const char *log)
{
	if (r->sink->put(r->sink->self, row, mark, log, r->error) != OK)
		return r->error->code;
	if (!r->nkept++)
		r->kept_s = wall_s();
	sweep_count(r->counts, row->status);
	if (r->sweep->progress)
		progress_row(r->sweep->progress, sweep_asked(r->sweep, platform),
		             row->status == OUTCOME_FAILED ||
		                     row->status == OUTCOME_WRONG);
	return OK;
}
