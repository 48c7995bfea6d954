package annotate

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus/surface"
)

// numbers compare the numbers of the sides.
var numbers = []Annotation{
	value("numbers", Count, 0, unlimited, "numbers written in digits, both sides together", either(func(s *Sentence) int { return len(s.numbers) })),
	value("numbers_differ", Count, 0, unlimited, "numbers that the other side lacks. Separators, percent signs, dates, times of day, digits of other scripts and "+
		"words such as million are normalised; small and round numbers that a language may spell out count only if both sides have some", numbersDiffer),
	value("percent_differ", Count, 0, 1, "1 if one side has a percentage and the other has numbers but none", func(p *Pair) float64 {
		if len(p.Source.numbers) == 0 || len(p.Target.numbers) == 0 {
			return 0
		}
		return truth(percent(&p.Source) != percent(&p.Target))
	}),
}

// number is a number of a sentence.
type number struct {
	hash      uint32 // of the digits without separators and leading zeros
	round     uint32 // of the digits without zeros at their end
	small     bool   // often spelled out
	magnitude bool   // a word such as million follows
	used      bool   // it has a partner
}

// magnitudes begin the words that multiply the number before them.
var magnitudes = []string{
	"million", "millón", "milione", "milhõ", "milhã", "mio", "mln", "mrd", "milliard", "milliárd", "miliard", "miljoen", "miljard", "billion", "bilhõ", "trillion",
	"thousand", "tausend", "mille", "mil", "bn", "миллион", "миллиард", "млн", "млрд", "тыс", "мільйон", "мільярд", "مليون", "مليار", "ألف", "लाख", "करोड़",
	"万", "萬", "亿", "億", "千", "兆", "만", "억", "천",
}

// spelled are the larger numbers that languages often write as words.
var spelled = []int{20, 30, 40, 50, 60, 70, 80, 90, 100, 1000}

// maxSmall is the largest number of which every language's usual spelling is a word.
const maxSmall = 12

// findNumbers reads the numbers outside of links.
func (s *Sentence) findNumbers() {
	if s.digits == 0 && s.letters == 0 {
		return
	}
	for i := 0; i < len(s.lower); {
		r, width := utf8.DecodeRuneInString(s.lower[i:])
		switch {
		case surface.IsDigit(r):
			width = s.number(s.lower[i:])
		case r >= '〇' && hanNumerals[r]:
			s.numerals++
		}
		i += width
	}
	for _, t := range s.tokens {
		if t.capital && t.runes > 1 && strings.Trim(s.text(t), "IVXLC") == "" {
			s.numerals++
		}
	}
}

// hanNumerals are the digits of Chinese and Japanese, other than those that are parts of most sentences' words.
var hanNumerals = map[rune]bool{
	'二': true, '两': true, '兩': true, '三': true, '四': true, '五': true, '六': true, '七': true, '八': true, '九': true, '十': true, '百': true, '〇': true,
}

// number adds the numbers at the start of text, which begins with a digit, and returns their length in bytes.
func (s *Sentence) number(text string) int {
	if groups, length := dateOrTime(text); length > 0 {
		for _, g := range groups {
			if g != "" {
				s.numbers = append(s.numbers, numberOf(g))
			}
		}
		return length
	}
	if time, length := clock(text); length > 0 {
		s.numbers = append(s.numbers, numberOf(time))
		return length
	}
	_, length, _ := surface.Number(text)
	length += thousands(text, length)
	digits := strings.ReplaceAll(text[:length], " ", "")
	if hour := hourOfDay(digits, text[length:]); hour != "" {
		digits = hour
	}
	n := numberOf(digits)
	n.magnitude = multiplied(text[length:])
	s.numbers = append(s.numbers, n)
	return length
}

func numberOf(digits string) number {
	digits = strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && surface.IsDigit(r) {
			return '0' + surface.Digit(r)
		}
		return r
	}, digits)
	hash, _, _ := surface.Number(digits)
	round, _, _ := surface.Number(strings.TrimRight(digits, "0.,"))
	return number{hash: hash, round: round, small: isSmall(digits)}
}

func isSmall(digits string) bool {
	value, count := 0, 0
	for _, r := range digits {
		if !surface.IsDigit(r) {
			continue // a separator of thousands; a fraction has more digits than a number that is spelled out
		}
		if count++; count > 4 {
			return false
		}
		value = value*10 + int(surface.Digit(r))
	}
	return value <= maxSmall || slices.Contains(spelled, value)
}

// multiplied reports whether a word of magnitude follows a number.
func multiplied(rest string) bool {
	rest = strings.TrimLeft(rest, " .-")
	return slices.ContainsFunc(magnitudes, func(m string) bool { return strings.HasPrefix(rest, m) })
}

// thousands is the length of the groups of three digits after spaces that continue a number of one to three digits.
func thousands(text string, length int) int {
	if leading(text) != length || length > 3 {
		return 0
	}
	end := length
	for end < len(text) && text[end] == ' ' && leading(text[end+1:]) == 3 {
		end += 4
	}
	return end - length
}

// clocks stand between the hour and the minutes of a time of day.
var clocks = []string{"h", " h", "時", "时", "点", "點", "시"}

// clock is a time of day such as 19 h 30 or 10時15分, as a clock of twelve hours has it, and its length in bytes.
func clock(text string) (time string, length int) {
	n := leading(text)
	if n == 0 || n > 2 {
		return "", 0
	}
	for _, mark := range clocks {
		rest, found := strings.CutPrefix(text[n:], mark)
		minutes := strings.TrimLeft(rest, " ")
		if !found || leading(minutes) != 2 {
			continue
		}
		hour, minute := atoi(text[:n]), atoi(minutes[:2])
		if hour <= 24 && minute < 60 {
			return timeOfDay(hour, minute), len(text) - len(minutes) + 2
		}
	}
	return "", 0
}

// hours are the words after the hour of a day.
var hours = []string{"uhr", "a.m", "p.m", "am ", "pm ", "am.", "pm.", "am,", "pm,", "h ", "h,", "h.", "heures", "час", "点", "點", "時", "时", "시"}

// hourOfDay is an hour or a time of day (15, 15.30) as a clock of twelve hours has it, if what follows says that it is
// one.
func hourOfDay(digits, rest string) string {
	rest = strings.TrimLeft(rest, " ")
	if !slices.ContainsFunc(hours, func(word string) bool { return strings.HasPrefix(rest, word) }) {
		return ""
	}
	n := leading(digits)
	hour, minutes := atoi(digits[:min(n, 2)]), 0
	if len(digits) == n+3 && digits[n] == '.' && leading(digits[n+1:]) == 2 {
		minutes = atoi(digits[n+1:])
	} else if len(digits) != n {
		return ""
	}
	if n == 0 || n > 2 || hour > 24 || minutes > 59 {
		return ""
	}
	return timeOfDay(hour, minutes)
}

// timeOfDay is a time as a number; full hours are as the hour alone.
func timeOfDay(hour, minute int) string {
	if hour %= 12; hour == 0 {
		hour = 12
	}
	if minute == 0 {
		return strconv.Itoa(hour)
	}
	return strconv.Itoa(hour*100 + minute)
}

// dateOrTime reads a date in digits (12.05.2020, 5/12/2020, 2020-05-12) as its three groups, and a time of day (7:30,
// 19h30) as one number of a clock of twelve hours. The length is 0 if the text begins with neither.
func dateOrTime(text string) (groups [3]string, length int) {
	a := leading(text)
	if a == 0 || a == 3 || a > 4 || a == len(text) {
		return groups, 0
	}
	separator := text[a]
	b := leading(text[a+1:])
	if b < 1 || b > 2 {
		return groups, 0
	}
	end := a + 1 + b
	if (separator == ':' || separator == 'h') && a <= 2 && b == 2 && !continues(text[end:], ':') {
		hour, minute := atoi(text[:a]), atoi(text[a+1:end])
		if hour < 24 && minute < 60 {
			return [3]string{timeOfDay(hour, minute)}, end
		}
	}
	if separator != '.' && separator != '/' && separator != '-' || end == len(text) || text[end] != separator {
		return groups, 0
	}
	c := leading(text[end+1:])
	if a == 4 && c >= 1 && c <= 2 || a <= 2 && (c == 4 || c == 2 && separator == '.') {
		groups = [3]string{text[:a], text[a+1 : end], text[end+1 : end+1+c]}
		day, month := atoi(groups[0]), atoi(groups[1])
		if a == 4 {
			day = atoi(groups[2])
		}
		if min(day, month) <= 12 && max(day, month) <= 31 {
			return groups, end + 1 + c
		}
	}
	return [3]string{}, 0
}

// leading counts the ASCII digits at the start of text.
func leading(text string) int {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return i
		}
	}
	return len(text)
}

func continues(rest string, separator byte) bool {
	return len(rest) > 1 && (rest[0] == separator && unicode.IsDigit(rune(rest[1])) || unicode.IsDigit(rune(rest[0])))
}

func atoi(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// numbersDiffer pairs the numbers of both sides and counts those that have no partner.
func numbersDiffer(p *Pair) float64 {
	a, b := p.Source.numbers, p.Target.numbers
	if len(a)+len(b) == 0 {
		return 0
	}
	pairNumbers(a, b, func(x, y *number) bool { return x.hash == y.hash })
	pairNumbers(a, b, func(x, y *number) bool { return x.round == y.round && (x.magnitude || y.magnitude) })
	smallA, largeA := unpaired(a)
	smallB, largeB := unpaired(b)
	// A number may be written in Han characters or as a Roman one on the other side.
	largeA, largeB = max(0, largeA-p.Target.numerals), max(0, largeB-p.Source.numerals)
	return float64(largeA + largeB + 2*min(smallA, smallB))
}

func pairNumbers(a, b []number, same func(x, y *number) bool) {
	for i := range a {
		for j := range b {
			if !a[i].used && !b[j].used && same(&a[i], &b[j]) {
				a[i].used, b[j].used = true, true
			}
		}
	}
}

func unpaired(list []number) (small, large int) {
	for _, n := range list {
		switch {
		case n.used:
		case n.small:
			small++
		default:
			large++
		}
	}
	return small, large
}

// percents are the words for a percent sign.
var percents = []string{"%", "％", "٪", "percent", "per cent", "prozent", "pour cent", "pourcent", "por ciento", "por cento", "per cento", "процент", "відсот", "procent", "百分之", "パーセント", "퍼센트"}

func percent(s *Sentence) bool {
	return slices.ContainsFunc(percents, func(word string) bool { return strings.Contains(s.lower, word) })
}
