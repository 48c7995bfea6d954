package backend

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/ivf"
	"bitextmine/internal/badinput"
)

// Auto is the name for the fastest backend that may be used.
const Auto = "auto"

// Cost is a backend's measured cost on this machine: a cell of n x m rows takes Fixed + Row (n + m) + Few min(n, m) +
// Pair n m seconds.
type Cost struct {
	Name                  string
	Fixed, Row, Few, Pair float64
	Lopsided              *Cost // that of a cell that ivf.Lopsided says is; nil: it is as of others
	Err                   error // why the backend cannot be used; the other fields are then zero
}

// Seconds is the estimated time of a cell.
func (c Cost) Seconds(rows, cols int) float64 {
	if c.Lopsided != nil && ivf.Lopsided(rows, cols) {
		c = *c.Lopsided
	}
	return ivf.Work{Fixed: c.Fixed, Row: c.Row, Few: c.Few, Pair: c.Pair}.Of(rows, cols)
}

// fit computes a cost from the times of cells n x m, 4n x m and 4n x 4m. A part that measurement noise makes negative
// is set to zero, and then the largest cell alone determines Pair.
func fit(name string, n, m int, small, tall, large float64) Cost {
	a, b := float64(n), float64(m)
	c := Cost{Name: name}
	// tall - small = 3a Row + 3ab Pair, large - tall = 3b Row + 12ab Pair. b/a times the first equation has the Row
	// term of the second.
	c.Pair = max(((large-tall)-(tall-small)*b/a)/(3*b*(4*a-b)), 0)
	c.Row = max((tall-small)/(3*a)-b*c.Pair, 0)
	c.Fixed = max(large-c.Row*4*(a+b)-c.Pair*16*a*b, 0)
	if c.Pair == 0 {
		c.Pair = max(large-c.Fixed-c.Row*4*(a+b), 0) / (16 * a * b)
	}
	return c
}

// inverted is the cost of a search with inverted lists, by the cost of exact search and the comparisons that it makes.
func inverted(name string, exact Cost, work ivf.Work) Cost {
	return Cost{
		Name: name, Fixed: exact.Fixed + work.Fixed*exact.Pair, Row: exact.Row + work.Row*exact.Pair,
		Few: work.Few * exact.Pair, Pair: work.Pair * exact.Pair,
	}
}

// Estimate is the expected cost of a search.
type Estimate struct {
	Name    string
	Time    time.Duration
	Memory  int64 // peak bytes during one cell, without the mapped embeddings
	Refused error // why this backend cannot be used
}

// Shape is the size of a cell.
type Shape struct{ Rows, Cols int }

// Estimates returns the estimate of each calibrated backend for a list of cells that are searched one after the other.
func (c Calibration) Estimates(cells []Shape) []Estimate {
	var out []Estimate
	whole := c.exact()
	for _, cost := range c.Costs {
		e := Estimate{Name: cost.Name, Refused: cost.Err}
		var seconds float64
		for _, cell := range cells {
			of := cost
			if whole >= 0 && cost.Err == nil && Whole(cost.Name, cell, c.Options.Approximate.NProbe) {
				of = c.Costs[whole]
			}
			seconds += of.Seconds(cell.Rows, cell.Cols)
			e.Memory = max(e.Memory, Memory(of.Name, cell, c.Dim, c.K, c.Options))
		}
		e.Time = time.Duration(seconds * float64(time.Second))
		out = append(out, e)
	}
	return out
}

// MinSpeedup is how many times faster than the fastest exact backend an approximate one must be to be chosen. It loses
// pairs, and its estimate is from random rows.
const MinSpeedup = 2

// Choose returns the estimate of the backend to use, and the reason in one sentence. It is the fastest backend whose
// memory stays below limit (bytes; 0 means no limit). An approximate one is chosen only if it is MinSpeedup times
// faster, or if no exact one can be used.
func Choose(estimates []Estimate, limit int64) (Estimate, string, error) {
	usable := slices.DeleteFunc(slices.Clone(estimates), func(e Estimate) bool {
		return e.Refused != nil || limit > 0 && e.Memory > limit
	})
	if len(usable) == 0 {
		return Estimate{}, "", noneUsable(estimates, limit)
	}
	slices.SortStableFunc(usable, func(a, b Estimate) int { return cmp.Compare(a.handicapped(), b.handicapped()) })
	why := fmt.Sprintf("%s is expected to take %s", usable[0].Name, round(usable[0].Time))
	for _, other := range usable[1:] {
		why += fmt.Sprintf(", %s %s", other.Name, round(other.Time))
	}
	return usable[0], why, nil
}

// handicapped is the time that Choose compares: that of an approximate backend is multiplied by MinSpeedup.
func (e Estimate) handicapped() time.Duration {
	if Exact(e.Name) {
		return e.Time
	}
	return MinSpeedup * e.Time
}

func noneUsable(estimates []Estimate, limit int64) error {
	var all []string
	for _, e := range estimates {
		if e.Refused != nil {
			all = append(all, e.Refused.Error())
			continue
		}
		all = append(all, fmt.Sprintf("%s needs %d MiB and may use %d", e.Name, e.Memory>>20, limit>>20))
	}
	return badinput.Errorf("no search can be used: %s", strings.Join(all, "; "))
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second / 10)
}

var (
	codes = regexp.MustCompile(`PQ(\d+)`)
	graph = regexp.MustCompile(`HNSW(\d+)`)
)

// Memory estimates the peak bytes of a backend that searches a cell, without what is in mapped files, such as the
// embeddings: the lists of both sides, and an exact search's blocks or the FAISS index of the larger side. opts says
// how many threads there are.
func Memory(name string, cell Shape, dim, k int, opts Options) int64 {
	lists := int64(cell.Rows+cell.Cols) * (8*int64(k) + 16)
	if name == exact.Name {
		return lists + exact.Memory(cell.Rows, cell.Cols, opts.Threads, dim, k)
	}
	if name == cuda.Name {
		return lists + cuda.Memory(cell.Rows, cell.Cols, k)
	}
	if n, ok := strings.CutPrefix(name, ivf.Prefix); ok {
		return ivf.Memory(n, opts.Approximate.NProbe, cell.Rows+cell.Cols, opts.Threads, dim, k)
	}
	_, factory, _ := strings.Cut(name, ":")
	perRow := 4 * int64(dim)
	if m := codes.FindStringSubmatch(factory); m != nil {
		perRow = number(m[1]) + 8
	} else if strings.Contains(factory, "SQ8") {
		perRow = int64(dim) + 8
	}
	if m := graph.FindStringSubmatch(factory); m != nil {
		perRow += 8*number(m[1]) + 8
	}
	// An index doubles its capacity while float16 rows are added. Its training sample and a block of widened rows are
	// in memory at the same time.
	return lists + 2*perRow*int64(max(cell.Rows, cell.Cols)) + faiss.Memory(factory, dim)
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0 // FAISS refuses such a number
	}
	return n
}
