package filter

import "testing"

func TestAlike(t *testing.T) {
	const english = "Remove the selected printers and scanners"
	for text, want := range map[string]bool{
		"Remove all selected printers":          true, // English, as the other one
		"Rimuovere le stampanti selezionate":    false,
		"Rimuovi printers e scanner dalla rete": false, // one of four
		"GNOME Shell":                           true,  // no words to tell by
		"":                                      true,
	} {
		if got := Alike(text, english); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
