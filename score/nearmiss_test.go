package score

import (
	"errors"
	"fmt"
	"testing"

	"bitextmine/mine"
	"bitextmine/score/feature"
)

// nearMissText is a text of 200 matches, of which every tenth one has another number than its target, where the free
// sentences of the source side lose to the first ones: as many with another number, and as many without, as lost says.
func nearMissText(t *testing.T, lost int) (r Ranked, sources, targets int) {
	t.Helper()
	const matches = 200
	s := &Scorer{Format: Format, K: 4, Prior: 0.1, Intercept: -4}
	for _, f := range feature.All {
		s.Terms = append(s.Terms, Term{Feature: f.Name, Version: f.Version, Deviation: 1})
	}
	numbers := feature.Index("numbers_conflict")
	s.Terms[0].Weight, s.Terms[numbers].Weight = 10, -3
	var candidates []mine.Candidate
	var values feature.Values
	add := func(source, target int, cosine, conflict float32) {
		candidates = append(candidates, mine.Candidate{Source: int32(source), Target: int32(target)})
		v := make([]float32, feature.Count)
		v[0], v[numbers] = cosine, conflict
		values = append(values, v...)
	}
	for i := range matches {
		conflict := float32(0)
		if i%10 == 9 {
			conflict = 1
		}
		add(i, i, 1, conflict)
	}
	for i := range 2 * lost {
		add(matches+i, i, 0.9, float32(i%2))
	}
	for i := range matches { // what is no translation
		add(matches+2*lost+i, matches+i, -1, 0)
	}
	r, err := s.Rank(nil, candidates, feature.TableOf(values), Strong{})
	if err != nil {
		t.Fatal(err)
	}
	return r, 2*matches + 2*lost, 2 * matches
}

// distinct are texts of which none is a variant of another.
func distinct(side int, numbers []int32) (texts []string, _ error) {
	for _, number := range numbers {
		texts = append(texts, fmt.Sprint("sentence ", number))
	}
	return texts, nil
}

// TestNearMisses: where many near misses lose to a match, matches of their kind are worth less, and those whose number
// differs least; where few do, nothing changes.
func TestNearMisses(t *testing.T) {
	r, sources, targets := nearMissText(t, 1)
	first := r.Probabilities[0]
	if err := r.NearMisses(sources, targets, distinct); err != nil {
		t.Fatal(err)
	}
	if _, many := r.ManyNearMisses(); many || r.Probabilities[0] != first {
		t.Errorf("two near misses among 200 matches count: %v, %v", many, r.Probabilities[0])
	}

	r, sources, targets = nearMissText(t, 18)
	if err := r.NearMisses(sources, targets, distinct); err != nil {
		t.Fatal(err)
	}
	right, many := r.ManyNearMisses()
	if !many || right < 0.88 || right > 0.92 { // 18 of the 180 without another number
		t.Errorf("part that is right %v, many %v", right, many)
	}
	verdicts := r.Match(sources, targets)
	matched := r.Matched(verdicts)
	a, err := r.Adapt(verdicts, r.scorer.PriorOf(len(r.Candidates), len(matched)), true)
	if err != nil {
		t.Fatal(err)
	}
	if a.By != ByShift || a.Of(matched[0]) > 0.92 || a.Of(matched[179]) < 0.8 {
		t.Errorf("adapted by %s: %v and %v", a.By, a.Of(matched[0]), a.Of(matched[179]))
	}
	numbers := feature.Index("numbers_conflict")
	for i, c := range r.Candidates {
		if v, err := r.Values(i); err != nil || v[numbers] > 0 && c.Source == c.Target && a.Of(r.Probabilities[i]) > 0.25 {
			t.Errorf("a match with another number has the probability %v, error %v", a.Of(r.Probabilities[i]), err)
		}
	}
}

// TestNearMissesVariants: free sentences that say what the one that won says are no near misses.
func TestNearMissesVariants(t *testing.T) {
	for name, texts := range map[string]TextsOf{
		"variants": func(side int, numbers []int32) ([]string, error) {
			texts, err := distinct(side, numbers)
			for i, number := range numbers { // of a free source of nearMissText the winner is 200 before it
				if texts[i] = fmt.Sprintf("Sentence %d!", number%200); number >= 200 {
					texts[i] = fmt.Sprintf("Update: sentence %d ...", number%200)
				}
			}
			return texts, err
		},
		"distinct": distinct,
	} {
		r, sources, targets := nearMissText(t, 18)
		if err := r.NearMisses(sources, targets, texts); err != nil {
			t.Fatal(err)
		}
		if _, many := r.ManyNearMisses(); many != (name == "distinct") {
			t.Errorf("%s: many near misses %v", name, many)
		}
	}
	r, sources, targets := nearMissText(t, 18)
	damaged := errors.New("damaged")
	if err := r.NearMisses(sources, targets, func(int, []int32) ([]string, error) { return nil, damaged }); !errors.Is(err, damaged) {
		t.Errorf("error %v", err)
	}
}
