package concordance

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/blevesearch/bleve/v2/mapping"

	"bitextmine/bitext"
)

// recorder writes pairs as they are kept beside the index. The head has for both sides the hashes of the terms, two
// bytes each: they tell most pairs that do not have a phrase without reading their texts. The body has both texts and
// About as JSON. Hashes and texts stand after their number.
type recorder struct {
	mapping    mapping.IndexMapping
	head, body []byte
}

// record returns a pair's record, which holds until the next call.
func (r *recorder) record(row *bitext.Row) (head, body []byte) {
	about, err := json.Marshal(About{
		Score: row.Score, Probability: row.Prob, Doc: [2]string{row.Source.Doc, row.Target.Doc},
		URL: [2]string{row.Source.URL, row.Target.URL}, Line: [2]uint64{row.Source.Line, row.Target.Line},
	})
	if err != nil {
		panic(fmt.Sprintf("a pair's scores: %v", err)) // no NaN gets into a bitext
	}
	r.head, r.body = r.head[:0], r.body[:0]
	texts := [2]string{row.Source.Text, row.Target.Text}
	for side, text := range texts {
		stream := r.mapping.AnalyzerNamed(analyser(side)).Analyze([]byte(text))
		r.head = binary.AppendUvarint(r.head, uint64(len(stream)))
		for _, token := range stream {
			r.head = binary.LittleEndian.AppendUint16(r.head, hash(token.Term))
		}
		r.body = append(binary.AppendUvarint(r.body, uint64(len(text))), text...)
	}
	r.body = append(r.body, about...)
	return r.head, r.body
}

// hash is a term's.
func hash(term []byte) uint16 {
	h := fnv.New32a()
	h.Write(term)
	sum := h.Sum32()
	return uint16(sum ^ sum>>16)
}

var errShort = errors.New("a pair is cut short")

// part takes a part with so many bytes for each that its number counts from the beginning of a record.
func part(record []byte, size uint64) (content, rest []byte, err error) {
	count, n := binary.Uvarint(record)
	if n <= 0 || count > uint64(len(record)-n)/size {
		return nil, nil, errShort
	}
	end := n + int(count*size)
	return record[n:end], record[end:], nil
}

// parseHead reads the hashes of both sides' terms.
func parseHead(head []byte) (terms [2][]byte, err error) {
	for side := range terms {
		if terms[side], head, err = part(head, 2); err != nil {
			return terms, err
		}
	}
	return terms, nil
}

// parseBody reads the texts and what is about them.
func parseBody(rest []byte) (hit Hit, err error) {
	for side := range hit.Texts {
		var text []byte
		if text, rest, err = part(rest, 1); err != nil {
			return hit, err
		}
		hit.Texts[side] = string(text)
	}
	return hit, json.Unmarshal(rest, &hit.About)
}

// mayHave says whether terms with these hashes may stand next to each other among a text's.
func mayHave(terms []byte, wanted []uint16) bool {
	for at := 0; at+2*len(wanted) <= len(terms); at += 2 {
		found := true
		for i, w := range wanted {
			if binary.LittleEndian.Uint16(terms[at+2*i:]) != w {
				found = false
				break
			}
		}
		if found {
			return len(wanted) > 0
		}
	}
	return false
}
