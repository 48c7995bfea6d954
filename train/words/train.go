package words

/*
#cgo CXXFLAGS: -std=c++17 -O2
#cgo LDFLAGS: -lsentencepiece_train -lsentencepiece
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"bitextmine/encode/tokenizer"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// TrainVocabulary trains a SentencePiece vocabulary with the reference library (libsentencepiece_train, Debian package
// libsentencepiece-dev), as spm_train does, and publishes it at path. The same options and
// sentences in the same order give the same bytes. An error that sentences yields ends it. If the vocabulary is larger
// (or smaller) than the sentences allow, it is a badinput error that names the possible size. The sampled sentences are
// held in memory twice. Training cannot be cancelled once the library has them.
func TrainVocabulary(path string, o VocabularyOptions, sentences iter.Seq2[string, error]) error {
	if err := o.Validate(); err != nil {
		return err
	}
	sample, err := take(o, sentences)
	if err != nil {
		return err
	}
	if len(sample) == 0 {
		return badinput.Errorf("train the vocabulary %s: there are no sentences to train on; check the bitext's sources", path)
	}
	model, err := train(o, sample)
	if err != nil {
		return fmt.Errorf("train the vocabulary %s: %w", path, err)
	}
	return atomicfile.WriteBytes(path, model)
}

// take returns SampleSize of the sentences, each with the same chance (reservoir sampling), or all; lower-cased if the
// options say so. The library could sample too, but with a generator that each thread seeds only once.
func take(o VocabularyOptions, sentences iter.Seq2[string, error]) ([]string, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	var kept []string
	seen := 0
	for s, err := range sentences {
		if err != nil {
			return nil, err
		}
		if s == "" {
			continue
		}
		at := seen
		if seen++; o.SampleSize > 0 && at >= o.SampleSize {
			if at = rng.IntN(seen); at >= o.SampleSize {
				continue
			}
		}
		if o.Lowercase {
			s = tokenizer.Lowercase(s)
		}
		if at == len(kept) {
			kept = append(kept, s)
		} else {
			kept[at] = s
		}
	}
	return kept, nil
}

// train calls the library.
func train(o VocabularyOptions, sentences []string) ([]byte, error) {
	var text []byte
	ends, longest := make([]C.size_t, len(sentences)), 0
	for i, s := range sentences {
		text = append(text, s...)
		ends[i] = C.size_t(len(text))
		longest = max(longest, len(s))
	}
	// no sentence is skipped; the library's minimum is 10
	settings := append(o.settings(), "max_sentence_length", strconv.Itoa(max(longest, 10)))
	named := make([]*C.char, len(settings))
	for i, s := range settings {
		named[i] = C.CString(s)
		defer C.free(unsafe.Pointer(named[i]))
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&named[0])
	var size C.size_t
	var message *C.char
	model := C.spt_train( //nolint:gocritic // cgo writes the comparison that it complains of
		&named[0], C.int(len(named)/2), (*C.char)(unsafe.Pointer(unsafe.SliceData(text))), &ends[0], C.size_t(len(ends)), &size, &message)
	if model == nil {
		defer C.spt_free(message)
		return nil, o.explain(C.GoString(message))
	}
	defer C.spt_free(model)
	return C.GoBytes(unsafe.Pointer(model), C.int(size)), nil
}

var (
	tooHigh = regexp.MustCompile(`Vocabulary size too high \(\d+\)\. Please set it to a value <= (\d+)`)
	tooLow  = regexp.MustCompile(`smaller than required_chars\. (\d+) vs (\d+)`)
)

// explain gives the library's message its one sentence.
func (o VocabularyOptions) explain(message string) error {
	if m := tooHigh.FindStringSubmatch(message); m != nil {
		return badinput.Errorf("vocabulary.size is %d, but the text supports at most %s pieces: lower it to that or give more text", o.Size, m[1])
	}
	if m := tooLow.FindStringSubmatch(message); m != nil {
		return badinput.Errorf("vocabulary.size is %d, but the text's characters and the special pieces alone are %s: raise it, or lower vocabulary.character_coverage", o.Size, m[2])
	}
	return badinput.Mark(errors.New("libsentencepiece refused: " + strings.Join(strings.Fields(message), " ")))
}
