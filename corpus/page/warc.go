package page

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"runtime"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

const (
	// batchBytes is how many bytes of pages are read ahead, so that several are parsed at once.
	batchBytes = 32 << 20
	// maxHeader is the size of a record's header, and of that of the server's answer in it.
	maxHeader = 64 << 10
)

// WARC reads the pages of a web archive: responses and resources, and in WET files their text. Other records are passed
// over. A record of more than MaxBytes is counted and never stored.
type WARC struct {
	in      *bufio.Reader
	name    string
	salvage bool
	version string // line that begins the next record, if it was read already
	number  uint64 // records begun
	queue   []*Page
	err     error // returned when queue is empty
}

// NewWARC reads an archive that is decompressed. With salvage what is damaged is a page with that reason, and reading
// goes on behind it; otherwise it is an error.
func NewWARC(in *bufio.Reader, name string, salvage bool) *WARC {
	return &WARC{in: in, name: name, salvage: salvage}
}

// LooksWARC reports whether a file begins as archives do.
func LooksWARC(head []byte) bool {
	return bytes.HasPrefix(head, []byte("WARC/1.")) || bytes.HasPrefix(head, []byte("WARC/0."))
}

// Next returns the next page.
func (w *WARC) Next() (*Page, error) {
	for len(w.queue) == 0 {
		if w.err != nil {
			return nil, w.err
		}
		w.fill()
	}
	p := w.queue[0]
	w.queue = w.queue[1:]
	return p, nil
}

// fill reads records ahead and parses their pages.
func (w *WARC) fill() {
	var records []*record
	for bytes := 0; bytes < batchBytes && len(records) < 8*runtime.GOMAXPROCS(0); {
		r, err := w.record()
		if err != nil {
			w.err = err
			break
		}
		if r != nil {
			records, bytes = append(records, r), bytes+len(r.block)
		}
	}
	w.queue = make([]*Page, len(records))
	group, _ := errgroup.WithContext(context.Background())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range records {
		group.Go(func() error {
			w.queue[i] = r.parse()
			return nil
		})
	}
	_ = group.Wait() // none returns an error
}

// record is a record that has a page.
type record struct {
	header textproto.MIMEHeader
	block  []byte
	page   *Page // already known, with a reason why it is passed over
	number uint64
}

// record reads the next record. It is nil if that one has no page. io.EOF follows the last.
func (w *WARC) record() (*record, error) {
	if err := w.begin(); err != nil {
		return w.damaged(err)
	}
	w.number++
	header, err := w.header()
	if err != nil {
		return w.damaged(err)
	}
	size, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return w.damaged(errNoLength)
	}
	kind := strings.ToLower(header.Get("Warc-Type"))
	wanted := kind == "response" || kind == "resource" || kind == "conversion"
	if !wanted || size > MaxBytes+maxHeader {
		if err := w.discard(size); err != nil {
			return w.damaged(err)
		}
		if !wanted {
			return nil, nil
		}
		return &record{page: &Page{Number: w.number, Skip: TooLong, Detail: fmt.Sprintf("%d bytes, at most %d are read", size, MaxBytes)}}, nil
	}
	var block bytes.Buffer // grows with what is there, whatever the header claims
	if n, err := io.CopyN(&block, w.in, size); n < size {
		return w.damaged(short(err))
	}
	return &record{header: header, block: block.Bytes(), number: w.number}, nil
}

var (
	errNoRecord = errors.New("no record begins where one should")
	errNoLength = errors.New("its header has no length")
	errHeader   = errors.New("its header is malformed")
)

func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (w *WARC) discard(n int64) error {
	if done, err := io.CopyN(io.Discard, w.in, n); done < n {
		return short(err)
	}
	return nil
}

// begin reads to the line that begins a record.
func (w *WARC) begin() error {
	for w.version == "" {
		line, err := w.in.ReadSlice('\n')
		switch {
		case len(bytes.TrimSpace(line)) > 0 && !LooksWARC(line):
			return errNoRecord
		case err != nil && (!errors.Is(err, io.EOF) || len(bytes.TrimSpace(line)) > 0):
			return short(err)
		case err != nil:
			return err
		}
		w.version = string(bytes.TrimSpace(line))
	}
	w.version = ""
	return nil
}

// header reads the fields of a record.
func (w *WARC) header() (textproto.MIMEHeader, error) { return fields(w.in) }

// fields reads the fields of a record or of an answer to the empty line behind them. What is no field is passed over,
// and what is folded is joined. With an error it returns those before.
func fields(in *bufio.Reader) (textproto.MIMEHeader, error) {
	h, last := textproto.MIMEHeader{}, ""
	for size := 0; ; {
		line, err := in.ReadSlice('\n')
		if size += len(line); errors.Is(err, bufio.ErrBufferFull) || size > maxHeader {
			return h, errHeader
		}
		if err != nil {
			return h, short(err)
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			return h, nil
		}
		if line[0] == ' ' || line[0] == '\t' {
			if values := h[last]; len(values) > 0 {
				values[len(values)-1] += " " + text
			}
			continue
		}
		key, value, found := strings.Cut(text, ":")
		if found {
			last = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(key))
			h[last] = append(h[last], strings.TrimSpace(value))
		}
	}
}

// damaged ends the file, or passes over what is damaged and finds the record behind it.
func (w *WARC) damaged(err error) (*record, error) {
	var damage *input.Damage
	ours := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errNoRecord) || errors.Is(err, errNoLength) || errors.Is(err, errHeader)
	switch {
	case !ours && !errors.As(err, &damage) && badinput.Is(err): // the compression is damaged
		return nil, badinput.Errorf("%w, or have the rest of the archive read with --on-bad-file skip", err)
	case !ours && damage == nil:
		return nil, err
	case !w.salvage:
		return nil, cutOff(w.name, max(w.number, 1), err)
	}
	r := &record{page: &Page{Number: max(w.number, 1), Skip: Damaged, Detail: err.Error()}}
	for damage == nil {
		line, err := w.in.ReadSlice('\n')
		if LooksWARC(line) {
			w.version = string(bytes.TrimSpace(line))
			break
		}
		if errors.As(err, &damage) || err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break // the next record tells
		}
	}
	return r, nil
}

// parse makes the page of a record.
func (r *record) parse() *Page {
	if r.page != nil {
		return r.page
	}
	address := strings.Trim(r.header.Get("Warc-Target-Uri"), "<>")
	kind, body := r.header.Get("Content-Type"), r.block
	var owner textproto.MIMEHeader // what the server says for the owner
	if strings.HasPrefix(strings.ToLower(kind), "application/http") {
		answer, err := parseAnswer(r.block)
		if err != nil {
			return &Page{Number: r.number, URL: address, Skip: Malformed, Detail: err.Error()}
		}
		if answer.status != http.StatusOK && answer.status != http.StatusNonAuthoritativeInfo {
			return &Page{Number: r.number, URL: address, Skip: Empty, Detail: fmt.Sprintf("status %d", answer.status)}
		}
		if len(answer.body) > MaxBytes {
			return &Page{Number: r.number, URL: address, Skip: TooLong, Detail: "more than 16 MiB after decompression"}
		}
		kind, body, owner = answer.header.Get("Content-Type"), answer.body, answer.header
	}
	var p *Page
	switch plain := strings.ToLower(kind); {
	case strings.Contains(plain, "html"), kind == "" && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		p = fromHTML(body, kind, address)
	case strings.HasPrefix(plain, "text/plain"):
		p = fromText(body, kind, address)
		if p.Columns != nil {
			p.Columns["lang"] = r.header.Get("Warc-Identified-Content-Language")
		}
	default:
		p = &Page{URL: address, Skip: Empty, Detail: fmt.Sprintf("%.100s is no page", kind)}
	}
	if p.Columns != nil {
		m := marker{columns: p.Columns}
		m.robots(strings.Join(owner.Values("X-Robots-Tag"), ","))
		m.reservation(owner.Get("Tdm-Reservation"))
	}
	p.Number, p.Doc = r.number, address
	return p
}

// answer is a server's.
type answer struct {
	status int
	header textproto.MIMEHeader
	body   []byte
}

// parseAnswer reads an answer of HTTP. Its length is the record's, because archives keep the length
// before decompression.
func parseAnswer(block []byte) (*answer, error) {
	from := bufio.NewReaderSize(bytes.NewReader(block), min(len(block), maxHeader))
	status, err := from.ReadSlice('\n')
	words := strings.Fields(string(status))
	if err != nil && !errors.Is(err, io.EOF) || len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/") {
		return nil, errors.New("the record holds no answer of a server")
	}
	a := &answer{}
	if a.status, err = strconv.Atoi(words[1]); err != nil {
		return nil, fmt.Errorf("the server's status is %.20q", words[1])
	}
	if a.header, err = fields(from); errors.Is(err, errHeader) {
		return nil, errors.New("the header of the server's answer is malformed")
	}
	body, _ := io.ReadAll(from) // it is in memory, so this cannot fail
	if strings.Contains(strings.ToLower(a.header.Get("Transfer-Encoding")), "chunked") {
		whole, err := limited(httputil.NewChunkedReader(bytes.NewReader(body)))
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) && len(whole) > 0 { // the second is cut off
			body = whole // else it was put together by the crawler
		}
	}
	a.body, err = decompressed(body, strings.ToLower(a.header.Get("Content-Encoding")))
	return a, err
}

func limited(from io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(from, MaxBytes+1)) }

// decompressed undoes the compression that a server says. A body that is text as it stands was decompressed by the
// crawler.
func decompressed(body []byte, encoding string) ([]byte, error) {
	whole, err := uncompress(body, encoding)
	switch {
	case err == nil, len(whole) > 0 && isText(whole): // the second is cut off
		return whole, nil
	case isText(body):
		return body, nil
	}
	return nil, fmt.Errorf("its compression (%.20q) cannot be undone: %w", encoding, err)
}

func isText(body []byte) bool { return strings.HasPrefix(http.DetectContentType(body), "text/") }

func uncompress(body []byte, encoding string) ([]byte, error) {
	var from io.Reader
	var err error
	switch {
	case encoding == "" || encoding == "identity":
		return body, nil
	case strings.Contains(encoding, "gzip"):
		from, err = gzip.NewReader(bytes.NewReader(body))
	case strings.Contains(encoding, "deflate"):
		if from, err = zlib.NewReader(bytes.NewReader(body)); err != nil { // many servers leave zlib's header out
			from, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	case strings.Contains(encoding, "br"):
		from = brotli.NewReader(bytes.NewReader(body))
	case strings.Contains(encoding, "zstd"):
		var d *zstd.Decoder
		if d, err = zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxBytes)); err == nil {
			defer d.Close()
			from = d
		}
	default:
		err = errors.New("it is none of gzip, deflate, br and zstd")
	}
	if err != nil {
		return nil, err
	}
	return limited(from)
}
