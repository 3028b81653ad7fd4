/* Functions of StableHLO: what `stablehlo` and `stablehlo-test` share. */
#ifndef SHARDSIM_EMIT_STABLEHLO_H
#define SHARDSIM_EMIT_STABLEHLO_H

#include "emit/local.h"
#include "emit/mlir.h"

/* A text that is being written. */
struct hlo {
	struct text *out;
	struct local l;
	bool small;
	const char *type;   /* of elements */
	const char *zero;   /* of that type */
	int value, channel; /* the last number given; %a is -1 */
	struct shape at;    /* of the last value */
	bool has_id;        /* %id is there */
};

/* Returns the tile of the source or the target, of the plan or of its check. */
struct shape hlo_tile(const struct hlo *h, bool target);

void stablehlo_type(struct hlo *h, const struct shape *s);
void hlo_begin_module(struct hlo *h, const struct emission *what,
                      const struct emitter *emitter);

/* Appends the plan as a function of one tile. */
void hlo_function(struct hlo *h, const char *name);

#endif
