package run

import (
	"bytes"
	"strings"
	"testing"

	"bitextmine/pipeline/admin"
)

// TestDiffShowsRemovedFirst: files by name, numbers by cause, removed pairs first, and no pair whose score hardly
// changed.
func TestDiffShowsRemovedFirst(t *testing.T) {
	d := &admin.Difference{
		Before: 5, After: 5, Added: 1, Removed: 2, Rescored: 2,
		Causes: map[string]map[string]int{admin.Removed: {admin.GoneFile: 1, admin.OtherScore: 1},
			admin.Added: {admin.NewFile: 1}},
		Files: []admin.FileChange{{Kind: "new", Path: "de/2.txt"}, {Kind: "gone", Path: "de/1.txt"}},
		Changes: []admin.Change{
			{Kind: admin.Removed, Cause: admin.GoneFile, Before: 0.9, Source: "Alt", Target: "old"},
			{Kind: admin.Removed, Cause: admin.OtherScore, Before: 0.8, Source: "Zwei", Target: "two"},
			{Kind: admin.Added, Cause: admin.NewFile, After: 0.95, Source: "Neu", Target: "new"},
			{Kind: admin.Rescored, Before: 0.7, After: 0.9, Source: "Viel", Target: "much"},
			{Kind: admin.Rescored, Before: 0.7, After: 0.705, Source: "Wenig", Target: "little"},
		},
	}
	for name, c := range map[string]struct {
		how       diffing
		has, less []string // what is printed, in this order, and what is not
	}{
		"default": {diffing{show: 10, min: 0.01}, []string{
			"2 removed (gone file 1, other score 1)", "1 added (new file 1)", "2 rescored, 1 of them by less than " +
				"0.01", "new     de/2.txt",
			"gone    de/1.txt", "- 0.900  Alt", "(gone file)", "- 0.800  Zwei", "+ 0.950  Neu", "~ 0.700  Viel",
		}, []string{"Wenig"}},
		"one of each": {diffing{show: 1, min: 0.01}, []string{"Alt", "1 more removed", "Neu"}, []string{"Zwei"}},
		"all":         {diffing{show: -1}, []string{"Alt", "Zwei", "Neu", "Viel", "Wenig"}, []string{"hidden"}},
		"JSON": {diffing{json: true, min: 0.01}, []string{`{"kind":"new","path":"de/2.txt"}`, `"cause":"gone file"`,
			`"src":"Viel"`}, []string{"Wenig"}},
	} {
		var out bytes.Buffer
		if err := c.how.print(&out, d); err != nil {
			t.Fatal(err)
		}
		rest := out.String()
		for _, text := range c.has {
			_, after, ok := strings.Cut(rest, text)
			if !ok {
				t.Errorf("%s: %q is missing, or not in its place:\n%s", name, text, out.String())
			}
			rest = after
		}
		for _, text := range c.less {
			if strings.Contains(out.String(), text) {
				t.Errorf("%s: %q is printed:\n%s", name, text, out.String())
			}
		}
	}
}
