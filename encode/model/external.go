package model

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// External opens the files with weights that a model's graph refers to, each once.
type External struct {
	of    *Model
	files map[string]*os.File
}

// OpenExternal opens none yet. The model must be on disk.
func (m *Model) OpenExternal() *External { return &External{m, map[string]*os.File{}} }

// Open gives a file by its name in the graph, which is relative to the graph's folder. The manifest must list it.
func (x *External) Open(file string) (_ io.ReaderAt, err error) {
	name := path.Join(path.Dir(x.of.ONNX), file)
	if !slices.Contains(x.of.External, name) {
		return nil, fmt.Errorf("its weights are in %s, which external_data in %s does not list", file, x.of.Path(FileName))
	}
	if x.files[file] == nil {
		opened, err := os.Open(x.of.Path(name))
		if err != nil {
			return nil, err
		}
		x.files[file] = opened
	}
	return x.files[file], nil
}

// Where gives the path of a file by its name in the graph, or that of the graph for "", without links and relative to
// the root folder.
func (x *External) Where(file string) (string, error) {
	name := x.of.ONNX
	if file != "" {
		if _, err := x.Open(file); err != nil {
			return "", err
		}
		name = path.Join(path.Dir(name), file)
	}
	real, err := filepath.Abs(x.of.Path(name))
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err == nil {
		real, err = filepath.Rel("/", real)
	}
	return real, err
}

// Close closes all of them.
func (x *External) Close() (err error) {
	for _, f := range x.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
