#include "store/pages.h"

#include "base/input.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEAD = 100,      /* bytes of the file's head, on page 1 */
	LOG_HEAD = 32,   /* of the log's */
	FRAME_HEAD = 24, /* of each page in the log */
	LEAF_HEAD = 8,   /* of a leaf, before the places of its cells */
	LEAF = 0x0d      /* first byte of a leaf of a table */
};

static uint64_t big_endian(const unsigned char *p, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

/* --- pages -------------------------------------------------------------------------- */

/* Bytes of a page by the file's head, where 1 stands for 65536. */
static size_t page_size(const struct text *file, size_t otherwise)
{
	static const char magic[16] = "SQLite format 3";
	const unsigned char *p = (const unsigned char *)file->s;
	size_t size;

	if (file->length < HEAD || memcmp(p, magic, sizeof(magic)) != 0)
		return otherwise;
	size = (size_t)big_endian(p + 16, 2);
	size = size == 1 ? 65536 : size;
	return size < 512 || (size & (size - 1)) ? otherwise : size;
}

/*
 * The page in the frame at that place of the log, and its number, which is one that file
 * and log together can have; NULL behind the last.
 */
static const unsigned char *frame_at(uint64_t *number, const struct pages *p, size_t at)
{
	const unsigned char *log = (const unsigned char *)p->log.s;

	if (at + FRAME_HEAD + p->size > p->log.length ||
	    /* salts: behind the last one may be frames of an older log */
	    memcmp(log + at + 8, log + LOG_HEAD + 8, 8) != 0)
		return NULL;
	*number = big_endian(log + at, 4);
	return *number > 0 && *number <= (p->file.length + p->log.length) / p->size
	               ? log + at + FRAME_HEAD
	               : NULL;
}

void pages_read(struct pages *out, const char *path, size_t size)
{
	const unsigned char *page;
	struct text log = {0};
	struct error ignored = {0};
	uint64_t number;
	size_t own;

	*out = (struct pages){0};
	input_read(&out->file, path, &ignored);
	text_printf(&log, "%s-wal", path);
	input_read(&out->log, log.s, &ignored);
	text_free(&log);
	out->size = page_size(&out->file, size);
	out->n = own = out->file.length / out->size;
	for (size_t at = LOG_HEAD; (page = frame_at(&number, out, at));
	     at += FRAME_HEAD + out->size)
		out->n = number > out->n ? (size_t)number : out->n;
	out->page = xmalloc(out->n + 1, sizeof(*out->page));
	for (size_t i = 0; i < out->n; i++)
		out->page[i] =
			i < own ? (unsigned char *)out->file.s + i * out->size : NULL;
	for (size_t at = LOG_HEAD; (page = frame_at(&number, out, at));
	     at += FRAME_HEAD + out->size)
		out->page[number - 1] = page;
}

void pages_free(struct pages *p)
{
	text_free(&p->file);
	text_free(&p->log);
	free(p->page);
}

/* --- records ------------------------------------------------------------------------ */

/*
 * A number of 1 to 9 bytes that starts before `end`; NULL, or what is behind it. Each byte
 * has seven bits and whether there are more; the ninth has eight.
 */
static const unsigned char *varint(uint64_t *out, const unsigned char *p,
                                   const unsigned char *end)
{
	*out = 0;
	for (int i = 0; i < 9 && p < end; i++, p++) {
		if (i == 8) {
			*out = *out << 8 | *p;
			return p + 1;
		}
		*out = *out << 7 | (*p & 0x7f);
		if (*p < 0x80)
			return p + 1;
	}
	return NULL;
}

/*
 * How many of a record's bytes are on the leaf itself: X, M and K of the format's section
 * 1.6, where all of a page is used, as SQLite has it unless it is told otherwise.
 */
static size_t local_bytes(size_t page_bytes, uint64_t record_bytes)
{
	size_t most = page_bytes - 35, least = (page_bytes - 12) * 32 / 255 - 23, local;

	if (record_bytes <= most)
		return (size_t)record_bytes;
	local = least + (size_t)((record_bytes - least) % (page_bytes - 4));
	return local <= most ? local : least;
}

/* How many values a record has by its head, which is whole; -1: it is no record. */
static int count_values(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *types, *body;
	uint64_t head, type;
	int n = 0;

	types = varint(&head, p, end);
	if (!types || head > (uint64_t)(end - p))
		return -1;
	for (body = p + head; types && types < body; n++)
		types = varint(&type, types, body);
	return types == body ? n : -1;
}

/*
 * The record of so many values in the cell at `p`, with what is on other pages; false:
 * there is none.
 */
static bool read_record(struct text *out, const struct pages *pages, int columns,
                        const unsigned char *p, const unsigned char *end)
{
	uint64_t bytes, rowid, next;
	size_t local;

	out->length = 0;
	p = varint(&bytes, p, end);
	p = p ? varint(&rowid, p, end) : NULL;
	if (!p || bytes > INT32_MAX || bytes > (uint64_t)pages->n * pages->size)
		return false;
	local = local_bytes(pages->size, bytes);
	if (local + (local < bytes ? 4 : 0) > (size_t)(end - p) ||
	    count_values(p, p + local) != columns)
		return false;
	text_append(out, (const char *)p, local);
	p += local;
	while (out->length < bytes) {
		size_t n = pages->size - 4;

		next = big_endian(p, 4);
		if (next == 0 || next > pages->n || !pages->page[next - 1])
			return false;
		p = pages->page[next - 1];
		n = n < bytes - out->length ? n : (size_t)(bytes - out->length);
		text_append(out, (const char *)p + 4, n);
	}
	return true;
}

/*
 * Bind the value of that type at `p`; NULL, or what is behind it. Types: 0 null, 1 to 6
 * integers of a width, 7 a double, 8 and 9 the integers 0 and 1, from 12 on blobs (even)
 * and texts of (type - 12) / 2 bytes.
 */
static const unsigned char *bind(sqlite3_stmt *to, int index, uint64_t type,
                                 const unsigned char *p, const unsigned char *end)
{
	static const int width[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
	uint64_t n = type < 10   ? (uint64_t)width[type]
	             : type < 12 ? 0
	                         : (type - 12) / 2;
	uint64_t bits;
	double real;

	if (type == 10 || type == 11 || n > (uint64_t)(end - p))
		return NULL;
	bits = type < 10 ? big_endian(p, (int)n) : 0;
	if (type == 0) {
		sqlite3_bind_null(to, index);
	} else if (type == 7) {
		memcpy(&real, &bits, sizeof(real));
		sqlite3_bind_double(to, index, real);
	} else if (type < 8) {
		int unused = 64 - 8 * (int)n; /* shifted out and back for the sign */

		sqlite3_bind_int64(to, index, (int64_t)(bits << unused) >> unused);
	} else if (type < 10) {
		sqlite3_bind_int64(to, index, type == 9);
	} else if (type & 1) {
		sqlite3_bind_text(to, index, (const char *)p, (int)n, SQLITE_STATIC);
	} else {
		sqlite3_bind_blob(to, index, p, (int)n, SQLITE_STATIC);
	}
	return p + n;
}

/* Bind the values; false: they do not fill the record. */
static bool bind_record(sqlite3_stmt *to, const struct text *record)
{
	const unsigned char *p = (const unsigned char *)record->s;
	const unsigned char *end = p + record->length, *types, *body;
	uint64_t head, type;
	int index = 0;

	types = varint(&head, p, end);
	body = p + head;
	for (p = body; p && types < body;) {
		types = varint(&type, types, body);
		p = bind(to, ++index, type, p, end);
	}
	return p == end;
}

/* How many cells the page has, 0 if it is no leaf of a table; the first pointer to one. */
static unsigned cells(const struct pages *p, size_t page, const unsigned char **pointer)
{
	const unsigned char *head = p->page[page];
	size_t offset = page ? 0 : HEAD;
	unsigned n;

	if (!head || head[offset] != LEAF)
		return 0;
	n = (unsigned)big_endian(head + offset + 3, 2);
	*pointer = head + offset + LEAF_HEAD;
	return offset + LEAF_HEAD + 2 * (size_t)n <= p->size ? n : 0;
}

bool pages_next(struct pages_place *at, const struct pages *p, int columns,
                sqlite3_stmt *to)
{
	for (; at->page < p->n; at->page++, at->cell = 0) {
		const unsigned char *pointer = NULL, *page = p->page[at->page];
		unsigned n = cells(p, at->page, &pointer);

		while (at->cell < n) {
			size_t offset = (size_t)big_endian(pointer + 2 * at->cell++, 2);

			if (offset < p->size &&
			    read_record(&at->record, p, columns, page + offset,
			                page + p->size) &&
			    bind_record(to, &at->record))
				return true;
		}
	}
	return false;
}

void pages_place_end(struct pages_place *at)
{
	text_free(&at->record);
}
