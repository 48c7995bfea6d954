// Package fit fits a table of subword vectors so that sums of its rows come near features of sentences: a
// linear map from what a teacher says of each piece alone, as the prior, and on it each piece's own part, by conjugate
// gradients on the sparse matrix of which pieces stand in which sentence.
//
// # Finishing
//
// The package also trains a student's table and its head by gradient descent after the least squares, so that not only
// the features but the sentence vectors come near the teacher's, and nearest to that of their own sentence, or of its
// translation.
package fit
