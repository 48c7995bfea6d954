package split

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"bitextmine/internal/badinput"
)

func splitter(t testing.TB, language string) *Splitter {
	t.Helper()
	srx, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	s, err := srx.Splitter(language)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parts(s *Splitter, text string, o Options) (out []string) {
	for _, x := range s.Append(nil, text, o) {
		out = append(out, text[x.Start:x.End])
	}
	return out
}

// TestShippedRules: in each text, | stands where sentences are divided.
func TestShippedRules(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{
		{"en", `Mr. Smith met J. R. Ewing at 5 p.m. EST in St. Louis. | He paid 3.50 dollars! | "Really?" she asked. | "Yes." | See Fig. 3, e.g. the U.S. map... | Then it ended.`},
		{"de", `Am 3. Oktober 1990 kam Dr. Meier, z. B. mit Fr. Schulz. | „Warum?“ | Das war ca. 20 Jahre nach der 2. Reise.`},
		{"de", `Bahnhofstr. 12 und Hauptstr. 5 gehören Fa. Meier. | Gem. Art. 5 ist „bzw.“ die Abk. Beziehungsweise. | Er wohnt in der Schulstr. | Dann ging er.`},
		{"he", `פרופ. כהן הגיע. | הוא דיבר.`},
		{"fr", `M. Dupont habite av. Foch. | « Pourquoi ? » | Il est parti, cf. p. 12 de l'art. 4.`},
		{"es", `El Sr. Pérez llegó. | ¿Por qué? | ¡No lo sé! | Vive en la Av. Central de EE. UU. con el Mr. Bean.`},
		{"pl", `Urodził się 3. maja, tzn. wiosną. | Np. tutaj jest dobrze.`},
		{"ru", `Он родился в 1990 г. в Москве. | Это было давно. | Да!`},
		{"tr", `Dr. Yılmaz 3. sırada oturdu. | Sonra gitti.`},
		{"ar", `ذهبت إلى المدرسة. | هل رأيتها؟ | نعم!`},
		{"ja", `今日は雨です。 | 「行きます。」と彼は言った。 | そうですか？ | はい。`},
		{"zh", `今天下雨。 | 他说：“我不去。” | 为什么？ | 因为下雨！`},
		{"ko", `오늘은 비가 온다. | 왜? | "모르겠다." 라고 그가 말했다. | "비가 온다." | 그는 갔다.`},
		{"nl", `Hij las Roe vs. Wade en Roe v. Wade in St. Louis. | Dr. Evans kwam. | Daarna ging hij.`},
		{"hi", `यह घर है। | क्या वह पुराना है? | हाँ।`},
		{"th", `เขาบอกว่า "สวัสดีครับ" แล้วเดินจากไป | คุณชอบหนังสือเล่มไหน? | ผมชอบเล่มอื่น ๆ ครับ | บ้านเลขที่ 5 ถนน พ.ศ. 2543`},
		{"el", `Ήρθε; | «Ναι;» | Ο Γιώργος είπε: έλα; ναι· έφυγε.`},
		{"km", `គាត់មក។ | តើពិតទេ? | មានឆ្កែ ឆ្មា ។ល។ | បាទ៕`},
		{"sat", `ᱩᱱᱤ ᱦᱮᱡ ᱮᱱᱟ᱾ | ᱱᱚᱶᱟ ᱫᱚ ᱥᱟᱹᱨᱤ᱾`},
		{"mni", `ꯃꯍꯥꯛ ꯂꯥꯛꯏ꯫ | ꯃꯁꯤ ꯑꯆꯨꯝꯕꯅꯤ꯫`},
		{"xx", `Anything goes here. | Second one.`},
	} {
		want := strings.Split(test[1], " | ")
		text := strings.ReplaceAll(test[1], " | ", " ")
		if got := parts(splitter(t, test[0]), text, Options{}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", test[0], got, want)
		}
	}
	for _, test := range [][2]string{{"ja", "雨です。|そうですか？|はい。"}, {"zh", "下雨。|“不去。”|为什么？"}, {"km", "គាត់មក។|បាទ។"}} {
		want := strings.Split(test[1], "|")
		if got := parts(splitter(t, test[0]), strings.Join(want, ""), Options{}); !slices.Equal(got, want) {
			t.Errorf("%s without spaces: %q, want %q", test[0], got, want)
		}
	}
}

func TestParagraphs(t *testing.T) {
	s := splitter(t, "en")
	text := "  A title\nOne. Two\ngoes on.\n \n\nThree.\r\n"
	got := s.Append(nil, text, Options{})
	want := []Sentence{{2, 9, 0, 0}, {10, 14, 1, 1}, {15, 18, 1, 2}, {19, 27, 2, 3}, {31, 37, 3, 4}}
	if !slices.Equal(got, want) {
		t.Errorf("lines: %v, want %v", got, want)
	}
	got = s.Append(nil, text, Options{Wrapped: true})
	want = []Sentence{{2, 14, 0, 0}, {15, 27, 0, 1}, {31, 37, 1, 2}}
	if !slices.Equal(got, want) {
		t.Errorf("wrapped: %v, want %v", got, want)
	}
	if got := s.Append(nil, " \n\t\n", Options{}); got != nil {
		t.Errorf("white space: %v", got)
	}
}

// TestAt: what divides a text at places has the paragraphs of what divides it by rules.
func TestAt(t *testing.T) {
	text := "One two. Three\nfour five\n\n six"
	got := At(nil, text, []int{0, 3, 8, 14, 24, len(text)}, Options{})
	want := []Sentence{{0, 3, 0, 0}, {4, 8, 0, 1}, {9, 14, 0, 2}, {15, 24, 1, 3}, {27, 30, 2, 4}}
	if !slices.Equal(got, want) {
		t.Errorf("lines: %v, want %v", got, want)
	}
	got = At(nil, text, []int{8, 19}, Options{Wrapped: true})
	want = []Sentence{{0, 8, 0, 0}, {9, 19, 0, 1}, {20, 24, 0, 2}, {27, 30, 1, 3}}
	if !slices.Equal(got, want) {
		t.Errorf("wrapped: %v, want %v", got, want)
	}
}

const srxHead = `<srx version="2.0"><header cascade="no"/><body><languagerules><languagerule languagerulename="A">`
const srxTail = `</languagerule></languagerules><maprules><languagemap languagepattern="a.*" languagerulename="A"/></maprules></body></srx>`

func rules(list ...string) string {
	out := srxHead
	for _, r := range list {
		f := strings.Split(r, "~")
		out += `<rule break="` + f[0] + `"><beforebreak>` + f[1] + `</beforebreak><afterbreak>` + f[2] + `</afterbreak></rule>`
	}
	return out + srxTail
}

// TestDialect: patterns of Java's dialect, of both kinds: those matched by items and those by Go's engine.
func TestDialect(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ rules, text, want string }{
		"order":      {rules(`no~\bMr\.~\s`, `yes~\.~\s`), "Mr. A. b. Amr. c", "Mr. A.|b.|Amr.|c"},
		"unicode":    {rules(`no~\bé\.~\s`, `yes~\.~\s`), "é. à. xé. b", "é. à.|xé.|b"},
		"possessive": {rules(`yes~[.!]++~\s++\p{Lu}`), "A!.. B. c", "A!..|B. c"},
		"engine":     {rules(`no~(?:ab)+\.~\s`, `yes~\.~(?i)\sX`), "abab. x. b. X. c", "abab. x. b.|X. c"},
		"shorter":    {rules(`yes~a[ab]*b\.~\s`), "aabb. c. ab. b. d", "aabb.|c. ab.|b. d"},
		"escapes":    {rules(`yes~\u002E\Q?\E~[\h]`), "a.? b.c? d", "a.?|b.c? d"},
		"class":      {rules(`yes~[]\w.]~[\s]+\d`), "a 1] 2. 3 ; 4", "a|1]|2.|3 ; 4"},
		"any place":  {rules(`yes~~x`), "axbx", "a|xb|x"},
	} {
		srx, err := Parse(name, []byte(test.rules))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, err := srx.Splitter("a-B")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(parts(s, test.text, Options{}), "|"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for want, data := range map[string]string{
		"rule 2 of \"A\": \"(?=b)\"": rules(`yes~\.~\s`, `yes~a~(?=b)`),
		"(?<!a)":                     rules(`yes~(?&lt;!a)\.~\s`),
		"&&":                         rules(`yes~[a-z&amp;&amp;[^b]]~\s`),
		`\1 refers`:                  rules(`yes~(a)\1~\s`),
		"missing":                    rules(`yes~(a~\s`),
		`break is "maybe"`:           strings.Replace(rules(`yes~\.~\s`), `"yes"`, `"maybe"`, 1),
		"neither beforebreak":        rules(`yes~~`),
		`\b cannot`:                  rules(`yes~a\bb~\s`),
		"not SRX":                    "text",
		"1.0":                        strings.Replace(rules(), "2.0", "1.0", 1),
		"do not exist":               strings.Replace(rules(), `languagerulename="A"/>`, `languagerulename="B"/>`, 1),
		"language pattern":           strings.Replace(rules(), `"a.*"`, `"("`, 1),
		"spaces=\"lao\"":             strings.Replace(rules(), `languagerulename="A">`, `languagerulename="A" spaces="lao">`, 1),
		"stands twice":               strings.Replace(rules(), `</languagerules>`, `<languagerule languagerulename="A"/></languagerules>`, 1),
	} {
		if _, err := Parse("f.srx", []byte(data)); !badinput.Is(err) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "f.srx") {
			t.Errorf("%s: %v", want, err)
		}
	}
	srx, err := Parse("f.srx", []byte(rules(`yes~\.~\s`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srx.Splitter("de"); !badinput.Is(err) {
		t.Errorf("a language without rules: %v", err)
	}
	if _, err := Load("absent.srx"); !badinput.Is(err) {
		t.Errorf("an absent file: %v", err)
	}
}

// FuzzSplit checks that the sentences of any text are in order, and that nothing but white space is outside of them.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{"A. B.", "。「。」\xff", "Mr. X\r\n\n a", " . .", "z. B. X"} {
		f.Add(text, true)
	}
	s := splitter(f, "de")
	f.Fuzz(func(t *testing.T, text string, wrapped bool) {
		at, position := 0, 0
		for _, x := range s.Append(nil, text, Options{Wrapped: wrapped}) {
			if x.Start < at || x.End <= x.Start || x.End > len(text) || x.Position != position {
				t.Fatalf("%q: sentence %v after %d", text, x, at)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[x.Start:x.End]) {
				t.Fatalf("%q: %v is within a character", text, x)
			}
			if strings.TrimFunc(text[at:x.Start], unicode.IsSpace) != "" {
				t.Fatalf("%q: %q is in no sentence", text, text[at:x.Start])
			}
			at, position = x.End, position+1
		}
		if strings.TrimFunc(text[at:], unicode.IsSpace) != "" {
			t.Fatalf("%q: %q is in no sentence", text, text[at:])
		}
	})
}

// TestRulesInOrder compares breaks with those of the rules applied one after the other, without any shortcut: the
// program's rules, and 100 of which the last ones break.
func TestRulesInOrder(t *testing.T) {
	t.Parallel()
	many := make([]rule, 0, 101)
	for k := range 100 {
		r, err := newRule(k > 90, fmt.Sprintf(`[%c.]["']*`, 'a'+k%26), fmt.Sprintf(`\s+["']*\s?[%c-%c]`, 'A'+k%20, 'A'+k%20+2))
		if err != nil {
			t.Fatal(err)
		}
		many = append(many, r)
	}
	splitters := []*Splitter{splitter(t, "en"), splitter(t, "de"), splitter(t, "zh"), splitter(t, "fr"), newSplitter(many)}
	parts := []string{".", "!", "…", "。", " ", "  ", "\u00a0", "A", "Z", "b", "Mr", "z.B", "3", "-", "“", "”", "\"", "'", "»", "(", ")", "é", "史", "😀", "¿"}
	rng := rand.New(rand.NewPCG(3, 5))
	breaks := 0
	for range 3000 {
		var text string
		for range 12 {
			text += parts[rng.IntN(len(parts))]
		}
		for n, s := range splitters {
			for at := 1; at < len(text); at++ {
				if !utf8.RuneStart(text[at]) {
					continue
				}
				want := false
				for _, r := range s.rules {
					if r.after.matches(text, at) && r.before.matches(text, at) {
						want = r.breaks
						break
					}
				}
				if got := s.breaksAt(text, at); got != want {
					t.Fatalf("splitter %d, %q at %d: %v, want %v", n, text, at, got, want)
				}
				if want {
					breaks++
				}
			}
		}
	}
	if breaks < 1000 {
		t.Errorf("only %d breaks were compared", breaks)
	}
}

func BenchmarkSplit(b *testing.B) {
	for language, sentence := range map[string]string{
		"en": "Mr. Smith of the Dept. of Trade said that 3.5 per cent, i.e. more than before, had been sold by then. ",
		"de": "Herr Dr. Schmidt sagte am 3. Oktober, dass bis dahin ca. 3,5 Prozent verkauft worden seien, also mehr als vorher. ",
		"ru": "Господин Смирнов сказал, что к тому времени было продано больше трёх процентов, то есть больше, чем раньше. ",
		"th": "นายสมิธจากกระทรวงพาณิชย์ กล่าวเมื่อวันที่ 3 ตุลาคม 2566 ว่า ขายสินค้าไปแล้วร้อยละ 3.5 ซึ่งมากกว่าปีก่อนใช่หรือไม่? ",
		"zh": "史密斯先生表示，到那时为止，已经售出了百分之三点五，也就是说比以前更多。",
	} {
		text := strings.Repeat(strings.Repeat(sentence, 10)+"\n", 1000)
		s := splitter(b, language)
		b.Run(language, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var out []Sentence
			var begin, end syscall.Rusage
			err := syscall.Getrusage(syscall.RUSAGE_SELF, &begin)
			n := 0
			for b.Loop() {
				out = s.Append(out[:0], text, Options{})
				n++
			}
			if err := errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &end)); err != nil {
				b.Fatal(err)
			}
			busy := time.Duration(end.Utime.Nano() + end.Stime.Nano() - begin.Utime.Nano() - begin.Stime.Nano())
			b.ReportMetric(float64(n*len(text))/1e6/busy.Seconds(), "MB/cpu-s")
			if len(out) != 10_000 {
				b.Fatalf("%d sentences", len(out))
			}
		})
	}
}
