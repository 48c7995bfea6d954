package rule

import (
	"math"
	"path"
	"strings"
	"testing"

	"bitextmine/configs"
	"bitextmine/filter/annotate"
	"bitextmine/internal/badinput"
)

func rejects(t *testing.T, condition string, numbers map[string]float64, texts map[string]string) bool {
	t.Helper()
	s, err := Parse([]byte("rules:\n  r: "+condition), "test")
	if err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
	kinds := map[string]Kind{}
	for name := range numbers {
		kinds[name] = Number
	}
	for name := range texts {
		kinds[name] = Text
	}
	if err := s.Bind(kinds); err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
	row := s.NewRow()
	for i, name := range s.Columns {
		row.Numbers[i], row.Texts[i] = numbers[name], texts[name]
		row.Known[i] = row.Texts[i] != ""
	}
	return s.Rules[0].Rejects(row)
}

func TestConditions(t *testing.T) {
	numbers := map[string]float64{"a": 1, "b": 2, "a1e": 7, "zero": 0, "null": math.NaN()}
	texts := map[string]string{"lang": "de", "other": "en", "none": "", "points": " 7.5", "word": "x", "Größe": "x", "भाषा": "हि", "日本語_1": "à"}
	for condition, want := range map[string]bool{
		"a": true, "zero": false, "null": false, "not zero": true, "not null": false,
		"a == 1": true, "a != 1": false, "a < b": true, "b <= 2": true, "a > b": false, "b >= 2.0": true,
		"a and zero": false, "a or zero": true, "null or a": true, "null and zero": false, "not (null and zero)": true, "null or zero": false,
		"a + b * 2 == 5": true, "(a + b) * 2 == 6": true, "-a < 0": true, "a - b - 1 == -2": true, "b / 4 == .5": true,
		"a > 1e-5": true, "a - 1E+3 == -999": true, "a < .5e+1-3": true, "a1e-5 == 2": true, "b-1e0-1 == 0": true,
		"abs(a - b) == 1": true, "min(a, b) == 1 and max(a, b) == 2": true, "abs(-b) > 1": true, "max(null, a) == 1": false,
		"not a == 2 and b": true, "(a < b) == 1": true, "zero or zero or a and b": true,
		"points > 7": true, "points == 7.5": true, "points == '7.5'": false, "points != 7.5": false, "max(points, a) + 1 == 8.5": true, "word > 3": false,
		"not word > 3": false, "none < 3": false, "points > b and lang == 'de'": true, "points == a": false, "a < points": true,
		"lang == 'de'": true, "lang != 'de'": false, "lang != other": true, "none != lang": false, "none == 'x' or a": true,
		"Größe == 'x'": true, "भाषा!='हि'": false, "日本語_1 == \"à\"\u00a0and a": true, "max(Größe,a) == 1": false,
	} {
		if got := rejects(t, condition, numbers, texts); got != want {
			t.Errorf("%s: %v", condition, got)
		}
	}
}

func TestBadRules(t *testing.T) {
	for name, c := range map[string]struct{ rules, want string }{
		"no YAML":            {"rules: [", "not YAML"},
		"another key":        {"rule: {}", `unknown key "rule"`},
		"no rules":           {"rules:", "no key rules"},
		"a list":             {"rules: {a: [1]}", "not one condition"},
		"twice":              {"rules:\n  a: b\n  'a': c", "a"},
		"an end":             {"rules:\n  a: b >", "ends where a value"},
		"an open bracket":    {"rules:\n  a: (b", `")" is missing`},
		"two values":         {"rules:\n  a: b c", `"c" is not expected`},
		"an operator":        {"rules:\n  a: b & c", "no operator"},
		"a sign":             {"rules:\n  a: b ≤ c", `"≤" is no operator`},
		"a quotation mark":   {"rules:\n  a: b == 'c", "no second one"},
		"a function":         {"rules:\n  a: min(b)", `"," is missing`},
		"a number":           {"rules:\n  a: b > 1.2.3", "not a number"},
		"an exponent":        {"rules:\n  a: b > 1e-c", `"1e" is not a number`},
		"empty":              {"rules:\n  a: ''", "empty"},
		"deep":               {"rules:\n  a: " + strings.Repeat("(", 200) + "b", "deep"},
		"an unknown column":  {"rules:\n  a: lengt > 3", `is "length" meant?`},
		"a text as a number": {"rules:\n  a: text > 3 + 'x'", "takes numbers"},
		"a text alone":       {"rules:\n  a: text", "not a condition"},
		"text and number":    {"rules:\n  a: text == '3' and text", "takes numbers"},
		"a chain":            {"rules:\n  a: b and 0 < c + 1 < 3", `"0 < c + 1 < 3" compares twice: write "0 < c + 1 and c + 1 < 3"`},
		"nothing like it":    {"rules:\n  a: foo", "docs/filters.md"},
		"a column of lists":  {"rules:\n  a: reasons == 'x'", `"reasons", which holds lists`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse([]byte(c.rules), "test.yaml")
			if err == nil {
				err = s.Bind(map[string]Kind{"length": Number, "text": Text, "b": Number, "c": Number, "reasons": Other, "copy": Number})
			}
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "test.yaml") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	s, err := Parse([]byte("rules:\n  length: a\n  numbers: b"), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Without([]string{"length"}); err != nil || len(s.Rules) != 1 || s.Rules[0].Name != "numbers" {
		t.Errorf("%v, %v", s.Names(), err)
	}
	if err := s.Without([]string{"numbrs"}); err == nil || !strings.Contains(err.Error(), `is "numbers" meant?`) {
		t.Errorf("error %v", err)
	}
}

// TestPresets: the sets that come with the program use columns that exist.
func TestPresets(t *testing.T) {
	kinds := map[string]Kind{}
	for _, name := range annotate.Names() {
		kinds[name] = Number
	}
	for _, name := range []string{"strict", "default", "none"} {
		file := path.Join("filter", name+".yaml")
		data, err := configs.Filters.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(data, file)
		if err == nil {
			err = s.Bind(kinds)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a and (b or not c) < 2", "abs(x) >= 'y'", "min(a, b) / 0", "--a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, condition string) {
		var columns []string
		e, err := parse(condition, &columns)
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("%q: %v", condition, err)
			}
			return
		}
		if isText, err := e.check(make([]bool, len(columns))); err == nil && !isText {
			e.number(&Row{Numbers: make([]float64, len(columns)), Texts: make([]string, len(columns)), Known: make([]bool, len(columns))})
		}
	})
}
