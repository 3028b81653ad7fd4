/* An HLO sharding as its text has it, before a mesh gives it axes. Private. */
#ifndef SHARDSIM_NOTATION_HLO_H
#define SHARDSIM_NOTATION_HLO_H

#include "array/layout.h"

enum hlo_kind { HLO_REPLICATED, HLO_MAXIMAL, HLO_UNREDUCED, HLO_TILED };

struct hlo {
	enum hlo_kind kind;
	int32_t maximal_device;
	/*
	 * HLO_TILED: the ids of one tile ascend. Unreduced subgroups are one more
	 * dimension behind those of the array.
	 */
	struct tiling tiling;
	bool unreduced; /* there is one */
	/*
	 * The number of groups of devices that manual subgroups tell apart, 0 without any.
	 * They are one more dimension before those of the array (hlo_scan_led()).
	 */
	int32_t manual;
};

/*
 * Read one sharding. `ndevices` 0 or `rank` -1 take any. Errors as layout_parse; manual
 * and unknown shardings are errors, too.
 */
enum status hlo_scan(struct hlo *out, int32_t ndevices, int rank, struct arena *a,
                     struct scan *s);

/*
 * Does so, of any number of devices and any rank, and takes manual subgroups, in each of
 * which the partitioner works by itself.
 */
enum status hlo_scan_led(struct hlo *out, struct arena *a, struct scan *s);

/*
 * Returns the order of `n` devices behind "device_ids": =(3,2,1,0) or =([2,2]T(1,0)).
 * NULL on an error.
 */
const int32_t *hlo_scan_order(int32_t n, struct arena *a, struct scan *s);

/*
 * A list of ids as digits of its index: element k = sum over digits of
 * ((k / place) mod size) * stride. Minor to major, neighbours that continue each other
 * merged. Their number, or -1 when the list is not of this form.
 */
struct hlo_digit {
	int32_t place, stride, size;
};
enum { HLO_DIGITS_MAX = 32 };
int hlo_digits(struct hlo_digit *digit, const int32_t *ids, int32_t n);

#endif
