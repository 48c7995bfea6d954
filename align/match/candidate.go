package match

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/index/ivf"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// Candidates are the pairs of documents, in order, of which one is among the k nearest of the other, by their mean
// vectors as Centre leaves them [documents, dim]; and those whose addresses or rare metadata say that they belong
// together.
func Candidates(ctx context.Context, room *spill.Arena, documents [2][]Document, means [2]embedding.Matrix, k int) ([][2]int32, error) {
	if k < 1 || k > index.MaxK {
		return nil, badinput.Errorf("candidates is %d: give 1 to %d documents", k, index.MaxK)
	}
	nearest, err := nearest(ctx, index.Side{Vectors: means[0]}, index.Side{Vectors: means[1]}, k)
	if err != nil {
		return nil, err
	}
	more := append(newMetadata(documents).candidates(k), sameAddress(documents, k)...)
	lists := [2]mine.Neighbours{nearest.Source, nearest.Target}
	all, err := spill.Make[[2]int32](room, len(more)+len(lists[0].IDs)+len(lists[1].IDs))
	if err != nil {
		return nil, err
	}
	all = append(all[:0], more...)
	for side, list := range lists {
		for at, other := range list.IDs {
			if other == mine.None {
				continue
			}
			c := [2]int32{int32(at / list.K), other}
			all = append(all, [2]int32{c[side], c[1-side]})
		}
	}
	slices.SortFunc(all, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(all), nil
}

// sameAddress are the pairs of documents of one address, unless more than k of a side have it: an address that common
// says nothing.
func sameAddress(documents [2][]Document, k int) (all [][2]int32) {
	by := map[string]*[2][]int32{}
	for side := range documents {
		for d, address := range stripped(documents[side]) {
			if address == "" {
				continue
			}
			if by[address] == nil {
				by[address] = &[2][]int32{}
			}
			by[address][side] = append(by[address][side], int32(d))
		}
	}
	for _, same := range by {
		if len(same[0]) > k || len(same[1]) > k {
			continue
		}
		for _, i := range same[0] {
			for _, j := range same[1] {
				all = append(all, [2]int32{i, j})
			}
		}
	}
	return all
}

const (
	// many is the number of documents of a side above which their mean vectors are searched with inverted lists.
	many = 30_000
	// lists is their number: with it a vector is compared with about a tenth of the others.
	lists = 256
	// rowNumbers is the size of what a search has of a row in numbers: its hash, and its place among equal ones.
	rowNumbers = 16
)

// Comparisons is about how many products of mean vectors Candidates computes for so many documents.
func Comparisons(source, target float64) float64 {
	if min(source, target) > many {
		return 2 * source * target / 10
	}
	return 2 * source * target
}

// Memory is an upper bound of the memory in which Candidates searches so many documents, besides their mean vectors.
func Memory(documents int64, threads, dim, k int) int64 {
	search := exact.Memory(int(documents), int(documents), threads, dim, k) + documents*int64(k)*8
	if documents > 2*many {
		search = max(search, ivf.Memory(strconv.Itoa(lists), 0, int(documents), threads, dim, k)+documents*int64(ivf.ListBytes(k)))
	}
	return search + documents*rowNumbers
}

// nearest finds each mean vector's k nearest of the other side.
func nearest(ctx context.Context, source, target index.Side, k int) (index.Result, error) {
	search, err := exact.Open(exact.Options{})
	if min(source.Vectors.N, target.Vectors.N) > many {
		search, err = ivf.Open(strconv.Itoa(lists), ivf.Options{RecallRows: 1})
	}
	if err != nil {
		return index.Result{}, err
	}
	return search.Search(ctx, source, target, k, nil)
}

// means are the documents' mean vectors [documents, dim], as Centre leaves them.
func (s *Side) means() embedding.Matrix {
	out := make([]float32, len(s.Documents)*s.Dim)
	for d, document := range s.Documents {
		for i := range document.Count {
			AddToMean(out[d*s.Dim:], s.sentence(document.First+i), document.Count)
		}
	}
	Centre(out, s.Dim)
	return embedding.FromFloat32(out, s.Dim)
}

// AddToMean adds one of n vectors [dim] to their mean, which begins with zeros.
func AddToMean(mean, vector []float32, n int) {
	for c, x := range vector {
		mean[c] += x / float32(n)
	}
}

// Centre takes from the mean vectors of all documents of a side [documents, dim] what they have in common, their mean,
// and scales them to length 1.
func Centre(means []float32, dim int) {
	n := len(means) / dim
	mean := make([]float64, dim)
	for d := range n {
		for c, x := range means[d*dim:][:dim] {
			mean[c] += float64(x) / float64(n)
		}
	}
	for d := range n {
		v := means[d*dim:][:dim]
		var square float64
		for c := range v {
			if n > 1 {
				v[c] -= float32(mean[c])
			}
			square += float64(v[c]) * float64(v[c])
		}
		for c := range v {
			v[c] /= float32(max(math.Sqrt(square), 1e-12))
		}
	}
}

// languageMark matches a language code in an address: a part of its host, path or query.
var languageMark = regexp.MustCompile(`^[a-z]{2,3}([-_][a-z]{2,4})?$|^(lang|language|locale|hl)=.*$`)

// stripped are the documents' addresses without their scheme and what may name a language; "" for those without.
func stripped(documents []Document) []string {
	out := make([]string, len(documents))
	for i, d := range documents {
		u, err := url.Parse(strings.ToLower(d.URL))
		if d.URL == "" || err != nil {
			continue // an address that cannot be read says nothing
		}
		var parts []string
		host := u.Hostname()
		if at := strings.LastIndexByte(host, '.'); at > 0 {
			host = host[:at] // example.de and example.fr are one site
		}
		for _, part := range slices.Concat(strings.Split(host, "."), strings.FieldsFunc(u.Path,
			func(r rune) bool { return r == '/' || r == '.' }), strings.Split(u.RawQuery, "&")) {
			if part != "" && part != "www" && !languageMark.MatchString(part) {
				parts = append(parts, part)
			}
		}
		if len(parts) > 1 { // a site's address alone is no document's
			out[i] = strings.Join(parts, "/")
		}
	}
	return out
}
