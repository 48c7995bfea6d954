package scorer_test

import (
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func options() encode.Options { return encode.Options{Threads: 2} }
