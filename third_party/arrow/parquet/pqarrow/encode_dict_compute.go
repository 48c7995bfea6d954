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

//go:build go1.18

package pqarrow

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/internal/debug"
	"github.com/apache/arrow/go/v15/parquet/internal/encoding"
)

func isDictEncoding(enc parquet.Encoding) bool {
	return enc == parquet.Encodings.PlainDict
}

func dictionaryDirectWriteSupported(arr arrow.Array) bool {
	debug.Assert(arr.DataType().ID() == arrow.DICTIONARY, "should only be called with dictionary type")
	dt := arr.DataType().(*arrow.DictionaryType)
	return arrow.IsPrimitive(dt.ValueType.ID()) || arrow.IsBaseBinary(dt.ValueType.ID())
}

func convertDictionaryToDense(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	dict := arr.(*array.Dictionary)
	return takeFromDictionary(mem, dict.Dictionary(), dict.Len(), func(i int) (int, bool) {
		return dict.GetValueIndex(i), dict.IsValid(i)
	})
}

// takeFromDictionary returns n values of a dictionary, the i-th at the index that at gives, or null. It stands
// here so that the package does not need arrow/compute.
func takeFromDictionary(mem memory.Allocator, dict arrow.Array, n int, at func(i int) (int, bool)) (arrow.Array, error) {
	if n == 0 {
		return array.NewSlice(dict, 0, 0), nil
	}
	if words, ok := dict.(*array.String); ok {
		bldr := array.NewStringBuilder(mem)
		defer bldr.Release()
		for i := 0; i < n; i++ {
			if index, valid := at(i); valid && words.IsValid(index) {
				bldr.Append(words.Value(index))
			} else {
				bldr.AppendNull()
			}
		}
		return bldr.NewArray(), nil
	}
	null := array.MakeArrayOfNull(mem, dict.DataType(), 1)
	defer null.Release()
	values := make([]arrow.Array, n)
	defer func() {
		for _, value := range values {
			value.Release()
		}
	}()
	for i := range values {
		if index, valid := at(i); valid {
			values[i] = array.NewSlice(dict, int64(index), int64(index)+1)
		} else {
			null.Retain()
			values[i] = null
		}
	}
	return array.Concatenate(values, mem)
}

// referencedIndices returns the different indices that an array of a dictionary uses, in the order of their first
// use, and whether it has nulls.
func referencedIndices(data *array.Dictionary) (used []int, nulls bool) {
	seen := make([]bool, data.Dictionary().Len())
	for i := 0; i < data.Len(); i++ {
		if data.IsNull(i) {
			nulls = true
		} else if index := data.GetValueIndex(i); !seen[index] {
			seen[index] = true
			used = append(used, index)
		}
	}
	return used, nulls
}

func writeDictionaryArrow(ctx *arrowWriteContext, cw file.ColumnChunkWriter, leafArr arrow.Array, defLevels, repLevels []int16, maybeParentNulls bool) (err error) {
	// if this is the first time writing a dictionary array,
	// then there's a few possible paths to take:
	//
	// - If dictionary encoding is not enabled, just convert to densely
	//   encoded and call writeDenseArrow
	// - Dictionary Encoding is enabled:
	//   - If this is the first time this is called, then we
	//     call PutDictionary into the encoder and PutIndices on each
	//     chunk. We store the dictionary that was written so that
	//     subsequent calls to this method can make sure the dictionary
	//     hasn't changed.
	//   - on subsequent calls, we have to check whether the dictionary
	//     has changed. If it has, then we trigger the varying dictionary
	//     path and materialize each chunk and call writeDenseArrow with that
	writeDense := func() error {
		denseArr, err := convertDictionaryToDense(ctx.props.mem, leafArr)
		if err != nil {
			return err
		}
		defer denseArr.Release()
		return writeDenseArrow(ctx, cw, denseArr, defLevels, repLevels, maybeParentNulls)
	}

	if !isDictEncoding(cw.CurrentEncoder().Encoding()) || !dictionaryDirectWriteSupported(leafArr) {
		// no longer dictionary-encoding for whatever reason, maybe we never were
		// or we decided to stop. Note that writeArrowToColumn can be invoked multiple
		// times with both dense and dictionary-encoded versions of the same data
		// without a problem. Any dense data will be hashed to indices until the
		// dictionary page limit is reached, at which everything (dict and dense)
		// will fall back to plain encoding
		return writeDense()
	}

	var (
		dictEncoder = cw.CurrentEncoder().(encoding.DictEncoder)
		data        = leafArr.(*array.Dictionary)
		dict        = data.Dictionary()
		indices     = data.Indices()
		preserved   = dictEncoder.PreservedDictionary()
		pageStats   = cw.PageStatistics()
	)

	updateStats := func() error {
		var referencedDict arrow.Array

		// if dictionary is the same dictionary we already have, just use that
		if preserved != nil && preserved == dict {
			referencedDict = preserved
		} else {
			used, nulls := referencedIndices(data)
			different := len(used)
			if nulls { // a null counts as an index that is used
				different++
			}

			// on first run, we might be able to re-use the existing dict
			if different == dict.Len() {
				referencedDict = dict
			} else {
				var err error
				referencedDict, err = takeFromDictionary(ctx.props.mem, dict, len(used), func(i int) (int, bool) { return used[i], true })
				if err != nil {
					return err
				}
				defer referencedDict.Release()
			}
		}

		nonNullCount := indices.Len() - indices.NullN()
		pageStats.IncNulls(int64(len(defLevels) - nonNullCount))
		pageStats.IncNumValues(int64(nonNullCount))
		return pageStats.UpdateFromArrow(referencedDict, false)
	}

	switch {
	case preserved == nil:
		if err := dictEncoder.PutDictionary(dict); err != nil {
			return err
		}

		// if there were duplicate values in the dictionary, the encoder's
		// memo table will be out of sync with the indices in the arrow array
		// the easiest solution for this uncommon case is to fallback to plain
		// encoding
		if dictEncoder.NumEntries() != dict.Len() {
			cw.FallbackToPlain()
			return writeDense()
		}

		if pageStats != nil {
			if err := updateStats(); err != nil {
				return err
			}
		}

	case !array.Equal(dict, preserved):
		// dictionary has changed
		cw.FallbackToPlain()
		return writeDense()
	default:
		// dictionary is the same but we need to update stats
		if pageStats != nil {
			if err := updateStats(); err != nil {
				return err
			}
		}
	}

	return cw.WriteDictIndices(indices, defLevels, repLevels)
}
