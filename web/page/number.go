package page

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"bitextmine/bitext"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/plan"
	"bitextmine/web/overview"
)

var functions = template.FuncMap{
	"count": func(of any) (string, error) {
		n, err := whole(of)
		return count(n), err
	},
	"value":     value,
	"foundBy":   FoundBy,
	"percent":   percent,
	"seconds":   seconds,
	"when":      when,
	"bytes":     plan.Bytes,
	"signed":    signed,
	"known":     func(x float64) bool { return !math.IsNaN(x) },
	"language":  LanguageName,
	"sentence":  func(code, text string) Sentence { return NewSentence(code, text, nil) },
	"rate":      func(perSecond float64) string { return count(int(math.Round(perSecond))) },
	"rank":      func(from0 uint8) int { return int(from0) + 1 },
	"meaning":   overview.Meaning,
	"reason":    ReasonName,
	"kinds":     func() []string { return admin.Kinds },
	"kindTitle": func(kind string) string { return kindTitles[kind] },
	"interval": func(b overview.Band) []float64 {
		low, high := b.Interval()
		return []float64{low, high}
	},
	"histogram": newChart,
	"diagram":   newDiagram,
	"add":       func(a, b int) int { return a + b },
	"capital":   capital,
}

// ReasonName is a reason in a few words.
func ReasonName(reason string) string {
	if rule, ok := strings.CutPrefix(reason, "filter:"); ok {
		return "rule " + rule
	}
	if name, ok := reasonNames[reason]; ok {
		return name
	}
	return reason
}

var reasonNames = map[string]string{
	"below_threshold": "score too low", "taken": "a better pair has a sentence of it", "not_proposed": "one side did not propose it",
	"below_floor": "too unlike for the strong encoder", "label": "rejected by a person", "src_language": "source in another language",
	"tgt_language": "target in another language", "untranslated": "both sides are one text", "aligned": "the documents say otherwise",
	"not_kept": "not kept",
}

var kindTitles = map[string]string{admin.Added: "Added pairs", admin.Removed: "Removed pairs",
	admin.Rescored: "Pairs scored anew"}

// capital begins a sentence.
func capital(text string) string {
	_, width := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:width]) + text[width:]
}

// whole is any type of whole numbers that a run counts in.
func whole(n any) (int, error) {
	switch n := n.(type) {
	case int:
		return n, nil
	case int64:
		return int(n), nil
	case uint64:
		return int(n), nil
	}
	return 0, fmt.Errorf("%v is no whole number", n)
}

// count writes a whole number with commas between thousands.
func count(n int) string {
	digits := strconv.Itoa(max(n, -n))
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	if n < 0 {
		return "−" + digits
	}
	return digits
}

// signed is a count with its sign, for changes.
func signed(n int) string {
	switch {
	case n > 0:
		return "+" + count(n)
	case n == 0:
		return "±0"
	}
	return count(n)
}

// value writes a probability, margin or cosine.
func value(x any) string {
	switch x := x.(type) {
	case float32:
		return decimals(float64(x))
	case float64:
		return decimals(x)
	case *float32:
		if x != nil {
			return decimals(float64(*x))
		}
	}
	return "–"
}

func decimals(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

func percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "–"
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + "%"
}

// seconds writes a duration as a person says it.
func seconds(s float64) string {
	switch {
	case s < 0.1:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 60:
		return fmt.Sprintf("%.1f s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%d h %02d min", int(s)/3600, int(s)/60%60)
}

func when(t time.Time) string { return t.Local().Format("2 Jan 2006, 15:04 MST") }

// FoundBy says in words what found a pair.
func FoundBy(name string) string {
	switch name {
	case bitext.Local:
		return "aligned documents alone"
	case bitext.Global:
		return "mining alone"
	case bitext.Both:
		return "mining and aligned documents"
	}
	return name
}
