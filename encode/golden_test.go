package encode

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"bitextmine/encode/embedding"
)

// The development data is beside the checkout and may not be committed.
const shared = "../../shared/"

// buccSide reads the "id<TAB>sentence" lines of one BUCC-style file. It returns the distinct sentences and the row of
// each id.
func buccSide(t testing.TB, name string) (texts []string, rowOf map[string]int) {
	t.Helper()
	f, err := os.Open(shared + "data/bucc_style.tar.xz")
	if err != nil {
		t.Skipf("needs the development data beside the checkout: %v", err)
	}
	defer f.Close()
	unpacked, err := xz.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unpacked)
	for {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("no %s in the archive", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(entry.Name, name) {
			break
		}
	}
	rowOf = map[string]int{}
	rows := map[string]int{}
	s := bufio.NewScanner(archive)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		id, text, _ := strings.Cut(s.Text(), "\t")
		row, seen := rows[text]
		if !seen {
			row = len(texts)
			rows[text] = row
			texts = append(texts, text)
		}
		rowOf[id] = row
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return texts, rowOf
}

// neighbourhood is the mean cosine of a row's four nearest rows.
func neighbourhood(row, others []float32) float64 {
	dim := len(row)
	best := make([]float32, 0, 5)
	for i := 0; i < len(others); i += dim {
		c := embedding.Dot(row, others[i:i+dim])
		if len(best) < 4 || c > best[3] {
			at, _ := slices.BinarySearchFunc(best, c, func(a, b float32) int { return int(math.Copysign(1, float64(b-a))) })
			best = slices.Insert(best, at, c)
			best = best[:min(len(best), 4)]
		}
	}
	sum := 0.0
	for _, c := range best {
		sum += float64(c)
	}
	return sum / 4
}

// Our ratio margins, k = 4, equal those that LASER's own program computed on bag-multi's vectors.
func TestMarginsAreLASERs(t *testing.T) {
	if testing.Short() {
		t.Skip("two sides of BUCC are encoded and searched; not in -short")
	}
	f, err := os.Open(shared + "golden/laser.bag-multi.de-en.train.tsv.gz")
	if err != nil {
		t.Skipf("needs the golden scores beside the checkout: %v", err)
	}
	defer f.Close()
	golden, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	de, deRow := buccSide(t, "de-en.train.de")
	en, enRow := buccSide(t, "de-en.train.en")
	e := openModel(t, shared+"models/bag-multi", Options{})
	x, y, dim := encodeAll(t, e, de), encodeAll(t, e, en), e.Dim()

	compared, worst := 0, 0.0
	s := bufio.NewScanner(golden)
	for line := 0; s.Scan(); line++ {
		if line%150 != 0 {
			continue
		}
		field := strings.Split(s.Text(), "\t")
		want, err := strconv.ParseFloat(field[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		i, okI := deRow[field[1]]
		j, okJ := enRow[field[2]]
		if !okI || !okJ {
			t.Fatalf("%v is not in the data", field)
		}
		a, b := x[i*dim:(i+1)*dim], y[j*dim:(j+1)*dim]
		got := 2 * float64(embedding.Dot(a, b)) / (neighbourhood(a, y) + neighbourhood(b, x))
		worst = max(worst, math.Abs(got-want))
		if math.Abs(got-want) > 1e-4 {
			t.Errorf("%s %s: margin %f, LASER %f", field[1], field[2], got, want)
		}
		compared++
	}
	if compared < 50 {
		t.Errorf("only %d pairs compared", compared)
	}
	t.Logf("%d pairs, largest difference %.1e", compared, worst)
}
