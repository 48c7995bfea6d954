package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// Source returns what reads the input's text.
func (in Input) Source() input.File {
	if in.Builtin {
		return input.File{FS: fixtures.Text, Path: in.Path}
	}
	return input.File{Path: in.Path}
}

// Options says how the input is read and cut.
func (in Input) Options(s Settings) corpus.Options {
	if in.Corpus != nil {
		return *in.Corpus
	}
	return s.Corpus
}

// Named are the files of the input, each by its path and digest.
func (in Input) Named() [][2]string {
	files := [][2]string{{in.Path, in.SHA256}}
	if v := in.Vectors; v != nil {
		files = append(files, [2]string{v.Path, v.SHA256})
	}
	return files
}

// DigestInput reads an input for its size and the SHA-256 of its bytes as they are.
func DigestInput(in input.File) (Input, error) {
	var f fs.File
	var err error
	if in.FS == nil {
		f, err = os.Open(in.Path)
	} else {
		f, err = in.FS.Open(in.Path)
	}
	if err != nil {
		return Input{}, badinput.Errorf("%s cannot be opened: %w", in.Path, err)
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return Input{}, fmt.Errorf("read %s: %w", in.Path, err)
	}
	return Input{Path: in.Path, Builtin: in.FS != nil, Bytes: size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}
