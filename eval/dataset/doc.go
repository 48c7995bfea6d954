// Package dataset downloads published test sets by name.
//
// A set is a list of files at the publisher's address. A file is pinned if its sha256 is in the catalogue, which also
// names the source of the digest; a download with other content is refused. A file that is not pinned needs a digest
// from the user. On request it is trusted at its first download; its digest is then recorded beside it and checked from
// then on. Archives are unpacked.
package dataset
