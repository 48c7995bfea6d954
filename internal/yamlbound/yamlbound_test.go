package yamlbound

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
)

// hostile are files that decoders would take minutes for, or gigabytes.
func hostile() map[string]string {
	var anchors, block, laughs strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&anchors, "k%d: &a%d x\n", i, i)
	}
	for i := range 2_000 {
		block.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	laughs.WriteString("a0: &a0 [x]\n")
	for i := range 200 {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	}
	return map[string]string{
		"anchors": anchors.String(), "aliases": "a: &a x\nb: [" + strings.Repeat("*a,", 200_000) + "]\n",
		"maps": strings.Repeat("{a: ", 3_000) + "1" + strings.Repeat("}", 3_000), "lists": strings.Repeat("[", 100_000),
		"closed lists": strings.Repeat("[", 3_000) + strings.Repeat("]", 3_000),
		"indents":      block.String(), "laughs": laughs.String(), "length": strings.Repeat("a: b\n", 1<<20),
	}
}

func TestHostileYAML(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			_, err := Read(strings.NewReader(text), "some.yaml")
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("it takes %v", took)
			}
			if name == "lists" { // the decoder refuses it
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !badinput.Is(err) || !strings.Contains(err.Error(), "some.yaml ") {
				t.Errorf("error %v", err)
			}
		})
	}
	for _, text := range []string{"", "a: [1, 2, {b: c}]\n", "- : :", strings.Repeat("a: b\n", 20), "files: [" + strings.Repeat("x.txt, ", 10_000) + "]"} {
		if data, err := Read(strings.NewReader(text), "x"); err != nil || string(data) != text {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

func TestDirectory(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }() // nothing was read
	if _, err := Read(dir, "settings"); !badinput.Is(err) || !strings.Contains(err.Error(), "settings is a directory") {
		t.Errorf("error %v", err)
	}
}

func TestOneDocument(t *testing.T) {
	for text, ok := range map[string]bool{
		"---\na: 1\n": true, "a: 1\n---\n": true, "a: 1\n...\n": true, "a: 1\n---\nb: 2\n": false, "a: 1\n---\nb: [\n": false,
	} {
		if err := Check([]byte(text), "some.yaml"); (err == nil) != ok || err != nil && !badinput.Is(err) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("a: &a [x]\nb: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := Check(data, "some.yaml"); err != nil && !badinput.Is(err) {
			t.Error(err)
		}
	})
}
