#pragma once

#include <encdec/models/session/attention_map.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace encdec::cli {

// How a file of attention is written: by the end of its name.
enum class AttentionFormat : std::uint8_t {
  terminal,   // no name
  page,       // .html: one page with everything in it
  image,      // .png
  json,       // .json, .jsonl
  alignment,  // .align, .txt and any other
};
AttentionFormat attention_format(const std::string& path);

// What is typed for a layer and a head.
struct TypedAttention {
  std::optional<AttentionChoice> layers;
  std::optional<AttentionChoice> heads;

  enum class Otherwise : std::uint8_t {
    all,              // each head of each layer
    last_layer_mean,  // the mean of the last layer's heads
  };
  // Of all kinds.
  AttentionSelection selection(Otherwise otherwise) const;
};

// Adds options of these names, such as "--layer": a number from 0, a negative one from the end, mean or all.
void add_attention_choices(CLI::App& command, const std::string& layer, const std::string& head, TypedAttention& typed);

}  // namespace encdec::cli
