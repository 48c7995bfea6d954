#include "driver.h"

#include <dlfcn.h>
#include <string.h>

typedef int (*call)();

static struct {
	call init, version, count, get, name, memory, attribute; // every driver has them
	call error, retain, detach, current, free_memory, allocate, release, fill, upload, download, allocate_host, release_host, compile, unload, function,
		allow, launch, wait, upload_later, download_later, event, record, reached, elapsed, forget;
} cuda;

static const struct {
	const char *name;
	call *to;
} functions[] = {
	{"cuInit", &cuda.init},
	{"cuDriverGetVersion", &cuda.version},
	{"cuDeviceGetCount", &cuda.count},
	{"cuDeviceGet", &cuda.get},
	{"cuDeviceGetName", &cuda.name},
	{"cuDeviceTotalMem_v2", &cuda.memory},
	{"cuDeviceGetAttribute", &cuda.attribute},
	{"cuGetErrorName", &cuda.error},
	{"cuDevicePrimaryCtxRetain", &cuda.retain},
	{"cuDevicePrimaryCtxRelease_v2", &cuda.detach},
	{"cuCtxSetCurrent", &cuda.current},
	{"cuMemGetInfo_v2", &cuda.free_memory},
	{"cuMemAlloc_v2", &cuda.allocate},
	{"cuMemFree_v2", &cuda.release},
	{"cuMemsetD32_v2", &cuda.fill},
	{"cuMemcpyHtoD_v2", &cuda.upload},
	{"cuMemcpyDtoH_v2", &cuda.download},
	{"cuMemHostAlloc", &cuda.allocate_host},
	{"cuMemFreeHost", &cuda.release_host},
	{"cuModuleLoadData", &cuda.compile},
	{"cuModuleUnload", &cuda.unload},
	{"cuModuleGetFunction", &cuda.function},
	{"cuFuncSetAttribute", &cuda.allow},
	{"cuLaunchKernel", &cuda.launch},
	{"cuCtxSynchronize", &cuda.wait},
	{"cuMemcpyHtoDAsync_v2", &cuda.upload_later},
	{"cuMemcpyDtoHAsync_v2", &cuda.download_later},
	{"cuEventCreate", &cuda.event},
	{"cuEventRecord", &cuda.record},
	{"cuEventSynchronize", &cuda.reached},
	{"cuEventElapsedTime", &cuda.elapsed},
	{"cuEventDestroy_v2", &cuda.forget},
};

int driver_open(const char *library, int *version, int *gpus) {
	*version = *gpus = 0;
	void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	if (!handle)
		return driver_absent;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		*functions[i].to = (call)dlsym(handle, functions[i].name);
		if (!*functions[i].to)
			return driver_incomplete;
	}
	cuda.version(version);
	int code = cuda.init(0);
	return code ? code : cuda.count(gpus);
}

int driver_describe(int gpu, driver_gpu *out) {
	enum { compute_major = 75, compute_minor = 76 }; // CUdevice_attribute
	int device = 0;
	memset(out, 0, sizeof *out);
	int code = cuda.get(&device, gpu);
	if (!code)
		code = cuda.name(out->name, driver_name - 1, device);
	if (!code)
		code = cuda.memory(&out->memory, device);
	if (!code)
		code = cuda.attribute(&out->major, compute_major, device);
	if (!code)
		code = cuda.attribute(&out->minor, compute_minor, device);
	return code;
}

const char *driver_error(int code) {
	const char *name = NULL;
	return cuda.error(code, &name) == 0 && name ? name : "an error without a name";
}

int driver_attach(int gpu, void **context) {
	int device = 0;
	int code = cuda.get(&device, gpu);
	return code ? code : cuda.retain(context, device);
}

int driver_detach(int gpu) {
	int device = 0;
	int code = cuda.get(&device, gpu);
	return code ? code : cuda.detach(device);
}

// A goroutine may go on in another thread, and the context is the thread's: each function sets it.
#define ON(context, ...) \
	do { \
		int code = cuda.current(context); \
		return code ? code : (__VA_ARGS__); \
	} while (0)

int driver_free_memory(void *context, size_t *bytes) {
	size_t all;
	ON(context, cuda.free_memory(bytes, &all));
}

int driver_allocate(void *context, size_t bytes, uint64_t *memory) { ON(context, cuda.allocate(memory, bytes)); }

int driver_release(void *context, uint64_t memory) { ON(context, cuda.release(memory)); }

int driver_fill(void *context, uint64_t memory, uint32_t word, size_t words) { ON(context, cuda.fill(memory, word, words)); }

int driver_upload(void *context, uint64_t memory, const void *from, size_t bytes) { ON(context, cuda.upload(memory, from, bytes)); }

int driver_download(void *context, void *to, uint64_t memory, size_t bytes) { ON(context, cuda.download(to, memory, bytes)); }

int driver_allocate_host(void *context, size_t bytes, void **memory) { ON(context, cuda.allocate_host(memory, bytes, 0)); }

int driver_release_host(void *context, void *memory) { ON(context, cuda.release_host(memory)); }

int driver_compile(void *context, const char *ptx, const char *entry, int shared, void **module, void **kernel) {
	enum { max_dynamic_shared_size = 8 }; // CUfunction_attribute
	int code = cuda.current(context);
	if (!code)
		code = cuda.compile(module, ptx);
	if (code)
		return code;
	code = cuda.function(kernel, *module, entry);
	if (!code)
		code = cuda.allow(*kernel, max_dynamic_shared_size, shared);
	if (code)
		cuda.unload(*module);
	return code;
}

int driver_unload(void *context, void *module) { ON(context, cuda.unload(module)); }

int driver_launch(void *context, void *kernel, unsigned blocks, unsigned threads, unsigned shared, uint64_t *slots, int n) {
	void *parameters[driver_parameters];
	for (int i = 0; i < n; i++)
		parameters[i] = &slots[i];
	ON(context, cuda.launch(kernel, blocks, 1u, 1u, threads, 1u, 1u, shared, NULL, parameters, NULL));
}

int driver_wait(void *context) { ON(context, cuda.wait()); }

int driver_upload_later(void *context, uint64_t memory, const void *from, size_t bytes) {
	ON(context, cuda.upload_later(memory, from, bytes, NULL));
}

int driver_download_later(void *context, void *to, uint64_t memory, size_t bytes) {
	ON(context, cuda.download_later(to, memory, bytes, NULL));
}

int driver_event(void *context, void **event) {
	enum { blocking_sync = 1 }; // CUevent_flags
	ON(context, cuda.event(event, blocking_sync));
}

int driver_record(void *context, void *event) { ON(context, cuda.record(event, NULL)); }

int driver_reached(void *context, void *event) { ON(context, cuda.reached(event)); }

int driver_elapsed(void *context, float *milliseconds, void *from, void *to) { ON(context, cuda.elapsed(milliseconds, from, to)); }

int driver_forget(void *context, void *event) { ON(context, cuda.forget(event)); }
