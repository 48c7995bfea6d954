// Looking names up by their sounds: see Finder.
#ifndef SURFACE_UNLIKE_H
#define SURFACE_UNLIKE_H
#include <stdint.h>

enum {
  UNLIKE_NAMES = 8,    // names that are looked up together
  UNLIKE_LONGEST = 24, // sounds of a name
  UNLIKE_SOUNDS = 20,  // classes of sounds
  UNLIKE_WORD = 0,     // the sound that stands before a word
  UNLIKE_SYLLABLE = 1, // the same of a syllable
};

// unlike_costs are the costs of an alignment.
struct unlike_costs {
  int16_t substitute[UNLIKE_SOUNDS][UNLIKE_SOUNDS]; // a sound in place of another
  int16_t insert[UNLIKE_SOUNDS];                    // a sound that only one of the two has
  int16_t start[UNLIKE_SOUNDS];                     // a name that begins after a sound
  int16_t ending;                                   // each sound of a word behind the name
  int16_t endings;                                  // all those sounds together
  int16_t infinite;
};

// unlike_find writes to best [count] the lowest cost of an alignment of each of count names, at most UNLIKE_NAMES, with
// a part of a text of n sounds that begins like a word, and to whole [count] that with no text at all. Name i has
// lengths[i] sounds from names + i * UNLIKE_LONGEST on.
void unlike_find(const struct unlike_costs *costs, const uint8_t *text, int64_t n, const uint8_t *names, const int32_t *lengths, int64_t count, int16_t *best,
                 int16_t *whole);
#endif
