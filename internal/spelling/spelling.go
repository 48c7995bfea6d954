// Package spelling finds the name that was probably meant.
package spelling

import (
	"fmt"
	"strings"
)

// Asked asks in an error whether the close name was meant; where none is close it says otherwise.
func Asked(misspelt string, names []string, otherwise string) string {
	if meant := Close(misspelt, names); meant != "" {
		return fmt.Sprintf("is %q meant?", meant)
	}
	return otherwise
}

// nearest returns the name that takes the fewest changed, added and removed characters to reach from a misspelt one. It
// returns "" if there are no names. The first of several that are equally near wins.
func nearest(misspelt string, names []string) string {
	best, fewest := "", 0
	for _, name := range names {
		if d := distance([]rune(misspelt), []rune(name)); best == "" || d < fewest {
			best, fewest = name, d
		}
	}
	return best
}

// maxTypos is how many characters of a long name may differ in a misspelt one.
const maxTypos = 3

// Close returns the name that a misspelt one begins, or else the nearest one. It returns "" if no name is near: a name
// with the same first character may differ in half of the characters, but no more than maxTypos, any other in one.
func Close(misspelt string, names []string) string {
	runes := []rune(misspelt)
	if len(runes) < 2 {
		return ""
	}
	var alike []string
	for _, name := range names {
		if strings.HasPrefix(name, misspelt) {
			return name
		}
		if strings.HasPrefix(name, string(runes[0])) {
			alike = append(alike, name)
		}
	}
	if name := nearest(misspelt, alike); name != "" &&
		distance(runes, []rune(name)) <= min(maxTypos, (len(runes)+1)/2) {
		return name
	}
	if name := nearest(misspelt, names); distance(runes, []rune(name)) <= 1 {
		return name
	}
	return ""
}

// distance is the Levenshtein distance.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
