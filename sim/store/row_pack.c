/* Rows as bytes, for pipes. */
#include "store/store.h"

#include <string.h>

void row_pack(struct text *out, const struct row *r)
{
	for (int i = 0; i < ROW_COLUMNS; i++) {
		const char *field = (const char *)r + row_columns[i].offset;
		const char *s =
			row_columns[i].kind == ROW_TEXT ? *(char *const *)field : NULL;
		int32_t number;

		switch (row_columns[i].kind) {
		case ROW_TEXT:
			text_append(out, s ? s : "", s ? strlen(s) + 1 : 1);
			break;
		case ROW_REAL:
		case ROW_BYTES:
			text_append(out, field, 8);
			break;
		case ROW_FLAG:
			number = *(const bool *)field;
			text_append(out, (const char *)&number, sizeof(number));
			break;
		case ROW_STATUS:
			number = (int32_t) * (const enum outcome *)field;
			text_append(out, (const char *)&number, sizeof(number));
			break;
		}
	}
}

bool row_unpack(struct row *out, const char *bytes, size_t n)
{
	const char *end = bytes + n;

	*out = row_empty();
	for (int i = 0; i < ROW_COLUMNS; i++) {
		char *field = (char *)out + row_columns[i].offset;
		enum row_kind kind = row_columns[i].kind;
		size_t left = (size_t)(end - bytes), size;
		int32_t number;

		if (kind == ROW_TEXT) {
			const char *nul = memchr(bytes, '\0', left);

			if (!nul)
				return false;
			*(const char **)field = bytes;
			bytes = nul + 1;
			continue;
		}
		size = kind == ROW_REAL || kind == ROW_BYTES ? 8 : sizeof(number);
		if (left < size)
			return false;
		memcpy(kind == ROW_REAL || kind == ROW_BYTES ? field : (char *)&number,
		       bytes, size);
		if (kind == ROW_FLAG)
			*(bool *)field = number != 0;
		if (kind == ROW_STATUS)
			*(enum outcome *)field = (enum outcome)number;
		bytes += size;
	}
	return bytes == end;
}
