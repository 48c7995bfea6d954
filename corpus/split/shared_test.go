package split

import (
	"io"
	"path"
	"strings"
	"testing"

	"bitextmine/corpus/corpustest"
)

// floors are the least F1 of each language, in percent, and FLORES's name of it. docs/documents.md
// has what was seen.
var floors = map[string]struct {
	name string
	f1   float64
}{
	"ar": {"arb_Arab", 98.5}, "de": {"deu_Latn", 96.5}, "en": {"eng_Latn", 99}, "es": {"spa_Latn", 98}, "fr": {"fra_Latn", 98},
	"it": {"ita_Latn", 98}, "ja": {"jpn_Jpan", 97.5}, "ko": {"kor_Hang", 96}, "nl": {"nld_Latn", 93}, "pl": {"pol_Latn", 98.5},
	"pt": {"por_Latn", 98}, "ru": {"rus_Cyrl", 97}, "tr": {"tur_Latn", 96.5}, "zh": {"zho_Hans", 96.5},
	"cs": {"ces_Latn", 97}, "uk": {"ukr_Cyrl", 98.5}, "hi": {"hin_Deva", 96},
	"th": {"tha_Thai", 61},
}

// TestSharedText joins the lines of FLORES devtest and divides the text again. A line is used if it is one sentence,
// with punctuation at its end, for more than half of the languages: what is one sentence in a language may be several
// in a translation.
func TestSharedText(t *testing.T) {
	lines := map[string][]string{}
	corpustest.Archive(t, "flores60.tar.zst", func(name string, content io.Reader) {
		for language, floor := range floors {
			if path.Base(name) != floor.name+".devtest" {
				continue
			}
			data, err := io.ReadAll(content)
			if err != nil {
				t.Fatal(err)
			}
			lines[language] = strings.Split(strings.TrimSpace(string(data)), "\n")
		}
	})
	votes := map[int]int{}
	for language, text := range lines {
		s := splitter(t, language)
		if language == "th" { // Thai sentences end without punctuation
			continue
		}
		for k, line := range text {
			line = strings.TrimSpace(line)
			if len(s.Append(nil, line, Options{})) == 1 && strings.ContainsAny(line[max(0, len(line)-8):], ".!?。！？؟।") {
				votes[k]++
			}
		}
	}
	for language, text := range lines {
		var single []string
		for k, line := range text {
			if votes[k] > (len(lines)-1)/2 {
				single = append(single, strings.TrimSpace(line))
			}
		}
		if got := f1(splitter(t, language), language, single); got < floors[language].f1 {
			t.Errorf("%s: F1 %.2f, want %v", language, got, floors[language].f1)
		} else {
			t.Logf("%s: F1 %.2f over %d sentences", language, got, len(single))
		}
	}
}

// f1 scores the recovered ends of joined sentences.
func f1(s *Splitter, language string, sentences []string) float64 {
	space := " "
	if language == "ja" || language == "zh" {
		space = ""
	}
	ends, at := map[int]bool{}, 0
	for _, sentence := range sentences {
		at += len(sentence)
		ends[at] = true
		at += len(space)
	}
	found := s.Append(nil, strings.Join(sentences, space), Options{})
	right := 0
	for _, x := range found {
		if ends[x.End] {
			right++
		}
	}
	precision, recall := float64(right)/float64(len(found)), float64(right)/float64(len(sentences))
	return 200 * precision * recall / (precision + recall)
}
