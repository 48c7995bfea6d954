package sample

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/atomicfile"
	"bitextmine/train/data"
)

// Hidden is the files of Hide.
type Hidden struct{ Known, True, English, Other string }

// Hide divides bitext of English and another language into known pairs, one in every so many, and hidden ones, whose
// sides are sorted by their hashes, so that lines say nothing: the English ones among those of other bitext.
// It writes files into dir, unless they are there and were made of the same: the known and the hidden pairs as
// English<TAB>other, and both sides.
func Hide(ctx context.Context, c data.Config, every int, among []data.Source, dir string) (h Hidden, err error) {
	h = Hidden{filepath.Join(dir, "known.tsv"), filepath.Join(dir, "true.tsv"), filepath.Join(dir, "text.en"), filepath.Join(dir, "text.other")}
	of, err := yaml.Marshal([]any{c.Sources, c.Exclude, every, among})
	if err != nil {
		return h, err
	}
	// Beside the files and not in dir's name, which is a part of what identifies the rows that were made of them.
	record := filepath.Join(dir, "made-of.yaml")
	if before, err := os.ReadFile(record); err == nil && bytes.Equal(before, of) {
		return h, nil
	}
	if err := os.Remove(record); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return h, err
	}
	lines := map[string][]string{}
	n := 0
	for pair, err := range data.Pairs(ctx, c, &data.Stats{}) {
		if err != nil {
			return h, err
		}
		into := h.True
		if n%every == 0 {
			into = h.Known
		} else {
			lines[h.English], lines[h.Other] = append(lines[h.English], pair.Source+"\n"), append(lines[h.Other], pair.Target+"\n")
		}
		lines[into] = append(lines[into], pair.Source+"\t"+pair.Target+"\n")
		n++
	}
	if c.Sources = among; len(among) > 0 {
		for pair, err := range data.Pairs(ctx, c, &data.Stats{}) {
			if err != nil {
				return h, err
			}
			lines[h.English] = append(lines[h.English], pair.Source+"\n")
		}
	}
	for _, path := range []string{h.Known, h.True, h.English, h.Other} {
		if path == h.English || path == h.Other {
			shuffle(lines[path])
		}
		if err := writeLines(path, lines[path]); err != nil {
			return h, err
		}
	}
	return h, atomicfile.WriteBytes(record, of)
}

// shuffle sorts lines by their hashes.
func shuffle(lines []string) {
	slices.SortFunc(lines, func(a, b string) int {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return bytes.Compare(x[:], y[:])
	})
}

func writeLines(path string, lines []string) error {
	return atomicfile.WriteBytes(path, []byte(strings.Join(lines, "")))
}
