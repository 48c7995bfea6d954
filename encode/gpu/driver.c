#include "driver.h"

#include <dlfcn.h>
#include <string.h>

typedef int (*call)();

static struct {
	call init, version, count, get, name, memory, attribute;
} cuda;

int driver_open(const char *library, int *version, int *gpus) {
	*version = *gpus = 0;
	void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	if (!handle)
		return driver_absent;
	const char *names[] = {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute"};
	call *calls[] = {&cuda.init, &cuda.version, &cuda.count, &cuda.get, &cuda.name, &cuda.memory, &cuda.attribute};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		*calls[i] = (call)dlsym(handle, names[i]);
		if (!*calls[i])
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
