package surface

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

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
