package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// laidOut is a release of a small tree.
func laidOut(t *testing.T) *release {
	t.Helper()
	r := &release{tree: t.TempDir(), out: t.TempDir(), version: "1.2.3", arch: "amd64", time: time.Unix(1700000000, 0).UTC()}
	for name, mode := range map[string]os.FileMode{"usr/lib/mine/mine": 0o755, "usr/lib/mine/libx.so.1": 0o644, "usr/share/doc/mine/copyright": 0o644} {
		path := filepath.Join(r.tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content of "+name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(r.tree, "usr/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../lib/mine/mine", filepath.Join(r.tree, "usr/bin/mine")); err != nil {
		t.Fatal(err)
	}
	return r
}

// same makes a package twice, the second time of files with another time, and returns its bytes.
func same(t *testing.T, r *release, name string, build func() error) []byte {
	t.Helper()
	var made [2][]byte
	for i := range made {
		if err := build(); err != nil {
			t.Fatal(err)
		}
		var err error
		if made[i], err = os.ReadFile(filepath.Join(r.out, name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(r.tree, "usr/lib/mine/mine"), time.Now(), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Errorf("two makings of %s differ", name)
	}
	return made[0]
}

// TestWheel: RECORD names every file with its digest, and the program can be executed.
func TestWheel(t *testing.T) {
	r := laidOut(t)
	data := same(t, r, "bitextmine-1.2.3-py3-none-manylinux_2_17_x86_64.whl", func() error { return r.wheel("bitextmine") })
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	record, err := fs.ReadFile(files, "bitextmine-1.2.3.dist-info/RECORD")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.File {
		content, err := fs.ReadFile(files, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		line := fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
		if !strings.HasSuffix(f.Name, "/RECORD") && !strings.Contains(string(record), line) {
			t.Errorf("RECORD lacks %q", line)
		}
		if executable := f.Mode()&0o111 != 0; executable != (f.Name == "bitextmine/program/mine") {
			t.Errorf("%s has the mode %v", f.Name, f.Mode())
		}
	}
	for _, name := range []string{"bitextmine/__init__.py", "bitextmine/program/libx.so.1", "bitextmine-1.2.3.dist-info/licenses/copyright"} {
		if _, err := files.Open(name); err != nil {
			t.Error(err)
		}
	}
	r.arch = "riscv64"
	if err := r.wheel("bitextmine"); err == nil {
		t.Error("a wheel for riscv64")
	}
}

// TestImage: every blob has the digest and size that name it, and the layers have the files, modes and links.
func TestImage(t *testing.T) {
	r := laidOut(t)
	archive := unpack(t, same(t, r, "mine-1.2.3-amd64.oci.tar", r.image))
	blob := func(d descriptor) []byte {
		data := archive[blobPath(d)].data
		if len(data) != d.Size || d.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(data)) {
			t.Errorf("the blob %s has %d bytes", d.Digest, len(data))
		}
		return data
	}
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	var config struct {
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	decode(t, archive["index.json"].data, &index)
	if name := index.Manifests[0].Annotations["io.containerd.image.name"]; name != "docker.io/library/mine:1.2.3" {
		t.Errorf("containerd calls it %q", name)
	}
	decode(t, blob(index.Manifests[0]), &manifest)
	decode(t, blob(manifest.Config), &config)
	root := map[string]entry{}
	for i, l := range manifest.Layers {
		z, err := gzip.NewReader(bytes.NewReader(blob(l)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil || config.RootFS.DiffIDs[i] != fmt.Sprintf("sha256:%x", sha256.Sum256(plain)) {
			t.Errorf("layer %d: error %v", i, err)
		}
		for name, e := range unpack(t, plain) {
			root[name] = e
		}
	}
	for name, want := range map[string]entry{
		"usr/lib/":          {mode: fs.ModeDir | 0o755},
		"tmp/":              {mode: fs.ModeDir | fs.ModeSticky | 0o777},
		"usr/bin/mine":      {mode: fs.ModeSymlink | 0o777, link: "../lib/mine/mine"},
		"usr/lib/mine/mine": {mode: 0o755, data: []byte("content of usr/lib/mine/mine")},
	} {
		got, ok := root[name]
		if !ok || got.mode != want.mode || got.link != want.link || !bytes.Equal(got.data, want.data) {
			t.Errorf("%s is %v %q %q", name, got.mode, got.link, got.data)
		}
	}
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, data []byte) map[string]entry {
	t.Helper()
	files := map[string]entry{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil || header.Uid != 0 || header.Gid != 0 || header.ModTime.Unix() != 1700000000 {
			t.Errorf("%s: %+v, error %v", header.Name, header, err)
		}
		files[header.Name] = entry{mode: header.FileInfo().Mode(), link: header.Linkname, data: content}
	}
}
