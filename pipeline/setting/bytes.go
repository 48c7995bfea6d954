package setting

import (
	"errors"
	"strconv"
	"strings"
)

// units are the suffixes that ParseBytes accepts: powers of 1000 and of 1024.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1},
}

// ParseBytes reads a number of bytes such as 1500000, 512MiB, 1.5 GiB or 4GB; empty is 0.
func ParseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, scale := text, 1.0
	for _, unit := range units {
		if rest, ok := strings.CutSuffix(text, unit.name); ok {
			number, scale = rest, unit.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n*scale >= 1 && n*scale <= 1<<60) { // a NaN is neither
		return 0, errors.New("give bytes, or a number with MB, GB, MiB or GiB, such as 4GiB")
	}
	return int64(n * scale), nil
}
