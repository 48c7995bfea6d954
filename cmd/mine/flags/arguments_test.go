package flags

import (
	"slices"
	"strings"
	"testing"
)

func TestGatherLists(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"one word", "run --src-text a --k 4", "run --src-text a --k 4"},
		{"a shell's glob", "run --src-text a b c --tgt-text d e --k 4", "run --src-text a --src-text b --src-text c --tgt-text d --tgt-text e --k 4"},
		{"repeated", "run --src-text a --src-text b", "run --src-text a --src-text b"},
		{"with =", "run --src-text=a b", "run --src-text=a b"},
		{"no word", "run --src-text", "run --src-text"},
		{"then a flag", "run --src-text --k 4", "run --src-text --k 4"},
		{"other flags keep their word", "run --out o x", "run --out o x"},
		{"nothing after --", "run --src-text a -- b", "run --src-text a -- b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := GatherLists(strings.Fields(c.in)); !slices.Equal(got, strings.Fields(c.want)) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
