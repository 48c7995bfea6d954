package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"bitextmine/bench/reproduce/sample"
	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/data"
)

// hidden is how a budget's bitext is divided into known pairs and text that the others are hidden in.
type hidden struct {
	Every int           `yaml:"every"` // one in so many pairs is known
	Among []data.Source `yaml:"among"` // bitext whose English sides the hidden ones are among
}

// mined holds the pairs that a system is trained on besides the known ones.
type mined struct {
	From string `yaml:"from"` // a system whose encoder of the same seed mines the text
	By   string `yaml:"by"`   // what decides on pairs: margin or scorer
	True bool   `yaml:"true"` // the hidden pairs themselves, in place of mining
}

func (m *mined) validate(known []string) error {
	switch {
	case m == nil || m.True && m.From == "" && m.By == "":
	case m.By != "margin" && m.By != "scorer" || !slices.Contains(known, m.From):
		return badinput.Errorf("mined needs by: margin or scorer, and from: a system before it, or true alone")
	}
	return nil
}

// bitext gives a preset of a budget that hides pairs the known ones, and those that its system mines with the program
// m.mine. A row's pairs count both together; how many of the mined ones are hidden pairs is in no row.
func (m *maker) bitext(ctx context.Context, c *train.Config, s system, part []string, seed uint64) (err error) {
	b := m.budget
	if b.Hidden.Every == 0 {
		return nil
	}
	hidden := filepath.Join(m.out, "hidden", b.name)
	release, err := await(ctx, hidden)
	if err != nil {
		return err
	}
	files, err := sample.Hide(ctx, c.Bitext, b.Hidden.Every, b.Hidden.Among, hidden)
	if err := errors.Join(err, release()); err != nil {
		return err
	}
	source := func(path string) data.Source {
		s := data.DefaultSource()
		s.Files, s.Src, s.Tgt = []string{path}, "en", part[0]
		return s
	}
	c.Bitext.Sources = []data.Source{source(files.Known)}
	if s.Mined == nil {
		return nil
	}
	if s.Mined.True {
		c.Bitext.Sources = append(c.Bitext.Sources, source(files.True))
		return nil
	}
	if err := m.make(ctx, part, s.Mined.From, seed); err != nil {
		return err
	}
	from := m.path(part, s.Mined.From, seed)
	out := filepath.Join(from, "mined-"+s.Mined.By)
	c.Bitext.Sources = append(c.Bitext.Sources, source(filepath.Join(out, "en-"+part[0]+".parquet")))
	if release, err = take(out); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if _, err := os.Stat(c.Bitext.Sources[1].Files[0]); err == nil {
		return nil
	}
	args := miningArgs(part[0], files, s.Mined.By, from, out)
	if text, err := exec.CommandContext(ctx, m.mine, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", m.mine, args, err, text)
	}
	return nil
}

// miningArgs are the arguments with which mine mines hidden text by the encoder in a row's folder into out.
func miningArgs(language string, files sample.Hidden, by, row, out string) []string {
	args := []string{"run", "--src", "en", "--tgt", language, "--src-text", files.English, "--tgt-text", files.Other,
		"--encoder", filepath.Join(row, "model"), "--out", out, "--work", filepath.Join(row, "work-"+by)}
	if by == "margin" {
		args = append(args, "--scorer", "none", "--threshold", "1.1")
	}
	return args
}
