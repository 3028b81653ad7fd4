/*
 * `best` against two of its plans in a row, on all pairs of layouts of three meshes on three
 * kinds of machines. Prints a table; ends with an error where more than 0.5 % of pairs are
 * more than 5 % dearer, or one by more than 18 %. The goal is 0.5 % and 10 %.
 */
#include "compose_pairs.h"

#include <stdio.h>
#include <stdlib.h>

static const struct compose_case cases[] = {
	{{2, 3, 4}, COMPOSE_OPEN, {4, 8}},    {{2, 3, 4}, COMPOSE_WRAPPED, {2, 3, 4}},
	{{2, 3, 4}, COMPOSE_NODES, {4, 8}},   {{2, 2, 2}, COMPOSE_OPEN, {2, 4}},
	{{2, 2, 2}, COMPOSE_WRAPPED, {2, 4}}, {{2, 2, 2}, COMPOSE_NODES, {1, 8}},
	{{4, 4}, COMPOSE_OPEN, {4, 4}},       {{4, 4}, COMPOSE_WRAPPED, {4, 4}},
	{{4, 4}, COMPOSE_NODES, {2, 8}},
};

int main(void)
{
	static const char *const kinds[] = {"open", "wrapped", "nodes"};
	int pairs = 0, dearer = 0;
	double worst = 1;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int *mesh = cases[i].mesh;
		struct compose_count count = compose_pairs(&cases[i]);

		printf("%dx%dx%d on %s: %d of %d pairs dearer, by up to %.3f\n",
		       mesh[0], mesh[1], mesh[2] ? mesh[2] : 1, kinds[cases[i].kind],
		       count.dearer, count.pairs, count.worst);
		pairs += count.pairs;
		dearer += count.dearer;
		worst = count.worst > worst ? count.worst : worst;
	}
	printf("%d of %d pairs of layouts, by up to %.3f\n", dearer, pairs, worst);
	return dearer > 0.005 * pairs || worst > 1.18 ? EXIT_FAILURE : EXIT_SUCCESS;
}
