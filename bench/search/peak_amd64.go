package main

/*
#include <stdint.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define ONE(ins, acc) ins " %%zmm30, %%zmm31, %%zmm" acc "\n"
#define TWELVE(ins) ONE(ins, "0") ONE(ins, "1") ONE(ins, "2") ONE(ins, "3") ONE(ins, "4") ONE(ins, "5") \
    ONE(ins, "6") ONE(ins, "7") ONE(ins, "8") ONE(ins, "9") ONE(ins, "10") ONE(ins, "11")
// Twelve independent sums hide the latency of each instruction.
#define PEAK(name, ins) static double name(int64_t n) { \
    double start = now(); \
    __asm__ volatile("vpxord %%zmm30, %%zmm30, %%zmm30\nvpxord %%zmm31, %%zmm31, %%zmm31\n1:\n" \
        TWELVE(ins) "dec %0\njnz 1b\n" : "+r"(n) : \
        : "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", \
          "zmm30", "zmm31"); \
    return now() - start; }
#pragma GCC push_options
#pragma GCC target("avx512f")
PEAK(peak_fma, "vfmadd231ps")
PEAK(peak_bf16, "vdpbf16ps")
PEAK(peak_int16, "vpdpwssd")
PEAK(peak_int8, "vpdpbusd")
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("amx-tile,amx-int8,amx-bf16")
#include <immintrin.h>

static void tiles(void) {
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } six = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&six);
}

#define PEAK_AMX(name, product) static double name(int64_t n) { \
    tiles(); \
    double start = now(); \
    for (int64_t i = 0; i < n; i += 16) { \
        product(0, 4, 5); product(1, 4, 5); product(2, 4, 5); product(3, 4, 5); \
    } \
    double took = now() - start; \
    _tile_release(); \
    return took; }
PEAK_AMX(peak_amx_bf16, _tile_dpbf16ps)
PEAK_AMX(peak_amx_int8, _tile_dpbssd)
#pragma GCC pop_options

static int has(int what) {
    __builtin_cpu_init();
    switch (what) {
    case 0: return __builtin_cpu_supports("avx512f");
    case 1: return __builtin_cpu_supports("avx512bf16");
    default: return __builtin_cpu_supports("avx512vnni");
    }
}
*/
import "C"

import (
	"fmt"

	"bitextmine/index/kernel"
)

// printPeaks measures the peak number of multiplications and additions on one core for each number type. A kernel for
// that type cannot be faster.
func printPeaks() {
	const n = 30_000_000
	has := func(i int) bool {
		if i >= 4 {
			return kernel.Get("amx") != nil // which asks for the tiles
		}
		return C.has(C.int(i)) != 0
	}
	for i, p := range []struct {
		name     string
		products float64 // products an instruction makes
		run      func(C.int64_t) C.double
	}{
		{"float32 (vfmadd231ps)", 16, func(n C.int64_t) C.double { return C.peak_fma(n) }},
		{"bfloat16 (vdpbf16ps)", 32, func(n C.int64_t) C.double { return C.peak_bf16(n) }},
		{"int16 (vpdpwssd)", 32, func(n C.int64_t) C.double { return C.peak_int16(n) }},
		{"int8 (vpdpbusd)", 64, func(n C.int64_t) C.double { return C.peak_int8(n) }},
		{"bfloat16 (tdpbf16ps)", 8192.0 / 48, func(n C.int64_t) C.double { return C.peak_amx_bf16(n) }},
		{"int8 (tdpbssd)", 16384.0 / 48, func(n C.int64_t) C.double { return C.peak_amx_int8(n) }},
	} {
		if !has(i) {
			fmt.Printf("%-22s not on this CPU\n", p.name)
			continue
		}
		p.run(n / 10) // lets the clock rate become stable
		fmt.Printf("%-22s %.0f G/s a core\n", p.name, 2*p.products*12*n/float64(p.run(n))/1e9)
	}
}
