package corpus

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/internal/parquettest"
)

const hostileMemory = 384 << 20

// corpusFile is a Parquet file of one row that the corpus reader accepts.
func corpusFile() parquettest.File {
	return parquettest.File{Rows: 1, Columns: []parquettest.Column{
		{Name: "text", Type: parquettest.ByteArray, Pages: []parquettest.Page{{Values: 1, Body: parquettest.Texts("one")}}},
	}}
}

// shardFile is a shard of one row.
func shardFile() parquettest.File {
	text := func(name, value string) parquettest.Column {
		return parquettest.Column{Name: name, Type: parquettest.ByteArray, Converted: 1, Pages: []parquettest.Page{{Values: 1, Body: parquettest.Texts(value)}}}
	}
	key := KeyOf("one")
	return parquettest.File{
		Rows: 1, Metadata: [][2]string{{metaNormalise, "1"}},
		Columns: []parquettest.Column{
			{Name: "key", Type: parquettest.FixedBytes, Length: int32(len(key)), Pages: []parquettest.Page{{Values: 1, Body: key[:]}}},
			text("text", "one"), text("doc", ""), text("url", ""),
			{Name: "line", Type: parquettest.Int64, Converted: 15, Pages: []parquettest.Page{{Values: 1, Body: []byte{1, 0, 0, 0, 0, 0, 0, 0}}}},
		},
	}
}

// TestHostileParquet reads files with false metadata. Each must be refused as bad input, with little time and memory.
func TestHostileParquet(t *testing.T) {
	opts := DefaultOptions()
	opts.Format = FormatParquet
	if _, counts, err := readAll("x.parquet", corpusFile().Bytes(), opts); err != nil || counts.Kept != 1 {
		t.Fatalf("the file that the others are made of: %v", err)
	}
	files := parquettest.Hostile(corpusFile(), 0)
	if !testing.Short() { // slow under the race detector
		files["a footer of 32 MB of nested groups"] = parquettest.NestedFooter(32 << 20)
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			parquettest.Within(t, hostileMemory+8*uint64(len(data)), func() {
				_, err := WriteShards(t.Context(), Input{Path: parquettest.Save(t, data)}, opts, t.TempDir(), ShardOptions{})
				if !badinput.Is(err) || !strings.Contains(err.Error(), "x.parquet") {
					t.Errorf("%d bytes: %v does not name the file as bad input", len(data), err)
				}
			})
		})
	}
}

func TestHostileShard(t *testing.T) {
	read := func(data []byte) (err error) {
		r, err := OpenShard(parquettest.Save(t, data))
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
			parquettest.Within(t, hostileMemory, func() {
				if err := read(data); !badinput.Is(err) || !strings.Contains(err.Error(), "x.parquet") {
					t.Errorf("%d bytes: %v does not name the file as bad input", len(data), err)
				}
			})
		})
	}
}

// TestLZ4RawParquet checks that the codec LZ4_RAW is read as one block of LZ4.
func TestLZ4RawParquet(t *testing.T) {
	f := corpusFile()
	page := &f.Columns[0].Pages[0]
	f.Columns[0].Codec = parquettest.LZ4Raw
	page.ClaimsBytes = int32(len(page.Body))
	page.Body = append([]byte{byte(len(page.Body)) << 4}, page.Body...) // only literals
	opts := DefaultOptions()
	opts.Format = FormatParquet
	sentences, _, err := readAll("x.parquet", f.Bytes(), opts)
	if err != nil || len(sentences) != 1 || sentences[0].Text != "one" {
		t.Errorf("%v, %v", sentences, err)
	}
}

// TestCodecThatIsNotRead checks that LZ4 in Hadoop's framing is reported as an unsupported codec and not as damage.
func TestCodecThatIsNotRead(t *testing.T) {
	f := corpusFile()
	f.Columns[0].Codec = 5
	opts := DefaultOptions()
	opts.Format = FormatParquet
	_, _, err := readAll("x.parquet", f.Bytes(), opts)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "compressed with LZ4") || strings.Contains(err.Error(), "corrupt") {
		t.Errorf("%v", err)
	}
}

// TestReadingNullsIsStopped checks that reading can be cancelled: a small file may have more rows than can be read in a
// night.
func TestReadingNullsIsStopped(t *testing.T) {
	path := parquettest.Save(t, parquettest.Nulls("text", 1000))
	opts := DefaultOptions()
	opts.Format = FormatParquet
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	parquettest.Within(t, hostileMemory, func() {
		if _, err := WriteShards(ctx, Input{Path: path}, opts, t.TempDir(), ShardOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
}
