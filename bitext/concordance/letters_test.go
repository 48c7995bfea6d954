package concordance

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestCapitals: what stands before a word in capitals, its accents and the letters of its language are those of the
// word in small letters.
func TestCapitals(t *testing.T) {
	for _, c := range []struct {
		languages [2]string
		pairs     []pair
		finds     map[string][]int
	}{
		{
			[2]string{"fr", "it"},
			[]pair{{"L'article est long.", "All'aeroporto.", 1.2}, {"D’après un article.", "L'ARTICOLO è lungo.", 1.3}, {"FIN DE L'ANNÉE", "Fine dell'anno.", 1.1}},
			map[string][]int{"article": {0, 1}, "après": {1}, "année": {2}, "aeroporto": {0}, "articolo": {1}, "Dell'Anno": {2}},
		},
		{
			[2]string{"ca", "ga"},
			[]pair{{"L'home arriba.", "D'ól sé.", 1.2}},
			map[string][]int{"home": {0}, "ól": {0}},
		},
		{
			[2]string{"es", "es"},
			[]pair{{"La última vez.", "Última hora.", 1.2}, {"ÚLTIMAS NOTICIAS", "noticias", 1.3}},
			map[string][]int{"última": {0, 1}, "Última": {0, 1}, "ultima": {0, 1}},
		},
		{
			[2]string{"tr", "az"},
			[]pair{{"İtalya'da ilk gün.", "İlk gün.", 1.2}, {"IŞIK HIZI", "işıq", 1.3}, {"Işık söndü.", "IŞIQ", 1.1}},
			map[string][]int{"italya": {0}, "İTALYA": {0}, "ilk": {0}, "ışık": {1, 2}, "Işık": {1, 2}, "ışıq": {2}},
		},
	} {
		dir := t.TempDir()
		x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "b.parquet"), c.languages, c.pairs))
		for text, want := range c.finds {
			if got := found(t, x, Query{Text: text, Mode: Words}, c.pairs); !slices.Equal(got, want) {
				t.Errorf("%v: %s finds %v, want %v", c.languages, text, got, want)
			}
		}
	}
}

// TestLower: collocates are shown in the small letters of their language.
func TestLower(t *testing.T) {
	if got := lower("tr", "İSTANBUL IŞIKLARI"); got != "istanbul ışıkları" {
		t.Errorf("%s", got)
	}
}

// TestLettersBesideNumbers: a letter that stands alone in a query, such as a counter after a number, is found where the
// text goes on without a space.
func TestLettersBesideNumbers(t *testing.T) {
	pairs := []pair{
		{"2003年に11人が来た。", "2003년에 KBS는 시작했다.", 1.4},
		{"今年第3回は10月だ。", "올해 3번째는 10월이다.", 1.3},
		{"人口は120万。11の人", "인구는 120만명. 년 2003", 1.2},
	}
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "ja-ko.parquet"), [2]string{"ja", "ko"}, pairs))
	for _, c := range []struct {
		text string
		mode Mode
		want []int
	}{
		{"2003年", Words, []int{0}}, {"11人", Words, []int{0, 2}}, {"11人", Phrase, []int{0}}, {"11人", Fuzzy, []int{0, 2}},
		{"10月", Phrase, []int{1}}, {"第3回", Phrase, []int{1}}, {"回3第", Phrase, nil}, {"120万", Phrase, []int{2}},
		{"年", Phrase, []int{0, 1}}, {"万 120", Words, []int{2}}, {"12人", Words, nil},
		{"2003", Words, []int{0, 2}}, {"2003년", Words, []int{0, 2}}, {"2003년", Phrase, []int{0}}, {"KBS", Words, []int{0}}, {"120만", Phrase, []int{2}},
	} {
		if got := found(t, x, Query{Text: c.text, Mode: c.mode}, pairs); !slices.Equal(got, c.want) {
			t.Errorf("%s by %s finds %v, want %v", c.text, c.mode, got, c.want)
		}
	}
	for query, want := range map[string][]string{"11人": {"11人"}, "第3回": {"第3回"}, "月 日": {"月", "日"}, "回": {"回", "回"}} {
		mode := Phrase
		if query == "月 日" {
			mode = Words
		}
		var got []string
		text := "第3回は月に11人、日曜の回。"
		for _, s := range x.matcher(Query{Text: query, Mode: mode, Sides: [2]bool{true, false}}).marks(0, text) {
			got = append(got, text[s.Start:s.End])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s marks %q, want %q", query, got, want)
		}
	}
}
