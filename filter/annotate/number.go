package annotate

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus/surface"
	"bitextmine/internal/subtag"
)

// appendNumbers adds the numbers of a text in lower case, as surface.Plain gives it.
func appendNumbers(numbers []surface.Number, text string) []surface.Number {
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		if surface.IsDigit(r) {
			numbers, width = surface.AppendNumbers(numbers, text[i:])
		}
		i += width
	}
	return numbers
}

// otherwise reads the numbers of a side in another way that languages have: a colon between two numbers is that of a
// score (1:0, which others write as 1-0) and not of a time of day, and the zero at the end of a decimal fraction says
// nothing (1,50 is 1.5). It reports whether that changes the text.
func otherwise(s *Sentence) (numbers []surface.Number, changed bool) {
	text := surface.Plain(s.lower)
	other := make([]byte, 0, len(text))
	for i := range len(text) {
		switch c := text[i]; {
		case c == ':' && digitAt(text, i-1) && digitAt(text, i+1):
			other = append(other, ' ', '-', ' ')
		case c == '0' && endsFraction(text, i):
		default:
			other = append(other, c)
		}
	}
	if string(other) == text {
		return s.numbers, false
	}
	return appendNumbers(nil, string(other)), true
}

func digitAt(text string, i int) bool {
	return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9'
}

// endsFraction reports whether a zero is the second of two decimals, the first of which is another digit.
func endsFraction(text string, i int) bool {
	if i < 3 || !digitAt(text, i-1) || text[i-1] == '0' || text[i-2] != '.' && text[i-2] != ',' || !digitAt(text, i-3) || digitAt(text, i+1) {
		return false
	}
	before := strings.TrimRight(text[:i-2], "0123456789")
	// A date, or the number of a chapter, has further separators.
	separated := before != "" && (before[len(before)-1] == '.' || before[len(before)-1] == ',')
	return !separated && !(i+1 < len(text) && (text[i+1] == '.' || text[i+1] == ',') && digitAt(text, i+2))
}

// percentSigns stand for a percentage in every language.
var percentSigns = []string{"%", "％", "٪"}

// percents are the words for a percent sign by language, or what they begin with.
var percents = map[string][]string{
	"af": {"persent"}, "am": {"በመቶ", "ከመቶ", "ፐርሰንት"}, "ar": {"بالمائة", "بالمئة", "المائة", "المئة", "مئوية"}, "be": {"працэнт", "адсот"},
	"bg": {"процент", "на сто"}, "bn": {"শতাংশ", "শতকরা"}, "ca": {"per cent", "percent"}, "cs": {"procent"}, "da": {"procent"}, "de": {"prozent"},
	"el": {"τοις εκατό", "ποσοστ"}, "en": {"percent", "per cent", "per-cent"}, "es": {"por ciento", "porciento", "porcent"}, "et": {"protsen"},
	"eu": {"ehuneko"}, "fa": {"درصد"}, "fi": {"prosent"}, "fr": {"pour cent", "pourcent"}, "gl": {"por cento", "porcent"},
	"he": {"אחוז"}, "hi": {"प्रतिशत", "फीसद", "फ़ीसद"}, "hr": {"posto", "postot"}, "hu": {"százalék"}, "id": {"persen"},
	"it": {"per cento", "percent"}, "ja": {"パーセント", "百分"}, "ka": {"პროცენტ"}, "kk": {"пайыз", "процент"}, "km": {"ភាគរយ"}, "ko": {"퍼센트", "백분"},
	"lt": {"procent"}, "lv": {"procent"}, "mr": {"टक्के", "टक्क", "प्रतिशत"}, "ms": {"peratus"}, "ne": {"प्रतिशत"}, "nl": {"procent", "percent"},
	"no": {"prosent"}, "nb": {"prosent"}, "pl": {"procent", "proc."}, "pt": {"por cento", "porcent"}, "ro": {"la sută", "procent"}, "ru": {"процент"},
	"si": {"සියයට", "ප්\u200dරතිශත", "ප්රතිශත"}, "sk": {"percent"}, "sl": {"odstot", "procent"}, "sr": {"процен", "посто", "procen", "posto"}, "sv": {"procent"},
	"ta": {"சதவீத", "சதவிகித", "விழுக்காடு"}, "te": {"శాతం", "శాత"}, "th": {"เปอร์เซ็น", "เปอร์เซน", "ร้อยละ"}, "tr": {"yüzde"}, "uk": {"відсот", "процент"},
	"ur": {"فیصد"}, "vi": {"phần trăm"}, "zh": {"百分"},
}

// anyPercent are the words of all languages.
var anyPercent = func() (all []string) {
	for _, words := range percents {
		all = append(all, words...)
	}
	return all
}()

// percent reports whether a side has a percentage, and whether the words of its language are listed.
func percent(s *Sentence) (has, listed bool) {
	words, listed := percents[subtag.Language(s.Language)]
	if !listed {
		words = anyPercent
	}
	in := func(word string) bool { return strings.Contains(s.lower, word) }
	return slices.ContainsFunc(percentSigns, in) || slices.ContainsFunc(words, in), listed
}

func percentDiffers(p *Pair) float64 {
	if len(p.Source.numbers) == 0 || len(p.Target.numbers) == 0 {
		return 0
	}
	inSource, sourceListed := percent(&p.Source)
	inTarget, targetListed := percent(&p.Target)
	switch {
	case inSource == inTarget:
		return 0
	case !inSource && !sourceListed, !inTarget && !targetListed:
		return unknown
	}
	return 1
}
