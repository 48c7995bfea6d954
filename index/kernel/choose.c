#include "kernel.h"

#include <string.h>

#if defined(__x86_64__)
static int runs_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

static int runs_avx512(void) {
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

#if defined(__linux__)
static int runs_amx(void) {
    return runs_avx512() && __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
           __builtin_cpu_supports("amx-int8");
}
#endif

static int runs_vnni(void) { return runs_avx512() && __builtin_cpu_supports("avx512vnni"); }
#endif

const kernel *kernel_by_name(const char *name) {
#if defined(__x86_64__)
    __builtin_cpu_init();
#if defined(__linux__)
    if (strcmp(name, "amx") == 0)
        return runs_amx() ? &kernel_amx : NULL;
#endif
    if (strcmp(name, "vnni") == 0)
        return runs_vnni() ? &kernel_vnni : NULL;
    if (strcmp(name, "avx512") == 0)
        return runs_avx512() ? &kernel_avx512 : NULL;
    if (strcmp(name, "avx2") == 0)
        return runs_avx2() ? &kernel_avx2 : NULL;
#endif
    if (strcmp(name, "amx-emulated") == 0)
        return &kernel_amx_emulated;
    return strcmp(name, "portable") == 0 ? &kernel_portable : NULL;
}
