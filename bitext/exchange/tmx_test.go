package exchange

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"bitextmine/internal/badinput"
)

const tmx = `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header segtype="sentence"><note>about</note></header><body>
<tu><tuv xml:lang="EN-US"><seg>A &amp; <bpt i="1">&lt;b&gt;<sub>x</sub></bpt>B</seg></tuv><tuv xml:lang="de"><prop type="p">q</prop><seg> A und <hi>B</hi></seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>only one</seg></tuv></tu>
<tu><tuv lang="en"><seg/></tuv><tuv xml:lang="de"><seg>leer<![CDATA[ & <]]></seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>erst</seg></tuv><tuv xml:lang="de"><seg>zweit</seg></tuv><tuv xml:lang="en"><seg>first</seg></tuv></tu>
</body></tmx>`

func TestReadTMX(t *testing.T) {
	dir := put(t, map[string]string{"a.tmx": tmx})
	r, err := Open(inDir(dir, "a.tmx"), TMX, germanEnglish())
	if got, want := records(t, r, err), []string{"A und B|A & B", "malformed", "leer & <|", "erst|first"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// endless reads a beginning, then a part again and again, up to n bytes.
type endless struct {
	begin, part string
	n           int
	at          int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.at >= e.n {
		return 0, io.EOF
	}
	for i := range p {
		if e.at < len(e.begin) {
			p[i] = e.begin[e.at]
		} else {
			p[i] = e.part[(e.at-len(e.begin))%len(e.part)]
		}
		e.at++
	}
	return len(p), nil
}

func tmxOf(text io.Reader, name string) (Reader, error) {
	u, err := newUnits(io.NopCloser(text), text, name)
	if err != nil {
		return nil, err
	}
	return newTMXReader(u, germanEnglish()), nil
}

// TestHugeTMX: whatever grows without end is refused by name, in little memory.
func TestHugeTMX(t *testing.T) {
	unit := `<tmx><body><tu>`
	for name, c := range map[string]struct{ begin, part, says string }{
		"text of a segment":     {unit + `<tuv xml:lang="de"><seg>`, "ab ", "longer than"},
		"variants of a unit":    {unit, `<tuv xml:lang="de"><seg>a</seg></tuv>`, "longer than"},
		"an attribute":          {unit + `<tuv xml:lang="`, "d", "longer than"},
		"attributes":            {unit + `<tuv`, ` a="b"`, "longer than"},
		"a name":                {`<tmx><`, "a", "longer than"},
		"a comment":             {`<tmx><!--`, "a", "longer than"},
		"space before a unit":   {`<tmx>`, " ", "longer than"},
		"elements before units": {`<tmx>`, "<a>", "deep"},
		"elements in a unit":    {unit, "<a>", "deep"},
		"markup in a segment":   {unit + `<tuv xml:lang="de"><seg>`, "<hi>", "deep"},
	} {
		t.Run(name, func(t *testing.T) {
			source := &endless{begin: c.begin, part: c.part, n: 256 << 20}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := tmxOf(source, "huge.tmx")
			if err == nil {
				_, err = r.Next()
			}
			runtime.ReadMemStats(&after)
			refused(t, err, "huge.tmx", "translation unit 1", c.says)
			if source.at > 4*maxUnitBytes {
				t.Errorf("read %d bytes of it", source.at)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64*maxUnitBytes {
				t.Errorf("took %d bytes", took)
			}
		})
	}
}

// TestManyUnits: a file may have any number of units, and of elements between them.
func TestManyUnits(t *testing.T) {
	text := &endless{begin: "<tmx><body>", part: `<tu><tuv xml:lang="de"><seg>eins</seg></tuv><tuv xml:lang="en"><seg>one</seg></tuv></tu><note>x</note>` + "\n", n: 8 * maxUnitBytes}
	r, err := tmxOf(text, "many.tmx")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		rec, err := r.Next()
		if err != nil {
			// It ends in the middle of an element.
			if refused(t, err, "not well-formed"); n < 50000 {
				t.Errorf("%d units", n)
			}
			return
		}
		if rec.Pair != (Pair{"eins", "one"}) || rec.Number != uint64(n+1) {
			t.Fatalf("unit %d is %+v", n+1, rec)
		}
	}
}

func TestTMXRefuses(t *testing.T) {
	dir := put(t, map[string]string{
		"cut.tmx": tmx[:300], "none.tmx": "<tmx/>", "empty.tmx": "", "latin.tmx": `<?xml version="1.0" encoding="latin1"?><tmx/>`,
		"utf16.tmx": "\xff\xfe<\x00t\x00", "bytes.tmx": "<tmx><tu><tuv xml:lang='de'><seg>\xff</seg></tuv></tu></tmx>", "french.tmx": `<tmx><tu><tuv xml:lang="fr"><seg>un</seg></tuv><tuv xml:lang="en-GB"><seg>one</seg></tuv></tu></tmx>`,
		"unsaid.tmx": "<tmx><tu><tuv><seg>eins</seg></tuv></tu></tmx>", "cut.tmx.gz": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc",
	})
	for name, words := range map[string][]string{
		"cut.tmx": {"not well-formed", "mend the file"}, "none.tmx": {"no translation unit"}, "empty.tmx": {"no translation unit"},
		"latin.tmx": {"encoding latin1", "convert it to UTF-8"}, "utf16.tmx": {"UTF-16", "iconv"}, "bytes.tmx": {"not well-formed"},
		"cut.tmx.gz": {"truncated or corrupt"}, "gone.tmx": {"no such file"},
		"french.tmx": {"has units in en-GB, fr and none in de: name its languages (--src, --tgt)"}, "unsaid.tmx": {"has no <tuv> that says its language"},
	} {
		_, err := load(inDir(dir, name), TMX, germanEnglish())
		refused(t, err, append(words, name)...)
	}
}

// TestCompressedTMX: a scored file is written decompressed.
func TestCompressedTMX(t *testing.T) {
	dir := put(t, nil)
	f, err := os.Create(filepath.Join(dir, "a.tmx.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := io.WriteString(z, tmx); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := load(inDir(dir, "a.tmx.gz"), FormatOf("a.tmx.gz"), germanEnglish())
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, b, make([][]string, 4)...); got != tmx {
		t.Errorf("wrote %q", got)
	}
}

func FuzzTMX(f *testing.F) {
	f.Add(tmx)
	f.Add("<tmx><tu><tuv lang='de'><seg>a<ph/></seg></tuv></tu></tmx>")
	f.Add("<tu></tu><tu")
	f.Add(`<?xml version="0"?>0`)
	f.Add(`<tu/><tu><tuv lang="en"><seg>&amp;<x/></seg>`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := load(memory(text), TMX, germanEnglish())
		if err != nil {
			if !badinput.Is(err) {
				t.Fatalf("%v is not about bad input", err)
			}
			return
		}
		if len(b.Sources) != len(b.units) || len(b.Targets) != len(b.units) || len(b.units) == 0 {
			t.Fatalf("%d units, %d sources, %d targets", len(b.units), len(b.Sources), len(b.Targets))
		}
		if got := written(t, b, make([][]string, len(b.units))...); got != text {
			t.Errorf("without scores the file changes: %q", got)
		}
	})
}
