// Package finish trains a student's table and its head by gradient descent after the least squares, so that not only
// the features but the sentence vectors come near the teacher's, and nearest to that of their own sentence, or of its
// translation.
package finish
