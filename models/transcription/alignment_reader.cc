#include "encdec/models/transcription/alignment_reader.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "encdec/engine/kernels/logits.h"

namespace encdec {
namespace {

// Keeps what some heads of the decoder look at while it lives.
class HeadRecording {
 public:
  HeadRecording(Session& session, const std::vector<std::pair<int, int>>& heads, Dim tokens, Dim positions)
      : session_(session) {
    maps_.reserve(heads.size());
    std::map<int, std::map<int, Tensor*>> by_layer;
    for (const auto& [layer, head] : heads) {
      maps_.push_back(Tensor::allocate({tokens, positions}));
      by_layer[layer][head] = &maps_.back();
    }
    for (const auto& [layer, by_head] : by_layer) {
      layers_.push_back(layer);
      session.observe_attention(AttentionKind::cross, layer, [by_head = by_head](const AttentionWeights& told) {
        const auto map = by_head.find(told.head);
        if (map == by_head.end()) return;
        std::ranges::copy(told.weights, map->second->row(told.row) + told.first_key);
      });
    }
  }
  ~HeadRecording() {
    for (const int layer : layers_) session_.observe_attention(AttentionKind::cross, layer, {});
  }
  HeadRecording(const HeadRecording&) = delete;
  HeadRecording& operator=(const HeadRecording&) = delete;

  const std::vector<Tensor>& maps() const { return maps_; }

 private:
  Session& session_;
  std::vector<Tensor> maps_;
  std::vector<int> layers_;
};

}  // namespace

std::vector<WordTiming> read_word_times(Session& session, int source, const TranscriptionTask& task,
                                        std::int32_t language, const WindowPlace& place, const TokenIds& text) {
  if (text.empty()) return {};
  const WhisperTokens& tokens = task.tokens();
  TokenIds input{tokens.start};
  if (tokens.is_multilingual) {
    input.push_back(language);
    input.push_back(task.options().task == SpeechTask::translate ? tokens.translate : tokens.transcribe);
  }
  const std::size_t begin = input.size();
  input.push_back(tokens.no_timestamps);
  input.insert(input.end(), text.begin(), text.end());
  input.push_back(tokens.end_of_text);

  const Dim positions = task.facts().positions;
  const HeadRecording recording(session, task.facts().alignment_heads, static_cast<Dim>(input.size()), positions);
  const int target = session.open_target(source);
  const Session::TargetTokens reads{target, input};
  const Tensor logits = session.decode(std::span(&reads, 1), Session::LogitsOf::every_token);
  session.close_target(target);

  std::vector<float> probabilities;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::span row(logits.row(static_cast<std::int64_t>(begin + i)), static_cast<std::size_t>(tokens.end_of_text));
    probabilities.push_back(std::exp(row[static_cast<std::size_t>(text[i])] - kernels::log_sum_exp(row)));
  }
  AlignmentAttention attention{
      .heads = {},
      .tokens = input.size(),
      .frames = std::min(place.frames / static_cast<std::size_t>(kFramesPerRow), static_cast<std::size_t>(positions)),
      .stride = static_cast<std::size_t>(positions),
      .sot_sequence = begin};
  for (const Tensor& map : recording.maps()) attention.heads.push_back(map.data<float>());
  TokenIds with_end = text;
  with_end.push_back(tokens.end_of_text);
  const std::string_view code = tokens.is_multilingual ? tokens.code_of(language) : "en";
  const auto words = split_to_word_tokens(with_end, code, tokens.end_of_text,
                                          [&](std::span<const std::int32_t> ids) { return tokens.bytes(ids); });
  return find_alignment(attention, probabilities, words);
}

}  // namespace encdec
