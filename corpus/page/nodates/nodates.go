// Package dateparser stands for github.com/markusmobius/go-dateparser, which go-htmldate names and go-trafilatura
// therefore links. Pages are read without dates (HtmlDateMode is Disabled), so none of it is called, but its tables
// cost every start of the program 78 MB and half a second. What go-htmldate needs to compile is here, and finds no
// date.
package dateparser

import (
	"errors"
	"time"
)

// Parser finds no date.
type Parser struct{ ParserTypes []ParserType }

// ParserType is a way of writing dates.
type ParserType uint8

// The names that go-htmldate uses.
const (
	CustomFormat ParserType = iota
	AbsoluteTime
)

// PreferredDateSource says which of several possible dates is meant.
type PreferredDateSource uint8

// Past prefers dates that are past.
const Past PreferredDateSource = 1

// Configuration has the fields that go-htmldate sets.
type Configuration struct {
	PreferredDateSource PreferredDateSource
	StrictParsing       bool
}

// Date is a date that was found.
type Date struct{ Time time.Time }

// Parse always fails.
func (*Parser) Parse(*Configuration, string, ...string) (Date, error) {
	return Date{}, errors.New("dates are not looked for")
}
