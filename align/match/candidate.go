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
	"bitextmine/mine"
)

// candidates are the pairs of documents of which one is among the k nearest of the other, by their mean vectors without
// what all documents of a side have in common; and those whose addresses or rare metadata say that they belong
// together.
func candidates(ctx context.Context, source, target *Side, k int, meta *metadata) ([][2]int, error) {
	nearest, err := nearest(ctx, index.Side{Vectors: centroids(source)}, index.Side{Vectors: centroids(target)}, k)
	if err != nil {
		return nil, err
	}
	all := meta.candidates(k)
	for side, lists := range [2]mine.Neighbours{nearest.Source, nearest.Target} {
		for at, other := range lists.IDs {
			if other == mine.None {
				continue
			}
			c := [2]int{at / lists.K, int(other)}
			all = append(all, [2]int{c[side], c[1-side]})
		}
	}
	by := map[string]*[2][]int{}
	for side, documents := range [2][]Document{source.Documents, target.Documents} {
		for d, address := range stripped(documents) {
			if address == "" {
				continue
			}
			if by[address] == nil {
				by[address] = &[2][]int{}
			}
			by[address][side] = append(by[address][side], d)
		}
	}
	for _, same := range by {
		if len(same[0]) > k || len(same[1]) > k {
			continue // an address that common says nothing
		}
		for _, i := range same[0] {
			for _, j := range same[1] {
				all = append(all, [2]int{i, j})
			}
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(all), nil
}

const (
	// many is the number of documents of a side above which their mean vectors are searched with inverted lists.
	many = 30_000
	// lists is their number: with it a vector is compared with about a tenth of the others.
	lists = 256
)

// nearest finds each mean vector's k nearest of the other side.
func nearest(ctx context.Context, source, target index.Side, k int) (index.Result, error) {
	if min(source.Vectors.N, target.Vectors.N) > many {
		search, err := ivf.Open(strconv.Itoa(lists), ivf.Options{RecallRows: 1})
		if err != nil {
			return index.Result{}, err
		}
		found, err := search.Search(ctx, source, target, k, nil)
		if !badinput.Is(err) { // else most vectors are equal, and an exact search is quick
			return found, err
		}
	}
	search, err := exact.Open(exact.Options{})
	if err != nil {
		return index.Result{}, err
	}
	return search.Search(ctx, source, target, k, nil)
}

// centroids are the documents' mean vectors [documents, dim], less the mean of all of them, of length 1.
func centroids(s *Side) embedding.Matrix {
	out := make([]float32, len(s.Documents)*s.Dim)
	mean := make([]float64, s.Dim)
	for d, document := range s.Documents {
		v := out[d*s.Dim:][:s.Dim]
		for i := range document.Count {
			for c, x := range s.sentence(document.First + i) {
				v[c] += x / float32(document.Count)
			}
		}
		for c, x := range v {
			mean[c] += float64(x) / float64(len(s.Documents))
		}
	}
	for d := range s.Documents {
		v := out[d*s.Dim:][:s.Dim]
		var square float64
		for c := range v {
			if len(s.Documents) > 1 {
				v[c] -= float32(mean[c])
			}
			square += float64(v[c]) * float64(v[c])
		}
		for c := range v {
			v[c] /= float32(max(math.Sqrt(square), 1e-12))
		}
	}
	return embedding.Matrix{N: len(s.Documents), Dim: s.Dim, F32: out}
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
