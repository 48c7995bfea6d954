// Package pairs gives access to the pairs of a bitext file by row, by keys and by lists such as "rejected for this
// reason, nearest to the threshold first".
//
// A Parquet file is read once, from begin to end. Numbers and keys stay in memory, some 70 bytes a pair; texts and
// origins go to a temporary file without a name, from which any row is read at once.
package pairs

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"bitextmine/bitext"
	"bitextmine/bitext/concordance"
)

// The pairs that a list may be of, besides those with a reason.
const (
	All      = "all"
	Kept     = "kept"
	Rejected = "rejected" // not kept, for any reason
	// FoundBy begins the name of the kept pairs with a value of found_by.
	FoundBy = "found_by:"
)

// The orders of a list.
const (
	ByRow     = "row"    // order of the file
	Best      = "best"   // highest value first
	Worst     = "worst"  // lowest value first
	Uncertain = "near"   // nearest to the threshold first
	Random    = "random" // always the same one for the same pairs
)

// Orders are all orders.
var Orders = []string{ByRow, Best, Worst, Uncertain, Random}

// Selection says which pairs, and in which order.
type Selection struct {
	Show      string // All, Kept, Rejected, a reason, or FoundBy and how a pair was found
	Order     string
	Threshold float64 // threshold of Uncertain
	Min, Max  float64 // bounds of the value; infinite: there is none
	Text      string  // words that a side has, in any order and case; empty: any
}

// lists caches the lists requested last.
type lists struct {
	mu    sync.Mutex
	known map[Selection]*list
	uses  int // counts what is asked, to forget the list that was not used for longest
}

// list is a list that was asked for.
type list struct {
	rows func() ([]int32, error)
	used int
}

// maxLists is how many lists are kept in memory, 4 bytes a pair each.
const maxLists = 16

// List returns the rows of a selection. It is shared: callers do not change it. Words are looked for until the context
// ends.
func (s *Set) List(ctx context.Context, wanted Selection) ([]int32, error) {
	return s.lists.get(ctx, wanted, func() ([]int32, error) {
		rows, err := choose(ctx, s, wanted)
		return order(s, wanted, rows), err
	})
}

// get returns a list, which is made if it is not there. One that could not be made is not kept: if the request that
// made it has ended, whoever waited for it makes it again.
func (l *lists) get(ctx context.Context, wanted Selection, make func() ([]int32, error)) ([]int32, error) {
	for {
		one := l.find(wanted, make)
		rows, err := one.rows()
		if err == nil {
			return rows, nil
		}
		l.mu.Lock()
		if l.known[wanted] == one {
			delete(l.known, wanted)
		}
		l.mu.Unlock()
		ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		if !ended || ctx.Err() != nil {
			return nil, err
		}
	}
}

// find returns the entry of a list, which is added if it is not there.
func (l *lists) find(wanted Selection, make func() ([]int32, error)) *list {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[Selection]*list{}
	}
	one, ok := l.known[wanted]
	if !ok {
		one = &list{rows: sync.OnceValues(make)}
		l.known[wanted] = one
	}
	l.uses++
	one.used = l.uses
	if len(l.known) > maxLists {
		l.forget()
	}
	return one
}

// forget drops the list that was not used for longest.
func (l *lists) forget() {
	var oldest Selection
	least := math.MaxInt
	for name, one := range l.known {
		if one.used < least {
			oldest, least = name, one.used
		}
	}
	delete(l.known, oldest)
}

// choose returns the rows that a list shows.
func choose(ctx context.Context, s *Set, wanted Selection) ([]int32, error) {
	show, has := wanted.Show, make([]bool, len(s.reasons)+1)
	for i, reasons := range s.reasons {
		has[i+1] = slices.Contains(reasons, show)
	}
	by := byte(0)
	if name, ok := strings.CutPrefix(show, FoundBy); ok {
		by = foundBy(name)
	}
	shows := func(row int) bool {
		e := &s.entries[row]
		if v := float64(e.value); v < wanted.Min || v > wanted.Max || v != v && !(math.IsInf(wanted.Min, -1) && math.IsInf(wanted.Max, 1)) {
			return false
		}
		return show == All || show == Kept && e.kept || show == Rejected && !e.kept || has[e.why] || by > 0 && e.kept && e.found == by
	}
	var rows []int32
	if wanted.Text != "" {
		found, err := s.scan(ctx, concordance.Query{Text: wanted.Text, Mode: concordance.Words, Sides: [2]bool{true, true},
			Limit: len(s.entries)}, shows, true)
		if err != nil {
			return nil, err
		}
		for _, hit := range found.Hits {
			rows = append(rows, int32(hit.Row))
		}
		return rows, nil
	}
	for row := range s.entries {
		if shows(row) {
			rows = append(rows, int32(row))
		}
	}
	return rows, nil
}

// placed is a row and what it is sorted by.
type placed struct {
	by  float64
	row int32
}

// order sorts rows. Pairs without a value come last, equal ones in the file's order.
func order(s *Set, wanted Selection, rows []int32) []int32 {
	if wanted.Order == ByRow {
		return rows
	}
	all := make([]placed, len(rows))
	for i, row := range rows {
		value := float64(s.entries[row].value)
		switch wanted.Order {
		case Best:
			value = -value
		case Uncertain:
			value = math.Abs(value - wanted.Threshold)
		case Random:
			value = float64(Lot(&s.keys[row]))
		}
		if math.IsNaN(value) {
			value = math.Inf(1)
		}
		all[i] = placed{value, row}
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.row, b.row)) })
	for i := range all {
		rows[i] = all[i].row
	}
	return rows
}

// Lot orders pairs for Random. It depends on a pair alone and on nothing that was known of it. Keys are hashes.
func Lot(keys *[2][16]byte) uint64 {
	return binary.LittleEndian.Uint64(keys[0][8:])*0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(keys[1][8:])
}

// waysFound are the values of found_by, which entries number from 1.
var waysFound = []string{bitext.Both, bitext.Global, bitext.Local}

// foundBy is the number of a value of found_by; 0: there is none.
func foundBy(name string) byte { return byte(slices.Index(waysFound, name) + 1) }

// Found are the values of found_by of kept pairs.
func (s *Set) Found() (names []string) {
	has := make([]bool, len(waysFound)+1)
	for i := range s.entries {
		has[s.entries[i].found] = has[s.entries[i].found] || s.entries[i].kept
	}
	for i, name := range waysFound {
		if has[i+1] {
			names = append(names, name)
		}
	}
	return names
}

// Reason is a reason and the number of pairs that have it.
type Reason struct {
	Name  string
	Pairs int
}

// Reasons are the reasons of the pairs, the most frequent first.
func (s *Set) Reasons() []Reason {
	lists := make([]int, len(s.reasons)+1)
	for i := range s.entries {
		lists[s.entries[i].why]++
	}
	counts := map[string]int{}
	for i, reasons := range s.reasons {
		for _, name := range reasons {
			counts[name] += lists[i+1]
		}
	}
	var all []Reason
	for name, n := range counts {
		all = append(all, Reason{name, n})
	}
	slices.SortFunc(all, func(a,
		b Reason) int {
		return cmp.Or(cmp.Compare(b.Pairs, a.Pairs), cmp.Compare(a.Name, b.Name))
	})
	return all
}
