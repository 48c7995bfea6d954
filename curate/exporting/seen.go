package exporting

import (
	"context"

	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// SeenColumns are the columns that --dedup-urls writes: by side the addresses of a text, in the order of the text, and
// how many times the text was seen, also where it had no address.
var SeenColumns = [2]struct{ URLs, Times string }{{"src_urls", "src_seen"}, {"tgt_urls", "tgt_seen"}}

// Places calls do with every place of a sentence in the text of a side, in order.
type Places func(ctx context.Context, side int, do func(key corpus.Key, url string)) error

// addresses numbers addresses.
type addresses struct {
	names   []string
	numbers map[string]uint32
}

// Len is their number.
func (a *addresses) Len() int { return len(a.names) }

func (a *addresses) number(url string) uint32 {
	n, ok := a.numbers[url]
	if !ok {
		n = uint32(len(a.names))
		a.names = append(a.names, url)
		if a.numbers == nil {
			a.numbers = map[string]uint32{}
		}
		a.numbers[url] = n
	}
	return n
}

// group is where a text was seen.
type group struct {
	urls  []uint32 // an address may stand in it several times
	times uint32
}

func (g *group) add(a *addresses, url string) {
	g.times++
	if url == "" {
		return
	}
	if n := a.number(url); len(g.urls) == 0 || g.urls[len(g.urls)-1] != n {
		g.urls = append(g.urls, n)
	}
}

// list lists the distinct addresses.
func (g *group) list(a *addresses) []string {
	names, known := []string{}, map[uint32]bool{}
	for _, n := range g.urls {
		if !known[n] {
			known[n] = true
			names = append(names, a.names[n])
		}
	}
	return names
}

// seen is where the exported pairs were seen: by sentence in the text of a run, or else by pair in the rows. Groups go
// by numbers, which take less memory than pointers.
type seen struct {
	addresses addresses
	pairs     map[[2]corpus.Key]int32 // numbers of pairs
	written   []bool                  // one for each pair
	sentences [2]map[corpus.Key]int32 // places in groups; nil: those of pair n are 2n and 2n+1
	groups    []group
}

// pair numbers a pair.
func (s *seen) pair(keys [2]corpus.Key) (n int32, isNew bool) {
	n, known := s.pairs[keys]
	if !known {
		n = int32(len(s.written))
		s.pairs[keys], s.written = n, append(s.written, false)
	}
	return n, !known
}

// look finds where the pairs that will be exported were seen. It reads the table once more, and the text of a run.
func (e *exporter) look(ctx context.Context) error {
	e.seen = &seen{pairs: map[[2]corpus.Key]int32{}}
	s := e.seen
	if e.opts.Places == nil {
		return e.each(ctx, func(b *table.Batch, rows []int) error {
			return e.eachRow(b, rows, func(_ int, keys [2]corpus.Key, urls [2]string) {
				n, isNew := s.pair(keys)
				if isNew {
					s.groups = append(s.groups, group{}, group{})
				}
				for side, url := range urls {
					s.groups[2*int(n)+side].add(&s.addresses, url)
				}
			})
		})
	}
	s.sentences = [2]map[corpus.Key]int32{{}, {}}
	err := e.each(ctx, func(b *table.Batch, rows []int) error {
		return e.eachRow(b, rows, func(_ int, keys [2]corpus.Key, _ [2]string) {
			for side, key := range keys {
				if _, known := s.sentences[side][key]; !known {
					s.sentences[side][key] = int32(len(s.groups))
					s.groups = append(s.groups, group{})
				}
			}
		})
	})
	for side := range s.sentences {
		if err != nil {
			break
		}
		err = e.opts.Places(ctx, side, func(key corpus.Key, url string) {
			if n, known := s.sentences[side][key]; known {
				s.groups[n].add(&s.addresses, url)
			}
		})
	}
	return err
}

// of returns the groups of a pair whose own addresses are known.
func (s *seen) of(n int32, keys [2]corpus.Key, urls [2]string) (pair [2]*group) {
	for side := range pair {
		at := 2*int(n) + side
		if s.sentences[side] != nil {
			at = int(s.sentences[side][keys[side]])
		}
		if pair[side] = &s.groups[at]; pair[side].times == 0 { // a span of several sentences: the text has them one by one
			pair[side] = &group{}
			pair[side].add(&s.addresses, urls[side])
		}
	}
	return pair
}

// eachRow calls do with the keys and the own addresses of rows.
func (e *exporter) eachRow(b *table.Batch, rows []int, do func(i int, keys [2]corpus.Key, urls [2]string)) error {
	keys, err := keysOf(b, [2]string{e.opts.Table.SourceColumn, e.opts.Table.TargetColumn})
	if err != nil {
		return err
	}
	var urls [2]func(i int) (string, bool)
	for side, name := range urlColumns {
		if urls[side], err = b.Texts(name); err != nil {
			return err
		}
	}
	for _, i := range rows {
		pair, err := keys(i)
		if err != nil {
			return err
		}
		var own [2]string
		for side := range own {
			own[side], _ = urls[side](i)
		}
		do(i, pair, own)
	}
	return nil
}

// keysOf gives the keys of rows: those that a run wrote, which an edit does not change, or else those of their texts.
func keysOf(b *table.Batch, names [2]string) (func(i int) ([2]corpus.Key, error), error) {
	if b.Has("src_key") && b.Has("tgt_key") {
		keys, err := label.Keys(b)
		return func(i int) (pair [2]corpus.Key, err error) {
			of := keys(i)
			for side, digits := range []string{of.Source, of.Target} {
				if pair[side], err = corpus.ParseKey(digits); err != nil {
					return pair, badinput.Errorf("row %d: %q is no key of a sentence", b.Row(i), digits)
				}
			}
			return pair, nil
		}, err
	}
	var texts [2]func(i int) (string, bool)
	for side, name := range names {
		var err error
		if texts[side], err = b.Texts(name); err != nil {
			return nil, err
		}
	}
	return func(i int) (pair [2]corpus.Key, _ error) {
		for side := range texts {
			text, _ := texts[side](i)
			pair[side] = corpus.KeyOf(corpus.Normalise(text))
		}
		return pair, nil
	}, nil
}

// once returns the rows of a batch whose pair was not written before, with all places of their texts.
func (e *exporter) once(b *table.Batch, rows []int) (*table.Batch, error) {
	s := e.seen
	var first []int
	var groups [][2]*group
	err := e.eachRow(b, rows, func(i int, keys [2]corpus.Key, urls [2]string) {
		n, _ := s.pair(keys)
		if s.written[n] {
			e.report.Repeated++
			return
		}
		s.written[n] = true
		first, groups = append(first, i), append(groups, s.of(n, keys, urls))
	})
	if err != nil {
		return nil, err
	}
	if b, err = b.Select(first); err != nil {
		return nil, err
	}
	return withSeen(b, groups, &s.addresses)
}

// withSeen adds the columns of a batch's rows. Nothing was looked for where a row has no groups.
func withSeen(b *table.Batch, groups [][2]*group, a *addresses) (*table.Batch, error) {
	var columns []table.Values
	for side, names := range SeenColumns {
		urls, times := make([][]string, len(groups)), make([]uint32, len(groups))
		for i, pair := range groups {
			if pair[side] != nil {
				urls[i], times[i] = pair[side].list(a), pair[side].times
			}
		}
		columns = append(columns, table.Values{Name: names.URLs, List: urls}, table.Values{Name: names.Times, Uint32: times})
	}
	return b.With(columns...)
}
