package word

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func similar(t *testing.T) *Similarity {
	t.Helper()
	m, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	s := DefaultSimilarity()
	s.Model, s.Languages = m, [2]string{"en", "en"}
	return &s
}

// shuffled are sentences and the same words in another order.
var shuffled = [][2]string{
	{"the red house stands near water", "water near stands house red the"},
	{"two children read old books", "books old children two read"},
	{"nobody knows where money comes from", "from where comes money nobody knows"},
	{"our", "our"},
}

// TestEncoderAligns: of the same words in another order an encoder alone finds every link, however the directions are
// combined, and the model, which knows positions and a handful of pairs, does not.
func TestEncoderAligns(t *testing.T) {
	pairs := Pairs{Cased: true}
	for _, s := range shuffled {
		pairs.Add(strings.Fields(s[0]), strings.Fields(s[1]))
	}
	pairs.Add(nil, []string{"refused"})
	opts := DefaultOptions()
	without := aligned(t, &pairs, opts)
	opts.Similarity, opts.Iterations = similar(t), 0
	alone := aligned(t, &pairs, opts)
	opts.Iterations = 5
	both := aligned(t, &pairs, opts)
	opts.Similarity.Temperature, opts.Similarity.Floor = 0.001, -1
	for name, iterations := range map[string]int{"sharp alone": 0, "sharp": 5} {
		opts.Iterations = iterations
		sharp := aligned(t, &pairs, opts)
		for _, side := range [][]choice{sharp.forward, sharp.backward} {
			if slices.ContainsFunc(side, func(c choice) bool { return c.word == none || !(c.posterior > 0 && c.posterior <= 1.0001) }) {
				t.Errorf("%s: the choices are %v", name, side)
			}
		}
	}
	missed := 0
	for i, s := range shuffled {
		source, target := strings.Fields(s[0]), strings.Fields(s[1])
		var want []Link
		for at, w := range source {
			if j := slices.Index(target, w); j >= 0 {
				want = append(want, Link{Source: at, Target: j})
			}
		}
		links := func(a *Alignments, how Symmetry) []Link {
			found := a.Of(i, how)
			for k, l := range found {
				if l.Score < 0 || l.Score > 1.0001 {
					t.Errorf("a score is %v", l.Score)
				}
				found[k].Score = 0
			}
			return found
		}
		for name, a := range map[string]*Alignments{"alone": alone, "both": both} {
			for _, how := range []Symmetry{Intersect, Forward, Backward, IterMax} {
				if got := links(a, how); !slices.Equal(got, want) {
					t.Errorf("%s, %s: %q: %v, want %v", name, how, s, got, want)
				}
			}
		}
		if !slices.Equal(links(without, Intersect), want) {
			missed++
		}
	}
	if missed == 0 {
		t.Error("the model finds the same links without an encoder")
	}
	if links := alone.Of(len(shuffled), IterMax); len(links) != 0 {
		t.Errorf("a refused pair has links %v", links)
	}
}

// TestEntropy: where a word stands twice its alignment is in doubt, and a limit takes its links.
func TestEntropy(t *testing.T) {
	pairs := Pairs{Cased: true}
	pairs.Add([]string{"house"}, []string{"house", "house"})
	pairs.Add(strings.Fields(shuffled[0][0]), strings.Fields(shuffled[0][1]))
	opts := DefaultOptions()
	opts.Similarity, opts.Iterations = similar(t), 0
	if got := len(aligned(t, &pairs, opts).Of(0, Backward)); got != 1 {
		t.Errorf("%d links without a limit", got)
	}
	opts.Similarity.MaxEntropy = 0.5
	limited := aligned(t, &pairs, opts)
	if got := len(limited.Of(0, Backward)); got != 0 {
		t.Errorf("%d links of a word in doubt", got)
	}
	if got := len(limited.Of(1, Intersect)); got != 6 {
		t.Errorf("%d links of words that are in no doubt", got)
	}
}

func TestHighest(t *testing.T) {
	values := []float64{1, 3, 4, 7, 9, 8, 6, 2, 0}
	for n := range values {
		looked := 0
		at, err := highest(n+1, func(i int) (float64, error) { looked++; return values[i], nil })
		if want := min(n, 4); err != nil || at != want || looked > 7 {
			t.Errorf("of %v: %d after %d looks, %v; want %d", values[:n+1], at, looked, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := highest(5, func(int) (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestSimilarityRefuses(t *testing.T) {
	for says, change := range map[string]func(s *Similarity){
		"--temperature is 0":             func(s *Similarity) { s.Temperature = 0 },
		"--floor is 2":                   func(s *Similarity) { s.Floor = 2 },
		"--max-entropy is 0":             func(s *Similarity) { s.MaxEntropy = 0 },
		`has no layer "third": name one`: func(s *Similarity) { s.Layer = "third" },
		"has no token vectors": func(s *Similarity) {
			other := *s.Model
			other.Tokens = model.TokenOutput{}
			s.Model = &other
		},
	} {
		opts := DefaultOptions()
		opts.Similarity = similar(t)
		change(opts.Similarity)
		pairs := Pairs{Cased: true}
		pairs.Add([]string{"a"}, []string{"b"})
		if _, err := Align(t.Context(), &pairs, opts, func(Progress) {}); !badinput.Is(err) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
