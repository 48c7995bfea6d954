package bead

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Höhe: 8848 m, Mt.Everest": "hohe 8848 m mt everest",
		"Эверест2, Ёлка!":          "эверест 2 елка",
		"珠穆朗玛峰高8848米 (Everest)":    "8848 everest",
		"":                         "",
	} {
		var got []string
		for _, w := range words(text) {
			got = append(got, string(w))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestLinks: rare names and numbers link the sentences that have them, and what every sentence has links none.
func TestLinks(t *testing.T) {
	source := []string{"Der Everest misst 8848 m.", "Der Lhotse ist ein Nachbar.", "Der Koch heisst Müller.", "Der Rest folgt.", "Der Schluss.", "Der Anhang."}
	target := []string{"L'Everest mesure 8848 m.", "Le Lhotsé est voisin.", "Le cuisinier s'appelle Muller.", "Der reste suit.", "Der fin.", "Der annexe."}
	l := newLinks(source, target)
	for i := range source {
		for j := range target {
			shared := l.shared(i, j)
			if i == j && i < 3 && shared <= 0 {
				t.Errorf("sentences %d share %v", i, shared)
			}
			if i > 3 && j > 3 && shared != 0 { // der
				t.Errorf("sentences %d and %d share %v", i, j, shared)
			}
		}
	}
	if number, name := l.shared(0, 0), l.shared(2, 2); number <= name {
		t.Errorf("a name and a number share %v, a name alone %v", number, name)
	}
	table := newLinkTable(l, Span{0, 6}, Span{0, 6}, full(6, 6))
	if table.leak(1, 1, 1, 1) != 0 || table.crossing(1, 1, 1, 1) != 0 {
		t.Error("a bead of sentences that share only with each other has links outside")
	}
	if leak, crossing := table.leak(1, 1, 2, 1), table.crossing(1, 1, 2, 1); leak <= 0 || crossing <= 0 || crossing > 2 {
		t.Errorf("a bead beside the right one: leak %v, crossing %v", leak, crossing)
	}
	part := newLinkTable(l, Span{1, 3}, Span{1, 3}, full(3, 3))
	if got, want := part.sum(0, 2, 0, 2), l.shared(1, 1)+l.shared(1, 2)+l.shared(2, 1)+l.shared(2, 2); got != want {
		t.Errorf("a piece's sum is %v, want %v", got, want)
	}
}
