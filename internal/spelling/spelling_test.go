package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"length_z", "length_ratio", "mojibake", "größe"}
	for misspelt, want := range map[string]string{"lengt_z": "length_z", "mojibak": "mojibake", "grösse": "größe", "length_ration": "length_ratio", "mojibake": "mojibake"} {
		if got := Nearest(misspelt, names); got != want {
			t.Errorf("nearest to %q: %q, want %q", misspelt, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("nearest of none: %q", got)
	}
}
