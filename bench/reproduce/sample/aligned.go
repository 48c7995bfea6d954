package sample

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bitextmine/train/data"
)

// Aligned writes the pairs of each source, all of one pair of languages with English as src, as a line-aligned test set
// in dir, unless it exists. Its files are named as LASER's Tatoeba: NAME.xx-en.xx and NAME.xx-en.en.
func Aligned(ctx context.Context, sources []data.Source, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range sources {
		c, stats := data.DefaultConfig(), data.Stats{}
		c.Sources = []data.Source{s}
		path := func(language string) string {
			return filepath.Join(dir, fmt.Sprintf("%s.%s-%s.%s", filepath.Base(dir), s.Tgt, s.Src, language))
		}
		_, err := os.Stat(path(s.Tgt)) // it is written last
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		var english, other []string
		for pair, err := range data.Pairs(ctx, c, &stats) {
			if err != nil {
				return err
			}
			english, other = append(english, pair.Source+"\n"), append(other, pair.Target+"\n")
		}
		if err := writeLines(path(s.Src), english); err != nil {
			return err
		}
		if err := writeLines(path(s.Tgt), other); err != nil {
			return err
		}
	}
	return nil
}
