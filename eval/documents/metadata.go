package documents

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// PairingFields names the metadata fields of synthetic documents.
var PairingFields = []string{"date", "source"}

// Parameters of the metadata. Most translations have the date of the original, the others one of the next two days.
const (
	sites       = 8
	sameDay     = 0.7
	nextDay     = 0.2
	withoutDate = 0.1 // share of either side's documents, and of those without a source
)

// describe adds metadata to the documents. Documents with common lines belong to one site and follow a day apart, as
// daily reports do. A target document without a partner gets the site and about the dates of its neighbours.
func (m *Pairing) describe(o PairingOptions) {
	rng := rand.New(rand.NewPCG(o.Seed, 29))
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	values := func(day, site int) []string {
		all := []string{begin.AddDate(0, 0, day).Format(time.DateOnly), fmt.Sprint("site", site)}
		for i := range all {
			if rng.Float64() < withoutDate {
				all[i] = ""
			}
		}
		return all
	}
	others := make([][]string, 0, o.Documents)
	var first, site int
	for d := range o.Documents {
		if d%o.Near == 0 {
			first, site = rng.IntN(365), rng.IntN(sites)
		}
		day := first + d%o.Near
		m.Metadata[0] = append(m.Metadata[0], values(day, site))
		switch late := rng.Float64(); {
		case late >= sameDay+nextDay:
			day += 2
		case late >= sameDay:
			day++
		}
		m.Metadata[1] = append(m.Metadata[1], values(day, site))
		others = append(others, values(first+rng.IntN(o.Near+2), site))
	}
	m.Metadata[1] = append(m.Metadata[1], others...)
}
