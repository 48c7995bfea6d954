// Package usage measures the processor time and memory that this process has used, and what the machine gives it.
package usage

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"

	"bitextmine/internal/badinput"
)

// CPUSeconds is the processor time of all threads so far, in user and kernel mode.
func CPUSeconds() float64 {
	r := self()
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// PeakMemory is the largest resident size so far, in bytes.
func PeakMemory() int64 { return self().Maxrss << 10 }

func self() (r syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // the argument is always valid
	}
	return r
}

// FreeDisk is the room left on the disk of a directory, in bytes; 0 if it is not a local directory.
func FreeDisk(dir string) int64 {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return 0
	}
	return int64(fs.Bavail) * fs.Bsize
}

// MachineMemory returns the memory available to this process in bytes: the machine's memory, or the limit of the
// control group (a container, a job of SLURM) or of the process's addresses; 0 if none is known.
func MachineMemory() int64 {
	var machine int64
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		machine = int64(info.Totalram) * int64(info.Unit)
	}
	if group, err := memlimit.FromCgroup(); err == nil && group < uint64(math.MaxInt64) &&
		(machine == 0 || int64(group) < machine) {
		machine = int64(group)
	}
	if space := addressSpace(); space > 0 {
		return min(machine, max(space-reserved(), 1))
	}
	return machine
}

// addressSpace is the limit of the process's addresses (ulimit -v) in bytes; 0: there is none.
func addressSpace() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= math.MaxInt64 {
		return 0
	}
	return int64(limit.Cur)
}

// reserved is how many addresses the program takes without using the memory: Go's heap, the libraries, and for each
// processor the stacks and pools of threads. Measured with small runs.
func reserved() int64 { return 2<<30 + int64(runtime.NumCPU())<<27 }

// CheckAddressSpace refuses a limit of the process's addresses under which not even a small run ends, with a badinput
// error: else Go ends the program with a trace.
func CheckAddressSpace() error {
	if space := addressSpace(); space > 0 && space < reserved() {
		return badinput.Errorf("the limit of the address space (ulimit -v) is %d MiB, and the program takes %d MiB of addresses "+
			"before it uses memory: raise or remove the limit, and bound memory with --max-memory", space>>20, reserved()>>20)
	}
	return nil
}

// MemoryWithin returns the memory that a process may use in bytes: the bound if it is set, else MachineMemory.
func MemoryWithin(bound int64) int64 {
	if bound > 0 {
		return bound
	}
	return MachineMemory()
}

// growth is the garbage, in percent of what is alive, that a heap may have: half of Go's default takes a sixth of a
// run's memory less, and no time that can be measured.
const growth = 50

// steadyGrowth is the growth of a heap that mostly stays alive and has no pointers.
const steadyGrowth = 25

// LimitHeap has Go collect garbage when the heap has grown by half, unless GOGC says otherwise, and early enough that
// it stays in three quarters of MemoryWithin(bound); the rest is for what is not Go's. Without a bound GOMEMLIMIT is
// left as the environment has it.
func LimitHeap(bound int64) {
	setGrowth(growth)
	if _, set := os.LookupEnv("GOMEMLIMIT"); set && bound == 0 {
		return
	}
	if limit := MemoryWithin(bound); limit > 0 {
		debug.SetMemoryLimit(limit / 4 * 3)
	}
}

// SteadyHeap has Go collect garbage when the heap has grown by a quarter, until the function that it returns is called.
func SteadyHeap() (end func()) {
	setGrowth(steadyGrowth)
	return func() { setGrowth(growth) }
}

func setGrowth(percent int) {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(percent)
	}
}

// trimmed is the size of a heap that TrimHeap looks after: between stages half of it is in use.
const trimmed = 64 << 20

// TrimHeap returns what a large heap does not need to the system: at the end of a stage, whose buffers the next one
// does not use. The garbage collector alone would wait for minutes where little is allocated.
func TrimHeap() {
	TrimC()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64()+heap[1].Value.Uint64()+heap[2].Value.Uint64() > trimmed {
		runtime.GC() // the second collection frees the content of a sync.Pool
		debug.FreeOSMemory()
	}
}
