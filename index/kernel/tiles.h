// The tile registers of a thread, for the files that are compiled for AMX.
#pragma once

#include <immintrin.h>
#include <stdint.h>

static void begin(void) {
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16]; // of a register's row
        uint8_t rows[16];
    } eight = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&eight);
}

static void end(void) { _tile_release(); }
