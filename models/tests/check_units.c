/* Sizes, rates and times as people write them, and as we print them. */
#include "base/units.h"
#include "tests/tests.h"

#include <check.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	int64_t bytes;
} good_sizes[] = {
	{"0", 0},
	{"7", 7},
	{" 49153 ", 49153},
	{"16B", 16},
	{"16MiB", 16777216},
	{"16MB", 16000000},
	{"16M", 16777216},
	{"3K", 3072},
	{"3k", 3072},
	{"3kB", 3000},
	{"3KB", 3000},
	{"3KiB", 3072},
	{"5G", 5368709120},
	{"5GB", 5000000000},
	{"5GiB", 5368709120},
	{"7T", 7696581394432},
	{"7TB", 7000000000000},
	{"7TiB", 7696581394432},
	{"1.5KiB", 1536},
	{".5K", 512},
	{"3.K", 3072},
	{"1e3", 1000},
	{"1.25e2kB", 125000},
	{"1.001kB", 1001},
	{"4.35MB", 4350000},
	{"1.000001MB", 1000001},
	{"2.000000007GB", 2000000007},
	{"9007199254740993", 9007199254740993},
	{"4611686018427387903", 4611686018427387903},
	{"4611686018427387904", 4611686018427387904},
	{"4194304TiB", 4611686018427387904},
};

START_TEST(sizes_are_bytes)
{
	struct error e = {0};
	int64_t bytes = -1;
	const char *text = good_sizes[_i].text;

	ck_assert_msg(units_bytes(text, where_option("-b", text), &bytes, &e) == OK,
	              "%s: %s", text, e.text);
	ck_assert_int_eq(bytes, good_sizes[_i].bytes);
}
END_TEST

/* Thousandths of every SI unit are whole bytes, however they are written. */
START_TEST(decimal_fractions_are_exact)
{
	static const char *const unit[] = {"kB", "MB", "GB", "TB"};
	int64_t factor = 1;

	for (int u = 0; u < 4; u++, factor *= 1000) {
		for (int k = 1; k < 5000; k++) {
			char text[32];
			struct error e = {0};
			int64_t bytes = -1;

			snprintf(text, sizeof(text), "%d.%03d%s", k / 1000, k % 1000,
			         unit[u]);
			ck_assert_msg(units_bytes(text, where_option("-b", text),
			                          &bytes, &e) == OK,
			              "%s: %s", text, e.text);
			ck_assert_int_eq(bytes, k * factor);
		}
	}
}
END_TEST

static const struct {
	const char *text;
	enum status code;
	unsigned col;
	const char *says;
} bad_sizes[] = {
	{"", E_SYNTAX, 1, "expected a size such as 16MiB"},
	{"  ", E_SYNTAX, 3, "expected a size"},
	{"-1", E_SYNTAX, 1, "expected a size"},
	{"+1", E_SYNTAX, 1, "expected a size"},
	{"nan", E_SYNTAX, 1, "expected a size"},
	{"inf", E_SYNTAX, 1, "expected a size"},
	{"MiB", E_SYNTAX, 1, "expected a size"},
	{".", E_SYNTAX, 1, "expected a size"},
	{"0x10", E_SYNTAX, 1, "in decimal"},
	{"0X1p3", E_SYNTAX, 1, "in decimal"},
	{"16mib", E_SYNTAX, 3, "unknown unit"},
	{"16MiBs", E_SYNTAX, 6, "unknown unit"},
	{"16MB/s", E_SYNTAX, 5, "unknown unit"},
	{"16e", E_SYNTAX, 3, "unknown unit"},
	{"16Mi", E_SYNTAX, 4, "unknown unit"},
	{"16 MiB", E_SYNTAX, 4, "expected the end"},
	{"16MiB,", E_SYNTAX, 6, "expected the end"},
	{" 0.5", E_RANGE, 2, "whole number of bytes, expected such as 0,"},
	{"1.5B", E_RANGE, 1, "1.5B is not a whole number of bytes, expected such as 1,"},
	/* 4.8 x 2^30 = 5153960755.2 */
	{"4.8GiB", E_RANGE, 1,
         "4.8GiB is not a whole number of bytes, expected such as 5153960755,"},
	{"0.0001KB", E_RANGE, 1, "whole number of bytes"},
	{"0.3KiB", E_RANGE, 1, "whole number of bytes"},
	{"4611686018427387905", E_RANGE, 1, "at most 2^62"},
	{"4194305TiB", E_RANGE, 1, "at most 2^62"},
	{"1e400", E_RANGE, 1, "at most 2^62"},
	{"99999999999999999999999", E_RANGE, 1, "at most 2^62"},
};

START_TEST(bad_sizes_say_where)
{
	struct error e = {0};
	int64_t bytes = -7;
	const char *text = bad_sizes[_i].text;

	ck_assert_int_eq(units_bytes(text, where_option("-b", text), &bytes, &e),
	                 bad_sizes[_i].code);
	ck_assert_uint_eq(e.at.col, bad_sizes[_i].col);
	ck_assert_str_eq(e.at.file, "-b");
	ck_assert_msg(strstr(e.text, bad_sizes[_i].says), "%s: %s", text, e.text);
}
END_TEST

static const struct {
	const char *text;
	double value;
} good_rates[] = {
	{"25GB/s", 25e9},
	{"25GBps", 25e9},
	{"8GiB/s", 8589934592.},
	{"8GiBps", 8589934592.},
	{"25e9", 25e9},
	{"0", 0},
	{"1.5TB/s", 1.5e12},
	{"300MB/s", 3e8},
	{"7B/s", 7},
	{"7Bps", 7},
	{"16M/s", 16777216},
	{".5GB/s", 5e8},
	/* A small b is a bit, of which a byte has eight; a large one never is. */
	{"400Gb/s", 50e9},
	{"400Gbps", 50e9},
	{"400GBps", 400e9},
	{"1.6Tb/s", 200e9},
	{"100Mbps", 12.5e6},
	{"8kb/s", 1000},
	{"8Kb/s", 1000},
	{"8kB/s", 8000},
	{"64b/s", 8},
	{"8Kib/s", 1024},
	{"8Mibps", 1048576},
	{"8Gib/s", 1073741824},
	{"8Tib/s", 1099511627776},
};
static const struct {
	const char *text;
	double value;
} good_times[] = {
	{"1.5us", 1.5e-6}, {"3ms", 3e-3}, {"2s", 2},      {"700ns", 700e-9},
	{"0.25", 0.25},    {"0", 0},      {"1e-6", 1e-6}, {" 5us ", 5e-6},
};

static void near(double found, double wanted)
{
	ck_assert_msg(fabs(found - wanted) <= 1e-15 * wanted, "%.17g, expected %.17g",
	              found, wanted);
}

START_TEST(rates_are_bytes_per_second)
{
	struct error e = {0};
	double Bps = -1;
	const char *text = good_rates[_i].text;

	ck_assert_msg(units_rate(text, where_option("--set", text), &Bps, &e) == OK,
	              "%s", e.text);
	near(Bps, good_rates[_i].value);
}
END_TEST

START_TEST(times_are_seconds)
{
	struct error e = {0};
	double s = -1;
	const char *text = good_times[_i].text;

	ck_assert_msg(units_time(text, where_option("--set", text), &s, &e) == OK, "%s",
	              e.text);
	near(s, good_times[_i].value);
}
END_TEST

START_TEST(units_are_missed)
{
	static const char *const bare[] = {"100", "1.5", ".5", "1e9", " 7"};
	static const char *const fine[] = {"0",   "0.0",  "100GB/s", "100B/s",
	                                   "1us", "soon", "",        "100 GB"};

	for (size_t i = 0; i < sizeof(bare) / sizeof(*bare); i++)
		ck_assert(units_missing(bare[i]));
	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++)
		ck_assert(!units_missing(fine[i]));
}
END_TEST

typedef enum status reader(const char *, struct where, double *, struct error *);

static const struct {
	reader *read;
	const char *text;
	enum status code;
	unsigned col;
	const char *says;
} bad_numbers[] = {
	{units_rate, "", E_SYNTAX, 1, "expected a rate such as 25GB/s"},
	{units_rate, "-25GB/s", E_SYNTAX, 1, "expected a rate"},
	{units_rate, "nan", E_SYNTAX, 1, "expected a rate"},
	{units_rate, "infinity", E_SYNTAX, 1, "expected a rate"},
	{units_rate, "0x19GB/s", E_SYNTAX, 1, "in decimal"},
	{units_rate, "25GB", E_SYNTAX, 5, "expected '/s' or 'ps'"},
	{units_rate, "25GB/h", E_SYNTAX, 5, "expected '/s' or 'ps'"},
	{units_rate, "25GB/sec", E_SYNTAX, 7, "unknown unit"},
	{units_rate, "25Gb", E_SYNTAX, 5, "or in bits 200Gb/s"},
	{units_rate, "25gb/s", E_SYNTAX, 3, "unknown unit"},
	{units_rate, "25Gbits/s", E_SYNTAX, 5, "expected '/s' or 'ps'"},
	{units_rate, "25/s", E_SYNTAX, 3, "unknown unit"},
	{units_rate, "25GB/s 3", E_SYNTAX, 8, "expected the end"},
	{units_rate, "1e-320B/s", E_RANGE, 1, "out of range, expected 0 or 1e-18 to"},
	{units_rate, "1e-19", E_RANGE, 1, "out of range"},
	{units_rate, "1e-5000", E_RANGE, 1, "out of range"},
	{units_rate, "1.1e24", E_RANGE, 1, "out of range"},
	{units_time, "1e308s", E_RANGE, 1, "out of range, expected 0 or 1e-18 to"},
	{units_time, "1e-310ns", E_RANGE, 1, "out of range"},
	{units_rate, "1e309", E_RANGE, 1, "out of range"},
	{units_rate, "1e300TB/s", E_RANGE, 1, "out of range"},
	{units_time, "", E_SYNTAX, 1, "expected a time such as 1.5us"},
	{units_time, "-1s", E_SYNTAX, 1, "expected a time"},
	{units_time, "nans", E_SYNTAX, 1, "expected a time"},
	{units_time, "0x1s", E_SYNTAX, 1, "in decimal"},
	{units_time, "3min", E_SYNTAX, 2, "unknown unit"},
	{units_time, "3sec", E_SYNTAX, 3, "unknown unit"},
	{units_time, "3us;", E_SYNTAX, 4, "expected the end"},
	{units_time, " 1e999", E_RANGE, 2, "out of range"},
};

START_TEST(bad_rates_and_times_say_where)
{
	struct error e = {0};
	double value;
	const char *text = bad_numbers[_i].text;

	ck_assert_int_eq(bad_numbers[_i].read(text, where_option("k", text), &value, &e),
	                 bad_numbers[_i].code);
	ck_assert_uint_eq(e.at.col, bad_numbers[_i].col);
	ck_assert_msg(strstr(e.text, bad_numbers[_i].says), "%s: %s", text, e.text);
}
END_TEST

/* In the middle of a text only the number is taken. */
START_TEST(scanning_stops_behind_the_unit)
{
	struct error e = {0};
	struct scan s = scan_start(" 3KiB,5us;7GB/s]", (struct where){0}, &e);
	int64_t bytes;
	double value;

	ck_assert_int_eq(units_scan_bytes(&s, &bytes), OK);
	ck_assert_int_eq(bytes, 3072);
	ck_assert(scan_take(&s, ","));
	ck_assert_int_eq(units_scan_time(&s, &value), OK);
	near(value, 5e-6);
	ck_assert(scan_take(&s, ";"));
	ck_assert_int_eq(units_scan_rate(&s, &value), OK);
	near(value, 7e9);
	ck_assert(scan_take(&s, "]"));
}
END_TEST

static const struct {
	void (*print)(struct text *, double);
	double value;
	const char *printed;
} printed[] = {
	{units_print_bytes, 0, "0 B"},
	{units_print_bytes, 1023, "1023 B"},
	{units_print_bytes, 1024, "1 KiB"},
	{units_print_bytes, 49153, "48 KiB"},
	{units_print_bytes, 1572864, "1.5 MiB"},
	{units_print_bytes, 3 * 0x1p30, "3 GiB"},
	{units_print_bytes, 5 * 0x1p40, "5 TiB"},
	{units_print_capacity, 16e9, "16 GB"},
	{units_print_capacity, 141e9, "141 GB"},
	{units_print_capacity, 1.5e12, "1500 GB"},
	{units_print_capacity, 2e12, "2 TB"},
	{units_print_capacity, 3e3, "3 kB"},
	{units_print_capacity, 1234567e3, "1.15 GiB"},
	{units_print_capacity, 32 * 0x1p30, "32 GiB"},
	{units_print_capacity, 95 * 0x1p30, "95 GiB"},
	{units_print_capacity, 999, "999 B"},
	{units_print_memory, 80e9, "74.51 GiB (80 GB)"},
	{units_print_memory, 32 * 0x1p30, "32 GiB"},
	{units_print_time, 0, "0 us"},
	{units_print_time, 3e-9, "0.003 us"},
	{units_print_time, 12.3e-6, "12.3 us"},
	{units_print_time, 7.5e-3, "7.5 ms"},
	{units_print_time, 42.42, "42.42 s"},
	{units_print_rate, 7, "7 B/s"},
	{units_print_rate, 1500, "1.5 kB/s"},
	{units_print_rate, 3e6, "3 MB/s"},
	{units_print_rate, 45e9, "45 GB/s"},
	{units_print_rate, 3.35e12, "3.35 TB/s"},
};

START_TEST(people_read_three_or_four_digits)
{
	struct text t = {0};

	printed[_i].print(&t, printed[_i].value);
	ck_assert_str_eq(t.s, printed[_i].printed);
	text_free(&t);
}
END_TEST

Suite *tests(void)
{
	Suite *suite = suite_create("units");
	TCase *c = tcase_create("units");

#define LOOP(test, table)                                                              \
	tcase_add_loop_test(c, test, 0, sizeof(table) / sizeof(*(table)))
	LOOP(sizes_are_bytes, good_sizes);
	tcase_add_test(c, decimal_fractions_are_exact);
	LOOP(bad_sizes_say_where, bad_sizes);
	LOOP(rates_are_bytes_per_second, good_rates);
	LOOP(times_are_seconds, good_times);
	LOOP(bad_rates_and_times_say_where, bad_numbers);
	tcase_add_test(c, scanning_stops_behind_the_unit);
	LOOP(people_read_three_or_four_digits, printed);
	tcase_add_test(c, units_are_missed);
	suite_add_tcase(suite, c);
	return suite;
}
