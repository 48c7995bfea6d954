#include <stddef.h>
#include <stdint.h>

enum { driver_absent = -1, driver_incomplete = -2, driver_name = 128, driver_parameters = 16 };

typedef struct {
	char name[driver_name];
	size_t memory;
	int major, minor;
} driver_gpu;

// Every function returns CUDA's error code, or one of the negative ones above, and 0 if all is well. What is done on a
// context is done in order; what the host passes in is no longer needed when a function returns.

// driver_open opens the driver's library; version is the CUDA version that the driver supports (1000 * major +
// 10 * minor), or 0 if it did not say.
int driver_open(const char *library, int *version, int *gpus);

// driver_describe describes one of the driver's GPUs.
int driver_describe(int gpu, driver_gpu *out);

// driver_error names an error; it is static.
const char *driver_error(int code);

// driver_attach takes the context of a GPU that all users in this process share; driver_detach leaves it.
int driver_attach(int gpu, void **context);
int driver_detach(int gpu);

int driver_free_memory(void *context, size_t *bytes);
int driver_allocate(void *context, size_t bytes, uint64_t *memory);
int driver_release(void *context, uint64_t memory);
int driver_fill(void *context, uint64_t memory, uint32_t word, size_t words);
int driver_upload(void *context, uint64_t memory, const void *from, size_t bytes);
int driver_download(void *context, void *to, uint64_t memory, size_t bytes);

// Memory of the host that is not paged out, which is copied at twice the speed.
int driver_allocate_host(void *context, size_t bytes, void **memory);
int driver_release_host(void *context, void *memory);

// driver_compile compiles PTX; kernel is its function of that name, which may use so many bytes of shared memory.
int driver_compile(void *context, const char *ptx, const char *entry, int shared, void **module, void **kernel);
int driver_unload(void *context, void *module);

// driver_launch starts a kernel; each parameter has a slot, of which it uses the first bytes.
int driver_launch(void *context, void *kernel, unsigned blocks, unsigned threads, unsigned shared, uint64_t *slots, int n);
int driver_wait(void *context);

// The same copies, which the device does when it comes to them: until then the host's memory, which must be such as is
// not paged out, is the device's.
int driver_upload_later(void *context, uint64_t memory, const void *from, size_t bytes);
int driver_download_later(void *context, void *to, uint64_t memory, size_t bytes);

// An event marks a place in what a context was given to do: driver_record sets the mark, driver_reached waits for it,
// and driver_elapsed gives the time between two that were reached.
int driver_event(void *context, void **event);
int driver_record(void *context, void *event);
int driver_reached(void *context, void *event);
int driver_elapsed(void *context, float *milliseconds, void *from, void *to);
int driver_forget(void *context, void *event);
