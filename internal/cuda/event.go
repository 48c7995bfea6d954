package cuda

/*
#include "driver.h"
*/
import "C"

import (
	"time"
	"unsafe"
)

// UploadLater copies values of the host to the device when the device comes to it. They must be Pinned and stay as they
// are until then.
func UploadLater[T uint16 | int32 | float32](d *Device, to Memory, from []T) error {
	if len(from) == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(from))
	return d.failed("copying to it", C.driver_upload_later(d.context, C.uint64_t(to), first, sizeOf(from)))
}

// DownloadLater copies values of the device to the host, where they must be Pinned, when the device comes to it.
func DownloadLater[T uint16 | int32 | float32](d *Device, to []T, from Memory) error {
	if len(to) == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(to))
	return d.failed("copying from it", C.driver_download_later(d.context, first, C.uint64_t(from), sizeOf(to)))
}

// Event is a mark in what a device was given to do.
type Event struct {
	on    *Device
	event unsafe.Pointer
}

// Event makes one, which must be released.
func (d *Device) Event() (*Event, error) {
	e := &Event{on: d}
	return e, d.failed("making an event", C.driver_event(d.context, &e.event))
}

// Record sets the mark behind all that the device was given to do so far.
func (e *Event) Record() error {
	return e.on.failed("computing", C.driver_record(e.on.context, e.event))
}

// Wait returns when the device has come to the mark.
func (e *Event) Wait() error {
	return e.on.failed("computing", C.driver_reached(e.on.context, e.event))
}

// Since is the time between two marks that the device has come to.
func (e *Event) Since(from *Event) (time.Duration, error) {
	var milliseconds C.float
	err := e.on.failed("computing", C.driver_elapsed(e.on.context, &milliseconds, from.event, e.event))
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), err
}

// Release gives the event back.
func (e *Event) Release() error {
	return e.on.failed("giving an event back", C.driver_forget(e.on.context, e.event))
}
