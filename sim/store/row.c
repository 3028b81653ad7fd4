/* Rows: their columns, outcomes, and the one of which nothing is known. */
#include "store/store.h"

#include <math.h>
#include <string.h>

#define AT(name) #name, offsetof(struct row, name)
const struct row_column row_columns[ROW_COLUMNS] = {
	{ROW_TEXT, AT(scenario)},
	{ROW_TEXT, AT(family)},
	{ROW_TEXT, AT(array)},
	{ROW_TEXT, AT(mesh)},
	{ROW_TEXT, AT(from)},
	{ROW_TEXT, AT(to)},
	{ROW_TEXT, AT(to_mesh)},
	{ROW_TEXT, AT(num_devices)},
	{ROW_TEXT, AT(from_devices)},
	{ROW_TEXT, AT(to_devices)},
	{ROW_TEXT, AT(memory_limit)},
	{ROW_TEXT, AT(platform)},
	{ROW_TEXT, AT(planner)},
	{ROW_TEXT, AT(clock)},
	{ROW_STATUS, AT(status)},
	{ROW_TEXT, AT(message)},
	{ROW_REAL, AT(time_s)},
	{ROW_REAL, AT(launch_s)},
	{ROW_REAL, AT(local_s)},
	{ROW_BYTES, AT(recv_bytes)},
	{ROW_BYTES, AT(send_bytes)},
	{ROW_BYTES, AT(peak_array_bytes)},
	{ROW_BYTES, AT(peak_live_bytes)},
	{ROW_TEXT, AT(steps)},
	{ROW_FLAG, AT(full_remat)},
	{ROW_REAL, AT(bound_s)},
	{ROW_BYTES, AT(recv_bound_bytes)},
	{ROW_REAL, AT(planning_s)},
	{ROW_BYTES, AT(devices)},
	{ROW_TEXT, AT(source)},
	{ROW_TEXT, AT(base_scenario)},
	{ROW_TEXT, AT(base_platform)},
	{ROW_TEXT, AT(varied)},
	{ROW_TEXT, AT(machine)},
	{ROW_TEXT, AT(vocabulary)},
	{ROW_TEXT, AT(model)},
	{ROW_TEXT, AT(parallel)},
	{ROW_REAL, AT(compute_s)},
	{ROW_REAL, AT(exposed_s)},
	{ROW_REAL, AT(bubble_s)},
	{ROW_REAL, AT(other_s)},
	{ROW_REAL, AT(mfu)},
	{ROW_REAL, AT(low_s)},
	{ROW_REAL, AT(high_s)},
	{ROW_TEXT, AT(timeline)},
	{ROW_TEXT, AT(launch)},
};
#undef AT

static const char *const outcome_names[OUTCOMES] = {
	[OUTCOME_OK] = "ok",
	[OUTCOME_NOT_APPLICABLE] = "not-applicable",
	[OUTCOME_OVER_MEMORY] = "over-memory",
	[OUTCOME_WRONG] = "wrong",
	[OUTCOME_FAILED] = "failed",
};

const char *outcome_name(enum outcome o)
{
	return outcome_names[o];
}

bool outcome_parse(enum outcome *out, const char *name)
{
	for (int o = 0; o < OUTCOMES; o++) {
		if (strcmp(outcome_names[o], name) == 0) {
			*out = (enum outcome)o;
			return true;
		}
	}
	return false;
}

struct row row_empty(void)
{
	struct row r = {.status = OUTCOME_OK};

	for (int c = 0; c < ROW_COLUMNS; c++) {
		void *field = (char *)&r + row_columns[c].offset;

		if (row_columns[c].kind == ROW_TEXT)
			*(const char **)field = "";
		else if (row_columns[c].kind == ROW_REAL)
			*(double *)field = NAN;
		else if (row_columns[c].kind == ROW_BYTES)
			*(int64_t *)field = -1;
	}
	return r;
}
