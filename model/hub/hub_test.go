package hub

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
	"bitextmine/internal/transfer"
	"bitextmine/train/export"
)

// server speaks the hub's protocol for one repository, org/repo. Files from lfs bytes on are stored on another host.
type server struct {
	*httptest.Server
	store *httptest.Server
	files map[string][]byte

	mu       sync.Mutex
	asked    map[string][]string           // ranges, by path; empty for the whole file
	answers  []func(w http.ResponseWriter) // given once each, before anything else
	breakOff string                        // a file that is cut after half, once
	wrong    string                        // a file that the hub lists with another digest
	leaked   bool                          // the token reached the other host
}

const (
	lfs    = 100
	commit = "0123456789abcdef0123456789abcdef01234567"
)

func serve(t *testing.T, files map[string][]byte) *server {
	t.Helper()
	s := &server{files: files, asked: map[string][]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.hub))
	s.store = httptest.NewServer(http.HandlerFunc(s.stored))
	t.Cleanup(s.Close)
	t.Cleanup(s.store.Close)
	return s
}

func (s *server) client() *Client {
	return &Client{Endpoint: s.URL, HTTP: s.Client(), Wait: time.Millisecond, Attempts: 3}
}

func (s *server) hub(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) > 0 {
		answer := s.answers[0]
		s.answers = s.answers[1:]
		answer(w)
		return
	}
	if r.URL.Path == "/api/models/org/repo/revision/main" {
		s.list(w)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/org/repo/resolve/"+commit+"/")
	content, known := s.files[name]
	switch {
	case !ok || !known:
		w.Header().Set("X-Error-Code", "EntryNotFound")
		w.WriteHeader(http.StatusNotFound)
	case len(content) >= lfs:
		w.Header().Set("X-Linked-Etag", fmt.Sprintf("%q", sum(content)))
		http.Redirect(w, r, s.store.URL+"/"+name, http.StatusFound)
	default:
		s.content(w, r, name)
	}
}

func (s *server) stored(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaked = s.leaked || r.Header.Get("Authorization") != ""
	s.content(w, r, strings.TrimPrefix(r.URL.Path, "/"))
}

func (s *server) content(w http.ResponseWriter, r *http.Request, name string) {
	s.asked[name] = append(s.asked[name], r.Header.Get("Range"))
	content := s.files[name]
	if s.breakOff == name {
		s.breakOff = ""
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:len(content)/2]) // the connection is closed, for bytes are missing
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func (s *server) list(w http.ResponseWriter) {
	var siblings []map[string]any
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		content := s.files[name]
		digest, blob := sum(content), sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
		file := map[string]any{"rfilename": name, "size": len(content), "blobId": hex.EncodeToString(blob[:])}
		if s.wrong == name {
			digest, file["blobId"] = strings.Repeat("0", 64), strings.Repeat("0", 40)
		}
		if len(content) >= lfs {
			file["lfs"] = map[string]any{"sha256": digest, "size": len(content), "pointerSize": 130}
		}
		siblings = append(siblings, file)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"sha": commit, "siblings": siblings, "cardData": map[string]any{"license": "mit"}})
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// graph is an ONNX file whose weights are in a second file.
func graph(t *testing.T) (model, data []byte) {
	t.Helper()
	dir := t.TempDir()
	g := export.NewGraph("table")
	g.Limit = 100
	g.Initializer("table", []int{512}, make([]float32, 512))
	if _, err := g.Write(dir, "model.onnx"); err != nil {
		t.Fatal(err)
	}
	for name, into := range map[string]*[]byte{"model.onnx": &model, "model.onnx.data": &data} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		*into = raw
	}
	return model, data
}

// files are those of a repository with an ONNX graph, and much that an import does not need.
func files(t *testing.T) map[string][]byte {
	model, data := graph(t)
	return map[string][]byte{
		"config.json": []byte(`{"model_type": "xlm-roberta"}`), "README.md": []byte("# A model"), "modules.json": []byte("[]"),
		"1_Pooling/config.json": []byte("{}"), "tokenizer_config.json": []byte(`{"tokenizer_class": "XLMRobertaTokenizer"}`),
		"sentencepiece.bpe.model": bytes.Repeat([]byte("piece "), 1000), "tokenizer.json": bytes.Repeat([]byte("fast "), 1000),
		"onnx/model.onnx": model, "onnx/model.onnx.data": data, "onnx/model_O4.onnx": bytes.Repeat([]byte("o"), 500),
		"model.safetensors": bytes.Repeat([]byte("w"), 500), "pytorch_model.bin": bytes.Repeat([]byte("pickle"), 500), "modeling.py": []byte("print()"),
	}
}

func get(t *testing.T, c *Client, dir string) error {
	t.Helper()
	r, err := c.List(t.Context(), "org/repo", "")
	if err != nil {
		return err
	}
	return c.Get(t.Context(), r, dir, "", nil)
}

func TestOnlyNeededFilesAreDownloaded(t *testing.T) {
	s := serve(t, files(t))
	c := s.client()
	c.Token = "secret"
	dir := t.TempDir()
	r, err := c.List(t.Context(), "org/repo", "main")
	if err != nil {
		t.Fatal(err)
	}
	if r.Licence != "mit" || r.Commit != commit {
		t.Errorf("the repository is %+v", r)
	}
	if err := c.Get(t.Context(), r, dir, "", nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"1_Pooling/config.json", "README.md", "config.json", "modules.json", "onnx/model.onnx", "onnx/model.onnx.data", "sentencepiece.bpe.model", "tokenizer_config.json"}
	if got := slices.Sorted(maps.Keys(s.asked)); !slices.Equal(got, want) {
		t.Errorf("downloaded %v", got)
	}
	for _, name := range want {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(raw, s.files[name]) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	if s.leaked {
		t.Error("the token was sent to the host that stores files")
	}
	s.asked = map[string][]string{}
	if err := c.Get(t.Context(), r, dir, "", nil); err != nil || len(s.asked) > 0 {
		t.Errorf("complete files were downloaded again: %v, %v", s.asked, err)
	}
}

func TestBrokenTransfersAreResumed(t *testing.T) {
	s := serve(t, files(t))
	s.breakOff = "sentencepiece.bpe.model"
	dir := t.TempDir()
	if err := get(t, s.client(), dir); err != nil {
		t.Fatal(err)
	}
	if got := s.asked["sentencepiece.bpe.model"]; !slices.Equal(got, []string{"", "bytes=3000-"}) {
		t.Errorf("the ranges were %q", got)
	}
	// A part of an earlier call is continued, too.
	name := filepath.Join(dir, "sentencepiece.bpe.model")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+transfer.PartSuffix, s.files["sentencepiece.bpe.model"][:1200], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := get(t, s.client(), dir); err != nil {
		t.Fatal(err)
	}
	if got := s.asked["sentencepiece.bpe.model"]; got[len(got)-1] != "bytes=1200-" {
		t.Errorf("the ranges were %q", got)
	}
}

func TestBrokenListsAreAskedForAgain(t *testing.T) {
	s := serve(t, files(t))
	s.answers = append(s.answers, func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"sha": "01`))
	})
	if r, err := s.client().List(t.Context(), "org/repo", ""); err != nil || r.Commit != commit {
		t.Errorf("the repository is %+v: %v", r, err)
	}
}

// status answers once with a status and headers.
func status(code int, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

func TestTheHubsRefusals(t *testing.T) {
	for _, c := range []struct {
		name, says string
		token      string
		answer     func(http.ResponseWriter)
	}{
		{"gated", "org/repo gives its files only to people who accepted its terms: accept them on", "t", status(http.StatusForbidden, "X-Error-Code", "GatedRepo")},
		{"gated without a token", "put a token of your account into HF_TOKEN", "", status(http.StatusUnauthorized, "X-Error-Code", "GatedRepo")},
		{"not found", "org/repo does not exist or is not public", "", status(http.StatusUnauthorized, "X-Error-Code", "RepoNotFound")},
		{"the token", "not open to the token in HF_TOKEN", "t", status(http.StatusUnauthorized)},
		{"a revision", "org/repo has no revision main", "", status(http.StatusNotFound, "X-Error-Code", "RevisionNotFound")},
		{"no hub", "does not answer as the Hugging Face hub does", "", func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) }},
		{"another JSON", "does not answer as the Hugging Face hub does", "", func(w http.ResponseWriter) { _, _ = w.Write([]byte("{}")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, files(t))
			s.answers = append(s.answers, c.answer)
			client := s.client()
			client.Token = c.token
			encodetest.Refused(t, get(t, client, t.TempDir()), c.says)
		})
	}
}

func TestRateLimits(t *testing.T) {
	s := serve(t, files(t))
	s.answers = []func(http.ResponseWriter){status(http.StatusTooManyRequests), status(http.StatusServiceUnavailable)}
	if err := get(t, s.client(), t.TempDir()); err != nil {
		t.Errorf("after two refusals: %v", err)
	}
	s.answers = []func(http.ResponseWriter){status(http.StatusTooManyRequests, "Retry-After", "1")}
	begin := time.Now()
	if err := get(t, s.client(), t.TempDir()); err != nil || time.Since(begin) < time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
	s.answers = []func(http.ResponseWriter){status(http.StatusTooManyRequests, "Retry-After", "3600")}
	err := get(t, s.client(), t.TempDir())
	if err == nil || badinput.Is(err) || !strings.Contains(err.Error(), "asks to wait 1h0m0s: run the same command again then") {
		t.Errorf("a long pause gave %v", err)
	}
}

func TestWrongDigests(t *testing.T) {
	for _, name := range []string{"onnx/model.onnx.data", "config.json"} {
		s := serve(t, files(t))
		s.wrong = name
		dir := t.TempDir()
		encodetest.Refused(t, get(t, s.client(), dir), name+" of org/repo does not have the digest that the hub lists for it")
		for _, left := range []string{name, name + transfer.PartSuffix} {
			if _, err := os.Stat(filepath.Join(dir, left)); err == nil {
				t.Errorf("%s is left", left)
			}
		}
	}
}

func TestRepositoriesThatCannotBeImported(t *testing.T) {
	for _, c := range []struct {
		name, says string
		change     func(files map[string][]byte)
	}{
		{"a pickle alone", "org/repo has neither ONNX nor safetensors: export", func(map[string][]byte) {}},
		{"code", "would have to run code of its own, which this program never does", func(files map[string][]byte) {
			files["config.json"] = []byte(`{"auto_map": {"AutoModel": "modeling.New"}}`)
		}},
		{"graphs", "org/repo has several graphs (onnx/a.onnx, onnx/b.onnx): name one of them with --onnx", func(files map[string][]byte) {
			files["onnx/a.onnx"], files["onnx/b.onnx"] = []byte("a"), []byte("b")
		}},
		{"external data that is missing", "refers to weights in onnx/model.onnx.data, which the repository does not have", func(all map[string][]byte) {
			all["onnx/model.onnx"], _ = graph(t)
		}},
		{"a path outside", "which would be outside its directory", func(all map[string][]byte) {
			all["onnx/model.onnx"], all["../x.model"] = []byte("graph"), []byte("x")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := files(t)
			for _, name := range []string{"onnx/model.onnx", "onnx/model.onnx.data", "onnx/model_O4.onnx", "model.safetensors"} {
				delete(all, name)
			}
			c.change(all)
			s := serve(t, all)
			encodetest.Refused(t, get(t, s.client(), t.TempDir()), c.says)
			for _, name := range []string{"pytorch_model.bin", "modeling.py"} {
				if s.asked[name] != nil {
					t.Errorf("%s was downloaded", name)
				}
			}
		})
	}
	s := serve(t, nil)
	_, err := s.client().List(t.Context(), "repo", "")
	encodetest.Refused(t, err, `"repo" is not the name of a repository`)
}

// TestTablesAreNotTakenFromONNX: the settings say that safetensors are a static encoder's table.
func TestTablesAreNotTakenFromONNX(t *testing.T) {
	r := &Repository{Files: []File{{Path: "model.safetensors"}, {Path: "onnx/model.onnx"}}}
	for _, c := range []struct {
		file, text, want string
	}{
		{"modules.json", `[{"type": "sentence_transformers.models.StaticEmbedding"}]`, "model.safetensors"},
		{"config.json", `{"model_type": "model2vec"}`, "model.safetensors"},
		{"config.json", `{"model_type": "bert"}`, "onnx/model.onnx"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if files, err := r.weights("", isTable(dir)); err != nil || len(files) != 1 || files[0].Path != c.want {
			t.Errorf("%s: %v, %v", c.text, files, err)
		}
	}
}
