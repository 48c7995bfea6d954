// Package sentencepiece splits text into the pieces of a SentencePiece model, with the ids of spm_encode. Unigram
// models are computed in Go, several times faster than by the reference library, so the library cannot replace this
// code. The Go code has no BPE, word or character models and no special cases of the format, so those models need the
// library (libsentencepiece, Debian package libsentencepiece-dev).
package sentencepiece

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// Model is a loaded SentencePiece model. Its methods may be called from any number of goroutines until Close.
type Model struct{ *loaded }

// loaded is shared by all users of the same model.
type loaded struct {
	key   [sha256.Size]byte
	users int // guarded by opened

	once sync.Once
	own  *pieces // nil: the library computes everything
	// open opens the library, for what is not computed here.
	open    func() (*library, error)
	library *library // nil: not opened
	err     error
}

// opened are the models that are open.
var opened = struct {
	sync.Mutex
	models map[[sha256.Size]byte]*loaded
}{models: map[[sha256.Size]byte]*loaded{}}

// New parses a serialised model (the bytes of a .model file). If it is open already, both share what is loaded.
func New(model []byte) (*Model, error) {
	key := sha256.Sum256(model)
	opened.Lock()
	l := opened.models[key]
	if l == nil {
		l = &loaded{key: key}
		opened.models[key] = l
	}
	l.users++
	opened.Unlock()
	l.once.Do(func() { l.load(string(model)) })
	if l.err != nil {
		(&Model{l}).Close()
		return nil, l.err
	}
	return &Model{l}, nil
}

func (l *loaded) load(model string) {
	l.open = sync.OnceValues(func() (_ *library, err error) {
		l.library, err = openLibrary([]byte(model))
		return l.library, err
	})
	if l.own = parse(model); l.own == nil {
		_, l.err = l.open()
	}
}

// Close frees the model. No other call may be running or follow.
func (m *Model) Close() {
	l := m.loaded
	opened.Lock()
	defer opened.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	delete(opened.models, l.key)
	if l.library != nil {
		l.library.close()
	}
}

// Unknown is the id of the unknown piece.
func (m *Model) Unknown() int32 {
	if m.own != nil {
		return m.own.unigram.Unknown
	}
	return m.library.unknown
}

// Size is the number of pieces.
func (m *Model) Size() int {
	if m.own != nil {
		return len(m.own.spellings)
	}
	return int(m.library.size)
}

// ID is the id of a piece, if the model has it.
func (m *Model) ID(piece string) (int32, bool) {
	if m.own != nil {
		return m.own.id(piece)
	}
	return m.library.id(piece)
}

// Piece returns the spelling of an id, which must be less than Size.
func (m *Model) Piece(id int32) string {
	if m.own != nil {
		return m.own.spellings[id]
	}
	return m.library.piece(id)
}

// Encode calls yield with the ids of each text, in order, truncated to the first maxIDs. yield must not retain the
// slice. Texts are passed to the model unchanged. A text that is empty, or that the model's normaliser reduces to
// nothing, has no ids.
func (m *Model) Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	if maxIDs <= 0 {
		return fmt.Errorf("split into at most %d pieces: the number must be positive", maxIDs)
	}
	if m.own != nil {
		m.own.encode(texts, maxIDs, yield)
		return nil
	}
	return m.library.encode(texts, maxIDs, yield)
}

// Places splits a text and returns the ids of its pieces and where each ends in the text, in bytes. The library
// computes it.
func (m *Model) Places(text string) (ids []int32, ends []int, err error) {
	l, err := m.open()
	if err != nil {
		return nil, nil, err
	}
	return l.places(text)
}
