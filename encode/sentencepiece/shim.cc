#include "shim.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

struct sp_model {
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

void set_message(char **message, const std::string &text) { *message = strdup(text.c_str()); }

}  // namespace

extern "C" {

sp_model *sp_load(const void *data, size_t n, char **message) {
  sp_model *model = nullptr;
  try {
    model = new sp_model;
    const auto status =
        model->processor.LoadFromSerializedProto(absl::string_view(static_cast<const char *>(data), n));
    if (status.ok()) return model;
    set_message(message, status.ToString());
  } catch (const std::exception &e) {
    set_message(message, e.what());
  } catch (...) {
    set_message(message, "unknown C++ exception");
  }
  delete model;
  return nullptr;
}

void sp_free(sp_model *model) { delete model; }

void sp_free_message(char *message) { free(message); }

int32_t sp_unknown_id(const sp_model *model) { return model->processor.unk_id(); }

const char *sp_unknown_piece(const sp_model *model) {
  return model->processor.IdToPiece(model->processor.unk_id()).c_str();
}

int32_t sp_size(const sp_model *model) { return model->processor.GetPieceSize(); }

int32_t sp_id(const sp_model *model, const char *piece, size_t n) {
  try {
    return model->processor.PieceToId(absl::string_view(piece, n));
  } catch (...) {
    return model->processor.unk_id();
  }
}

const char *sp_piece(const sp_model *model, int32_t id) {
  return model->processor.IdToPiece(id).c_str();
}

int sp_encode(const sp_model *model, const char *text, const size_t *ends, int n, int max_ids,
              int32_t *ids, int32_t *lengths, char **message) {
  int i = 0;
  try {
    std::vector<int> pieces;
    size_t begin = 0;
    for (; i < n; i++) {
      const auto status = model->processor.Encode(absl::string_view(text + begin, ends[i] - begin), &pieces);
      if (!status.ok()) {
        set_message(message, std::to_string(i) + ": " + status.ToString());
        return -1;
      }
      const size_t kept = std::min(pieces.size(), static_cast<size_t>(max_ids));
      std::copy_n(pieces.begin(), kept, ids + static_cast<size_t>(i) * max_ids);
      lengths[i] = static_cast<int32_t>(kept);
      begin = ends[i];
    }
    return 0;
  } catch (const std::exception &e) {
    set_message(message, std::to_string(i) + ": " + e.what());
  } catch (...) {
    set_message(message, std::to_string(i) + ": unknown C++ exception");
  }
  return -1;
}

int sp_places(const sp_model *model, const char *text, size_t n, int32_t **ids, uint32_t **ends, size_t *count,
              char **message) {
  *ids = nullptr;
  *ends = nullptr;
  try {
    sentencepiece::ImmutableSentencePieceText spt;
    const auto status = model->processor.Encode(absl::string_view(text, n), spt.mutable_proto());
    if (!status.ok()) {
      set_message(message, status.ToString());
      return -1;
    }
    *count = spt.pieces_size();
    *ids = static_cast<int32_t *>(malloc((*count + 1) * sizeof(int32_t)));
    *ends = static_cast<uint32_t *>(malloc((*count + 1) * sizeof(uint32_t)));
    if (*ids != nullptr && *ends != nullptr) {
      for (size_t i = 0; i < *count; i++) {
        const auto piece = spt.pieces(static_cast<int>(i));
        (*ids)[i] = static_cast<int32_t>(piece.id());
        (*ends)[i] = piece.end();
      }
      return 0;
    }
    set_message(message, "out of memory");
  } catch (const std::exception &e) {
    set_message(message, e.what());
  } catch (...) {
    set_message(message, "unknown C++ exception");
  }
  free(*ids);
  free(*ends);
  return -1;
}

}  // extern "C"
