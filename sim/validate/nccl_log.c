#include "validate/nccl_log.h"

#include "validate/gpu.h"
#include "validate/log_line.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_LEAST = 6 };

/* Where the columns of a row are, by its header; `n` 0: there is no header. */
struct layout {
	int n;
	int redop, root; /* -1: not there */
	int time[2], sides;
	bool in_place; /* the first side is the one in place */
};

/* One run of a test: its ranks come before its timings. */
struct run {
	struct measured like;
	struct layout layout;
	int64_t rows;
	int32_t ranks;
	const char **host; /* [ranks] */
	size_t room;
	struct where ranks_at;
	bool only_in_place; /* the line above the header names one side, in place */
};

struct log {
	struct measured_table *out;
	struct arena *a;
	size_t room;
	struct run run;
	struct error *e;
};

/* --- which collective ------------------------------------------------------------- */

/* The programs, and the collectives where we have such: gathers and scatters we have not. */
static const struct {
	const char *program, *name;
} programs[] = {
	{"all_reduce_perf", "all-reduce"},
	{"all_gather_perf", "all-gather"},
	{"reduce_scatter_perf", "reduce-scatter"},
	{"alltoall_perf", "all-to-all"},
	{"sendrecv_perf", "permute"},
	{"broadcast_perf", "broadcast"},
	{"reduce_perf", "reduce"},
	{"gather_perf", NULL},
	{"scatter_perf", NULL},
	{"hypercube_perf", NULL},
	{"alltoallv_perf", NULL},
};

enum { PROGRAMS = (int)(sizeof(programs) / sizeof(*programs)) };

/* Finds the program that a line names, as a word of its own; -1 if there is none. */
static int program_of(const struct log_line *l, const char **pos)
{
	for (int i = 0; i < PROGRAMS; i++) {
		size_t n = strlen(programs[i].program);
		const char *p = l->start;

		while ((p = memmem(p, (size_t)(l->end - p), programs[i].program, n))) {
			*pos = p;
			if (p == l->start || (!isalnum((unsigned char)p[-1]) &&
			                      p[-1] != '_' && p[-1] != '-'))
				return i;
			p += n;
		}
	}
	return -1;
}

static int64_t type_bytes(const struct log_word *w)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} types[] = {
		{"int8", 1},     {"uint8", 1},   {"char", 1},   {"half", 2},
		{"bfloat16", 2}, {"float16", 2}, {"int32", 4},  {"uint32", 4},
		{"int", 4},      {"float", 4},   {"int64", 8},  {"uint64", 8},
		{"double", 8},   {"f8e4m3", 1},  {"f8e5m2", 1}, {"fp8_e4m3", 1},
		{"fp8_e5m2", 1}, {"float32", 4},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (log_word_is(w, types[i].name))
			return types[i].bytes;
	return 0;
}

/*
 * Returns the only collective that a row can be of, or "". `size` is that of the array
 * of an all-gather and a reduce-scatter, of which `count` elements are a rank's; what
 * has no redop and no root is an all-gather as well as an all-to-all.
 */
static const char *collective_told(const struct log_line *l, const struct layout *c)
{
	int64_t bytes = log_word_whole(&l->word[0]);
	int64_t elements = log_word_whole(&l->word[1]) * type_bytes(&l->word[2]);
	bool alike = elements == bytes, reduces, rooted;

	if (!elements || c->redop < 0)
		return "";
	reduces = !log_word_is(&l->word[c->redop], "none");
	rooted = c->root >= 0 && !log_word_is(&l->word[c->root], "-1");
	if (rooted)
		return !alike ? "" : reduces ? "reduce" : "broadcast";
	if (reduces)
		return alike ? "all-reduce" : bytes % elements ? "" : "reduce-scatter";
	return alike ? "permute" : "";
}

/* --- runs ------------------------------------------------------------------------- */

static enum status run_end(struct log *log)
{
	const struct run *r = &log->run;

	if (!r->ranks || r->rows)
		return OK;
	return error_set(log->e, E_SYNTAX, r->ranks_at,
	                 "a run of %d ranks without a timing, expected lines of sizes "
	                 "and times behind",
	                 (int)r->ranks);
}

/* Begins a run unless the present one has no timing yet. */
static void run_begin(struct log *log)
{
	struct run *r = &log->run;

	if (!r->rows)
		return;
	*r = (struct run){.like = r->like};
	r->like.collective = r->like.launch = r->like.gpu = "";
	r->like.devices = r->like.nodes = 0;
}

static enum status program_read(struct log *log, const struct log_line *l, int program,
                                const char *pos)
{
	run_begin(log);
	if (!programs[program].name)
		return error_set(log->e, E_INFEASIBLE, log_line_where(l, pos),
		                 "a log of %s, which is no collective of shardsim; "
		                 "'shardsim help perf' lists them",
		                 programs[program].program);
	log->run.like.collective = programs[program].name;
	return OK;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Counts the hosts that ranks are on; their order is lost. */
static int32_t hosts_count(struct run *r)
{
	int32_t n = 0;

	if (r->ranks)
		qsort(r->host, (size_t)r->ranks, sizeof(*r->host), by_text);
	for (int32_t i = 0; i < r->ranks; i++)
		n += i == 0 || strcmp(r->host[i], r->host[i - 1]) != 0;
	return n;
}

/* Reads `# Rank N [Group G] Pid P on HOST device ...`. */
static enum status rank_read(struct log *log, const struct log_line *l)
{
	struct run *r = &log->run;
	int64_t rank = l->n > 2 ? log_word_whole(&l->word[2]) : -1;
	bool group = l->n > 4 && log_word_is(&l->word[3], "Group");
	int on = group ? 7 : 5;

	if (rank < 0 || l->n < on + 3 || !log_word_is(&l->word[on], "on") ||
	    !log_word_is(&l->word[on + 2], "device"))
		return error_set(log->e, E_SYNTAX, log_line_where(l, l->end),
		                 "the line of a rank is cut off, expected '# Rank N "
		                 "Group G Pid P on HOST device D'");
	if (group && !log_word_is(&l->word[4], "0"))
		return error_set(log->e, E_INFEASIBLE, log_line_where(l, l->word[4].s),
		                 "several groups of ranks at once "
		                 "(NCCL_TESTS_SPLIT), expected one");
	if (rank == 0)
		run_begin(log);
	if (rank != r->ranks)
		return error_set(
			log->e, E_SYNTAX, log_line_where(l, l->word[2].s),
			rank ? "rank %d, expected rank %d"
			     : "rank %d again, expected rank %d; without MPI, tests "
			       "that mpirun starts run each on its own",
			(int)rank, (int)r->ranks);
	if (r->room == (size_t)r->ranks) {
		r->room = 2 * r->room + 8;
		r->host = arena_grow(log->a, r->host, (size_t)r->ranks, r->room,
		                     sizeof(*r->host));
	}
	if (!r->ranks) {
		r->ranks_at = log_line_where(l, l->word[0].s);
		r->like.gpu = gpu_name(log->a, l->word[on + 2].s, l->end);
	}
	r->host[r->ranks++] =
		arena_strndup(log->a, l->word[on + 1].s, l->word[on + 1].n);
	return OK;
}

/* Reads `# nThread 1 nGpus 8 minBytes ... graph: 0`, which says how it was launched. */
static enum status start_read(struct log *log, const struct log_line *l)
{
	run_begin(log);
	for (int i = 1; i + 1 < l->n; i++)
		if (log_word_is(&l->word[i], "nGpus") &&
		    log_word_whole(&l->word[i + 1]) > 1)
			log->run.like.launch = "single";
	for (int i = 1; i + 1 < l->n; i++)
		if (log_word_is(&l->word[i], "graph:") &&
		    log_word_whole(&l->word[i + 1]) > 0)
			log->run.like.launch = "graph";
	return OK;
}

/* --- rows ------------------------------------------------------------------------- */

/* Reads the header "# size count type redop root time algbw busbw #wrong time ...". */
static void header_read(struct run *r, const struct log_line *l)
{
	struct layout c = {.redop = -1, .root = -1, .n = l->n - 1};

	for (int i = 1; i < l->n; i++) {
		if (log_word_is(&l->word[i], "redop"))
			c.redop = i - 1;
		else if (log_word_is(&l->word[i], "root"))
			c.root = i - 1;
		else if (log_word_is(&l->word[i], "time") && c.sides < 2)
			c.time[c.sides++] = i - 1;
	}
	c.in_place = r->only_in_place && c.sides == 1;
	if (c.sides)
		r->layout = c;
}

/*
 * Finds the columns of a row without a header: behind size, count and type come redop (a
 * word) and root (a number), if they are there at all, and then three or four columns,
 * once or twice, so one more in front of them is the root, and so is -1. None: false.
 */
static bool layout_guess(struct layout *out, const struct log_line *l)
{
	bool redop = l->n > 3 && log_word_number(&l->word[3]) < 0 &&
	             !log_word_is(&l->word[3], "-1");
	int first = redop ? 4 : 3, rest = l->n - first;
	bool root = rest == 5 || rest == 7 || rest == 9 ||
	            (rest > 0 && log_word_is(&l->word[first], "-1"));
	int columns = rest - root;

	*out = (struct layout){.n = l->n,
	                       .redop = redop ? 3 : -1,
	                       .root = root ? first : -1,
	                       .time = {first + root, first + root + columns / 2},
	                       .sides = columns > 4 ? 2 : 1};
	return columns == 3 || columns == 4 || columns == 6 || columns == 8;
}

/* Adds a timing of a row, out of place (side 0) or in place. */
static enum status timing_add(struct log *log, const struct log_line *l,
                              const struct layout *c, int side)
{
	int time = c->time[side], next = time + 3;
	double us = log_word_number(&l->word[time]),
	       GBps = log_word_number(&l->word[time + 2]);
	struct measured *m;

	if (log_word_is(&l->word[time], "N/A") || log_word_is(&l->word[time], "-"))
		return OK;
	if (us < 0)
		return error_set(log->e, E_SYNTAX, log_line_where(l, l->word[time].s),
		                 "the time '%.*s', expected a number of microseconds",
		                 (int)(l->word[time].n > 40 ? 40 : l->word[time].n),
		                 l->word[time].s);
	if ((size_t)log->out->n == log->room) {
		log->room = 2 * log->room + 64;
		log->out->row = arena_grow(log->a, log->out->row, (size_t)log->out->n,
		                           log->room, sizeof(*log->out->row));
	}
	m = &log->out->row[log->out->n++];
	*m = log->run.like;
	m->at = log_line_where(l, l->word[time].s);
	m->bytes = log_word_whole(&l->word[0]);
	m->time_s = us * 1e-6;
	m->busbw_Bps = GBps < 0 ? NAN : GBps * 1e9;
	m->in_place = side == 1 || c->in_place;
	if (next < c->n && (side || c->sides == 1 || next < c->time[1]) &&
	    log_word_whole(&l->word[next]) > 0)
		m->quality = "wrong results";
	return OK;
}

static enum status row_read(struct log *log, const struct log_line *l)
{
	struct run *r = &log->run;
	struct layout c = r->layout;
	int bad = log_word_whole(&l->word[0]) < 0 ? 0 : 1;

	if (c.n ? l->n != c.n : l->n < COLUMNS_LEAST || !layout_guess(&c, l))
		return error_set(log->e, E_SYNTAX, log_line_where(l, l->end),
		                 r->layout.n
		                         ? "a timing of %d columns, expected %d as in "
		                           "its header"
		                         : "a timing of %d columns, expected size, "
		                           "count, type, redop, root and, once or "
		                           "twice, time, algbw, busbw, #wrong",
		                 l->n, c.n);
	if (bad == 0 || log_word_whole(&l->word[1]) < 0)
		return error_set(log->e, E_SYNTAX, log_line_where(l, l->word[bad].s),
		                 "the %s '%.*s', expected a whole number of up to 18 "
		                 "digits",
		                 bad ? "count" : "size",
		                 (int)(l->word[bad].n > 40 ? 40 : l->word[bad].n),
		                 l->word[bad].s);
	if (c.time[c.sides - 1] + 2 >= l->n)
		return error_set(log->e, E_SYNTAX, log_line_where(l, l->end),
		                 "a timing without time, algbw and busbw");
	if (!r->rows) {
		r->like.devices = r->ranks;
		r->like.nodes = hosts_count(r);
		if (!*r->like.collective)
			r->like.collective = collective_told(l, &c);
	}
	r->rows++;
	/* Of no bytes nothing was run. */
	for (int side = 0; side < c.sides && log_word_whole(&l->word[0]); side++)
		if (timing_add(log, l, &c, side) != OK)
			return log->e->code;
	return OK;
}

/* --- logs ------------------------------------------------------------------------- */

/* Returns whether the test says in the line that it ended for a fault. */
static bool failed(const struct log_line *l)
{
	return log_line_has(l, "Test NCCL failure") ||
	       log_line_has(l, "Test CUDA failure") ||
	       log_line_has(l, "Test HIP failure") || log_line_has(l, "Test failure");
}

/* Reads a line that begins with #. */
static enum status comment_read(struct log *log, const struct log_line *l)
{
	const char *pos;
	int program;

	if (l->n > 1 && log_word_is(&l->word[1], "Rank"))
		return rank_read(log, l);
	if (l->n > 1 && log_word_is(&l->word[1], "nThread"))
		return start_read(log, l);
	if (log_line_has(l, "in-place") || log_line_has(l, "out-of-place"))
		log->run.only_in_place = !log_line_has(l, "out-of-place");
	if (l->n > 3 && log_word_is(&l->word[1], "size") &&
	    log_word_is(&l->word[2], "count"))
		header_read(&log->run, l);
	program =
		log_line_has(l, "Collective test starting:") ? program_of(l, &pos) : -1;
	return program >= 0 ? program_read(log, l, program, pos) : OK;
}

static enum status line_read(struct log *log, struct log_line *l)
{
	const char *pos;
	int program;

	log_line_split(l);
	if (!l->n)
		return OK;
	if (*l->word[0].s == '#')
		return comment_read(log, l);
	if (log_line_has(l, "NCCL INFO") || log_line_has(l, "NCCL WARN"))
		return OK;
	if (failed(l))
		return error_set(log->e, E_INFEASIBLE, log_line_where(l, l->word[0].s),
		                 "the test failed here; without this line and those "
		                 "behind it the timings before can be used");
	if (log_word_number(&l->word[0]) >= 0 &&
	    (l->n < 2 || isdigit((unsigned char)*l->word[1].s)))
		return row_read(log, l);
	program = program_of(l, &pos);
	return program >= 0 ? program_read(log, l, program, pos) : OK;
}

enum status nccl_log_read(struct measured_table *out, struct arena *a, const char *path,
                          const char *text, struct error *e)
{
	struct log log = {.out = out, .a = a, .e = e};
	struct log_line l = {.at = {.file = path}};

	log.run.like = (struct measured){.groups = 1,
	                                 .set = "",
	                                 .system = "",
	                                 .collective = "",
	                                 .launch = "",
	                                 .gpu = "",
	                                 .quality = "ok",
	                                 .source = path};
	for (; *text; text += *text == '\n') {
		l.at.line++;
		l.start = text;
		l.end = text += strcspn(text, "\n");
		if (line_read(&log, &l) != OK)
			return e->code;
	}
	return run_end(&log);
}
