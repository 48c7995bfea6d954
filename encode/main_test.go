package encode

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"bitextmine/encode/encodetest"
)

func TestMain(m *testing.M) {
	if err := encodetest.SetLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
