package simulate

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
)

// TestDocumentsArePairedAndAligned: the stages of documents are planned, comparing and aligning by the shards of the
// source, and cutting has the memory to divide records.
func TestDocumentsArePairedAndAligned(t *testing.T) {
	c := edited(t, "match: 1e5", "match: 1e5, docmeans: 1e5, docnearest: 1e7, doccompare: 1e6, pairdocs: 1e6, align: 1e3")
	c.Machines[0].Memory = 32 << 30
	base := request(1_000_000)
	plain, err := Run(c, base)
	if err != nil {
		t.Fatal(err)
	}
	base.Settings.Aligning = setting.Aligning{Documents: setting.DocumentsOn, DocScore: 0.5}
	if _, err := Run(c, base); !badinput.Is(err) || !strings.Contains(err.Error(), "languages.de.document") {
		t.Errorf("error %v", err)
	}
	for code, sentences := range map[string]float64{"de": 30, "en": 20} {
		corpus := c.Languages[code]
		corpus.Document = sentences
		c.Languages[code] = corpus
	}
	s, err := Run(c, base)
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	stages := map[string]Stage{}
	for _, st := range s.Stages {
		stages[st.Name] = st
	}
	if st := stages["docmeans"]; st.Tasks != 5 || st.Items != 5e6 || st.Unit != "sentences" {
		t.Errorf("mean vectors are %+v", st)
	}
	for name, want := range map[string]Stage{
		"docnearest": {Tasks: 1, Items: 2 * 1e5 * 1e5 / 10, Seconds: 2 * 1e5 * 1e5 / 10 / 1e7 / 4},
		"doccompare": {Tasks: 3, Items: 20 * 1e5 * 30 * 20, Seconds: 2 * 20 * 1e5 * 30 * 20 / 3 / 1e6 / 4},
	} {
		if st := stages[name]; st.Tasks != want.Tasks || st.Items != want.Items || st.Unit != comparisonUnit || math.Abs(st.Seconds-want.Seconds) > 1 {
			t.Errorf("%s is %+v, want %+v", name, st, want)
		}
	}
	if st := stages["pairdocs"]; st.Tasks != 1 || st.Items != 5e6 {
		t.Errorf("choosing pairs is %+v", st)
	}
	aligning := stages["align"]
	if aligning.Tasks != 3 || aligning.Items != 3e6 || aligning.Seconds != 2*1e6/1e3/4 {
		t.Errorf("aligning is %+v", aligning)
	}
	if cut := stages["shard"]; cut.Memory <= plain.Stages[0].Memory {
		t.Errorf("dividing records takes %d bytes, cutting sentences %d", cut.Memory, plain.Stages[0].Memory)
	}
	base.Settings.Aligning = setting.Aligning{}
	if s, err := Run(c, base); err != nil || len(s.Stages) != len(plain.Stages) {
		t.Errorf("without aligning there are %d stages, want %d (%v)", len(s.Stages), len(plain.Stages), err)
	}
}

func TestCompared(t *testing.T) {
	r := &record.Report{}
	if n, ok := compared("doccompare", r); n != 0 || !ok {
		t.Errorf("no documents, %v comparisons", n)
	}
	r.Counts = record.Counts{SourceIn: 600, TargetIn: 400, Documents: &record.DocumentCounts{Source: 20, Target: 40}}
	for stage, want := range map[string]float64{"docnearest": 2 * 20 * 40, "doccompare": 20 * 40 * 30 * 10} {
		if n, ok := compared(stage, r); n != want || !ok {
			t.Errorf("%s: %v comparisons, want %v", stage, n, want)
		}
	}
	if _, ok := compared("encode", r); ok {
		t.Error("encoding compares documents")
	}
}

// TestRatesOfABusyMachineAreNoted: a run that had few of its processors gives rates that are too low.
func TestRatesOfABusyMachineAreNoted(t *testing.T) {
	for _, test := range []struct {
		seconds float64 // seconds of processors
		want    int
	}{{4, 1}, {10, 0}, {0, 0}} {
		path := filepath.Join(t.TempDir(), record.ReportName)
		run := record.Report{Threads: 2, Seconds: 10, CPUSeconds: test.seconds, Stages: []record.StageReport{{Name: "encode", Tasks: 1, Items: 100, Seconds: 1}}}
		data, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Run(edited(t, "price: 1", "runs: ["+path+"]"), request(1_000_000))
		if err != nil || len(s.Problems) > 0 || len(s.Notes) != test.want {
			t.Fatalf("%v processor seconds: %v, problems %q, notes %q", test.seconds, err, s.Problems, s.Notes)
		}
		if test.want > 0 && !strings.Contains(s.Notes[0], `machine "cpu": the run `+path+" computed with 0.40 of 2 processors") {
			t.Errorf("%s", s.Notes[0])
		}
	}
}
