package scorer

import (
	"bytes"
	"log/slog"
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
	before := slog.Default()
	defer slog.SetDefault(before)
	for source, warns := range map[string]bool{"de": false, "en": true} {
		var said bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
		var cfg pipeline.Config
		cfg.Source = source
		warnSwapped(pairs, "known.tsv", &cfg)
		if got := strings.Contains(said.String(), "known.tsv"); got != warns {
			t.Errorf("German sources as %s: %s", source, said.String())
		}
	}
}
