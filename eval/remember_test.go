package eval

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/eval/testset"
	"bitextmine/fixtures"
	"bitextmine/index"
	"bitextmine/index/backend"
)

// openEncoder opens the default encoder, once for all tests.
func openEncoder(t testing.TB) testset.Encoder {
	t.Helper()
	return open(t, fixtures.Encoder)
}

// openReference opens the encoder that the golden figures are from, once for all tests.
func openReference(t testing.TB) testset.Encoder {
	t.Helper()
	return open(t, filepath.Join(shared, "models", "bag-multi"))
}

// rememberedEncoder keeps the vectors of each text that a test has had encoded: several tests read the same sets.
type rememberedEncoder struct {
	*encode.Encoder
	rows map[[2]string][]float32 // vector by language and text
}

// encoders holds the encoders that tests have opened, by name. TestMain closes them.
var encoders = map[string]*rememberedEncoder{}

func open(t testing.TB, ref string) *rememberedEncoder {
	t.Helper()
	if encoders[ref] == nil {
		if err := encodetest.SetLibrary(); err != nil {
			t.Fatal(err)
		}
		model, err := model.Load(ref)
		if err != nil {
			t.Fatal(err)
		}
		encoder, err := encode.Open(model, encode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		encoders[ref] = &rememberedEncoder{encoder, map[[2]string][]float32{}}
	}
	return encoders[ref]
}

// Encode encodes the texts that no test has had encoded before, and copies the others' vectors.
func (e *rememberedEncoder) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	var fresh []string
	for _, text := range texts {
		if e.rows[[2]string{language, text}] == nil {
			fresh = append(fresh, text)
		}
	}
	rows := make([]float32, len(fresh)*e.Dim())
	if err := e.Encoder.Encode(ctx, language, fresh, rows); err != nil {
		return err
	}
	for i, text := range fresh {
		e.rows[[2]string{language, text}] = rows[i*e.Dim():][:e.Dim()]
	}
	for i, text := range texts {
		copy(dst[i*e.Dim():], e.rows[[2]string{language, text}])
	}
	return nil
}

// rememberedSearcher keeps the lists of the sides that a test has had searched: several protocols search the same ones.
type rememberedSearcher struct {
	index.Searcher
	mu    sync.Mutex
	found map[searchKey]index.Result
}

type searchKey struct {
	source, target [sha256.Size]byte
	k              int
}

var openSearcherOnce = sync.OnceValues(func() (*rememberedSearcher, error) {
	searcher, err := backend.Open("exact", backend.Options{Threads: runtime.NumCPU()})
	return &rememberedSearcher{Searcher: searcher, found: map[searchKey]index.Result{}}, err
})

// openSearcher opens the exact search, once for all tests.
func openSearcher(t testing.TB) index.Searcher {
	t.Helper()
	searcher, err := openSearcherOnce()
	if err != nil {
		t.Fatal(err)
	}
	return searcher
}

// Search searches the sides unless some test has had them searched.
func (s *rememberedSearcher) Search(ctx context.Context, src, tgt index.Side, k int, progress func(fraction float64)) (index.Result, error) {
	key := searchKey{digestSide(src), digestSide(tgt), k}
	s.mu.Lock()
	found, ok := s.found[key]
	s.mu.Unlock()
	if ok {
		return found, nil
	}
	found, err := s.Searcher.Search(ctx, src, tgt, k, progress)
	if err != nil {
		return found, err
	}
	s.mu.Lock()
	s.found[key] = found
	s.mu.Unlock()
	return found, nil
}

func digestSide(s index.Side) [sha256.Size]byte {
	sum := sha256.New()
	sum.Write(bytesOf(s.Vectors.F16))
	sum.Write(bytesOf(s.Vectors.F32))
	sum.Write(bytesOf(s.Order))
	return [sha256.Size]byte(sum.Sum(nil))
}

func bytesOf[T any](values []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(one)))
}
