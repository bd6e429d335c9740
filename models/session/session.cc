#include "encdec/models/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <numeric>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

// Adds the time until its destruction to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& total_;
  Clock::time_point start_ = Clock::now();
};

float logarithm(float x, const SparsePooling& pooling) {
  for (int i = 0; i < pooling.logarithms; ++i) x = std::log1p(x);
  return x;
}

// Writes the mean of all rows.
void write_mean(const Tensor& rows, float* to) {
  for (Dim i = 0; i < rows.width(); ++i) {
    double sum = 0;
    for (Dim r = 0; r < rows.rows(); ++r) sum += static_cast<double>(rows.row(r)[i]);
    to[i] = static_cast<float>(sum / static_cast<double>(rows.rows()));
  }
}

// Adds the logits of a token to the weights of a text.
void add_logits(const float* logits, const SparsePooling& pooling, std::span<float> weights) {
  if (!pooling.is_sum) {
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::max(weights[i], logits[i]);
    return;
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (logits[i] > 0) weights[i] += logarithm(logits[i], pooling);
  }
}

// Copies the numbers of all sources to `numbers`, as rows of `width` numbers that `sequences` describes. Zeros fill the
// last row of a source.
Tensor joined(std::span<const Tensor> sources, Dim width, std::vector<float>& numbers,
              std::vector<Sequence>& sequences) {
  numbers.clear();
  sequences.clear();
  Dim rows = 0;
  for (const Tensor& source : sources) {
    const Dim own = (source.elements() + width - 1) / width;
    sequences.push_back({.first_row = static_cast<int>(rows), .rows = static_cast<int>(own)});
    rows += own;
    numbers.insert(numbers.end(), source.data<float>(), source.data<float>() + source.elements());
    numbers.resize(static_cast<std::size_t>(rows * width));
  }
  return {numbers.data(), DataType::float32, {rows, width}};
}

}  // namespace

Session::Session(std::shared_ptr<const Transformer> model, const std::shared_ptr<ThreadTeam>& team,
                 std::shared_ptr<const Transformer> draft)
    : model_(std::move(model)),
      draft_(draft == nullptr ? nullptr : std::make_unique<Session>(std::move(draft), team)),
      team_(team) {
  if (model_->front) front_state_.emplace(model_->front->graph(), team);
  if (model_->encoder) encoder_state_.emplace(model_->encoder->graph(), team);
  if (model_->decoder) {
    decoder_state_.emplace(model_->decoder->graph(), team);
    output_state_.emplace(model_->output->graph(), team);
    decoder_inputs_.resize(model_->decoder->graph().inputs().size());
  }
  if (model_->head) head_state_.emplace(model_->head->graph(), team);
  if (draft_ && draft_->model_->config.has_encoder() && !draft_->model_->encoder) draft_->memory_ = &source_memory_;
}

Session::Encoded Session::encode(std::span<const TokenIds> sources, const Reading& reading) {
  const Stopwatch stopwatch(encode_seconds_);
  encoder_state_->sequences.clear();
  ids_.clear();
  types_.clear();
  rows_.clear();
  target_ids_.clear();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const TokenIds& source = sources[i];
    if (source.empty()) throw InputError("a source without tokens, expected at least one");
    const auto first = static_cast<int>(ids_.size());
    const auto count = static_cast<int>(source.size());
    encoder_state_->sequences.push_back(
        {.first_row = first, .rows = count, .first_memory_row = first, .memory_rows = count});
    if (model_->config.decodes_source()) {
      target_ids_.push_back(model_->config.head.start_token.value_or(source.back()));
      target_ids_.insert(target_ids_.end(), source.begin(), source.end() - 1);
    }
    ids_.insert(ids_.end(), source.begin(), source.end());
    types_.resize(ids_.size(), 0);
    // A model with one type gives it to all tokens, whatever the tokenizer says.
    if (model_->config.encoder.token_types > 1 && !reading.second_segments.empty() &&
        reading.second_segments[i] < source.size()) {
      std::fill(types_.begin() + first + static_cast<std::ptrdiff_t>(reading.second_segments[i]), types_.end(), 1);
    }
    rows_.resize(reading.first_rows ? i + 1 : ids_.size());
    std::iota(rows_.begin() + (reading.first_rows ? static_cast<std::ptrdiff_t>(i) : first), rows_.end(), first);
  }
  const auto vector = [](TokenIds& values) {
    return Tensor(values.data(), DataType::int32, {static_cast<Dim>(values.size())});
  };
  std::vector<Tensor> inputs{vector(ids_)};
  if (model_->config.encoder.token_types > 0) inputs.push_back(vector(types_));
  if (model_->config.gathers_rows) inputs.push_back(vector(rows_));
  if (model_->config.decodes_source()) inputs.push_back(vector(target_ids_));
  return run_encoder(inputs);
}

Session::Encoded Session::encode(std::span<const Tensor> sources) {
  const Stopwatch stopwatch(encode_seconds_);
  for (const Tensor& source : sources) {
    if (!are_front_rows(source)) check_frames(source);
  }
  const FrameOptions& frames = model_->config.encoder.frames;
  const Dim width = model_->front ? model_->config.encoder.model_dim : frames.per_row * frames.width;
  const Tensor input = joined(model_->front ? front_rows(sources) : sources, width, frames_, encoder_state_->sequences);
  return run_encoder(std::span(&input, 1));
}

bool Session::are_front_rows(const Tensor& source) const {
  return model_->front && source.type() == DataType::float32 && source.shape().rank() == 2 && !source.empty() &&
         source.width() == model_->config.encoder.model_dim;
}

// Returns the rows of each source: those that the front makes of samples, or the source itself.
std::span<const Tensor> Session::front_rows(std::span<const Tensor> sources) {
  rows_of_sources_.assign(sources.begin(), sources.end());
  std::vector<Tensor> sounds;
  std::ranges::copy_if(sources, std::back_inserter(sounds),
                       [this](const Tensor& source) { return !are_front_rows(source); });
  if (sounds.empty()) return rows_of_sources_;
  const FrameOptions& frames = model_->config.encoder.frames;
  Tensor samples = joined(sounds, frames.per_row, frames_, front_state_->sequences);
  positions_.clear();
  for (std::size_t i = 0; i < sounds.size(); ++i) {
    const Dim count = sounds[i].rows(), lost = count % frames.counted;
    std::fill_n(samples.row(front_state_->sequences[i].first_row) + count - lost, lost, 0.0f);
    positions_.push_back(static_cast<std::int32_t>(frames.windows.front().outputs(count)));
  }
  std::vector<Tensor> inputs{samples};
  if (model_->front->graph().inputs().size() > 1) {
    inputs.emplace_back(positions_.data(), DataType::int32, Shape{static_cast<Dim>(positions_.size())});
  }
  const Tensor rows = model_->front->run(inputs, *front_state_)[0];
  auto sequence = front_state_->sequences.begin();
  for (Tensor& source : rows_of_sources_) {
    if (!are_front_rows(source)) source = rows.slice((sequence++)->first_row, frames.rows_of(source.rows()));
  }
  return rows_of_sources_;
}

Tensor Session::classify(const Encoded& encoded) {
  Tensor rows = encoded.classified;
  const HeadConfig& head = model_->config.head;
  const bool pools = head.kind == HeadKind::sequences, pools_logits = head.pooling == HeadPooling::mean_logits;
  if (pools && !pools_logits) rows = pooled(rows, head.pooling);
  const Tensor logits = model_->head->run(std::span(&rows, 1), *head_state_)[0];
  return pools && pools_logits ? pooled(logits, HeadPooling::mean) : logits;
}

// Returns a row for each source of the last encode() [sources, W], made of the rows of its tokens, or `rows` themselves
// if there is already one for each source.
Tensor Session::pooled(const Tensor& rows, HeadPooling pooling) {
  const auto& sequences = encoder_state_->sequences;
  if (rows.rows() == static_cast<Dim>(sequences.size())) return rows;
  const auto width = static_cast<std::size_t>(rows.width());
  wanted_rows_.resize(sequences.size() * width);
  float* to = wanted_rows_.data();
  for (const Sequence& sequence : sequences) {
    if (pooling == HeadPooling::mean) {
      write_mean(rows.slice(sequence.first_row, sequence.rows), to);
    } else {
      int row = sequence.first_row;
      if (pooling == HeadPooling::last_end) {
        row += sequence.rows - 1;
        while (ids_[static_cast<std::size_t>(row)] != model_->config.head.end_token) --row;
        assert(row >= sequence.first_row);
      }
      std::copy_n(rows.row(row), width, to);
    }
    to += width;
  }
  return {wanted_rows_.data(), DataType::float32, {static_cast<Dim>(sequences.size()), rows.width()}};
}

void Session::weigh_vocabulary(const Encoded& encoded, const std::function<void(std::size_t, const Tensor&)>& take) {
  constexpr Dim kLogitsBytes = 32 << 20, kMinRows = 8, kMaxRows = 64;
  const HeadConfig& head = model_->config.head;
  const Dim most = std::clamp(kLogitsBytes / (head.labels * Dim{sizeof(float)}), kMinRows, kMaxRows);
  Tensor logits;  // the logits of rows [begin, end)
  Dim begin = 0, end = 0;
  for (std::size_t source = 0; source < encoder_state_->sequences.size(); ++source) {
    vocabulary_weights_.assign(static_cast<std::size_t>(head.labels), 0.0f);
    const Sequence& sequence = encoder_state_->sequences[source];
    for (Dim row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
      if (row == end) {
        begin = std::exchange(end, std::min(end + most, encoded.hidden.rows()));
        const Tensor rows = encoded.hidden.slice(begin, end - begin);
        logits = model_->head->run(std::span(&rows, 1), *head_state_)[0];
      }
      add_logits(logits.row(row - begin), head.sparse, vocabulary_weights_);
    }
    if (!head.sparse.is_sum) {
      // The logarithm keeps the order, so that it is taken of the maximum alone.
      for (float& weight : vocabulary_weights_) weight = logarithm(weight, head.sparse);
    }
    take(source, Tensor(vocabulary_weights_.data(), DataType::float32, {1, head.labels}));
  }
}

void Session::check_frames(const Tensor& frames) const {
  const FrameOptions& options = model_->config.encoder.frames;
  if (!frames.empty() && frames.type() == DataType::float32 && frames.shape().rank() == 2 &&
      frames.width() == options.width && options.rows_of(frames.rows()) > 0) {
    return;
  }
  throw InputError(fmt::format("frames of shape {}, expected {}",
                               frames.empty() ? "nothing" : to_string(frames.shape()), options.expected_shape()));
}

Session::Encoded Session::run_encoder(std::span<const Tensor> inputs) {
  const auto outputs = model_->encoder->run(inputs, *encoder_state_);
  encoded_sources_.clear();
  if (!model_->config.has_decoder()) return {outputs.front(), {}, {}, outputs.back()};
  const auto memories = outputs.subspan(1);
  for (const Sequence& source : encoder_state_->sequences) {
    encoded_sources_.push_back(source_memory_.add(memories, source.first_row, source.rows));
  }
  return {outputs[0], encoded_sources_, memories, Tensor()};
}

void Session::close_source(int source) {
  if (memory_ == &source_memory_) source_memory_.remove(source);
}

void Session::reset() {
  if (decoder_state_) decoder_state_->cache_index.close_all();
  source_memory_.remove_all();
  if (draft_) draft_->reset();
}

void Session::set_source_attention(SourceAttention mode) {
  const TransformerConfig& config = model_->config;
  if (!config.has_encoder() || !config.has_decoder() || config.decoder.layers == 0) return;
  AttentionObserver observer;
  if (mode == SourceAttention::keep) {
    observer = [this, only = config.alignment_head,
                share = config.alignment_head ? 1.0f : 1.0f / static_cast<float>(config.decoder.attention.heads)](
                   const AttentionWeights& attention) {
      const auto row = static_cast<std::size_t>(attention.row);
      if (row >= attention_of_row_.size()) attention_of_row_.resize(row + 1);
      std::vector<float>& mean = attention_of_row_[row];
      if (attention.head == 0) mean.assign(attention.weights.size(), 0.0f);
      if (only && attention.head != *only) return;
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += share * attention.weights[i];
    };
  }
  observe_attention(AttentionKind::cross, config.decoder.layers - 1, std::move(observer));
}

Edge Session::observe_attention(AttentionKind kind, int layer, AttentionObserver observer) {
  const bool is_encoder = kind == AttentionKind::encoder_self;
  const std::string node = fmt::format("{}.{}.{}_attention", is_encoder ? "encoder" : "decoder", layer,
                                       kind == AttentionKind::cross ? "cross" : "self");
  const Graph& graph = (is_encoder ? model_->encoder : model_->decoder)->graph();
  const Edge found = graph.find(node);
  (is_encoder ? encoder_state_ : decoder_state_)->observe_attention(found, std::move(observer));
  return found;
}

void Session::stop_observing(AttentionKind kind, Edge node) noexcept {
  (kind == AttentionKind::encoder_self ? encoder_state_ : decoder_state_)->observe_attention(node, {});
}

std::span<const float> Session::source_attention(std::size_t input) const {
  const Sequence& sequence = decoder_state_->sequences[input];
  return attention_of_row_[static_cast<std::size_t>(sequence.first_row + sequence.rows - 1)];
}

void Session::set_observer(const NodeObserver& observer) {
  for (auto* state : {&front_state_, &encoder_state_, &decoder_state_, &output_state_, &head_state_}) {
    if (*state) (*state)->observer = observer;
  }
}

void Session::set_run_observer(const NodeRunObserver& observer) {
  for (auto* state : {&front_state_, &encoder_state_, &decoder_state_, &output_state_, &head_state_}) {
    if (*state) (*state)->run_observer = observer;
  }
}

int Session::open_target(int source) {
  assert((source == kNoSource) == !model_->config.has_encoder());
  return remember_source(decoder_state_->cache_index.open(), source);
}

int Session::fork_target(int target) {
  return remember_source(decoder_state_->cache_index.fork(target), source_of_[static_cast<std::size_t>(target)]);
}

int Session::remember_source(int target, int source) {
  const auto index = static_cast<std::size_t>(target);
  if (index >= source_of_.size()) source_of_.resize(index + 1);
  source_of_[index] = source;
  return target;
}

void Session::reorder_targets(std::span<const int> targets, std::span<const int> parents) {
  decoder_state_->cache_index.reorder(targets, parents);
}

void Session::close_target(int target) {
  decoder_state_->cache_index.close(target);
}

void Session::shorten_target(int target, int length) {
  decoder_state_->cache_index.shorten(target, length);
}

Tensor Session::decode(std::span<const TargetTokens> inputs) {
  const Stopwatch stopwatch(decode_seconds_);
  decoder_state_->sequences.clear();
  ids_.clear();
  for (const TargetTokens& input : inputs) {
    const int count = static_cast<int>(input.tokens.size());
    Sequence sequence{.first_row = static_cast<int>(ids_.size()),
                      .rows = count,
                      .past = decoder_state_->cache_index.length(input.target),
                      .slot = input.target};
    if (const int source = source_of_[static_cast<std::size_t>(input.target)]; source != kNoSource) {
      const SourceMemory::Rows memory = memory_->rows(source);
      sequence.first_memory_row = memory.first;
      sequence.memory_rows = memory.count;
    }
    decoder_state_->sequences.push_back(sequence);
    decoder_state_->cache_index.append(input.target, count);
    ids_.insert(ids_.end(), input.tokens.begin(), input.tokens.end());
  }
  std::ranges::copy(memory_->tensors(), decoder_inputs_.begin() + 1);
  decoder_inputs_[0] = Tensor(ids_.data(), DataType::int32, {static_cast<Dim>(ids_.size())});
  return logits_of(wanted_rows(model_->decoder->run(decoder_inputs_, *decoder_state_)[0], inputs), inputs);
}

// Returns the logits of the rows that are wanted for `inputs`.
Tensor Session::logits_of(const Tensor& hidden, std::span<const TargetTokens> inputs) {
  if (std::ranges::all_of(inputs, [](const TargetTokens& input) { return input.shortlist == nullptr; })) {
    return model_->output->run(std::span(&hidden, 1), *output_state_)[0];
  }
  const auto space = [](Tensor& tensor, const Shape& shape) {
    if (tensor.empty() || tensor.elements() < shape.elements()) tensor = Tensor::uninitialized({shape.elements()});
    return Tensor(tensor.raw(), DataType::float32, shape);
  };
  const Dim vocabulary = model_->config.decoder.vocabulary;
  const Tensor all = space(spread_logits_, {hidden.rows(), vocabulary});
  Dim begin = 0;
  for (std::size_t i = 0; i < inputs.size();) {  // neighbours with the same shortlist are computed together
    const VocabularyShortlist* shortlist = inputs[i].shortlist;
    Dim rows = 0;
    for (; i < inputs.size() && inputs[i].shortlist == shortlist; ++i) {
      rows += static_cast<Dim>(inputs[i].rows());
    }
    const Tensor from = hidden.slice(begin, rows);
    Tensor to = all.slice(begin, rows);
    begin += rows;
    const Linear& layer = shortlist == nullptr ? *model_->output_layer : shortlist->projection();
    Tensor logits = shortlist == nullptr ? to : space(shortlisted_logits_, {rows, layer.output_width()});
    model_->output->run_variant(layer, std::span(&from, 1), logits, *output_state_);
    if (shortlist != nullptr) shortlist->spread(logits, to);
  }
  return all;
}

// Returns the rows of the tokens whose logits are wanted.
Tensor Session::wanted_rows(const Tensor& hidden, std::span<const TargetTokens> inputs) {
  Dim rows = 0;
  for (const TargetTokens& input : inputs) rows += static_cast<Dim>(input.rows());
  if (hidden.rows() == rows) return hidden;
  const auto width = static_cast<std::size_t>(hidden.width());
  wanted_rows_.resize(static_cast<std::size_t>(rows) * width);
  float* to = wanted_rows_.data();
  Dim end = 0;
  for (const TargetTokens& input : inputs) {
    end += static_cast<Dim>(input.tokens.size());
    const std::size_t wanted = input.rows();
    to = std::copy_n(hidden.row(end - static_cast<Dim>(wanted)), wanted * width, to);
  }
  return {wanted_rows_.data(), DataType::float32, {rows, hidden.width()}};
}

}  // namespace encdec
