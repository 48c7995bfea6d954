// Package cld2 calls CLD2, the detector of languages of Chrome's first years (Debian packages libcld2-dev and
// libcld2-0), with its tables for 160 languages (libcld2_full). Package filter/language has the program's own names of
// languages.
package cld2

/*
#cgo CXXFLAGS: -std=c++17 -O2
#cgo LDFLAGS: -Wl,--no-as-needed -lcld2_full -lcld2
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Guess is what a text was identified as.
type Guess struct {
	Language int // CLD2's number, of which Code is the name; Unknown where Reliable is false
	Percent  int // share of the letters
	Letters  int // bytes of letters in UTF-8
	Reliable bool
}

// Detect identifies the language of a text. hint is a code of CLD2 that raises this language's score, or empty, and
// ends in a zero byte. A text that is not UTF-8 is not identified. Any number of goroutines may call it.
func Detect(text string, hint []byte) Guess {
	if text == "" {
		return Guess{Language: Unknown()}
	}
	var found C.cld_guess
	bytes := (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
	failed := C.cld_detect(bytes, C.int(len(text)), (*C.char)(unsafe.Pointer(&hint[0])), &found)
	runtime.KeepAlive(text)
	if failed != 0 || found.reliable == 0 {
		return Guess{Language: Unknown(), Letters: int(found.letters)}
	}
	return Guess{int(found.language), int(found.percent), int(found.letters), true}
}

// Languages is how many languages CLD2 has: their numbers are less.
func Languages() int { return int(C.cld_languages()) }

// Code is CLD2's code of a language by its number.
func Code(language int) string { return C.GoString(C.cld_code(C.int(language))) }

// Unknown is the number that stands for no language.
func Unknown() int { return int(C.cld_unknown()) }
