// Package model has what describes an encoder: the manifest (model.yaml, docs/encoders.md) with an ONNX graph, a
// tokenizer and how the two fit together, and where their files are. Load reads a manifest, verifies the files and
// computes one digest of everything that changes the vectors.
package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"bitextmine/fixtures"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// digestVersion changes when package encode changes its own part in a vector: lower-casing, truncation, pooling or
// normalisation.
const digestVersion = 1

// wordPieceVersion is digestVersion of encoders with a WordPiece tokenizer: since 2 they cut text as Hugging Face's
// library does also where Unicode changed, and a final capital sigma is lower-cased as others are.
const wordPieceVersion = 2

// huggingFaceVersion is digestVersion of encoders with a tokenizer.json: since 2 added tokens are found in a text.
const huggingFaceVersion = 2

// graphName is the file name of a built-in encoder's graph.
const graphName = "model.onnx"

// Model is a manifest whose files exist and match it. It holds no file open.
type Model struct {
	Manifest
	// Digest identifies everything that changes the vectors: the contents of the files and the fields of the manifest,
	// except its name, licence, languages and file names.
	Digest string

	files     fs.FS
	directory string // folder on disk; empty for a built-in encoder
	graph     []byte // graph of a built-in encoder
}

// LoadAny reads the manifest of an encoder or a judge and verifies its files. ref is the name of a built-in encoder
// (fixtures.Encoder), the path of a manifest, or the directory of a model.yaml: a directory with the name of a built-in
// encoder is ./NAME.
func LoadAny(ref string) (*Model, error) {
	if builtin, err := fs.Sub(fixtures.Models, path.Join("models", ref)); err == nil && filepath.Base(ref) == ref {
		if _, err := fs.Stat(builtin, FileName); err == nil {
			m, err := LoadFS(builtin, FileName)
			if err == nil && m.ONNX == graphName {
				m.graph = fixtures.Graph(ref)
			}
			return m, err
		}
	}
	file := ref
	info, err := os.Stat(ref)
	if err != nil {
		return nil, badinput.Errorf("%w", &Missing{Ref: ref, cause: err})
	}
	if info.IsDir() {
		file = filepath.Join(ref, FileName)
		if !exists(file) && (exists(filepath.Join(ref, "config.json")) || exists(filepath.Join(ref, "refs", "main"))) {
			return nil, badinput.Errorf("%[1]s has no %[2]s, but a model as others publish it: `mine model import %[1]s` makes an encoder of it",
				ref, FileName)
		}
		if trained := filepath.Join(ref, "model"); !exists(file) && exists(filepath.Join(trained, FileName)) {
			return nil, badinput.Errorf("%s has no %s, but %s has, as the directory of a training: name that one", ref, FileName, trained)
		}
		if !exists(file) {
			return nil, badinput.Errorf("the directory %s has no %s: name that of an encoder or a judge, or an encoder that `mine model list` lists", ref, FileName)
		}
	}
	return load(os.DirFS(filepath.Dir(file)), filepath.Base(file), filepath.Dir(file))
}

// RefuseReplacing refuses a directory that is to be replaced and has files of encoders that are read, whose refs are as
// of LoadAny.
func RefuseReplacing(dir string, refs ...string) error {
	there, err := os.Stat(dir)
	if err != nil {
		return nil // nothing is replaced
	}
	for _, ref := range refs {
		if ref != "" && within(ref, there) {
			return badinput.Errorf("%s would be replaced, and has the encoder %s, which is read: name another output directory", dir, ref)
		}
	}
	return nil
}

// within reports whether a path is that of a directory, or of something in it.
func within(path string, dir os.FileInfo) bool {
	at, err := filepath.Abs(path)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	for err == nil {
		if of, statErr := os.Stat(at); statErr == nil && os.SameFile(dir, of) {
			return true
		}
		if at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// LoadFS loads a manifest from a file system, such as one embedded in the program.
func LoadFS(files fs.FS, manifest string) (*Model, error) {
	return load(files, manifest, "")
}

// OnlyTokenizer is a model without a graph: it has the name of a directory and a tokenizer whose files are in it.
func OnlyTokenizer(dir string, t Tokenizer) (*Model, error) {
	if wrong := t.wrong(); len(wrong) > 0 {
		return nil, badinput.Errorf("the tokenizer in %s: %s", dir, wrong[0])
	}
	return &Model{Manifest: Manifest{Name: filepath.Base(dir), Tokenizer: t}, files: os.DirFS(dir), directory: dir}, nil
}

// Where names the place of the model's settings, for messages.
func (m *Model) Where() string {
	if m.ONNX == "" { // OnlyTokenizer's, whose settings a preset has
		return "the training preset"
	}
	return m.Path(FileName) + " of encoder " + m.Name
}

// OnlyGraph is a model without a manifest: the graph in a file.
func OnlyGraph(path string) *Model {
	dir, file := filepath.Split(path)
	dir = filepath.Clean(dir)
	return &Model{Manifest: Manifest{Name: file, ONNX: file}, files: os.DirFS(dir), directory: dir}
}

func load(files fs.FS, manifest, directory string) (*Model, error) {
	shown := filepath.Join(directory, manifest)
	f, err := files.Open(manifest)
	if err != nil {
		return nil, badinput.Errorf("open encoder manifest %s: %w", shown, err)
	}
	defer func() { _ = f.Close() }() // it is only read
	m, err := Decode(f, shown)
	if err != nil {
		return nil, err
	}
	model := &Model{Manifest: m, files: files, directory: directory}
	if model.Digest, err = model.digest(); err != nil {
		return nil, err
	}
	return model, nil
}

// digest hashes every field and file that changes the vectors, and compares the files with the checksums in the
// manifest.
func (m *Model) digest() (string, error) {
	version := digestVersion
	switch m.Tokenizer.Kind {
	case "wordpiece":
		version = wordPieceVersion
	case "huggingface":
		version = huggingFaceVersion
	}
	if m.lowersPrefix() {
		version++
	}
	fields := struct {
		Version   int
		Files     []string
		Tokenizer Tokenizer
		MaxTokens int
		Inputs    Inputs
		Output    string
		Pooling   Pooling
		Normalise bool
		Prefixes  map[string]Prefix
		Dim       int
		Centre    string   `json:",omitempty"` // so that encoders without one keep their digests
		Centred   []string `json:",omitempty"`
		Quantised int      `json:",omitempty"`
		Judge     *Judge   `json:",omitempty"`
	}{version, nil, m.Tokenizer, m.MaxTokens, m.Inputs, m.Output, m.Pooling, m.Normalise, m.Prefixes, m.Dim, "",
		m.Centre.Languages, m.Quantised, m.Judge}
	declared := map[string]string{m.ONNX: m.SHA256, m.Tokenizer.File: m.Tokenizer.SHA256}
	files := append([]string{m.ONNX, m.Tokenizer.File}, m.External...)
	if m.Tokenizer.Dictionary != "" {
		files = append(files, m.Tokenizer.Dictionary)
	}
	for _, file := range files {
		sum, err := m.verified(file, declared[file])
		if err != nil {
			return "", err
		}
		fields.Files = append(fields.Files, sum)
	}
	if m.Centre.File != "" {
		var err error
		if fields.Centre, err = m.verified(m.Centre.File, m.Centre.SHA256); err != nil {
			return "", err
		}
	}
	canonical, err := json.Marshal(fields) // fields in order, map keys sorted
	if err != nil {
		return "", fmt.Errorf("digest of encoder %s: %w", m.Name, err)
	}
	return atomicfile.DigestOf(canonical), nil
}

// verified returns the SHA-256 of a file, which must be the declared one if there is one.
func (m *Model) verified(file, declared string) (string, error) {
	sum, err := m.sum(file)
	if err == nil && declared != "" && declared != sum {
		err = badinput.Errorf(
			"%s has sha256 %s but the manifest of encoder %s says %s: fetch the file again or correct the manifest",
			m.Path(file), sum, m.Name, declared)
	}
	return sum, err
}

// sum returns the SHA-256 of a file's contents in hexadecimal.
func (m *Model) sum(file string) (string, error) {
	f, err := m.files.Open(file)
	if err != nil {
		return "", badinput.Errorf(
			"open %s of encoder %s: %w; put it there as the comment at the top of %s says, or name another encoder",
			m.Path(file), m.Name, err, m.Path(FileName))
	}
	defer func() { _ = f.Close() }() // it is only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", m.Path(file), err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Size is the number of bytes of some of the model's files, by their names in the manifest.
func (m *Model) Size(names ...string) (bytes int64, err error) {
	if m.graph != nil {
		return int64(len(m.graph)), nil
	}
	for _, name := range names {
		info, err := fs.Stat(m.files, name)
		if err != nil {
			return 0, badinput.Errorf("read %s of encoder %s: %w", m.Path(name), m.Name, err)
		}
		bytes += info.Size()
	}
	return bytes, nil
}

// Path is where a file of the model is, for messages; for a model on disk it opens the file.
func (m *Model) Path(file string) string { return filepath.Join(m.directory, file) }

// ReadFile reads one of the model's files, by its name in the manifest.
func (m *Model) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(m.files, name)
	if err != nil {
		return nil, badinput.Errorf("read %s of encoder %s: %w", m.Path(name), m.Name, err)
	}
	return data, nil
}

// Graph is the content of the model's ONNX file, which must not be written to: that of a built-in encoder is the
// program's own, not a copy.
func (m *Model) Graph() ([]byte, error) {
	if m.graph != nil {
		return m.graph, nil
	}
	return m.ReadFile(m.ONNX)
}

// OnDisk reports whether the model's files are in a directory on disk, not in the program.
func (m *Model) OnDisk() bool { return m.directory != "" }

// Missing is the error of a name that no encoder in the program has and no file on disk.
type Missing struct {
	Ref   string
	judge bool
	cause error
}

// elsewhere are encoders that were in the program, and the one that is in a package of its own, and what to do.
var elsewhere = map[string]string{
	fixtures.Encoder: "install the package mine-encoder, which has it, or name another encoder with --encoder",
	"bag-ngram":      "it was in the program once: name use-static, which stands for it, too, or make it by scripts/bag-encoder and name its folder",
}

// Elsewhere reports whether the program knows where the encoder is, or that it is none; the error says what to do.
func (m *Missing) Elsewhere() bool { return m.judge || elsewhere[m.Ref] != "" }

func (m *Missing) Error() string {
	switch {
	case m.judge:
		return fmt.Sprintf("no judge %q (%v): name the directory of one, which `mine model import` makes of a published one, "+
			"and `mine train` with configs/train/judge.yaml", m.Ref, m.cause)
	case m.Elsewhere():
		return fmt.Sprintf("no encoder %q: %s", m.Ref, elsewhere[m.Ref])
	}
	return fmt.Sprintf("no encoder %q: it is neither built in (%s) nor a %s or its directory: %v",
		m.Ref, strings.Join(BuiltIn(), ", "), FileName, m.cause)
}

func (m *Missing) Unwrap() error { return m.cause }

// BuiltIn returns the names of the encoders that come with the program.
func BuiltIn() []string {
	entries, _ := fs.ReadDir(fixtures.Models, "models") // none if they are not installed
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Judge makes a model a judge: a cross-encoder, whose graph gets both sentences of a pair in one sequence and gives one
// logit, or two, that they are translations of each other. It encodes no sentence.
type Judge struct {
	// Between are the special tokens between the sentences, as the graph's ids; BOS and EOS stand around the pair.
	Between []int32 `yaml:"between"`
	// Segments says that the token type of the second sentence is 1.
	Segments bool `yaml:"segments,omitempty"`
	// Translation is the index of the logit for "translation"; the other logit is subtracted from it.
	Translation int   `yaml:"translation,omitempty"`
	Merge       Merge `yaml:"merge"`
}

// Merge is how a judge's logit and a scorer's log odds become the log odds of a pair that is in doubt: their weighted
// sum and an intercept. What trains a judge fits the weights on pairs that neither has seen.
type Merge struct {
	Scorer    float64 `yaml:"scorer"`
	Judge     float64 `yaml:"judge"`
	Intercept float64 `yaml:"intercept,omitempty"`
}

// EvenMerge is the merge of a judge without measurements: the mean of both log odds.
var EvenMerge = Merge{Scorer: 0.5, Judge: 0.5}

// Odds returns the merged log odds.
func (m Merge) Odds(scorer, judge float64) float64 {
	return m.Intercept + m.Scorer*scorer + m.Judge*judge
}

// checkJudge reports the problems of a judge's manifest.
func (m *Manifest) checkJudge(check func(ok bool, format string, args ...any)) {
	j := m.Judge
	if j == nil {
		return
	}
	check(m.Dim == 1 || m.Dim == 2, "dim is %d, but a judge gives one logit or two for a pair", m.Dim)
	check(m.Pooling == None && !m.Normalise && m.Centre.File == "" && len(m.Prefixes) == 0 && m.Tokens.Output == "",
		"a judge has pooling: none and normalise: false, and neither centre, prefixes nor tokens")
	check(j.Translation >= 0 && j.Translation < max(m.Dim, 1), "judge.translation is %d, but there are %d logits",
		j.Translation, m.Dim)
	check(!negative(j.Between), "judge.between has a negative token")
	check(len(j.Between)+m.specials(Prefix{})+2 <= m.MaxTokens, "max_tokens is %d, which leaves no room for a pair", m.MaxTokens)
	check(!j.Segments || m.Inputs.TokenTypes != "" && len(j.Between) > 0,
		"judge.segments needs inputs.token_types and judge.between")
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	check(finite(j.Merge.Scorer) && finite(j.Merge.Judge) && finite(j.Merge.Intercept),
		"judge.merge has the weights %g of the scorer and %g of the judge and the intercept %g, which must be finite numbers",
		j.Merge.Scorer, j.Merge.Judge, j.Merge.Intercept)
	check(j.Merge.Judge > 0 && j.Merge.Scorer >= 0,
		"judge.merge has the weights %g of the scorer and %g of the judge, which must not be negative", j.Merge.Scorer,
		j.Merge.Judge)
}

// LoadJudge is Load for a judge.
func LoadJudge(ref string) (*Model, error) {
	m, err := LoadAny(ref)
	if missing := (*Missing)(nil); errors.As(err, &missing) {
		missing.judge = true
		return nil, badinput.Mark(missing)
	}
	if err == nil && m.Judge == nil {
		return nil, badinput.Errorf("%s is an encoder, not a judge: import a sequence-classification model of pairs with "+
			"mine model import, or make a judge with mine train and configs/train/judge.yaml", m.Name)
	}
	return m, err
}

// Load is LoadAny for an encoder.
func Load(ref string) (*Model, error) {
	m, err := LoadAny(ref)
	if err == nil && m.Judge != nil {
		return nil, badinput.Errorf("%s is a judge, which encodes no sentences: name it with --judge, and an encoder here",
			m.Name)
	}
	return m, err
}

// Logit returns the log odds of a pair from the graph's output values.
func (j *Judge) Logit(values []float32) float32 {
	if len(values) == 1 {
		return values[0]
	}
	return values[j.Translation] - values[1-j.Translation]
}
