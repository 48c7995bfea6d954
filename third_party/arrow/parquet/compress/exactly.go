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
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/golang/snappy"
)

// exactDecoder is a codec that decompresses into memory that is there, and takes no more.
type exactDecoder interface {
	// decodeInto fills dst. Data that hold less or more are an error.
	decodeInto(dst, src []byte) error
}

// DecodeExactly fills dst with what the codec makes of src. Data that hold less or more are an error, and no memory is
// taken for what would be more.
func DecodeExactly(codec Codec, dst, src []byte) (err error) {
	exact, ok := codec.(exactDecoder)
	if !ok {
		return errors.New("compress: the codec cannot decode into memory of a fixed size")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("compress: %v", p)
		}
	}()
	return exact.decodeInto(dst, src)
}

func errLength(got, want int) error {
	return fmt.Errorf("compress: the data hold %d bytes, their header says %d", got, want)
}

func (nocodec) decodeInto(dst, src []byte) error {
	if len(dst) != len(src) {
		return errLength(len(src), len(dst))
	}
	copy(dst, src)
	return nil
}

func (zstdCodec) decodeInto(dst, src []byte) error {
	// the decoder is made with a limit of what dst has room for
	out, err := getdecoder().DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = errLength(len(out), len(dst))
	}
	return err
}

func (snappyCodec) decodeInto(dst, src []byte) error {
	n, err := snappy.DecodedLen(src)
	if err == nil && n != len(dst) {
		err = errLength(n, len(dst))
	}
	if err == nil {
		_, err = snappy.Decode(dst, src)
	}
	return err
}

func (c gzipCodec) decodeInto(dst, src []byte) error   { return readExactly(c, dst, src) }
func (c brotliCodec) decodeInto(dst, src []byte) error { return readExactly(c, dst, src) }

func readExactly(codec Codec, dst, src []byte) error {
	r := codec.NewReader(bytes.NewReader(src))
	if n, err := io.ReadFull(r, dst); err == io.ErrUnexpectedEOF || err == io.EOF && len(dst) > 0 {
		return errLength(n, len(dst))
	} else if err != nil && err != io.EOF {
		return err
	}
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return fmt.Errorf("compress: the data hold more than the %d bytes that their header says", len(dst))
	case err != io.EOF:
		return err
	}
	return r.Close()
}
