package bitext_test

import (
	"errors"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
)

// shardFile is a shard of one row.
func shardFile() File {
	text := func(name, value string) Column {
		return Column{Name: name, Type: ByteArray, Converted: 1, Pages: []Page{{Values: 1, Body: Texts(value)}}}
	}
	key := corpus.KeyOf("one")
	return File{
		Rows: 1, Metadata: [][2]string{{"bitextmine.normalise", "1"}},
		Columns: []Column{
			{Name: "key", Type: FixedBytes, Length: int32(len(key)), Pages: []Page{{Values: 1, Body: key[:]}}},
			text("text", "one"), text("doc", ""), text("url", ""),
			{Name: "line", Type: Int64, Converted: 15, Pages: []Page{{Values: 1, Body: []byte{1, 0, 0, 0, 0, 0, 0, 0}}}},
		},
	}
}

func TestHostileShard(t *testing.T) {
	read := func(data []byte) (err error) {
		r, err := shard.Open(Save(t, data))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		if _, err := r.Keys(); err != nil {
			return err
		}
		for _, err := range r.Rows() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(shardFile().Bytes()); err != nil {
		t.Fatalf("the file that the others are made of: %v", err)
	}
	for name, data := range Hostile(shardFile(), 1) {
		t.Run(name, func(t *testing.T) {
			Within(t, 384<<20, func() {
				if err := read(data); !badinput.Is(err) || !strings.Contains(err.Error(), "x.parquet") {
					t.Errorf("%d bytes: %v does not name the file as bad input", len(data), err)
				}
			})
		})
	}
}
