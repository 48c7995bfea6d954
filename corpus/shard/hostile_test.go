package shard

import (
	"errors"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/corpus/corpustest"
	"bitextmine/internal/badinput"
	"bitextmine/internal/parquettest"
)

// shardFile is a shard of one row.
func shardFile() parquettest.File {
	text := func(name, value string) parquettest.Column {
		return parquettest.Column{Name: name, Type: parquettest.ByteArray, Converted: 1, Pages: []parquettest.Page{{Values: 1, Body: parquettest.Texts(value)}}}
	}
	key := corpus.KeyOf("one")
	return parquettest.File{
		Rows: 1, Metadata: [][2]string{{metaNormalise, "1"}},
		Columns: []parquettest.Column{
			{Name: "key", Type: parquettest.FixedBytes, Length: int32(len(key)), Pages: []parquettest.Page{{Values: 1, Body: key[:]}}},
			text("text", "one"), text("doc", ""), text("url", ""),
			{Name: "line", Type: parquettest.Int64, Converted: 15, Pages: []parquettest.Page{{Values: 1, Body: []byte{1, 0, 0, 0, 0, 0, 0, 0}}}},
		},
	}
}

func TestHostileShard(t *testing.T) {
	read := func(data []byte) (err error) {
		r, err := Open(parquettest.Save(t, data))
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
	for name, data := range parquettest.Hostile(shardFile(), columnText) {
		t.Run(name, func(t *testing.T) {
			parquettest.Within(t, 384<<20, func() {
				if err := read(data); !badinput.Is(err) || !strings.Contains(err.Error(), "x.parquet") {
					t.Errorf("%d bytes: %v does not name the file as bad input", len(data), err)
				}
			})
		})
	}
}

// FuzzShard reads arbitrary bytes as a shard.
func FuzzShard(f *testing.F) {
	f.Add(corpustest.Parquet(f, []shardRow{{Text: "one", Doc: "d"}, {Text: "two", URL: "u"}}))
	f.Add(shardFile().Bytes())
	for _, file := range parquettest.Seeds(shardFile(), columnText) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Open(parquettest.Save(t, data))
		if err != nil {
			if !badinput.Is(err) {
				t.Fatalf("%v is not a badinput error", err)
			}
			return
		}
		defer r.Close()
		rows := 0
		for _, err = range r.Rows() {
			if err != nil {
				break
			}
			rows++
		}
		if err != nil && !badinput.Is(err) || err == nil && rows != r.NumRows() {
			t.Fatalf("%d rows of %d, %v", rows, r.NumRows(), err)
		}
	})
}
