package match

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// candidates are the pairs of documents of which one is among the k nearest of the other, by their mean vectors without
// what all documents of a side have in common; and those whose addresses or rare metadata say that they belong
// together.
func candidates(ctx context.Context, source, target *Side, k int, meta *metadata) ([][2]int, error) {
	a, b := centroids(source), centroids(target)
	found := make([][][2]int, len(source.Documents)+len(target.Documents))
	err := inBlocks(ctx, len(found), func(n int) {
		if n < len(source.Documents) {
			for _, j := range nearest(a, n, b, len(target.Documents), source.Dim, k) {
				found[n] = append(found[n], [2]int{n, j})
			}
			return
		}
		j := n - len(source.Documents)
		for _, i := range nearest(b, j, a, len(source.Documents), source.Dim, k) {
			found[n] = append(found[n], [2]int{i, j})
		}
	})
	if err != nil {
		return nil, err
	}
	all := append(slices.Concat(found...), meta.candidates(k)...)
	by := map[string][]int{}
	for i, address := range stripped(source.Documents) {
		if address != "" {
			by[address] = append(by[address], i)
		}
	}
	for j, address := range stripped(target.Documents) {
		for _, i := range by[address] {
			all = append(all, [2]int{i, j})
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(all), nil
}

// nearest are the k documents of the other side with the highest products.
func nearest(own []float32, i int, others []float32, n, dim, k int) []int {
	type at struct {
		document int
		cosine   float32
	}
	all := make([]at, n)
	for j := range all {
		all[j] = at{j, dot(own[i*dim:][:dim], others[j*dim:][:dim])}
	}
	slices.SortFunc(all, func(a,
		b at) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.document, b.document))
	})
	out := make([]int, min(k, n))
	for r := range out {
		out[r] = all[r].document
	}
	return out
}

// centroids are the documents' mean vectors [documents, dim], less the mean of all of them, of length 1.
func centroids(s *Side) []float32 {
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
	return out
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
