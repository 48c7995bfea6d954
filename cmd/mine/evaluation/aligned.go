package evaluation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"bitextmine/bitext"
	"bitextmine/corpus"
)

// explainAlignment says what aligning documents made of a pair, in a run that aligned them. whole is true if there is
// nothing else to say: a side is a span of several sentences, which global mining does not know.
func explainAlignment(ctx context.Context, out io.Writer, path string, texts [2]string) (whole bool, err error) {
	file, err := bitext.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.Metadata()["document_pairs"] == "" {
		return false, nil
	}
	keys := [2][16]byte{corpus.KeyOf(corpus.Normalise(texts[0])), corpus.KeyOf(corpus.Normalise(texts[1]))}
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return false, err
		}
		if row.Source.Key != keys[0] || row.Target.Key != keys[1] || row.Alignment == nil {
			continue
		}
		if row.Aligned() == "" {
			_, err = fmt.Fprintf(out, "found by mining all sentences, and by no alignment of documents\n")
			return false, err
		}
		_, err = fmt.Fprintln(out, row.Aligned())
		return row.Spans(), err
	}
	_, err = fmt.Fprintln(out, "the pair is not in the bitext: if global mining keeps it below, aligning their "+
		"documents found others for its sentences")
	return false, err
}
