package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// review opens the review with the server's token, as a reviewer with a name.
func (b *tab) review(s *server, name string) {
	b.Helper()
	b.do(chromedp.Navigate(s.url))
	eval[any](b, fmt.Sprintf("localStorage.setItem('name', %q)", name))
	b.do(chromedp.Navigate(s.address+"/review"), chromedp.WaitVisible(chromedp.CSS("#card [data-key]")))
}

// edit opens the editor. Its key would be typed into it, too: a test's key is two events.
func (b *tab) edit() {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS("[data-do=edit]")), chromedp.WaitVisible(chromedp.CSS("#edit")))
}

// correct adds a word to the target in the editor, and sends it.
func (b *tab) correct(word string) {
	b.Helper()
	b.edit()
	b.do(chromedp.SendKeys(chromedp.CSS("#edit-target"), " "+word), chromedp.Click(chromedp.CSS("#edit .main")))
}

// TestTwoReviewers begin at the same pair: who decides second is told of the first decision and sees it, and nobody's
// undo restores what another page does not know.
func TestTwoReviewers(t *testing.T) {
	dir := run(t)
	s := serve(t, dir)
	anna, bert := open(t), open(t)
	anna.review(s, "Anna")
	bert.review(s, "Bert")
	key := eval[string](anna, "document.querySelector('#card [data-key]').dataset.key")
	at := fmt.Sprintf("document.querySelector('#card [data-key]').dataset.key === %q", key)
	bert.correct("Mended.")
	bert.eventually("!(" + at + ")")
	anna.do(chromedp.KeyEvent("a"))
	anna.eventually("document.getElementById('status').textContent.includes('Bert edited this pair meanwhile')")
	anna.eventually("document.getElementById('card').textContent.includes('Mended.') && " + at)
	if got := latest(t, dir); len(got) != 1 {
		t.Errorf("decisions %v", got)
	}
	// Having seen it, she rejects the pair; Bert's undo is refused, hers restores his correction.
	anna.do(chromedp.KeyEvent("r"))
	anna.eventually("!(" + at + ")")
	bert.do(chromedp.KeyEvent("u"))
	bert.eventually("document.getElementById('status').textContent.includes('Anna rejected this pair meanwhile') && " + at)
	anna.do(chromedp.KeyEvent("u"))
	anna.eventually(at + " && document.querySelector('#card .tag.edited').textContent.includes('Bert')")
	data, err := os.ReadFile(filepath.Join(dir, "labels.jsonl"))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if err != nil || len(lines) != 3 || lines[2] != lines[0] {
		t.Errorf("labels %q, %v", lines, err)
	}
	anna.stayed(s.address)
	bert.stayed(s.address)
}

// TestCorrectionsAreNotLost: the editor keeps its texts until they are stored, and Esc asks before it discards them.
func TestCorrectionsAreNotLost(t *testing.T) {
	dir := run(t)
	s := serve(t, dir)
	b, other := open(t), open(t)
	b.review(s, "Anna")
	other.review(s, "Bert")
	holds := "document.getElementById('edit').open && document.getElementById('edit-target').value.endsWith('Mended.')"
	problem := func(part string) string {
		return fmt.Sprintf("document.getElementById('edit-problem').textContent.includes(%q)", part)
	}
	b.edit()
	b.do(chromedp.KeyEvent(kb.Escape))
	b.eventually("!document.getElementById('edit').open") // nothing was changed
	other.do(chromedp.KeyEvent("r"))
	other.eventually("document.getElementById('rejected').textContent === '1'")
	b.correct("Mended.")
	b.eventually(problem("Bert rejected this pair meanwhile") + " && " + holds)
	b.do(chromedp.Focus(chromedp.CSS("#edit-target")), chromedp.KeyEvent(kb.Escape))
	b.eventually(problem("Esc again") + " && " + holds)
	eval[any](b, "localStorage.removeItem('token')")
	b.do(chromedp.Click(chromedp.CSS("#edit .main")), chromedp.WaitVisible(chromedp.CSS("#token")))
	if !eval[bool](b, "document.getElementById('token-problem').hidden") {
		t.Error("a token that was never given is wrong")
	}
	b.do(chromedp.Click(chromedp.CSS("#token [data-close]")))
	b.eventually(problem("it needs the token") + " && " + holds)
	eval[any](b, "(document.getElementById('edit-source').value = ' ')")
	b.do(chromedp.Click(chromedp.CSS("#edit .main")))
	b.eventually(problem("A text is empty") + " && " + holds)
	b.do(chromedp.SendKeys(chromedp.CSS("#edit-source"), "Etwas."))
	s.kill()
	_, token, _ := strings.Cut(s.url, "token=")
	eval[any](b, fmt.Sprintf("localStorage.setItem('token', %q)", token))
	b.do(chromedp.Click(chromedp.CSS("#edit .main")))
	b.eventually(problem("does not answer") + " && " + holds)
	b.do(chromedp.Focus(chromedp.CSS("#edit-target")), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape))
	b.eventually("!document.getElementById('edit').open")
	if got := latest(t, dir); len(got) != 1 {
		t.Errorf("decisions %v", got)
	}
}

// TestKeysOnAPairsPage: its buttons' keys work there, and undo restores the label before on the same page.
func TestKeysOnAPairsPage(t *testing.T) {
	dir := run(t)
	s := serve(t, dir)
	b := open(t)
	b.review(s, "Anna")
	b.do(chromedp.KeyEvent("o"), chromedp.WaitVisible(chromedp.CSS("#pair")), chromedp.WaitVisible(chromedp.CSS("#explanation table")))
	key := eval[string](b, "document.getElementById('pair').dataset.key")
	if got := eval[string](b, "location.pathname"); got != "/pair/"+key {
		t.Errorf("the details are at %s", got)
	}
	labelled := func(label string) string {
		return fmt.Sprintf("document.getElementById('pair').dataset.label === %q", label)
	}
	b.do(chromedp.KeyEvent("e"), chromedp.WaitVisible(chromedp.CSS("#edit")), chromedp.Click(chromedp.CSS("#edit [data-close]")))
	b.correct("Mended.")
	b.eventually(labelled("edited") + " && document.getElementById('says').textContent.includes('as mined')")
	b.do(chromedp.KeyEvent("r"))
	b.eventually(labelled("rejected"))
	b.do(chromedp.KeyEvent("u"))
	b.eventually(labelled("edited") + " && document.getElementById('pair').textContent.includes('Mended.')")
	b.do(chromedp.KeyEvent("u"))
	b.eventually(labelled(""))
	b.do(chromedp.KeyEvent("a"))
	b.eventually(labelled("accepted"))
	if got := latest(t, dir); len(got) != 1 || !got[key] {
		t.Errorf("decisions %v", got)
	}
	// A decision on a pair of another run is taken back from the list.
	other := strings.Repeat("0", 31)
	line := fmt.Sprintf(`{"src_key":"%s1","tgt_key":"%s2","accepted":false}`+"\n", other, other)
	data, err := os.ReadFile(filepath.Join(dir, "labels.jsonl"))
	if err != nil || os.WriteFile(filepath.Join(dir, "labels.jsonl"), append(data, line...), 0o600) != nil {
		t.Fatal("no label was written")
	}
	b.do(chromedp.Navigate(s.address+"/pairs?label=rejected"), chromedp.WaitVisible(chromedp.CSS("[data-take-back]")))
	b.shot("take-back")
	b.do(chromedp.Click(chromedp.CSS("[data-take-back]")))
	b.eventually("document.querySelector('.empty') !== null && document.querySelector('[data-take-back]') === null")
	if got := latest(t, dir); len(got) != 1 {
		t.Errorf("decisions %v", got)
	}
	b.stayed(s.address)
}
