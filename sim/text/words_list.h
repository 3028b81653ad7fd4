/* Lists that options take: words with commas between. */
#ifndef SHARDSIM_SIM_TEXT_WORDS_LIST_H
#define SHARDSIM_SIM_TEXT_WORDS_LIST_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Stores the words of a list, ended by NULL; the arena's. Commas inside (), [] and {} do
 * not part words, nor do those before the settings of a machine, family:shape,key=value. An empty list has none. E_SYNTAX: an empty word in `option`'s list.
 */
enum status words_list_read(const char ***out, struct arena *a, const char *option,
                            const char *list, struct error *e);

/* Returns the place of word number `n`, from 0, of the list that `option` was given. */
struct where words_list_at(const char *option, const char *list, int n);

/* E_TYPE, at the place of the second, if a list has a word twice. */
enum status words_list_once(const char *option, const char *list, const char **words,
                            struct error *e);

#endif
