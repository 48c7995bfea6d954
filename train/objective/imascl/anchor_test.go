package imascl

import "testing"

func TestAnchors(t *testing.T) {
	anchors := []string{"en", "ru"}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"en", "ru", true}, {"ru", "en", false}, {"ru", "de", true}, {"de", "en", false}, {"de", "fr", true}, {"fr", "de", false}, {"en", "en", false}} {
		if got := before(anchors, c.a, c.b); got != c.want {
			t.Errorf("before(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
