//go:build !faissgpu

package faiss

import "bitextmine/internal/badinput"

// GPUs returns how many GPUs FAISS can use; its error says what is missing.
func GPUs() (int, error) {
	return 0, badinput.Errorf(
		"this program was built without GPU search; build FAISS with -DFAISS_ENABLE_GPU=ON -DFAISS_ENABLE_C_API=ON -DBUILD_SHARED_LIBS=ON and then this program with -tags faissgpu, which links its libfaiss_c")
}

func newGPUs() (processor, error) {
	_, err := GPUs()
	return nil, err
}
