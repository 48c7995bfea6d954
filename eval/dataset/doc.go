// Package dataset brings published test sets onto this machine by name.
//
// A set is a list of files at their publisher's address. A file is pinned when its sha256 is known here, from a source that the
// catalogue names; a download of another content is refused. A file whose digest is not known here says so: it takes a digest
// from the user, or, on request, is trusted the first time it is downloaded, its digest recorded beside it and held to from
// then on. Archives are unpacked.
package dataset
