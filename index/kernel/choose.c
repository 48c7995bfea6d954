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

static int runs_vnni(void) { return runs_avx512() && __builtin_cpu_supports("avx512vnni"); }
#endif

const kernel *kernel_by_name(const char *name) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (strcmp(name, "vnni") == 0)
        return runs_vnni() ? &kernel_vnni : NULL;
    if (strcmp(name, "avx512") == 0)
        return runs_avx512() ? &kernel_avx512 : NULL;
    if (strcmp(name, "avx2") == 0)
        return runs_avx2() ? &kernel_avx2 : NULL;
#endif
    return strcmp(name, "portable") == 0 ? &kernel_portable : NULL;
}
