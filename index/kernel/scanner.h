// One thread's memory for the fused pass.
#pragma once

#include "block.h"
#include "scan.h"

struct scanner {
    const kernel *kn;
    precision p;
    int64_t dim, steps;
    block queries, base;
    float *row;   // 5 rows of scratch, and the units of one
    void *scores; // one tile
    int32_t *ids; // candidates of one list
};
