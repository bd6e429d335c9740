#include "encdec/models/speech/speech_model.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "encdec/models/speech/speech_request.h"
#include "encdec/models/speech/transcription/transcriber.h"

namespace encdec {
namespace {

// Recordings and transcripts that are all in memory.
class RecordingList final : public TranscribeStream {
 public:
  explicit RecordingList(std::vector<Recording> recordings)
      : transcripts(recordings.size()), recordings_(std::move(recordings)) {}

  std::optional<Recording> next() override {
    return read_ < recordings_.size() ? std::optional(std::move(recordings_[read_++])) : std::nullopt;
  }
  void add(std::size_t recording, std::span<const TranscriptSegment> segments) {
    std::vector<TranscriptSegment>& all = transcripts[recording].segments;
    all.insert(all.end(), segments.begin(), segments.end());
  }
  void write(std::size_t recording, Transcript transcript) override {
    transcript.segments = std::move(transcripts[recording].segments);
    transcripts[recording] = std::move(transcript);
  }

  std::vector<Transcript> transcripts;

 private:
  std::vector<Recording> recordings_;
  std::size_t read_ = 0;
};

}  // namespace

SpeechModel::SpeechModel(Model model) : model_(std::move(model)) {
  expect_speech_model(model_.parts());
  facts_ = std::make_shared<const WhisperFacts>(model_.checkpoint(), model_.config(), model_.tokenizer());
}

std::vector<std::string> SpeechModel::languages() const {
  return facts_->tokens.language_codes();
}

void SpeechModel::transcribe_stream(TranscribeStream& stream, const TranscribeOptions& options) const {
  encdec::transcribe(model_.parts(), *facts_, options, stream);
}

std::vector<Transcript> SpeechModel::transcribe(std::vector<Recording> recordings,
                                                const TranscribeOptions& options) const {
  RecordingList list(std::move(recordings));
  TranscribeOptions collecting = options;
  collecting.on_segments = [&](std::size_t recording, std::span<const TranscriptSegment> segments) {
    list.add(recording, segments);
    if (options.on_segments) options.on_segments(recording, segments);
  };
  transcribe_stream(list, collecting);
  return std::move(list.transcripts);
}

Transcript SpeechModel::transcribe(Recording recording, const TranscribeOptions& options) const {
  std::vector<Recording> recordings;
  recordings.push_back(std::move(recording));
  return std::move(transcribe(std::move(recordings), options).front());
}

Request SpeechModel::submit(RequestQueue& queue, Recording recording, const TranscribeOptions& options,
                            TranscribeHandlers handlers, std::uint64_t client) const {
  return queue.submit(
      std::make_shared<SpeechRequest>(model_, facts_, std::move(recording), options, std::move(handlers)), client);
}

}  // namespace encdec
