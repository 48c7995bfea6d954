package usage

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

// TrimC returns what C's heaps do not need to the system. They keep what threads have freed, each thread its own, and a
// search's blocks are large.
func TrimC() { C.trim() }
