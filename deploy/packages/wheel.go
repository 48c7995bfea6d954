package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// machines are Python's names of architectures.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

const metadata = `Metadata-Version: 2.4
Name: bitextmine
Version: %s
Summary: Find translations in monolingual text
License-Expression: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Requires-Dist: pyarrow
Description-Content-Type: text/plain

bitextmine.mine, encode and neighbours run the program mine, which is inside, and return Arrow tables and NumPy arrays.
The command mine is the program itself.
`

// wheel writes bitextmine-VERSION-py3-none-manylinux_GLIBC_MACHINE.whl: the Python files of a folder, the program with
// its libraries, and the licences. https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func (r *release) wheel(python string) error {
	machine, ok := machines[r.arch]
	if !ok {
		return fmt.Errorf("wheels are for amd64 and arm64, not for %s", r.arch)
	}
	tag := "py3-none-manylinux_" + strings.ReplaceAll(r.glibc, ".", "_") + "_" + machine
	info := "bitextmine-" + r.version + ".dist-info/"
	var files []entry
	for _, part := range []struct{ from, to string }{
		{python, "bitextmine/"},
		{filepath.Join(r.tree, "usr/lib/mine"), "bitextmine/program/"},
		{filepath.Join(r.tree, "usr/share/doc/mine"), info + "licenses/"},
	} {
		some, err := entries(part.from)
		if err != nil {
			return err
		}
		for _, e := range some {
			if e.name = part.to + e.name; e.mode.IsRegular() && !strings.Contains(e.name, "__pycache__") {
				files = append(files, e)
			}
		}
	}
	text := func(name, data string) {
		files = append(files, entry{name: info + name, mode: 0o644, data: []byte(data)})
	}
	text("METADATA", fmt.Sprintf(metadata, r.version))
	text("WHEEL", "Wheel-Version: 1.0\nGenerator: mine\nRoot-Is-Purelib: false\nTag: "+tag+"\n")
	text("entry_points.txt", "[console_scripts]\nmine = bitextmine:main\n")
	var record strings.Builder
	for _, e := range files {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	text("RECORD", record.String()+info+"RECORD,,\n")
	data, err := r.zip(files)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "bitextmine-"+r.version+"-"+tag+".whl"), data, 0o644) //nolint:gosec // readable by all
}

// zip packs files. pip makes those executable that are.
func (r *release) zip(files []entry) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range files {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.time}
		header.SetMode(fs.FileMode(0o644))
		if e.mode&0o111 != 0 {
			header.SetMode(fs.FileMode(0o755))
		}
		to, err := w.CreateHeader(header)
		if err == nil {
			_, err = to.Write(e.data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
