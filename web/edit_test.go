package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/bitext"
	"bitextmine/bitext/label"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/web/pairs"
	"bitextmine/web/webtest"
)

// send posts to a path with the token.
func send(t *testing.T, url, content string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(tokenHeader, token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// TestEditsAreShown: an edit is a label with its texts and its reviewer; the page shows the corrected texts and, on the
// pair's own page, those that were mined.
func TestEditsAreShown(t *testing.T) {
	dir, ts := sample(t)
	content := fmt.Sprintf(`{"key":%q,"decision":"accept","by":"Anna","texts":["Das alte  Haus","Casa <vieja>"]}`, keyOfRow(0))
	if status := send(t, ts.URL+"/labels", content); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	labels, err := label.Latest(dir)
	if err != nil || len(labels) != 1 || labels[0].SourceText != "Das alte Haus" || labels[0].TargetText != "Casa <vieja>" || labels[0].By != "Anna" || !labels[0].Accepted {
		t.Errorf("labels %+v, %v", labels, err)
	}
	if got := label.Decisions(labels)[0]; got.Edited() || got.By != "" || !got.Accepted {
		t.Errorf("a run is given %+v", got)
	}
	wants(t, ts, "/pair/0", "Das alte Haus", "Casa &lt;vieja&gt;", "edited by Anna", "as mined", "Nummer 0")
	wants(t, ts, "/pairs?show=all", "Das alte Haus", "edited by Anna")
	row := webtest.Rows(2)[1]
	content = fmt.Sprintf(`{"key":%q,"decision":"accept","texts":[%q,%q]}`, keyOfRow(1), row.Source.Text+" ", row.Target.Text)
	if status := send(t, ts.URL+"/labels", content); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if labels, err := label.Latest(dir); err != nil || len(labels) != 2 || labels[0].Edited() && labels[1].Edited() {
		t.Errorf("texts as mined are an edit: %+v, %v", labels, err)
	}
}

// TestSearchShowsCorrections: a hit that was corrected has the corrected texts and those that were found, and words
// that only a correction has are found.
func TestSearchShowsCorrections(t *testing.T) {
	_, ts := sample(t)
	for row, decision := range map[int]string{0: `"accept","by":"Carla","texts":["Das alte Schloss","Casa <vieja>"]`, 2: `"accept","texts":["Das Schloss","no es"]`} {
		if status := send(t, ts.URL+"/labels", fmt.Sprintf(`{"key":%q,"decision":%s}`, keyOfRow(row), decision)); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	wants(t, ts, "/search?q=nummer+0&mode=phrase", "Das alte Schloss", "Casa &lt;vieja&gt;", "edited by Carla", "As mined:", "<mark>Nummer 0</mark>")
	for query, want := range map[string]string{"q=SCHLOSS": "<mark>Schloss</mark>", "q=alte+schloss&mode=phrase": "<mark>alte Schloss</mark>", "q=Schlos.&mode=regexp": "<mark>Schloss</mark>"} {
		if body := wants(t, ts, "/search?"+query, "1 pair has the letters in what a reviewer wrote", want, "edited by Carla"); strings.Contains(body, "no es") {
			t.Errorf("%s: a pair that was not kept is found", query)
		}
	}
	for _, query := range []string{"q=schloss&in=ar", "q=schloss&from=50", "q=nummer+1"} {
		if _, body := get(t, ts, "/search?"+query); strings.Contains(body, "In corrected texts") {
			t.Errorf("%s: a correction is found", query)
		}
	}
}

// TestDecisionsAreListed: by what was decided and by whom, also on pairs that the bitext does not have, whose decisions
// can be taken back.
func TestDecisionsAreListed(t *testing.T) {
	dir, ts := sample(t)
	for row, decision := range map[int]string{0: `"accept","by":"Anna"`, 1: `"reject","by":"Bert"`, 2: `"reject"`, 3: `"accept","by":"Anna","texts":["Das","the"]`} {
		if status := send(t, ts.URL+"/labels", fmt.Sprintf(`{"key":%q,"decision":%s}`, keyOfRow(row), decision)); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	gone := label.Of("Es war einmal.", "Once upon a time.")
	if gone.By = "Bert"; label.Append(dir, []label.Label{gone}) != nil {
		t.Fatal("no label was written")
	}
	for query, want := range map[string][]int{
		"label=decided": {0, 1, 2, 3}, "label=accepted": {0}, "label=edited": {3}, "label=rejected": {1, 2}, "by=Anna": {0, 3}, "label=decided&by=Bert": {1},
		"label=rejected&show=kept": {1}, "label=edited&by=Bert": {}, "label=undecided&q=nummer+1+steht": {}, "label=undecided&q=nummer+5+steht": {5},
	} {
		body := wants(t, ts, "/pairs?"+query)
		for row := range 10 {
			if listed := strings.Contains(body, keyOfRow(row)); listed != slices.Contains(want, row) {
				t.Errorf("%s: row %d is listed: %v", query, row, listed)
			}
		}
		if elsewhere := strings.Contains(body, gone.Source); elsewhere != slices.Contains([]string{"label=decided", "label=rejected", "label=decided&by=Bert", "label=rejected&show=kept"}, query) {
			t.Errorf("%s: the pair that the bitext does not have is listed: %v", query, elsewhere)
		}
	}
	wants(t, ts, "/pairs?label=rejected&by=Bert", `<option value="rejected" selected>`, `<option value="Bert" selected>`, "1 decision.", "rejected by Bert")
	for _, query := range []string{"label=magic", "label=undecided&by=Anna", "by=" + strings.Repeat("a", 241)} {
		if status, _ := get(t, ts, "/pairs?"+query); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, status)
		}
	}
	key := gone.Source + ":" + gone.Target
	if status, text := postLabel(t, ts, key, "accept", nil); status != http.StatusConflict {
		t.Errorf("a decision on a pair that is not there: status %d: %s", status, text)
	}
	if status, text := postLabel(t, ts, key, "withdraw", nil); status != http.StatusOK {
		t.Errorf("status %d: %s", status, text)
	}
	if body := wants(t, ts, "/pairs?label=decided"); strings.Contains(body, gone.Source) {
		t.Error("a decision that was taken back is listed")
	}
}

// TestReviewersDoNotOverwriteEachOther: a decision that says which label it replaces is refused once somebody else has
// given the pair another one, and so is an undo; one that says nothing replaces any.
func TestReviewersDoNotOverwriteEachOther(t *testing.T) {
	dir, ts := sample(t)
	decide := func(by, decision, replaces, more string) (status int, version, text string) {
		t.Helper()
		content := fmt.Sprintf(`{"key":%q,"by":%q,"decision":%q`, keyOfRow(0), by, decision) + more
		if replaces != "" {
			content += fmt.Sprintf(`,"replaces":%q`, replaces)
		}
		status, text = postLabel(t, ts, "", "", func(r *http.Request) { body(r, content+"}") })
		var answer stored
		if status == http.StatusOK {
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
		}
		return status, answer.Version, text
	}
	wants(t, ts, "/pair/0", `data-version="none"`)
	status, berts, text := decide("Bert", "accept", "none", `,"texts":["Das alte Haus","Casa"]`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	wants(t, ts, "/review/card?order=row&at=0", `data-version="`+berts+`"`)
	for _, stale := range []string{"none", "0123456789abcdef"} {
		if status, _, text := decide("Anna", "accept", stale, ""); status != http.StatusConflict || !strings.Contains(text, "Bert edited this pair meanwhile") {
			t.Errorf("Anna's page has version %s: status %d: %s", stale, status, text)
		}
	}
	if labels, err := label.Latest(dir); err != nil || len(labels) != 1 || labels[0].By != "Bert" || !labels[0].Edited() {
		t.Errorf("labels %+v, %v", labels, err)
	}
	status, annas, _ := decide("Anna", "reject", berts, "")
	if again, _, _ := decide("Bert", "withdraw", berts, ""); status != http.StatusOK || again != http.StatusConflict {
		t.Errorf("Anna's decision on what she saw: status %d; Bert's undo after it: %d", status, again)
	}
	// Anna's undo restores Bert's label as it was, so that Bert's own undo holds again.
	if status, version, text := decide("Bert", "accept", annas, `,"texts":["Das alte Haus","Casa"]`); status != http.StatusOK || version != berts {
		t.Errorf("Anna's undo: status %d, version %s, want %s: %s", status, version, berts, text)
	}
	if status, version, _ := decide("Bert", "withdraw", berts, ""); status != http.StatusOK || version != noLabel {
		t.Errorf("Bert's undo: status %d, version %s", status, version)
	}
	if status, _, text := decide("Anna", "reject", berts, ""); status != http.StatusConflict || !strings.Contains(text, "taken back") {
		t.Errorf("a decision on what was taken back: status %d: %s", status, text)
	}
	if status, _, _ := decide("Anna", "reject", "", ""); status != http.StatusOK {
		t.Errorf("a decision that says nothing of the label before: status %d", status)
	}
}

// TestRandomReviewEstimates: a review is in random order unless another is asked for, and the pairs that were decided
// at its beginning estimate the precision.
func TestRandomReviewEstimates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	_, ts := sampleIn(t, dir)
	s, _ := served(t, dir)
	form := map[string][]string{}
	wanted, err := selection(form, pairs.Random)
	if err != nil {
		t.Fatal(err)
	}
	wanted.Threshold = s.shown.Report.Threshold
	rows, err := s.shown.Pairs.List(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, ts, "/review", "without leaving one out")
	for i, row := range rows[:10] {
		decision := "accept"
		if i == 3 || i == 5 {
			decision = "reject"
		}
		if status, body := postLabel(t, ts, keyOfRow(int(row)), decision, nil); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	// a gap comes before this row
	if status, body := postLabel(t, ts, keyOfRow(int(rows[11])), "reject", nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	for _, path := range []string{"/review", "/review/card?show=kept&order=random&at=3"} {
		wants(t, ts, path, "Of the first 10 pairs", " 8 are right", "80.0%", "49.0%", "94.3%")
	}
	if _, body := get(t, ts, "/review?order=near"); strings.Contains(body, "Of the first") {
		t.Error("an order by value estimates precision")
	}
}

// TestRejectedBeforeTheRun: if pairs that would stand among those that were decided on were rejected before the run,
// the others are no random sample.
func TestRejectedBeforeTheRun(t *testing.T) {
	all := webtest.Rows(60)
	kept := slices.DeleteFunc(slices.Clone(all), func(r bitext.Row) bool { return !r.Keep })
	lot := func(r bitext.Row) uint64 { return pairs.Lot(&[2][16]byte{r.Source.Key, r.Target.Key}) }
	slices.SortFunc(kept, func(a, b bitext.Row) int { return cmp.Compare(lot(a), lot(b)) })
	for name, c := range map[string]struct {
		rejected int  // place in the random order
		leaves   bool // the run has the rejected pair, as rejected
		estimate bool
	}{
		"before, left out":        {rejected: 3},
		"before, with its reason": {rejected: 3, leaves: true},
		"after":                   {rejected: 12, estimate: true},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		rejected := kept[c.rejected]
		var labels []label.Label
		for _, r := range append(slices.Clone(kept[:10]), rejected) {
			labels = append(labels, label.Of(r.Source.Text, r.Target.Text))
			labels[len(labels)-1].Accepted = r.Source.Key != rejected.Source.Key
		}
		rows := slices.Clone(all)
		at := slices.IndexFunc(rows, func(r bitext.Row) bool { return r.Source.Key == rejected.Source.Key })
		if rows[at].Keep, rows[at].Reasons = false, []string{"label"}; !c.leaves {
			rows = slices.Delete(rows, at, at+1)
		}
		webtest.Write(t, dir, rows, webtest.Began)
		if err := label.Append(dir, labels); err != nil {
			t.Fatal(err)
		}
		_, ts := served(t, dir)
		body := wants(t, ts, "/review")
		if estimate, chosen := strings.Contains(body, "Of the first "), strings.Contains(body, "were rejected before this run"); estimate != c.estimate || chosen == c.estimate {
			t.Errorf("%s: a precision is shown: %v, that the pairs are no sample: %v", name, estimate, chosen)
		}
	}
}

// TestListsAreFiltered: by words, by bounds of the value, and by nonsense.
func TestListsAreFiltered(t *testing.T) {
	_, ts := sample(t)
	body := wants(t, ts, "/pairs?show=all&q=nummer+12&min=0&max=1", "Nummer 12 ", `value="nummer 12"`, `/review?max=1&amp;min=0&amp;order=row&amp;q=nummer&#43;12&amp;show=all`)
	if strings.Contains(body, "Nummer 13 ") {
		t.Error("another pair is in the list")
	}
	wants(t, ts, "/pairs?show=all&min=2", "No pair is in this list")
	wants(t, ts, "/pairs?show=rejected", "score too low", "what decides is below the threshold")
	for _, query := range []string{"min=x", "max=NaN", "q=%ff", "q=" + strings.Repeat("a", 1025)} {
		if status, _ := get(t, ts, "/pairs?"+query); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, status)
		}
	}
}

// TestIndexIsMadeFromThePage: whoever has the token has the index made, and the search then uses it.
func TestIndexIsMadeFromThePage(t *testing.T) {
	_, ts := sample(t)
	answer, err := http.Post(ts.URL+"/index", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: status %d", answer.StatusCode)
	}
	for range 2 {
		if status := send(t, ts.URL+"/index", ""); status != http.StatusAccepted {
			t.Errorf("status %d", status)
		}
	}
	end := time.Now().Add(time.Minute)
	for {
		_, body := get(t, ts, "/search?q=Hauz&mode=fuzzy")
		if strings.Contains(body, "<mark>Haus</mark>") {
			return
		}
		if time.Now().After(end) {
			t.Fatal(body)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestIndexIsNotMade: the page says why, until the next attempt.
func TestIndexIsNotMade(t *testing.T) {
	dir, ts := sample(t)
	file := filepath.Join(dir, "concordance")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shows := func(text string) func() bool {
		return func() bool { _, body := get(t, ts, "/search?q=Haus"); return strings.Contains(body, text) }
	}
	const problem = `role="alert">The index was not made: `
	send(t, ts.URL+"/index", "")
	waitFor(t, shows(problem))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	send(t, ts.URL+"/index", "")
	waitFor(t, func() bool { return !shows("has no index")() && !shows(`id="indexing"`)() })
	if shows(problem)() {
		t.Error("the page says that the index was not made")
	}
}

// TestVerdictsAreRounded: a threshold has as many digits as the probability beside it.
func TestVerdictsAreRounded(t *testing.T) {
	for v, want := range map[mine.Verdict]string{mine.Kept: "its probability passes the threshold 0.494.", mine.BelowThreshold: "its probability does not pass the threshold 0.494."} {
		if got := verdict(&decide.Explanation{Candidate: true, Scored: true, Verdict: v, Threshold: 0.4938478171825409}, nil); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDiffer: what one side has and the other lacks is marked, whatever way a number is written or a name spelled.
func TestDiffer(t *testing.T) {
	for _, c := range []struct{ source, target, languages, want string }{
		{"Am 3. Mai 1998 kamen 1.200 Leute.", "On 3 May 1999, 1,200 people came.", "de en", "1998|1999"},
		{"Es sind zwölf.", "There are 12 of them.", "de en", "|"},
		{"Il vit à Lyon avec Marie.", "He lives in Paris with Marie.", "fr en", "Lyon|Paris"},
		{"Жил в Москве 25 лет.", "He lived in Moscow for 26 years.", "ru en", "25|26"},
		{"Wir sahen Merkel in Rostock.", "We saw Merkel in Magdeburg.", "de en", "|Magdeburg"},
		{"", "Nothing here 77", "de en", "|77"},
		{"İ 55", "x 56", "tr en", "55|56"},
		{"İzmir limanına 82 gemi geldi.", "82 ships arrived at the port of Izmir.", "tr en", "|"},
		{"他有１６，７００元和９９本。", "He has 16,700 yuan and 98 books.", "zh en", "９９|98"},
	} {
		texts := [2]string{c.source, c.target}
		marks := differ(texts, [2]string(strings.Fields(c.languages)))
		var got [2][]string
		for side := range texts {
			for _, m := range marks[side] {
				got[side] = append(got[side], texts[side][m.Start:m.End])
			}
		}
		if said := strings.Join(slices.Concat(got[0], []string{"|"}, got[1]), " "); strings.ReplaceAll(said, " | ", "|") != c.want && strings.ReplaceAll(strings.ReplaceAll(said, " |", "|"), "| ", "|") != c.want {
			t.Errorf("%q and %q: %s, want %s", c.source, c.target, said, c.want)
		}
	}
}
