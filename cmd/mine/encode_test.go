package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/cmd/mine/program"
	"bitextmine/encode/embedding"
)

// TestEncode: a row for every line, empty ones too, the same in NumPy's format and raw, of several files in the order
// of the arguments, one of which comes twice.
func TestEncode(t *testing.T) {
	dir := t.TempDir()
	file := writerInto(t, dir)
	first, second := file("b.txt", "Das Museum ist montags geschlossen.\n\n  Der Zug kommt.  \n"), file("a.txt",
		"Der Zug kommt.\n")
	npy, raw := filepath.Join(dir, "x.npy"), filepath.Join(dir, "x.f32")
	for _, args := range [][]string{{"encode", "--lang", "de", "--out", npy, first, second, first},
		{"encode", "--lang", "de", "--raw", "--out", raw, first, second, first}} {
		if code := execute(t.Context(), args); code != 0 {
			t.Fatalf("mine %s: exit code %d", strings.Join(args, " "), code)
		}
	}
	f, err := embedding.OpenArray(npy)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	vectors := make([]float32, f.N*f.Dim)
	f.Float32(vectors, 0, f.N)
	if f.N != 7 || !slices.Equal(vectors[2*f.Dim:3*f.Dim], vectors[3*f.Dim:4*f.Dim]) ||
		slices.Equal(vectors[:f.Dim], vectors[2*f.Dim:3*f.Dim]) {
		t.Errorf("%d rows, want 7, of which the third and the fourth are of one sentence", f.N)
	}
	var want []byte
	for _, x := range vectors {
		want = binary.LittleEndian.AppendUint32(want, math.Float32bits(x))
	}
	if got, err := os.ReadFile(raw); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the raw file has %d bytes (error %v), want the %d of the array", len(got), err, len(want))
	}
}

// TestEncodeReadsAsRun: the texts of records are encoded, one row each, whatever format they are in.
func TestEncodeReadsAsRun(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "x.npy")
	rows := func(name, text string, flags ...string) []byte {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := execute(t.Context(), append([]string{"encode", "--lang", "de", "--out", out, path}, flags...)); code != 0 {
			t.Fatalf("mine encode %s: exit code %d", name, code)
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := rows("a.txt", "Der Zug, der kommt.\n\nDas Haus.\n")
	calm, loud := rows("lower.txt", "über den kalten fluss\n"), rows("capitals.txt", "ÜBER DEN KALTEN FLUSS\n")
	if !bytes.Equal(calm, loud) {
		t.Error("a line in capitals has another row than one in lower case")
	}
	for name, c := range map[string]struct {
		text  string
		flags []string
	}{
		"a.csv":   {"id,text\n1,\"Der Zug, der kommt.\"\n2,\n3,Das Haus.\n", nil},
		"b.jsonl": {`{"body":"Der Zug, der kommt."}` + "\n" + `{"body":""}` + "\n" + `{"body":"Das Haus."}` + "\n", []string{"--text-column", "body"}},
		"c.json":  {`["Der Zug, der kommt.","","Das Haus."]`, nil},
		"d.de":    {"text\nDer Zug, der kommt.\n\nDas Haus.\n", []string{"--format", "tsv"}},
		"e.de":    {"1\tDer Zug, der kommt.\n2\t\n3\tDas Haus.\n", nil},
	} {
		if got := rows(name, c.text, c.flags...); !bytes.Equal(got, want) {
			t.Errorf("%s has other rows than lines of text", name)
		}
	}
}

// TestEncodeRefuses: nothing is left under the output's name.
func TestEncodeRefuses(t *testing.T) {
	dir := t.TempDir()
	out, bad := filepath.Join(dir, "x.npy"), filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("gut\n\xff\xfe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page, broken := filepath.Join(dir, "p.html"), filepath.Join(dir, "b.jsonl")
	for path, text := range map[string]string{page: "<html><p>Der Zug kommt.</p></html>", broken: `{"text":"gut"}` + "\nnicht\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"--lang", "de", "--out", out, page}, {"--lang", "de", "--out", out, broken},
		{"--lang", "de", "--out", out}, {"--out", out, bad}, {"--lang", "de", bad}, {"--lang", "de",
			"--out", filepath.Join(dir, "x.bin"), bad},
		{"--lang", "de", "--out", out, bad}, {"--lang", "xxy", "--out", out, bad}, {"--lang", "de", "--out", out,
			filepath.Join(dir, "none.txt")},
		{"--lang", "de", "--out", out, "--dtype", "int8", bad}, {"--lang", "de", "--out", out,
			"--raw", "--dtype", "float16", bad}, {"--lang", "de", "--out", out, "--raw", bad}, {"--lang", "de", "--out", out, "--encoder", "none", bad},
	} {
		if code := execute(t.Context(), append([]string{"encode"}, args...)); code != exitPermanent {
			t.Errorf("mine encode %s: exit code %d, want %d", strings.Join(args, " "), code, exitPermanent)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "x*")); err != nil || left != nil {
		t.Errorf("left %v, error %v", left, err)
	}
}

// TestEncodeReplacesNoOther: the .json beside the vectors replaces that of earlier vectors alone.
func TestEncodeReplacesNoOther(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	read, text := write("de.json", `["Der Zug kommt."]`), write("a.txt", "Das Haus.\n")
	for path, content := range map[string]string{
		read: `["Der Zug kommt."]`, write("other.json", `{"name": "other"}`): `{"name": "other"}`, write("empty.json", `{}`): `{}`,
	} {
		out := strings.TrimSuffix(path, ".json") + ".npy"
		if code := execute(t.Context(), []string{"encode", "--lang", "de", read, text, "--out", out}); code != exitPermanent {
			t.Errorf("%s: exit code %d, want %d", out, code, exitPermanent)
		}
		if is, err := os.ReadFile(path); err != nil || string(is) != content {
			t.Errorf("%s is %q, %v", path, is, err)
		}
	}
	for range 2 {
		must(t, "encode", "--lang", "de", text, "--out", filepath.Join(dir, "a.npy"))
	}
}

// TestEncodeSaysWhatToDo: of text in another encoding, and after a stop, which keeps nothing.
func TestEncodeSaysWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())
	writerInto(t, ".")("latin.txt", "Gr\xfc\xdfe.\n")
	args := []string{"encode", "--lang", "de", "--out", "x.npy", "latin.txt"}
	if _, err := command(t, args...); err == nil || !strings.Contains(err.Error(), "with --encoding") {
		t.Errorf("of text in Latin 1: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	root := newRoot()
	root.SetArgs(append(args, "--encoding", "latin1"))
	if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(program.AfterStop(err), "begins anew") {
		t.Errorf("after a stop: %v", err)
	}
}

// TestAfterAStop: what keeps nothing begins anew, and what keeps its work does what is left.
func TestAfterAStop(t *testing.T) {
	dir := t.TempDir()
	pairs := writerInto(t, dir)("pairs.tsv", "Guten Tag.\tGood day.\n")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for want, calls := range map[string][][]string{
		"begins anew": {
			{"score", pairs, "--src", "de", "--tgt", "en", "--encoder", "use-static"},
			{"align", pairs},
			{"filter", pairs},
		},
		"does what is left": {
			{"run", "--src", "de", "--tgt", "en", "--out", filepath.Join(dir, "mined")},
			{"plan", "--src", "de", "--tgt", "en", "--out", filepath.Join(dir, "planned")},
		},
	} {
		for _, args := range calls {
			root := newRoot()
			root.SetArgs(args)
			if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(program.AfterStop(err), want) {
				t.Errorf("mine %s after a stop: %v: %s", args[0], err, program.AfterStop(err))
			}
		}
	}
}
