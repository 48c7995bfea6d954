// Package usage tells what this process has taken of the machine.
package usage

import "syscall"

// CPUSeconds is the processor time of all threads so far, the system's part included.
func CPUSeconds() float64 {
	r := self()
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// PeakMemory is the largest resident size so far, in bytes.
func PeakMemory() int64 { return self().Maxrss << 10 }

func self() (r syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return r
}
