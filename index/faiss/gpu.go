//go:build faissgpu

package faiss

/*
#cgo LDFLAGS: -lfaiss_c -lcudart
#include <stdlib.h>
#include <cuda_runtime_api.h>
#include <faiss/c_api/AutoTune_c.h>
#include <faiss/c_api/Index_c.h>
#include <faiss/c_api/error_c.h>
#include <faiss/c_api/gpu/DeviceUtils_c.h>
#include <faiss/c_api/gpu/GpuAutoTune_c.h>
#include <faiss/c_api/gpu/GpuClonerOptions_c.h>
#include <faiss/c_api/gpu/StandardGpuResources_c.h>
#include <faiss/c_api/index_factory_c.h>
*/
import "C"

import (
	"cmp"
	"errors"
	"strings"
	"unsafe"

	"bitextmine/index"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
)

// Version is unknown: the C API of the user's libfaiss_c has no call that tells it.
func Version() string { return "of the user's libfaiss_c" }

// GPUs returns how many GPUs FAISS can use; its error says what is missing.
func GPUs() (int, error) {
	var n C.int
	if C.faiss_get_num_gpus(&n) != 0 {
		return 0, badinput.Errorf("FAISS cannot ask for GPUs (%s); check the driver with nvidia-smi",
			reason(lastError()))
	}
	if n == 0 {
		return 0, badinput.Errorf(
			"FAISS sees no GPU; check the driver with nvidia-smi and CUDA_VISIBLE_DEVICES, or use exact")
	}
	return int(n), nil
}

// gpus makes indexes on all of a machine's GPUs, or on as many as the options say. On several, every GPU holds the
// whole index and takes a share of the queries; an index that does not fit on one is cut into as many shards.
type gpus struct{ present int }

func newGPUs() (processor, error) {
	n, err := GPUs()
	return gpus{present: n}, err
}

func (gpus) prefix() string { return PrefixGPU }

// slack doubles the bound of a float32 product, as cuBLAS may split and add in more steps. Vectors kept in float16 are
// off by half a unit in eleven bits, unless they came in float16.
func (gpus) slack(half *index.Half, opts Options) float64 {
	slack := 2 * kernel.Float32Slack(half.Queries.Kernel, half.Base.Kernel)
	if opts.Float16 && !(half.Queries.Float16() && half.Base.Float16()) {
		slack += 0x1p-10 * half.Queries.Kernel.Length * half.Base.Kernel.Length
	}
	return slack
}

// create makes the index on the CPU, as the factory can only do that, and clones it empty; it is trained and filled on
// the GPUs.
func (g gpus) create(factory string, dim, rows int, opts Options) (native, error) {
	if opts.GPUs > g.present {
		return nil, badinput.Errorf("the search is to use %d GPUs but there are %d; set fewer, or 0 for all", opts.GPUs,
			g.present)
	}
	description := C.CString(factory)
	defer C.free(unsafe.Pointer(description))
	var prototype *C.FaissIndex
	if C.faiss_index_factory(&prototype, C.int(dim), description, C.METRIC_INNER_PRODUCT) != 0 {
		return nil, refused(factory, dim, lastError())
	}
	defer C.faiss_Index_free(prototype)
	if err := setParameters(prototype, factory, opts); err != nil {
		return nil, err
	}
	idx := &gpuIndex{dim: dim}
	if err := idx.clone(prototype, cmp.Or(opts.GPUs, g.present), rows, opts.Float16); err != nil {
		idx.Delete()
		return nil, err
	}
	return idx, nil
}

func setParameters(idx *C.FaissIndex, factory string, opts Options) error {
	var space *C.FaissParameterSpace
	if C.faiss_ParameterSpace_new(&space) != 0 {
		return failed("make a parameter space", lastError())
	}
	defer C.faiss_ParameterSpace_free(space)
	for _, p := range opts.searchSettings() {
		name := C.CString(p.name)
		failed := C.faiss_ParameterSpace_set_index_parameter(space, idx, name, C.double(p.value)) != 0
		C.free(unsafe.Pointer(name))
		if failed {
			return settingRefused(factory, p.name, lastError())
		}
	}
	return nil
}

// gpuIndex is a native index on one GPU or several.
type gpuIndex struct {
	dim       int
	resources []*C.FaissGpuResourcesProvider
	c         *C.FaissIndex
}

// clone puts a copy of the prototype onto the first devices GPUs.
func (x *gpuIndex) clone(prototype *C.FaissIndex, devices, rows int, float16 bool) error {
	ids := make([]C.int, devices)
	for i := range ids {
		ids[i] = C.int(i)
		var r *C.FaissStandardGpuResources
		if C.faiss_StandardGpuResources_new(&r) != 0 {
			return failed("reserve GPU memory", lastError())
		}
		x.resources = append(x.resources, (*C.FaissGpuResourcesProvider)(r))
	}
	var options *C.FaissGpuMultipleClonerOptions
	if C.faiss_GpuMultipleClonerOptions_new(&options) != 0 {
		return failed("make GPU options", lastError())
	}
	defer C.faiss_GpuMultipleClonerOptions_free(options)
	bytes := float64(rows) * float64(x.dim) * 4
	if float16 {
		bytes /= 2
		C.faiss_GpuClonerOptions_set_useFloat16((*C.FaissGpuClonerOptions)(options), 1)
	}
	fits, err := fit(bytes)
	if err != nil {
		return err
	}
	if !fits {
		if devices == 1 {
			return badinput.Errorf(
				"%.0f MiB of vectors do not fit on one GPU; keep them in float16, use more GPUs, or a smaller shard_size",
				bytes/(1<<20))
		}
		C.faiss_GpuMultipleClonerOptions_set_shard(options, 1)
	}
	var out *C.FaissGpuIndex
	if C.faiss_index_cpu_to_gpu_multiple_with_options((**C.FaissGpuResourcesProvider)(unsafe.Pointer(&x.resources[0])),
		C.size_t(devices), &ids[0], C.size_t(devices), prototype, options, &out) != 0 {
		return badinput.Errorf("FAISS cannot put this index on a GPU (%s); use Flat or IVFn,Flat, or the CPU",
			reason(lastError()))
	}
	x.c = (*C.FaissIndex)(out)
	return nil
}

// fit tells whether so many bytes of vectors fit on the current GPU beside FAISS's own scratch memory.
func fit(bytes float64) (bool, error) {
	var free, total C.size_t
	if C.cudaMemGetInfo(&free, &total) != C.cudaSuccess {
		return false, badinput.Errorf("CUDA cannot tell the GPU's memory; check the driver with nvidia-smi")
	}
	return bytes < 0.8*float64(free), nil
}

// Train implements native.
func (x *gpuIndex) Train(rows []float32) error {
	return x.call(C.faiss_Index_train(x.c, C.idx_t(len(rows)/x.dim), (*C.float)(&rows[0])))
}

// Add implements native.
func (x *gpuIndex) Add(rows []float32) error {
	return x.call(C.faiss_Index_add(x.c, C.idx_t(len(rows)/x.dim), (*C.float)(&rows[0])))
}

// Search implements native.
func (x *gpuIndex) Search(queries []float32, k int64) (scores []float32, ids []int64, err error) {
	n := int64(len(queries) / x.dim)
	scores, ids = make([]float32, n*k), make([]int64, n*k)
	err = x.call(C.faiss_Index_search(x.c, C.idx_t(n), (*C.float)(&queries[0]), C.idx_t(k), (*C.float)(&scores[0]),
		(*C.idx_t)(unsafe.Pointer(&ids[0]))))
	return scores, ids, err
}

// Delete implements native.
func (x *gpuIndex) Delete() {
	if x.c != nil {
		C.faiss_Index_free(x.c)
	}
	for _, r := range x.resources {
		C.faiss_StandardGpuResources_free((*C.FaissStandardGpuResources)(r))
	}
}

func (x *gpuIndex) call(code C.int) error {
	if code == 0 {
		return nil
	}
	err := lastError()
	if strings.Contains(err.Error(), "out of memory") || strings.Contains(err.Error(), "cudaMalloc") {
		return badinput.Errorf(
			"the GPU's memory is too small for this search (%s); keep vectors in float16, use more GPUs, or a smaller shard_size",
			reason(err))
	}
	return err
}

func lastError() error { return errors.New(C.GoString(C.faiss_get_last_error())) }
