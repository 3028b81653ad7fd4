#include "text/table.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

void table_start(struct table *t, struct arena *a, int columns, int left)
{
	*t = (struct table){.arena = a, .columns = columns, .left = left};
}

void table_row(struct table *t, const char *const *cells)
{
	size_t row = (size_t)t->columns * sizeof(*t->cell);

	if (t->nrows == t->capacity) {
		const char **old = t->cell;

		t->capacity = t->capacity ? 2 * t->capacity : 16;
		t->cell = arena_alloc(t->arena, (size_t)t->capacity, row);
		if (t->nrows)
			memcpy(t->cell, old, (size_t)t->nrows * row);
	}
	for (int i = 0; i < t->columns; i++)
		t->cell[t->nrows * t->columns + i] =
			cells[i] ? arena_strdup(t->arena, cells[i]) : "";
	t->nrows++;
}

static int width(const struct table *t, int column)
{
	size_t most = 0;

	for (int i = 0; i < t->nrows; i++) {
		size_t n = strlen(t->cell[i * t->columns + column]);

		most = n > most ? n : most;
	}
	return (int)most;
}

void table_print(struct text *out, const struct table *t, int indent)
{
	for (int i = 0; i < t->nrows; i++) {
		text_printf(out, "%*s", indent, "");
		for (int k = 0; k < t->columns; k++) {
			bool left = k < t->left || k == t->columns - 1;
			const char *cell = t->cell[i * t->columns + k];

			text_printf(out, "%s%*s", k ? "  " : "",
			            left ? -width(t, k) : width(t, k), cell);
		}
		while (out->length && out->s[out->length - 1] == ' ')
			out->s[--out->length] = '\0';
		text_printf(out, "\n");
	}
}

const char *table_bytes(struct arena *a, int64_t bytes)
{
	struct text t = {0};

	units_print_bytes(&t, (double)bytes);
	return text_take(&t, a);
}

const char *table_time(struct arena *a, double seconds)
{
	struct text t = {0};

	if (isnan(seconds))
		return "-";
	units_print_time(&t, seconds);
	return text_take(&t, a);
}
