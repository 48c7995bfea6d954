package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// descriptor names a blob of an image. https://github.com/opencontainers/image-spec/blob/v1.1.1/descriptor.md
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// image writes mine-VERSION-ARCH.oci.tar: an OCI image layout with one image of one layer. It also has the
// manifest.json that docker load reads in releases before 25.
func (r *release) image() error {
	program, err := entries(r.tree)
	if err != nil {
		return err
	}
	program = append(program,
		entry{name: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777}, entry{name: "work", mode: fs.ModeDir | 0o777})
	var blobs []entry
	add := func(mediaType string, data []byte) descriptor {
		digest := fmt.Sprintf("%x", sha256.Sum256(data))
		blobs = append(blobs, entry{name: "blobs/sha256/" + digest, mode: 0o644, data: data})
		return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(data)}
	}
	plain, err := r.tar(program)
	if err != nil {
		return err
	}
	packed, err := compressed(plain)
	if err != nil {
		return err
	}
	layer := add("application/vnd.oci.image.layer.v1.tar+gzip", packed)
	config := add("application/vnd.oci.image.config.v1+json", r.imageConfig(plain))
	manifest := add("application/vnd.oci.image.manifest.v1+json", encoded(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
		"layers": []descriptor{layer},
	}))
	tag := "mine:" + r.version
	manifest.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          "docker.io/library/" + tag, // what a pod's mine:VERSION stands for
	}
	file := func(name string, content any) {
		blobs = append(blobs, entry{name: name, mode: 0o644, data: encoded(content)})
	}
	file("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"})
	file("index.json", map[string]any{"schemaVersion": 2, "manifests": []descriptor{manifest}})
	file("manifest.json", []map[string]any{{"Config": blobPath(config), "RepoTags": []string{tag},
		"Layers": []string{blobPath(layer)}}})
	data, err := r.tar(blobs)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "mine-"+r.version+"-"+r.arch+".oci.tar"), data, 0o644) //nolint:gosec // readable by all
}

// imageConfig says how the image is run, and what its layer is before compression.
func (r *release) imageConfig(layer []byte) []byte {
	return encoded(map[string]any{
		"created": r.time, "architecture": r.arch, "os": "linux",
		"config": map[string]any{
			"Entrypoint": []string{"/usr/bin/mine"}, "WorkingDir": "/work",
			"Env": []string{"PATH=/usr/bin", "HOME=/tmp"},
			"Labels": map[string]string{"org.opencontainers.image.version": r.version,
				"org.opencontainers.image.licenses": "Apache-2.0"},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
}

func blobPath(d descriptor) string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }

// encoded is a value as JSON; all that is given can be written.
func encoded(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

func compressed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// tar packs entries, sorted by name, as root's and with the release's time. Folders that are not given are added.
func (r *release) tar(files []entry) ([]byte, error) {
	seen := map[string]bool{}
	for _, e := range files {
		seen[e.name] = true
	}
	for _, e := range slices.Clone(files) {
		for dir := path.Dir(e.name); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			files = append(files, entry{name: dir, mode: fs.ModeDir | 0o755})
		}
	}
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range files {
		header := &tar.Header{Name: e.name, ModTime: r.time, Mode: int64(e.mode.Perm()), Typeflag: tar.TypeReg,
			Size: int64(len(e.data)), Format: tar.FormatPAX}
		switch {
		case e.mode.IsDir():
			header.Typeflag, header.Name = tar.TypeDir, e.name+"/"
			if e.mode&fs.ModeSticky != 0 {
				header.Mode |= 0o1000
			}
		case e.link != "":
			header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
		}
		err := w.WriteHeader(header)
		if err == nil {
			_, err = w.Write(e.data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
