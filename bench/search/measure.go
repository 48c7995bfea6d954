package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"bitextmine/internal/usage"
)

// measurement is one run: seconds, processor seconds, peak memory in MiB above what was held before, and recall.
type measurement struct{ wall, cpu, peak, recall float64 }

type measurements []measurement

// add measures one more run.
func (m *measurements) add(run func() (recall float64, err error)) error {
	debug.FreeOSMemory()
	// 5 resets the peak (proc(5)).
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return err
	}
	before, err := status("VmRSS")
	if err != nil {
		return err
	}
	cpu, start := usage.CPUSeconds(), time.Now()
	recall, err := run()
	if err != nil {
		return err
	}
	wall, used := time.Since(start).Seconds(), usage.CPUSeconds()-cpu
	peak, err := status("VmHWM")
	if err != nil {
		return err
	}
	*m = append(*m, measurement{wall, used, peak - before, recall})
	return nil
}

// median computes the median of each figure separately.
func (m measurements) median() measurement {
	middle := func(of func(measurement) float64) float64 {
		values := make([]float64, len(m))
		for i, x := range m {
			values[i] = of(x)
		}
		slices.Sort(values)
		return (values[len(values)/2] + values[(len(values)-1)/2]) / 2
	}
	return measurement{
		middle(func(x measurement) float64 { return x.wall }), middle(func(x measurement) float64 { return x.cpu }),
		middle(func(x measurement) float64 { return x.peak }), middle(func(x measurement) float64 { return x.recall }),
	}
}

// medianOf returns the median of the named contestant, or zeros if it does not take part.
func medianOf(contestants []contestant, all []measurements, name string) measurement {
	for i, c := range contestants {
		if c.name == name {
			return all[i].median()
		}
	}
	return measurement{}
}

// status reads a size from /proc/self/status, in MiB.
func status(field string) (float64, error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it is only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			var kib float64
			if _, err := fmt.Sscanf(value, "%f kB", &kib); err != nil {
				return 0, err
			}
			return kib / 1024, nil
		}
	}
	return 0, cmp.Or(lines.Err(), fmt.Errorf("/proc/self/status has no %s", field))
}
