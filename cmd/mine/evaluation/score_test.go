package evaluation

import (
	"testing"

	"bitextmine/cmd/mine/flags"
	"bitextmine/pipeline"
)

// TestManyAreSearchedWithLists: the time of mine score does not grow with the square of the pairs, unless somebody asks
// for an exact search.
func TestManyAreSearchedWithLists(t *testing.T) {
	for _, c := range []struct {
		texts        int
		origin, want string
	}{
		{many, flags.ByDefault, "exact"},
		{many + 1, flags.ByDefault, "ivf:512"},
		{1_000_000, flags.ByDefault, "ivf:1024"},
		{1_000_000, "flag --search", "exact"},
	} {
		o := scoreOptions{engine: engine{cfg: &pipeline.Config{}, search: c.origin}}
		o.cfg.Search = "exact"
		if listed := o.searchMany(c.texts); o.cfg.Search != c.want || listed != (c.want != "exact") {
			t.Errorf("%d texts, search from %q: %s, want %s", c.texts, c.origin, o.cfg.Search, c.want)
		}
	}
}
