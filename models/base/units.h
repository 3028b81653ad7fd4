/*
 * Sizes, rates and times as people write them. Text units exist only here; all else is
 * bytes, bytes per second and seconds.
 *
 * Sizes:  `16MiB` binary, `16MB` SI, `16M` binary as nccl-tests has it, `16` bytes.
 * Rates:  `25GB/s` = `25GBps` SI, `8GiB/s` = `8GiBps` binary, `25e9` bytes per second;
 *         with a small b in bits, as makers of networks have it: `400Gb/s` = `400Gbps` is
 *         50 GB/s.
 * Times:  `1.5us`, `3ms`, `2s`, `700ns`; a bare number is seconds.
 */
#ifndef SHARDSIM_BASE_UNITS_H
#define SHARDSIM_BASE_UNITS_H

#include "base/arena.h"
#include "base/scan.h"

/*
 * Returns whether a figure is 0 or from 10^-18 to 10^24, whatever its unit. No machine has
 * others, and what is computed from these is neither denormal nor infinite.
 */
bool units_in_range(double figure);

/* One size in [0, 2^62]; fractions are fine if the product is whole bytes. */
enum status units_scan_bytes(struct scan *s, int64_t *out);

/* One rate, one time; both are units_in_range(). */
enum status units_scan_rate(struct scan *s, double *out_Bps);
enum status units_scan_time(struct scan *s, double *out_s);

/* A whole text that is one size, rate or time. */
enum status units_bytes(const char *text, struct where at, int64_t *out,
                        struct error *e);
enum status units_rate(const char *text, struct where at, double *out_Bps,
                       struct error *e);
enum status units_time(const char *text, struct where at, double *out_s,
                       struct error *e);

/*
 * The peak of a device in operations per second: `989TFLOPS` = `989TFLOP/s` = `989e12`, with
 * G, T, P or E before. 0, not known, or 10^9 to 10^24: less is a unit that was left out.
 */
enum status units_flops(const char *text, struct where at, double *out, struct error *e);

/*
 * Returns whether the text is a number other than 0 and no unit. Where the name of a
 * figure does not tell its unit that is an error.
 */
bool units_missing(const char *text);

/*
 * For people, three or four significant digits: "1.5 MiB", "12.3 us", "45 GB/s". A capacity
 * is printed as vendors state it, "80 GB", if that is a whole number of an SI unit, else as
 * bytes are, "32 GiB". The memory of a device beside what needs it is printed as bytes are, and
 * behind it as vendors state it, "74.51 GiB (80 GB)".
 */
void units_print_bytes(struct text *out, double bytes);
void units_print_capacity(struct text *out, double bytes);
void units_print_memory(struct text *out, double bytes);
void units_print_time(struct text *out, double seconds);
void units_print_rate(struct text *out, double Bps);

#endif
