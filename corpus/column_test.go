package corpus

import (
	"os"
	"path/filepath"
	"testing"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// TestMissingColumnNamesItsFlag: the message lists the columns there are and the flags that name one.
func TestMissingColumnNamesItsFlag(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		change        func(*Options)
		want          string
	}{
		"text of TSV": {"a.tsv", "id\tbody\n1\tEins\n", func(*Options) {},
			`: there is no column "text"; its columns are ["id" "body"]; name one of them with --text-column, for one side alone with --src-text-column or --tgt-text-column`},
		"documents of TSV": {"a.tsv", "id\ttext\n1\tEins\n", func(o *Options) { o.DocColumn = "doc" },
			`: there is no column "doc"; its columns are ["id" "text"]; name one of them with --doc-column, for one side alone with --src-doc-column or --tgt-doc-column`},
		"URLs of JSONL": {"a.jsonl", `{"text":"Eins"}` + "\n", func(o *Options) { o.URLColumn = "url" },
			`: there is no column "url"; its columns are ["text"]; name one of them with --url-column, for one side alone with --src-url-column or --tgt-url-column`},
		"text of JSONL": {"a.jsonl", `{"body":"Eins"}` + "\n", func(*Options) {},
			`: there is no column "text"; its columns are ["body"]; name one of them with --text-column, for one side alone with --src-text-column or --tgt-text-column`},
		"text of TSV without flags": {"a.tsv", "id\tbody\n1\tEins\n", func(o *Options) { o.ColumnFlags = NoFlags },
			`: there is no column "text"; its columns are ["id" "body"]; rename one of them to "text" in the file, or give a .txt file with a sentence a line`},
		"text of TSV with flags of no side": {"a.tsv", "id\tbody\n1\tEins\n", func(o *Options) { o.ColumnFlags = OwnFlags },
			`: there is no column "text"; its columns are ["id" "body"]; name one of them with --text-column`},
		"TSV without a header": {"a.tsv", "de-1\tDort gewannen sie.\n", func(*Options) {},
			`: there is no column "text"; its columns are ["de-1" "Dort gewannen sie."]; they look like a record, so the file seems to have no header: ` +
				`add a line with the names of its columns, or give --format bucc, which reads id<TAB>sentence`},
		"CSV without a header": {"a.csv", "1,Noch ein Satz ohne Punkt am,x\n", func(*Options) {},
			`: there is no column "text"; its columns are ["1" "Noch ein Satz ohne Punkt am" "x"]; they look like a record, so the file seems to have no header: ` +
				`add a line with the names of its columns`},
		"language of CSV": {"a.csv", "id,text\n1,Eins\n", func(o *Options) { o.MetaColumns, o.LangColumn = "lang", "lang" },
			`: there is no column "lang"; its columns are ["id" "text"]; name one of them with --lang-column`},
	} {
		t.Run(name, func(t *testing.T) {
			opts := DefaultOptions()
			c.change(&opts)
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, err := range Sentences(input.File{Path: path}, opts) {
				if want := path + ":1" + c.want; !badinput.Is(err) || err.Error() != want {
					t.Errorf("got  %v\nwant %s", err, want)
				}
				return
			}
			t.Error("the text was read")
		})
	}
}
