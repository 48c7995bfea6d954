package kernel

/*
#include "scan.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Scanner is one thread's memory for the fused pass: a packed block of queries, a packed block of base rows, and the
// candidate lists of both. It is used as Base, then for each block of queries Queries, Scan and SettleQueries, at last
// SettleBase.
type Scanner struct {
	queries, base *Side
	c             *C.scanner
	unproven      []int32 // result of Settle, reused because a search settles thousands of blocks
}

// NewScanner makes room for blocks of so many queries and base rows.
func (kn *Kernel) NewScanner(queries, base *Side, k, queryRows, baseRows int) (*Scanner, error) {
	return kn.newScanner(queries, base, kn.precisionOf(queries, base), k, queryRows, baseRows)
}

// NewWhole makes a scanner that rounds rows to whole numbers up to 127, at one scale for each side, so that their
// products are exact and the same in every kernel. They are what its lists hold in the place of cosines.
func (kn *Kernel) NewWhole(queries, base *Side, k, queryRows, baseRows int) (*Scanner, error) {
	return kn.newScanner(queries, base, wholePrecision(queries, base), k, queryRows, baseRows)
}

func (kn *Kernel) newScanner(queries, base *Side, p C.precision, k, queryRows, baseRows int) (*Scanner, error) {
	c := C.scanner_new(kn.c, p, C.int64_t(base.Dim), C.int64_t(k), C.int64_t(queryRows), C.int64_t(baseRows))
	if c == nil {
		return nil, errors.New("out of memory for the blocks of a search")
	}
	return &Scanner{queries: queries, base: base, c: c, unproven: make([]int32, max(queryRows, baseRows))}, nil
}

// ExpectRepeats makes the scanner notice pairs that were compared before, by what the lists hold: they are no
// candidates again. Base and Queries then need lists. Without it no pair may come twice.
func (s *Scanner) ExpectRepeats() error {
	if C.scanner_expect_repeats(s.c) == 0 {
		return errors.New("out of memory for the blocks of a search")
	}
	return nil
}

// Close frees the memory.
func (s *Scanner) Close() { C.scanner_free(s.c) }

// Base packs the base rows of a span and forgets the candidates of those before. What lists holds of them already is
// what a candidate must reach; nil: nothing.
func (s *Scanner) Base(at Span, lists *Lists) {
	if lists == nil {
		C.scanner_base(s.c, &s.base.c, at.c(), nil)
		return
	}
	C.scanner_base(s.c, &s.base.c, at.c(), &lists.c)
}

// Queries packs the queries of a span, likewise.
func (s *Scanner) Queries(at Span, lists *Lists) {
	if lists == nil {
		C.scanner_queries(s.c, &s.queries.c, at.c(), nil)
		return
	}
	C.scanner_queries(s.c, &s.queries.c, at.c(), &lists.c)
}

// Scan scores the packed queries with the packed base rows.
func (s *Scanner) Scan() { C.scanner_scan(s.c) }

// scores returns the inner products [queries, base rows] of what is packed as the kernel computes them.
func (s *Scanner) scores(queries, base int) []float32 {
	out := make([]float32, queries*base)
	C.scanner_scores(s.c, floats(out))
	return out
}

// SettleQueries refines the candidates of the packed queries into their lists. It returns the distinct queries whose
// lists are not proven to hold the nearest of what they held before and of the packed base rows, valid until the next
// Settle.
func (s *Scanner) SettleQueries(lists *Lists) []int32 {
	n := C.scanner_settle_queries(s.c, &s.queries.c, &s.base.c, &lists.c, (*C.int32_t)(unsafe.SliceData(s.unproven)))
	return s.unproven[:n]
}

// SettleBase refines the candidates of the packed base rows, from all queries scanned since Base, into their lists. It
// returns the distinct base rows whose lists are not proven, valid until the next Settle.
func (s *Scanner) SettleBase(lists *Lists) []int32 {
	n := C.scanner_settle_base(s.c, &s.queries.c, &s.base.c, &lists.c, (*C.int32_t)(unsafe.SliceData(s.unproven)))
	return s.unproven[:n]
}

// ExhaustQueries offers to the lists of the given queries their products with the base rows of a span. The scanner is
// one of NewWhole.
func (s *Scanner) ExhaustQueries(lists *Lists, which []int32, at Span) {
	C.scanner_exhaust_queries(s.c, &s.queries.c, &s.base.c, &lists.c, (*C.int32_t)(unsafe.SliceData(which)),
		C.int64_t(len(which)), at.c())
}

// ExhaustBase does the same for base rows, with the queries of a span.
func (s *Scanner) ExhaustBase(lists *Lists, which []int32, at Span) {
	C.scanner_exhaust_base(s.c, &s.queries.c, &s.base.c, &lists.c, (*C.int32_t)(unsafe.SliceData(which)),
		C.int64_t(len(which)), at.c())
}

// OnlyNearest prepares what is packed for Nearest: the base rows take no candidates, and the queries those alone whose
// products are at most span below that with the nearest; infinite: all. It comes after Base.
func (s *Scanner) OnlyNearest(span float64) { C.scanner_only_nearest(s.c, C.double(span)) }

// Nearest writes the k nearest of the packed base rows within the span for each packed query to out [queries, k] in no
// order, their products to products, and their number to counts. Every kernel returns the largest products of rows as
// whole numbers, and of equal products the row that comes first in the base side's order, or the lower one without it.
func (s *Scanner) Nearest(out []int32, products []float32, counts []int32) {
	C.scanner_nearest(s.c, &s.queries.c, &s.base.c, (*C.int32_t)(unsafe.SliceData(out)), floats(products),
		(*C.int32_t)(unsafe.SliceData(counts)))
}

// ScannerBytes is how much memory a Scanner takes at most, of any kernel.
func ScannerBytes(dim, k, queryRows, baseRows int) int64 {
	return int64(C.scanner_bytes(C.int64_t(dim), C.int64_t(k), C.int64_t(queryRows), C.int64_t(baseRows)))
}
