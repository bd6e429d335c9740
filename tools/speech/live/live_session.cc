#include "encdec/speech/live/live_session.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <iterator>
#include <utility>

#include "encdec/engine/base/mutex.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/speech/features/log_mel.h"
#include "encdec/speech/live/utterance_encoder.h"
#include "encdec/speech/transcript/speech_time_map.h"

namespace encdec {
namespace {

constexpr std::uint64_t kRate = AudioReader::kSampleRate;
constexpr std::uint64_t kShortest = kRate / 10;           // utterances with fewer samples have an empty text
constexpr std::uint64_t kLongestCommitted = 300 * kRate;  // at this length, an utterance ends without commit()
constexpr std::uint64_t kAgreement = 2 * kRate;           // partial texts must agree over this time, in samples

double seconds_of(std::uint64_t samples) {
  return static_cast<double>(samples) / static_cast<double>(kRate);
}

std::string without_space(std::string text) {
  if (text.starts_with(' ')) text.erase(0, 1);
  return text;
}

// Returns the words with which all texts begin, except the last such word. If the texts have no
// spaces, returns characters, except the last two.
std::string agreed_words(const std::deque<std::string>& texts) {
  std::string_view common = texts.front();
  for (const std::string& text : texts) {
    common = common.substr(0, static_cast<std::size_t>(std::ranges::mismatch(common, text).in1 - common.begin()));
  }
  // Drop the last word, which may be incomplete. Without spaces, drop the last two characters.
  const std::size_t space = common.rfind(' ');
  if (space != common.npos) return std::string(common.substr(0, space));
  if (texts.back().find(' ') != std::string::npos) return "";
  std::size_t size = common.size();
  for (int characters = 0; size > 0 && characters < 2;) {
    if (!is_continuation(common[--size])) ++characters;
  }
  return std::string(common.substr(0, size));
}

}  // namespace

// Events of UtteranceFinder begin and end utterances. For each utterance, partial passes are submitted one
// at a time, then a final pass. Workers store the results. deliver() sends the results as events, in order.
struct LiveSession::Impl : std::enable_shared_from_this<Impl> {
  // One transcription of the first `samples` samples of an utterance.
  struct Pass {
    std::uint64_t samples = 0;
    Request request = {};
    bool is_done = false;
    Transcript transcript = {};
    std::exception_ptr failure = {};
  };

  struct Utterance {
    std::uint64_t number = 0;
    std::uint64_t start = 0;  // index of the first sample in the session
    std::vector<float> samples = {};
    bool has_speech = true;
    bool is_over = false;
    // The pass for the final text. It starts early, at a silence that may end the utterance.
    std::shared_ptr<Pass> last_pass = {};

    std::shared_ptr<UtteranceEncoder> encoder = {};  // null if passes cannot share encoder output
    std::shared_ptr<Pass> partial_pass = {};         // null if no partial pass is running
    std::deque<std::uint64_t> waiting = {};          // lengths of the next partial passes, in samples
    std::uint64_t next_partial = 0;                  // length at which the next partial pass is due
    std::deque<std::string> partials = {""};         // recent partial texts, the newest one last
    std::string language = {}, agreed = {};          // detected language, stable words
  };

  Impl(SpeechModel model_, RequestQueue& queue_, LiveOptions options_, OnEvent on_event_, std::uint64_t client_)
      : model(std::move(model_)),
        queue(queue_),
        options(std::move(options_)),
        stream(options.format, "samples"),
        on_event(std::move(on_event_)),
        client(client_) {}

  SpeechModel model;
  RequestQueue& queue;
  LiveOptions options;
  TranscribeOptions partial_options;
  RawAudioStream stream;
  OnEvent on_event;
  std::uint64_t client;
  std::uint64_t step = 0, window = 0;  // in samples

  // The next five members are used only by the thread that calls feed().
  std::optional<UtteranceFinder> finder;
  std::vector<float> converted;  // samples of the current call
  std::vector<UtteranceFinder::Event> found;
  std::vector<float> recent;       // samples that may begin the next utterance
  std::uint64_t recent_begin = 0;  // index of recent[0] in the session

  mutable Mutex mutex;
  // Utterances whose final text has not been sent. Only the last utterance may be unfinished.
  std::deque<Utterance> utterances ENCDEC_GUARDED_BY(mutex);
  std::uint64_t next_number ENCDEC_GUARDED_BY(mutex) = 0;
  std::uint64_t total ENCDEC_GUARDED_BY(mutex) = 0;  // number of samples so far
  LiveCounts counts ENCDEC_GUARDED_BY(mutex) = {};
  bool is_finishing ENCDEC_GUARDED_BY(mutex) = false;
  bool is_closed ENCDEC_GUARDED_BY(mutex) = false;

  void emit(LiveEvent event) ENCDEC_REQUIRES(mutex) {
    if (!is_closed) on_event(std::move(event));
  }
  LiveEvent event_of(LiveEvent::Kind kind, const Utterance& utterance) const {
    return {.kind = kind,
            .utterance = utterance.number,
            .start = seconds_of(utterance.start),
            .end = seconds_of(utterance.start + utterance.samples.size()),
            .has_speech = utterance.has_speech};
  }
  bool is_speaking() const ENCDEC_REQUIRES(mutex) { return !utterances.empty() && !utterances.back().is_over; }

  // Begins an utterance at index `sample`, and copies the recent samples from this index on.
  void begin(std::uint64_t sample, bool has_speech = true) ENCDEC_REQUIRES(mutex) {
    Utterance& utterance = utterances.emplace_back();
    utterance.number = next_number++;
    utterance.start = sample;
    utterance.has_speech = has_speech;
    utterance.next_partial = step;
    const auto first = recent.begin() + static_cast<std::ptrdiff_t>(std::min(sample - recent_begin, recent.size()));
    utterance.samples.assign(first, recent.end());
    LiveEvent event = event_of(LiveEvent::Kind::started, utterance);
    event.end = event.start;
    emit(std::move(event));
  }

  // Ends the current utterance just before index `sample`, and decodes the utterance.
  void end(std::uint64_t sample) ENCDEC_REQUIRES(mutex) {
    Utterance& utterance = utterances.back();
    recent_begin = sample;
    const auto behind = utterance.samples.begin() + static_cast<std::ptrdiff_t>(sample - utterance.start);
    recent.assign(behind, utterance.samples.end());
    utterance.samples.erase(behind, utterance.samples.end());
    utterance.is_over = true;
    std::erase_if(utterance.waiting, [&](std::uint64_t count) { return count > utterance.samples.size(); });
    if (options.partials != Partials::always) cancel_partials(utterance);
    emit(event_of(LiveEvent::Kind::stopped, utterance));
    decode(utterance, utterance.samples.size());
    deliver();
  }

  // Starts the final pass, over the first `samples` samples, unless a final pass of this length was already started.
  void decode(Utterance& utterance, std::uint64_t samples) ENCDEC_REQUIRES(mutex) {
    if (utterance.last_pass && utterance.last_pass->samples == samples) return;
    drop(utterance.last_pass);
    utterance.last_pass = std::make_shared<Pass>(Pass{.samples = samples});
    if (samples < kShortest || !utterance.has_speech)
      utterance.last_pass->is_done = true;
    else
      submit(utterance, utterance.last_pass, options.transcribe, "");
  }
  static void drop(std::shared_ptr<Pass>& pass) {
    if (pass) std::exchange(pass->request, {}).cancel();
    pass.reset();
  }

  // Submits a pass. `draft` is the expected text. Partial passes have lower priority than other requests.
  void submit(const Utterance& utterance, const std::shared_ptr<Pass>& pass, const TranscribeOptions& how,
              const std::string& draft) ENCDEC_REQUIRES(mutex) {
    const auto end = utterance.samples.begin() + static_cast<std::ptrdiff_t>(pass->samples);
    Recording recording = Recording::of_samples({utterance.samples.begin(), end}, "utterance");
    recording.draft = draft;
    if (utterance.encoder) {
      recording.encode = [encoder = utterance.encoder](std::span<const float> first) { return encoder->rows(first); };
    }
    // The handlers run in a worker thread. They own this object through `self`.
    const auto finish = [self = shared_from_this(), pass](auto&& set) {
      const MutexLock lock(self->mutex);
      set();
      pass->is_done = true;
      pass->request = {};  // breaks the reference cycle of request, handlers and pass
      self->deliver();
    };
    TranscribeHandlers handlers;
    handlers.on_segments = [pass](std::span<const TranscriptSegment> segments) {
      std::ranges::copy(segments, std::back_inserter(pass->transcript.segments));
    };
    handlers.on_result = [pass, finish](Transcript transcript) {
      finish([&] {
        transcript.segments = std::move(pass->transcript.segments);
        pass->transcript = std::move(transcript);
      });
    };
    handlers.on_failure = [pass, finish](std::exception_ptr failure) {
      finish([&] { pass->failure = std::move(failure); });
    };
    try {
      pass->request =
          model.submit(queue, std::move(recording), how, std::move(handlers), client, pass != utterance.last_pass);
    } catch (...) {
      pass->failure = std::current_exception();
      pass->is_done = true;
    }
  }

  static void cancel_partials(Utterance& utterance) {
    drop(utterance.partial_pass);
    utterance.waiting.clear();
  }

  // Adds all partial passes that are due to utterance.waiting. Speech ends after `spoken` samples.
  void plan_partials(Utterance& utterance, std::uint64_t spoken) ENCDEC_REQUIRES(mutex) {
    if (options.partials == Partials::none) return;
    while (utterance.next_partial <= std::min<std::uint64_t>({utterance.samples.size(), window, spoken})) {
      if (options.partials == Partials::automatic && !utterance.waiting.empty()) {
        utterance.waiting.clear();
        ++counts.skipped;
      }
      utterance.waiting.push_back(std::exchange(utterance.next_partial, utterance.next_partial + step));
    }
  }
  // Starts the next partial pass, unless a partial pass is running or an earlier utterance has no final text yet.
  void begin_partial(Utterance& utterance) ENCDEC_REQUIRES(mutex) {
    const bool is_late = options.partials == Partials::automatic && utterances.size() > 1;
    if (utterance.partial_pass || utterance.waiting.empty() || is_late) return;
    utterance.partial_pass = std::make_shared<Pass>(Pass{.samples = utterance.waiting.front()});
    utterance.waiting.pop_front();
    ++counts.passes;
    if (!utterance.encoder) utterance.encoder = UtteranceEncoder::make(model.model());
    TranscribeOptions how = partial_options;
    if (!utterance.language.empty()) how.language = utterance.language;
    submit(utterance, utterance.partial_pass, how, utterance.partials.back());
  }
  // Reads the result of the partial pass. Sends the partial text if it differs from the previous partial text.
  void read_partial(Utterance& utterance) ENCDEC_REQUIRES(mutex) {
    const auto pass = std::exchange(utterance.partial_pass, nullptr);
    if (pass->failure) return;  // the final pass reports the failure
    utterance.language = pass->transcript.language;
    const std::string before = utterance.partials.back();
    const std::string& partial = utterance.partials.emplace_back(without_space(std::move(pass->transcript.text)));
    if (utterance.partials.size() > std::max<std::uint64_t>(kAgreement / step, 1) + 1) utterance.partials.pop_front();
    const std::string agreed = agreed_words(utterance.partials);
    if (agreed.starts_with(utterance.agreed)) utterance.agreed = agreed;
    LiveEvent event = event_of(LiveEvent::Kind::partial, utterance);
    event.end = seconds_of(utterance.start + pass->samples);
    event.text = utterance.agreed;
    if (partial.starts_with(utterance.agreed)) event.tail = partial.substr(utterance.agreed.size());
    if (before != partial) emit(std::move(event));
  }

  // Sends the events of finished passes, and starts the next passes.
  void deliver() ENCDEC_REQUIRES(mutex) {
    // Send partial texts. A pass that cannot be submitted is done at once, so start another pass.
    for (Utterance& utterance : utterances) {
      do {
        if (utterance.partial_pass && utterance.partial_pass->is_done) read_partial(utterance);
        begin_partial(utterance);
      } while (utterance.partial_pass && utterance.partial_pass->is_done);
    }
    while (!utterances.empty()) {
      Utterance& utterance = utterances.front();
      if (!utterance.is_over || !utterance.last_pass->is_done || utterance.partial_pass) break;
      emit(final_event(utterance));
      ++counts.utterances;
      utterances.pop_front();
    }
    if (utterances.empty() && is_finishing) {
      is_finishing = false;
      counts.audio_seconds = seconds_of(total);
      emit({.kind = LiveEvent::Kind::ended, .utterance = next_number, .end = counts.audio_seconds, .counts = counts});
    }
  }
  LiveEvent final_event(Utterance& utterance) const {
    Pass& pass = *utterance.last_pass;
    LiveEvent event = event_of(pass.failure ? LiveEvent::Kind::failed : LiveEvent::Kind::final_text, utterance);
    event.failure = pass.failure;
    event.text = without_space(pass.transcript.text);
    event.transcript = std::move(pass.transcript);
    const SpeechSpan span{utterance.start, utterance.start + utterance.samples.size()};
    const SpeechTimeMap times(std::span(&span, 1));
    for (TranscriptSegment& segment : event.transcript.segments) {
      times.restore(segment);
      segment.seek += span.start / LogMel::kHop;
    }
    return event;
  }

  void follow(std::span<const UtteranceFinder::Event> events) ENCDEC_REQUIRES(mutex) {
    for (const auto& [kind, sample] : events) {
      switch (kind) {
        case UtteranceFinder::Event::Kind::began: begin(sample); break;
        case UtteranceFinder::Event::Kind::quiet:
          if (utterances.size() == 1) decode(utterances.back(), sample - utterances.back().start);
          break;
        case UtteranceFinder::Event::Kind::ended: end(sample); break;
      }
    }
    found.clear();
  }
  void add(std::span<const float> samples) ENCDEC_REQUIRES(mutex) {
    total += samples.size();
    std::vector<float>& to = is_speaking() ? utterances.back().samples : recent;
    to.insert(to.end(), samples.begin(), samples.end());
  }
  // Processes `converted` in chunks of a fixed size, so that the sizes of the caller's chunks have no effect.
  void take_converted() {
    for (std::span<const float> left = converted; !left.empty();) {
      const std::span chunk = left.first(std::min<std::size_t>(left.size(), VoiceActivity::kWindow));
      left = left.subspan(chunk.size());
      if (finder) finder->push(chunk, found);
      const MutexLock lock(mutex);
      if (!finder && !is_speaking()) begin(total);
      add(chunk);
      follow(found);
      if (!is_speaking()) {
        forget();
        continue;
      }
      // If speech continued after a silence, cancel the final pass that was started early.
      Utterance& utterance = utterances.back();
      if (finder && !finder->is_quiet()) drop(utterance.last_pass);
      if (!finder && utterance.samples.size() >= kLongestCommitted) {
        end(total);
      } else {
        plan_partials(utterance, (finder ? finder->speech_end() : total) - utterance.start);
        begin_partial(utterance);
      }
    }
    converted.clear();
  }
  // Drops recent samples that no later utterance can include.
  void forget() ENCDEC_REQUIRES(mutex) {
    if (is_speaking() || !finder) return;
    const auto count =
        std::min<std::uint64_t>(finder->earliest() - std::min(finder->earliest(), recent_begin), recent.size());
    recent.erase(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(count));
    recent_begin += count;
  }
};

LiveSession::LiveSession(SpeechModel model, RequestQueue& queue, LiveOptions options, OnEvent on_event,
                         std::uint64_t client)
    : impl_(std::make_shared<Impl>(std::move(model), queue, std::move(options), std::move(on_event), client)) {
  LiveOptions& o = impl_->options;
  check_ranges(live_settings(), o);
  const double window = impl_->model.window_seconds();
  if (o.utterances.max_utterance_s == 0) o.utterances.max_utterance_s = window * (14.0 / 15);
  if (o.voice_activity == nullptr && !o.transcribe.vad_model.empty()) {
    o.voice_activity = std::make_shared<const VoiceActivity>(VoiceActivity::load(o.transcribe.vad_model));
  }
  o.transcribe.vad_model.clear();
  o.transcribe.clip_timestamps.clear();
  impl_->model.check(o.transcribe);
  // For speed, partial texts are decoded greedily, once, and without timestamps.
  impl_->partial_options = o.transcribe;
  impl_->partial_options.temperatures = {0};
  impl_->partial_options.beam_size = 1;
  impl_->partial_options.timestamps = false;
  impl_->partial_options.word_timestamps = false;
  impl_->partial_options.hallucination_silence_threshold.reset();
  impl_->step = static_cast<std::uint64_t>(o.step_ms) * kRate / 1000;
  impl_->window = static_cast<std::uint64_t>(window * static_cast<double>(kRate));
  if (o.finds_utterances) impl_->finder.emplace(o.utterances, make_speech_detector(o.voice_activity));
}

LiveSession::~LiveSession() {
  const MutexLock lock(impl_->mutex);
  impl_->is_closed = true;
  for (Impl::Utterance& utterance : impl_->utterances) {
    impl_->cancel_partials(utterance);
    impl_->drop(utterance.last_pass);
  }
  impl_->utterances.clear();
}

void LiveSession::feed(std::span<const std::byte> bytes) {
  impl_->stream.push(bytes, impl_->converted);
  impl_->take_converted();
}

void LiveSession::feed(std::span<const float> samples) {
  impl_->stream.push(samples, impl_->converted);
  impl_->take_converted();
}

bool LiveSession::commit() {
  Impl& my = *impl_;
  if (my.finder) my.finder->end_utterance(my.found);
  const MutexLock lock(my.mutex);
  const bool has_ended = !my.found.empty();
  my.follow(my.found);
  if (has_ended) return true;
  if (!my.is_speaking()) {
    if (my.recent.empty()) return false;
    my.begin(my.recent_begin, false);
  }
  my.end(my.total);
  return true;
}

void LiveSession::clear() {
  Impl& my = *impl_;
  if (my.finder) my.finder->end_utterance(my.found);
  my.found.clear();
  const MutexLock lock(my.mutex);
  if (my.is_speaking()) {
    my.cancel_partials(my.utterances.back());
    my.drop(my.utterances.back().last_pass);
    my.utterances.pop_back();
  }
  my.recent.clear();
  my.recent_begin = my.total;
}

void LiveSession::finish() {
  Impl& my = *impl_;
  my.stream.finish(my.converted);
  my.take_converted();
  if (my.finder) my.finder->finish(my.found);
  const MutexLock lock(my.mutex);
  my.follow(my.found);
  if (my.is_speaking()) my.end(my.total);
  my.is_finishing = true;
  my.deliver();
}

double LiveSession::backlog() const {
  const MutexLock lock(impl_->mutex);
  std::uint64_t samples = 0;
  for (const Impl::Utterance& utterance : impl_->utterances)
    samples += utterance.is_over ? utterance.samples.size() : 0;
  return seconds_of(samples);
}

double LiveSession::seconds() const {
  const MutexLock lock(impl_->mutex);
  return seconds_of(impl_->total);
}

}  // namespace encdec
