package encoders

import (
	"bytes"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
)

// TestListKnowing: languages choose encoders that say that they know all of them, the default one among others.
func TestListKnowing(t *testing.T) {
	list := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := newList()
		cmd.SetArgs(args)
		cmd.SetOut(&out)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	german, err := list("--langs", "deu,en")
	if err != nil || !strings.HasPrefix(german, "use-static ") || !strings.Contains(german, "\nlabse ") || strings.Contains(german, "bge-m3") {
		t.Errorf("error %v\n%s", err, german)
	}
	rare, err := list("--langs", "en,nus_Latn")
	if err != nil || strings.Count(rare, "\n") != 1 || !strings.HasPrefix(rare, "sonar ") || !strings.HasSuffix(rare, " 200 languages\n") {
		t.Errorf("error %v\n%s", err, rare)
	}
	_, err = list("--langs", "zz")
	encodetest.Refused(t, err, `language "zz": not a known code`)
}
