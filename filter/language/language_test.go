package language

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bitextmine/corpus"
	"bitextmine/internal/subtag"
)

// sentences returns testdata/sentences.tsv: a language and a sentence a line.
func sentences(t testing.TB) (all [][2]string) {
	t.Helper()
	f, err := os.Open("testdata/sentences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		code, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			t.Fatalf("not a language and a sentence: %q", lines.Text())
		}
		all = append(all, [2]string{code, text})
	}
	return all
}

// TestIdentify also fails if the program is linked without CLD2's full tables: the small ones know neither Zulu, Hausa
// nor Amharic.
func TestIdentify(t *testing.T) {
	for _, s := range sentences(t) {
		for _, stated := range []string{s[0], ""} {
			if g := For(stated).Identify(s[1]); g.Code != s[0] || g.Share < minShare {
				t.Errorf("said to be %q: %s is identified as %+v: %s", stated, s[0], g, s[1])
			}
		}
	}
}

func foreign(stated, text string) bool {
	l := For(stated)
	return l.Foreign(text, l.Identify(text))
}

// TestForeign states every other language of each sentence. Spanish that is said to be Portuguese, and the other way
// round, is near enough to be believed.
func TestForeign(t *testing.T) {
	all := sentences(t)
	for _, s := range all {
		for _, other := range all {
			if pair := s[0] + other[0]; pair == "espt" || pair == "ptes" {
				continue
			}
			if got, want := foreign(other[0], s[1]), other[0] != s[0]; got != want {
				t.Errorf("said to be %s: foreign is %v (%+v): %s", other[0], got, For(other[0]).Identify(s[1]), s[1])
			}
		}
	}
}

// TestTwoScripts: a corpus of one script may have sentences in the other.
func TestTwoScripts(t *testing.T) {
	simplified, traditional := "委员会将于明年秋天发表关于旧桥状况的报告，并将征求居民对修建新桥的意见和建议。",
		"委員會將於明年秋天發表關於舊橋狀況的報告，並將徵求居民對修建新橋的意見和建議。"
	for _, stated := range []string{"zh", "zh-Hant"} {
		for _, text := range []string{simplified, traditional} {
			if g := For(stated).Identify(text); subtag.Language(g.Code) != "zh" || foreign(stated, text) {
				t.Errorf("said to be %s: %+v: %s", stated, g, text)
			}
		}
	}
	if !foreign("ja", traditional) || !foreign("zh-Hant", "委員会は来年の秋に古い橋の状態についての報告書を公表し、住民の意見を聞くことにしています。") {
		t.Error("Chinese and Japanese are not told apart")
	}
}

// TestRather: where much of a German corpus is French, short French sentences count, German ones and names do not.
func TestRather(t *testing.T) {
	german, french := For("de"), For("fr")
	for text, want := range map[string]bool{
		"Titan n'a pas besoin d'acheter cette usine.":                    true,
		"Le maire de Bad Homburg, M. Korwisi, regrette cette décision.":  true,
		"Une équipe se construit avec le temps.":                         true,
		"Die Mannschaft wird sich mit der Zeit finden.":                  false,
		"Der Bürgermeister von Bad Homburg bedauert diese Entscheidung.": false,
		"Anne Sofie von Otter":                                           false,
		"12.03.2011":                                                     false,
		"":                                                               false,
	} {
		if got := german.Rather(french, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestForeignIsCautious: what is short, of names and numbers, in a relative, or in a language that was not measured is
// never surely foreign.
func TestForeignIsCautious(t *testing.T) {
	english := "The committee will publish its report on the state of the old bridges in the autumn of next year."
	for _, c := range [][2]string{
		{"de", "The New York Times"}, {"de", "Google Chrome 128.0.6613.84"}, {"ja", "iPhone 15 Pro Max"}, {"ru", "1 234,56 €"},
		{"fr", "Barack Obama, Angela Merkel, Emmanuel Macron"}, {"en", "Überraschung!"}, {"zh", ""}, {"de", "\xff" + english},
		{"ar-Latn", english}, {"tlh", english}, {"", english},
		{"fr", "Le groupe a joué Walking Down the Line, Escape From the Old Earth et Never the Same Again."},
		{"de", "Elizabeth Warren Will Take Hard Look At Running For President In November, Massachusetts Senator Says"},
		{"da", "Regjeringen vil i løpet av neste år legge fram en rapport om tilstanden til de gamle bruene i landet."},
	} {
		if foreign(c[0], c[1]) {
			t.Errorf("said to be %q: %q is foreign (%+v)", c[0], c[1], For(c[0]).Identify(c[1]))
		}
	}
	if !foreign("de", english) {
		t.Error("an English sentence, said to be German, is not foreign")
	}
}

func TestNear(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"da", "no"}: true, {"zh", "zh-Hant"}: true, {"cs", "sk"}: true, {"sr-Latn", "hr"}: true, {"de", "en"}: false, {"ru", "bg"}: false,
	} {
		if Near(pair[0], pair[1]) != want || Near(pair[1], pair[0]) != want {
			t.Errorf("Near of %v is not %v", pair, want)
		}
	}
}

func TestIdentifyFromManyGoroutines(t *testing.T) {
	all := sentences(t)
	l := For("")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, s := range all {
				if g := l.Identify(s[1]); g.Code != s[0] {
					t.Errorf("%s is identified as %s: %s", s[0], g.Code, s[1])
				}
			}
		})
	}
	group.Wait()
}

// TestFLORES measures what docs/languages.md says, where MINE_TEST_FLORES names a directory of files such as
// deu_Latn.devtest.
func TestFLORES(t *testing.T) {
	dir := os.Getenv("MINE_TEST_FLORES")
	if dir == "" {
		t.Skip("MINE_TEST_FLORES names no directory of FLORES")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_*.dev*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file of FLORES in %s: %v", dir, err)
	}
	var all, stated, blind, taken int
	for _, path := range files {
		code, _, _ := strings.Cut(filepath.Base(path), ".")
		code, err := corpus.ParseLanguage(code)
		if err != nil {
			t.Fatal(err)
		}
		if !For(code).Judges() {
			t.Logf("%s is not judged", code)
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wrong, lines := 0, strings.Split(strings.TrimSpace(string(text)), "\n")
		known, unknown := For(code), For("")
		for _, line := range lines {
			g := known.Identify(line)
			if subtag.Language(g.Code) == subtag.Language(code) {
				stated++
			}
			if known.Foreign(line, g) {
				wrong++
			}
			if subtag.Language(unknown.Identify(line).Code) == subtag.Language(code) {
				blind++
			}
		}
		all, taken = all+len(lines), taken+wrong
		if wrong*100 > len(lines) {
			t.Errorf("%s: %d of its %d own sentences are taken for another language", code, wrong, len(lines))
		}
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(all) }
	t.Logf("%d sentences: right %.2f%% with the language stated, %.2f%% without; surely foreign %.3f%%",
		all, percent(stated), percent(blind), percent(taken))
	if percent(stated) < 99 || percent(taken) > 0.1 {
		t.Error("docs/languages.md promises more")
	}
}

func BenchmarkIdentify(b *testing.B) {
	all := sentences(b)
	l := For("de")
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			l.Identify(all[i%len(all)][1])
		}
	})
}

// FuzzIdentify feeds any bytes to the C++ library.
func FuzzIdentify(f *testing.F) {
	f.Add("de", "Das ist ein Satz.")
	f.Add("zh-Hant", "\xf0\x9f\x98\x80<b>&amp;\x00")
	f.Fuzz(func(t *testing.T, stated, text string) {
		g := For(stated).Identify(text)
		if g.Share < 0 || g.Share > 1 || g.Letters < 0 || (g.Code == "" && g.Share != 0) {
			t.Errorf("%+v", g)
		}
	})
}
