package data

import (
	"encoding/hex"
	"path/filepath"

	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// Labels are people's decisions on the pairs of a run.
type Labels struct {
	only     bool // pairs without a label are not used
	accepted map[[2]corpus.Key]bool
}

// OpenLabels reads the labels of a run's output directory; nil if none is named. With only, pairs without a label are
// refused, too.
func OpenLabels(run string, only bool) (*Labels, error) {
	if run == "" {
		return nil, nil
	}
	latest, err := label.Latest(run)
	if err != nil {
		return nil, err
	}
	if len(latest) == 0 {
		return nil, badinput.Errorf("there is no label in %s: name the output directory of a run whose pairs were rejected or accepted, or remove labels",
			filepath.Join(run, label.Name))
	}
	l := &Labels{only: only, accepted: map[[2]corpus.Key]bool{}}
	for _, one := range latest {
		var pair [2]corpus.Key
		for side, digits := range []string{one.Source, one.Target} {
			if _, err := hex.Decode(pair[side][:], []byte(digits)); err != nil {
				return nil, err
			}
		}
		l.accepted[pair] = one.Accepted
	}
	return l, nil
}

// Refuse reports whether people rejected a pair, and whether it needs a label and has none. A label holds in both
// directions. Nil labels refuse no pair.
func (l *Labels) Refuse(source, target corpus.Key) (rejected, unlabelled bool) {
	if l == nil {
		return false, false
	}
	accepted, ok := l.accepted[[2]corpus.Key{source, target}]
	if !ok {
		accepted, ok = l.accepted[[2]corpus.Key{target, source}]
	}
	return ok && !accepted, !ok && l.only
}
