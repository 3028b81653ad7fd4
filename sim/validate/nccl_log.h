/*
 * The output of nccl-tests and rccl-tests as timings.
 *
 *   # Collective test starting: all_reduce_perf           or a command line with that name
 *   #  Rank  0 Group  0 Pid  4711 on node1 device  0 [0x07] NVIDIA A100-SXM4-80GB
 *   #       size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw ...
 *           1024    256  float   sum    -1  12.9   0.08   0.12       0  12.8   0.08 ...
 *
 * Timings are out of place, then in place, of three or four columns each; redop, root and
 * #wrong may be missing, and columns may follow. A prefix such as `[1,0]<stdout>:` or `0:`
 * is dropped. Ranks are the lines `# Rank`, nodes the hosts they name. Without a name the
 * collective follows from redop, root and count where these can be of one only. Several
 * outputs may stand one after another. Other lines, as those of NCCL_DEBUG, are skipped.
 */
#ifndef SHARDSIM_SIM_VALIDATE_NCCL_LOG_H
#define SHARDSIM_SIM_VALIDATE_NCCL_LOG_H

#include "validate/measured.h"

/*
 * Reads the timings of a log's text into an empty table; texts are the arena's, `path` is
 * borrowed. Set and system are "". It is an error at the line and column if a line of a
 * timing or a rank is damaged or cut off, if ranks are missing, if a run has ranks but no
 * timing, and if the test says that it failed.
 */
enum status nccl_log_read(struct measured_table *out, struct arena *a, const char *path,
                          const char *text, struct error *e);

#endif
