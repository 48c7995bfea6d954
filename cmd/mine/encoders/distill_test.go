package encoders

import (
	"slices"
	"testing"

	"bitextmine/distil"
	"bitextmine/encode/encodetest"
)

// TestDistillRefusesUnknownLanguages: codes are those of every other command, and are written in the usual form.
func TestDistillRefusesUnknownLanguages(t *testing.T) {
	for _, args := range [][]string{{"--text", "zz=a"}, {"--text", "de=a", "--bitext", "de-zz=b"},
		{"--text", "de=a", "--languages", "de,zz"}} {
		cmd := NewDistill()
		cmd.SetArgs(append(args, "--teacher", "use-static", "--out", t.TempDir()))
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		encodetest.Refused(t, cmd.ExecuteContext(t.Context()), `language "zz": not a known code`)
	}
	texts, err := distilTexts([]string{"deu=a"})
	if want := []distil.Text{{Language: "de", Path: "a"}}; err != nil || !slices.Equal(texts, want) {
		t.Errorf("%v, error %v", texts, err)
	}
	bitexts, err := distilBitexts([]string{"deu-eng=a"})
	if want := []distil.Bitext{{Source: "de", Target: "en", Path: "a"}}; err != nil || !slices.Equal(bitexts, want) {
		t.Errorf("%v, error %v", bitexts, err)
	}
}
