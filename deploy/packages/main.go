// Command packages makes the wheel and the OCI image of a tree of installed files, as scripts/packages lays it out. The
// same tree gives the same bytes: entries are sorted, and all have the time of SOURCE_DATE_EPOCH.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// release is the content of a package.
type release struct {
	tree    string // folder of the installed files, from /
	out     string
	version string
	arch    string // architecture in Debian's and Go's naming: amd64, arm64
	time    time.Time
}

func main() {
	var r release
	flag.StringVar(&r.tree, "tree", "", "folder of the installed files, from /")
	flag.StringVar(&r.out, "out", "", "folder of the packages")
	flag.StringVar(&r.version, "version", "", "version of the program")
	flag.StringVar(&r.arch, "arch", "", "architecture: amd64 or arm64")
	flag.Parse()
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		err = errors.New("SOURCE_DATE_EPOCH must be the packages' date in seconds since 1970")
	}
	r.time = time.Unix(seconds, 0).UTC()
	if err == nil {
		err = r.wheel("deploy/packages/bitextmine")
	}
	if err == nil {
		err = r.image()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// entry is a file, folder or link of a package.
type entry struct {
	name string // path with slashes, without a leading slash
	mode fs.FileMode
	link string // target of a symbolic link
	data []byte // content of a file
}

// entries reads a folder, sorted by name.
func entries(root string) (all []entry, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		e := entry{name: filepath.ToSlash(name), mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			e.data, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			e.link, err = os.Readlink(path)
		case !info.IsDir():
			err = fmt.Errorf("%s is neither a file nor a folder nor a link", path)
		}
		all = append(all, e)
		return err
	})
	return all, err
}

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

// wheel writes bitextmine-VERSION-py3-none-manylinux_2_17_MACHINE.whl: the Python files of a folder, the program with
// its libraries, and the licences. https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func (r *release) wheel(python string) error {
	machine, ok := machines[r.arch]
	if !ok {
		return fmt.Errorf("wheels are for amd64 and arm64, not for %s", r.arch)
	}
	tag := "py3-none-manylinux_2_17_" + machine // pip's oldest: the C library is inside
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
