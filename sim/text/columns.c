#include "text/columns.h"

#include <string.h>

void columns_start(struct columns *t, struct arena *a, int columns, int left)
{
	*t = (struct columns){.arena = a, .columns = columns, .left = left};
}

void columns_row(struct columns *t, const char *const *cells)
{
	for (int i = 0; i < t->columns; i++)
		*list_add(&t->cell, t->arena) =
			cells[i] ? arena_strdup(t->arena, cells[i]) : "";
}

/* Returns how wide the widest cell of a column is. */
static int width(const struct columns *t, int column)
{
	size_t most = 0;

	for (int64_t i = column; i < t->cell.n; i += t->columns) {
		size_t n = strlen(t->cell.at[i]);

		most = n > most ? n : most;
	}
	return (int)most;
}

void columns_print(struct text *out, const struct columns *t, int indent)
{
	for (int64_t row = 0; row < t->cell.n; row += t->columns) {
		text_printf(out, "%*s", indent, "");
		for (int k = 0; k < t->columns; k++) {
			bool left = k < t->left || k == t->columns - 1;

			text_printf(out, "%s%*s", k ? "  " : "",
			            left ? -width(t, k) : width(t, k),
			            t->cell.at[row + k]);
		}
		while (out->length && out->s[out->length - 1] == ' ')
			out->s[--out->length] = '\0';
		text_printf(out, "\n");
	}
}
