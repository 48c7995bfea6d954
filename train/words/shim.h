// C border of libsentencepiece_train (its own interface is C++). No exception crosses it.
#ifndef MINE_VOCAB_SHIM_H
#define MINE_VOCAB_SHIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// spt_train trains on n sentences, sentence i being text[ends[i-1]:ends[i]] (ends[-1] = 0). settings are 2*m strings, a
// name and its value in turn. It returns the serialised model, whose length it writes to *size, or NULL with *message
// set; the caller frees either with spt_free.
char *spt_train(const char **settings, int m, const char *text, const size_t *ends, size_t n, size_t *size, char **message);

void spt_free(char *p);

#ifdef __cplusplus
}
#endif
#endif
