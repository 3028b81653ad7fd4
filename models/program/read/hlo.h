/* The parts of the reader of HLO's text. Private to it. */
#ifndef SHARDSIM_PROGRAM_READ_HLO_H
#define SHARDSIM_PROGRAM_READ_HLO_H

#include "program/read/build.h"

/* Returns the type of elements of that name, NULL if there is none. */
const struct dtype *hlo_dtype(struct span name);

/* Reads a type into b->type. */
bool hlo_read_type(struct build *b);

/* Skips a type, if one is next; false with an error where its brackets have no end. */
bool hlo_skip_type(struct build *b);

/* Of the tables before the computations: where the source of an op stands. */
struct hlo_place {
	int64_t file, line;
};
struct hlo_frames {
	LIST(struct span) file;
	LIST(struct hlo_place) location;
	LIST(int64_t) frame; /* number of its location; all count from 1 */
};

/* An entry of input_output_alias or buffer_donor before the entry is known. */
struct alias_path {
	int64_t result[2], parameter[2]; /* number and place in a tuple; -1: none */
	const char *pos;
};

/* What comes before the computations. */
struct hlo_header {
	LIST(struct alias_path) alias;
	struct hlo_frames frames;
};

/* Reads the header of the module, and the tables behind it. */
bool hlo_header(struct build *b, struct hlo_header *h);

/* What the attributes of one op said; all that an op can have. */
struct hlo_attrs {
	struct ints dims, sizes;
	struct dot_attr dot;
	struct index_attr gather;
	struct slice_attr slice, pad;
	struct conv_attr conv; /* with the window of any op */
	struct span labels;    /* dim_labels */
	struct collective_attr collective;
	struct span target, config, direction;
	struct span to_apply, calls, condition, body, on_true, on_false, select, scatter;
	LIST(struct span) branch;
	LIST(struct span) called;
	int64_t index;
	bool has_dims, has_iota;
};

/* Reads `, name=value` as often as it is there, into `at` and the op itself. */
bool hlo_attributes(struct build *b, const struct hlo_frames *frames, int32_t op,
                    struct hlo_attrs *at);

/* Gives an op what its attributes said, and checks that its operands go with it. */
bool hlo_commit(struct build *b, int32_t op, struct hlo_attrs *at, const char *pos);

/* Reads window={size=3x3 stride=2x2 pad=0_1x0_1 ...}. */
bool hlo_window(struct build *b, struct window *w);

/* Reads the labels b01f_01io->b01f into `c`; errors are at `pos`. */
bool hlo_dim_labels(struct build *b, struct span labels, struct conv_attr *c,
                    const char *pos);

/* Gives the numbers that were not said: sizes, strides, dilations of 1, pads of 0. */
void hlo_window_fill(struct build *b, struct window *w);

#endif
