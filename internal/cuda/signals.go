package cuda

/*
#include "signals.h"
*/
import "C"
import "unsafe"

// Guard calls f, which may run code of CUDA, and then puts back the signal handlers of the Go runtime that this code
// replaced: with a handler that does not run on the alternate stack, the next signal would end the program. (ONNX
// Runtime's CUDA provider does so: onnxruntime_go's issue 140.) It returns how many handlers were put right.
func Guard(f func()) int {
	before := make([]C.signals_action, C.signals_count)
	first := unsafe.SliceData(before)
	C.signals_save(first)
	f()
	return int(C.signals_restore(first))
}
