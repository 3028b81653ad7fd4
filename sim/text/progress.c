#include "text/progress.h"

#include "base/arena.h"
#include "system/wall.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int terminal_width(FILE *out)
{
	struct winsize size;

	return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 20
	               ? size.ws_col - 1
	               : 79;
}

/*
 * Prints a line such as
 * "37/160 rows, 12 rows/s, 10 s left, 0 failed; tpu-v4:4x4x4 20/80, dgx-a100:4 17/80".
 */
static void print_progress(struct text *t, const struct progress *p, double now)
{
	int64_t fresh = p->done - p->before;
	double passed = now - p->start_s;
	double rate = passed > 0 ? (double)fresh / passed : 0;

	text_printf(t, "%lld/%lld rows, %.*f rows/s, ", (long long)p->done,
	            (long long)p->total, rate < 10 ? 1 : 0, rate);
	if (rate > 0)
		text_printf(t, "%.0f s left, ", (double)(p->total - p->done) / rate);
	text_printf(t, "%lld failed", (long long)p->failed);
	for (int i = 0; i < p->nplatforms; i++)
		text_printf(t, "%s %s %lld/%lld", i ? "," : ";", p->platform[i].name,
		            (long long)p->platform[i].done,
		            (long long)p->platform[i].total);
}

static void show_progress(struct progress *p, double now)
{
	struct text t = {0};
	int room, length;

	p->shown_s = now;
	print_progress(&t, p, now);
	if (!p->terminal) {
		fprintf(p->out, "%s\n", t.s);
	} else {
		room = terminal_width(p->out);
		length = (int)t.length < room ? (int)t.length : room;
		fprintf(p->out, "\r%.*s%*s", length, t.s,
		        p->length > length ? p->length - length : 0, "");
		p->length = length;
	}
	fflush(p->out);
	text_free(&t);
}

void progress_begin(struct progress *p, int64_t total)
{
	bool terminal = isatty(STDERR_FILENO);

	*p = (struct progress){.out = terminal ? stderr : NULL,
	                       .terminal = terminal,
	                       .brief = true,
	                       .interval_s = 0.2,
	                       .total = total};
	progress_start(p);
}

void progress_start(struct progress *p)
{
	p->start_s = p->shown_s = wall_s();
	p->before = p->done;
	p->length = 0;
}

void progress_row(struct progress *p, int platform, bool failed)
{
	p->done++;
	if (p->nplatforms)
		p->platform[platform].done++;
	p->failed += failed;
	progress_tick(p);
}

void progress_tick(struct progress *p)
{
	double now = wall_s();

	if (p->out && now - p->shown_s >= p->interval_s)
		show_progress(p, now);
}

void progress_end(struct progress *p)
{
	if (!p->out || (p->brief && !(p->shown_s > p->start_s)))
		return;
	show_progress(p, wall_s());
	if (p->terminal)
		fputs("\n", p->out);
}
