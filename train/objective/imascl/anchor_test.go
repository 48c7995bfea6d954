package imascl

import (
	"fmt"
	"strings"
	"testing"
)

func TestAnchors(t *testing.T) {
	published := []string{"en", "ru"}
	for _, c := range []struct {
		anchors []string
		a, b    string
		want    bool
	}{
		{published, "en", "ru", true}, {published, "ru", "en", false}, {published, "ru", "de", true}, {published, "de", "en", false},
		{published, "de", "fr", true}, {published, "fr", "de", false}, {published, "en", "en", false},
		{[]string{"eng_Latn"}, "en", "de", true}, {[]string{"rus", "eng"}, "en", "ru", false}, {[]string{"rus", "eng"}, "en", "de", true},
	} {
		if got := before(anchored{Anchors: c.anchors}.languages(), c.a, c.b); got != c.want {
			t.Errorf("before(%v, %s, %s) = %v", c.anchors, c.a, c.b, got)
		}
	}
}

// TestAnchorsThatAreNone: a language is named once, in whatever code, and is known.
func TestAnchorsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		anchors []string
		want    string // empty: accepted
	}{
		{[]string{"en", "rus"}, ""},
		{[]string{"en", "en"}, "objective.anchors names en twice"},
		{[]string{"en", "eng"}, "objective.anchors names en twice"},
		{[]string{"de", "qqz9"}, "objective.anchors[1]: "},
	} {
		var wrong []string
		anchored{Anchors: c.anchors, Teacher: "x"}.Validate(func(ok bool, format string, args ...any) {
			if !ok {
				wrong = append(wrong, fmt.Sprintf(format, args...))
			}
		})
		if got := strings.Join(wrong, "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.anchors, got, c.want)
		}
	}
}
