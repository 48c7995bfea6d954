// A library with the functions of libcuda.so.1 that are used. Memory of the pretended GPUs is the host's, and the
// kernels of exact search are here in C, as their documentation (index/cuda/kernels.py) says what they compute.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef INIT
#define INIT 0 // what cuInit returns
#endif
#ifndef VERSION
#define VERSION 13000
#endif
#ifndef GPUS
#define GPUS 1
#endif
#ifndef DESCRIBE
#define DESCRIBE 0 // what cuDeviceGetName returns
#endif
#ifndef MAJOR
#define MAJOR 9
#endif
#ifndef MEMORY
#define MEMORY (140ul << 30) // that is free
#endif
#ifndef ALLOCATIONS
#define ALLOCATIONS 0 // the allocation of this number fails for want of memory
#endif
#ifndef LAUNCHES
#define LAUNCHES 0 // the launch of this number fails
#endif
#ifndef WRONG
#define WRONG 0 // what is added to scores
#endif

#ifndef LOST
#define LOST 0 // from the operation of this number on all fail
#endif

static int allocations, launches, operations;

int cuInit(unsigned flags) { return INIT; }
int cuDriverGetVersion(int *v) { return *v = VERSION, 0; }
int cuDeviceGetCount(int *n) { return *n = GPUS, 0; }
int cuDeviceGet(int *d, int n) { return *d = n + 40, 0; }
int cuDeviceGetName(char *name, int size, int d) {
	strncpy(name, d == 42 ? "NVIDIA L4" : "NVIDIA H200", size);
	return DESCRIBE;
}
int cuDeviceTotalMem_v2(size_t *n, int d) { return *n = 140ul << 30, 0; }
int cuDeviceGetAttribute(int *v, int what, int d) { return *v = what == 75 ? MAJOR : what == 76 ? 0 : -1, 0; }
int cuGetErrorName(int code, const char **name) { return *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_PRETENDED", 0; }
int cuDevicePrimaryCtxRetain(void **context, int d) { return *context = (void *)(intptr_t)d, 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
int cuCtxSetCurrent(void *context) { return LOST && __atomic_add_fetch(&operations, 1, __ATOMIC_RELAXED) >= LOST ? 100 : context ? 0 : 201; }
int cuMemGetInfo_v2(size_t *free, size_t *all) { return *free = *all = MEMORY, 0; }
int cuMemAlloc_v2(uint64_t *m, size_t n) {
#ifdef FULL // nobody gets memory
	return 2;
#endif
	if (__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) == ALLOCATIONS)
		return 2;
	void *p = malloc(n);
	memset(p, 0xff, n); // what nobody wrote is no number
	return *m = (uint64_t)p, 0;
}
int cuMemFree_v2(uint64_t m) { return free((void *)m), 0; }
int cuMemsetD32_v2(uint64_t m, uint32_t word, size_t n) {
	for (size_t i = 0; i < n; i++)
		((uint32_t *)m)[i] = word;
	return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { return memcpy((void *)to, from, n), 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { return memcpy(to, (void *)from, n), 0; }
int cuMemHostAlloc(void **m, size_t n, unsigned flags) { return *m = malloc(n), 0; }
int cuMemFreeHost(void *m) { return free(m), 0; }
int cuCtxSynchronize(void) { return 0; }

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream) { return memcpy((void *)to, from, n), 0; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream) { return memcpy(to, (void *)from, n), 0; }
int cuEventCreate(void **event, unsigned flags) { return *event = malloc(1), 0; }
int cuEventRecord(void *event, void *stream) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuEventElapsedTime(float *milliseconds, void *from, void *to) { return *milliseconds = 1, 0; }
int cuEventDestroy_v2(void *event) { return free(event), 0; }

typedef struct {
	char entry[16];
	int hopper;
} kernel;

int cuModuleLoadData(void **module, const char *ptx) {
	if (!strstr(ptx, ".entry"))
		return 218;
	kernel *k = calloc(1, sizeof *k);
	k->hopper = strstr(ptx, "sm_90a") != NULL;
	return *module = k, 0;
}
int cuModuleUnload(void *module) { return free(module), 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
	kernel *k = module;
	strncpy(k->entry, name, sizeof k->entry - 1);
	return *function = k, 0;
}
int cuFuncSetAttribute(void *function, int what, int value) { return what == 8 ? 0 : 1; }

static float widened(uint16_t h) {
	uint32_t exponent = h >> 10 & 31, bits = (uint32_t)(h & 0x3ff) << 13;
	float scale = 1;
	if (exponent == 0)
		scale = 0x1p-14f, bits |= 127u << 23; // subnormal: 1.f - 1, scaled
	else
		bits |= (exponent + 112) << 23;
	float f;
	memcpy(&f, &bits, sizeof f);
	if (exponent == 0)
		f = (f - 1) * scale;
	return h & 0x8000 ? -f : f;
}

static float *widen(const uint16_t *from, size_t n) {
	float *to = malloc(n * sizeof *to);
	for (size_t i = 0; i < n; i++)
		to[i] = widened(from[i]);
	return to;
}

static float product(const float *a, const float *b, int dim) {
	float sum = WRONG;
	for (int i = 0; i < dim; i++)
		sum += a[i] * b[i];
	return sum;
}

#define ARGUMENT(type, i) (*(type *)arguments[i])

static void maxima(void **arguments, int col_tile) {
	float *row_max = ARGUMENT(float *, 2), *col_max = ARGUMENT(float *, 3);
	int row_stride = ARGUMENT(int, 4), col_stride = ARGUMENT(int, 5), rows = 128 * ARGUMENT(int, 6), cols = col_tile * ARGUMENT(int, 7), dim = ARGUMENT(int, 8);
	float *queries = widen(ARGUMENT(uint16_t *, 0), (size_t)rows * dim), *base = widen(ARGUMENT(uint16_t *, 1), (size_t)cols * dim);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++) {
			float score = product(queries + (size_t)r * dim, base + (size_t)c * dim, dim);
			float *of_row = row_max + (size_t)r * row_stride + c / 32, *of_col = col_max + (size_t)c * col_stride + r / 16;
			if (c % 32 == 0 || score > *of_row)
				*of_row = score;
			if (r % 16 == 0 || score > *of_col)
				*of_col = score;
		}
	free(queries);
	free(base);
}

// insert puts a value in the place of the least, if it is larger.
static void insert(float *values, int *numbers, int keep, float value, int number) {
	int least = 0;
	for (int i = 1; i < keep; i++)
		if (values[i] < values[least])
			least = i;
	if (value > values[least])
		values[least] = value, numbers[least] = number;
}

static void choose(void **arguments, int blocks) {
	int stride = ARGUMENT(int, 1), groups = ARGUMENT(int, 2), first = ARGUMENT(int, 3), keep = ARGUMENT(int, 4);
	for (size_t row = 0; row < (size_t)blocks; row++)
		for (int g = 0; g < groups; g++)
			insert(ARGUMENT(float *, 5) + row * keep, ARGUMENT(int *, 6) + row * keep, keep, ARGUMENT(float *, 0)[row * stride + g], first + g);
}

static void rescore(void **arguments, int blocks) {
	int fold = ARGUMENT(int, 4), keep = ARGUMENT(int, 5), rows = ARGUMENT(int, 6), dim = ARGUMENT(int, 7);
	for (size_t row = 0; row < (size_t)blocks; row++) {
		float *values = ARGUMENT(float *, 2) + row * keep, *scores = ARGUMENT(float *, 8) + row * keep, *floor = ARGUMENT(float *, 10) + row;
		int *chosen = ARGUMENT(int *, 3) + row * keep, *ids = ARGUMENT(int *, 9) + row * keep;
		float *query = widen(ARGUMENT(uint16_t *, 0) + row * dim, dim);
		*floor = values[0];
		for (int i = 0; i < keep; i++) {
			*floor = values[i] < *floor ? values[i] : *floor;
			scores[i] = -__builtin_inff(), ids[i] = -1;
		}
		for (int i = 0; i < keep; i++)
			for (int id = chosen[i] * fold * 16; chosen[i] >= 0 && id < (chosen[i] + 1) * fold * 16 && id < rows; id++) {
				float *other = widen(ARGUMENT(uint16_t *, 1) + (size_t)id * dim, dim);
				insert(scores, ids, keep, product(query, other, dim), id);
				free(other);
			}
		free(query);
	}
}

int cuLaunchKernel(void *function, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz, unsigned shared, void *stream,
		void **arguments, void **extra) {
	kernel *k = function;
	if (__atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED) == LAUNCHES)
		return 719;
	if (layers_kernel(k->entry, blocks, arguments))
		return 0;
	if (!strcmp(k->entry, "maxima"))
		maxima(arguments, k->hopper ? 256 : 128);
	else if (!strcmp(k->entry, "select"))
		choose(arguments, blocks);
	else
		rescore(arguments, blocks);
	return 0;
}
