#include "text/figure.h"

#include "text/gnuplot.h"

#include <string.h>

/* Around what is between the axes of a panel: tick marks and names of axes. */
enum { LEFT = 70, RIGHT = 40, BELOW = 62, LINE = 17, GAP = 8 };

/* A legend's entry is a piece of its curve or bar, SAMPLE long, and a name. */
enum { SAMPLE = 44, ENTRY_LINE = 20, BAR = 10 };

/* Where the parts of a figure are. */
struct layout {
	size_t columns, rows;
	int width, height;
	int head, above; /* the title's height, the panels' titles' */
	int entry;       /* width of an entry of the legend */
	size_t entries;  /* in a line of the legend */
	int legend;      /* its height */
};

static int text_width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n * FIGURE_CHARACTER;
}

/* Returns whether a line may end before text[at], at > 0: `n = 8` stays together. */
static bool may_break(const char *text, size_t at)
{
	if (text[at - 1] == ' ')
		return text[at] != '=' && (at == 1 || text[at - 2] != '=');
	return text[at - 1] == ',' || text[at] == '{';
}

/*
 * Returns the length of the first line of a text that may be so wide: it ends behind a
 * space or a comma or before an opening brace, or where there is none in the middle of a
 * word.
 */
static size_t line_length(const char *text, int width)
{
	size_t end = 0, good = 0;
	int room = width / FIGURE_CHARACTER;

	while (text[end]) {
		size_t next = end + 1;

		while (((unsigned char)text[next] & 0xc0) == 0x80)
			next++;
		if (room-- == 0)
			return good ? good : end;
		if (may_break(text, next))
			good = next;
		end = next;
	}
	return end;
}

static int count_lines(const char *text, int width)
{
	int n = 1;

	while (text_width(text) > width) {
		text += line_length(text, width);
		n++;
	}
	return n;
}

void figure_lines(FILE *out, const char *text, int width)
{
	while (text_width(text) > width) {
		size_t n = line_length(text, width);

		gnuplot_part(out, text, n);
		fputs(".\"\\n\".", out);
		text += n;
	}
	gnuplot_string(out, text);
}

/* Returns how many columns leave no or few places empty. */
static size_t count_columns(size_t panels)
{
	if (panels <= 3)
		return panels;
	return panels == 4 ? 2 : panels <= 9 ? 3 : 4;
}

static struct layout layout_of(const struct figure *f)
{
	struct layout l = {.columns = count_columns(f->npanels)};
	int longest = 0, lines = 1;

	l.rows = (f->npanels + l.columns - 1) / l.columns;
	l.width = (LEFT + FIGURE_PLOT_WIDTH + RIGHT) * (int)l.columns;
	l.head = 2 * GAP + LINE * count_lines(f->title, l.width - 2 * GAP);
	for (size_t i = 0; i < f->npanels; i++) {
		int n = count_lines(f->panel[i], FIGURE_PLOT_WIDTH);

		lines = n > lines ? n : lines;
	}
	l.above = GAP + LINE * lines;
	for (size_t i = 0; i < f->nlegend; i++) {
		int n = text_width(f->legend[i]);

		longest = n > longest ? n : longest;
	}
	l.entry = SAMPLE + 3 * GAP + longest;
	l.entries = (size_t)((l.width - 2 * GAP) / l.entry);
	l.entries = l.entries ? l.entries : 1;
	l.entries = f->nlegend < l.entries ? f->nlegend : l.entries;
	if (f->nlegend)
		l.legend = GAP +
		           ENTRY_LINE * (int)((f->nlegend + l.entries - 1) / l.entries);
	l.height = l.head + (l.above + FIGURE_PLOT_HEIGHT + BELOW) * (int)l.rows +
	           l.legend + GAP;
	return l;
}

/* --- styles ------------------------------------------------------------------------- */

/*
 * The lightness of these, 0 (black) to 100, is 8, 62, 38, 74, 26, 50, 14, 68, 44, 32, 56
 * and 20: any two differ by 6, any two of the first six by 12.
 */
static const char *const colours[FIGURE_STYLES] = {
	"#121822", "#eb740c", "#125aa2", "#59c8b5", "#671577", "#228933",
	"#351e0d", "#e289c4", "#c72b1c", "#0a545a", "#308fbe", "#0e381c"};

/* No two of the first DASHES * FIGURE_STYLES styles have both the same. */
enum { DASHES = 4 };
static const char *const dashes[DASHES] = {"solid", "(9,4)", "(2,3)", "(9,3,2,3)"};
static const int markers[FIGURE_STYLES] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10, 2, 1};

const char *figure_colour(size_t i)
{
	return colours[i % FIGURE_STYLES];
}

void figure_style(FILE *out, const char *with, size_t i)
{
	fprintf(out, " with %s notitle lw 1.6 lc rgb '%s'", with, figure_colour(i));
	if (strcmp(with, "points") != 0)
		fprintf(out, " dt %s", dashes[(i + i / FIGURE_STYLES) % DASHES]);
	if (strstr(with, "points"))
		fprintf(out, " pt %d ps 0.7", markers[i % FIGURE_STYLES]);
}

/* --- the picture -------------------------------------------------------------------- */

void figure_begin(FILE *out, const char *terminal, const struct figure *f)
{
	struct layout l = layout_of(f);

	fprintf(out, "set encoding utf8\nset terminal %s size ", terminal);
	if (strcmp(terminal, "svg") == 0)
		fprintf(out, "%d,%d font 'sans,12' background rgb 'white'", l.width,
		        l.height);
	else
		fprintf(out, "%.2fcm,%.2fcm font 'sans,8.5'", 0.025 * l.width,
		        0.025 * l.height);
	/* It warns of a brace that is alone in a line, even of a title without its marks. */
	fputs(f->plain ? " noenhanced\n" : "\n", out);
	fputs("unset key\nset multiplot\nset grid lc rgb '#cccccc' dt solid lw 0.5\n",
	      out);
}

/* Makes what is between the axes lie in [x, x + width], `y` below the figure's top. */
static void set_place(FILE *out, const struct layout *l, double x, double y,
                      double width, double height)
{
	fprintf(out,
	        "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
	        "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
	        x / l->width, (x + width) / l->width, 1 - y / l->height,
	        1 - (y + height) / l->height);
}

void figure_panel(FILE *out, const struct figure *f, size_t i)
{
	struct layout l = layout_of(f);
	size_t column = i % l.columns, row = i / l.columns;

	set_place(out, &l, LEFT + (double)column * (LEFT + FIGURE_PLOT_WIDTH + RIGHT),
	          l.head + l.above + (double)row * (l.above + FIGURE_PLOT_HEIGHT + BELOW),
	          FIGURE_PLOT_WIDTH, FIGURE_PLOT_HEIGHT);
	fputs("set title ", out);
	figure_lines(out, f->panel[i], FIGURE_PLOT_WIDTH);
	fputs(" noenhanced offset 0,-0.5\n", out);
}

/* Writes where entry i of the legend begins, in pixels from the figure's bottom left. */
static void entry_place(int *x, int *y, const struct layout *l, size_t i)
{
	*x = (l->width - (int)l->entries * l->entry) / 2 +
	     (int)(i % l->entries) * l->entry + GAP;
	*y = l->legend - ENTRY_LINE * (int)(i / l->entries) - ENTRY_LINE / 2;
}

void figure_end(FILE *out, const struct figure *f)
{
	struct layout l = layout_of(f);
	int x, y;

	fputs("reset\nunset key\nunset border\nunset tics\n", out);
	set_place(out, &l, 0, 0, l.width, l.height);
	fprintf(out, "set xrange [0:%d]\nset yrange [0:%d]\nset label ", l.width,
	        l.height);
	figure_lines(out, f->title, l.width - 2 * GAP);
	fprintf(out, " at %d,%d center noenhanced font ',13'\n", l.width / 2,
	        l.height - GAP - LINE / 2);
	for (size_t i = 0; i < f->nlegend; i++) {
		entry_place(&x, &y, &l, i);
		fprintf(out, "$e%zu << EOD\n%d %d\n%d %d\n%d %d\nEOD\nset label ", i, x,
		        y, x + SAMPLE / 2, y, x + SAMPLE, y);
		gnuplot_string(out, f->legend[i]);
		fprintf(out, " at %d,%d left noenhanced\n", x + SAMPLE + GAP, y);
	}
	fputs("plot -1 notitle", out);
	for (size_t i = 0; i < f->nlegend; i++) {
		fprintf(out, ", $e%zu", i);
		if (f->bars) {
			fprintf(out, " with lines notitle lw %d lc rgb '%s'", BAR,
			        figure_colour(i));
			continue;
		}
		figure_style(out, "lines", i);
		fprintf(out, ", $e%zu every ::1::1", i);
		figure_style(out, "points", i);
	}
	fputs("\nunset multiplot\nset output\n", out);
}
