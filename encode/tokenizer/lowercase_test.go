package tokenizer

import "testing"

// The right column is the output of Python 3.11's str.lower.
func TestLowercaseIsPythons(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"The FERRY", "the ferry"},
		{"ÄÖÜ ẞ ß", "äöü ß ß"},
		{"İSTANBUL", "i̇stanbul"},
		{"I", "i"},
		{"ΟΔΟΣ", "οδος"},
		{"ΟΔΟΣ ΣΑ", "οδος σα"},
		{"Σ", "σ"},
		{"ΑΣ.", "ας."},
		{"ΑΣ'Α", "ασ'α"},
		{"ΣΣΣ", "σσς"},
		{"1Σ", "1σ"},
		{"ПОЕЗД", "поезд"},
		{"ＦＵＬＬ", "ｆｕｌｌ"},
		{"ǅ", "ǆ"},
		{"𐐀", "𐐨"},
		{"駅 123", "駅 123"},
	} {
		if got := Lowercase(c.in); got != c.want {
			t.Errorf("Lowercase(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
