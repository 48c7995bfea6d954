package train

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/corpus/input"
	"bitextmine/internal/usage"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/layers"
	"bitextmine/train/words"
)

// product is a matrix product of a graph: B products of [M, K] with [K, N].
type product struct{ b, m, k, n int }

// recorder is a backend that notes the products of every graph it builds.
type recorder struct {
	compute.Backend
	products []product
}

type recordedBuilder struct {
	compute.Builder
	by *recorder
}

type recordedFunction struct {
	compute.Function
	by *recorder
}

func (r *recorder) Builder(name string) compute.Builder {
	return recordedBuilder{r.Backend.Builder(name), r}
}

func (b recordedBuilder) Main() compute.Function { return recordedFunction{b.Builder.Main(), b.by} }

func (f recordedFunction) DotGeneral(lhs compute.Value, lhsContracting, lhsBatch []int, rhs compute.Value, rhsContracting, rhsBatch []int, config compute.DotGeneralConfig) (compute.Value, error) {
	left, err := f.Function.Builder().OpShape(lhs)
	if err != nil {
		return nil, err
	}
	right, err := f.Function.Builder().OpShape(rhs)
	if err != nil {
		return nil, err
	}
	p := product{1, 1, 1, 1}
	for axis, size := range left.Dimensions {
		switch {
		case slices.Contains(lhsContracting, axis):
			p.k *= size
		case slices.Contains(lhsBatch, axis):
			p.b *= size
		default:
			p.m *= size
		}
	}
	p.n = right.Size() / p.b / p.k
	f.by.products = append(f.by.products, p)
	return f.Function.DotGeneral(lhs, lhsContracting, lhsBatch, rhs, rhsContracting, rhsBatch, config)
}

// seconds is the least processor time of a call, of some.
func seconds(b *testing.B, calls int, call func() error) float64 {
	b.Helper()
	least := 0.0
	for i := range calls + 1 { // the first compiles
		before := usage.CPUSeconds()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		if used := usage.CPUSeconds() - before; i == 1 || i > 1 && used < least {
			least = used
		}
	}
	return least
}

// alone is the time of a product by itself.
func (p product) alone(b *testing.B, backend compute.Backend) float64 {
	exec, err := graph.NewExec(backend, func(x, y *graph.Node) *graph.Node {
		z := graph.Einsum("bmk,bkn->bmn", x, y)
		if p.b == 1 {
			z = graph.Dot(graph.Reshape(x, p.m, p.k), graph.Reshape(y, p.k, p.n)).Product()
		}
		// so that no output is copied
		return graph.ReduceAllMax(graph.ConvertDType(graph.SliceAxis(z, -1, graph.AxisRange(0, 1)), dtypes.Float32))
	})
	if err != nil {
		b.Fatal(err)
	}
	defer exec.Finalize()
	x, y := make([]float32, p.b*p.m*p.k), make([]float32, p.b*p.k*p.n)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	return seconds(b, 4, func() error {
		_, err := device.Call(exec, []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, p.b, p.m, p.k), tensors.FromFlatDataAndDimensions(y, p.b, p.k, p.n)})
		return err
	})
}

// BenchmarkProducts sets a step of every system at its small preset against the sum of its matrix products, each by
// itself on the same backend, in processor time of one thread or of all. MINE_TRAIN_DATA names a directory with train/.
//
//	MINE_TRAIN_DATA=data go test -run '^$' -bench Products -benchtime 1x ./train
func BenchmarkProducts(b *testing.B) { eachShort(b, measure) }

// eachShort calls measure with the small preset of every system, on one shape of batches.
func eachShort(b *testing.B, measure func(b *testing.B, c Config)) {
	from := os.Getenv("MINE_TRAIN_DATA")
	if from == "" {
		b.Skip("MINE_TRAIN_DATA names no directory")
	}
	dir := b.TempDir()
	text := filepath.Join(dir, "bitext.tsv")
	first(b, filepath.Join(from, "train", "tatoeba.en-de.tsv.gz"), text, 60000)
	pieces := filepath.Join(dir, "spm.model")
	for _, name := range []string{"ems", "imascl", "wacse", "vmsst", "mexma"} {
		b.Run(name, func(b *testing.B) {
			c, err := ReadConfig(filepath.Join(presetDir, name+"-short.yaml"), text)
			if err != nil {
				b.Fatal(err)
			}
			c.Bitext.Sources[0].Src, c.Bitext.Sources[0].Tgt, c.Bitext.Exclude, c.Dev = "en", "de", nil, nil
			if _, err := os.Stat(pieces); err != nil {
				o := c.Vocabulary
				o.Lowercase, o.SampleSize, o.Control = true, 60000, []string{maskPiece}
				if err := words.TrainVocabulary(pieces, o, data.Sentences(b.Context(), c.Bitext)); err != nil {
					b.Fatal(err)
				}
			}
			c.Tokenizer.File = pieces
			c.Bitext.Buckets = []int{16} // one shape
			c.Bitext.MaxTokens = 16
			measure(b, c)
		})
	}
}

// first copies the first lines of a file.
func first(b *testing.B, from, to string, lines int) {
	b.Helper()
	f, err := input.OpenDecompressed(input.File{Path: from})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var text strings.Builder
	for s := bufio.NewScanner(f); lines > 0 && s.Scan(); lines-- {
		fmt.Fprintln(&text, s.Text())
	}
	if err := os.WriteFile(to, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}

// ready is a training of a preset before its first step. device is where its options say that it runs.
func ready(b *testing.B, c Config, device string, backend compute.Backend) *trainer {
	b.Helper()
	t := newTrainer(c, Options{Out: b.TempDir(), Device: device})
	var err error
	if t.state, err = openDirectory(&t.config, &t.options, t.checkpoints); err != nil {
		b.Fatal(err)
	}
	if err := t.prepare(b.Context(), backend); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = t.close() })
	return t
}

func measure(b *testing.B, c Config) {
	ctx := context.Background()
	backend, err := device.Open("cpu", "")
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Finalize()
	noted := &recorder{Backend: backend}
	t := ready(b, c, "cpu", noted)
	batch := t.batches.Next()
	if _, err := t.steps.Run(ctx, batch, 1); err != nil {
		b.Fatal(err)
	}
	counts := map[product]int{}
	for _, p := range noted.products {
		counts[p]++
	}
	of := map[string]float64{}
	of["step"] = seconds(b, 6, func() error { _, err := t.steps.Run(ctx, batch, layers.Seed(1, 1, 0)); return err })
	of["optimiser"] = seconds(b, 4, func() error { _, err := t.optimiser.Step(2, c.Steps, 1); return err })
	flops := 0.0
	var each []string
	for _, p := range slices.SortedFunc(maps.Keys(counts), func(x, y product) int { return cmp.Compare(counts[y]*y.b*y.m*y.k*y.n, counts[x]*x.b*x.m*x.k*x.n) }) {
		own := p.alone(b, backend) * float64(counts[p])
		of["products"] += own
		flops += 2 * float64(counts[p]*p.b*p.m) * float64(p.k*p.n)
		each = append(each, fmt.Sprintf("%d x %dx[%d %d]x[%d %d] %.1f ms", counts[p], p.b, p.m, p.k, p.k, p.n, 1000*own))
	}
	for name, used := range of {
		b.ReportMetric(1000*used, name+"-ms")
	}
	b.ReportMetric(flops/1e9, "GFLOP")
	b.ReportMetric(of["step"]/of["products"], "step/products")
	b.Log(strings.Join(each, "\n"))
}
