#include "unlike.h"

#include <string.h>

// One lane for each name; all processors have vectors of this size.
typedef int16_t lanes __attribute__((vector_size(2 * UNLIKE_NAMES)));

#if defined(__x86_64__)
#include <emmintrin.h>
static inline lanes least(lanes a, lanes b) { return (lanes)_mm_min_epi16((__m128i)a, (__m128i)b); }
#elif defined(__aarch64__)
#include <arm_neon.h>
static inline lanes least(lanes a, lanes b) { return (lanes)vminq_s16((int16x8_t)a, (int16x8_t)b); }
#else
static inline lanes least(lanes a, lanes b) { return (a & (a < b)) | (b & (a >= b)); }
#endif

static inline lanes all(int16_t x) { return (lanes){x, x, x, x, x, x, x, x}; }

void unlike_find(const struct unlike_costs *costs, const uint8_t *text, int64_t n, const uint8_t *names, const int32_t *lengths, int64_t count, int16_t *best,
                 int16_t *whole) {
  // What the names' sounds cost, by their place; of a sound of the text in their place.
  lanes insert[UNLIKE_LONGEST], substitute[UNLIKE_SOUNDS][UNLIKE_LONGEST];
  lanes ends[UNLIKE_LONGEST];            // names that end at a place
  int64_t last[UNLIKE_NAMES], lasts = 0; // the places at which any ends, ascending
  int64_t longest = 0;
  for (int64_t i = 0; i < count; i++) longest = lengths[i] > longest ? lengths[i] : longest;
  memset(insert, 0, longest * sizeof *insert);
  memset(ends, 0, longest * sizeof *ends);
  for (int s = 0; s < UNLIKE_SOUNDS; s++) memset(substitute[s], 0, longest * sizeof **substitute);
  for (int64_t i = 0; i < count; i++) {
    const uint8_t *name = names + i * UNLIKE_LONGEST;
    for (int64_t k = 0; k < lengths[i]; k++) {
      insert[k][i] = costs->insert[name[k]];
      for (int s = 0; s < UNLIKE_SOUNDS; s++) substitute[s][k][i] = costs->substitute[name[k]][s];
    }
    if (lengths[i] > 0) ends[lengths[i] - 1][i] = -1;
  }
  // now[k] is the cost of the first k + 1 sounds of each name with the text so far.
  lanes now[UNLIKE_LONGEST], sum = all(0), complete = all(0);
  for (int64_t k = 0; k < longest; k++) {
    now[k] = sum += insert[k];
    complete |= sum & ends[k];
    for (int64_t i = 0; i < count; i++)
      if (lengths[i] == k + 1) {
        last[lasts++] = k;
        break;
      }
  }
  const lanes infinite = all(costs->infinite), each = all(costs->ending), most = all(costs->endings);
  // The best end so far; in the present word, without and with the word's rest.
  lanes found = complete, word = infinite, ending = infinite;
  int16_t start = 0;
  for (const uint8_t *end = text + n; text < end; text++) {
    const uint8_t s = *text;
    if (s == UNLIKE_WORD) {
      found = least(found, ending);
      word = ending = infinite;
    }
    const lanes more = all(costs->insert[s]), *other = substitute[s];
    lanes without = all(start), with = all(costs->start[s]), whole_name = all(0);
    start = costs->start[s];
    int64_t k = 0;
    for (int64_t l = 0; l < lasts; l++) {
      for (; k <= last[l]; k++) {
        const lanes before = now[k];
        now[k] = with = least(least(without + other[k], before + more), with + insert[k]);
        without = before;
      }
      whole_name |= with & ends[last[l]];
    }
    if (s > UNLIKE_SYLLABLE) {
      word = least(word, whole_name);
      ending = least(least(ending + each, word + most), whole_name);
    }
  }
  found = least(found, ending);
  memcpy(best, &found, count * sizeof *best);
  memcpy(whole, &complete, count * sizeof *whole);
}
