/* The report in words and tables, for the pens of all formats but CSV. */
#ifndef SHARDSIM_SIM_REPORT_TEXT_H
#define SHARDSIM_SIM_REPORT_TEXT_H

#include "report/data.h"
#include "text/pen.h"

/* All parts of a report. */
void report_text(const struct pen *pen, const struct report *r);

/* The parts of a report, each with its heading; nothing where there is nothing to say. */
void report_sentences_text(const struct pen *pen, const struct report *r);
void report_brief_text(const struct pen *pen, const struct report *r);
void report_hidden_text(const struct pen *pen, const struct report *r);
void report_first_text(const struct pen *pen, const struct report *r);
void report_machines_text(const struct pen *pen, const struct report *r);
void report_totals_text(const struct pen *pen, const struct report *r);
void report_families_text(const struct pen *pen, const struct report *r);
void report_best_text(const struct pen *pen, const struct report *r);
void report_bounds_text(const struct pen *pen, const struct report *r);
void report_bytes_text(const struct pen *pen, const struct report *r);
void report_apart_text(const struct pen *pen, const struct report *r);
void report_origins_text(const struct pen *pen, const struct report *r);
void report_plannings_text(const struct pen *pen, const struct report *r);
void report_left_text(const struct pen *pen, const struct report *r);

/* On how many problems of a kind it is certain which planner is fastest, in a sentence. */
void report_winners_text(const struct pen *pen, const struct report *r,
                         enum report_kind kind);

/* How many plans have clocks apart, in a sentence; nothing where none has. */
void report_apart_sentence(const struct pen *pen, const struct report *r);

/* Curves of varied figures, and what changes along them. */
void report_curves_text(const struct pen *pen, const struct report *r);

/* Planners among themselves: best, matrices, bounds, bytes. */
void report_rivals_text(const struct pen *pen, const struct report *r);

#endif
