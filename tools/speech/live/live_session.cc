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
constexpr std::uint64_t kShortest = kRate / 10;           // samples that are decoded at all
constexpr std::uint64_t kLongestCommitted = 300 * kRate;  // samples of an utterance that the caller ends
constexpr std::uint64_t kAgreement = 2 * kRate;           // samples between the first and last pass that must agree

double seconds_of(std::uint64_t samples) {
  return static_cast<double>(samples) / static_cast<double>(kRate);
}

std::string without_space(std::string text) {
  if (text.starts_with(' ')) text.erase(0, 1);
  return text;
}

// Returns the words on which texts agree, except for the last one. In a text without spaces a character is a word.
std::string agreed_words(const std::deque<std::string>& texts) {
  std::string_view common = texts.front();
  for (const std::string& text : texts) {
    common = common.substr(0, static_cast<std::size_t>(std::ranges::mismatch(common, text).in1 - common.begin()));
  }
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

struct LiveSession::Impl : std::enable_shared_from_this<Impl> {
  // One pass over the first samples of an utterance.
  struct Pass {
    std::uint64_t samples = 0;
    Request request = {};
    bool is_done = false;
    Transcript transcript = {};
    std::exception_ptr failure = {};
  };

  struct Utterance {
    std::uint64_t number = 0;
    std::uint64_t start = 0;  // sample of the session
    std::vector<float> samples = {};
    bool has_speech = true;
    bool is_over = false;
    std::shared_ptr<Pass> last_pass = {};  // for the final text; begun early at a silence that may end the utterance

    std::shared_ptr<UtteranceEncoder> encoder = {};  // null if passes share nothing
    std::shared_ptr<Pass> partial_pass = {};         // null if none runs
    std::deque<std::uint64_t> waiting = {};          // numbers of samples of the next partial passes
    std::uint64_t next_partial = 0;                  // number of samples at which the next partial text is due
    std::deque<std::string> heard = {""};            // the last partial texts, the newest at the end
    std::string language = {}, agreed = {};          // for partial texts: language, part that stays
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

  // Used by the thread of feed().
  std::optional<UtteranceFinder> finder;
  std::vector<float> converted;  // samples of the current call
  std::vector<UtteranceFinder::Event> found;
  std::vector<float> recent;       // samples that may begin the next utterance
  std::uint64_t recent_begin = 0;  // number of recent[0]

  mutable Mutex mutex;
  std::deque<Utterance> utterances ENCDEC_GUARDED_BY(mutex);  // without a final text; only the last one is not over
  std::uint64_t next_number ENCDEC_GUARDED_BY(mutex) = 0;
  std::uint64_t total ENCDEC_GUARDED_BY(mutex) = 0;  // samples so far
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

  // Ends the current utterance before a sample. Samples behind it may begin the next one.
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

  // Begins the pass for the final text, unless it has begun.
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

  void submit(const Utterance& utterance, const std::shared_ptr<Pass>& pass, const TranscribeOptions& how,
              const std::string& draft) ENCDEC_REQUIRES(mutex) {
    const auto end = utterance.samples.begin() + static_cast<std::ptrdiff_t>(pass->samples);
    Recording recording = Recording::of_samples({utterance.samples.begin(), end}, "utterance");
    recording.draft = draft;
    if (utterance.encoder) {
      recording.encode = [encoder = utterance.encoder](std::span<const float> first) { return encoder->rows(first); };
    }
    const auto finish = [self = shared_from_this(), pass](auto&& set) {
      const MutexLock lock(self->mutex);
      set();
      pass->is_done = true;
      pass->request = {};  // it holds these handlers, which hold the pass
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

  // Notes which partial texts are due when the first `spoken` samples of an utterance are speech.
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
  // Begins the next partial pass if none runs.
  void begin_partial(Utterance& utterance) ENCDEC_REQUIRES(mutex) {
    const bool is_late = options.partials == Partials::automatic && utterances.size() > 1;
    if (utterance.partial_pass || utterance.waiting.empty() || is_late) return;
    utterance.partial_pass = std::make_shared<Pass>(Pass{.samples = utterance.waiting.front()});
    utterance.waiting.pop_front();
    ++counts.passes;
    if (!utterance.encoder) utterance.encoder = UtteranceEncoder::make(model.model());
    TranscribeOptions how = partial_options;
    if (!utterance.language.empty()) how.language = utterance.language;
    submit(utterance, utterance.partial_pass, how, utterance.heard.back());
  }
  void read_partial(Utterance& utterance) ENCDEC_REQUIRES(mutex) {
    const auto pass = std::exchange(utterance.partial_pass, nullptr);
    if (pass->failure) return;  // the final pass reports it
    utterance.language = pass->transcript.language;
    const std::string before = utterance.heard.back();
    const std::string& heard = utterance.heard.emplace_back(without_space(std::move(pass->transcript.text)));
    if (utterance.heard.size() > std::max<std::uint64_t>(kAgreement / step, 1) + 1) utterance.heard.pop_front();
    const std::string agreed = agreed_words(utterance.heard);
    if (agreed.starts_with(utterance.agreed)) utterance.agreed = agreed;
    LiveEvent event = event_of(LiveEvent::Kind::partial, utterance);
    event.end = seconds_of(utterance.start + pass->samples);
    event.text = utterance.agreed;
    if (heard.starts_with(utterance.agreed)) event.tail = heard.substr(utterance.agreed.size());
    if (before != heard) emit(std::move(event));
  }

  // Passes on what passes have found, and begins the next ones.
  void deliver() ENCDEC_REQUIRES(mutex) {
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
      counts.seconds = seconds_of(total);
      emit({.kind = LiveEvent::Kind::ended, .utterance = next_number, .end = counts.seconds, .counts = counts});
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
  // Adds the samples in `converted`, in pieces, so that partial texts do not depend on the sizes of the caller's
  // pieces.
  void take_converted() {
    for (std::span<const float> left = converted; !left.empty();) {
      const std::span piece = left.first(std::min<std::size_t>(left.size(), VoiceActivity::kWindow));
      left = left.subspan(piece.size());
      if (finder) finder->push(piece, found);
      const MutexLock lock(mutex);
      if (!finder && !is_speaking()) begin(total);
      add(piece);
      follow(found);
      if (!is_speaking()) {
        forget();
        continue;
      }
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
  // Drops the samples that no utterance can begin with.
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
