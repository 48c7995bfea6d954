// Package fit fits a table of subword vectors so that sums of its rows come near features of sentences: a
// linear map from the teacher's vectors of single pieces, as the prior, and on it each piece's own part, by conjugate
// gradients on the sparse matrix of the counts of pieces in sentences.
//
// It also trains a student's table and head by gradient descent after the least squares (Finish), so that not only the
// features but the sentence vectors come near the teacher's, and nearest to that of their own sentence or of its
// translation.
package fit
