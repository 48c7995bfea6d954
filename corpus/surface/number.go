package surface

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number is a number of a sentence, in a form that is equal in many languages.
type Number struct {
	Hash      uint32 // hash of the digits without separators and leading zeros
	Round     uint32 // hash of the digits without zeros at their end
	Small     bool   // often spelled out
	Magnitude bool   // a word such as million follows
	Word      bool   // it is spelled out
	Month     bool   // a month of the year, as in 7月: other languages have a word for it
	Decade    uint32 // hash of the last two digits of a year that ends in 0, as in the 70s; 0 for other numbers
}

// magnitudes begin the words that multiply the number before them.
var magnitudes = []string{
	"million", "millón", "milione", "milhõ", "milhã", "mio", "mln", "mrd", "milliard", "milliárd", "miliard", "miljoen", "miljard", "billion", "bilhõ", "trillion",
	"thousand", "tausend", "tsd", "mille", "mil", "tys.", "tysi", "tis.", "tisíc", "тис", "bn", "миллион", "миллиард", "млн", "млрд", "тыс", "мільйон", "мільярд", "مليون", "مليار", "ألف", "लाख", "करोड़",
	"万", "萬", "亿", "億", "千", "兆", "만", "억", "천",
}

// spelled are the larger numbers that languages often write as words.
var spelled = []int{20, 30, 40, 50, 60, 70, 80, 90, 100, 1000}

// maxSmall is the largest number of which every language's usual spelling is a word.
const maxSmall = 12

// IsNumeral reports whether r is a digit of Chinese and Japanese, other than those that are parts of most sentences'
// words.
func IsNumeral(r rune) bool { return r >= '〇' && hanNumerals[r] }

// hanNumerals are the digits of Chinese and Japanese, other than those that are parts of most sentences' words.
var hanNumerals = map[rune]bool{
	'二': true, '两': true, '兩': true, '三': true, '四': true, '五': true, '六': true, '七': true, '八': true, '九': true, '十': true, '百': true, '〇': true,
}

// AppendNumbers adds the numbers at the start of text to a list: three of a date, otherwise one. The text is Plain's,
// in lower case, and begins with a digit. It returns their length in bytes.
func AppendNumbers(numbers []Number, text string) (_ []Number, length int) {
	if groups, length := dateOrTime(text); length > 0 {
		for _, g := range groups {
			if g != "" {
				numbers = append(numbers, numberOf(g))
			}
		}
		return numbers, length
	}
	if time, length := clock(text); length > 0 {
		numbers = append(numbers, numberOf(time))
		return numbers, length
	}
	if sum, length := myriads(text); length > 0 {
		return append(numbers, numberOf(sum)), length
	}
	_, length, _ = digits(text)
	length += thousands(text, length)
	written := strings.ReplaceAll(text[:length], " ", "")
	if sign, width := utf8.DecodeRuneInString(text[length:]); fractions[sign] != "" {
		written, length = written+fractions[sign], length+width
	}
	if hour := hourOfDay(written, text[length:]); hour != "" {
		written = hour
	}
	n := numberOf(written)
	n.Magnitude, n.Month = multiplied(text[length:]), isMonth(written, text[length:])
	numbers = append(numbers, n)
	return numbers, length
}

func numberOf(written string) Number {
	written = withoutEmptyFraction(written)
	hash, _, _ := digits(written)
	round, _, _ := digits(strings.TrimRight(written, "0.,"))
	n := Number{Hash: hash, Round: round, Small: isSmall(written)}
	if len(written) == 4 && (written[:2] == "19" || written[:2] == "20") && written[3] == '0' {
		n.Decade, _, _ = digits(written[2:])
	}
	return n
}

// withoutEmptyFraction leaves out the one or two zeros behind a decimal point or comma: 2.0 is 2, and 5,00 is 5. Three
// are thousands.
func withoutEmptyFraction(written string) string {
	whole := strings.TrimRight(written, "0")
	if zeros := len(written) - len(whole); zeros == 0 || zeros > 2 || len(whole) < 2 {
		return written
	}
	if last := len(whole) - 1; whole[last] == '.' || whole[last] == ',' {
		return whole[:last]
	}
	return written
}

// isMonth reports whether a number is one of the twelve months: 7月 is July, and 7个月 are seven months.
func isMonth(written, rest string) bool {
	if leading(written) != len(written) || len(written) > 2 || atoi(written) > 12 {
		return false
	}
	return strings.HasPrefix(rest, "月") || strings.HasPrefix(rest, "월")
}

func isSmall(digits string) bool {
	value, count := 0, 0
	for _, r := range digits {
		if !IsDigit(r) {
			continue // a separator of thousands; a fraction has more digits than a number that is spelled out
		}
		if count++; count > 4 {
			return false
		}
		value = value*10 + int(Digit(r))
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

// UnpairedNumbers returns the numbers of two sentences that have no partner in the other one: one of the same value,
// or one of the same digits where a word of magnitude follows one of the two.
func UnpairedNumbers(a, b []Number) (_, _ []Number) {
	if len(a) == 0 || len(b) == 0 {
		return a, b
	}
	a, b = withoutPairs(a, b, func(x, y Number) bool { return x.Hash == y.Hash })
	return withoutPairs(a, b, func(x, y Number) bool { return x.Round == y.Round && (x.Magnitude || y.Magnitude) })
}

// UnpairedDecades returns the numbers that are not a decade of the other sentence, written with two or four digits.
func UnpairedDecades(a, b []Number) (_, _ []Number) {
	if len(a) == 0 || len(b) == 0 {
		return a, b
	}
	return withoutPairs(a, b, func(x, y Number) bool { return x.Decade == y.Hash || y.Decade == x.Hash })
}

// WithoutMonths returns the numbers that are no months: the other sentence has the name of a month that has no partner.
func WithoutMonths(numbers []Number) []Number {
	month := func(n Number) bool { return n.Month }
	if !slices.ContainsFunc(numbers, month) {
		return numbers // not a copy: few sentences have one
	}
	return slices.DeleteFunc(slices.Clone(numbers), month)
}

// withoutPairs leaves out each number of a that has a partner, and its partner.
func withoutPairs(a, b []Number, same func(x, y Number) bool) (_, _ []Number) {
	b = slices.Clone(b)
	var rest []Number
	for _, n := range a {
		if at := slices.IndexFunc(b, func(other Number) bool { return same(n, other) }); at >= 0 {
			b = slices.Delete(b, at, at+1)
		} else {
			rest = append(rest, n)
		}
	}
	return rest, b
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
