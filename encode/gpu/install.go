package gpu

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
	"bitextmine/internal/lockfile"
	"bitextmine/internal/transfer"
)

// InstallOptions are the settings of an installation.
type InstallOptions struct {
	Index string // address of the package index; empty: IndexEnv, or PyPI
	// Transfer has the client and the patience of downloads; the rest is the package's own.
	Transfer transfer.Options
	// Progress, which may be nil, is called with the number of bytes of a wheel so far.
	Progress func(w Wheel, done int64)
}

// stagingSuffix ends the name of a directory that is not yet complete.
const stagingSuffix = ".part"

// Install puts the libraries of a set into parent and returns their directory. It is there whole or not at all; what an
// earlier call left is continued. A second call at the same time is refused.
func Install(ctx context.Context, s WheelSet, parent string, o InstallOptions) (dir string, err error) {
	dir = filepath.Join(parent, s.Directory())
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if o.Transfer.Client == nil {
		o.Transfer.Client = transfer.NewClient()
	}
	x, err := openIndex(o.Index, o.Transfer)
	if err != nil {
		return "", err
	}
	staging := dir + stagingSuffix
	libraries := filepath.Join(staging, "lib")
	if err := os.MkdirAll(libraries, 0o777); err != nil {
		return "", badinput.Errorf("make the directory of GPU libraries: %w", err)
	}
	release, err := lockfile.Lock(filepath.Join(staging, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	for _, w := range s.Wheels {
		if err := x.bring(ctx, w, staging, libraries, o.Progress); err != nil {
			return "", err
		}
	}
	if err := os.Rename(libraries, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return dir, nil // another process was first
		}
		return "", fmt.Errorf("publish the GPU libraries: %w", err)
	}
	return dir, errors.Join(atomicfile.SyncDir(parent), os.RemoveAll(staging))
}

// bring downloads and unpacks a wheel, and then removes it, unless an earlier call did.
func (x *index) bring(ctx context.Context, w Wheel, staging, libraries string, progress func(Wheel, int64)) error {
	done := filepath.Join(staging, w.File+".done")
	switch _, err := os.Stat(done); {
	case err == nil:
		if progress != nil {
			progress(w, w.Size)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	file := filepath.Join(staging, w.File)
	if err := x.download(ctx, w, file, func(n int64) {
		if progress != nil {
			progress(w, n)
		}
	}); err != nil {
		return err
	}
	if err := unpack(file, libraries); err != nil {
		return err
	}
	return errors.Join(atomicfile.WriteBytes(done, nil), os.Remove(file))
}

// verify compares a downloaded file with the list.
func verify(w Wheel, file, address string) error {
	_, sum, err := atomicfile.Digest(file)
	if err != nil || sum == w.SHA256 {
		return err
	}
	return badinput.Errorf("%s does not have the digest that this program knows for %s, so it was deleted: the transfer was damaged or tampered with; run the same command again, or name another index in %s",
		address, w.File, IndexEnv)
}

// unpack writes the shared libraries of a wheel into a directory, whatever folder of the wheel they are in. Python's
// extension modules are left out.
func unpack(file, dir string) (err error) {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return badinput.Errorf("%s is not a wheel that can be read: %w", file, err)
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	for _, f := range archive.File {
		name := path.Base(f.Name)
		if !f.Mode().IsRegular() || !strings.HasPrefix(name, "lib") || !strings.Contains(name, ".so") {
			continue
		}
		if err := write(f, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("unpack %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}

func write(f *zip.File, to string) error {
	return atomicfile.Write(to, func(out *os.File) (err error) {
		in, err := f.Open()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		_, err = io.Copy(out, in)
		return err
	})
}

// Prepare loads what a device's providers need and returns its GPUs. Whatever is missing, too old or of another kind is
// a badinput error.
func Prepare(device Device, runtime string) ([]cuda.GPU, error) {
	driver, err := cuda.OpenDriver()
	if err != nil {
		return nil, err
	}
	chosen, err := Choose(driver, device)
	if err != nil {
		return nil, err
	}
	needed, err := Preload(runtime, device.Kind)
	if err != nil {
		return nil, err
	}
	if err := Missing(runtime, needed); err != nil {
		return nil, err
	}
	return chosen, Supports(driver, needed)
}

// OutOfMemory says whether an error of ONNX Runtime is about a GPU's memory.
func OutOfMemory(err error) bool {
	return err != nil && contains(err.Error(), "out of memory", "Failed to allocate memory",
		"is smaller than requested bytes", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED",
		"cudaErrorMemoryAllocation")
}

// Explain makes a sentence of an error of ONNX Runtime on a GPU; nil stays nil. What may be otherwise on another
// machine, or at another time, is worth a retry; the rest is badinput.
func Explain(on cuda.GPU, err error) error {
	switch {
	case err == nil || badinput.Is(err):
		return err
	case OutOfMemory(err):
		return fmt.Errorf(
			"GPU %d has too little memory left: end what else runs there and run the same command again: %w",
			on.Number, oneLine(err))
	case contains(err.Error(), "driver version is insufficient", "CUDA failure 35:", "CUDA failure 36:"):
		return badinput.Errorf(
			"the NVIDIA driver is too old for the CUDA libraries: install a newer driver, or libraries of an older CUDA with mine gpu setup --cuda: %w",
			oneLine(err))
	case contains(err.Error(), "no kernel image is available", "CUDA failure 209:", "CUDNN_STATUS_ARCH_MISMATCH",
		"CUBLAS_STATUS_ARCH_MISMATCH"):
		return badinput.Errorf(
			"GPU %d (%s) is of a kind that these CUDA libraries have no code for: take other libraries with mine gpu setup --cuda, or --device cpu: %w",
			on.Number, on.Name, oneLine(err))
	case contains(err.Error(), "no CUDA-capable device", "CUDA failure 100:", "invalid device ordinal",
		"CUDA failure 101:"):
		return badinput.Errorf("CUDA does not find GPU %d: look at nvidia-smi and CUDA_VISIBLE_DEVICES: %w", on.Number,
			oneLine(err))
	case contains(err.Error(), "CUDA failure", "CUDA error", "CUBLAS failure", "CUBLAS_STATUS", "CUDNN failure",
		"CUDNN_STATUS", "CUDNN_BACKEND"):
		return fmt.Errorf(
			"GPU %d failed or is gone: look at nvidia-smi and the kernel's log, and run the same command again; it goes on from here: %w",
			on.Number, oneLine(err))
	case contains(err.Error(), "Failed to load library", "libonnxruntime_providers"):
		return badinput.Errorf(
			"ONNX Runtime's GPU provider does not load: run mine gpu setup again, and look at mine doctor: %w",
			oneLine(err))
	}
	return err
}

func contains(text string, any ...string) bool {
	for _, part := range any {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// line is an error on one line.
type line struct{ err error }

func (l line) Error() string { return strings.Join(strings.Fields(l.err.Error()), " ") }
func (l line) Unwrap() error { return l.err }

func oneLine(err error) error { return line{err} }
