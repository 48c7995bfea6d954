package objective

import (
	"fmt"
	"os"
	"testing"

	"bitextmine/encode/encodetest"
)

func TestMain(m *testing.M) {
	if err := encodetest.SetLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
