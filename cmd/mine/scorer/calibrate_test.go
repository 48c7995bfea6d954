package scorer

import (
	"os"
	"path/filepath"
	"testing"
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
		if err := writeThreshold(path, 0.5, false); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q becomes %q, %v, want %q", text, got, err, want)
		}
	}
}
