package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/fixtures"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/record"
)

// gold is known pairs of a run's text; nil: there are none.
type gold struct {
	name, sha256 string // name and digest of their file
	pairs        *testset.Gold
}

// readGold reads known pairs from a file or from the program's fixtures, and checks that the corpora have their
// sentences. Without the setting gold there are none.
func readGold(cfg *pipeline.Config) (*gold, error) {
	name := cfg.Gold
	if name == "" {
		return nil, nil
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	source, target, err := cfg.Inputs()
	if err != nil {
		return nil, err
	}
	ids, digest, err := goldIDs(name)
	if err != nil {
		return nil, err
	}
	pairs, err := testset.CheckGold(ids, name, source, target, cfg.CorpusOptions())
	return &gold{name, digest, pairs}, err
}

// goldIDs reads the known pairs that a setting names, and their digest. Without a name there are none.
func goldIDs(name string) (ids []testset.IDs, sha string, err error) {
	if name == "" {
		return nil, "", nil
	}
	var f io.ReadCloser
	in := input.File{Path: name}
	if builtin, ok := strings.CutPrefix(name, config.FixturesPrefix); ok {
		in = input.File{FS: fixtures.Text, Path: builtin}
		f, err = fixtures.Text.Open(builtin)
	} else {
		f, err = atomicfile.OpenRegular(name, os.O_RDONLY) // input.Open waits for a pipe
	}
	if err != nil {
		return nil, "", badinput.Errorf("gold file %s cannot be opened: %w", name, err)
	}
	digest := sha256.New()
	_, err = io.Copy(digest, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, "", err
	}
	text, err := input.OpenDecompressed(in)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, text.Close()) }()
	ids, err = testset.ReadGold(text, name)
	return ids, hex.EncodeToString(digest.Sum(nil)), err
}

// compare compares the kept pairs of a bitext with the known ones, by the ids of their sentences or of others with the
// same texts.
func (g *gold) compare(ctx context.Context, path string) (_ *record.GoldReport, err error) {
	if g == nil {
		return nil, nil
	}
	file, err := bitext.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	c := report.Counts{Gold: g.pairs.Len()}
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return nil, err
		}
		if !row.Keep {
			continue
		}
		c.Extracted++
		ids := testset.IDs{Source: row.Source.Doc, Target: row.Target.Doc}
		if g.pairs.Has(ids, corpus.Normalise(row.Source.Text), corpus.Normalise(row.Target.Text)) {
			c.Correct++
		}
	}
	return &record.GoldReport{
		Path: g.name, SHA256: g.sha256, Pairs: c.Gold, Kept: c.Extracted, Correct: c.Correct,
		Precision: c.Precision() / 100, Recall: c.Recall() / 100, F1: c.F1() / 100,
	}, nil
}
