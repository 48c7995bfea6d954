#pragma once

#include <stdint.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

static inline int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static inline void *aligned(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64 + 64); }

// Memory in pages of 2 MiB where the system has them: with those of 4 KiB the amx kernel waits for the translation of
// addresses for up to a third of its time.
static inline void *in_large_pages(size_t size) {
    enum { PAGE = 2 << 20 };
    void *memory = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
#if defined(__linux__)
    if (memory)
        madvise(memory, (size + PAGE - 1) / PAGE * PAGE, MADV_HUGEPAGE); // advice only: refused, nothing is lost
#endif
    return memory;
}
