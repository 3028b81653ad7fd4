/*
 * The operations of programs, by the names that HLO prints. StableHLO's operations are these
 * with `_` for `-`, a few under another name (opcode_of_stablehlo()), and those of the
 * dialects sdy and chlo that stand among them.
 *
 * What an operation costs is said by program/work.h; what it does to a sharding is the
 * business of propagation.
 */
#ifndef SHARDSIM_PROGRAM_OPCODE_H
#define SHARDSIM_PROGRAM_OPCODE_H

#include <stddef.h>

enum op_class {
	CLASS_FREE,        /* parameter, tuple, bitcast, ...: names and no work */
	CLASS_ELEMENTWISE, /* one result element from one element of each operand */
	CLASS_MATMUL,
	CLASS_CONVOLUTION,
	CLASS_REDUCE, /* reduce, reduce-window, select-and-scatter, map */
	CLASS_MOVE,   /* elements go elsewhere and stay what they are */
	CLASS_INDEX,  /* gather, scatter, dynamic-slice, dynamic-update-slice */
	CLASS_SORT,
	CLASS_RANDOM,
	CLASS_SOLVE, /* cholesky, triangular-solve, fft */
	CLASS_COLLECTIVE,
	CLASS_CUSTOM, /* custom-call, and what is not known */
	CLASS_LOOP,
	CLASS_BRANCH,
	CLASS_CALL,     /* call, fusion, and regions of sdy */
	CLASS_TRANSFER, /* send, recv, infeed, outfeed: to hosts or between programs */
	CLASSES
};

/* X(code, name, class, flops of a result element: -1 for a transcendental) */
#define OPCODES(X)                                                                     \
	X(ABS, "abs", ELEMENTWISE, 1)                                                  \
	X(ADD, "add", ELEMENTWISE, 1)                                                  \
	X(AND, "and", ELEMENTWISE, 1)                                                  \
	X(ATAN2, "atan2", ELEMENTWISE, -1)                                             \
	X(CBRT, "cbrt", ELEMENTWISE, -1)                                               \
	X(CEIL, "ceil", ELEMENTWISE, 1)                                                \
	X(CLAMP, "clamp", ELEMENTWISE, 1)                                              \
	X(COUNT_LEADING_ZEROS, "count-leading-zeros", ELEMENTWISE, 1)                  \
	X(COMPARE, "compare", ELEMENTWISE, 1)                                          \
	X(COMPLEX, "complex", ELEMENTWISE, 1)                                          \
	X(CONVERT, "convert", ELEMENTWISE, 1)                                          \
	X(COSINE, "cosine", ELEMENTWISE, -1)                                           \
	X(DIVIDE, "divide", ELEMENTWISE, 1)                                            \
	X(ERF, "erf", ELEMENTWISE, -1)                                                 \
	X(EXPONENTIAL, "exponential", ELEMENTWISE, -1)                                 \
	X(EXPONENTIAL_MINUS_ONE, "exponential-minus-one", ELEMENTWISE, -1)             \
	X(FLOOR, "floor", ELEMENTWISE, 1)                                              \
	X(IMAG, "imag", ELEMENTWISE, 1)                                                \
	X(IS_FINITE, "is-finite", ELEMENTWISE, 1)                                      \
	X(LOG, "log", ELEMENTWISE, -1)                                                 \
	X(LOG_PLUS_ONE, "log-plus-one", ELEMENTWISE, -1)                               \
	X(LOGISTIC, "logistic", ELEMENTWISE, -1)                                       \
	X(MAXIMUM, "maximum", ELEMENTWISE, 1)                                          \
	X(MINIMUM, "minimum", ELEMENTWISE, 1)                                          \
	X(MULTIPLY, "multiply", ELEMENTWISE, 1)                                        \
	X(NEGATE, "negate", ELEMENTWISE, 1)                                            \
	X(NOT, "not", ELEMENTWISE, 1)                                                  \
	X(OR, "or", ELEMENTWISE, 1)                                                    \
	X(POPULATION_COUNT, "popcnt", ELEMENTWISE, 1)                                  \
	X(POWER, "power", ELEMENTWISE, -1)                                             \
	X(REAL, "real", ELEMENTWISE, 1)                                                \
	X(REDUCE_PRECISION, "reduce-precision", ELEMENTWISE, 1)                        \
	X(REMAINDER, "remainder", ELEMENTWISE, 1)                                      \
	X(ROUND_NEAREST_AFZ, "round-nearest-afz", ELEMENTWISE, 1)                      \
	X(ROUND_NEAREST_EVEN, "round-nearest-even", ELEMENTWISE, 1)                    \
	X(RSQRT, "rsqrt", ELEMENTWISE, -1)                                             \
	X(SELECT, "select", ELEMENTWISE, 1)                                            \
	X(SHIFT_LEFT, "shift-left", ELEMENTWISE, 1)                                    \
	X(SHIFT_RIGHT_ARITHMETIC, "shift-right-arithmetic", ELEMENTWISE, 1)            \
	X(SHIFT_RIGHT_LOGICAL, "shift-right-logical", ELEMENTWISE, 1)                  \
	X(SIGN, "sign", ELEMENTWISE, 1)                                                \
	X(SINE, "sine", ELEMENTWISE, -1)                                               \
	X(SQRT, "sqrt", ELEMENTWISE, -1)                                               \
	X(STOCHASTIC_CONVERT, "stochastic-convert", ELEMENTWISE, 1)                    \
	X(SUBTRACT, "subtract", ELEMENTWISE, 1)                                        \
	X(TAN, "tan", ELEMENTWISE, -1)                                                 \
	X(TANH, "tanh", ELEMENTWISE, -1)                                               \
	X(XOR, "xor", ELEMENTWISE, 1)                                                  \
	X(DOT, "dot", MATMUL, 0)                                                       \
	X(RAGGED_DOT, "ragged-dot", MATMUL, 0)                                         \
	X(SCALED_DOT, "scaled-dot", MATMUL, 0)                                         \
	X(CONVOLUTION, "convolution", CONVOLUTION, 0)                                  \
	X(REDUCE, "reduce", REDUCE, 0)                                                 \
	X(REDUCE_WINDOW, "reduce-window", REDUCE, 0)                                   \
	X(SELECT_AND_SCATTER, "select-and-scatter", REDUCE, 0)                         \
	X(MAP, "map", REDUCE, 0)                                                       \
	X(BITCAST_CONVERT, "bitcast-convert", MOVE, 0)                                 \
	X(BROADCAST, "broadcast", MOVE, 0)                                             \
	X(CONCATENATE, "concatenate", MOVE, 0)                                         \
	X(COPY, "copy", MOVE, 0)                                                       \
	X(IOTA, "iota", MOVE, 0)                                                       \
	X(PAD, "pad", MOVE, 0)                                                         \
	X(RESHAPE, "reshape", MOVE, 0)                                                 \
	X(DYNAMIC_RESHAPE, "dynamic-reshape", MOVE, 0)                                 \
	X(REVERSE, "reverse", MOVE, 0)                                                 \
	X(SLICE, "slice", MOVE, 0)                                                     \
	X(TRANSPOSE, "transpose", MOVE, 0)                                             \
	X(DYNAMIC_SLICE, "dynamic-slice", INDEX, 0)                                    \
	X(DYNAMIC_UPDATE_SLICE, "dynamic-update-slice", INDEX, 0)                      \
	X(GATHER, "gather", INDEX, 0)                                                  \
	X(SCATTER, "scatter", INDEX, 0)                                                \
	X(SORT, "sort", SORT, 0)                                                       \
	X(TOPK, "topk", SORT, 0)                                                       \
	X(RNG, "rng", RANDOM, 0)                                                       \
	X(RNG_BIT_GENERATOR, "rng-bit-generator", RANDOM, 0)                           \
	X(RNG_STATE, "rng-get-and-update-state", RANDOM, 0)                            \
	X(CHOLESKY, "cholesky", SOLVE, 0)                                              \
	X(FFT, "fft", SOLVE, 0)                                                        \
	X(TRIANGULAR_SOLVE, "triangular-solve", SOLVE, 0)                              \
	X(ALL_GATHER, "all-gather", COLLECTIVE, 0)                                     \
	X(ALL_REDUCE, "all-reduce", COLLECTIVE, 0)                                     \
	X(REDUCE_SCATTER, "reduce-scatter", COLLECTIVE, 0)                             \
	X(ALL_TO_ALL, "all-to-all", COLLECTIVE, 0)                                     \
	X(RAGGED_ALL_TO_ALL, "ragged-all-to-all", COLLECTIVE, 0)                       \
	X(COLLECTIVE_PERMUTE, "collective-permute", COLLECTIVE, 0)                     \
	X(COLLECTIVE_BROADCAST, "collective-broadcast", COLLECTIVE, 0)                 \
	X(CUSTOM_CALL, "custom-call", CUSTOM, 0)                                       \
	X(WHILE, "while", LOOP, 0)                                                     \
	X(CONDITIONAL, "conditional", BRANCH, 0)                                       \
	X(CALL, "call", CALL, 0)                                                       \
	X(FUSION, "fusion", CALL, 0)                                                   \
	X(ASYNC, "async", CALL, 0)                                                     \
	X(MANUAL_COMPUTATION, "manual-computation", CALL, 0)                           \
	X(NAMED_COMPUTATION, "named-computation", CALL, 0)                             \
	X(SEND, "send", TRANSFER, 0)                                                   \
	X(SEND_DONE, "send-done", TRANSFER, 0)                                         \
	X(RECV, "recv", TRANSFER, 0)                                                   \
	X(RECV_DONE, "recv-done", TRANSFER, 0)                                         \
	X(INFEED, "infeed", TRANSFER, 0)                                               \
	X(OUTFEED, "outfeed", TRANSFER, 0)                                             \
	X(ADD_DEPENDENCY, "add-dependency", FREE, 0)                                   \
	X(AFTER_ALL, "after-all", FREE, 0)                                             \
	X(BITCAST, "bitcast", FREE, 0)                                                 \
	X(CONSTANT, "constant", FREE, 0)                                               \
	X(DOMAIN, "domain", FREE, 0)                                                   \
	X(GET_DIMENSION_SIZE, "get-dimension-size", FREE, 0)                           \
	X(SET_DIMENSION_SIZE, "set-dimension-size", FREE, 0)                           \
	X(GET_TUPLE_ELEMENT, "get-tuple-element", FREE, 0)                             \
	X(OPT_BARRIER, "opt-barrier", FREE, 0)                                         \
	X(PARAMETER, "parameter", FREE, 0)                                             \
	X(PARTITION_ID, "partition-id", FREE, 0)                                       \
	X(REPLICA_ID, "replica-id", FREE, 0)                                           \
	X(TUPLE, "tuple", FREE, 0)                                                     \
	X(SHARDING_CONSTRAINT, "sharding-constraint", FREE, 0)                         \
	X(RESHARD, "reshard", FREE, 0)                                                 \
	X(SHARDING_GROUP, "sharding-group", FREE, 0)                                   \
	X(DATA_FLOW_EDGE, "data-flow-edge", FREE, 0)                                   \
	X(PROPAGATION_BARRIER, "propagation-barrier", FREE, 0)                         \
	X(ALL_SLICE, "all-slice", MOVE, 0)

enum opcode {
#define X(code, name, class, flops) HLO_##code,
	OPCODES(X)
#undef X
		HLO_OPCODES
};

/* Returns the name, "dynamic-slice"; it is that of HLO but for operations of sdy alone. */
const char *opcode_name(enum opcode code);

enum op_class opcode_class(enum opcode code);

/* Returns "elementwise", "matmul", ... for reports. */
const char *op_class_name(enum op_class c);

/*
 * Returns the operations of one result element of an elementwise opcode: 1, or -1 for a
 * transcendental (exp, tanh, ...), which are counted apart as in XLA's HloCostAnalysis.
 */
int opcode_flops(enum opcode code);

/* Returns the opcode of a name in HLO, HLO_OPCODES if there is none. */
enum opcode opcode_find(const char *name, size_t length);

/*
 * Returns that of a name in MLIR with its dialect, "stablehlo.dot_general", HLO_OPCODES if it
 * is none of these operations.
 */
enum opcode opcode_of_stablehlo(const char *name, size_t length);

#endif
