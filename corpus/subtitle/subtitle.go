// Package subtitle reads subtitles, SubRip (SRT) and WebVTT, as texts.
//
// A subtitle is a list of cues. A cue has a number (in WebVTT any id, or none), a line with its times, and its text on
// the lines up to an empty one. Programs often leave the empty line out, or the number.
package subtitle

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus/input"
	"bitextmine/corpus/page"
)

// text is what one speaker says in a cue, or in the cues over which a sentence goes on.
type text struct {
	line      uint64 // line that it begins on, from 1; of a cue without text or times, the cue's first line
	id        string // number or id of its first cue; empty if that has none
	text      []byte
	malformed string // why the cue cannot be read; empty if it can
	excess    int64  // size of a line that is too long; else 0
}

// line is a line of a file, without blanks around it.
type line struct {
	text   []byte
	number uint64
	excess int64
}

// Reader reads the texts of subtitles in constant memory. It may be used by one goroutine.
//
// A line that begins with a dash, a speaker's turn, begins a text of its own. A cue goes on with the sentence of the
// cue before it if that text begins a sentence and does not end one, and the cue begins in lower case.
type Reader struct {
	in    *input.LineReader
	vtt   bool
	ahead []line // lines that were read before their turn
	err   error  // what the lines end with
	ready []text // texts to return; the last may go on in the next cue
	id    string // that of the last cue
	cued  bool   // the lines before were a cue's; in SRT more of its text may follow an empty line
}

// NewReader returns a reader of WebVTT, or of SRT.
func NewReader(in *input.LineReader, vtt bool) *Reader { return &Reader{in: in, vtt: vtt} }

// Next returns the next text, or io.EOF after the last. Its number is the line that it begins on, its document the
// number or id of its cue.
func (r *Reader) Next() (*page.Page, error) {
	for len(r.ready) < 2 {
		if err := r.cue(); errors.Is(err, io.EOF) && len(r.ready) > 0 {
			break
		} else if err != nil {
			return nil, err
		}
	}
	next := r.ready[0]
	r.ready = r.ready[1:]
	p := &page.Page{Number: next.line, Doc: next.id, Text: string(next.text)}
	switch {
	case next.excess > 0:
		p.Skip, p.Detail = page.TooLong, fmt.Sprintf("a cue of %d bytes, at most %d are read", next.excess, r.in.Max)
	case next.malformed != "":
		p.Skip, p.Detail = page.Malformed, next.malformed
	}
	return p, nil
}

// peek returns the n-th of the next lines, from 0.
func (r *Reader) peek(n int) (line, bool) {
	for len(r.ahead) <= n && r.err == nil {
		text, excess, err := r.in.Next()
		if err != nil {
			r.err = err
			break
		}
		r.ahead = append(r.ahead, line{bytes.Clone(bytes.TrimSpace(text)), r.in.Number, excess})
	}
	if len(r.ahead) <= n {
		return line{}, false
	}
	return r.ahead[n], true
}

func (r *Reader) drop() { r.ahead = r.ahead[1:] }

// begins reports whether the next lines are the beginning of a cue: its times, or its number before them.
func (r *Reader) begins() bool {
	first, _ := r.peek(0)
	if timed(first.text) {
		return true
	}
	second, _ := r.peek(1)
	return isNumber(first.text) && timed(second.text)
}

// timesBehind is how many lines are before the times of a cue that begins with an id; 0: none does. Where every second
// line of SRT is empty, one is between.
func (r *Reader) timesBehind() int {
	second, _ := r.peek(1)
	if timed(second.text) {
		return 1
	}
	if third, _ := r.peek(2); !r.vtt && len(second.text) == 0 && second.excess == 0 && timed(third.text) {
		return 2
	}
	return 0
}

// cue reads a cue, or another block of lines, up to the empty line or the cue behind it.
func (r *Reader) cue() error {
	first, ok := r.peek(0)
	if !ok {
		return r.err
	}
	if len(first.text) == 0 && first.excess == 0 {
		r.drop()
		return nil
	}
	if r.vtt && isBlock(first.text) {
		r.block()
		return nil
	}
	of := text{line: first.number}
	behind := r.timesBehind()
	if behind > 0 && !timed(first.text) && (r.vtt || isNumber(first.text)) {
		of.id = string(first.text)
		r.ahead = r.ahead[behind:]
	}
	if times, _ := r.peek(0); timed(times.text) {
		of.malformed = backwards(times.text)
		r.drop()
	} else if r.cued && !r.vtt && behind != 1 && !isNumber(first.text) && !bytes.Contains(first.text, []byte("->")) {
		of.id = r.id
	} else {
		of.malformed = "a cue without times"
	}
	r.id, r.cued = of.id, of.malformed == ""
	var lines []line
	lines, of.excess = r.block()
	r.add(of, lines)
	return nil
}

// block takes lines up to an empty one or the next cue. If they, or one of them, are longer than a line may be, it
// returns their size instead.
func (r *Reader) block() (lines []line, excess int64) {
	size, tooLong := int64(0), false
	for {
		next, ok := r.peek(0)
		if !ok || len(next.text) == 0 && next.excess == 0 || r.begins() {
			break
		}
		r.drop()
		size += next.excess + int64(len(next.text))
		if tooLong = tooLong || next.excess > 0 || size > int64(r.in.Max); !tooLong {
			lines = append(lines, next)
		}
	}
	if tooLong {
		return nil, size
	}
	return lines, 0
}

// add makes the texts of a cue of its lines.
func (r *Reader) add(of text, lines []line) {
	if of.malformed != "" || of.excess > 0 {
		r.ready = append(r.ready, of)
		return
	}
	begun := false
	for _, l := range lines {
		words := r.plain(l.text)
		if len(words) == 0 {
			continue
		}
		if begun && !turns(words) || !begun && r.goesOn(words) {
			last := &r.ready[len(r.ready)-1]
			last.text = append(append(last.text, ' '), words...)
		} else {
			r.ready = append(r.ready, text{line: l.number, id: of.id, text: words})
		}
		begun = true
	}
	if !begun {
		r.ready = append(r.ready, of)
	}
}

// goesOn reports whether a cue that begins with a text is more of the sentence before it. Where whole files are in
// lower case, no text begins a sentence.
func (r *Reader) goesOn(words []byte) bool {
	if len(r.ready) == 0 {
		return false
	}
	last := r.ready[len(r.ready)-1].text
	at := bytes.IndexFunc(last, unicode.IsLetter)
	if at < 0 || len(last)+1+len(words) > r.in.Max {
		return false
	}
	first, _ := utf8.DecodeRune(last[at:])
	end, _ := utf8.DecodeLastRune(bytes.TrimRight(last, `"'»”’)]`))
	next, _ := utf8.DecodeRune(words)
	return !unicode.IsLower(first) && unicode.IsLower(next) && !strings.ContainsRune(".!?…。！？؟।", end)
}

// turns reports whether a line begins with the dash of a speaker's turn, which is no minus and no double dash.
func turns(words []byte) bool {
	dash, size := utf8.DecodeRune(words)
	next, _ := utf8.DecodeRune(words[size:])
	return (dash == '-' || dash == '–' || dash == '—') && next != dash && !unicode.IsDigit(next)
}

var (
	override = regexp.MustCompile(`\{(?:\\[^{}]*|/?[bius])\}`)
	ruby     = regexp.MustCompile(`(?i)<rt>[^<>]*</rt>`)
	srtTag   = regexp.MustCompile(`(?i)</?(?:i|b|u|s|em|strong|font|span|c|v|lang|ruby|rt)(?:[ .][^<>]*)?/?>`)
	vttTag   = regexp.MustCompile(`<[^<>]*>`)
	newLine  = regexp.MustCompile(`(?i)<br */?>|\\[Nnh]`)
)

// plain is a line without tags, in WebVTT with the characters that entities stand for.
func (r *Reader) plain(text []byte) []byte {
	if bytes.ContainsAny(text, `<{\`) {
		text = newLine.ReplaceAll(override.ReplaceAll(ruby.ReplaceAll(text, nil), nil), []byte(" "))
		tag := srtTag
		if r.vtt {
			tag = vttTag
		}
		text = tag.ReplaceAll(text, nil)
	}
	if r.vtt && bytes.IndexByte(text, '&') >= 0 {
		text = []byte(html.UnescapeString(string(text)))
	}
	return bytes.TrimSpace(text)
}

// times is a line with the times of a cue, and settings behind them.
var times = regexp.MustCompile(`^((?:\d+:)?\d{1,2}:\d{1,2}(?:[,.]\d{1,3})?)\s*-->\s*((?:\d+:)?\d{1,2}:\d{1,2}(?:[,.]\d{1,3})?)(?:\s.*)?$`)

func timed(text []byte) bool { return bytes.Contains(text, []byte("-->")) && times.Match(text) }

// backwards says that a cue ends before it begins; empty: it does not.
func backwards(text []byte) string {
	found := times.FindSubmatch(text)
	if begin, end := milliseconds(found[1]), milliseconds(found[2]); end < begin {
		return "a cue that ends before it begins"
	}
	return ""
}

// milliseconds is a time, which may be without hours.
func milliseconds(text []byte) int64 {
	whole, fraction, _ := strings.Cut(strings.ReplaceAll(string(text), ",", "."), ".")
	seconds := int64(0)
	for part := range strings.SplitSeq(whole, ":") {
		seconds = seconds*60 + number(part)
	}
	return seconds*1000 + number((fraction + "000")[:3])
}

// number is one of digits, of which those behind the twelfth count nothing.
func number(digits string) (n int64) {
	for i := range min(len(digits), 12) {
		n = n*10 + int64(digits[i]-'0')
	}
	return n
}

func isNumber(text []byte) bool {
	return len(text) > 0 && bytes.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// isBlock reports whether a line begins a block of WebVTT that has no cue.
func isBlock(text []byte) bool {
	for _, name := range []string{"WEBVTT", "NOTE", "STYLE", "REGION"} {
		if rest, ok := bytes.CutPrefix(text, []byte(name)); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
			return true
		}
	}
	return false
}

// LooksSRT reports whether a file begins as SRT does: with a cue's number and times, or with its times alone.
func LooksSRT(head []byte) bool {
	first, rest := firstLine(head)
	if timed(first) {
		return true
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	return isNumber(first) && timed(bytes.TrimSpace(second))
}

// HasCue reports whether the beginning of a file has the times of a cue, before which other text may stand.
func HasCue(head []byte) bool {
	for l := range bytes.Lines(head) {
		if timed(bytes.TrimSpace(l)) {
			return true
		}
	}
	return false
}

// LooksVTT reports whether a file begins as WebVTT does, and has a cue.
func LooksVTT(head []byte) bool {
	first, rest := firstLine(head)
	return isBlock(first) && bytes.HasPrefix(first, []byte("WEBVTT")) && HasCue(rest)
}

// HeadVTT reports whether a file begins with the header of WebVTT alone on its line. Such a file has no text where it
// has no cue.
func HeadVTT(head []byte) bool {
	first, rest := firstLine(head)
	next, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(first) == "WEBVTT" && len(bytes.TrimSpace(next)) == 0
}

// firstLine is the first line of a text that is not empty, and what follows it.
func firstLine(head []byte) (first, rest []byte) {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, input.UTF8BOM), " \t\r\n")
	first, rest, _ = bytes.Cut(head, []byte("\n"))
	return bytes.TrimSpace(first), rest
}
