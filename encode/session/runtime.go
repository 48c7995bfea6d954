package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/gpu"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

// LibraryEnv is the environment variable that names the ONNX Runtime library when no setting does.
const LibraryEnv = "MINE_ONNXRUNTIME"

// LibraryName is the file name of the library.
const LibraryName = "libonnxruntime.so"

// environment is the process-wide state of ONNX Runtime. It is loaded with the first encoder and unloaded with the
// last.
var environment struct {
	sync.Mutex
	users   int
	library string
}

// Acquire loads ONNX Runtime unless it is loaded: the given library, or the one that suits a device. Each successful
// call must be matched by one Release.
func Acquire(library string, device gpu.Device) error {
	environment.Lock()
	defer environment.Unlock()
	path, err := LibraryOf(library, device)
	if err != nil {
		return err
	}
	if environment.users > 0 {
		if library != "" && path != environment.library {
			return badinput.Errorf(
				"ONNX Runtime is already loaded from %s, so %s cannot be loaded beside it: name one library for all encoders",
				environment.library, path)
		}
		environment.users++
		return nil
	}
	ort.SetSharedLibraryPath(path)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		if strings.Contains(err.Error(), "ORT API base") {
			return badinput.Errorf(
				"%s is too old: this program needs ONNX Runtime 1.24 or newer; replace the file or name another in %s",
				path, LibraryEnv)
		}
		return badinput.Errorf("%s could not be loaded as ONNX Runtime: %w; replace the file or name another in %s",
			path, err, LibraryEnv)
	}
	environment.users, environment.library = 1, path
	return nil
}

// Runtime describes an installed ONNX Runtime.
type Runtime struct {
	Path, Version string
	CUDA          bool // its CUDA provider is installed beside it
}

// CheckRuntime loads the ONNX Runtime that Acquire does and describes it. Errors are badinput.
func CheckRuntime(library string, device gpu.Device) (found Runtime, err error) {
	if err := Acquire(library, device); err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, Release()) }()
	environment.Lock()
	found.Path = environment.library
	environment.Unlock()
	found.Version, found.CUDA = RuntimeVersion(), gpu.Has(found.Path, gpu.CUDA)
	return found, nil
}

// Release ends what Acquire began.
func Release() error {
	environment.Lock()
	defer environment.Unlock()
	environment.users--
	if environment.users > 0 {
		return nil
	}
	if err := ort.DestroyEnvironment(); err != nil {
		return fmt.Errorf("unload ONNX Runtime: %w", err)
	}
	return nil
}

// LibraryOf returns the path of the given library, or of the one that suits a device: for GPUs what `mine gpu setup`
// installed.
func LibraryOf(library string, device gpu.Device) (string, error) {
	if !device.OnCPU() && library == "" && os.Getenv(LibraryEnv) == "" {
		driver, _ := cuda.OpenDriver() // opening the device says what is wrong with it
		if path := gpu.Installed(driver); path != "" {
			return path, nil
		}
	}
	return FindLibrary(library)
}

// FindLibrary returns the path of ONNX Runtime's library: the given one, else the one that LibraryEnv names, else one
// in the program's directory or the user's cache.
func FindLibrary(library string) (string, error) {
	given, where := library, "the ONNX Runtime library setting"
	if given == "" {
		given, where = os.Getenv(LibraryEnv), LibraryEnv
	}
	if given != "" {
		path, err := filepath.Abs(given)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return "", badinput.Errorf("%s names %s, which cannot be used: %w", where, given, err)
		}
		return path, nil
	}
	places := libraryPlaces()
	for _, path := range places {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", badinput.Errorf(
		"ONNX Runtime was not found: looked for %s; put %s (1.24 or newer) at one of these or name it in %s",
		strings.Join(places, ", "), LibraryName, LibraryEnv)
}

// libraryPlaces lists the paths that are searched when no setting names the library.
func libraryPlaces() []string {
	var places []string
	if program, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			program = real
		}
		beside := filepath.Dir(program)
		places = append(places, filepath.Join(beside, LibraryName), filepath.Join(beside, "..", "lib", LibraryName))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "mine", LibraryName))
	}
	return places
}

// RuntimeVersion is the version of the ONNX Runtime in use, or empty when no encoder is open.
func RuntimeVersion() string {
	environment.Lock()
	defer environment.Unlock()
	if environment.users == 0 {
		return ""
	}
	return ort.GetVersion()
}
