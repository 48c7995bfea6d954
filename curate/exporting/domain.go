package exporting

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"bitextmine/bitext/table"
	"bitextmine/internal/textfile"
)

// urlColumns have the addresses of a pair's pages.
var urlColumns = [2]string{"src_url", "tgt_url"}

// domainCount counts the pairs of a domain.
type domainCount struct {
	pairs      uint64    // that have a side there
	sides      [2]uint64 // sides that are there
	characters [2]uint64 // characters of these sides
}

// domains counts exported pairs by domain; nil: nobody asked.
type domains map[string]*domainCount

// domainOf is the part of an address that one owner registers: example.co.uk of https://www.example.co.uk/page. It is
// the host where there is no such part, and empty where there is no host.
func domainOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// add counts rows of a batch.
func (d domains) add(b *table.Batch, rows []int, texts [2]string) error {
	var addresses, of [2]func(i int) (string, bool)
	for side := range addresses {
		var err error
		if addresses[side], err = b.Texts(urlColumns[side]); err != nil {
			return err
		}
		if of[side], err = b.Texts(texts[side]); err != nil {
			return err
		}
	}
	for _, i := range rows {
		var before *domainCount
		for side := range addresses {
			address, _ := addresses[side](i)
			name := domainOf(address)
			c := d[name]
			if c == nil {
				c = &domainCount{}
				d[strings.Clone(name)] = c
			}
			if c != before {
				c.pairs++
			}
			text, _ := of[side](i)
			c.sides[side]++
			c.characters[side] += uint64(utf8.RuneCountInString(text))
			before = c
		}
	}
	return nil
}

// write writes a TSV, the domain of most pairs first. The empty domain is of sides without an address.
func (d domains) write(path string) error {
	names := slices.SortedFunc(maps.Keys(d), func(a, b string) int {
		return cmp.Or(cmp.Compare(d[b].pairs, d[a].pairs), cmp.Compare(a, b))
	})
	var out strings.Builder
	out.WriteString("domain\tpairs\tsrc\ttgt\tsrc_characters\ttgt_characters\n")
	for _, name := range names {
		c := d[name]
		fmt.Fprintf(&out, "%s\t%d\t%d\t%d\t%d\t%d\n", name, c.pairs, c.sides[0], c.sides[1], c.characters[0], c.characters[1])
	}
	return textfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, out.String())
		return err
	})
}
