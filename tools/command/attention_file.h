#pragma once

#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "attention/labelled_attention.h"
#include "command/output_file.h"

namespace encdec::cli {

// Format of an attention file, chosen by the ending of its name.
enum class AttentionFormat : std::uint8_t {
  terminal,   // empty path
  svg,        // .svg: a picture
  json,       // .json, .jsonl
  unknown,    // .html, .htm, .png: pictures in a format that is not written
  alignment,  // .align, .txt and any other
};
AttentionFormat attention_format(const std::string& path);

// The layers and heads that the user chose; unset if not given.
struct TypedAttention {
  std::optional<AttentionChoice> layers;
  std::optional<AttentionChoice> heads;

  // Default for options that are not given.
  enum class Otherwise : std::uint8_t {
    all,              // each head of each layer
    last_layer_mean,  // the mean of the last layer's heads
  };
  // Returns the selection, for all kinds of attention.
  AttentionSelection selection(Otherwise otherwise) const;
};

// Adds two options with the names `layer` and `head`, such as "--layer". Their values are a number from 0, a negative
// number that counts from the end, mean, or all.
void add_attention_choices(CLI::App& command, const std::string& layer, const std::string& head, TypedAttention& typed);

// The file of `generate --attention`, with the attention of the results. The ending of its name chooses the format:
//   .json, .jsonl  an object per line: {"hypotheses": [{"alignment": "0-0 1-2", ...}]}; see also json_members()
//   any other      a line with the hard alignment of the best result, without its end token; see hard_alignment()
// A result without tokens has no hypothesis in JSON, and an empty line in other files.
// Order of calls: write* commit
class AttentionFile {
 public:
  // Opens the file. REQUIRES: `model` outlives this object.
  AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model);

  // Returns the attention to request from generate().
  const AttentionSelection& selection() const { return selection_; }

  // Writes the result of the next input.
  void write(const GenerateResult& result);
  void commit() { output_.commit(); }

 private:
  AttentionFormat format_;
  AttentionSelection selection_;
  OutputFile output_;
  const Model& model_;
};

}  // namespace encdec::cli
