package eval

import (
	"testing"

	"bitextmine/eval/testset"
)

func TestAgainst(t *testing.T) {
	gold := []testset.IDs{{Source: "a", Target: "b"}, {Source: "c", Target: "d"}, {Source: "e", Target: "f"}}
	if got, want := Against([]testset.IDs{{Source: "a", Target: "b"}, {Source: "a", Target: "d"}}, gold), (Counts{Extracted: 2, Correct: 1, Gold: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
