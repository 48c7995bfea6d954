package eval

import (
	"testing"

	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// TestProtocols checks that every registered protocol is complete and is found by its name.
func TestProtocols(t *testing.T) {
	for _, p := range Protocols {
		measures := 0
		for _, set := range []bool{p.bucc != nil, p.aligned != nil, p.similarity != nil, p.labelled != nil} {
			if set {
				measures++
			}
		}
		if measures != 1 {
			t.Errorf("%s is for %d kinds of sets", p.Name, measures)
		}
		if p.Definition[0] == "" || p.Definition[1] == "" || len(p.Columns) == 0 {
			t.Errorf("%s does not say what it measures", p.Name)
		}
		if found, err := ParseProtocol(p.Name); err != nil || found != p {
			t.Errorf("%s is found as %v (%v): two protocols have that name", p.Name, found, err)
		}
	}
	if _, err := ParseProtocol("bucc"); !badinput.Is(err) {
		t.Errorf("bucc alone is no protocol, but %v", err)
	}
}

// TestProtocolsRefuseOtherSets checks that no protocol is measured on sets that it is not for.
func TestProtocolsRefuseOtherSets(t *testing.T) {
	r := Runner{Vectors: &testset.Embedder{Encoder: &hashEncoder{}}}
	for _, p := range Protocols {
		_, bucc := r.BUCC(t.Context(), []*Protocol{p}, "", nil)
		_, aligned := r.Aligned(t.Context(), []*Protocol{p}, nil, AlignedOptions{})
		_, sts := r.STS(t.Context(), []*Protocol{p}, nil)
		for data, err := range map[Data]error{BUCCSets: bucc, AlignedSets: aligned, STSSets: sts} {
			if (data == p.Data()) == (err != nil) {
				t.Errorf("%s on sets of kind %d: %v", p.Name, data, err)
			}
		}
	}
}
