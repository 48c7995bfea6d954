package exchange

import (
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

const (
	xliff1 = `<?xml version="1.0"?><xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">
<file original="a.docx" source-language="de-DE" target-language="en-US" datatype="x"><header><note>n</note></header><body><group>
<trans-unit id="1"><source>Ein <g id="1">fettes</g> Wort<ph id="2">{1}</ph>.</source><seg-source><mrk mtype="seg" mid="1">x</mrk></seg-source><target state="translated">A <g id="1">bold</g> word<ph id="2">{1}</ph>.</target><alt-trans><source>alt</source><target>old</target></alt-trans></trans-unit>
<trans-unit id="2"><source>Fehlt.</source></trans-unit>
<trans-unit id="3"><source>Neu.</source><target state="needs-translation">Neu.</target></trans-unit>
<trans-unit id="4"><target>Yes &amp; no.</target><source>Ja &amp; nein.</source></trans-unit>
</group></body></file></xliff>`
	xliff2 = `<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="de" trgLang="en"><file id="f">
<unit id="1"><notes><note>source</note></notes><segment><source>Eins <pc id="1">zwei</pc><ph id="2"/>.</source><target>One <pc id="1">two</pc><ph id="2"/>.</target></segment>
<ignorable><source> </source><target> </target></ignorable><segment state="initial"><source>Drei.</source><target>Three.</target></segment></unit>
</file></xliff>`
)

// TestReadXLIFF: units with a translation are pairs, in the languages that are wanted, whichever is the file's source.
func TestReadXLIFF(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		opts Options
		want []string
	}{
		"1.2":                 {xliff1, germanEnglish(), []string{"Ein fettes Wort.|A bold word.", "untranslated", "untranslated", "Ja & nein.|Yes & no."}},
		"1.2 from the target": {xliff1, Options{SourceLanguage: "en", TargetLanguage: "de"}, []string{"A bold word.|Ein fettes Wort.", "untranslated", "untranslated", "Yes & no.|Ja & nein."}},
		"2":                   {xliff2, germanEnglish(), []string{"Eins zwei.|One two.", "Drei.|Three."}},
		"2 in any languages":  {xliff2, Options{}, []string{"Eins zwei.|One two.", "Drei.|Three."}},
		"2 that names one":    {strings.Replace(xliff2, ` trgLang="en"`, "", 1), germanEnglish(), []string{"Eins zwei.|One two.", "Drei.|Three."}},
		"2 of the target":     {strings.Replace(xliff2, ` trgLang="en"`, "", 1), Options{SourceLanguage: "fr", TargetLanguage: "de"}, []string{"One two.|Eins zwei.", "Three.|Drei."}},
		"one file of two":     {strings.TrimSuffix(xliff1, "</xliff>") + `<file source-language="de" target-language="fr"><trans-unit><source>Ja.</source><target>Oui.</target></trans-unit></file></xliff>`, germanEnglish(), []string{"Ein fettes Wort.|A bold word.", "untranslated", "untranslated", "Ja & nein.|Yes & no."}},
		"segments": {`<xliff><file source-language="de" target-language="en"><header><reference><internal-file form="base64">` + strings.Repeat("PHVu\n", 1<<19) + `</internal-file></reference></header>` +
			`<trans-unit><source>A. B. C.</source><seg-source><mrk mtype="seg" mid="1">A.</mrk> <mrk mtype="seg" mid="2">B<mrk mtype="x-sdl-deleted">x</mrk>.</mrk> <mrk mtype="seg" mid="3">C.</mrk></seg-source>` +
			`<target><mrk mtype="seg" mid="2">b.</mrk> <mrk mtype="seg" mid="1">a.</mrk> <mrk mtype="seg" mid="3"/></target></trans-unit></file></xliff>`, germanEnglish(), []string{"A.|a.", "B.|b.", "untranslated"}},
		"an original outside":     {`<xliff srcLang="de" trgLang="en"><internal-file/><segment><source>A</source><target>a</target></segment></xliff>`, germanEnglish(), []string{"A|a"}},
		"one language alone":      {xliff2, Options{TargetLanguage: "de"}, []string{"One two.|Eins zwei.", "Three.|Drei."}},
		"languages with variants": {strings.Replace(xliff2, `"de"`, `"de-AT"`, 1), germanEnglish(), []string{"Eins zwei.|One two.", "Drei.|Three."}},
	} {
		r, err := Open(memory(c.text), XLIFF, c.opts)
		if got := records(t, r, err); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for text, says := range map[string]string{
		strings.Replace(xliff1, "en-US", "fr-FR", 1): `from "de-DE" to "fr-FR"`,
		strings.Replace(xliff2, `"de"`, `"xx-?"`, 1): `from "xx-?" to "en"`,
		`<xliff version="2.0"><unit/></xliff>`:       "holds no unit",
		"<xliff><trans-unit>":                        "not well-formed",
	} {
		r, err := Open(memory(text), XLIFF, germanEnglish())
		if err == nil {
			_, err = r.Next()
		}
		refused(t, err, says)
	}
}

func FuzzXLIFF(f *testing.F) {
	f.Add(xliff1)
	f.Add(xliff2)
	f.Add("<xliff><segment><source/><target>a<ph/></target><target>b</segment>")
	f.Fuzz(func(t *testing.T, text string) {
		w := &whole{}
		r, err := Open(memory(text), XLIFF, germanEnglish())
		if err == nil {
			err = (&File{}).read(r, w.add)
		}
		if err != nil && !badinput.Is(err) {
			t.Fatalf("%v is not about bad input", err)
		}
		if err == nil && (len(w.Targets) == 0 || len(w.Sources) != len(w.Targets)) {
			t.Errorf("%q, %q", w.Sources, w.Targets)
		}
	})
}
