package annotate

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus/surface"
)

// links compare what is copied in a translation: URLs, addresses, currencies.
var links = []Annotation{
	value("urls", Count, 0, unlimited, "URLs, both sides together", either(func(s *Sentence) int { return len(s.urls) })),
	value("urls_differ", Count, 0, unlimited, "URLs that the other side lacks, apart from case, http and https, www and a slash at the end", func(p *Pair) float64 {
		return float64(differ(p.Source.urls, p.Target.urls))
	}),
	value("emails_differ", Count, 0, unlimited, "e-mail addresses that the other side lacks", func(p *Pair) float64 {
		return float64(differ(p.Source.emails, p.Target.emails))
	}),
	value("link_share", Float, 0, 1, "share of the bytes that URLs and addresses take, on the side with more", higher(func(s *Sentence) float64 {
		return float64(s.linked) / float64(max(1, len(s.Text)))
	})),
	value("currency_differs", Count, 0, 2, "2 if the sides name different currencies, 1 if only one of them names one, 0 otherwise", currencyDiffers),
}

var (
	urlPattern   = regexp.MustCompile(`(?:(?:https?|ftp)://|www\.)[^\s\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}<>"'()\[\]{}，。；：！？、）》」』】]+`)
	emailPattern = regexp.MustCompile(`[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+`)
)

// findLinks finds URLs and addresses and replaces them in the lower-case text by spaces, so that no number is found in
// them.
func (s *Sentence) findLinks() {
	if strings.Contains(s.lower, "://") || strings.Contains(s.lower, "www.") {
		s.lower = urlPattern.ReplaceAllStringFunc(s.lower, func(url string) string {
			s.linked += len(url)
			s.urls = append(s.urls, canonical(url))
			return strings.Repeat(" ", len(url))
		})
	}
	if strings.Contains(s.lower, "@") {
		s.lower = emailPattern.ReplaceAllStringFunc(s.lower, func(address string) string {
			s.linked += len(address)
			s.emails = append(s.emails, address)
			return strings.Repeat(" ", len(address))
		})
	}
}

func canonical(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		rest = url
	}
	return strings.TrimRight(strings.TrimPrefix(rest, "www."), "/.,;:!?")
}

// differ counts the elements of each list that the other lacks.
func differ(a, b []string) int {
	count := 0
	for _, x := range a {
		if !slices.Contains(b, x) {
			count++
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			count++
		}
	}
	return count
}

// currencies are signs, codes and words by currency. A word counts only as a whole one.
var currencies = [][]string{
	{"€", "eur", "euro", "euros", "欧元", "歐元", "ユーロ", "евро", "євро", "يورو", "유로"},
	{"$", "usd", "dollar", "dollars", "dólar", "dólares", "dollari", "dollaro", "us-dollar", "us-dollars", "dolar", "dolarów", "美元", "ドル", "доллар", "доллара", "долларов", "долл", "долар", "доларів", "دولار", "달러"},
	{"£", "gbp", "pound", "pounds", "pfund", "livre", "livres", "libra", "libras", "sterling", "英镑", "英鎊", "ポンド", "фунт", "фунта", "фунтов"},
	{"¥", "￥", "jpy", "yen", "日元", "円", "иен", "йен", "cny", "rmb", "yuan", "人民币", "元", "юань", "юаня", "юаней"},
	{"chf", "franken", "franc", "francs", "瑞士法郎"},
	{"₽", "rub", "rubel", "rouble", "roubles", "ruble", "rubles", "rublos", "рубль", "рубля", "рублей", "руб", "卢布", "ルーブル"},
	{"₹", "inr", "rupee", "rupees", "rupie", "rupien", "roupie", "roupies", "रुपये", "卢比"},
	{"₩", "krw", "won", "원", "韩元", "ウォン"},
	{"₴", "uah", "hryvnia", "hryvnias", "гривня", "гривні", "гривень", "гривна", "гривен"},
}

// currencyWords are the words by currency, currencyParts the signs and the words of scripts without spaces, which may
// stand anywhere.
var currencyWords, currencyParts = func() (words map[string]int, parts [][]string) {
	words, parts = map[string]int{}, make([][]string, len(currencies))
	for i, forms := range currencies {
		for _, form := range forms {
			if r, _ := utf8.DecodeRuneInString(form); surface.IsWordLetter(r) {
				words[form] = i
			} else {
				parts[i] = append(parts[i], form)
			}
		}
	}
	return words, parts
}()

// currenciesOf is the set of currencies that a side names, as bits. Words of currencies
// also mean other things (pound, won), so they count only in a sentence with a number.
func currenciesOf(s *Sentence) (set uint) {
	if len(s.numbers)+s.numerals == 0 {
		return 0
	}
	for _, t := range s.tokens {
		if c, ok := currencyWords[s.lowerText(t)]; ok {
			set |= 1 << c
		}
	}
	for c, parts := range currencyParts {
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s.lower, part) }) {
			set |= 1 << c
		}
	}
	return set
}

// lowerText is a word in lower case. Lower case has another length in a few languages; then there is no such text.
func (s *Sentence) lowerText(t token) string {
	if len(s.lower) != len(s.Text) {
		return strings.ToLower(s.text(t))
	}
	return s.lower[t.begin:t.end]
}

func currencyDiffers(p *Pair) float64 {
	a, b := currenciesOf(&p.Source), currenciesOf(&p.Target)
	switch {
	case a == b:
		return 0
	case a == 0 || b == 0:
		return 1
	case a&b == 0:
		return 2
	}
	return 0
}
