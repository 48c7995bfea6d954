package scorer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
)

// TestThresholdKeepsComments: those of a config without a setting stay, too.
func TestThresholdKeepsComments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	for text, want := range map[string]string{
		"":                            "threshold: 0.500000\n",
		"# nightly\n\n# k: 4":         "# nightly\n\n# k: 4\nthreshold: 0.500000\n",
		"# nightly\n":                 "# nightly\nthreshold: 0.500000\n",
		"# nightly\nk: 4 # for now\n": "# nightly\nk: 4 # for now\nthreshold: 0.500000\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writeThreshold(path, 0.5, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestProbabilityIsNoThresholdOfAMargin: where the config has no scorer, a threshold of probabilities is not written.
func TestProbabilityIsNoThresholdOfAMargin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	const text = "scorer: none # for now\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	err := writeThreshold(path, 0.5, nil)
	if got, _ := os.ReadFile(path); !badinput.Is(err) || !strings.Contains(err.Error(), path+" has scorer none") || string(got) != text {
		t.Errorf("error %v, config %q", err, got)
	}
}

// TestThresholdOfAMargin: a threshold of the margin is set against that margin and its k, whatever the config says.
func TestThresholdOfAMargin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	for _, c := range []struct {
		text, margin string
		k            int
		want         string
	}{
		{"", "ratio", 4, "threshold: 0.500000\nscorer: none\n"},
		{"", "distance", 8, "threshold: 0.500000\nscorer: none\nmargin: distance\nk: 8\n"},
		{"margin: distance\nk: 8 # wide\n", "ratio", 4, "margin: ratio\nk: 4 # wide\nthreshold: 0.500000\nscorer: none\n"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writeThreshold(path, 0.5, &setting.Decision{Margin: c.margin, K: c.k}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("%q becomes %q, %v, want %q", c.text, got, err, c.want)
		}
	}
}
