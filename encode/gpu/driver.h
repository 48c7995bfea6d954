#include <stddef.h>

enum { driver_absent = -1, driver_incomplete = -2, driver_name = 128 };

typedef struct {
	char name[driver_name];
	size_t memory;
	int major, minor;
} driver_gpu;

// driver_open opens the driver's library. It returns CUDA's error code, or one of the negative ones above; version is
// the CUDA version that the driver supports (1000 * major + 10 * minor), or 0 if it did not say.
int driver_open(const char *library, int *version, int *gpus);

// driver_describe describes one of the driver's GPUs.
int driver_describe(int gpu, driver_gpu *out);
