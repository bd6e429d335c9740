#include "encdec/speech/transcription/alignment_reader.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "encdec/engine/kernels/logits.h"
#include "encdec/models/families/whisper.h"

namespace encdec {
namespace {

// Records the cross-attention of `heads` in `weights` [heads, tokens, positions] until the result is destroyed.
std::vector<Session::Observation> record_heads(Session& session, const std::vector<std::pair<int, int>>& heads,
                                               Tensor& weights) {
  std::set<int> layers;
  for (const auto& [layer, head] : heads) layers.insert(layer);
  std::vector<Session::Observation> observations;
  for (const int layer : layers) {
    const auto keep = [&heads, &weights, layer](const AttentionWeights& attention) {
      // Search backwards, because only the last copy of a repeated pair is filled.
      const auto found = std::find(heads.rbegin(), heads.rend(), std::pair(layer, attention.head));
      if (found == heads.rend()) return;
      const Dim first_row = (heads.rend() - found - 1) * weights.shape()[1];
      std::ranges::copy(attention.weights, weights.row(first_row + attention.row) + attention.first_key);
    };
    observations.push_back(session.observe_attention(AttentionKind::cross, layer, keep));
  }
  return observations;
}

// Returns the probability of a text token among all text tokens. Returns 0 for other tokens.
double probability_of(const WhisperTokens& tokens, const float* logits, std::int32_t token) {
  if (token >= tokens.end_of_text) return 0;
  const std::span row(logits, static_cast<std::size_t>(tokens.end_of_text));
  return std::exp(row[static_cast<std::size_t>(token)] - kernels::log_sum_exp(row));
}

struct ReadText {
  std::vector<float> probabilities;  // one per token, from a softmax over the ids below end_of_text
  AlignmentAttention attention;
};

// Decodes in one step: start tokens, notimestamps, the text, end_of_text. Records the cross-attention.
ReadText read_text(Session& session, int source, const TranscriptionTask& task, std::int32_t language,
                   const WindowPosition& position, const TokenIds& text) {
  const WhisperTokens& tokens = task.tokens();
  TokenIds input = task.start_tokens(language);
  const std::size_t begin = input.size();
  input.push_back(tokens.no_timestamps);
  input.insert(input.end(), text.begin(), text.end());
  input.push_back(tokens.end_of_text);

  const Dim positions = task.facts().positions;
  const auto& heads = task.facts().alignment_heads;
  ReadText read;
  read.attention = {.weights = Tensor::allocate({std::ssize(heads), std::ssize(input), positions}),
                    .frames = std::min(position.frames / static_cast<std::size_t>(kWhisperFramesPerRow),
                                       static_cast<std::size_t>(positions)),
                    .sot_sequence = begin};
  const auto recording = record_heads(session, heads, read.attention.weights);
  const int target = session.open_target(source);
  const Session::TargetTokens reads{target, input, Session::TargetTokens::kAll};
  const Tensor logits = session.decode(std::span(&reads, 1));
  session.close_target(target);
  // Text token i is predicted in the row of the token before it.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const float* row = logits.row(static_cast<std::int64_t>(begin + i));
    read.probabilities.push_back(static_cast<float>(probability_of(tokens, row, text[i])));
  }
  return read;
}

// Returns the attention weights of some tokens at some positions, averaged over the heads: [tokens, positions].
std::vector<float> mean_weights(const AlignmentAttention& attention, std::span<const std::size_t> tokens,
                                std::span<const std::size_t> positions) {
  std::vector<float> weights;
  for (const std::size_t token : tokens) {
    const std::size_t row = attention.sot_sequence + token;  // row of the preceding token, which predicts `token`
    for (const std::size_t position : positions) {
      double sum = 0;
      for (std::size_t head = 0; head < attention.heads(); ++head) sum += double{attention.row(head, row)[position]};
      weights.push_back(static_cast<float>(sum / static_cast<double>(attention.heads())));
    }
  }
  return weights;
}

// Returns the column at which each token begins, then the number of columns. The best path often adds the
// end of the previous word to a token, because no token attends to the end of a word. So, except after a
// pause, a token begins at the column where the sum of its weights exceeds kShare of their total.
std::vector<std::size_t> token_columns(std::span<const float> weights, std::span<const std::size_t> positions) {
  const std::size_t size = positions.size();
  constexpr float kLeastWeight = 1e-3F;
  constexpr double kShare = 0.02;
  // Find the best path. Replace column -1, which is before the first column, by 0.
  std::vector<float> likelihoods;
  for (const float weight : weights) likelihoods.push_back(std::log(weight + kLeastWeight));
  std::vector<std::size_t> columns;
  for (const std::ptrdiff_t column : first_columns(likelihoods, weights.size() / size)) {
    columns.push_back(static_cast<std::size_t>(std::max<std::ptrdiff_t>(column, 0)));
  }
  columns.push_back(size);
  // Move the beginning of each token past the columns with little weight, unless the token follows a pause.
  for (std::size_t token = 0; token + 1 < columns.size(); ++token) {
    const std::size_t first = columns[token];
    if (first == 0 || (first < size && positions[first] > positions[first - 1] + 1)) continue;
    const auto row = weights.subspan(token * size, size);
    double whole = 0, sum = 0;
    for (std::size_t i = columns[token]; i < columns[token + 1]; ++i) whole += double{row[i]};
    for (std::size_t& i = columns[token]; i < columns[token + 1]; ++i) {
      sum += double{row[i]};
      if (sum > kShare * whole) break;
    }
  }
  return columns;
}

// Sets the start and the end of `word` to the longest run of adjacent positions.
void set_range(FoundWord& word, std::span<const std::size_t> positions) {
  for (std::size_t begin = 0, i = 1; i <= positions.size(); ++i) {
    if (i < positions.size() && positions[i] == positions[i - 1] + 1) continue;
    if (i - begin > word.end - word.start) {
      word.start = positions[begin];
      word.end = positions[i - 1] + 1;
    }
    begin = i;
  }
}

}  // namespace

std::vector<WordTiming> read_word_times(Session& session, int source, const TranscriptionTask& task,
                                        std::int32_t language, const WindowPosition& position, const TokenIds& text) {
  if (text.empty()) return {};
  const ReadText read = read_text(session, source, task, language, position, text);
  const WhisperTokens& tokens = task.tokens();
  TokenIds with_end = text;
  with_end.push_back(tokens.end_of_text);
  const auto decode = [&](std::span<const std::int32_t> ids) { return tokens.bytes(ids); };
  return find_alignment(read.attention, read.probabilities,
                        split_to_word_tokens(with_end, task.language_code(language), tokens.end_of_text, decode));
}

std::vector<FoundWord> find_words(Session& session, int source, const TranscriptionTask& task, std::int32_t language,
                                  std::span<const KnownWord> words, std::span<const std::size_t> positions) {
  // Join the tokens of all words. Only tokens with letters or digits are aligned with positions.
  TokenIds text;
  std::vector<std::size_t> spoken;  // indices of the tokens with letters or digits
  std::vector<std::size_t> ends;    // for each word, the size of `spoken` after its tokens were added
  for (const KnownWord& word : words) {
    for (const std::int32_t token : word.tokens) {
      if (!spoken_part(task.tokens().bytes({&token, 1})).empty()) spoken.push_back(text.size());
      text.push_back(token);
    }
    ends.push_back(spoken.size());
  }
  std::vector<FoundWord> found(words.size());
  if (spoken.empty() || positions.empty()) return found;
  const ReadText read = read_text(session, source, task, language, {}, text);
  // A word has the columns from its first spoken token up to the first spoken token of the next word.
  const std::vector<std::size_t> columns = token_columns(mean_weights(read.attention, spoken, positions), positions);
  for (std::size_t i = 0, begin = 0; i < words.size(); begin = ends[i++]) {
    if (begin == ends[i]) continue;
    double sum = 0;
    for (std::size_t k = begin; k < ends[i]; ++k) sum += std::log(double{read.probabilities[spoken[k]]});
    found[i].probability = std::exp(sum / static_cast<double>(ends[i] - begin));
    set_range(found[i], positions.subspan(columns[begin], columns[ends[i]] - columns[begin]));
  }
  return found;
}

}  // namespace encdec
