// Licensed to the Apache Software Foundation (ASF) under one
// or more contributor license agreements.  See the NOTICE file
// distributed with this work for additional information
// regarding copyright ownership.  The ASF licenses this file
// to you under the Apache License, Version 2.0 (the
// "License"); you may not use this file except in compliance
// with the License.  You may obtain a copy of the License at
//
// http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

package compress

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/parquet/internal/gen-go/parquet"
	"github.com/pierrec/lz4/v4"
)

// lz4RawCodec reads LZ4_RAW: one LZ4 block without a frame. It is not written.
type lz4RawCodec struct{}

var errLz4Raw = errors.New("compress: LZ4_RAW is only read, and a page at once")

func (lz4RawCodec) decodeInto(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err == nil && n != len(dst) {
		err = errLength(n, len(dst))
	}
	return err
}

func (c lz4RawCodec) Decode(dst, src []byte) []byte {
	if err := c.decodeInto(dst, src); err != nil {
		panic(err)
	}
	return dst
}

func (lz4RawCodec) NewReader(io.Reader) io.ReadCloser                     { panic(errLz4Raw) }
func (lz4RawCodec) NewWriter(io.Writer) io.WriteCloser                    { panic(errLz4Raw) }
func (lz4RawCodec) NewWriterLevel(io.Writer, int) (io.WriteCloser, error) { return nil, errLz4Raw }
func (lz4RawCodec) Encode(dst, src []byte) []byte                         { panic(errLz4Raw) }
func (lz4RawCodec) EncodeLevel(dst, src []byte, level int) []byte         { panic(errLz4Raw) }
func (lz4RawCodec) CompressBound(n int64) int64                           { return int64(lz4.CompressBlockBound(int(n))) }

func init() {
	codecs[Compression(parquet.CompressionCodec_LZ4_RAW)] = lz4RawCodec{}
}
