package multiway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/setting"
)

// mixed names text in several languages among --text LANGUAGE=FILES.
const mixed = "mixed"

// sortVersion changes with what sorting writes.
const sortVersion = 9

// sortedName is the directory of sorted text in the output directory. It has one for each group of files.
const sortedName = "sorted"

// Small files are sorted together, so that thousands of pages are as quick as one file, and lines that stand on many of
// them are found. A group of them ends at a file whose path says so, one of groupFiles on average: so a file that is
// new or changed leaves the other groups as they are.
const (
	smallFile  = 1 << 20 // bytes
	groupFiles = 256
)

// Unmix sorts the text that --text mixed=FILES names into OUT/sorted, and puts the files of each language in its place,
// as it does with --text LANGUAGE=FILES where a run has one pair. Files that were sorted before, and have the same size
// and time, are not sorted again. What of them was damaged and left out, or is in none of the languages, becomes
// warnings of the run.
func Unmix(ctx context.Context, cfg *config.Config) error {
	patterns, err := mixedText(cfg)
	if err == nil && len(patterns) == 0 {
		err = nameSides(cfg)
	}
	if err != nil || len(patterns) == 0 {
		return err
	}
	how := Sorting{Model: cfg.LangModel, Column: cfg.LangColumn, MinScore: 0.5, In: cfg.CorpusOptions()[0], SkipBad: cfg.OnBadFile == config.SkipBadFile}
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
	files, broken, err := Readable(patterns, how.SkipBad)
	if err != nil {
		return err
	}
	dir := filepath.Join(cfg.Out, sortedName)
	texts, sorted, err := sortGroups(ctx, files, dir, how)
	if err != nil {
		return err
	}
	cfg.SortWarnings = slices.Concat(cfg.SortWarnings, broken, sorted.Warnings, sorted.leftOut(dir))
	cfg.LanguageText, cfg.LangModel, cfg.LangColumn = nil, "", ""
	cfg.Format, cfg.Charset, cfg.TextColumn, cfg.DocColumn, cfg.URLColumn = string(corpus.FormatAuto), "", "text", "doc", "url"
	if cfg.Corpora = texts; !Asked(cfg) {
		cfg.SourceText, cfg.TargetText = texts[how.Languages[0]], texts[how.Languages[1]]
	}
	return nil
}

// Forget removes what was sorted from text that is gone, where Unmix has sorted the text of a night: each would leave
// its own behind. No other run may read what is sorted there.
func Forget(cfg *config.Config) error {
	read := map[string]bool{}
	for _, files := range cfg.Corpora {
		for _, file := range files {
			read[filepath.Dir(file)] = true
		}
	}
	sorted := filepath.Join(cfg.Out, sortedName)
	entries, err := os.ReadDir(sorted)
	if err != nil {
		return fmt.Errorf("list what was sorted: %w", err)
	}
	for _, entry := range entries {
		dir := filepath.Join(sorted, entry.Name())
		if read[dir] || !entry.IsDir() || !isGroup.MatchString(entry.Name()) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove what was sorted from text that is gone: %w", err)
		}
	}
	return nil
}

// Mixed says whether Unmix will sort text.
func Mixed(cfg *config.Config) bool {
	patterns, err := mixedText(cfg)
	return err == nil && len(patterns) > 0
}

// mixedText is the patterns of mixed text, if there is any, and refuses settings that do not go with it.
func mixedText(cfg *config.Config) (patterns []string, err error) {
	for _, text := range cfg.LanguageText {
		if files, ok := strings.CutPrefix(text, mixed+"="); ok {
			patterns = append(patterns, files)
		}
	}
	switch {
	case len(patterns) == 0 && (cfg.LangModel != "" || cfg.LangColumn != ""):
		err = badinput.Errorf("lang_model and lang_column sort mixed text: name it with --text mixed=FILES")
	case len(patterns) == 0:
	case len(patterns) < len(cfg.LanguageText), len(cfg.SourceText)+len(cfg.TargetText) > 0:
		err = badinput.Errorf("text: %s=FILES is the text of all languages; leave the others out, or sort it by mine sort", mixed)
	case cfg.LangModel != "" && cfg.LangColumn != "":
		err = badinput.Errorf("lang_model identifies the language, which lang_column gives: leave one of them out")
	case cfg.Sides != setting.Sides{}:
		err = badinput.Errorf("src_format, src_encoding, src_text_column and the like: mixed text has no sides; say it of all text, as with --format and --encoding")
	default:
		if err = CheckMetadata(&cfg.DocMeta, SortedKeys); err == nil {
			err = cfg.Outside(patterns)
		}
	}
	return patterns, err
}

// Check refuses what Unmix and Configs would refuse of the settings alone, and makes what --text names the text of the
// sides. It looks for no file.
func Check(cfg *config.Config) error {
	patterns, err := mixedText(cfg)
	if err != nil {
		return err
	}
	if len(patterns) > 0 {
		cfg.LanguageText, cfg.Corpora = nil, nil // what is sorted will be the text
	}
	if Asked(cfg) {
		pairs, err := Pairs(cfg)
		if err == nil {
			err = check(cfg)
		}
		if err == nil {
			_, err = texts(cfg, languages(pairs))
		}
		return err
	}
	if cfg.Source == "" && cfg.Target == "" {
		return nil
	}
	return nameSides(cfg)
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

// Readable finds the files that patterns name. Those that cannot be opened are refused; if bad files are skipped they
// are left out with warnings, unless no file remains.
func Readable(patterns []string, skip bool) (files []input.File, warnings []string, err error) {
	found, err := input.Find(nil, patterns)
	for i, file := range found {
		switch {
		case file.Broken == nil:
			files = append(files, file)
		case !skip:
			return nil, nil, badinput.Errorf("%w; --on-bad-file skip leaves such files out", file.Broken)
		case i == len(found)-1 && len(files) == 0:
			return nil, nil, file.Broken
		default:
			warnings = append(warnings, fmt.Sprintf(leftOutFile, file.Broken))
		}
	}
	return files, warnings, err
}

// sortGroups sorts files into directories of dir, and returns each language's files: those with text, unless a
// directory has none in any of the languages.
func sortGroups(ctx context.Context, files []input.File, dir string, how Sorting) (map[string][]string, *Sorted, error) {
	groups, err := grouped(files)
	if err != nil {
		return nil, nil, err
	}
	texts, total := map[string][]string{}, &Sorted{Rows: map[string]int{}, Skipped: map[corpus.Reason]uint64{}}
	for _, group := range groups {
		own, sorted, err := sortOnce(ctx, group, dir, how)
		if err != nil {
			return nil, nil, err
		}
		total.add(sorted)
		some := slices.ContainsFunc(how.Languages, func(code string) bool { return sorted.Rows[code] > 0 })
		for _, code := range how.Languages {
			if sorted.Rows[code] > 0 || !some {
				texts[code] = append(texts[code], filepath.Join(own, code+".jsonl"))
			}
		}
	}
	for _, code := range how.Languages {
		if texts[code] == nil { // that it is empty is for the run to say
			texts[code] = []string{filepath.Join(dir, groupName(groups[0][0]), code+".jsonl")}
		}
	}
	return texts, total, nil
}

// grouped divides files into those that are sorted together.
func grouped(files []input.File) (groups [][]input.File, err error) {
	open := false
	for _, file := range files {
		info, err := os.Stat(file.Path)
		if err != nil {
			return nil, badinput.Errorf("%s cannot be read: %w", file.Path, err)
		}
		small := info.Size() < smallFile
		if !small || !open {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], file)
		open = small && binary.LittleEndian.Uint32(digest(file))%groupFiles != 0
	}
	return groups, nil
}

// digest tells files of one name apart.
func digest(file input.File) []byte {
	sum := sha256.Sum256([]byte(file.Path))
	return sum[:4]
}

// add takes in what sorting other files gave.
func (s *Sorted) add(other *Sorted) {
	for code, n := range other.Rows {
		s.Rows[code] += n
	}
	for reason, n := range other.Skipped {
		s.Skipped[reason] += n
	}
	s.LeftOut += other.LeftOut
	s.Warnings = append(s.Warnings, other.Warnings...)
}

// leftOut says what is in no language's file of a directory.
func (s *Sorted) leftOut(dir string) []string {
	var skipped, said []string
	for _, reason := range slices.Sorted(maps.Keys(s.Skipped)) {
		skipped = append(skipped, fmt.Sprintf("%d %s", s.Skipped[reason], reason))
	}
	if n := s.Rows[OtherLanguages]; n > 0 {
		said = append(said, fmt.Sprintf("%d records are in none of the languages, or too unsurely, and are left out (%s)",
			n, filepath.Join(dir, "*", OtherLanguages+".jsonl")))
	}
	if len(skipped) > 0 {
		said = append(said, "left out besides: "+strings.Join(skipped, ", "))
	}
	if s.LeftOut > 0 && said != nil {
		said = append(said, fmt.Sprintf("%d lines stood on five pages of their site before", s.LeftOut))
	}
	if said == nil {
		return nil
	}
	return []string{"mixed text: " + strings.Join(said, "; ")}
}

// sortedFrom is what the text of a directory was sorted from, and how that went, in sorted.json.
type sortedFrom struct {
	From   json.RawMessage `json:"from"` // the files and how they were sorted
	Sorted *Sorted         `json:"sorted"`
}

// maxBase is how many bytes of a file's name the directory's has that it is sorted into: file systems have names of up
// to 255.
const maxBase = 200

// isGroup matches what groupName returns.
var isGroup = regexp.MustCompile(`-[0-9a-f]{8}$`)

// groupName is the name of the directory that files are sorted into, of which the first is given.
func groupName(file input.File) string {
	base := filepath.Base(file.Path)
	if len(base) > maxBase {
		base = strings.ToValidUTF8(base[:maxBase], "")
	}
	return base + "-" + hex.EncodeToString(digest(file))
}

// sortOnce sorts files into a directory of their own, unless that was done.
func sortOnce(ctx context.Context, files []input.File, dir string, how Sorting) (string, *Sorted, error) {
	dir = filepath.Join(dir, groupName(files[0]))
	from, err := sorting(files, how)
	if err != nil {
		return "", nil, err
	}
	path := filepath.Join(dir, "sorted.json")
	var before sortedFrom
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &before) == nil && bytes.Equal(before.From, from) && before.Sorted.in(dir) {
		return dir, before.Sorted, nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", nil, fmt.Errorf("sort %s again: %w", files[0].Path, err)
	}
	sorted, err := Sort(ctx, files, dir, how)
	if err != nil {
		return "", nil, err
	}
	now, err := json.Marshal(sortedFrom{from, sorted})
	if err == nil {
		err = atomicfile.WriteBytes(path, now)
	}
	return dir, sorted, err
}

// in reports whether a directory still has all files that sorting wrote there.
func (s *Sorted) in(dir string) bool {
	if s == nil {
		return false
	}
	for code := range s.Rows {
		if _, err := os.Stat(filepath.Join(dir, code+".jsonl")); err != nil {
			return false
		}
	}
	return true
}

// sorting says what is sorted, and how; it changes with the files.
func sorting(files []input.File, how Sorting) ([]byte, error) {
	said := []any{sortVersion, how}
	var named []string
	for _, file := range files {
		named = append(named, file.Path)
	}
	if how.Model != "" {
		named = append(named, how.Model)
	}
	for _, path := range named {
		info, err := os.Stat(path)
		if err != nil {
			return nil, badinput.Errorf("%s cannot be read: %w", path, err)
		}
		said = append(said, path, info.Size(), info.ModTime().UnixNano())
	}
	return json.Marshal(said)
}
