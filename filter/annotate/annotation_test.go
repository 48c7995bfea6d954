package annotate

import (
	"math"
	"strings"
	"testing"
)

// null is the wanted value of an unknown one.
var null = math.NaN()

// cases are pairs in several scripts and what annotations say of them. Languages are the first two fields.
var cases = []struct {
	languages, source, target string
	want                      map[string]float64
}{
	{"de en", "Das Haus ist groß.", "The house is big.", map[string]float64{
		"length_src": 18, "length_tgt": 17, "words_src": 4, "words_tgt": 4, "length_ratio": 15. / 14, "identical": 0, "overlap": 0.0, "common_run": 0.0,
		"numbers": 0, "numbers_differ": 0, "percent_differ": 0, "urls": 0, "urls_differ": 0, "emails_differ": 0, "link_share": 0, "currency_differs": 0,
		"markup": 0, "markup_differs": 0, "mojibake": 0, "separators": 0, "boilerplate": 0, "script_src": 1, "script_tgt": 1, "letter_share": 13. / 14,
		"digit_share": 0, "punctuation_share": 1. / 14, "symbol_share": 0, "punctuation_differs": 1./14 - 1./15, "marks_differ": 0,
		"end_differs": 0, "case_differs": 0, "negation_differs": 0, "longest_word": 5, "repeated": 1, "repeated_differs": 0, "glued": 0, "title": 0,
	}},
	{"zh en", "我住在北京。", "I live in Beijing.", map[string]float64{
		"length_src": 6, "words_src": 5, "words_tgt": 4, "length_ratio": 16. / 15, "script_src": 1, "case_differs": null, "end_differs": 0, "longest_word": 7, "title": null,
		"negation_differs": 0}},
	{"ja ko", "私は学生です。", "나는 학생입니다.", map[string]float64{
		"script_src": 1, "script_tgt": 1, "end_differs": 0, "negation_differs": null, "longest_word": 5, "length_tgt": 9}},
	{"ru en", "Привет, мир!", "Hello, world!", map[string]float64{"script_src": 1, "end_differs": 0, "case_differs": 0, "words_src": 2}},
	{"ar en", "هل أنت بخير؟", "Are you well?", map[string]float64{"script_src": 1, "end_differs": 0, "case_differs": null}},
	{"hi en", "मैं घर जा रहा हूँ।", "I am going home.", map[string]float64{"script_src": 1, "end_differs": 0, "words_src": 5}},
	{"el en", "Πού είσαι;", "Where are you?", map[string]float64{"script_src": 1, "end_differs": 0}},
	{"th en", "ฉันรักคุณ", "I love you.", map[string]float64{"script_src": 1, "end_differs": 0, "longest_word": 4}},
	{"ru en", "This is not Russian.", "This is English.", map[string]float64{"script_src": 0, "script_tgt": 1}},
	{"sr sr-Latn", "Kuća je velika, кућа.", "Кућа", map[string]float64{"script_src": 1, "script_tgt": 0}},
	{"uz uz-Latn", "Бола va bola", "house", map[string]float64{"script_src": 1, "script_tgt": 1}},
	{"zh-Hant zh", "12345", "12345", map[string]float64{"script_src": 1, "identical": 0, "letter_share": 0, "digit_share": 1}},
	{" ", "Wo?", "Where?", map[string]float64{"script_src": null, "script_tgt": null, "negation_differs": null}},
	{"de en", "", "", map[string]float64{"length_ratio": 1000, "identical": 0, "title": null, "words_src": 0}},

	{"de en", "Berlin, DEUTSCHLAND!", "berlin - Deutschland", map[string]float64{"identical": 1, "overlap": 1, "common_run": 1}},
	{"fr en", "L'Élysée 2019", "l'elysee 2020", map[string]float64{"identical": 1, "numbers_differ": 2}},
	{"ja zh", "中国人民", "中国人民", map[string]float64{"identical": 1, "overlap": 1}},
	{"de en", "Der Film Star Wars kam ins Kino", "The film Star Wars was shown there", map[string]float64{"overlap": 3. / 7, "common_run": 3. / 7}},
	{"ru uk", "Москва столица", "Москва велика", map[string]float64{"overlap": 0.5, "common_run": 0.5}},

	{"de en", "Es kostet 1.000,50 Euro.", "It costs 1,000.50 euros.", map[string]float64{"numbers": 2, "numbers_differ": 0, "currency_differs": 0}},
	{"de en", "Am 12.05.2020 kam er.", "He came on 12 May 2020.", map[string]float64{"numbers_differ": 0}},
	{"en de", "On 5/12/2020 at 7:30 pm", "Am 12.5.2020 um 19:30", map[string]float64{"numbers_differ": 0}},
	{"fr en", "250 000 cartes à 19h30", "250,000 cards at 7:30 p.m.", map[string]float64{"numbers_differ": 0}},
	{"de en", "um 15.30 Uhr, bis 18 Uhr, ab 21:00 Uhr", "3:30 p.m. until 6 pm, from 9 p.m.", map[string]float64{"numbers_differ": 0}},
	{"ja en", "10時15分に出発", "leaves at 10:15", map[string]float64{"numbers_differ": 0}},
	{"fr en", "à 19 h 30", "at 7:30 p.m.", map[string]float64{"numbers_differ": 0}},
	{"ar en", "نحو ٣٠٠ ألف نسمة", "about 300,000 people", map[string]float64{"numbers_differ": 0}},
	{"zh en", "请访问https://www.example.org了解详情", "Visit https://www.example.org for details", map[string]float64{"urls_differ": 0, "script_src": 1}},
	{"ja en", "写真を撮ってもいいですか。", "May I take a photo?", map[string]float64{"end_differs": 0}},
	{"zh en", "下午3点", "at 15:00", map[string]float64{"numbers_differ": 0}},
	{"zh en", "2020年5月12日", "May 12, 2020", map[string]float64{"numbers_differ": 0}},
	{"zh en", "有350万人", "3.5 million people", map[string]float64{"numbers_differ": 0}},
	{"zh en", "九十五人", "95 people", map[string]float64{"numbers_differ": 0}},
	{"ar en", "في عام ٢٠١٩", "In 2019", map[string]float64{"numbers_differ": 0}},
	{"hi en", "२०१९ में", "in 2018", map[string]float64{"numbers_differ": 2}},
	{"fr en", "au XXe siècle", "in the 20th century", map[string]float64{"numbers_differ": 0}},
	{"de en", "Drei Hunde", "3 dogs", map[string]float64{"numbers_differ": 0}},
	{"de en", "4 Hunde", "3 dogs", map[string]float64{"numbers_differ": 2}},
	{"de en", "Im Jahr 1987", "In the year", map[string]float64{"numbers_differ": 1}},
	{"de en", "20.000.000 Euro", "20 million euros", map[string]float64{"numbers_differ": 0}},
	{"de en", "um 5 % auf 20", "by 5 to 20", map[string]float64{"percent_differ": 1}},
	{"de en", "um 5 %", "by 5 percent", map[string]float64{"percent_differ": 0}},
	{"de en", "Es endete 1:0 nach 2:1.", "It ended 1-0 after 2-1.", map[string]float64{"numbers_differ": 0}},
	{"de en", "Es endete 21:19.", "It ended 21-19.", map[string]float64{"numbers_differ": 0}},
	{"de en", "Es endete 1:0.", "It ended 1-2.", map[string]float64{"numbers_differ": 2}},
	{"de en", "Er ist 1,50 m groß und 12,30 alt", "He is 1.5 m tall and 12.3 old", map[string]float64{"numbers_differ": 0}},
	{"de en", "Er ist 1,5 m groß", "He is 150 m tall", map[string]float64{"numbers_differ": 2}},
	{"pl en", "około 75 tys. osób", "some 75,000 people", map[string]float64{"numbers_differ": 0}},
	{"de en", "rund 320 Tsd. Euro", "about 320,000 euros", map[string]float64{"numbers_differ": 0}},
	{"ru en", "около 75 тыс. человек", "some 75,000 people", map[string]float64{"numbers_differ": 0}},
	{"uk en", "близько 75 тис. осіб", "some 75,000 people", map[string]float64{"numbers_differ": 0}},
	{"ar en", "40 بالمائة", "40%", map[string]float64{"percent_differ": 0}},
	{"tr en", "yüzde 40", "40%", map[string]float64{"percent_differ": 0}},
	{"vi en", "40 phần trăm", "40 percent", map[string]float64{"percent_differ": 0}},
	{"he en", "40 אחוזים", "40 percent", map[string]float64{"percent_differ": 0}},
	{"hu en", "40 százalék", "40 percent", map[string]float64{"percent_differ": 0}},
	{"fi en", "40 prosenttia", "40 percent", map[string]float64{"percent_differ": 0}},
	{"id en", "40 persen", "40 percent", map[string]float64{"percent_differ": 0}},
	{"th en", "ร้อยละ 40 หรือ 40 เปอร์เซ็นต์", "40 or 40 percent", map[string]float64{"percent_differ": 0}},
	{"hi en", "40 प्रतिशत", "40 percent", map[string]float64{"percent_differ": 0}},
	{"ko en", "40개의 프로그램", "40 percent", map[string]float64{"percent_differ": 1}},
	{"mi en", "40 ōrau", "40 percent", map[string]float64{"percent_differ": null}},
	{"mi en", "40%", "40 people", map[string]float64{"percent_differ": 1}},
	{"zh en", "百分之5", "5%", map[string]float64{"percent_differ": 0}},
	{"de en", "20 Dollar", "20 euros", map[string]float64{"currency_differs": 2}},
	{"ja en", "500円", "500 yen", map[string]float64{"currency_differs": 0}},
	{"ru en", "500 рублей", "500 people", map[string]float64{"currency_differs": 1}},

	{"de en", "Siehe https://www.example.org/a/ hier", "See example.org and http://example.org/a here", map[string]float64{"urls": 2, "urls_differ": 0}},
	{"de en", "Siehe „www.example.org“ dort.", "See “www.example.org”.", map[string]float64{"urls": 2, "urls_differ": 0}},
	{"ar en", "انظر www.example.org/a، هنا", "See «www.example.org/a»…", map[string]float64{"urls": 2, "urls_differ": 0}},
	{"zh en", "请访问https://example.org/zh。", "Visit https://example.org/en.", map[string]float64{"urls": 2, "urls_differ": 2}},
	{"ru en", "Пишите на info@example.org", "Write to us", map[string]float64{"emails_differ": 1}},
	{"de en", "info@example.org", "INFO@EXAMPLE.ORG", map[string]float64{"emails_differ": 0, "link_share": 1}},

	{"de en", "<b>Fett</b> &amp; gut", "Bold & good", map[string]float64{"markup": 3, "markup_differs": 3}},
	{"zh en", "[[北京]]是{{city}}", "Beijing is %s", map[string]float64{"markup": 4, "markup_differs": 3}},
	{"ru en", "2 < 3 и 5 > 4", "2 < 3 and 5 > 4", map[string]float64{"markup": 0}},
	{"de en", "FÃ¼r MÃ¼ller", "For Müller", map[string]float64{"mojibake": 2}},
	{"ru en", "ÐŸÑ€Ð¸Ð²ÐµÑ‚", "Hello", map[string]float64{"mojibake": 6}},
	{"fr en", "d�jà", "already", map[string]float64{"mojibake": 1}},
	{"de en", "Start » Shop » Schuhe", "Home > Shop > Shoes", map[string]float64{"separators": 2}},
	{"ja en", "ホーム | 会社 | 採用", "Home", map[string]float64{"separators": 2}},
	{"fr en", "les mots « a », « b » et « c »", "the words a, b and c", map[string]float64{"separators": 0}},
	{"ru en", "и/или", "and/or", map[string]float64{"separators": 0}},
	{"de en", "Alle Rechte vorbehalten", "All rights reserved", map[string]float64{"boilerplate": 1}},
	{"zh en", "版权所有", "Nobody", map[string]float64{"boilerplate": 1}},
	{"zh-Hant en", "版權所有", "Nobody", map[string]float64{"boilerplate": 1}},
	{"de en", "Haus", "House", map[string]float64{"boilerplate": 0}},

	{"de en", "--- !!! ---", "a b c d", map[string]float64{"punctuation_share": 1, "punctuation_differs": 1, "letter_share": 0, "marks_differ": 4}},
	{"zh en", "「你好」", "“Hello”", map[string]float64{"marks_differ": 0}},
	{"de en", "★★★★ ab", "ab", map[string]float64{"symbol_share": 4. / 6}},

	{"de en", "Wirklich?", "Really.", map[string]float64{"end_differs": 2, "marks_differ": 1}},
	{"zh en", "真的！”", "Really", map[string]float64{"end_differs": 1}},
	{"ja en", "本当に…", "Really ...", map[string]float64{"end_differs": 0}},
	{"de en", "ACHTUNG STUFE", "Mind the step", map[string]float64{"case_differs": 2}},
	{"en ka", "SUMMIT ENDED TODAY", "სამიტი დღეს დასრულდა", map[string]float64{"case_differs": null, "title": null}},
	{"en hy", "This is the end.", "Սա վերջն է։", map[string]float64{"end_differs": 0}},
	{"en hy", "This is the end.", "Սա վերջն է:", map[string]float64{"end_differs": 0}},
	{"en bo", "This is the end.", "འདི་མཇུག་ཡིན།", map[string]float64{"end_differs": 0}},
	{"ru en", "привет", "Hello", map[string]float64{"case_differs": 1}},
	{"de en", "Ich komme nicht.", "I am coming.", map[string]float64{"negation_differs": 1}},
	{"zh en", "我不知道", "I do not know", map[string]float64{"negation_differs": 0}},
	{"zh-Hant en", "我不喜歡", "I like it", map[string]float64{"negation_differs": 1}},

	{"de en", "Donaudampfschifffahrtsgesellschaft", "company", map[string]float64{"longest_word": 34}},
	{"de en", "ja ja ja ja", "yes", map[string]float64{"repeated": 4, "repeated_differs": 3}},
	{"th en", "มีมุมมอง", "has a view", map[string]float64{"repeated": 2}},
	{"te en", "క్రీడాకారులకు", "to players", map[string]float64{"letter_share": 1}},
	{"hi en", "ि ि", "a", map[string]float64{"letter_share": 0}},
	{"xh en", "uMzantsi yaseNyakatho kwaseMelika", "a", map[string]float64{"glued": 0}},
	{"ru en", "Класс IMAP\\Connection", "The IMAP\\Connection class", map[string]float64{"script_src": 1}},
	{"zh en", "在 Windows 上：用 ``grep``", "On Windows: use ``grep``", map[string]float64{"script_src": 1}},
	{"ru en", "Click here", "Click here", map[string]float64{"script_src": 0}},
	{"ru en", "www.example.org", "www.example.org", map[string]float64{"script_src": null}},
	{"ru en", "да Click here", "Open it there", map[string]float64{"script_src": 2. / 11}},
	{"zh en", "哈哈哈哈哈", "ha ha", map[string]float64{"repeated": 5}},
	{"ru en", "он и она и он и она и", "he and she", map[string]float64{"repeated": 2}},
	{"de en", "mehrInformationen hier", "more information here", map[string]float64{"glued": 1}},
	{"de en", "YouTube und Ende.Neuer Satz", "YouTube and end. New sentence", map[string]float64{"glued": 1}},
	{"ru en", "ПриветМедвед", "Hello", map[string]float64{"glued": 1}},
	{"de en", "Der Herr Der Ringe", "The Lord Of The Rings", map[string]float64{"title": 1}},
	{"de en", "Dieser Satz ist auf Deutsch und lang genug, um erkannt zu werden, was kurze Sätze nicht immer sind.",
		"Este texto está en español y no en inglés, y es lo bastante largo para que se reconozca sin duda.",
		map[string]float64{"foreign": 1, "lid_src_p": float64(float32(0.98)), "lid_tgt_p": float64(float32(0.99))}},
	{"zh en", "", "Ok", map[string]float64{"foreign": 0, "lid_src_p": null}},
	{"ru en", "Война И Мир", "War and peace", map[string]float64{"title": 0}},
}

// TestAnnotations compares the values that are named in cases. Each annotation of a pair alone must have cases.
func TestAnnotations(t *testing.T) {
	named := map[string]int{}
	var reader Reader
	for _, c := range cases {
		source, target, _ := strings.Cut(c.languages, " ")
		p := reader.Read(c.source, c.target, source, target, Known{})
		for i := range All {
			a := &All[i]
			want, ok := c.want[a.Name]
			got := a.Of(p)
			if !math.IsNaN(got) && (got < a.Low || got > a.High) {
				t.Errorf("%s of %q, %q: %v is outside its range", a.Name, c.source, c.target, got)
			}
			if !ok {
				continue
			}
			named[a.Name]++
			if math.IsNaN(want) != math.IsNaN(got) || math.Abs(want-got) > 1e-6 {
				t.Errorf("%s of %q, %q: %v, want %v", a.Name, c.source, c.target, got, want)
			}
		}
		for name := range c.want {
			if !contains(name) {
				t.Errorf("%q is no annotation", name)
			}
		}
	}
	p := reader.Read("Dieser Satz ist ganz sicher auf Deutsch geschrieben.", "", "de", "en", Known{})
	for name, want := range map[string]string{"lid_src": "de", "lid_tgt": ""} {
		if got := byName(t, name).Text(p); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		named[name]++
	}
	ofWhole := map[string]bool{"length_z": true, "group": true, "copy": true, "uses_src": true, "uses_tgt": true}
	for _, name := range Names() {
		if named[name] == 0 && !ofWhole[name] {
			t.Errorf("%s has no case", name)
		}
	}
}

func contains(name string) bool {
	for _, n := range Names() {
		if n == name {
			return true
		}
	}
	return false
}

// TestKnown checks the columns that the first pass gives.
func TestKnown(t *testing.T) {
	var lengths Lengths
	for n := range 1000 {
		lengths.Add(60+n%40, 66+n%44)
	}
	lengths.Fit()
	var reader Reader
	p := reader.Read(strings.Repeat("a", 70), strings.Repeat("b", 77), "de", "en",
		Known{Row: 9, First: 3, Copy: NearlySame, SourceUses: 5, TargetUses: 7, Lengths: &lengths})
	for name, want := range map[string]float64{"group": 3, "copy": 1, "uses_src": 5, "uses_tgt": 7} {
		if got := byName(t, name).Of(p); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if z := byName(t, "length_z").Of(p); math.Abs(z) > 0.5 {
		t.Errorf("a usual length is %v deviations away", z)
	}
	p.Target.width *= 3
	if z := byName(t, "length_z").Of(p); z < 5 {
		t.Errorf("a target three times too long is %v deviations away", z)
	}
	p.Known.Lengths = nil
	if z := byName(t, "length_z").Of(p); !math.IsNaN(z) {
		t.Errorf("%v deviations from an unknown distribution", z)
	}
}

func byName(t *testing.T, name string) *Annotation {
	t.Helper()
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	t.Fatalf("no annotation %s", name)
	return nil
}

func FuzzAnnotations(f *testing.F) {
	for _, c := range cases {
		f.Add(c.source, c.target)
	}
	f.Fuzz(func(t *testing.T, source, target string) {
		var reader Reader
		p := reader.Read(source, target, "de", "zh", Known{})
		for i := range All {
			if v := All[i].Of(p); !math.IsNaN(v) && (v < All[i].Low || v > All[i].High) {
				t.Errorf("%s is %v", All[i].Name, v)
			}
		}
	})
}

func BenchmarkAnnotations(b *testing.B) {
	source := "Am 12. Mai 2020 beschloss der Rat, die Ausgaben um 3,5 Prozent auf 20 Millionen Euro zu erhöhen; weitere Angaben stehen im Bericht des Ausschusses."
	target := "On 12 May 2020 the council decided to raise spending by 3.5 percent to 20 million euros; further details can be found in the report of the committee."
	var reader Reader
	sum := 0.0
	for b.Loop() {
		p := reader.Read(source, target, "de", "en", Known{})
		for i := range All {
			sum += All[i].Of(p)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	_ = sum
}
