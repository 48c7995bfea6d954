module github.com/apache/arrow/go/v15

go 1.20

require (
	github.com/JohnCGriffin/overflow v0.0.0-20211019200055-46fa312c352c
	github.com/andybalholm/brotli v1.0.5
	github.com/apache/thrift v0.17.0
	github.com/goccy/go-json v0.10.2
	github.com/golang/snappy v0.0.4
	github.com/google/flatbuffers v23.5.26+incompatible
	github.com/klauspost/compress v1.16.7
	github.com/klauspost/cpuid/v2 v2.2.5
	github.com/pierrec/lz4/v4 v4.1.18
	github.com/zeebo/xxh3 v1.0.2
	golang.org/x/exp v0.0.0-20231006140011-7918f672742d
	golang.org/x/sync v0.4.0
	golang.org/x/sys v0.13.0
	golang.org/x/xerrors v0.0.0-20220907171357-04be3eba64a2
)
