// Package spelling finds the name that was probably meant.
package spelling

// Nearest returns the name that takes the fewest changed, added and removed characters to reach from a misspelt one. It
// returns "" if there are no names. The first of several that are equally near wins.
func Nearest(misspelt string, names []string) string {
	best, fewest := "", 0
	for _, name := range names {
		if d := distance([]rune(misspelt), []rune(name)); best == "" || d < fewest {
			best, fewest = name, d
		}
	}
	return best
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
