#include "preload.h"

#include <dlfcn.h>
#include <string.h>

char *preload_open(const char *path) {
	if (dlopen(path, RTLD_NOW | RTLD_GLOBAL))
		return NULL;
	const char *reason = dlerror();
	return strdup(reason ? reason : "it cannot be opened");
}
