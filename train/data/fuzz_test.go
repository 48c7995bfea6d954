package data

import (
	"slices"
	"strings"
	"testing"

	"bitextmine/eval"
)

func FuzzTMX(f *testing.F) {
	f.Add(tmx)
	f.Add("<tmx><tu><tuv lang='de'><seg>a<ph/></seg></tuv></tu></tmx>")
	f.Add("<tu></tu><tu")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		err := tmxUnits(strings.NewReader(text), "fuzz.tmx", func(unit eval.TMXUnit) error {
			n++
			if s, ok := unit.Text("de"); !ok && s != "" {
				t.Errorf("a unit without German says %q", s)
			}
			return nil
		})
		if err == nil && n == 0 {
			t.Error("a file without a unit was taken")
		}
	})
}

func FuzzTSVRow(f *testing.F) {
	s := DefaultSource()
	s.Columns, s.Where = []string{"source", "tgt", "-", "src"}, map[string][]string{"source": {"a", ""}}
	row := newTSVRow(s)
	f.Add("a\tb\tc\td")
	f.Add("\t\t\t")
	f.Add("a\tb")
	f.Fuzz(func(t *testing.T, line string) {
		source, target, why := row.split(line)
		fields := strings.Split(line, "\t")
		switch {
		case len(fields) != 4:
			if why != Malformed {
				t.Errorf("%q is %q", line, why)
			}
		case !slices.Contains(s.Where["source"], fields[0]):
			if why != Filtered {
				t.Errorf("%q is %q", line, why)
			}
		case why != "" || source != fields[3] || target != fields[1]:
			t.Errorf("%q gives %q, %q, %q", line, source, target, why)
		}
	})
}
