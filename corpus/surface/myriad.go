package surface

import (
	"strconv"
	"strings"
)

// fractions are those that stand behind a whole number: 1½ is 1.5.
var fractions = map[rune]string{'½': ".5", '¼': ".25", '¾': ".75"}

// myriadUnits are the words that multiply a part of a Chinese, Japanese or Korean number, longer ones first.
var myriadUnits = []struct {
	word  string
	value uint64
}{
	{"千万", 1e7}, {"千萬", 1e7}, {"百万", 1e6}, {"百萬", 1e6}, {"천만", 1e7}, {"백만", 1e6},
	{"兆", 1e12}, {"조", 1e12}, {"亿", 1e8}, {"億", 1e8}, {"억", 1e8}, {"万", 1e4}, {"萬", 1e4}, {"만", 1e4}, {"千", 1e3}, {"천", 1e3},
}

// myriads reads a number of several parts, as 3億5000万 and 1만 2300, as one in digits, and its length in bytes. The
// length is 0 if the text does not begin with one: a part and its unit alone are a number and a word of magnitude.
func myriads(text string) (sum string, length int) {
	total, unit, parts := uint64(0), uint64(1e18), 0 // unit of the part before; larger numbers are not in text
	for {
		rest := text[length:]
		if parts > 0 {
			rest = strings.TrimPrefix(rest, " ")
		}
		digits := wholeNumber(rest)
		next, word := myriadUnit(rest[digits:])
		if next == 0 && parts == 0 { // most numbers
			break
		}
		value, err := strconv.ParseUint(strings.ReplaceAll(rest[:digits], ",", ""), 10, 64)
		spaced := len(rest) < len(text)-length
		if err != nil || value >= unit/max(next, 1) || next == 0 && spaced && isYear(rest[digits:]) {
			break
		}
		total += value * max(next, 1)
		unit, length, parts = next, len(text)-len(rest)+digits+len(word), parts+1
		if next == 0 {
			break
		}
	}
	if parts < 2 {
		return "", 0
	}
	return strconv.FormatUint(total, 10), length
}

// myriadUnit is the unit that a text begins with; 0: none.
func myriadUnit(text string) (value uint64, word string) {
	for _, u := range myriadUnits {
		if strings.HasPrefix(text, u.word) {
			return u.value, u.word
		}
	}
	return 0, ""
}

// isYear reports whether the number before a text is a year: 3만 2019년 are two numbers.
func isYear(rest string) bool {
	return strings.HasPrefix(rest, "년") || strings.HasPrefix(rest, "年")
}

// wholeNumber is the length of up to eight digits, in which commas may group thousands; others have none.
func wholeNumber(text string) int {
	length := leading(text)
	for length > 0 && length < len(text) && text[length] == ',' && leading(text[length+1:]) == 3 {
		length += 4
	}
	if length > 8+2 || length < len(text) && (text[length] == '.' || text[length] == ',') && leading(text[length+1:]) > 0 {
		return 0
	}
	return length
}
