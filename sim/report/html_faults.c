/* Failed and wrong rows: one by one, or if they are many by their message. */
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

/* Rows with one status and message, in the order of the page. */
struct fault {
	const struct row *const *row;
	size_t n;
};

static bool is_fault(const struct row *r)
{
	return r->status == OUTCOME_FAILED || r->status == OUTCOME_WRONG;
}

static int compare_messages(const void *a, const void *b)
{
	const struct row *const *x = *(const struct row *const *const *)a;
	const struct row *const *y = *(const struct row *const *const *)b;
	int order = strcmp((*x)->message, (*y)->message);

	if ((*x)->status != (*y)->status)
		return (*x)->status < (*y)->status ? -1 : 1;
	return order ? order : (x > y) - (x < y);
}

/* Puts the most frequent first, and leaves equal ones in their order. */
static int compare_faults(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static bool is_same(const struct row *a, const struct row *b)
{
	return a->status == b->status && strcmp(a->message, b->message) == 0;
}

/* Returns all rows at fault; if they are many, those with the same message together. */
static const struct row **sorted_rows(const struct page *p, size_t *n)
{
	const struct row *const **at = arena_alloc(p->arena, p->nrows, sizeof(*at));
	const struct row **row;

	*n = 0;
	for (size_t i = 0; i < p->nrows; i++)
		if (is_fault(p->row[i]))
			at[(*n)++] = &p->row[i];
	if (*n > HTML_FAULT_ROWS)
		qsort(at, *n, sizeof(*at), compare_messages);
	row = arena_alloc(p->arena, *n, sizeof(*row));
	for (size_t i = 0; i < *n; i++)
		row[i] = *at[i];
	return row;
}

static void write_table(const struct page *p, const struct row *const *row, size_t n)
{
	struct arena *a = p->arena;

	fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"failures\"><thead>"
	      "<tr><th>scenario</th><th>platform</th><th>planner</th><th>clock</th>"
	      "<th>status</th><th>message</th></tr></thead>\n<tbody>\n",
	      p->out);
	for (size_t i = 0; i < n; i++)
		fprintf(p->out,
		        "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>"
		        "<td class=\"p\">%s</td></tr>\n",
		        html_escape(a, row[i]->scenario),
		        html_escape(a, row[i]->platform),
		        html_escape(a, row[i]->planner), html_escape(a, row[i]->clock),
		        outcome_name(row[i]->status), html_escape(a, row[i]->message));
	fputs("</tbody></table></div>\n", p->out);
}

static void write_fault(const struct page *p, const struct fault *f)
{
	size_t shown = f->n > HTML_FAULT_ROWS ? HTML_FAULT_ROWS : f->n;

	fprintf(p->out, "<details><summary>%zu %s %s: %s</summary>\n", f->n,
	        f->n == 1 ? "row is" : "rows are", outcome_name(f->row[0]->status),
	        html_escape(p->arena, f->row[0]->message));
	if (shown < f->n)
		fprintf(p->out, "<p class=\"note\">The first %zu of them:</p>\n", shown);
	write_table(p, f->row, shown);
	fputs("</details>\n", p->out);
}

static void write_faults(const struct page *p, const struct row *const *row, size_t n)
{
	struct fault *fault = arena_alloc(p->arena, n, sizeof(*fault));
	size_t faults = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !is_same(row[i - 1], row[i]))
			fault[faults++].row = &row[i];
		fault[faults - 1].n++;
	}
	qsort(fault, faults, sizeof(*fault), compare_faults);
	for (size_t i = 0; i < faults && i < HTML_FAULTS; i++)
		write_fault(p, &fault[i]);
	if (faults > HTML_FAULTS)
		fprintf(p->out, "<p class=\"note\">And %zu more messages.</p>\n",
		        faults - HTML_FAULTS);
}

void html_faults(const struct page *p)
{
	size_t n;
	const struct row **row = sorted_rows(p, &n);

	fputs("<h2 id=\"failures\">Failures</h2>\n", p->out);
	if (n == 0) {
		fputs("<p class=\"note\">No row failed, and no plan is wrong.</p>\n",
		      p->out);
		return;
	}
	fprintf(p->out, "<p class=\"note\">%zu %s.</p>\n", n,
	        n == 1 ? "row failed or is wrong" : "rows failed or are wrong");
	if (n > HTML_FAULT_ROWS)
		write_faults(p, row, n);
	else
		write_table(p, row, n);
}
