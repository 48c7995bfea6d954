package amx

import (
	"sync"
	"syscall"
)

// Permitted says whether this process may use the tile registers. Which of AMX's instructions the processor has is the
// caller's to know. The request is described in Documentation/arch/x86/xstate.rst.
var Permitted = sync.OnceValue(func() bool {
	const requestPermission, tileData = 0x1023, 18 // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
	_, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
})
