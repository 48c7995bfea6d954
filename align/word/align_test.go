package word

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sentences are pairs of a made-up language pair: word i is translated as word i, some neighbours change places, some
// words are left out.
func sentences(seed uint64, n, vocabulary int) (pairs [][2][]string, gold [][]Link) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		var pair [2][]string
		var links []Link
		order := make([]int, 2+rng.IntN(12))
		for i := range order {
			order[i] = i
			pair[0] = append(pair[0], fmt.Sprint("s", int(math.Abs(rng.NormFloat64())*float64(vocabulary)/2.5)))
		}
		for i := 1; i < len(order); i++ {
			if rng.IntN(4) == 0 {
				order[i-1], order[i] = order[i], order[i-1]
			}
		}
		for _, i := range order {
			if rng.IntN(10) > 0 {
				links = append(links, Link{Source: i, Target: len(pair[1])})
				pair[1] = append(pair[1], "t"+pair[0][i][1:])
			}
		}
		if len(pair[1]) > 0 {
			pairs, gold = append(pairs, pair), append(gold, links)
		}
	}
	return pairs, gold
}

func add(sentences [][2][]string) *Pairs {
	var p Pairs
	for _, s := range sentences {
		p.Add(s[0], s[1])
	}
	return &p
}

func aligned(t testing.TB, p *Pairs, opts Options) *Alignments {
	t.Helper()
	a, err := Align(context.Background(), p, opts, func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAlignFindsTranslations: of made-up bitext nearly all links are found.
func TestAlignFindsTranslations(t *testing.T) {
	pairs, gold := sentences(1, 2000, 300)
	a := aligned(t, add(pairs), DefaultOptions())
	found, right, want := 0, 0, 0
	for i := range pairs {
		links := a.Of(i, GrowDiagFinalAnd)
		found, want = found+len(links), want+len(gold[i])
		for _, l := range links {
			if slices.ContainsFunc(gold[i], func(g Link) bool { return g.Source == l.Source && g.Target == l.Target }) {
				right++
			}
			if l.Score <= 0 || l.Score > 1 {
				t.Fatalf("the score of %v is not a probability", l)
			}
		}
	}
	if f1 := 2 * float64(right) / float64(found+want); f1 < 0.95 {
		t.Errorf("F1 %.3f of %d links", f1, want)
	}
}

// TestThreadsAndOrderChangeNothing: not one bit of a score differs.
func TestThreadsAndOrderChangeNothing(t *testing.T) {
	pairs, _ := sentences(2, 700, 100)
	for _, alpha := range []float64{0, 0.01} {
		opts := DefaultOptions()
		opts.Alpha, opts.Threads, opts.FitTension = alpha, 1, true
		want := aligned(t, add(pairs), opts)
		order := rand.New(rand.NewPCG(3, 3)).Perm(len(pairs))
		turned := make([][2][]string, len(pairs))
		for to, from := range order {
			turned[to] = pairs[from]
		}
		opts.Threads = 5
		got := aligned(t, add(turned), opts)
		for _, how := range Symmetries {
			for to, from := range order {
				if a, b := got.Of(to, how), want.Of(from, how); !slices.Equal(a, b) {
					t.Fatalf("%s, alpha %v: pair %d has %v, in another order on five threads %v", how, alpha, from, b, a)
				}
			}
		}
	}
}

// reference is the model as the package comment states it, with maps and sums in floating point.
type reference struct {
	pairs   [][2][]string
	t       map[[2]string]float64
	tension float64
	opts    Options
}

const nullWord = ""

func (r *reference) weights(source, target []string, j int) []float64 {
	w := make([]float64, len(source)+1)
	sum := 0.0
	for i := range source {
		w[i+1] = math.Exp(-r.tension * math.Abs(float64(i+1)/float64(len(source))-float64(j+1)/float64(len(target))))
		sum += w[i+1]
	}
	w[0] = r.opts.NullProb * r.t[[2]string{nullWord, target[j]}]
	for i, s := range source {
		w[i+1] *= (1 - r.opts.NullProb) / sum * r.t[[2]string{s, target[j]}]
	}
	return w
}

func (r *reference) estimate() {
	r.t, r.tension = map[[2]string]float64{}, r.opts.Tension
	words := map[string]bool{}
	for _, p := range r.pairs {
		for _, f := range p[1] {
			words[f] = true
			r.t[[2]string{nullWord, f}] = 1
			for _, e := range p[0] {
				r.t[[2]string{e, f}] = 1
			}
		}
	}
	for k := range r.t {
		r.t[k] = 1 / float64(len(words))
	}
	for range r.opts.Iterations {
		counts, totals := map[[2]string]float64{}, map[string]float64{}
		for k := range r.t {
			counts[k] = r.opts.Alpha
			totals[k[0]] += r.opts.Alpha
		}
		for _, p := range r.pairs {
			for j, f := range p[1] {
				w := r.weights(p[0], p[1], j)
				sum := 0.0
				for _, v := range w {
					sum += v
				}
				for i, e := range append([]string{nullWord}, p[0]...) {
					counts[[2]string{e, f}] += w[i] / sum
					totals[e] += w[i] / sum
				}
			}
		}
		for k, c := range counts {
			r.t[k] = c / totals[k[0]]
			if r.opts.Alpha > 0 {
				r.t[k] = expDigamma(c) / expDigamma(totals[k[0]])
			}
		}
	}
}

// TestEstimateAgainstReference compares the translation probabilities of both directions, and the choices.
func TestEstimateAgainstReference(t *testing.T) {
	pairs, _ := sentences(4, 60, 20)
	swapped := make([][2][]string, len(pairs))
	for i, p := range pairs {
		swapped[i] = [2][]string{p[1], p[0]}
	}
	for _, alpha := range []float64{0, 0.01} {
		opts := DefaultOptions()
		opts.Alpha, opts.Threads = alpha, 2
		p := add(pairs)
		table, err := newTable(p, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, backward := range []bool{false, true} {
			r := &reference{pairs: pairs, opts: opts}
			if backward {
				r.pairs = swapped
			}
			r.estimate()
			d := &direction{Options: opts, pairs: p, table: table, blocks: p.blocks(), backward: backward}
			if err := d.estimate(context.Background(), func(Progress) {}); err != nil {
				t.Fatal(err)
			}
			compareProbs(t, d, r)
			compareChoices(t, d, r)
		}
	}
}

func compareProbs(t *testing.T, d *direction, r *reference) {
	t.Helper()
	compared := 0
	for e, source := range d.pairs.sides[0].ids {
		row, targets := d.table.row(int(source))
		for k, f := range targets {
			for target, id := range d.pairs.sides[1].ids {
				if id != f {
					continue
				}
				key := [2]string{e, target}
				if d.backward {
					key = [2]string{target, e}
				}
				if want := r.t[key]; math.Abs(row[k].prob-want) > 1e-6*want+1e-9 {
					t.Fatalf("alpha %v, backward %v: t of %v is %v, want %v", d.Alpha, d.backward, key, row[k].prob, want)
				}
				compared++
			}
		}
	}
	if null := len(d.null()); compared+null != len(r.t) {
		t.Errorf("the table has %d and %d entries, want %d", compared, null, len(r.t))
	}
}

func compareChoices(t *testing.T, d *direction, r *reference) {
	t.Helper()
	got, err := d.choose(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, p := range r.pairs {
		for j := range p[1] {
			w := r.weights(p[0], p[1], j)
			best, sum := 0, 0.0
			for i, v := range w {
				sum += v
				if v > w[best] {
					best = i
				}
			}
			// Words that are equally good differ by rounding, which the reference has its own of.
			if c := got[at]; w[c.word+1] < w[best]*(1-1e-6) || math.Abs(float64(c.posterior)-w[best]/sum) > 1e-5 {
				t.Fatalf("word %d of %v is aligned to %v, want %d with %v", j, p, c, best-1, w[best]/sum)
			}
			at++
		}
	}
}

// TestPairsWithoutWords: they have no links, keep their places and change no other pair.
func TestPairsWithoutWords(t *testing.T) {
	pairs, _ := sentences(5, 200, 40)
	want := aligned(t, add(pairs), DefaultOptions())
	var p Pairs
	long := make([]string, MaxWords+1)
	for i, s := range pairs {
		if i%50 == 0 && (p.Add(nil, s[1]) || p.Add(s[0], nil) || p.Add(long, s[1])) {
			t.Fatal("a pair without words is taken")
		}
		if !p.Add(s[0], s[1]) {
			t.Fatalf("%v is not taken", s)
		}
	}
	got := aligned(t, &p, DefaultOptions())
	for i := range pairs {
		at := i + 3*(i/50+1)
		if !slices.Equal(got.Of(at, Union), want.Of(i, Union)) {
			t.Fatalf("pair %d has %v, want %v", i, got.Of(at, Union), want.Of(i, Union))
		}
		if i%50 == 0 && len(got.Of(at-1, Union)) != 0 {
			t.Error("a pair without words has links")
		}
	}
	var none Pairs
	none.Add(nil, []string{"a"})
	if _, err := Align(context.Background(), &none, DefaultOptions(), func(Progress) {}); err == nil {
		t.Error("pairs without words are aligned")
	}
}

// TestFitTension: λ rises above its start where translations keep their order, and falls where they do not.
func TestFitTension(t *testing.T) {
	pairs, _ := sentences(8, 500, 200)
	turned := make([][2][]string, len(pairs))
	for i, p := range pairs {
		turned[i] = [2][]string{p[0], slices.Clone(p[1])}
		slices.Reverse(turned[i][1])
	}
	last := func(pairs [][2][]string, fit bool) (tension float64) {
		opts := DefaultOptions()
		opts.FitTension = fit
		if _, err := Align(context.Background(), add(pairs), opts, func(p Progress) { tension = p.Tension }); err != nil {
			t.Fatal(err)
		}
		return tension
	}
	if got := last(pairs, true); got < 6 {
		t.Errorf("λ of ordered translations is %v", got)
	}
	if got := last(turned, true); got > 2 {
		t.Errorf("λ of reversed translations is %v", got)
	}
	if got := last(pairs, false); got != DefaultOptions().Tension {
		t.Errorf("λ is %v although it is not fitted", got)
	}
}

func TestAlignStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	pairs, _ := sentences(6, 50, 20)
	iterations := 0
	_, err := Align(ctx, add(pairs), DefaultOptions(), func(Progress) {
		if iterations++; iterations == 2 {
			cancel()
		}
	})
	if err == nil || iterations != 2 {
		t.Errorf("after %d iterations: %v", iterations, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"iterations": func(o *Options) { o.Iterations = 0 },
		"null":       func(o *Options) { o.NullProb = 1 },
		"tension":    func(o *Options) { o.Tension = 15 },
		"alpha":      func(o *Options) { o.Alpha = math.NaN() },
		"threads":    func(o *Options) { o.Threads = -1 },
	} {
		opts := DefaultOptions()
		change(&opts)
		if err := opts.Validate(); err == nil {
			t.Errorf("%s is not checked", name)
		}
	}
}

// BenchmarkAlign aligns 20,000 pairs in both directions; an op is one pair in one iteration of one direction.
func BenchmarkAlign(b *testing.B) {
	pairs, _ := sentences(7, 20000, 20000)
	p := add(pairs)
	opts := DefaultOptions()
	for b.Loop() {
		aligned(b, p, opts)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pairs)*opts.Iterations*2), "ns/pair-iteration")
}
