// What kernels for AMX share. MULTIPLY is the instruction that adds a product of two tile registers to a third.
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define BLOCKED
#define LANES 16
#define ROWS 32
#define COLS 32
#define WIDEN8(out, half) _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half))))
#define WIDE8(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))

static void begin(void) {
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16]; // of a register's row
        uint8_t rows[16];
    } eight = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&eight);
}

static void end(void) { _tile_release(); }

// multiply writes the products of two panels to scores [ROWS, COLS].
static void multiply(const char *a, const char *b, int64_t steps, char *scores) {
    enum { REGISTER = 1024, STRIDE = COLS * 4, RIGHT = STRIDE / 2, BELOW = ROWS / 2 * STRIDE };
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t s = 0; s < steps; s += BLOCK) {
        // The base panel is used again at once, the query panels come from the second cache.
        for (int line = 0; line < 2 * REGISTER; line += 64)
            _mm_prefetch(a + 4 * REGISTER + line, _MM_HINT_T0);
        _tile_loadd(4, a, 64);
        _tile_loadd(6, b, 64);
        _tile_loadd(7, b + REGISTER, 64);
        MULTIPLY(0, 4, 6);
        _tile_loadd(5, a + REGISTER, 64);
        MULTIPLY(1, 4, 7);
        MULTIPLY(2, 5, 6);
        MULTIPLY(3, 5, 7);
        a += 2 * REGISTER;
        b += 2 * REGISTER;
    }
    _tile_stored(0, scores, STRIDE);
    _tile_stored(1, scores + RIGHT, STRIDE);
    _tile_stored(2, scores + BELOW, STRIDE);
    _tile_stored(3, scores + BELOW + RIGHT, STRIDE);
}
