package flags

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/internal/badinput"
)

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration // 0: refused
	}{
		{"7d", 7 * 24 * time.Hour},
		{"2w", 14 * 24 * time.Hour},
		{"1w1d12h", 8*24*time.Hour + 12*time.Hour},
		{"0.5d", 12 * time.Hour},
		{"90m", 90 * time.Minute},
		{"-1h", -time.Hour},
		{"7", 0},
		{"7 days", 0},
		{"12h7d", 0},
		{"99999999w", 0},
		{"", 0},
	} {
		cmd := &cobra.Command{Use: "gc"}
		var got time.Duration
		DurationVar(cmd.Flags(), &got, "older", 0, "leave alone what is younger")
		err := cmd.ParseFlags([]string{"--older", c.text})
		if c.want == 0 {
			if err = WrongFlag(cmd, err); !badinput.Is(err) || !strings.Contains(err.Error(), "such as 90m, 24h, 7d or 2w") {
				t.Errorf("%q: %v, error %v", c.text, got, err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%q: got %v, want %v, error %v", c.text, got, c.want, err)
		}
	}
}
