// C interface to libsentencepiece, whose own interface is C++. No exception crosses it: every function reports failure
// by its return value and a message that the caller frees with sp_free_message.
#ifndef MINE_SENTENCEPIECE_SHIM_H
#define MINE_SENTENCEPIECE_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_model sp_model;

// sp_load parses a serialised model of n bytes and copies what it needs. It returns NULL and sets *message on failure.
sp_model *sp_load(const void *data, size_t n, char **message);

void sp_free(sp_model *model);
void sp_free_message(char *message);

// sp_unknown_id is the id of the unknown piece. sp_unknown_piece is its spelling, valid as long as the model. sp_size
// is the number of pieces.
int32_t sp_unknown_id(const sp_model *model);
const char *sp_unknown_piece(const sp_model *model);
int32_t sp_size(const sp_model *model);

// sp_id is the id of a piece of n bytes, or the unknown id.
int32_t sp_id(const sp_model *model, const char *piece, size_t n);

// sp_piece is the spelling of an id below sp_size. It is valid as long as the model.
const char *sp_piece(const sp_model *model, int32_t id);

// sp_encode splits n texts; text i is text[ends[i-1]:ends[i]] (ends[-1] = 0). It writes the first max_ids ids of text i
// to ids[i*max_ids:] and their number to lengths[i]. The model is only read, so any number of threads may call it. It
// returns 0, or -1 with *message set; *message then starts with the number of the text that failed.
int sp_encode(const sp_model *model, const char *text, const size_t *ends, int n, int max_ids,
              int32_t *ids, int32_t *lengths, char **message);

// sp_places splits a text of n bytes. It sets *ids to the ids, *ends to where each piece ends in the text, and *count
// to their number; the caller frees both with free. It returns 0, or -1 with *message set and nothing to free.
int sp_places(const sp_model *model, const char *text, size_t n, int32_t **ids, uint32_t **ends, size_t *count, char **message);

#ifdef __cplusplus
}
#endif
#endif
