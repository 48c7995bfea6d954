package session

import (
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
)

// TestTooLargeForTheMachine: weights that do not fit into memory are refused before they are read.
func TestTooLargeForTheMachine(t *testing.T) {
	memory := machineMemory
	defer func() { machineMemory = memory }()
	m, err := model.LoadFS(encodetest.Changed(t), model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	if err := fits(m); err != nil {
		t.Error(err)
	}
	machineMemory = func() int64 { return 1 << 10 }
	encodetest.Refused(t, fits(m), "GB of weights, but this machine has 0.0 GB of memory")
}
