package scorer

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/pipeline"
)

// TestSwappedPairsAreNoted: known pairs whose columns are swapped fit a scorer to nothing, which nothing else says.
func TestSwappedPairsAreNoted(t *testing.T) {
	pairs, err := exchange.FixturePairs("de", "en")
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(t.TempDir(), "known.tsv")
	text := ""
	for _, p := range pairs {
		text += p.Source + "\t" + p.Target + "\n"
	}
	if err := os.WriteFile(known, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before := slog.Default()
	defer slog.SetDefault(before)
	for source, warns := range map[string]bool{"de": false, "en": true} {
		var said bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
		var cfg pipeline.Config
		cfg.Source, cfg.Target = source, map[string]string{"de": "en", "en": "de"}[source]
		warnSwapped(pairs, "fitted.tsv", &cfg)
		if _, err := knownPairs(known, cfg); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"fitted.tsv", "known.tsv"} {
			if got := strings.Contains(said.String(), name); got != warns {
				t.Errorf("German sources as %s in %s: %s", source, name, said.String())
			}
		}
	}
}
