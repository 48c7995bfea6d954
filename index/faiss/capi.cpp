//go:build !faissgpu

// The part of FAISS's C API that go-faiss calls, on top of Debian's libfaiss, which ships the headers of that API but
// not its symbols. README.md beside this file says how the linker finds it.

#include <faiss/AutoTune.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/c_api/AutoTune_c.h>
#include <faiss/c_api/IndexFlat_c.h>
#include <faiss/c_api/Index_c.h>
#include <faiss/c_api/error_c.h>
#include <faiss/c_api/impl/AuxIndexStructures_c.h>
#include <faiss/c_api/index_factory_c.h>
#include <faiss/c_api/index_io_c.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/FaissException.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/index_factory.h>
#include <faiss/index_io.h>

#include <exception>
#include <memory>
#include <string>

namespace {

// The text of the last error on this OS thread; a caller must stay on its thread between a failed call and
// faiss_get_last_error.
thread_local std::string last_error;

// No exception may cross into C, hence into Go: each becomes a code and a text.
template <typename Body>
int guarded(Body body) {
    try {
        body();
        return OK;
    } catch (const faiss::FaissException& e) {
        last_error = e.what();
        return FAISS_EXCEPT;
    } catch (const std::exception& e) {
        last_error = e.what();
        return STD_EXCEPT;
    } catch (...) {
        last_error = "unknown C++ exception";
        return UNKNOWN_EXCEPT;
    }
}

faiss::Index* index_of(FaissIndex* p) {
    return reinterpret_cast<faiss::Index*>(p);
}

const faiss::Index* index_of(const FaissIndex* p) {
    return reinterpret_cast<const faiss::Index*>(p);
}

faiss::RangeSearchResult* range_of(FaissRangeSearchResult* p) {
    return reinterpret_cast<faiss::RangeSearchResult*>(p);
}

// FAISS would write a warning to standard error where k-means has few rows. The recall of every search is measured.
faiss::Index* quiet(faiss::Index* index) {
    faiss::Index* inner = index;
    if (auto* pre = dynamic_cast<faiss::IndexPreTransform*>(index))
        inner = pre->index;
    if (auto* ivf = dynamic_cast<faiss::IndexIVF*>(inner))
        ivf->cp.min_points_per_centroid = 1;
    if (auto* ivfpq = dynamic_cast<faiss::IndexIVFPQ*>(inner))
        ivfpq->pq.cp.min_points_per_centroid = 1;
    if (auto* pq = dynamic_cast<faiss::IndexPQ*>(inner))
        pq->pq.cp.min_points_per_centroid = 1;
    return index;
}

} // namespace

extern "C" {

// Not of the C API, which has no call that tells it: the version of the headers, which Debian ships with the library.
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char* bitextmine_faiss_version() {
    return TEXT(FAISS_VERSION_MAJOR) "." TEXT(FAISS_VERSION_MINOR) "." TEXT(FAISS_VERSION_PATCH);
}

const char* faiss_get_last_error() {
    return last_error.c_str();
}

// Index

int faiss_Index_d(const FaissIndex* index) {
    return index_of(index)->d;
}

int faiss_Index_is_trained(const FaissIndex* index) {
    return index_of(index)->is_trained;
}

idx_t faiss_Index_ntotal(const FaissIndex* index) {
    return index_of(index)->ntotal;
}

FaissMetricType faiss_Index_metric_type(const FaissIndex* index) {
    return static_cast<FaissMetricType>(index_of(index)->metric_type);
}

int faiss_Index_train(FaissIndex* index, idx_t n, const float* x) {
    return guarded([&] { index_of(index)->train(n, x); });
}

int faiss_Index_add(FaissIndex* index, idx_t n, const float* x) {
    return guarded([&] { index_of(index)->add(n, x); });
}

int faiss_Index_add_with_ids(FaissIndex* index, idx_t n, const float* x, const idx_t* xids) {
    return guarded([&] { index_of(index)->add_with_ids(n, x, xids); });
}

int faiss_Index_search(
        const FaissIndex* index,
        idx_t n,
        const float* x,
        idx_t k,
        float* distances,
        idx_t* labels) {
    return guarded([&] { index_of(index)->search(n, x, k, distances, labels); });
}

int faiss_Index_range_search(
        const FaissIndex* index,
        idx_t n,
        const float* x,
        float radius,
        FaissRangeSearchResult* result) {
    return guarded([&] { index_of(index)->range_search(n, x, radius, range_of(result)); });
}

int faiss_Index_reset(FaissIndex* index) {
    return guarded([&] { index_of(index)->reset(); });
}

int faiss_Index_remove_ids(FaissIndex* index, const FaissIDSelector* sel, size_t* n_removed) {
    return guarded([&] {
        *n_removed = index_of(index)->remove_ids(*reinterpret_cast<const faiss::IDSelector*>(sel));
    });
}

void faiss_Index_free(FaissIndex* index) {
    delete index_of(index);
}

int faiss_index_factory(FaissIndex** p_index, int d, const char* description, FaissMetricType metric) {
    return guarded([&] {
        *p_index = reinterpret_cast<FaissIndex*>(
                quiet(faiss::index_factory(d, description, static_cast<faiss::MetricType>(metric))));
    });
}

// IndexFlat

int faiss_IndexFlat_new_with(FaissIndexFlat** p_index, idx_t d, FaissMetricType metric) {
    return guarded([&] {
        faiss::Index* flat = new faiss::IndexFlat(d, static_cast<faiss::MetricType>(metric));
        *p_index = reinterpret_cast<FaissIndexFlat*>(flat);
    });
}

FaissIndexFlat* faiss_IndexFlat_cast(FaissIndex* index) {
    faiss::Index* base = dynamic_cast<faiss::IndexFlat*>(index_of(index));
    return reinterpret_cast<FaissIndexFlat*>(base);
}

void faiss_IndexFlat_xb(FaissIndexFlat* index, float** p_xb, size_t* p_size) {
    auto* flat = static_cast<faiss::IndexFlat*>(reinterpret_cast<faiss::Index*>(index));
    *p_xb = flat->get_xb();
    *p_size = static_cast<size_t>(flat->ntotal) * flat->d;
}

// Range search

int faiss_RangeSearchResult_new(FaissRangeSearchResult** p_result, idx_t nq) {
    return guarded([&] {
        *p_result = reinterpret_cast<FaissRangeSearchResult*>(new faiss::RangeSearchResult(nq));
    });
}

void faiss_RangeSearchResult_free(FaissRangeSearchResult* result) {
    delete range_of(result);
}

size_t faiss_RangeSearchResult_nq(const FaissRangeSearchResult* result) {
    return reinterpret_cast<const faiss::RangeSearchResult*>(result)->nq;
}

void faiss_RangeSearchResult_lims(FaissRangeSearchResult* result, size_t** lims) {
    *lims = range_of(result)->lims;
}

void faiss_RangeSearchResult_labels(FaissRangeSearchResult* result, idx_t** labels, float** distances) {
    *labels = range_of(result)->labels;
    *distances = range_of(result)->distances;
}

// ID selectors

int faiss_IDSelectorRange_new(FaissIDSelectorRange** p_sel, idx_t imin, idx_t imax) {
    return guarded([&] {
        faiss::IDSelector* sel = new faiss::IDSelectorRange(imin, imax);
        *p_sel = reinterpret_cast<FaissIDSelectorRange*>(sel);
    });
}

int faiss_IDSelectorBatch_new(FaissIDSelectorBatch** p_sel, size_t n, const idx_t* indices) {
    return guarded([&] {
        faiss::IDSelector* sel = new faiss::IDSelectorBatch(n, indices);
        *p_sel = reinterpret_cast<FaissIDSelectorBatch*>(sel);
    });
}

void faiss_IDSelector_free(FaissIDSelector* sel) {
    delete reinterpret_cast<faiss::IDSelector*>(sel);
}

// Files

int faiss_write_index_fname(const FaissIndex* index, const char* fname) {
    return guarded([&] { faiss::write_index(index_of(index), fname); });
}

int faiss_read_index_fname(const char* fname, int io_flags, FaissIndex** p_out) {
    return guarded([&] { *p_out = reinterpret_cast<FaissIndex*>(faiss::read_index(fname, io_flags)); });
}

// Search settings (nprobe, efSearch)

int faiss_ParameterSpace_new(FaissParameterSpace** p_space) {
    return guarded([&] {
        *p_space = reinterpret_cast<FaissParameterSpace*>(new faiss::ParameterSpace());
    });
}

void faiss_ParameterSpace_free(FaissParameterSpace* space) {
    delete reinterpret_cast<faiss::ParameterSpace*>(space);
}

int faiss_ParameterSpace_set_index_parameter(
        const FaissParameterSpace* space,
        FaissIndex* index,
        const char* name,
        double value) {
    return guarded([&] {
        reinterpret_cast<const faiss::ParameterSpace*>(space)->set_index_parameter(
                index_of(index), name, value);
    });
}

} // extern "C"
