package filtering

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/configs"
	"bitextmine/filter/rule"
)

var update = flag.Bool("update", false, "write the table of precision and recall in docs/filters.md")

const labelled = "../../fixtures/filter/labelled.tsv"

// judged is a set of rules on the labelled pairs.
type judged struct {
	rules        []string
	reasons      [][]string
	labels       []string
	kinds        []string
	good, lost   int
	bad, missing int
}

func judge(t *testing.T, config string) *judged {
	t.Helper()
	data, err := configs.Filters.ReadFile("filter/" + config + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := rule.Parse(data, config)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	run(t, Options{Rules: rules, Out: out}, labelled)
	j := &judged{rules: rules.Names(), labels: column(t, out, "label"), kinds: column(t, out, "kind")}
	for i, reasons := range column(t, out, "reasons") {
		var list []string
		for reason := range strings.SplitSeq(reasons, ",") {
			if reason != "" {
				list = append(list, strings.TrimPrefix(reason, prefix))
			}
		}
		j.reasons = append(j.reasons, list)
		switch {
		case j.labels[i] == "good":
			j.good++
			if list != nil {
				j.lost++
			}
		default:
			j.bad++
			if list == nil {
				j.missing++
			}
		}
	}
	return j
}

// rate counts what a rule rejects, and what it finds of its own kind.
func (j *judged) rate(name string) (bad, good, found, ofKind int) {
	for i, reasons := range j.reasons {
		rejects := slices.Contains(reasons, name)
		if j.kinds[i] == name {
			ofKind++
			if rejects {
				found++
			}
		}
		switch {
		case rejects && j.labels[i] == "good":
			good++
		case rejects:
			bad++
		}
	}
	return bad, good, found, ofKind
}

func share(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(part)/float64(whole))
}

// TestLabelled compares the table of precision and recall in docs/filters.md with the rules on the labelled pairs.
func TestLabelled(t *testing.T) {
	var table strings.Builder
	table.WriteString("| rules | rule | bad rejected | good rejected | precision | recall of its kind |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, config := range []string{"default", "strict"} {
		j := judge(t, config)
		fmt.Fprintf(&table, "| %s | all together | %d of %d | %d of %d | %s | %s of all bad |\n", config, j.bad-j.missing, j.bad, j.lost, j.good,
			share(j.bad-j.missing, j.bad-j.missing+j.lost), share(j.bad-j.missing, j.bad))
		for _, name := range j.rules {
			bad, good, found, ofKind := j.rate(name)
			recall := share(found, ofKind)
			if recall != "" {
				recall += fmt.Sprintf(" (%d of %d)", found, ofKind)
			}
			fmt.Fprintf(&table, "| %s | `%s` | %d | %d | %s | %s |\n", config, name, bad, good, share(bad, bad+good), recall)
			if config == "default" && ofKind > 0 && float64(found) < 0.7*float64(ofKind) {
				t.Errorf("%s finds %d of %d of its kind", name, found, ofKind)
			}
		}
		if config == "default" && (j.good != 200 || j.bad != 200 || j.lost > 1) {
			t.Errorf("the default rules reject %d of %d good pairs; there are %d bad ones", j.lost, j.good, j.bad)
		}
	}
	const path, begin, end = "../../docs/filters.md", "<!-- labelled -->\n", "<!-- end of labelled -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	written, after, foundEnd := strings.Cut(rest, end)
	switch {
	case !found || !foundEnd:
		t.Fatalf("%s has no place for the table", path)
	case written == table.String():
	case !*update:
		t.Fatalf("the table in %s is not that of the rules; write it with go test ./curate/filtering -run TestLabelled -update", path)
	default:
		if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
}
