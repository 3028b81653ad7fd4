#include "automap/jobs_suite.h"

#include "base/units.h"
#include "text/csv.h"
#include "text/pen.h"

static double blocking(const struct jobs_row *r)
{
	double blocked = 0;

	for (int i = 0; i < JOB_REASONS; i++)
		blocked += (double)r->blocked[i];
	return blocked / (blocked + (double)r->done);
}

static const char *time_text(struct arena *a, double s)
{
	struct text out = {0};

	if (s > 0)
		units_print_time(&out, s);
	else
		text_printf(&out, "-");
	return text_take(&out, a);
}

/* Steps of all kinds by their degrees. */
static void write_steps(const struct pen *pen, struct arena *a,
                        const struct jobs_suite *s)
{
	int degrees = 0;
	struct pen_table t = {.caption = "Steps on so many devices",
	                      .name = "jobs-steps"};
	const char **head;

	while (degrees < JOB_DEGREES && 1 << degrees <= s->ndevices)
		degrees++;
	t.columns = 2 + (size_t)degrees;
	t.rows = (size_t)s->nkinds;
	t.align = "lrrrrrrrrrrrr";
	t.head = head = arena_alloc(a, t.columns, sizeof(*head));
	t.cell = arena_alloc(a, t.rows * t.columns, sizeof(*t.cell));
	head[0] = "job";
	head[1] = "steps";
	for (int i = 0; i < degrees; i++)
		head[2 + i] = arena_printf(a, "%d", 1 << i);
	for (int k = 0; k < s->nkinds; k++) {
		const char **cell = t.cell + (size_t)k * t.columns;

		cell[0] = s->kind[k].name;
		cell[1] = arena_printf(a, "%lld", (long long)s->kind[k].steps);
		for (int i = 0; i < degrees; i++)
			cell[2 + i] = time_text(a, s->kind[k].step_s[i]);
	}
	pen->heading(pen, 2, "Steps");
	pen->paragraph(pen,
	               "Time of a step on so many devices, under the mesh, the places "
	               "and the sharding that the search finds; - where it does not "
	               "fit.");
	pen->table(pen, &t);
}

static void write_blocking(const struct pen *pen, struct arena *a,
                           const struct jobs_rows *rows)
{
	const char *head[2 + JOB_POLICIES] = {"required", "load"};
	struct pen_table t = {.caption = "Blocked jobs",
	                      .name = "jobs-blocked",
	                      .columns = 2 + JOB_POLICIES,
	                      .rows = (size_t)rows->list.n / JOB_POLICIES,
	                      .align = "lrrrrrrr",
	                      .head = head};

	for (int i = 0; i < JOB_POLICIES; i++)
		head[2 + i] = job_policy_name[i];
	t.cell = arena_alloc(a, t.rows * t.columns, sizeof(*t.cell));
	for (size_t i = 0; i < t.rows; i++) {
		const struct jobs_row *r = &rows->list.at[i * JOB_POLICIES];
		const char **cell = t.cell + i * t.columns;

		cell[0] = i && r[-1].requirement == r->requirement
		                  ? ""
		                  : r->requirement->name;
		cell[1] = arena_printf(a, "%g", r->load);
		for (int k = 0; k < JOB_POLICIES; k++)
			cell[2 + k] = arena_printf(a, "%.1f %%", 100 * blocking(&r[k]));
	}
	pen->heading(pen, 2, "Blocked jobs");
	pen->table(pen, &t);
}

/* "lax 0.5, 0.75 or 1; strict 0.125": the shares of each requirement, one of which a job has. */
static const char *shares_text(struct arena *a, const struct jobs_suite *s)
{
	struct text out = {0};

	for (int i = 0; i < s->nrequirements; i++) {
		const struct jobs_requirement *r = &s->requirement[i];

		text_printf(&out, "%s%s", i ? "; " : "", r->name);
		for (int k = 0; k < r->n; k++)
			text_printf(&out, "%s%g",
			            !k             ? " "
			            : k + 1 < r->n ? ", "
			                           : " or ",
			            r->accept[k]);
	}
	return text_take(&out, a);
}

/*
 * Returns how much less one policy blocks than another over all rows, and the least and
 * most in one.
 */
static const char *saved_text(struct arena *a, const struct jobs_rows *rows,
                              enum job_policy policy, enum job_policy of)
{
	double least = 0, most = 0, x = 0, y = 0;
	bool any = false;

	for (int64_t i = 0; i < rows->list.n; i += JOB_POLICIES) {
		double here = blocking(&rows->list.at[i + (int)policy]);
		double there = blocking(&rows->list.at[i + (int)of]);

		x += here;
		y += there;
		if (there <= 0)
			continue;
		most = !any || 1 - here / there > most ? 1 - here / there : most;
		least = !any || 1 - here / there < least ? 1 - here / there : least;
		any = true;
	}
	return arena_printf(a, "%.1f %% less than %s (by row %.1f %% to %.1f %%)",
	                    y > 0 ? 100 * (1 - x / y) : 0, job_policy_name[of],
	                    100 * least, 100 * most);
}

static void write_page(FILE *out, struct arena *a, const struct jobs_suite *s,
                       const struct jobs_rows *rows)
{
	struct pen pen = pen_md(out, a);

	pen.heading(&pen, 1, "Jobs");
	pen.paragraph(
		&pen,
		arena_printf(
			a,
			"%d %s at %s as a Poisson "
			"process "
			"(seed %d), after PAC-ML (arXiv 2301.13799). Each is to be "
			"done "
			"within a share, one of those required, of what it takes on "
			"the "
			"fewest devices that it fits on; on how many it runs a policy "
			"says when it arrives. It is blocked where no block of devices "
			"is free or its time would be longer than required: there is "
			"no "
			"queue. The load is 1 where the jobs would fill the machine if "
			"each ran on its fewest devices. The shares that are required, "
			"one "
			"of them by each job: %s. Simulated in SimGrid (shardsim "
			"automap "
			"SUITE).",
			(int)s->count,
			s->count == 1 ? "job, of any kind, arrives"
				      : "jobs, of all kinds alike, arrive",
			s->platform, (int)s->seed, shares_text(a, s)));
	pen.paragraph(
		&pen,
		"random, min and max take any, the fewest and the most devices that "
		"are "
		"free; acceptable the fewest that would do if devices shared the work "
		"without loss; simulated the fewest whose simulated step does; "
		"look-ahead "
		"those, or none, after which the fewest jobs are blocked in futures "
		"that "
		"are drawn.");
	write_steps(&pen, a, s);
	write_blocking(&pen, a, rows);
	pen.paragraph(
		&pen,
		arena_printf(
			a,
			"Over all rows simulated blocks %s and %s, look-ahead %s and "
			"%s. "
			"PAC-ML, which learns its choices, publishes up to 56.2 %% "
			"less "
			"than max, for five graphs of its own on a network of optical "
			"circuits: the order of policies can be compared, figures "
			"cannot.",
			saved_text(a, rows, JOBS_SIMULATED, JOBS_MAX),
			saved_text(a, rows, JOBS_SIMULATED, JOBS_ACCEPTABLE),
			saved_text(a, rows, JOBS_AHEAD, JOBS_MAX),
			saved_text(a, rows, JOBS_AHEAD, JOBS_SIMULATED)));
}

static void write_csv(FILE *out, const struct jobs_rows *rows)
{
	fprintf(out, "required,load,policy,done,blocked_full,blocked_slow,"
	             "blocked_declined,blocking_rate,mean_devices,mean_time_share\n");
	for (int64_t i = 0; i < rows->list.n; i++) {
		const struct jobs_row *r = &rows->list.at[i];
		double done = r->done ? (double)r->done : 1;

		csv_put(out, r->requirement->name, true);
		fprintf(out, ",%g", r->load);
		csv_put(out, job_policy_name[r->policy], false);
		fprintf(out, ",%lld,%lld,%lld,%lld,%.6f,%.6g,%.6g\n",
		        (long long)r->done, (long long)r->blocked[-1 - JOB_FULL],
		        (long long)r->blocked[-1 - JOB_SLOW],
		        (long long)r->blocked[-1 - JOB_DECLINED], blocking(r),
		        r->devices / done, r->share / done);
	}
}

void jobs_suite_write(FILE *out, struct arena *a, const struct jobs_suite *s,
                      const struct jobs_rows *rows, bool csv)
{
	if (csv)
		write_csv(out, rows);
	else
		write_page(out, a, s, rows);
}
