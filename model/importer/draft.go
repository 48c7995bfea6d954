package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
	"bitextmine/train/export"

	"bitextmine/train/weights"
)

// Options are the settings of an import. Known overrides the files, and the other fields override both.
type Options struct {
	Name    string          // the encoder's; empty: that of the known encoder, or of the folder
	Out     string          // directory of the encoder; empty: a folder itself, or Name for a wheel
	Pooling string          // mean, cls, max, last, weighted or pooler; empty: as in the files
	Dim     int             // numbers kept of a vector, the first (Matryoshka); 0: all
	Prefix  string          // text before every sentence
	Prompts []string        // the model's prompts by NAME or LANGUAGE=NAME; empty: as in the files
	ONNX    string          // the graph among several, relative to the folder
	Weights bool            // the encoder's directory must have weights that training can start from
	Library string          // ONNX Runtime's (encode.Options)
	Known   *model.Manifest // manifest of the same encoder in configs/models; nil: looked up by name
}

// RefuseFixed refuses settings without effect on a model whose format leaves no choice of them, which what describes.
// --prompt none is taken: a known encoder has a prefix.
func (o Options) RefuseFixed(what string) error {
	none := len(o.Prompts) == 0 || slices.Equal(o.Prompts, []string{noPrompt})
	for _, flag := range []struct {
		name  string
		given bool
	}{{"pooling", o.Pooling != ""}, {"dim", o.Dim != 0}, {"prompt", !none}, {"onnx", o.ONNX != ""}} {
		if flag.given {
			return badinput.Errorf("--%s has no effect on %s: leave it out", flag.name, what)
		}
	}
	return nil
}

// Finding is one conclusion.
type Finding struct {
	Field, Value string
	From         string // its file
}

// Draft is an encoder that is being made.
type Draft struct {
	Options
	Dir      string // absolute
	Manifest model.Manifest
	Findings []Finding

	Words     int    // number of the model's word vectors; 0: unknown
	WordsFrom string // the file that names the number

	NoPrefix string // why there must be no prefix; empty: there may be one

	made     bool // Open made the directory
	replaced bool // an encoder that was there has no manifest any more
}

// Found reports a conclusion and the file that it is from.
func (b *Draft) Found(field, from, format string, args ...any) {
	b.Findings = append(b.Findings, Finding{field, fmt.Sprintf(format, args...), from})
}

// Open makes the directory of the encoder.
func (b *Draft) Open(fallback string) error {
	if b.Out == "" {
		b.Out = fallback
	}
	var err error
	if b.Dir, err = filepath.Abs(b.Out); err != nil {
		return err
	}
	_, err = os.Stat(b.Dir)
	b.made = b.made || errors.Is(err, fs.ErrNotExist) // a wheel's folder is opened again where it is unpacked
	return os.MkdirAll(b.Dir, 0o777)
}

// Discarded is the error of an import, after the directory that was made for it is removed.
func (b *Draft) Discarded(err error) error {
	switch {
	case err == nil:
		return nil
	case b.made:
		return errors.Join(err, os.RemoveAll(b.Dir))
	case b.replaced:
		return fmt.Errorf("%w; files of the encoder that was in %s are replaced, so it has no %s now: import it again", err, b.Dir, model.FileName)
	}
	return err
}

// WriteFile writes a file of the encoder, by its name in the directory.
func (b *Draft) WriteFile(name string, data []byte) error {
	if err := b.replace(); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(b.Dir, filepath.FromSlash(name)), data)
}

// replace removes the manifest of an encoder that was there, before a file is written: it would name files of both.
func (b *Draft) replace() error {
	err := os.Remove(filepath.Join(b.Dir, model.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	b.replaced = b.replaced || err == nil
	return err
}

// LookUp sets Known, unless the caller did: by the given name, by the origin that config.json names, or by the folder's
// or file's name, which is the encoder's, or the repository's without its owner.
func (b *Draft) LookUp(origin, folder string) {
	all, err := Known()
	if err != nil || b.Known != nil {
		return // a test loads them all
	}
	for _, m := range all {
		repository := path.Base(m.Source.Hub)
		switch {
		case strings.EqualFold(m.Name, b.Name), strings.EqualFold(m.Name, folder), m.Source.Hub != "" &&
			(strings.EqualFold(origin, m.Source.Hub) || strings.EqualFold(folder, repository)):
			b.Known = &m
			return
		}
	}
}

// ApplyKnown takes from the known encoder the fields that files lack: prefixes, languages, licence, and a smaller
// max_tokens.
func (b *Draft) ApplyKnown() {
	k := b.Known
	if k == nil {
		return
	}
	from := KnownFile(k)
	b.Manifest.Source = k.Source
	if len(k.Prefixes) > 0 && len(b.Manifest.Prefixes) == 0 && b.Options.Prompts == nil {
		b.Manifest.Prefixes = k.Prefixes
		b.Found("prefixes", from, "%d", len(k.Prefixes))
	}
	if k.MaxTokens > 0 && k.MaxTokens < b.Manifest.MaxTokens {
		b.Manifest.MaxTokens = k.MaxTokens
		b.Found("max_tokens", from, "%d", k.MaxTokens)
	}
	if len(k.Languages) > 0 {
		b.Manifest.Languages = k.Languages
		b.Found("languages", from, "%d", len(k.Languages))
	}
	if b.Manifest.Licence == "" && k.Licence != "" {
		b.Manifest.Licence = k.Licence
		b.Found("licence", from, "%s", k.Licence)
	}
}

// GraphFile is the graph that an import writes beside the files that were published.
const GraphFile = "mine.onnx"

// ExportTransformer writes the graph of a transformer.
func (b *Draft) ExportTransformer(s encoder.Settings, tensors []*weights.Tensor) error {
	t, err := encoder.NewTransformer(s, nil, tensors) // no device: it is only written
	if err != nil {
		return err
	}
	b.Words = s.Vocabulary
	b.Manifest.MaxTokens = min(b.Manifest.MaxTokens, s.MaxTokens)
	b.Manifest.Inputs = model.Inputs{IDs: export.IDs, Mask: export.Mask}
	b.Manifest.Output, b.Manifest.Pooling, b.Manifest.Dim = export.Vectors, model.None, t.Dim()
	b.Manifest.Tokens = model.TokenOutput{Output: export.Tokens}
	if b.Manifest.Dim != s.Width {
		b.Manifest.Tokens.Dim = s.Width
	}
	b.exported(s.Layers, s.Width, int64(weights.Count(tensors)))
	return b.Write(t.Graph(b.Name))
}

// exported reports a graph that was built of weights.
func (b *Draft) exported(layers, width int, numbers int64) {
	b.Found("graph", "its weights", "exported: %d layers of width %d, %d million numbers, %s", layers, width,
		numbers/1e6, GraphFile)
}

// Write publishes a graph as GraphFile, with a second file for weights that one file cannot hold.
func (b *Draft) Write(g *export.Graph) (err error) {
	if err := b.replace(); err != nil {
		return err
	}
	b.Manifest.ONNX = GraphFile
	b.Manifest.External, err = g.Write(b.Dir, GraphFile)
	return err
}
