package pairs

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/bitext/concordance"
	"bitextmine/web/webtest"
)

func load(t testing.TB, rows []bitext.Row, product bool) *Set {
	t.Helper()
	dir := t.TempDir()
	webtest.Write(t, dir, rows, webtest.Began)
	s, err := Load(t.Context(), filepath.Join(dir, "de-ar.parquet"), product, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestRowsComeBack: every pair is read as it stands in the file, by its row and by its keys.
func TestRowsComeBack(t *testing.T) {
	rows := webtest.Rows(2*step + 10)
	rows[7].Source.Text, rows[7].Source.Doc, rows[8].Source.Identified, rows[8].Source.Share = "", "document 7", "", 0
	s := load(t, rows, false)
	if s.Len() != len(rows) || !s.Scored() || !slices.Equal(s.Features, []string{"first", "second"}) {
		t.Errorf("%d pairs, scored %v, features %v", s.Len(), s.Scored(), s.Features)
	}
	kept := 0
	for i := range rows {
		got, err := s.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*got, rows[i]) {
			t.Fatalf("row %d is %+v, want %+v", i, *got, rows[i])
		}
		if n := s.Numbers(i); n.Value != *rows[i].Prob || n.Kept != rows[i].Keep || !slices.Equal(n.Reasons, rows[i].Reasons) {
			t.Errorf("row %d: %+v", i, n)
		}
		if at, ok := s.Find([2][16]byte{rows[i].Source.Key, rows[i].Target.Key}); !ok || at != i {
			t.Errorf("row %d is found at %d, %v", i, at, ok)
		}
		if rows[i].Keep {
			kept++
		}
	}
	if s.Kept() != kept {
		t.Errorf("%d kept, want %d", s.Kept(), kept)
	}
	if _, ok := s.Find([2][16]byte{rows[0].Source.Key, rows[1].Target.Key}); ok {
		t.Error("a pair that does not exist is found")
	}
}

// TestDecided: without probabilities the margin decides or, in two-stage mining, the product.
func TestDecided(t *testing.T) {
	rows := webtest.Rows(3)
	cosine := float32(0.5)
	for i := range rows {
		rows[i].Prob, rows[i].Score = nil, 1.5
	}
	rows[0].RefineCosine = &cosine
	s := load(t, rows, false)
	if got := s.Numbers(0).Value; got != 1.5 || s.Scored() {
		t.Errorf("the margin is %v", got)
	}
	if got := s.decided(&rows[0], true); got != 1.5 { // the bitext has the product itself
		t.Errorf("the product is %v", got)
	}
	if got := s.decided(&rows[1], true); !math.IsNaN(float64(got)) {
		t.Errorf("without a strong cosine the product is %v", got)
	}
	// Where probabilities decide, a pair without one was found by its place in documents.
	rows[1].Prob = &cosine
	s = load(t, rows, false)
	if !s.Scored() || s.Numbers(1).Value != 0.5 || !math.IsNaN(float64(s.Numbers(0).Value)) {
		t.Errorf("the probabilities are %v and %v, scored %v", s.Numbers(0).Value, s.Numbers(1).Value, s.Scored())
	}
}

// listOf returns the rows of a selection without bounds.
func listOf(t *testing.T, s *Set, wanted Selection) []int32 {
	t.Helper()
	if wanted.Min == 0 && wanted.Max == 0 {
		wanted.Min, wanted.Max = math.Inf(-1), math.Inf(1)
	}
	rows, err := s.List(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestListsAreFiltered: by bounds of the value and by words, among pairs that were not kept, too.
func TestListsAreFiltered(t *testing.T) {
	rows := webtest.Rows(120)
	rows[30].Source.Text, rows[30].Keep = "İstanbul, STRASSE und straße", false
	s := load(t, rows, false)
	for _, c := range []struct {
		wanted Selection
		want   func(i int) bool
	}{
		{Selection{Show: All, Order: ByRow, Min: 0.25, Max: 0.75}, func(i int) bool { return *rows[i].Prob >= 0.25 && *rows[i].Prob <= 0.75 }},
		{Selection{Show: All, Order: ByRow, Text: "straße"}, func(i int) bool { return i == 30 }},
		{Selection{Show: Kept, Order: ByRow, Text: "straße"}, func(int) bool { return false }},
		{Selection{Show: Kept, Order: ByRow, Text: "HAUS", Min: 0.9, Max: 1}, func(i int) bool { return rows[i].Keep && *rows[i].Prob >= 0.9 && i != 30 }},
	} {
		var want []int32
		for i := range rows {
			if c.want(i) {
				want = append(want, int32(i))
			}
		}
		if got := listOf(t, s, c.wanted); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", c.wanted, got, want)
		}
	}
}

// TestListOfAnEndedRequest: a list whose request ended is made again for the next one, and for whoever waited for it.
func TestListOfAnEndedRequest(t *testing.T) {
	s := load(t, webtest.Rows(30), false)
	wanted := Selection{Show: All, Order: ByRow, Text: "haus", Min: math.Inf(-1), Max: math.Inf(1)}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if rows, err := s.List(ended, wanted); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended request got %d rows, error %v", len(rows), err)
	}
	other := s.lists.find(wanted, func() ([]int32, error) { return nil, ended.Err() })
	if rows, err := s.List(t.Context(), wanted); err != nil || len(rows) == 0 {
		t.Errorf("after ended requests there are %d rows, error %v", len(rows), err)
	}
	if s.lists.known[wanted] == other {
		t.Error("the list that was not made is kept")
	}
}

func TestLists(t *testing.T) {
	rows := webtest.Rows(300)
	s := load(t, rows, false)
	value := func(row int32) float64 { return float64(*rows[row].Prob) }
	for _, show := range []string{All, Kept, Rejected, "untranslated", "below_threshold", "nothing"} {
		var want []int32
		for i, row := range rows {
			if show == All || show == Kept && row.Keep || show == Rejected && !row.Keep || slices.Contains(row.Reasons, show) {
				want = append(want, int32(i))
			}
		}
		for _, order := range Orders {
			got := listOf(t, s, Selection{Show: show, Order: order, Threshold: webtest.Threshold})
			if again := listOf(t, s, Selection{Show: show, Order: order, Threshold: webtest.Threshold}); !slices.Equal(got, again) {
				t.Errorf("%s, %s: two lists differ", show, order)
			}
			if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, want) {
				t.Errorf("%s, %s: %d pairs, want %d", show, order, len(got), len(want))
			}
			for i := 1; i < len(got); i++ {
				before, after := value(got[i-1]), value(got[i])
				near := math.Abs(before-webtest.Threshold) > math.Abs(after-webtest.Threshold)
				if order == ByRow && got[i-1] > got[i] || order == Best && before < after || order == Worst && before > after || order == Uncertain && near {
					t.Fatalf("%s, %s: %v before %v", show, order, before, after)
				}
			}
		}
	}
	random := listOf(t, s, Selection{Show: All, Order: Random})
	if slices.IsSorted(random) || slices.Equal(random, listOf(t, s, Selection{Show: All, Order: Best})) {
		t.Error("the random order is another one")
	}
	if len(s.lists.known) > maxLists {
		t.Errorf("%d lists are in memory", len(s.lists.known))
	}
	if got, want := s.Reasons(), []Reason{{"below_threshold", 66}, {"untranslated", 34}}; !slices.Equal(got, want) {
		t.Errorf("reasons %v, want %v", got, want)
	}
}

// TestPairsWithoutAValue come last in every order by value.
func TestPairsWithoutAValue(t *testing.T) {
	rows := webtest.Rows(30)
	s := load(t, rows, false)
	for i := range s.entries {
		if i%3 == 0 {
			s.entries[i].value = float32(math.NaN())
		}
	}
	for _, order := range []string{Best, Worst, Uncertain} {
		got := listOf(t, s, Selection{Show: All, Order: order, Threshold: 0.5})
		for i, row := range got {
			if unseen := math.IsNaN(float64(s.entries[row].value)); unseen != (i >= 20) {
				t.Fatalf("%s: place %d is row %d", order, i, row)
			}
		}
	}
}

func TestScan(t *testing.T) {
	rows := webtest.Rows(120)
	rows[30].Source.Text = "İstanbul, STRASSE und straße, Fuß\u00adgän\u00adger mit H₂O, IŞIK hızlıdır (kilit) ﷺ"
	rows[30].Target.Text = "aa a aaa"
	s := load(t, rows, false)
	both := [2]bool{true, true}
	for name, c := range map[string]struct {
		q     concordance.Query
		total int
		marks string // marks of the first hit, joined
	}{
		"a word in any case":        {concordance.Query{Text: "HAUS", Mode: concordance.Words, Sides: both}, 78, "Haus|"},
		"words in any order":        {concordance.Query{Text: "fluss haus", Mode: concordance.Words, Sides: both}, 78, "Haus Fluss|"},
		"words on different sides":  {concordance.Query{Text: "Haus النهر", Mode: concordance.Words, Sides: both}, 0, ""},
		"a side":                    {concordance.Query{Text: "12", Mode: concordance.Words, Sides: [2]bool{false, true}}, 2, "|12"},
		"a phrase":                  {concordance.Query{Text: "  Nummer   12 ", Mode: concordance.Phrase, Sides: both}, 1, "Nummer 12|"},
		"a phrase in another order": {concordance.Query{Text: "12 Nummer", Mode: concordance.Phrase, Sides: both}, 0, ""},
		"characters of an RE":       {concordance.Query{Text: "(.*", Mode: concordance.Words, Sides: both}, 0, ""},
		"an RE":                     {concordance.Query{Text: `^Das .* 1[0-2] `, Mode: concordance.Regexp, Sides: both}, 2, "Das Haus Nummer 10 |"},
		"letters beside longer":     {concordance.Query{Text: "straße", Mode: concordance.Words, Sides: both}, 1, "straße|"},
		"parts that touch":          {concordance.Query{Text: "a aa", Mode: concordance.Words, Sides: [2]bool{false, true}}, 1, "|aa a aaa"},
		"a dotless i":               {concordance.Query{Text: "ışık HIZLI", Mode: concordance.Words, Sides: both}, 1, "IŞIK hızlı|"},
		"a capital I with a dot":    {concordance.Query{Text: "istanbul", Mode: concordance.Words, Sides: both}, 1, "İstanbul|"},
		"a capital of i":            {concordance.Query{Text: "(KİLİT)", Mode: concordance.Words, Sides: both}, 1, "(kilit)|"},
		"quotation marks":           {concordance.Query{Text: `"Nummer 12" "das haus"`, Mode: concordance.Words, Sides: both}, 1, "Das Haus Nummer 12|"},
		"left out":                  {concordance.Query{Text: `"nummer 11" haus -"Nummer 112  steht"`, Mode: concordance.Words, Sides: both}, 5, "Haus Nummer 11|"},
		"left out in the other":     {concordance.Query{Text: `+12 -النهر`, Mode: concordance.Words, Sides: both}, 0, ""},
		"a soft hyphen":             {concordance.Query{Text: "fußgänger h2o", Mode: concordance.Words, Sides: both}, 1, "Fuß\u00adgän\u00adger H₂O|"},
		"words of one character":    {concordance.Query{Text: "صلى وسلم", Mode: concordance.Words, Sides: both}, 1, "ﷺ|"},
		"the second page":           {concordance.Query{Text: "haus", Mode: concordance.Words, Sides: both, Skip: 77}, 78, "Haus|"},
		"past the end":              {concordance.Query{Text: "haus", Mode: concordance.Words, Sides: both, Skip: 90}, 78, ""},
	} {
		c.q.Limit = 50
		found, err := s.Scan(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		marks := ""
		if len(found.Hits) > 0 {
			hit := found.Hits[0]
			var sides [2][]string
			for side, spans := range hit.Marks {
				for _, m := range spans {
					sides[side] = append(sides[side], hit.Texts[side][m.Start:m.End])
				}
			}
			marks = strings.Join(sides[0], " ") + "|" + strings.Join(sides[1], " ")
			if !rows[hit.Row].Keep || rows[hit.Row].Source.Text != hit.Texts[0] {
				t.Errorf("%s: row %d is not what was found", name, hit.Row)
			}
		}
		if found.Total != c.total || marks != c.marks {
			t.Errorf("%s: %d pairs with marks %q, want %d with %q", name, found.Total, marks, c.total, c.marks)
		}
	}
	for _, q := range []concordance.Query{{Text: "(", Mode: concordance.Regexp}, {Text: "a", Mode: concordance.Fuzzy}, {Text: " ", Mode: concordance.Words}, {Text: "-Haus", Mode: concordance.Words}} {
		if _, err := s.Scan(t.Context(), q); err == nil {
			t.Errorf("%+v was searched for", q)
		}
	}
}

// TestScanBest: the hits of the highest value come first, page by page, and the total is that of Scan.
func TestScanBest(t *testing.T) {
	s := load(t, webtest.Rows(120), false)
	q := concordance.Query{Text: "Haus", Mode: concordance.Regexp, Sides: [2]bool{true, true}, Limit: 50}
	before, hits := math.Inf(1), 0
	for ; q.Skip < 100; q.Skip += q.Limit {
		found, err := s.ScanBest(t.Context(), q)
		if err != nil || found.Total != 79 {
			t.Fatalf("%+v, error %v", found, err)
		}
		for _, hit := range found.Hits {
			value := float64(s.Numbers(hit.Row).Value)
			if value > before {
				t.Errorf("%v comes after %v", value, before)
			}
			before = value
			hits++
		}
	}
	if hits != 79 {
		t.Errorf("%d hits on two pages", hits)
	}
}
