/*
 * What the kernels of a program ask of a device, equal ones together: all that is needed to
 * time a program without communication on any machine (cost/compute.h). As CSV, several
 * programs in one table:
 *
 *   file,kind,dtype,count,b,m,n,k,flops,bytes
 *
 * kind: memory, matmul, convolution, attention, attention-back, attention-torch; dtype of the
 * operands of the latter ones, b matrices [m, k] times [k, n]; count: how often it runs in a
 * step. Kernels that move bytes to a host are of kind `host`, which can be printed only.
 */
#ifndef SHARDSIM_SIM_PROGRAM_KERNEL_LIST_H
#define SHARDSIM_SIM_PROGRAM_KERNEL_LIST_H

#include "base/list.h"
#include "cost/compute.h"

#include <stdio.h>

struct program_price;

struct listed_kernel {
	struct compute_ask ask;
	double count, host_bytes;
};

struct kernel_list {
	const char *file; /* as the table names it */
	LIST(struct listed_kernel) kernel;
};

/* Lists the kernels of a priced program, in the order in which they first run. */
void kernel_list_of(struct kernel_list *out, struct arena *a,
                    const struct program_price *price, const char *file);

/* Prints the first line of a table, and the lines of a list. */
void kernel_list_csv_head(FILE *out);
void kernel_list_csv(FILE *out, const struct kernel_list *l);

struct kernel_lists {
	LIST(struct kernel_list) list;
};

/* Reads a table; errors are at a field. All is the arena's. */
enum status kernel_lists_read(struct kernel_lists *out, struct arena *a,
                              const char *path, struct error *e);

/* Returns the list of a file; NULL: there is none. */
const struct kernel_list *kernel_lists_find(const struct kernel_lists *l,
                                            const char *file);

/* Returns the seconds of all on a device of the machine; < 0: some are not known. */
double kernel_list_s(const struct kernel_list *l, const struct machine *m);

#endif
