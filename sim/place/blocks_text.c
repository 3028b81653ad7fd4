#include "place/blocks.h"

#include "text/csv.h"
#include "text/words.h"

static const char *const way_names[BLOCK_WAYS] = {"lshs", "round-robin", "collectives"};

static const char *ratio(struct arena *a, double x, double y)
{
	return y > 0 ? arena_printf(a, "%.2f", x / y) : "-";
}

static void loads_table(const struct pen *pen, const struct block_study *s)
{
	static const char *const head[] = {"graph",         "way",    "received",
	                                   "between nodes", "memory", "time"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, "Block graphs: what is sent and held", "llrrrr", head,
	                    (size_t)BLOCK_GRAPHS * BLOCK_WAYS);

	for (int i = 0; i < BLOCK_GRAPHS * BLOCK_WAYS; i++) {
		const struct block_case *c = &s->graph[i / BLOCK_WAYS];
		const struct block_load *l = &c->way[i % BLOCK_WAYS];
		const char **cell = words_row(&table);

		cell[0] = c->name;
		cell[1] = way_names[i % BLOCK_WAYS];
		cell[2] = words_bytes(a, l->received);
		cell[3] = words_bytes(a, l->between);
		cell[4] = words_bytes(a, l->memory);
		cell[5] = words_time(a, l->time_s);
	}
	pen->table(pen, &table);
}

static void ratios_table(const struct pen *pen, const struct block_study *s)
{
	static const char *const head[] = {"graph",    "against", "between nodes",
	                                   "received", "memory",  "time"};
	struct arena *a = pen->arena;
	struct pen_table table =
		words_table(a, "Block graphs: so many times that of lshs", "llrrrr",
	                    head, (size_t)BLOCK_GRAPHS * 2);

	for (int i = 0; i < BLOCK_GRAPHS * 2; i++) {
		const struct block_case *c = &s->graph[i / 2];
		const struct block_load *l = &c->way[0], *m = &c->way[1 + i % 2];
		const char **cell = words_row(&table);

		cell[0] = c->name;
		cell[1] = way_names[1 + i % 2];
		cell[2] = ratio(a, m->between, l->between);
		cell[3] = ratio(a, m->received, l->received);
		cell[4] = ratio(a, m->memory, l->memory);
		cell[5] = ratio(a, m->time_s, l->time_s);
	}
	pen->table(pen, &table);
}

void block_study_words(const struct pen *pen, const struct block_study *s)
{
	struct arena *a = pen->arena;

	pen->heading(pen, 1, "Block graphs");
	pen->paragraph(
		pen,
		arena_printf(
			a,
			"On %s, %d devices. LSHS, the scheduler of NumS (arXiv "
			"2206.14276), and round-robin place operations on blocks one "
			"by one and copy what is missing; the sharded program computes "
			"where its blocks lie and sends by collectives. Received is "
			"the "
			"most of one device, memory the most that one holds when "
			"nothing "
			"is given back; times are of what is sent alone, by the clock "
			"model, all copies of a level of the graph at once.",
			s->machine->name, (int)s->machine->ndevices));
	loads_table(pen, s);
	pen->heading(pen, 2, "Against LSHS");
	pen->paragraph(
		pen,
		"The paper states half of the network load and a fourth of the "
		"memory, against the scheduler of Ray, which is not modelled here: "
		"round-robin looks at no operand, so its factors are those of "
		"placing blindly, large where data could stay and small where "
		"every way has to send it.");
	ratios_table(pen, s);
}

void block_study_csv(FILE *out, const struct block_study *s)
{
	fprintf(out,
	        "platform,graph,way,received_bytes,between_nodes_bytes,memory_bytes,"
	        "time_s\n");
	for (int i = 0; i < BLOCK_GRAPHS * BLOCK_WAYS; i++) {
		const struct block_case *c = &s->graph[i / BLOCK_WAYS];
		const struct block_load *l = &c->way[i % BLOCK_WAYS];

		csv_put(out, s->machine->name, true);
		csv_put(out, c->name, false);
		csv_put(out, way_names[i % BLOCK_WAYS], false);
		fprintf(out, ",%.15g,%.15g,%.15g,%.9g\n", l->received, l->between,
		        l->memory, l->time_s);
	}
}
