package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// fault is a violation that axe-core found.
type fault struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// TestEverybodyCanUseThePages: axe-core finds no fault on any page, wide and narrow, light and dark, and no page is
// wider than the screen. MINE_TEST_SHOTS names a directory for pictures of what was looked at.
func TestEverybodyCanUseThePages(t *testing.T) {
	program(t)
	axe, err := os.ReadFile(os.Getenv("MINE_TEST_AXE"))
	if err != nil {
		t.Fatalf("axe-core is not there: %v; make test-page brings it", err)
	}
	dir := run(t)
	report := filepath.Join(t.TempDir(), "report.html")
	if out, err := exec.Command(program(t), "report", dir, "-o", report).CombinedOutput(); err != nil {
		t.Fatalf("mine report: %v: %s", err, out)
	}
	elsewhere := fmt.Sprintf(`{"src_key":"%032x","tgt_key":"%032x","accepted":true,"src_text":"Das","tgt_text":"The"}`+"\n", 1, 2)
	if err := os.WriteFile(filepath.Join(dir, "labels.jsonl"), []byte(elsewhere), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	b := open(t)
	b.do(chromedp.Navigate(s.url), chromedp.WaitVisible(chromedp.CSS("h1")))
	for _, page := range []struct{ name, path, until, act string }{
		{"overview", "/", "h1", "document.querySelectorAll('details').forEach((d) => { d.open = true; })"},
		{"search", "/search?q=die", ".pairs mark", ""},
		{"search-empty", "/search?q=xyzzy", ".found", ""},
		{"pairs", "/pairs?show=rejected&order=near", ".pairs", ""},
		{"pairs-elsewhere", "/pairs?label=decided", "[data-take-back]", ""},
		{"pair", "/pair/17", "#explanation table", ""},
		{"pair-taken", "/pair/900", "#explanation table", ""},
		{"review", "/review?show=kept&order=near", "#card [data-key]", ""},
		{"review-decided", "/review?show=kept&order=near", "#card [data-key]", "document.querySelector('[data-do=accept]').click()"},
		{"review-end", "/review?show=kept&order=near&at=100000", "#card [data-end]", ""},
		{"editor", "/review", "#card [data-key]", "document.querySelector('[data-do=edit]').click(); document.getElementById('edit-problem').hidden = false"},
		{"help", "/review", "#card [data-key]", "document.querySelector('[data-do=help]').click()"},
		{"token", "/review", "#card [data-key]", "document.getElementById('token-problem').hidden = false; document.getElementById('token').showModal()"},
		{"problem", "/pairs?show=magic", ".problem", ""},
		{"report", "file://" + report, "h1", ""},
	} {
		address := s.address + page.path
		if strings.HasPrefix(page.path, "file:") {
			address = page.path
		}
		b.do(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS(page.until)))
		if page.act != "" {
			b.do(chromedp.Evaluate[chromedp.Void](page.act))
		}
		b.do(chromedp.Evaluate[chromedp.Void](string(axe)))
		for _, width := range []int64{375, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				b.screen(width, scheme)
				b.look(fmt.Sprintf("%s-%d-%s", page.name, width, scheme))
			}
		}
	}
	b.stayed(s.address, "file://")
}

// look checks the page as it is, and takes a picture of it.
func (b *tab) look(name string) {
	b.Helper()
	if over := eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		b.Errorf("%s is %d pixels wider than the screen", name, over)
	}
	var faults []fault
	found := eval[string](b, "axe.run({resultTypes: ['violations']}).then((r) => JSON.stringify(r.violations))")
	if err := json.Unmarshal([]byte(found), &faults); err != nil {
		b.Fatal(err)
	}
	for _, f := range faults {
		for _, node := range f.Nodes {
			b.Errorf("%s: %s (%s): %s\n%s\n%s", name, f.ID, f.Impact, f.Help, node.HTML, node.Summary)
		}
	}
	b.shot(name)
}

// shot leaves a picture of the page in the directory that MINE_TEST_SHOTS names.
func (b *tab) shot(name string) {
	b.Helper()
	shots := os.Getenv("MINE_TEST_SHOTS")
	if shots == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shots, name+".png"), picture, 0o600); err != nil {
		b.Fatal(err)
	}
}
