// preload_open opens a library for the whole process. It returns NULL, or what is wrong, which the caller frees.
char *preload_open(const char *path);
