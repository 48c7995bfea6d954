package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestReviewSurvivesAKill opens a run, searches, reviews ten pairs by keyboard, and kills the server: the decisions are
// there, and a new server shows them.
func TestReviewSurvivesAKill(t *testing.T) {
	dir := run(t)
	s := serve(t, dir)
	b := open(t)
	b.do(chromedp.Navigate(s.url))
	if h1 := b.text("h1"); !strings.HasPrefix(h1, "German–English: ") {
		t.Errorf("the overview begins with %q", h1)
	}
	b.eventually("performance.getEntriesByName('first-contentful-paint').length > 0")
	if paint := eval[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime"); paint > 1000 {
		t.Errorf("the first paint took %.0f ms", paint)
	} else {
		t.Logf("first paint after %.0f ms", paint)
	}
	if eval[string](b, "location.hash") != "" {
		t.Error("the token is in the address still")
	}

	b.do(chromedp.Click(chromedp.CSS("nav a[href='/search']")), chromedp.WaitVisible(chromedp.CSS("#q")), chromedp.SendKeys(chromedp.CSS("#q"), "haus"+kb.Enter), chromedp.WaitVisible(chromedp.CSS(".found")))
	if marks := eval[int](b, "document.querySelectorAll('mark').length"); marks == 0 {
		t.Errorf("nothing is marked: %s", b.text("main"))
	}
	b.do(chromedp.Click(chromedp.CSS(".pairs a.value")), chromedp.WaitVisible(chromedp.CSS("#explanation table")))
	if verdict := b.text(".verdict"); !strings.HasPrefix(verdict, "Kept: ") {
		t.Errorf("the explanation says %q", verdict)
	}

	b.do(chromedp.Navigate(s.address+"/review?show=kept&order=near"), chromedp.WaitVisible(chromedp.CSS("#card [data-key]")))
	want := map[string]bool{}
	for i := range 10 {
		key := eval[string](b, "document.querySelector('#card [data-key]').dataset.key")
		accept := i%3 != 0
		want[key] = accept
		b.do(chromedp.KeyEvent(map[bool]string{true: "a", false: "r"}[accept]))
		b.eventually(fmt.Sprintf("document.querySelector('#card [data-key]').dataset.key !== %q", key))
	}
	if got := b.text("#accepted") + " " + b.text("#rejected"); got != "6 4" {
		t.Errorf("the page counts %s", got)
	}
	b.undoAndRedo()
	s.kill()

	if got := latest(t, dir); len(got) != len(want) {
		t.Errorf("%d decisions after the kill, want %d", len(got), len(want))
	} else {
		for key, accepted := range want {
			if was, ok := got[key]; !ok || was != accepted {
				t.Errorf("the decision on %s is %v, %v, want %v", key, was, ok, accepted)
			}
		}
	}
	b.do(chromedp.KeyEvent("a"))
	b.eventually("document.getElementById('status').textContent.includes('was not stored')")

	again := serve(t, dir)
	b.do(chromedp.Navigate(again.url), chromedp.Navigate(again.address+"/review?show=kept&order=near"), chromedp.WaitVisible(chromedp.CSS("#card [data-key]")))
	if got := b.text("#accepted") + " " + b.text("#rejected"); got != "6 4" {
		t.Errorf("the new server counts %s", got)
	}
	if at := eval[string](b, "document.querySelector('#card [data-key]').dataset.at"); at != "10" {
		t.Errorf("the review goes on at place %s", at)
	}
	b.stayed(s.address, again.address)
}

// undoAndRedo takes the last decision back and gives it again, going back and forth on the way.
func (b *tab) undoAndRedo() {
	b.Helper()
	at := func(place int) {
		b.Helper()
		b.eventually(fmt.Sprintf("document.querySelector('#card [data-at]').dataset.at === '%d'", place))
	}
	b.do(chromedp.KeyEvent("u"))
	b.eventually("document.getElementById('rejected').textContent === '3'")
	at(9)
	b.do(chromedp.KeyEvent("k"))
	at(8)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	at(9)
	b.do(chromedp.KeyEvent("r"))
	b.eventually("document.getElementById('rejected').textContent === '4'")
	at(10)
}

// latest reads the decisions of a run, the last one of each pair.
func latest(t *testing.T, dir string) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for line := range bytes.Lines(data) {
		var l struct {
			Source    string `json:"src_key"`
			Target    string `json:"tgt_key"`
			Accepted  bool   `json:"accepted"`
			Withdrawn bool   `json:"withdrawn"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		if key := l.Source + ":" + l.Target; l.Withdrawn {
			delete(got, key)
		} else {
			got[key] = l.Accepted
		}
	}
	return got
}

// TestKeyboardAlone reaches everything by keys: the content by one, the help and back, every button of the review.
func TestKeyboardAlone(t *testing.T) {
	s := serve(t, run(t))
	b := open(t)
	focused := func() string {
		return eval[string](b, "document.activeElement.dataset.do || document.activeElement.id || document.activeElement.textContent")
	}
	b.do(chromedp.Navigate(s.url), chromedp.Navigate(s.address+"/review?order=row"), chromedp.WaitVisible(chromedp.CSS("#card [data-key]")), chromedp.KeyEvent(kb.Tab))
	if got := focused(); got != "Skip to content" {
		t.Errorf("the first key leads to %q", got)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	var order []string
	for range 18 {
		b.do(chromedp.KeyEvent(kb.Tab))
		order = append(order, strings.TrimSpace(focused()))
	}
	if got := strings.Join(order, ", "); !strings.HasPrefix(got, "help, show, order, words, min, max, Start, Details, reject, accept, edit, undo, previous, next, name") {
		t.Errorf("the focus goes to %s", got)
	}
	b.do(chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("#help")))
	before := eval[string](b, "document.querySelector('#card [data-at]').dataset.at")
	b.do(chromedp.KeyEvent("a"), chromedp.KeyEvent("j")) // not while the dialog is open
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotVisible(chromedp.CSS("#help")))
	if after := eval[string](b, "document.querySelector('#card [data-at]').dataset.at"); after != before {
		t.Error("keys went to the review behind the dialog")
	}
	b.do(chromedp.Focus(chromedp.CSS("[data-do=accept]")), chromedp.KeyEvent(kb.Enter))
	b.eventually("document.getElementById('accepted').textContent === '1'")
	if got := focused(); got != "accept" {
		t.Errorf("after a decision the focus is on %q", got)
	}
	if got := b.text("#status"); got != "Accepted." {
		t.Errorf("a screen reader is told %q", got)
	}
	// Letters are no keys any more, arrows are.
	b.do(chromedp.KeyEvent("?"))
	b.eventually("document.getElementById('help').open")
	b.do(chromedp.Focus(chromedp.CSS("#letters")), chromedp.KeyEvent(" "))
	b.eventually("!document.getElementById('letters').checked")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.eventually("!document.getElementById('help').open")
	b.do(chromedp.KeyEvent("r"), chromedp.KeyEvent(kb.ArrowRight))
	b.eventually("document.querySelector('#card [data-at]').dataset.at === '2'")
	if got := b.text("#rejected"); got != "0" {
		t.Errorf("%s pairs are rejected", got)
	}
	b.stayed(s.address)
}

// TestRefusedCard: the review tells why a pair cannot be shown, in the words of the problem's page alone.
func TestRefusedCard(t *testing.T) {
	s := serve(t, run(t))
	b := open(t)
	b.do(chromedp.Navigate(s.url), chromedp.Navigate(s.address+"/review"), chromedp.WaitVisible(chromedp.CSS("#card [data-key]")))
	eval[any](b, "document.getElementById('card').dataset.query = 'order=none'")
	b.do(chromedp.KeyEvent("j"))
	b.eventually("document.getElementById('status').textContent !== ''")
	if got := b.text("#status"); !strings.HasPrefix(got, "The address is wrong: ") || strings.Contains(got, "<") {
		t.Errorf("the page says %q", got)
	}
}

// TestEditFilterAndSample: a reviewer gives a name, corrects a pair, decides on a random sample and sees its precision,
// filters the pairs, and has an index made and searched.
func TestEditFilterAndSample(t *testing.T) {
	dir := run(t)
	s := serve(t, dir)
	b := open(t)
	b.do(chromedp.Navigate(s.url), chromedp.Navigate(s.address+"/review"), chromedp.WaitVisible(chromedp.CSS("#card [data-key]")))
	b.do(chromedp.SendKeys(chromedp.CSS("#name"), "Anna"+kb.Tab), chromedp.Blur(chromedp.CSS("#name")))
	key := eval[string](b, "document.querySelector('#card [data-key]').dataset.key")
	b.do(chromedp.Click(chromedp.CSS("[data-do=edit]")), chromedp.WaitVisible(chromedp.CSS("#edit")))
	before := eval[string](b, "document.getElementById('edit-target').value")
	if before == "" || before != eval[string](b, "document.querySelectorAll('#card .sentence')[1].textContent") {
		t.Errorf("the editor begins with %q", before)
	}
	b.shot("edit")
	b.do(chromedp.SendKeys(chromedp.CSS("#edit-target"), " Corrected."), chromedp.Click(chromedp.CSS("#edit .main")))
	is, isNot := fmt.Sprintf("document.querySelector('#card [data-key]').dataset.key === %q", key), fmt.Sprintf("document.querySelector('#card [data-key]').dataset.key !== %q", key)
	b.eventually(isNot)
	// Another reviewer accepts what is shown, and takes that back.
	eval[any](b, "localStorage.setItem('name', 'Ben')")
	b.do(chromedp.KeyEvent("k"))
	b.eventually(is)
	b.do(chromedp.KeyEvent("a"))
	b.eventually(isNot)
	b.do(chromedp.KeyEvent("u"))
	b.eventually(is)
	b.do(chromedp.KeyEvent("j"))
	b.eventually(isNot)
	for i := range 5 {
		key := eval[string](b, "document.querySelector('#card [data-key]').dataset.key")
		b.do(chromedp.KeyEvent(map[bool]string{true: "a", false: "r"}[i > 0]))
		b.eventually(fmt.Sprintf("document.querySelector('#card [data-key]').dataset.key !== %q", key))
	}
	if got := b.text(".sample"); !strings.HasPrefix(got, "Of the first 6 pairs of this random order 4 are right as mined: precision 66.7%") {
		t.Errorf("the sample says %q", got)
	}
	b.shot("sample")
	data, err := os.ReadFile(filepath.Join(dir, "labels.jsonl"))
	lines := strings.Split(string(data), "\n")
	for i, name := range []string{"Anna", "Ben", "Anna"} {
		if err != nil || !strings.Contains(lines[i], "Corrected.") || !strings.Contains(lines[i], `"by":"`+name+`"`) {
			t.Errorf("label %d is %q, %v", i, lines[i], err)
		}
	}
	b.do(chromedp.Navigate(s.address+"/pairs?show=all"), chromedp.WaitVisible(chromedp.CSS("#words")), chromedp.SendKeys(chromedp.CSS("#words"), "corrected"+kb.Enter))
	b.eventually("document.querySelector('.empty') !== null") // no mined text has the word
	b.do(chromedp.Navigate(s.address+"/pairs?show=all&min=0.2&max=0.8"), chromedp.WaitVisible(chromedp.CSS(".pairs")))
	if wrong := eval[int](b, "[...document.querySelectorAll('.pairs .value')].filter((v) => v.textContent < 0.199 || v.textContent > 0.801).length"); wrong != 0 {
		t.Errorf("%d pairs are not between 0.2 and 0.8", wrong)
	}
	if marks := eval[int](b, "document.querySelectorAll('mark.differs').length"); marks == 0 {
		t.Error("no number or name is marked among pairs in doubt")
	}
	b.shot("filtered")
	b.do(chromedp.Navigate(s.address+"/search?q=hauser&mode=fuzzy"), chromedp.WaitVisible(chromedp.CSS("#index")), chromedp.Click(chromedp.CSS("#index")))
	b.eventually("document.querySelector('#indexing, #index') === null && document.querySelector('.found') !== null")
	b.stayed(s.address)
}

// TestTokenIsAskedFor: without the token the page asks for it, and a wrong one writes nothing.
func TestTokenIsAskedFor(t *testing.T) {
	dir := run(t)
	s := serve(t, dir)
	_, token, _ := strings.Cut(s.url, "token=")
	b := open(t)
	b.do(chromedp.Navigate(s.address+"/review"), chromedp.WaitVisible(chromedp.CSS("#card [data-key]")), chromedp.KeyEvent("a"), chromedp.WaitVisible(chromedp.CSS("#token")))
	b.do(chromedp.SendKeys(chromedp.CSS("#token-field"), "wrong"+kb.Enter))
	b.eventually("document.getElementById('token').open && document.getElementById('token-field').value === '' && !document.getElementById('token-problem').hidden")
	if _, err := os.Stat(filepath.Join(dir, "labels.jsonl")); err == nil {
		t.Error("something was written without the token")
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#token-field"), s.address+"/#token="+token+kb.Enter))
	b.eventually("document.getElementById('accepted').textContent === '1'")
	if got := latest(t, dir); len(got) != 1 {
		t.Errorf("decisions %v", got)
	}
	b.stayed(s.address)
}
