package multiway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
)

// mixed names text in several languages among --text LANGUAGE=FILES.
const mixed = "mixed"

// sortVersion changes with what sorting writes.
const sortVersion = 3

// Unmix sorts the text that --text mixed=FILES names into OUT/sorted, and puts the files of each language in its place,
// as it does with --text LANGUAGE=FILES where a run has one pair. A file that was sorted before, and has the same size and time, is not sorted again. What of the files was damaged and
// left out becomes warnings of the run.
func Unmix(ctx context.Context, cfg *config.Config) error {
	var patterns []string
	for _, text := range cfg.LanguageText {
		if files, ok := strings.CutPrefix(text, mixed+"="); ok {
			patterns = append(patterns, files)
		}
	}
	how := Sorting{Model: cfg.LangModel, Column: cfg.LangColumn, MinScore: 0.5, In: cfg.CorpusOptions()[0], SkipBad: cfg.OnBadFile == config.SkipBadFile}
	switch {
	case len(patterns) == 0 && (how.Model != "" || how.Column != ""):
		return badinput.Errorf("lang_model and lang_column sort mixed text: name it with --text mixed=FILES")
	case len(patterns) == 0:
		return nameSides(cfg)
	case len(patterns) < len(cfg.LanguageText), len(cfg.SourceText)+len(cfg.TargetText) > 0:
		return badinput.Errorf("text: %s=FILES is the text of all languages; leave the others out, or sort it by mine sort", mixed)
	case how.Model != "" && how.Column != "":
		return badinput.Errorf("lang_model identifies the language, which lang_column gives: leave one of them out")
	case strings.Contains(cfg.DocMeta, "="):
		return badinput.Errorf("doc_meta = %s: mixed text has no sides; give a column one name in all languages", cfg.DocMeta)
	}
	how.In.MetaColumns, how.In.Split, how.In.MaxLineBytes = cfg.DocMeta, "", corpus.MaxRecordBytes
	how.Languages = []string{cfg.Source, cfg.Target}
	if Asked(cfg) {
		pairs, err := Pairs(cfg)
		if err != nil {
			return err
		}
		how.Languages = languages(pairs)
	}
	for i, code := range how.Languages {
		var err error
		if how.Languages[i], err = corpus.ParseLanguage(code); err != nil {
			return err
		}
	}
	files, err := input.Expand(nil, patterns)
	if err != nil {
		return err
	}
	texts := map[string][]string{}
	for _, file := range files {
		dir, warnings, err := sortOnce(ctx, file, filepath.Join(cfg.Out, "sorted"), how)
		if err != nil {
			return err
		}
		cfg.SortWarnings = append(cfg.SortWarnings, warnings...)
		for _, code := range how.Languages {
			texts[code] = append(texts[code], filepath.Join(dir, code+".jsonl"))
		}
	}
	cfg.LanguageText, cfg.LangModel, cfg.LangColumn = nil, "", ""
	cfg.Format, cfg.Charset, cfg.TextColumn, cfg.DocColumn, cfg.URLColumn = string(corpus.FormatAuto), "", "text", "doc", "url"
	if cfg.Corpora = texts; !Asked(cfg) {
		cfg.SourceText, cfg.TargetText = texts[how.Languages[0]], texts[how.Languages[1]]
	}
	return nil
}

// nameSides makes what --text names the text of the sides of a run over one pair.
func nameSides(cfg *config.Config) error {
	if Asked(cfg) || len(cfg.LanguageText) == 0 {
		return nil
	}
	sides := map[string]*[]string{}
	for _, side := range []struct {
		language string
		text     *[]string
	}{{cfg.Source, &cfg.SourceText}, {cfg.Target, &cfg.TargetText}} {
		if code, err := corpus.ParseLanguage(side.language); err == nil { // else Validate refuses it
			sides[code] = side.text
		}
	}
	all, err := named(cfg, slices.Collect(maps.Keys(sides)))
	if err != nil {
		return err
	}
	for code, files := range all {
		if len(*sides[code]) > 0 {
			return badinput.Errorf("text: %s=%s and the side's own setting both name text in %s; leave one of them out", code, files[0], code)
		}
		*sides[code] = files
	}
	cfg.LanguageText = nil
	return nil
}

// sortedFrom is what the text of a directory was sorted from, in sorted.json.
type sortedFrom struct {
	From     json.RawMessage `json:"from"` // the file and how it was sorted
	Warnings []string        `json:"warnings,omitempty"`
}

// sortOnce sorts a file into a directory of its own, unless that was done, and returns the warnings of then.
func sortOnce(ctx context.Context, file input.File, dir string, how Sorting) (string, []string, error) {
	name := sha256.Sum256([]byte(file.Path))
	dir = filepath.Join(dir, filepath.Base(file.Path)+"-"+hex.EncodeToString(name[:4]))
	from, err := sorting(file, how)
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "sorted.json")
	var before sortedFrom
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &before) == nil && bytes.Equal(before.From, from) {
		return dir, before.Warnings, nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", nil, fmt.Errorf("sort %s again: %w", file.Path, err)
	}
	sorted, err := Sort(ctx, []input.File{file}, dir, how)
	if err != nil {
		return "", nil, err
	}
	now, err := json.Marshal(sortedFrom{from, sorted.Warnings})
	if err == nil {
		err = atomicfile.WriteBytes(path, now)
	}
	return dir, sorted.Warnings, err
}

// sorting says what is sorted, and how; it changes with the file.
func sorting(file input.File, how Sorting) ([]byte, error) {
	info, err := os.Stat(file.Path)
	if err != nil {
		return nil, badinput.Errorf("%s cannot be read: %w", file.Path, err)
	}
	said := []any{sortVersion, info.Size(), info.ModTime().UnixNano(), how}
	if how.Model != "" {
		model, err := os.Stat(how.Model)
		if err != nil {
			return nil, badinput.Errorf("lang_model %s cannot be read: %w", how.Model, err)
		}
		said = append(said, model.Size(), model.ModTime().UnixNano())
	}
	return json.Marshal(said)
}
