package documents

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Fields are those of the metadata that documents are made with.
var PairingFields = []string{"date", "source"}

// How the metadata is made. Of translations most are of the day of the original, the others of the next two.
const (
	sites       = 8
	sameDay     = 0.7
	nextDay     = 0.2
	withoutDate = 0.1 // share of either side's documents, and of those without a source
)

// describe gives the documents metadata: those that share lines are of one site, a day after the other, as daily
// reports are. A target document that belongs to none is of the site, and about the days, of those that it stands
// beside.
func (m *MadePairing) describe(o PairingOptions) {
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
