package store

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"
)

// codeOf is the class of a bucket's error. gocloud.dev takes any error of S3 whose text has "301" in it for a missing
// bucket, also if that is part of a request id, so S3's own code decides.
func codeOf(err error) gcerrors.ErrorCode {
	var operation *smithy.OperationError
	if !errors.As(err, &operation) {
		return gcerrors.Code(err)
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return gcerrors.Unknown
	}
	switch api.ErrorCode() {
	case "NoSuchBucket", "NoSuchKey", "NotFound", "ObjectNotInActiveTierError":
		return gcerrors.NotFound
	case "PreconditionFailed":
		return gcerrors.FailedPrecondition
	}
	return gcerrors.Unknown
}

// contended reports whether S3 refused a conditional write because another one of that object was under way: neither
// has to have succeeded, and the writer shall try again.
func contended(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "ConditionalRequestConflict"
}

// classify converts the errors of the bucket to the classes that callers know.
func classify(err error) error {
	switch codeOf(err) {
	case gcerrors.NotFound:
		return errors.Join(fs.ErrNotExist, err)
	case gcerrors.FailedPrecondition:
		return errors.Join(fs.ErrExist, err)
	}
	return err
}

// refused reports whether a server understood a request and refused it, so that asking again is of no use: there is no
// such bucket, or access is denied. A server that cannot be reached, is overloaded or fails has not refused.
func refused(err error) bool {
	status := 0
	var google *googleapi.Error
	var amazon *smithyhttp.ResponseError
	switch {
	case errors.As(err, &google):
		status = google.Code
	case errors.As(err, &amazon):
		status = amazon.HTTPStatusCode()
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 300 && status < 500
}
