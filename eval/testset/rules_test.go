package testset

import (
	"slices"
	"strings"
	"testing"
)

func TestRuleNegatives(t *testing.T) {
	targets := []string{
		"In 1987 the company sold 1,250 cars because of Angela Merkel.",
		"The river was not frozen when John Smith arrived after three days.",
		"Nothing here changes.",
	}
	negatives, err := RuleNegatives(targets)
	if err != nil {
		t.Fatal(err)
	}
	has := func(kind, text string) {
		t.Helper()
		if !slices.ContainsFunc(negatives, func(n Negative) bool { return n.Kind == kind && n.Text == text }) {
			t.Errorf("no %s negative %q", kind, text)
		}
	}
	has(entityEdit, "In 1987 the company sold 1,250 cars because of John Smith.")
	has(causalityEdit, "In 1987 the company sold 1,250 cars despite Angela Merkel.")
	has(negationEdit, "The river was frozen when John Smith arrived after three days.")
	has(causalityEdit, "The river was not frozen when John Smith arrived before three days.")
	has(numberEdit, "The river was not frozen when John Smith arrived after six days.")
	seen := make(map[string]bool)
	numbers := 0
	for _, n := range negatives {
		if n.Text == n.Of || seen[n.Text] || slices.Contains(targets, n.Text) {
			t.Errorf("%+v is no new sentence", n)
		}
		seen[n.Text] = true
		if n.Of == targets[2] {
			t.Errorf("%+v: there is nothing to edit", n)
		}
		if n.Kind == numberEdit && n.Of == targets[0] {
			numbers++
			if strings.Contains(n.Text, "1987") == strings.Contains(n.Text, "1,250") {
				t.Errorf("%q changes both numbers or none", n.Text)
			}
		}
	}
	if numbers == 0 {
		t.Error("no number of the first sentence was changed")
	}
	// The edits depend on the sentence itself. Other sentences only change the names to choose from.
	again, err := RuleNegatives([]string{targets[2], targets[1], targets[0]})
	if err != nil || len(again) != len(negatives) {
		t.Errorf("%d negatives in another order, %d before (%v)", len(again), len(negatives), err)
	}
}
