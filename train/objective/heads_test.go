package objective_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
)

var update = flag.Bool("update", false, "write testdata/heads.txt")

// TestHeadsArePinned: the tensors of each objective's own, and how they begin.
func TestHeadsArePinned(t *testing.T) {
	all := objectivetest.Read[golden](t)
	all.Dim, all.Vocabulary = 16, 50
	training := all.training()
	training.Longest = 12
	var got strings.Builder
	for _, name := range objective.Names() {
		s := objective.Default(name)
		switch {
		case strings.HasPrefix(name, "mexma"):
			s = with(t, s, map[string]any{"head_layers": 1, "head_ffn": 24})
		case strings.Contains(name, "vmsst"), name == "bitranslation":
			s = with(t, s, map[string]any{"language_layers": 1, "decoder_layers": 1, "ffn": 24, "language_encoders": 2, "factored": true})
		case taught[name]:
			s = with(t, s, map[string]any{"teacher": "any"})
		}
		o, err := s.Build(training)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n", name)
		for _, h := range o.Heads() {
			fmt.Fprintf(&got, "    %s %v init %d scale %g no decay %t\n", h.Name, h.Shape, h.Init, h.Scale, h.NoDecay)
		}
	}
	const path = "testdata/heads.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the heads are\n%s\nwant, or -update,\n%s", got.String(), want)
	}
}
