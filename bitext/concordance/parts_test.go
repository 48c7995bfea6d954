package concordance

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// words are the words of a text, by a language's analyser.
func words(t *testing.T, language string, texts ...string) (of [][]string) {
	t.Helper()
	m, err := newMapping([2]string{language, "en"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		list := []string{}
		for _, token := range m.AnalyzerNamed(analyser(0)).Analyze([]byte(PlainOf(text).Text)) {
			list = append(list, string(token.Term))
		}
		of = append(of, list)
	}
	return of
}

// TestWordsThatAreJoined: words that a mark joins without a space are words each; numbers, initials, elisions and
// contractions are one.
func TestWordsThatAreJoined(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"xx", "Ausstellung.Die Hinweis:Schalten", "ausstellung die hinweis schalten"},
		{"xx", "man:config[8] start_server.sh __init__ ____", "man config 8 start server sh init"},
		{"xx", "www.muster-beispiel.de anna.muster@beispiel.de", "www muster beispiel de anna muster beispiel de"},
		{"xx", "3.14 10 30 1,000 1.234,56 2'000 １０．５ v1.2", "3.14 10 30 1,000 1.234,56 2'000 10.5 v1.2"},
		{"xx", "z.B. U.S.A. z.B.Die Ph.D.", "z.b u.s.a z.b die ph d"},
		{"xx", "log_2021 log_2021_03 x86_64", "log 2021 log 2021 03 x86 64"},
		{"xx", "O'Brien O’Brien's don't we'll l'eau", "o brien o brien's don't we'll l eau"},
		{"uk", "комп'ютер п’ять", "комп'ютер п'ять"},
		{"uz", "ma'lumot", "ma'lumot"},
		{"tr", "İtalya'dan O'Brien'dan", "italya o brien"},
		{"de", "Andrea's geht’s", "andrea geht"},
		{"fr", "l'eau d'un qu'il aujourd'hui d'aujourd'hui O'Brien d’O’Brien L'eau.L'air", "eau un qu il aujourd'hui aujourd'hui o brien o brien eau air"},
		{"it", "dell'anno quest'anno dov'è", "anno quest anno dov'e"},
		{"he", `צה"ל צ'ק`, `צה"ל צ'ק`},
		{"ca", "paral·lel l'home", "paral·lel home"},
	} {
		if got := strings.Join(words(t, c.language, c.text)[0], " "); got != c.want {
			t.Errorf("%s: %s has the words %q, want %q", c.language, c.text, got, c.want)
		}
	}
}

var joined = []pair{
	{"Der Bürgermeister eröffnet die Ausstellung.Die Kinder freuen sich.", "The mayor opens the exhibition.The children are pleased.", 1.2},
	{"Der Fuß\u00adgän\u00adger wartet.", "The pedes\u00adtrian waits.", 1.2},
	{"Das \u2068Mikroskop\u2069\u200e steht im Labor.", "The \u200fmicroscope\u200f is in the lab.", 1.2},
	{"Öffnen Sie start_server.sh mit dem Server.", "Open start_server.sh with the server.", 1.2},
	{"Der Server kann nicht mehr start.", "The start of a server.", 1.2},
	{"Die ﬁnanzielle Lage.", "The ﬁnancial situation.", 1.2},
	{"Wasser (H₂O) in 5² m.", "Water (H₂O) in 5² m.", 1.2},
	{"Me\u0308dchen", "girl Zoe\u0308", 1.2},
	{"Herr O'Brien sagt es.", "Mr O'Brien says it.", 1.2},
	{"Um 10:30 und nicht um 10 oder 30.", "At 10:30.", 1.2},
	{"Um 10 und um 30.", "At 10, and 30.", 1.2},
}

// TestJoinedWordsAreFound: they are found alone and together, by phrases too, and marked where they stand.
func TestJoinedWordsAreFound(t *testing.T) {
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "b.parquet"), [2]string{"de", "en"}, joined))
	for _, c := range []struct {
		text string
		mode Mode
		want []int
		mark string // in the source of the first
	}{
		{"Ausstellung", Words, []int{0}, "Ausstellung"},
		{"Ausstellung.Die", Words, []int{0}, "Ausstellung.Die"},
		{"die Ausstellung die Kinder", Phrase, []int{0}, "die Ausstellung.Die Kinder"},
		{"Fußgänger", Words, []int{1}, "Fuß\u00adgän\u00adger"},
		{"pedes\u00adtrian", Words, []int{1}, ""},
		{"Fußgenger wartet", Fuzzy, []int{1}, "Fuß\u00adgän\u00adger"},
		{"Mikroskop", Words, []int{2}, "Mikroskop"},
		{"das Mikroskop steht", Phrase, []int{2}, "Das \u2068Mikroskop\u2069\u200e steht"},
		{"microscope", Words, []int{2}, ""},
		{"server", Words, []int{3, 4}, "server"},
		{"start_server", Words, []int{3}, "start_server"},
		{"start_server", Fuzzy, []int{3}, "start_server"},
		{"start_server.sh", Words, []int{3}, "start_server.sh"},
		{"finanzielle", Words, []int{5}, "ﬁnanzielle"},
		{"financial", Words, []int{5}, ""},
		{"H2O", Words, []int{6}, "H₂O"},
		{"5", Words, []int{6}, "5"},
		{"52", Words, nil, ""},
		{"Mädchen", Words, nil, ""},
		{"Mëdchen", Words, []int{7}, "Me\u0308dchen"},
		{"Zoe\u0308", Words, []int{7}, ""},
		{"Brien", Words, []int{8}, "Brien"},
		{"Herr O’Brien", Phrase, []int{8}, "Herr O'Brien"},
		{"10:30", Words, []int{9}, "10:30"},
		{"30", Words, []int{9, 10}, "30"},
	} {
		if got := found(t, x, Query{Text: c.text, Mode: c.mode}, joined); !slices.Equal(got, c.want) {
			t.Errorf("%s %s finds %v, want %v", c.mode, c.text, got, c.want)
		}
		if c.mark == "" {
			continue
		}
		text := joined[c.want[0]].source
		marks := marksOf(t, x, c.text, c.mode, text)
		if len(marks) == 0 || text[marks[0].Start:marks[0].End] != c.mark {
			t.Errorf("%s %s marks %v of %q, want %q", c.mode, c.text, marks, text, c.mark)
		}
	}
}

// TestPlainPlaces: every span of a plain form stands between characters of the text.
func TestPlainPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"Haus": "Haus", "Fuß\u00adweg": "Fußweg", "ﬃ": "ffi", "CO₂": "CO2", "x²": "x²", "nº": "nº", "Windows™": "Windows™",
		"Ⅷ": "VIII", "ＡＢ１": "AB1", "٣": "3", "น้ำ": "น้ำ", "한": "한", "می\u200cخواهم": "میخواهم", "e\u0301a": "éa", "\xffa\u00ad": "\xffa",
		"葛\U000e0100": "葛",
	} {
		p := PlainOf(text)
		if p.Text != want {
			t.Errorf("%q is %q in plain form, want %q", text, p.Text, want)
		}
		if p.Places([]Span{{0, len(p.Text)}})[0].Start != 0 {
			t.Errorf("%q does not begin at its beginning", text)
		}
	}
	p := PlainOf("a\u00adﬁnd₂")
	if got := p.Places([]Span{{1, 2}, {4, 6}}); !slices.Equal(got, []Span{{3, 6}, {7, 11}}) {
		t.Errorf("f and d2 stand at %v", got)
	}
	if got := PlainOf("ﷺ.").Places([]Span{{0, 6}, {7, 15}, {16, 22}}); !slices.Equal(got, []Span{{0, 3}}) {
		t.Errorf("words of one character stand at %v", got)
	}
}

// TestCollocatesOfJoinedWords: a word is counted once for a pair, joined or not.
func TestCollocatesOfJoinedWords(t *testing.T) {
	var pairs []pair
	for i := range 40 {
		p := pair{strings.Repeat("a", i+1) + " kommt.", strings.Repeat("b", i+1) + " comes.", 1.2}
		if i%4 == 0 {
			p = pair{strings.Repeat("c", i+1) + " lies config.file, config", strings.Repeat("d", i+1) + " read con\u00adfig.file, config", 1.2}
		}
		pairs = append(pairs, p)
	}
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "b.parquet"), [2]string{"de", "en"}, pairs))
	of, _, err := x.Collocates(t.Context(), Query{Text: "lies", Mode: Words, Sides: [2]bool{true, false}}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for side, want := range [][]string{{"config", "file"}, {"config", "file", "read"}} {
		var got []string
		for _, c := range of[side] {
			got = append(got, c.Word)
			if c.Pairs != 10 || c.All != 10 {
				t.Errorf("%+v, want 10 pairs of 10", c)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("side %d: %q stand with it, want %q", side, got, want)
		}
	}
}

// FuzzPlaces: words of any text stand between its characters.
func FuzzPlaces(f *testing.F) {
	dir := f.TempDir()
	path := write(f, filepath.Join(dir, "zh-fr.parquet"), [2]string{"zh", "fr"}, []pair{{"绿茶", "thé", 1.2}})
	x := open(f, filepath.Join(dir, "index"), path)
	for _, text := range []string{"l'eau.L’a\u00adﬁ", "ｶ\u00adﾞ_カ\u00adメ₂", "e\u0301\u200fx", "葛\U000e0100茶"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // no text of a bitext
		}
		plain := PlainOf(text)
		for side := range 2 {
			for _, token := range x.tokens(side, plain.Text) {
				s := plain.Places([]Span{token.Span})[0]
				if s.Start < 0 || s.End > len(text) || s.Start >= s.End || !utf8.ValidString(text[s.Start:s.End]) {
					t.Fatalf("%q has a word at %v", text, s)
				}
			}
		}
	})
}
