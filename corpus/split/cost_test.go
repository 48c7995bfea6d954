package split

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// withRule is a file with one rule that breaks before a place and after it.
func withRule(before, after string) []byte {
	return fmt.Appendf(nil, `<srx version="2.0"><body><languagerules><languagerule languagerulename="a"><rule><beforebreak>%s</beforebreak>`+
		`<afterbreak>%s</afterbreak></rule></languagerule></languagerules><maprules><languagemap languagepattern=".*" languagerulename="a"/></maprules></body></srx>`, before, after)
}

// TestHostileRules: what rules cost grows with the text, not with its square or a higher power.
func TestHostileRules(t *testing.T) {
	text := strings.Repeat("aaaa, aaaaa aaa. ", 1<<20/17)
	for _, rule := range [][2]string{{".*.*.*.*", "b"}, {"", ".*.*.*.*"}, {".*.*.*.*b", ""}, {`\.`, `.*.*.*.*b`}, {`\.`, `[a ]*[a,]*[a. ]*(x|y)`}, {`(a+)+[.,]*(a|,)*`, `((a|\s)+)*b`}} {
		t.Run(rule[0]+"|"+rule[1], func(t *testing.T) {
			rules, err := Parse("hostile.srx", withRule(rule[0], rule[1]))
			if err != nil {
				t.Fatal(err)
			}
			s, err := rules.Splitter("de")
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			s.Append(nil, text[:len(text)/16], Options{})
			first := time.Since(begin)
			s.Append(nil, text, Options{})
			all := time.Since(begin) - first
			t.Log(first, all)
			if all > max(100*first, 10*time.Second) {
				t.Errorf("%v for a text, and %v for 16 times it", first, all)
			}
		})
	}
}

// TestHostileText: no text is much slower than others under the shipped rules.
func TestHostileText(t *testing.T) {
	rules, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"de", "en", "fr", "zh", "th"} {
		s, err := rules.Splitter(language)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{".", ". ", " ", "\"", "a.", "1.", "A", "...\" ", "?!", ")", "。", "」", "z.B. ", "Mr. "} {
			text := strings.Repeat(part, 1<<18/len(part))
			begin := time.Now()
			s.Append(nil, text, Options{})
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("%s, %q: %v", language, part, took)
			} else if took > time.Second {
				t.Logf("%s, %q: %v", language, part, took)
			}
		}
	}
}

func TestRulesWithTooManyStates(t *testing.T) {
	for name, data := range map[string][]byte{
		"a pattern": withRule("(?:abcdefghijklmnopqrstuvwxyz){900}x", ""),
		"many":      []byte(strings.Replace(string(withRule("a", "b")), "<rule>", strings.Repeat("<rule><beforebreak>(?:[ab]c?){900}(?:x|yz)*</beforebreak><afterbreak/></rule>", 1000)+"<rule>", 1)),
	} {
		if _, err := Parse("large.srx", data); err == nil || !strings.Contains(err.Error(), "large.srx: rule") || !strings.Contains(err.Error(), "states") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
