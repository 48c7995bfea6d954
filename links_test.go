package bitextmine

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headline = regexp.MustCompile(`^#{1,6} +(.*)$`)
	unnamed  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks: every relative link of a page leads to a file of the repository, and its part behind # to a heading there.
func TestLinks(t *testing.T) {
	headings := map[string]map[string]bool{}
	for _, page := range tracked(t) {
		if filepath.Ext(page) != ".md" {
			continue
		}
		for i, line := range readLines(t, page) {
			for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(line, " "), -1) {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				path, anchor, _ := strings.Cut(m[1], "#")
				to := page
				if path != "" {
					to = filepath.Join(filepath.Dir(page), path)
				}
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s:%d links to %s, which is not there", page, i+1, m[1])
					continue
				}
				if anchor == "" {
					continue
				}
				if headings[to] == nil {
					headings[to] = anchors(t, to)
				}
				if !headings[to][anchor] {
					t.Errorf("%s:%d links to %s, but %s has no such heading", page, i+1, m[1], to)
				}
			}
		}
	}
}

// anchors are the names that GitHub gives to a page's headings.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	fenced := false
	for _, line := range readLines(t, page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if m := headline.FindStringSubmatch(line); m != nil && !fenced {
			name := unnamed.ReplaceAllString(strings.ToLower(m[1]), "")
			all[strings.ReplaceAll(name, " ", "-")] = true
		}
	}
	return all
}

var named = regexp.MustCompile("`([a-z_]+/[A-Za-z0-9_./*-]+)`")

// elsewhere are folders that pages name in a user's directory, where the repository has folders of the same name.
var elsewhere = regexp.MustCompile(`^(?:train/tatoeba|train/techdocs|train/lafand|encode/$|mine/gpu$)`)

// TestNamedPaths: a file or folder that a page names in code, below a folder of the repository, is there.
func TestNamedPaths(t *testing.T) {
	for _, page := range tracked(t) {
		if filepath.Ext(page) != ".md" || strings.HasPrefix(page, "bench/results/") || page == "CHANGELOG.md" {
			continue
		}
		for i, line := range readLines(t, page) {
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				top, _, _ := strings.Cut(m[1], "/")
				if _, err := os.Stat(top); err != nil || m[1] != strings.ToLower(m[1]) || elsewhere.MatchString(m[1]) {
					continue // no folder of the repository, a placeholder such as NAME, or a user's
				}
				here, _ := filepath.Glob(m[1])
				beside, _ := filepath.Glob(filepath.Join(filepath.Dir(page), m[1]))
				if len(here)+len(beside) == 0 {
					t.Errorf("%s:%d names %s, which is not there", page, i+1, m[1])
				}
			}
		}
	}
}
