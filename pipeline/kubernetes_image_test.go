package pipeline

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// pause imports an image of a program that waits to be ended, which holds a pod's network.
func (k *kubernetes) pause() {
	k.t.Helper()
	source := filepath.Join(k.dir, "pause.go")
	code := `package main
import ("os"; "os/signal"; "syscall")
func main() { end := make(chan os.Signal, 1); signal.Notify(end, syscall.SIGTERM, os.Interrupt); <-end }`
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		k.t.Fatal(err)
	}
	program := filepath.Join(k.dir, "pause")
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		k.t.Fatalf("%v\n%s", err, out)
	}
	k.importImage(program)
}

// importImage imports an image of a static program under its name.
func (k *kubernetes) importImage(path string) {
	k.t.Helper()
	program, err := os.ReadFile(path)
	if err != nil {
		k.t.Fatal(err)
	}
	name := filepath.Base(path)
	layer := k.packed(map[string][]byte{"bin/" + name: program})
	config := k.encoded(map[string]any{
		"architecture": "amd64", "os": "linux", "config": map[string]any{"Entrypoint": []string{"/bin/" + name}, "Env": []string{"PATH=/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	image := filepath.Join(k.dir, name+".tar")
	if err := os.WriteFile(image, k.packed(map[string][]byte{
		"layer.tar": layer, "config.json": config,
		"manifest.json": k.encoded([]any{map[string]any{"Config": "config.json", "RepoTags": []string{name + ":test"}, "Layers": []string{"layer.tar"}}}),
	}), 0o600); err != nil {
		k.t.Fatal(err)
	}
	if err := k.ctr("images", "import", image); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kubernetes) packed(files map[string][]byte) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
			k.t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			k.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		k.t.Fatal(err)
	}
	return out.Bytes()
}

func (k *kubernetes) encoded(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		k.t.Fatal(err)
	}
	return data
}
