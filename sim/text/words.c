#include "text/words.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

struct pen_table words_table(struct arena *a, const char *caption, const char *align,
                             const char *const *head, size_t most_rows)
{
	size_t columns = strlen(align);

	return (struct pen_table){
		.caption = caption,
		.columns = columns,
		.align = align,
		.head = head,
		.cell = arena_alloc(a, most_rows * columns, sizeof(const char *)),
	};
}

const char **words_row(struct pen_table *t)
{
	return t->cell + t->columns * t->rows++;
}

/* Three decimals where they mean something. */
const char *words_ratio(struct arena *a, double x)
{
	if (isnan(x))
		return "-";
	if (x != 0 && x < 0.01)
		return arena_printf(a, "%.2e", x);
	return arena_printf(a, "%.*f", x < 99.9995 ? 3 : x < 9999.95 ? 1 : 0, x);
}

const char *words_percent(struct arena *a, double part)
{
	return isnan(part) ? "-" : arena_printf(a, "%.1f %%", 100 * part);
}

const char *words_count(struct arena *a, size_t n)
{
	return arena_printf(a, "%zu", n);
}

const char *words_time(struct arena *a, double seconds)
{
	struct text t = {0};

	if (isnan(seconds))
		return "-";
	units_print_time(&t, seconds);
	return text_take(&t, a);
}

const char *words_bytes(struct arena *a, double bytes)
{
	struct text t = {0};

	if (!(bytes >= 0))
		return "-";
	units_print_bytes(&t, bytes);
	return text_take(&t, a);
}

int words_direction_control(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	if (u[0] != 0xe2 || (u[1] != 0x80 && u[1] != 0x81))
		return 0;
	return u[1] == 0x80 ? (u[2] >= 0xaa && u[2] <= 0xae) * 3
	                    : (u[2] >= 0xa6 && u[2] <= 0xa9) * 3;
}
