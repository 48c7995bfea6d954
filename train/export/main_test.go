package export_test

import (
	"testing"

	"bitextmine/encode/encodetest"
)

func TestMain(m *testing.M) { encodetest.Main(m) }
