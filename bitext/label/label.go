// Package label stores what people decided on pairs: a pair is rejected or accepted. Every later run obeys: a rejected
// pair is left out before sentences are matched, so that the next best pair of either sentence may take its place, and
// an accepted one is not rejected by rules.
//
// Labels are lines of JSON in one file of the output directory, in the order in which they were given; the last one on
// a pair counts, and a withdrawn label leaves the pair without a label. Each line is written and synced at once, so a
// killed process loses no label that it reported. An incomplete line comes from a process killed while writing and is
// ignored; a complete last one may lack its end, as editors leave it.
package label

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Name is the file's name in the output directory.
const Name = "labels.jsonl"

// Nightly runs have their labels in the output directory, where each night is a directory in RunsName, and LatestName a
// link to the last one.
const (
	RunsName   = "runs"
	LatestName = "latest"
)

var nightName = regexp.MustCompile(`^\d{6,}-\d{4}-\d\d-\d\d$`)

// IsNight reports whether a name in RunsName is a night's, its number and date; what has another is not the program's.
func IsNight(name string) bool { return nightName.MatchString(name) }

// Path is the file of a run's labels, given its output directory, or that of one of several nights.
func Path(dir string) string {
	if out, _, err := Night(dir); err == nil && out != "" {
		dir = out
	}
	return filepath.Join(dir, Name)
}

// Night finds the directory of nightly runs that a directory, or the link to it, is a night of, and the night's own;
// both are empty if it is none.
func Night(dir string) (out, night string, err error) {
	whole, err := filepath.Abs(dir) // a night named from within runs has no runs in its name
	if err != nil {
		return "", "", err
	}
	night, err = filepath.EvalSymlinks(whole)
	runs := filepath.Dir(night)
	if err != nil || filepath.Base(runs) != RunsName {
		return "", "", err
	}
	out = filepath.Dir(runs)
	if _, err := os.Lstat(filepath.Join(out, LatestName)); err != nil {
		return "", "", nil
	}
	return out, night, nil
}

// maxLine is the maximum length of a line.
const maxLine = 512 << 10

// MaxText is the maximum length of a text of an edit, in bytes.
const MaxText = 32 << 10

// Label is a person's decision on a pair of sentences, named by their keys in hexadecimal digits.
type Label struct {
	Source   string `json:"src_key"`
	Target   string `json:"tgt_key"`
	Accepted bool   `json:"accepted"` // false: rejected
	// SourceText and TargetText are the texts as a person corrected them; empty: the pair is right as it was mined.
	SourceText string `json:"src_text,omitempty"`
	TargetText string `json:"tgt_text,omitempty"`
	By         string `json:"by,omitempty"` // name of the person
}

// Edited reports whether the person corrected a text.
func (l Label) Edited() bool { return l.SourceText != "" }

// Right reports whether the pair is right as it was mined: one that had to be corrected is not.
func (l Label) Right() bool { return l.Accepted && !l.Edited() }

// Decisions returns labels without texts and names, which change nothing in a run.
func Decisions(labels []Label) []Label {
	out := slices.Clone(labels)
	for i, l := range out {
		out[i] = Label{Source: l.Source, Target: l.Target, Accepted: l.Accepted}
	}
	return out
}

// line is a label as it is stored.
type line struct {
	Label
	Withdrawn bool `json:"withdrawn,omitempty"` // the pair has no label any more
}

// UnmarshalJSON refuses what is no label. Keys may have capital letters.
func (l *line) UnmarshalJSON(data []byte) error {
	var p struct {
		Label
		Accepted  *bool `json:"accepted"`
		Withdrawn bool  `json:"withdrawn"`
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields() // one that is misspelt would be lost
	if err := in.Decode(&p); err != nil {
		return errors.New("it has a field of another name or type, or is no JSON")
	}
	p.Source, p.Target = strings.ToLower(p.Source), strings.ToLower(p.Target)
	l.Label, l.Withdrawn = p.Label, p.Withdrawn
	l.Label.Accepted = p.Accepted != nil && *p.Accepted
	switch {
	case !isKey(p.Source) || !isKey(p.Target):
		return errors.New("src_key and tgt_key are 32 hexadecimal digits each")
	case p.Accepted == nil && !p.Withdrawn:
		return errors.New("accepted is true or false")
	case !utf8.ValidString(string(data)):
		return errors.New("it is not UTF-8")
	case p.SourceText != "" && (corpus.Normalise(p.SourceText) == "" || corpus.Normalise(p.TargetText) == ""):
		return errors.New("a text is empty")
	case (p.SourceText == "") != (p.TargetText == ""), p.SourceText != "" && !l.Label.Accepted && !p.Withdrawn:
		return errors.New("src_text and tgt_text are both texts of a pair that is accepted")
	}
	return nil
}

// Append adds labels to the file of an output directory and syncs it.
func Append(dir string, labels []Label) error {
	return write(dir, false, func() ([]Label, error) { return labels, nil })
}

// Accept accepts pairs, but for those that are accepted already: their corrections and names stay. It returns their
// number.
func Accept(dir string, pairs []Label) (already int, err error) {
	err = write(dir, false, func() (labels []Label, err error) {
		latest, err := Latest(dir)
		given := IndexOf(latest)
		for _, l := range pairs {
			if before, ok := given.Find(l); ok && before.Accepted {
				already++
				continue
			}
			l.Accepted = true
			labels = append(labels, l)
		}
		return labels, err
	})
	return already, err
}

// Replace adds a label or, if withdrawn, takes the one on its pair back, unless allowed returns an error, which it
// returns. No other process writes labels between that and the label.
func Replace(dir string, l Label, withdrawn bool, allowed func() error) error {
	return write(dir, withdrawn, func() ([]Label, error) { return []Label{l}, allowed() })
}

// write adds the labels that choose returns while no other process writes any.
func write(dir string, withdrawn bool, choose func() ([]Label, error)) (err error) {
	path := Path(dir)
	f, err := atomicfile.OpenRegular(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return badinput.Errorf("labels %s cannot be written: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Several processes may label at once: what one is writing must not look like the torn line of one that was killed.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return badinput.Errorf("labels %s cannot be locked (%w); the file system must know flock", path, err)
	}
	labels, err := choose()
	if err != nil || len(labels) == 0 {
		return err
	}
	var lines bytes.Buffer
	if torn, err := isTorn(f); err != nil {
		return fmt.Errorf("read labels %s: %w", path, err)
	} else if torn {
		lines.WriteByte('\n')
	}
	for _, l := range labels {
		data, err := json.Marshal(line{l, withdrawn})
		if err != nil {
			return err
		}
		lines.Write(append(data, '\n'))
	}
	if _, err := f.Write(lines.Bytes()); err != nil {
		return fmt.Errorf("write labels %s: %w", path, err)
	}
	return f.Sync()
}

// isTorn reports whether the file's last line has no end.
func isTorn(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return last[0] != '\n', err
}

// Latest reads the labels of an output directory: the last one of each pair, in the order of the keys.
func Latest(dir string) (labels []Label, err error) {
	path := Path(dir)
	f, err := atomicfile.OpenRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, badinput.Errorf("labels %s cannot be read: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	last := map[[2]string]Label{}
	r := bufio.NewReaderSize(f, maxLine)
	for number := 1; ; number++ {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, badinput.Errorf("labels %s:%d: %w; correct the line", path, number, err)
		}
		var l line
		if number == 1 {
			text = bytes.TrimPrefix(text, input.UTF8BOM)
		}
		if err := json.Unmarshal(text, &l); err != nil {
			if isFragment(text) {
				continue // a killed process left it
			}
			return nil, badinput.Errorf("labels %s:%d: not a label (%w); correct the line or remove it", path, number, err)
		}
		if pair := [2]string{l.Source, l.Target}; l.Withdrawn {
			delete(last, pair)
		} else {
			last[pair] = l.Label
		}
	}
	for _, l := range last {
		labels = append(labels, l)
	}
	slices.SortFunc(labels, func(a, b Label) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	})
	return labels, nil
}

// isFragment reports whether a line is the beginning of a label.
func isFragment(line []byte) bool {
	const start = `{"src_key":"`
	line = bytes.TrimSpace(line) // an editor may end lines otherwise
	n := min(len(line), len(start))
	return n > 0 && string(line[:n]) == start[:n] && !bytes.HasSuffix(line, []byte("}"))
}

func isKey(digits string) bool {
	_, err := corpus.ParseKey(digits)
	return err == nil
}

// Key reads a pair's keys, SOURCE:TARGET in hexadecimal digits as mine export writes them.
func Key(text string) (Label, error) {
	source, target, found := strings.Cut(strings.ToLower(text), ":")
	if !found || !isKey(source) || !isKey(target) {
		return Label{}, badinput.Errorf(
			"%q are not the keys of a pair: give src_key:tgt_key, each of 32 hexadecimal digits", text)
	}
	return Label{Source: source, Target: target}, nil
}

// Of is a label on a pair of texts, which decides nothing yet.
func Of(source, target string) Label { return Label{Source: keyOf(source), Target: keyOf(target)} }

func keyOf(text string) string {
	k := corpus.KeyOf(corpus.Normalise(text))
	return hex.EncodeToString(k[:])
}

// noText is the key of an empty text.
var noText = keyOf("")

// Rows returns the pairs that stand in rows of a bitext file, which count from 0; nil means all. They go by the columns
// of keys or, without these, by the keys of their texts. TMX and XLIFF have them in the languages. What is no key is
// refused: the file of labels could not be read any more.
func Rows(ctx context.Context, file string, rows []uint64, languages [2]string) (labels []Label, err error) {
	opts := table.DefaultOptions()
	opts.Source, opts.Target = languages[0], languages[1]
	r, err := table.Open([]string{file}, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	end, lacking := uint64(0), 0
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		keys, err := Keys(b)
		if err != nil {
			return nil, err
		}
		end = b.First() + uint64(b.Len())
		for i := range b.Len() {
			row, l := b.First()+uint64(i), keys(i)
			switch {
			case rows == nil && (l.Source == noText || l.Target == noText):
				lacking++
			case rows != nil && !slices.Contains(rows, row):
			case !isKey(l.Source) || !isKey(l.Target):
				return nil, badinput.Errorf("%s: row %d, from 0 on, has src_key %.40q and tgt_key %.40q, but keys are 32 "+
					"hexadecimal digits each: correct them, or leave both empty where the row has texts", file, row, l.Source, l.Target)
			default:
				labels = append(labels, l)
			}
		}
	}
	if lacking > 0 {
		slog.Warn("rows without both texts are left out", "file", file, "rows", lacking)
	}
	for _, row := range rows {
		if row >= end {
			return nil, badinput.Errorf("%s has %d rows and no row %d: rows count from 0", file, end, row)
		}
	}
	return labels, nil
}

// Keys gives the keys of a batch's rows: those of their texts where the batch has no columns of keys, or a row has
// nothing in them.
func Keys(b *table.Batch) (func(i int) Label, error) {
	keyed := b.Has("src_key") && b.Has("tgt_key")
	source, err := b.Texts(table.SourceText)
	target, failed := b.Texts(table.TargetText)
	if err = cmp.Or(err, failed); err != nil && !keyed {
		return nil, err
	}
	of := func(i int) Label {
		a, _ := source(i)
		b, _ := target(i)
		return Of(a, b)
	}
	if keyed {
		texts := err == nil
		cells, err := b.Cells()
		if err != nil {
			return nil, err
		}
		var sides [2]*table.Cells
		for c := range cells {
			switch cells[c].Name {
			case "src_key":
				sides[0] = &cells[c]
			case "tgt_key":
				sides[1] = &cells[c]
			}
		}
		return func(i int) Label {
			l := Label{Source: strings.ToLower(string(sides[0].Append(nil, i))), Target: strings.ToLower(string(sides[1].Append(nil, i)))}
			if texts && l.Source == "" && l.Target == "" {
				return of(i)
			}
			return l
		}, nil
	}
	return of, nil
}
