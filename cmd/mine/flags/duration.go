package flags

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// DurationVar registers a flag of a time: as Go writes it (30m, 1h30m), with days and weeks before (7d, 2w, 1d12h).
func DurationVar(f *pflag.FlagSet, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	f.Var((*duration)(to), name, usage)
}

type duration time.Duration

func (d *duration) Type() string { return "duration" }

func (d *duration) String() string { return time.Duration(*d).String() }

// days is a number of days or weeks at the beginning of a time.
var days = regexp.MustCompile(`^(\d+(?:\.\d+)?)([dw])`)

// Set reads the flag; WrongFlag says what it understands.
func (d *duration) Set(text string) error {
	total := 0.0
	for m := days.FindStringSubmatch(text); m != nil; m = days.FindStringSubmatch(text) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return err
		}
		if m[2] == "w" {
			n *= 7
		}
		total += n * float64(24*time.Hour)
		if text = text[len(m[0]):]; text == "" {
			text = "0s"
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	if total+float64(rest) >= math.MaxInt64 {
		return errors.New("too long")
	}
	*d = duration(time.Duration(total) + rest)
	return nil
}
