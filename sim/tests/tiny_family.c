#include "tiny_family.h"

#include "family_folder.h"

#include <check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char families[] =
	"tiny:\n"
	"  kind: nodes\n"
	"  gpus: 4\n"
	"  largest: {value: 8, source: \"ours\"}\n"
	"  profile: nccl\n"
	"  figures:\n"
	"    nvlink.peak: {value: 125GB/s, source: \"ours\"}\n"
	"    nvlink.bandwidth: {value: 100GB/s, source: \"ours\"}\n"
	"    nvlink.latency: {value: 2us, source: \"ours\"}\n"
	"    nic.peak: {value: 12.5GB/s, source: \"ours\"}\n"
	"    nic.bandwidth: {value: 10GB/s, source: \"ours\"}\n"
	"    nic.latency: {value: 5us, source: \"ours\"}\n"
	"    memory_bytes: {value: 1GB, source: \"ours\"}\n"
	"    memory_Bps: {value: 1000GB/s, source: \"ours\"}\n"
	"    launch_s: {value: 10us, source: \"ours\"}\n"
	"    cc: {value: 80, source: \"ours\"}\n"
	"    launch_each_s: {value: 5.65048us, source: \"ours\"}\n"
	"    launch_graph_s: {value: 4us, source: \"ours\"}\n";

const char *tiny_start(struct arena *a)
{
	return family_folder(a, families, NULL, NULL);
}

void tiny_end(const char *dir)
{
	family_folder_remove(dir);
	unsetenv("SHARDSIM_DATA");
}

const char *tiny_file(struct arena *a, const char *dir, const char *name,
                      const char *text)
{
	const char *path = arena_printf(a, "%s/%s", dir, name);
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_ge(fputs(text, out), 0);
	ck_assert_int_eq(fclose(out), 0);
	return path;
}

double tiny_ring_s(double bytes, bool twice, double launch_s, double step, double fill_s)
{
	/* LL, LL128, Simple: what each has beyond LL's base, a step, bytes on the wire */
	static const double base_us[] = {0, 7.4, 1.8}, step_us[] = {0.6, 1.9, 3.4},
			    wire[] = {2, 16. / 15, 1};
	double best_s = INFINITY;

	for (int p = 0; p < 3; p++) {
		double w = bytes * 3 / 4 * (twice ? 2 : 1) * wire[p] / 100e9;
		double steps_s =
			(base_us[p] + (twice ? 6 : 3) * step * step_us[p]) * 1e-6;

		best_s = fmin(best_s, fmax(steps_s, 2e-6) + w + 2 * sqrt(w * fill_s));
	}
	return launch_s + best_s;
}
