package page

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bitextmine/bitext/concordance"
	"bitextmine/web/overview"
)

func TestDirection(t *testing.T) {
	for code, want := range map[string]string{
		"ar": "rtl", "he": "rtl", "fa": "rtl", "ur": "rtl", "yi": "rtl", "ckb": "rtl", "dv": "rtl", "syr": "rtl", "pa-Arab": "rtl", "uz-Arab": "rtl",
		"de": "ltr", "zh": "ltr", "ja": "ltr", "ar-Latn": "ltr", "pa": "ltr", "ru": "ltr", "": "ltr", "und": "ltr",
	} {
		if got := direction(code); got != want {
			t.Errorf("%q is %s, want %s", code, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	s := NewSentence("he", "abcdef", []concordance.Span{{Start: 0, End: 2}, {Start: 3, End: 6}})
	if got := fmt.Sprint(s); got != "{he rtl [{ab true} {c false} {def true}] false}" {
		t.Errorf("%s", got)
	}
	if got := NewSentence("de", "", nil); got.Parts != nil {
		t.Errorf("an empty sentence has parts: %+v", got)
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(1000): "1,000", count(1234567): "1,234,567", count(-45678): "−45,678",
		signed(0): "±0", signed(1200): "+1,200", signed(-3): "−3",
		value(float32(0.1234)): "0.123", value(math.NaN()): "–", value((*float32)(nil)): "–", percent(0.12345): "12.3%", percent(math.NaN()): "–",
		seconds(0.05): "50 ms", seconds(5.26): "5.3 s", seconds(125): "2 min 05 s", seconds(7260): "2 h 01 min",
		capital("about half"): "About half", capital("über"): "Über", capital(""): "", LanguageName("de"): "German", LanguageName("zh-Hant"): "Traditional Chinese",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestHistogramIsHonest: heights are in proportion to numbers of pairs from 0 on, bars stand where their values are,
// and kept ones below the others.
func TestHistogramIsHonest(t *testing.T) {
	h := overview.Histogram{Threshold: 0.5, Bins: []overview.Bin{{Low: 0, High: 0.5, Rejected: 100}, {Low: 0.5, High: 1, Kept: 50, Rejected: 25}}}
	c := newChart(h, false)
	if len(c.Bars) != 3 || c.Threshold != "50.00%" || c.NameBefore {
		t.Fatalf("%+v", c)
	}
	tall, kept, rest := c.Bars[0], c.Bars[1], c.Bars[2]
	if tall.Height != "180.0" || kept.Height != "90.0" || rest.Height != "45.0" || kept.Top != "114.0" || rest.Top != "69.0" || !kept.Kept || rest.Kept {
		t.Errorf("%+v", c.Bars)
	}
	if !strings.HasPrefix(tall.Left, "3.") || !strings.HasPrefix(kept.Left, "53.") || kept.Left != rest.Left || tall.Width != "44.00%" {
		t.Errorf("%+v", c.Bars)
	}
	if first, last := c.Up[0], c.Up[len(c.Up)-1]; first.Label != "0" || first.At != "204.0" || last.Label != "100" || last.At != "24.0" {
		t.Errorf("the axis is %+v", c.Up)
	}
	if first, last := c.Across[0], c.Across[5]; first.Label != "0.00" || first.Anchor != "start" || last.At != "100.00%" || last.Anchor != "end" || c.Across[2].Anchor != "middle" {
		t.Errorf("the axis is %+v", c.Across)
	}
	log := newChart(h, true)
	if log.Bars[1].Left == log.Bars[2].Left || log.Bars[1].Top == "114.0" {
		t.Errorf("bars stand on each other on a logarithmic axis: %+v", log.Bars)
	}
	if labels := len(log.Up); labels != 3 || log.Up[0].Label != "1" || log.Up[2].Label != "100" {
		t.Errorf("the axis is %+v", log.Up)
	}
}

// TestSmallCounts: one pair beside a million is seen.
func TestSmallCounts(t *testing.T) {
	h := overview.Histogram{Bins: []overview.Bin{{Low: 0, High: 0.5, Rejected: 1_000_000}, {Low: 0.5, High: 1, Kept: 1}}}
	for _, logarithmic := range []bool{false, true} {
		if c := newChart(h, logarithmic); c.Bars[1].Height == "0.0" {
			t.Errorf("%+v", c.Bars[1])
		}
	}
}

// TestPagesLoadNothingElse: the style sheet and the script name no address.
func TestPagesLoadNothingElse(t *testing.T) {
	for name, a := range Assets {
		text := strings.ReplaceAll(string(a.Data), "http://www.w3.org/2000/svg", "")
		for _, forbidden := range []string{"http:", "https:", "@import", "url(", "eval(", "//cdn"} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
	}
}
