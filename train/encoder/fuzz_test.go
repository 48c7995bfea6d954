package encoder

import (
	"os"
	"path/filepath"
	"testing"

	"bitextmine/internal/badinput"
)

// FuzzReadConfig reads arbitrary bytes as the configuration of published weights: it is refused, or its settings hold.
func FuzzReadConfig(f *testing.F) {
	for _, model := range []string{"bert", "xlm-roberta"} {
		config, err := os.ReadFile(filepath.Join("testdata", model, "config.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(config)
	}
	f.Add([]byte(`{"model_type": "bert", "max_position_embeddings": 1e18}`))
	f.Fuzz(func(t *testing.T, config []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadShape(dir)
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("error %v is no bad input", err)
			}
			return
		}
		if wrong := s.Validate(); wrong != nil || s.MaxTokens < 1 {
			t.Errorf("accepted %+v: %v", s, wrong)
		}
	})
}
