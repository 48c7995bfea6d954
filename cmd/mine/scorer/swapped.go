package scorer

import (
	"log/slog"

	"bitextmine/bitext/exchange"
	"bitextmine/filter/language"
	"bitextmine/pipeline"
)

// swapped counts the pairs whose source is surely not in the language of that side.
func swapped(pairs []exchange.Pair, source string) (n int) {
	stated := language.For(source)
	for _, p := range pairs {
		if stated.Foreign(p.Source, stated.Identify(p.Source)) {
			n++
		}
	}
	return n
}

// warnSwapped warns of known pairs most of whose sources are in another language, as where their columns are swapped.
func warnSwapped(pairs []exchange.Pair, from string, cfg *pipeline.Config) {
	if n := swapped(pairs, cfg.Source); 2*n > len(pairs) {
		slog.Warn("most sources of the known pairs are surely not in the language of --src: the columns may be swapped",
			"pairs", from, "src", cfg.Source, "foreign", n, "of", len(pairs))
	}
}
