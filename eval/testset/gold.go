package testset

import (
	"bufio"
	"io"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// IDs names a pair by its sentences' ids.
type IDs struct{ Source, Target string }

// ReadGold reads known pairs, `source-id<TAB>target-id` a line. An empty line or a pair named twice is a badinput
// error; name is for messages.
func ReadGold(r io.Reader, name string) ([]IDs, error) {
	var gold []IDs
	seen := map[IDs]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		source, target, ok := strings.Cut(strings.TrimSuffix(lines.Text(), "\r"), "\t")
		if !ok || source == "" || target == "" || strings.Contains(target, "\t") {
			return nil, badinput.Errorf("%s:%d: not source-id<TAB>target-id; correct the line", name, n)
		}
		pair := IDs{source, target}
		if seen[pair] {
			return nil, badinput.Errorf("%s:%d: the pair %s %s occurs twice; remove one", name, n, source, target)
		}
		seen[pair] = true
		gold = append(gold, pair)
	}
	if err := lines.Err(); err != nil {
		return nil, badinput.Errorf("read %s: %w", name, err)
	}
	return gold, nil
}

// CheckGold looks every id of gold up in the texts of its side, which are read by its options; one that is not there is
// a badinput error. name is the name of gold's file.
func CheckGold(gold []IDs, name string, source, target []input.File, opts [2]corpus.Options) error {
	sides := [2]map[string]bool{{}, {}}
	for _, pair := range gold {
		sides[0][pair.Source], sides[1][pair.Target] = true, true
	}
	for i, inputs := range [][]input.File{source, target} {
		for _, in := range inputs {
			if err := removeFound(sides[i], in, opts[i]); err != nil {
				return err
			}
		}
	}
	for _, pair := range gold {
		for i, id := range []string{pair.Source, pair.Target} {
			if sides[i][id] {
				return badinput.Errorf(
					"gold file %s names %s, but no sentence of %v has that id; give texts with ids (id<TAB>sentence, or a document column) or another gold file",
					name, id, [][]input.File{source, target}[i])
			}
		}
	}
	return nil
}

// removeFound removes the ids of a text's sentences from ids.
func removeFound(ids map[string]bool, in input.File, opts corpus.Options) error {
	for sentence, err := range corpus.Sentences(in, opts) {
		if err != nil {
			return err
		}
		delete(ids, sentence.Doc)
	}
	return nil
}
