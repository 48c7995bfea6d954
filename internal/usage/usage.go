// Package usage measures the processor time and memory that this process has used, and what the machine gives it.
package usage

import "syscall"

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
