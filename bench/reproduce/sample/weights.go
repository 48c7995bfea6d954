package sample

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bitextmine/distil"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/encoder"
	"bitextmine/train/weights"
)

// wordTable is the table of words of published weights.
const wordTable = "embeddings.word_embeddings.weight"

// Weights gives a preset the weights of its encoder.start and the pieces of its tokenizer.file without those pieces
// that the texts lack. It writes them into dir, unless they exist. The texts are cut as before, so their vectors are
// the same, and a loss over words costs a small part.
func Weights(c *train.Config, texts func() ([]string, error), dir string) error {
	from, pieces := c.Encoder.Start, c.Tokenizer
	c.Encoder.Start, c.Tokenizer.File = dir, filepath.Join(dir, filepath.Base(pieces.File))
	if _, err := os.Stat(c.Tokenizer.File); !errors.Is(err, fs.ErrNotExist) { // it is written last
		return err
	}
	fmt.Fprintln(os.Stderr, "leave unused pieces out of", from)
	folder := filepath.Dir(pieces.File)
	pieces.File = filepath.Base(pieces.File)
	v, err := tokenizer.OpenIn(folder, pieces)
	if err != nil {
		return err
	}
	defer v.Close()
	all, err := texts()
	if err != nil {
		return err
	}
	keep := make([]bool, v.Rows())
	for id, piece := range v.Pieces() {
		keep[id] = piece == "<s>" || piece == "</s>" || piece == "<pad>" || piece == "<unk>" || piece == "<mask>"
	}
	for _, prefix := range c.Prefixes {
		for i := range all { // the piece at the seam is of both
			all[i] = prefix.Text + all[i]
		}
	}
	const whole = 1 << 16
	err = v.Encode(all, whole, func(_ int, ids []int32) {
		for _, id := range ids {
			keep[v.Number(id)] = true
		}
	})
	if err != nil {
		return err
	}
	return writeWeights(from, filepath.Join(folder, pieces.File), keep, c.Encoder.Start, c.Tokenizer.File)
}

// writeWeights copies the weights in from and the SentencePiece model in pieces, of both what is kept, by id.
func writeWeights(from, pieces string, keep []bool, dir, file string) error {
	model, err := os.ReadFile(pieces)
	if err != nil {
		return err
	}
	parsed, err := distil.ParsePieces(model)
	if err != nil {
		return badinput.Errorf("%s: %w", pieces, err)
	}
	shape, err := encoder.ReadShape(from)
	if err != nil {
		return err
	}
	tensors, err := weights.ReadModel(from, nil)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		if t.Name != wordTable {
			continue
		}
		var rows []float32
		for id, kept := range keep {
			if kept {
				rows = append(rows, t.Row(id)...)
			}
		}
		shape.Vocabulary = len(rows) / shape.Width
		t.Shape, t.Data = []int{shape.Vocabulary, shape.Width}, rows
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := encoder.WritePublished(dir, shape, tensors); err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, parsed.Model(keep))
}
