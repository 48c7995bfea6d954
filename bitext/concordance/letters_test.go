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

// TestSpellings: apostrophes, accents and ligatures are written in several ways, and a conjunction is a word.
func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		languages [2]string
		pairs     []pair
		finds     map[string][]int
	}{
		{
			[2]string{"fr", "en"},
			[]pair{{"Jusqu’à aujourd’hui, il dort à l'ÉTAT.", "He didn’t know.", 1.4}, {"Lorsqu'il vient à Noël, le cœur bat.", "They didn't, don't they?", 1.3}},
			map[string][]int{"aujourd'hui": {0}, "aujourd’hui": {0}, "jusqu'à": {0}, "jusqu’a": {0}, "etat": {0}, "noel": {1}, "coeur": {1}, "qu'il": {}, "à": {0, 1},
				"lorsqu’il": {1}, "didn't": {0, 1}, "didn’t": {0, 1}, "dont": {}},
		},
		{
			[2]string{"ru", "es"},
			[]pair{{"Ещё одна ёлка.", "El año pasado.", 1.4}, {"Мой дом.", "Adiós, señor.", 1.3}},
			map[string][]int{"еще": {0}, "ещё": {0}, "елка": {0}, "мой": {1}, "ano": {}, "año": {0}, "adios": {1}},
		},
		{
			[2]string{"el", "he"},
			[]pair{{"Η τιμή του ΚΌΣΜΟΥ.", "שָׁלוֹם לצה״ל", 1.4}, {"ΤΙΜΗ στον κόσμο.", "שלום", 1.3}},
			map[string][]int{"τιμή": {0, 1}, "τιμη": {0, 1}, "κοσμου": {0}, "שלום": {0, 1}, "שָׁלוֹם": {0, 1}, `לצה"ל`: {0}, "לצה״ל": {0}},
		},
	} {
		dir := t.TempDir()
		x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "b.parquet"), c.languages, c.pairs))
		for text, want := range c.finds {
			if got := found(t, x, Query{Text: text, Mode: Words}, c.pairs); !slices.Equal(got, want) {
				t.Errorf("%v: %s finds %v, want %v", c.languages, text, got, want)
			}
		}
		for _, text := range []string{"Jusqu’à", "aujourd’hui"} {
			result, err := x.Search(t.Context(), Query{Text: text, Mode: Phrase, Sides: [2]bool{true, true}, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for _, hit := range result.Hits {
				if m := hit.Marks[0]; len(m) != 1 || hit.Texts[0][m[0].Start:m[0].End] != text {
					t.Errorf("%s is marked at %v", text, m)
				}
			}
		}
	}
}

// TestWordsWithoutSpaces: the letters of one word stand together, and none is another.
func TestWordsWithoutSpaces(t *testing.T) {
	pairs := []pair{{"我们的国家。", "สหรัฐอเมริกา", 1.4}, {"我们有你们的书。", "สหภาพและรัฐ", 1.3}}
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "b.parquet"), [2]string{"zh", "th"}, pairs))
	for _, mode := range []Mode{Words, Fuzzy, Phrase} {
		for text, want := range map[string][]int{"我们的": {0}, "我们": {0, 1}, "สหรัฐ": {0}, "他们": {}} {
			if got := found(t, x, Query{Text: text, Mode: mode}, pairs); !slices.Equal(got, want) {
				t.Errorf("%s %s finds %v, want %v", mode, text, got, want)
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
		{"2003年", Words, []int{0}}, {"11人", Words, []int{0}}, {"11 人", Words, []int{0, 2}}, {"11人", Phrase, []int{0}}, {"11人", Fuzzy, []int{0}},
		{"10月", Phrase, []int{1}}, {"第3回", Phrase, []int{1}}, {"回3第", Phrase, nil}, {"120万", Phrase, []int{2}},
		{"年", Phrase, []int{0, 1}}, {"万 120", Words, []int{2}}, {"12人", Words, nil},
		{"2003", Words, []int{0, 2}}, {"2003년", Words, []int{0}}, {"2003 년", Words, []int{0, 2}}, {"2003년", Phrase, []int{0}}, {"KBS", Words, []int{0}}, {"120만", Phrase, []int{2}},
	} {
		if got := found(t, x, Query{Text: c.text, Mode: c.mode}, pairs); !slices.Equal(got, c.want) {
			t.Errorf("%s by %s finds %v, want %v", c.text, c.mode, got, c.want)
		}
	}
	of := Query{Text: "11人", Mode: Words, Sides: [2]bool{true, false}, Limit: 0}
	if r, err := x.Search(t.Context(), of); err != nil || r.Total != 1 {
		t.Errorf("beyond the page 11人 is counted in %+v, error %v", r, err)
	}
	for query, want := range map[string][]string{"11人": {"11人"}, "第3回": {"第3回"}, "月 日": {"月", "日"}, "回": {"回", "回"}} {
		mode := Phrase
		if query == "月 日" {
			mode = Words
		}
		var got []string
		text := "第3回は月に11人、日曜の回。"
		for _, s := range marksOf(t, x, query, mode, text) {
			got = append(got, text[s.Start:s.End])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s marks %q, want %q", query, got, want)
		}
	}
}

// TestDigits: digits of every script are the same, in the text and in the query.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		languages [2]string
		pairs     []pair
		finds     map[string][]int
	}{
		{
			[2]string{"ja", "th"},
			[]pair{{"１１月の２日目の夜", "คืนที่ ๒ ของเดือน", 1.4}, {"11月の2日間", "2 วันในปี ๒๕๖๑", 1.3}, {"この2年、日曜日", "ปี 2018", 1.2}},
			map[string][]int{"２日": {0, 1}, "2日": {0, 1}, "１１月": {0, 1}, "２": {0, 1, 2}, "2561": {1}, "๒": {0, 1, 2}, "第": nil},
		},
		{
			[2]string{"ar", "hi"},
			[]pair{{"في عام ٢٠١٨", "सन २०१८ में", 1.4}, {"في عام 2019", "सन 2019 में", 1.3}},
			map[string][]int{"2018": {0}, "٢٠١٩": {1}, "२०१९": {1}},
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
	x := open(t, filepath.Join(t.TempDir(), "index"), write(t, filepath.Join(t.TempDir(), "b.parquet"), [2]string{"ja", "en"}, []pair{{"２日", "day 2", 1.4}}))
	text := "金曜の１２月２日目と12月2日。"
	var got []string
	for _, s := range marksOf(t, x, "12月２日", Phrase, text) {
		got = append(got, text[s.Start:s.End])
	}
	if want := []string{"１２月２日", "12月2日"}; !slices.Equal(got, want) {
		t.Errorf("marks %q, want %q", got, want)
	}
}
