// The arithmetic of exact search in C. kernel.go says what it is for; this header is the border between the files.
#pragma once

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

// One side of a cell as distinct rows. See index.Distinct.
typedef struct {
    const void *rows;     // [rows, dim] float32, or float16 bits
    const int32_t *first; // [n] row of each distinct row; NULL: the distinct row itself
    const int32_t *order; // [rows] a row's place in the order of sentence keys; NULL: the row itself
    int64_t n;            // distinct rows
    int64_t dim;
    int32_t half; // rows are float16
} side;

// The rows at positions lo to hi. Position p stands for distinct row rows[p], or p*step mod n where rows is NULL.
typedef struct {
    int64_t lo, hi, step;
    const int32_t *rows;
} span;

static inline int32_t span_row(const span *s, int64_t p, int64_t n) {
    return s->rows ? s->rows[p] : (int32_t)(p * s->step % n);
}

// Final lists of one side: ids are distinct rows of the other side, -1 for none.
typedef struct {
    int32_t *ids;   // [n, k]
    float *cosines; // [n, k]
    int64_t k;
    uint8_t *locks; // [LOCKS] of the lists with that remainder; NULL: one thread at a time has a list
} final_lists;

enum { LOCKS = 4096 };

static inline void final_lock(const final_lists *l, int64_t list) {
    if (l->locks)
        for (int tries = 0; __atomic_test_and_set(l->locks + list % LOCKS, __ATOMIC_ACQUIRE); tries++)
            if (tries > 100)
                sched_yield();
}

static inline void final_unlock(const final_lists *l, int64_t list) {
    if (l->locks)
        __atomic_clear(l->locks + list % LOCKS, __ATOMIC_RELEASE);
}

// Packed operands consist of 4-byte units: one float32 value, two values of two bytes, or four of one byte. Scores of
// INT16 and INT8 are int32, those of the others float32.
typedef enum { FLOAT32, INT16, BFLOAT16, INT8 } format;

static inline int has_int_scores(format f) { return f == INT16 || f == INT8; }

// A panel that is blocked consists of blocks of 16 steps and 16 rows: a step has 16 units in a base panel's block, a
// row has 16 units in a query panel's.
enum { BLOCK = 16 };

enum { MAX_ROWS = 32 };

// What one instruction set offers.
typedef struct kernel {
    const char *name;
    const struct kernel *narrow; // scores rows of whole numbers up to 127 faster; NULL: none
    int rows, cols; // of a tile, at most MAX_ROWS x 64; multiples of BLOCK where panels are blocked
    format format;
    int blocked; // panels are; steps are a multiple of BLOCK
    int raised;  // units that follow those of a row's values: quantise_base sets a base row's, a query's are 0

    void (*begin)(void), (*end)(void); // called by a thread before its first tile and after its last; NULL for nothing

    // Computes the scores [rows, cols] of a tile from panels a [steps, rows] and b [steps, cols] of units and compares
    // each with the smaller of its row's and its column's floor. When none is above, returns 0. Else stores all scores,
    // and in above[r] a bit for each column of row r whose score is.
    int (*tile)(const void *a, const void *b, int64_t steps, const void *row_floor, const void *col_floor,
                void *scores, uint64_t *above);

    void (*widen)(float *out, const uint16_t *half, int64_t n);
    // Rounds row*scale to the values of units; NULL for FLOAT32. BFLOAT16 and INT8 ignore the scale.
    void (*quantise)(int16_t *out, const float *row, int64_t n, float scale);
    void (*quantise_base)(int16_t *out, const float *row, int64_t n, float scale); // of a base row; NULL: the same
    void (*whole)(float *out, const float *row, int64_t n, float scale); // rounds row*scale to whole numbers
    float (*largest)(const float *row, int64_t n);                       // absolute value
    double (*square)(const float *row, int64_t n);                            // of the row's length, in float64
    // embedding.Dot of q with 4 rows.
    void (*dot4)(float *out, const float *q, const float *const *rows, int64_t dim);
    // embedding.Dot of 4 queries with 4 rows, all widened to float64: out [4 queries, 4 rows].
    void (*dot16)(float *out, const double *queries, const double *rows, int64_t dim);
} kernel;

extern const kernel kernel_portable, kernel_amx_emulated;
#if defined(__x86_64__)
extern const kernel kernel_avx2, kernel_avx512, kernel_vnni, kernel_vnni_int8;
#if defined(__linux__)
extern const kernel kernel_amx, kernel_amx_int8;
#endif
#endif

// The kernel of that name, NULL if it is not known or this CPU cannot run it. Linux must permit amx its tiles, too.
const kernel *kernel_by_name(const char *name);

// side.c
void side_fetch(const side *s, int64_t i); // into the second cache
const float *side_row(const kernel *kn, const side *s, int64_t i, float *buf);
int64_t kernel_inspect(const kernel *kn, const side *s, int64_t lo, int64_t hi, double limit, double *longest, float *buf);

// The largest absolute value of rows lo to hi. buf holds dim floats.
float kernel_largest(const kernel *kn, const side *s, int64_t lo, int64_t hi, float *buf);

// The largest square of the length of what rounding to bfloat16 takes from rows lo to hi. buf holds 2*dim floats.
double kernel_bfloat16_loss(const kernel *kn, const side *s, int64_t lo, int64_t hi, float *buf);

void kernel_widen(const kernel *kn, float *out, const uint16_t *half, int64_t n);

// refine.c
int32_t side_place(const side *s, int32_t i);

// Inserts a neighbour into a list ordered by (cosine descending, place ascending), unless the list is full of better
// ones or has it already. The caller has locked the list.
void list_insert(const side *base, const final_lists *lists, int64_t list, int32_t id, float cosine);

// Locks a list to insert a neighbour.
void list_offer(const side *base, const final_lists *lists, int64_t list, int32_t id, float cosine);

void list_refine(const kernel *kn, const side *base, const float *query, const int32_t *candidates, int64_t n,
                 const final_lists *lists, int64_t list, float *buf);
int list_proven(const final_lists *lists, int64_t list, double ceiling);

// Refines candidates [hi-lo, keep] of queries lo to hi; ceilings [hi-lo] bound the scores of all other rows. Writes the
// queries whose lists are not proven to unproven and returns their number. buf holds 5*dim floats.
int64_t kernel_refine(const kernel *kn, const side *queries, const side *base, const final_lists *lists, int64_t lo,
                      int64_t hi, const int64_t *candidates, int64_t keep, const double *ceilings, int32_t *unproven,
                      float *buf);

// Offers every base row of a span to the lists of the given queries. buf holds (EXHAUST_ROWS+5)*dim doubles.
enum { EXHAUST_ROWS = 32 };
void kernel_exhaust(const kernel *kn, const side *queries, const side *base, const final_lists *lists,
                    const int32_t *which, int64_t n, span at, double *buf);

// products.c
// Writes embedding.Dot of n queries with so many base rows each to out [n, each]: ids [n, each] names the rows, which
// [n] the queries; NULL: the first n. buf holds 5*dim floats.
void kernel_dots(const kernel *kn, const side *queries, const int32_t *which, int64_t n, const side *base,
                 const int32_t *ids, int64_t each, float *out, float *buf);
