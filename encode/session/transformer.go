package session

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"bitextmine/encode/embedding"
	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
)

// Transformer is an encoder whose graph the program's own kernels compute, with the files of its weights.
type Transformer struct {
	*layers.Transformer
	*Session // its model has no pooling, which the kernels do
	First    bool

	data     []byte
	external *model.External
}

// OpenTransformer reads an encoder's graph. An error that is layers.ErrOther says that the kernels do not compute it.
// Close it when the weights are loaded.
func OpenTransformer(m *model.Model) (_ *Transformer, err error) {
	if !m.OnDisk() || m.Quantised > 0 || m.Judge != nil {
		return nil, fmt.Errorf("%w: it is in 8 bits, a judge or built in", layers.ErrOther)
	}
	if err := fits(m); err != nil {
		return nil, err
	}
	t := &Transformer{external: m.OpenExternal()}
	if t.data, err = embedding.Map(m.Path(m.ONNX)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	g, err := onnxgraph.Parse(t.data)
	if err != nil {
		return nil, badinput.Errorf("%s of encoder %s: %w", m.Path(m.ONNX), m.Name, err)
	}
	open := func(file string) (io.ReaderAt, error) { return t.external.Open(file) }
	if t.Transformer, err = layers.ReadTransformer(g, open, m.Inputs.IDs, m.Output); err != nil {
		return nil, err
	}
	switch {
	case m.Dim != t.Width || m.MaxTokens > t.Places.Shape[0]:
		return nil, fmt.Errorf("%w: the manifest has dim %d and max_tokens %d, the graph %d and %d", layers.ErrOther, m.Dim, m.MaxTokens,
			t.Width, t.Places.Shape[0])
	case t.Pooled && m.Pooling == model.None:
		t.First = t.Transformer.First
	case !t.Pooled && (m.Pooling == model.Mean || m.Pooling == model.CLS):
		t.First = m.Pooling == model.CLS
	default:
		return nil, fmt.Errorf("%w: its pooling is %s", layers.ErrOther, m.Pooling)
	}
	changed := *m
	changed.Pooling = model.None
	t.Session = &Session{Model: &changed, Output: m.Output, IDs: t.Words.Shape[0]}
	return t, nil
}

// Close closes the files.
func (t *Transformer) Close() error {
	err := t.external.Close()
	if t.data != nil {
		err = errors.Join(err, unix.Munmap(t.data))
	}
	return err
}
