package testset

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// Misaligned is the kind of an xsim++ error that is not an edit of the correct sentence.
const Misaligned = "Misaligned"

// Negative is a synthetic target: Text is the sentence Of with an edit of one kind.
type Negative struct {
	Text, Of, Kind string
}

// ReadNegatives reads the published xsim++ format, LANG_errtype.SPLIT.json: an object of `"edited sentence":
// {"errtype": kind, "src": sentence}`. The targets are the lines of LANG_augmented.SPLIT beside it, in order and with
// repetitions, as in LASER's eval.py. Without that file they are the keys of the object in order.
func ReadNegatives(path string) ([]Negative, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, badinput.Errorf("open xsim++ negatives: %w", err)
	}
	var kinds map[string]struct {
		Kind string `json:"errtype"`
		Of   string `json:"src"`
	}
	err = json.Unmarshal(data, &kinds)
	for _, k := range kinds {
		if k.Kind == "" || k.Of == "" {
			err = errors.New("another layout")
		}
	}
	if err != nil {
		return nil, badinput.Errorf(
			"%s is not JSON of the published xsim++ format, {\"edited sentence\": {\"errtype\": ..., \"src\": ...}, ...}: download it again or name another file",
			path)
	}
	texts, err := augmentedLines(path)
	if err != nil {
		return nil, err
	}
	if texts == nil {
		for text := range kinds {
			texts = append(texts, text)
		}
		slices.Sort(texts)
	}
	stripped := make(map[string]Negative, len(kinds))
	for text, k := range kinds {
		stripped[strip(text)] = Negative{Text: strip(text), Of: strip(k.Of), Kind: k.Kind}
	}
	negatives := make([]Negative, len(texts))
	for i, text := range texts {
		n, ok := stripped[strip(text)]
		if !ok {
			// it is still a target, but belongs to no sentence and so has no kind
			n = Negative{Text: strip(text), Kind: Misaligned}
		}
		negatives[i] = n
	}
	if len(negatives) == 0 {
		return nil, badinput.Errorf("%s has no negatives: xsim++ without negatives is xsim", path)
	}
	return negatives, nil
}

// CheckNegatives refuses negatives of which none is of a target of the set: none would compete with its own sentence,
// so that xsim++ would be xsim. from is the file that they are of.
func (f AlignedFiles) CheckNegatives(negatives []Negative, from string, targets []string) error {
	of := func(n Negative) bool { return n.Of != "" && slices.Contains(targets, n.Of) }
	if slices.ContainsFunc(negatives, of) {
		return nil
	}
	return badinput.Errorf("%s has no negative of a sentence of %s, so that none would compete with its own: "+
		"give the file of the same part of the set (--split, --negatives)", from, f.Target)
}

// augmentedLines reads the text file that belongs to an errtype file. It returns nil if there is none.
func augmentedLines(path string) ([]string, error) {
	text := strings.TrimSuffix(strings.Replace(path, "_errtype.", "_augmented.", 1), ".json")
	if text == path {
		return nil, nil
	}
	if _, err := os.Stat(text); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	side, err := readSide(text, "en", false)
	return side.Texts, err
}
