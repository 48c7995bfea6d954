package admin

import (
	"fmt"
	"strings"

	"bitextmine/encode/gpu"
	"bitextmine/encode/session"
)

// device checks, where GPUs are asked for, the driver with its GPUs, and every library that ONNX Runtime needs for
// them.
func (o *ExamineOptions) device() []Finding {
	device, err := gpu.Parse(o.Resources.Device)
	if err != nil {
		return []Finding{of("device", "", err)}
	}
	if device.OnCPU() {
		return nil
	}
	driver, err := gpu.OpenDriver()
	if err != nil {
		return []Finding{of("driver", "", err), o.libraries(device, driver)}
	}
	var names []string
	chosen, err := driver.Choose(device)
	for _, g := range chosen {
		names = append(names, fmt.Sprintf("GPU %d: %s", g.Number, g))
	}
	return []Finding{of("driver", fmt.Sprintf("supports CUDA %s; %s", driver.Version(), strings.Join(names, "; ")), err), o.libraries(device, driver)}
}

// libraries checks what ONNX Runtime needs beside the driver.
func (o *ExamineOptions) libraries(device gpu.Device, driver gpu.Driver) Finding {
	path, err := session.LibraryOf(o.Resources.ONNXRuntime, device)
	var needed []gpu.Library
	if err == nil {
		needed, err = gpu.Preload(path, device.Kind)
	}
	if err == nil {
		err = gpu.Missing(path, needed)
	}
	if err == nil && driver.CUDA > 0 {
		err = driver.Supports(needed)
	}
	var names []string
	for _, l := range needed {
		names = append(names, l.Name)
	}
	return of("device", fmt.Sprintf("%s, with %s", o.Resources.Device, strings.Join(names, ", ")), err)
}
