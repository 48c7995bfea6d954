package page

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus/input"
)

// LooksMan reports whether a file begins as sources of manual pages do: after comments, with .TH (man) or .Dd (mdoc).
func LooksMan(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0, bytes.HasPrefix(line, []byte(`.\"`)), bytes.HasPrefix(line, []byte(`'\"`)), bytes.HasPrefix(line, []byte(".ie")),
			bytes.HasPrefix(line, []byte(".el")), bytes.HasPrefix(line, []byte(".if")), bytes.HasPrefix(line, []byte(".ds")), bytes.HasPrefix(line, []byte(".de")),
			bytes.HasPrefix(line, []byte(".nr")), bytes.HasPrefix(line, []byte(".tr")), bytes.Equal(line, []byte(".")), bytes.HasPrefix(line, []byte(".so")):
			continue
		}
		return bytes.HasPrefix(line, []byte(".TH ")) || bytes.HasPrefix(line, []byte(".Dd "))
	}
	return false
}

// breaking are requests that end a paragraph; those that are true have text of their own in their arguments.
var breaking = map[string]bool{
	"SH": true, "SS": true, "Sh": true, "Ss": true, "It": true, "PP": false, "P": false, "LP": false, "TP": false, "IP": true, "HP": false,
	"Pp": false, "br": false, "sp": false, "TQ": false, "Bl": false, "El": false, "Bd": false, "Ed": false, "RS": false, "RE": false,
	"nf": false, "fi": false, "EX": false, "EE": false, "in": false, "ce": false, "SY": true, "YS": false, "Lp": false, "D1": true, "Dl": true,
}

// fonts are requests whose arguments are text in a paragraph; those that are true join them without spaces.
var fonts = map[string]bool{
	"B": false, "I": false, "R": false, "SM": false, "SB": false, "BR": true, "RB": true, "BI": true, "IB": true, "IR": true, "RI": true,
	"Nm": false, "Nd": false, "Fl": false, "Ar": false, "Op": false, "Xr": false, "Pa": false, "Em": false, "Sy": false, "Li": false, "Ql": false,
	"Dq": false, "Sq": false, "Ev": false, "Va": false, "Vt": false, "Fn": false, "Fa": false, "Ft": false, "Cm": false, "Ic": false, "Dv": false,
	"Er": false, "Lk": false, "Mt": false, "An": false, "Pq": false, "Bq": false, "Qq": false, "Ad": false, "Tn": false, "No": false, "MR": true,
}

// backslash stands for one that is text until escapes are removed. No text has this character.
const backslash = "\ufdd0"

var (
	special = strings.NewReplacer(`\-`, "-", `\ `, " ", `\~`, " ", `\&`, "", `\e`, backslash, `\|`, "", `\^`, "", `\:`, "", `\/`, "", `\,`, "", `\%`, "", `\c`, "",
		`\(bu`, "•", `\(em`, "—", `\(en`, "–", `\(co`, "©", `\(lq`, "“", `\(rq`, "”", `\(oq`, "‘", `\(cq`, "’", `\(aq`, "'", `\(dq`, `"`, `\(ti`, "~",
		`\(ha`, "^", `\(rs`, backslash, `\(ga`, "`", `\[aq]`, "'", `\[dq]`, `"`, `\[lq]`, "“", `\[rq]`, "”", `\[em]`, "—", `\[en]`, "–", `\[bu]`, "•", `\[rs]`, backslash,
		`\[ti]`, "~", `\[ha]`, "^", `\[ga]`, "`", `\(+-`, "±", `\(->`, "→", `\(mc`, "µ", `\(mu`, "×", `\'`, "´", "\\`", "`", `\0`, " ")
	escapes = regexp.MustCompile(`\\f(?:\[[^\]]*\]|\(..|.)|\\s[-+]?\d{1,2}|\\[mM](?:\[[^\]]*\]|\(..|.)|\\\*(?:\[[^\]]*\]|\(..|.)|\\[hvwX]'[^']*'|\\[dup]|\\\[[^\]]*\]|\\\(..|\\".*$`)
)

// fromMan is the text of a manual page.
func fromMan(data []byte) *Page {
	p := &Page{}
	text, name, ok := decode(data, "")
	if !ok {
		p.Skip, p.Detail = NotUTF8, "its characters are in no known encoding"
		return p
	}
	p.Columns = map[string]string{"charset": name}
	l := &lines{}
	r := roff{lines: l, page: p}
	for line := range strings.Lines(text) {
		r.add(strings.TrimRight(line, "\r\n"))
	}
	l.end()
	if p.Text = l.out.String(); p.Text == "" {
		p.Skip = Empty
	}
	return p
}

// roff reads the source of a page line by line.
type roff struct {
	*lines
	page *Page
	pre  bool   // lines stay lines
	skip string // a definition or a table, until the request that ends it
}

func (r *roff) add(line string) {
	if r.skip != "" {
		if strings.TrimSpace(line) == r.skip {
			r.skip = ""
		}
		return
	}
	if line == "" {
		r.end()
		return
	}
	if line[0] != '.' && line[0] != '\'' {
		r.text(line)
		return
	}
	request, rest, _ := strings.Cut(strings.TrimLeft(line[1:], " \t"), " ")
	switch request {
	case "de", "ig", "am":
		r.skip = ".."
		return
	case "TS":
		r.skip = ".TE"
		return
	case "TH":
		if fields := arguments(rest); len(fields) > 0 {
			r.page.Columns["title"] = plain(fields[0])
		}
		return
	case "nf", "EX", "Bd":
		r.pre = true
	case "fi", "EE", "Ed":
		r.pre = false
	}
	if has, ok := breaking[request]; ok {
		r.end()
		if has {
			r.text(strings.Join(arguments(rest), " "))
			if request != "IP" && request != "It" {
				r.end()
			}
		}
		return
	}
	if tight, ok := fonts[request]; ok {
		between := " "
		if tight {
			between = ""
		}
		r.text(strings.Join(arguments(rest), between))
	}
}

func (r *roff) text(line string) {
	r.line.WriteString(plain(line))
	r.line.WriteByte(' ')
	if r.pre {
		r.end()
	}
}

// plain is a line without escapes.
func plain(line string) string {
	return strings.ReplaceAll(escapes.ReplaceAllString(special.Replace(line), ""), backslash, `\`)
}

// arguments splits a request's arguments: words, or texts in quotation marks.
func arguments(rest string) (fields []string) {
	for rest = strings.TrimLeft(rest, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		var field string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			field, rest, _ = strings.Cut(quoted, `"`)
		} else {
			at := strings.IndexAny(rest, " \t")
			for at > 0 && rest[at-1] == '\\' { // a space that does not end a word
				next := strings.IndexAny(rest[at+1:], " \t")
				if next < 0 {
					at = -1
					break
				}
				at += 1 + next
			}
			if at < 0 {
				at = len(rest)
			}
			field, rest = rest[:at], rest[at:]
		}
		fields = append(fields, field)
	}
	return fields
}

// POColumns are the columns of a catalogue of messages. text is the translation.
var POColumns = []string{"text", "msgid", "msgstr", "msgctxt"}

// catalogue reads a catalogue of messages (gettext): each message with a translation that nobody doubts is a page. Its
// text is the translation, or the original where the column is msgid. Messages without translation and those that are
// marked fuzzy are empty.
type catalogue struct {
	in      *input.LineReader
	column  string
	message poEntry
	last    bool
}

// poEntry is a message.
type poEntry struct {
	line              uint64
	id, text, context []byte
	fuzzy, begun      bool
	translated        bool    // its translation begins, which ends what belongs to it
	field             *[]byte // the next line continues it
	malformed         bool
	notUTF8           bool // unquoting would put replacement characters in the place of such bytes
	excess            int64
}

// LooksPO reports whether a file begins as a catalogue does: with a message without original.
func LooksPO(head []byte) bool {
	return bytes.Contains(head, []byte("msgid \"\"\nmsgstr \"\"\n")) || bytes.Contains(head, []byte("msgid \"\"\r\nmsgstr \"\"\r\n"))
}

// NewPO reads the messages of a catalogue, with a text of one of POColumns.
func NewPO(in *input.LineReader, column string) Reader { return &catalogue{in: in, column: column} }

func (d *catalogue) Next() (*Page, error) {
	for !d.last {
		line, excess, err := d.in.Next()
		if err != nil {
			if d.last = true; !errors.Is(err, io.EOF) || !d.message.begun {
				return nil, err
			}
			if p := d.end(); p != nil {
				return p, nil
			}
			return nil, err
		}
		if d.message.excess = max(d.message.excess, excess); excess > 0 {
			continue
		}
		line = bytes.TrimSpace(line)
		var p *Page
		if d.ends(line) {
			p = d.end()
		}
		d.add(line)
		if p != nil {
			return p, nil
		}
	}
	return nil, io.EOF
}

// ends reports whether a message ends before a line.
func (d *catalogue) ends(line []byte) bool {
	e := &d.message
	switch {
	case !e.begun:
		return false
	case len(line) == 0:
		return true
	}
	keyword, _ := poKeyword(line)
	return keyword == "msgctxt" || e.translated && (line[0] == '#' || keyword == "msgid")
}

// poKeyword divides a line into its keyword and the text behind it, which need no blank between them.
func poKeyword(line []byte) (keyword string, text []byte) {
	at := bytes.IndexAny(line, " \t\"")
	if at < 0 {
		at = len(line)
	}
	return string(line[:at]), bytes.TrimSpace(line[at:])
}

// add reads a line of a message.
func (d *catalogue) add(line []byte) {
	e := &d.message
	if bytes.HasPrefix(line, []byte("#~")) { // a message that is no longer used, with the mark before it
		e.fuzzy = e.fuzzy && e.begun
		return
	}
	if bytes.HasPrefix(line, []byte("#,")) {
		e.fuzzy = e.fuzzy || bytes.Contains(line, []byte("fuzzy"))
		return
	}
	if len(line) == 0 || line[0] == '#' {
		return
	}
	if !e.begun {
		e.begun, e.line = true, d.in.Number
	}
	e.notUTF8 = e.notUTF8 || !utf8.Valid(line)
	keyword, value := poKeyword(line)
	switch {
	case keyword == "": // the text goes on
	case keyword == "msgid":
		e.field = &e.id
	case keyword == "msgstr", keyword == "msgstr[0]":
		e.field, e.translated = &e.text, true
	case keyword == "msgctxt":
		e.field = &e.context
	case keyword == "msgid_plural":
		e.field = new([]byte) // the first form stands for all
	case strings.HasPrefix(keyword, "msgstr["):
		e.field, e.translated = new([]byte), true
	default:
		e.malformed = true
		return
	}
	text, err := strconv.Unquote(string(value))
	if err != nil || e.field == nil {
		e.malformed = true
		return
	}
	if over := len(*e.field) + len(text) - d.in.Max; over > 0 { // no text that is read as a line may be longer
		e.excess = max(e.excess, int64(over))
		return
	}
	*e.field = append(*e.field, text...)
}

// end makes a page of the message that ended; nil: it is the catalogue's header, without original.
func (d *catalogue) end() *Page {
	e := d.message
	d.message = poEntry{}
	text := string(e.text)
	p := &Page{Number: e.line, Columns: map[string]string{"text": text, "msgstr": text, "msgid": string(e.id), "msgctxt": string(e.context)}}
	switch {
	case e.excess > 0:
		p.Skip, p.Detail = TooLong, "the message is too long"
	case e.malformed:
		p.Skip, p.Detail = Malformed, "not a message of a catalogue"
	case len(e.id) == 0 && len(e.context) == 0:
		return nil
	case e.fuzzy, len(e.text) == 0:
		p.Skip, p.Detail = Empty, "without a translation, or with one in doubt"
	case e.notUTF8, !utf8.Valid(e.id), !utf8.Valid(e.text): // written as such, or as escapes
		p.Skip, p.Detail = NotUTF8, "the message is not UTF-8: convert the catalogue by msgconv -t UTF-8"
	default:
		p.Text = p.Columns[d.column]
	}
	return p
}
