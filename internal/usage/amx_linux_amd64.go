package usage

import (
	"sync"
	"syscall"
)

// AMXPermitted asks Linux for the tile registers of AMX, 8 KiB for each thread that uses them, and reports whether this
// process may use them. The caller checks which of AMX's instructions the processor has. The request is described in
// Documentation/arch/x86/xstate.rst.
var AMXPermitted = sync.OnceValue(func() bool {
	const requestPermission, tileData = 0x1023, 18 // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
	_, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
})
