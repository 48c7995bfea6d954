package shard

import (
	"fmt"
	"strings"
	"testing"
)

// TestBoilerplate: a line that stood on five pages of a site is left out of the next, and on another site stays.
func TestBoilerplate(t *testing.T) {
	var s Site
	for i := range 8 {
		text := fmt.Sprintf("Page %d.\nAll rights reserved.\nAll rights reserved.", i)
		got, left := s.Strip(fmt.Sprintf("https://example.org/%d", i), text)
		want, n := text, 0
		if i >= repeated {
			want, n = strings.ReplaceAll(text, "All rights reserved.", strings.Repeat(" ", 20)), 2
		}
		if got != want || left != n {
			t.Errorf("page %d: %q, %d lines left out", i, got, left)
		}
	}
	if got, left := s.Strip("https://example.com/", "All rights reserved."); left != 0 {
		t.Errorf("on another site: %q", got)
	}
}

// TestNearCopies: pages with nine tenths of their text in common are near copies, pages with half of it are not.
func TestNearCopies(t *testing.T) {
	page := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "Sentence %d is about the number %d and its square %d.\n", i, i*7, i*i)
		}
		return b.String()
	}
	near, far := 0, 0
	for n := range 50 {
		var pages nearCopies
		if pages.add(page(n*100, n*100+60)) {
			t.Error("the first page is a copy")
		}
		if pages.add(page(n*100+2, n*100+60)) {
			near++
		}
		if pages.add(page(n*100+30, n*100+90)) {
			far++
		}
	}
	if near < 45 || far > 0 {
		t.Errorf("%d of 50 near copies are found, and %d of 50 pages that share half", near, far)
	}
	var pages nearCopies
	if pages.add("") || pages.add("short") || pages.add("short") {
		t.Error("a text without a shingle is a copy")
	}
}
