#include "encdec/models/generation/batch_decoder.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/not_a_number.h"

namespace encdec {
namespace {

// New sources start when 1 / kRefillShare of the rows are free. Encoding sources one at a time would read the encoder's
// weights for each of them.
constexpr std::size_t kRefillShare = 8;
// Tokens to encode together: enough for the full speed of matmuls.
constexpr std::size_t kEncodedTokens = 512;

class BatchDecoder {
 public:
  explicit BatchDecoder(const BatchWork& work)
      : work_(work), processor_scratch_(static_cast<std::size_t>(work.session.team().size())) {
    work.session.reset();
  }

  void run(DecodeFeed& feed) {
    try {
      for (;;) {
        refill(feed);
        if (running_.empty() || feed.has_stopped()) return;
        step();
        if (work_.on_step) report_progress();
      }
    } catch (...) {
      for (const auto* some : {&running_, &completing_}) {
        for (const Running& running : *some) report_failure(running.job, std::current_exception());
      }
      for (const DecodeJob& job : jobs_) report_failure(job, std::current_exception());
      throw;
    }
  }

 private:
  struct Running {
    DecodeJob job;
    int source = Session::kNoSource;
    int draft_source = Session::kNoSource;  // in the session of the model that guesses
    std::unique_ptr<Search> search;
    std::shared_ptr<const VocabularyShortlist> shortlist;  // null if all tokens may be generated
    std::size_t rows = 0;                                  // sequences of the last step; of the first one before that
    std::size_t reported = 0;                              // number of tokens reported
    bool is_number = true;
  };
  // A row of logits of the step.
  struct Row {
    Running* running;
    std::size_t number;  // among the rows of the source
    std::size_t input;   // index into inputs_
  };

  void refill(DecodeFeed& feed) {
    const std::size_t free = work_.limits.rows - std::min(work_.limits.rows, running_rows_);
    if (!running_.empty() && (free == 0 || free < work_.limits.rows / kRefillShare)) return;
    feed.take({.rows = free,
               .bytes = work_.limits.bytes - std::min(work_.limits.bytes, running_bytes_),
               .tokens = work_.limits.tokens_at_once,
               .is_idle = running_.empty()},
              jobs_);
    start();
    jobs_.clear();
  }

  void start() {
    std::erase_if(jobs_, [this](const DecodeJob& job) { return !is_readable(job); });
    // Encodes in pieces, since the encoder's activations for a token take far more memory than the results kept.
    for (std::size_t first = 0; first < jobs_.size();) {
      std::size_t count = 0, tokens = 0;
      while (first + count < jobs_.size() && (count == 0 || tokens < kEncodedTokens)) {
        tokens += jobs_[first + count].prompt.source_rows();
        ++count;
      }
      start_together(std::span(jobs_).subspan(first, count));
      first += count;
    }
  }

  // Returns whether the encoder can read a job's source. If not, reports the failure to its client alone.
  bool is_readable(const DecodeJob& job) const {
    if (work_.session.model().config.source_kind() != SourceKind::frames) return true;
    try {
      work_.session.check_frames(job.prompt.frames);
      return true;
    } catch (const InputError&) {
      report_failure(job, std::current_exception());
      return false;
    }
  }

  // Encodes the sources of jobs in a session whose model has an encoder.
  Session::Encoded encode(Session& session, const std::vector<const DecodeJob*>& jobs) const {
    if (session.model().config.source_kind() == SourceKind::frames) {
      std::vector<Tensor> sources, rows;
      for (const DecodeJob* job : jobs) {
        sources.push_back(job->prompt.frames);
        if (&session == &work_.session) rows.push_back(job->prompt.encoded);
      }
      return session.encode(sources, rows);
    }
    std::vector<TokenIds> sources;
    for (const DecodeJob* job : jobs) sources.push_back(job->prompt.source);
    return session.encode(sources);
  }

  void start_together(std::span<DecodeJob> jobs) {
    const bool has_encoder = work_.session.model().config.has_encoder();
    Session::Encoded encoded;
    if (has_encoder) {
      std::vector<const DecodeJob*> all;
      for (const DecodeJob& job : jobs) all.push_back(&job);
      encoded = encode(work_.session, all);
    }
    const std::vector<int> draft_sources = open_in_draft(jobs, encoded);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const int source = has_encoder ? encoded.sources[i] : Session::kNoSource;
      auto search = jobs[i].search ? jobs[i].search(jobs[i], source, work_.session)
                                   : make_search(*jobs[i].rules, jobs[i].prompt, source, work_.session);
      if (draft_ != nullptr && has_encoder == (draft_sources[i] != Session::kNoSource)) {
        search->draft_with(*draft_, draft_sources[i], draft_length_);
      }
      const std::size_t rows = first_rows(jobs[i]);
      running_rows_ += jobs[i].rules->rows_per_source();
      running_bytes_ += jobs[i].bytes;
      if (jobs[i].rules->needs_source_attention() && attention_readers_++ == 0) {
        work_.session.set_source_attention(Session::SourceAttention::keep);
      }
      auto shortlist = jobs[i].rules->shortlist_for(jobs[i].prompt.source, work_.session.model());
      source_tokens_ += has_encoder ? jobs[i].prompt.source_rows() : jobs[i].prompt.target.size();
      running_.push_back({.job = std::move(jobs[i]),
                          .source = source,
                          .draft_source = draft_sources[i],
                          .search = std::move(search),
                          .shortlist = std::move(shortlist),
                          .rows = rows});
      const DecodeJob& job = running_.back().job;
      if (job.client->wants_tokens() && job.prompt.prefix_length > 0) {
        const std::vector<float> scores(job.prompt.prefix_length);
        job.client->on_tokens(job, {std::span(job.prompt.target).last(job.prompt.prefix_length), scores});
      }
    }
  }

  // Returns the number of a job's sequences at its beginning. A search of another kind begins with one.
  static std::size_t first_rows(const DecodeJob& job) { return job.search ? 1 : job.rules->rows_per_source(); }
  std::size_t rows_in_flight() const {
    std::size_t rows = 0;
    for (const Running& running : running_) rows += running.rows;
    return rows;
  }

  // Opens the sources of jobs in the session of the model that guesses, if there is one. Returns their numbers there;
  // kNoSource for a source that is too long for that model.
  std::vector<int> open_in_draft(std::span<const DecodeJob> jobs, const Session::Encoded& encoded) {
    std::vector<int> opened(jobs.size(), Session::kNoSource);
    const auto guesses = [](const DecodeJob& job) { return *job.rules->settings.num_beams == 1; };
    if (draft_ == nullptr || !draft_->model().config.has_encoder() || std::ranges::none_of(jobs, guesses))
      return opened;
    std::size_t rows = rows_in_flight();
    for (const DecodeJob& job : jobs) rows += first_rows(job);
    if (rows > work_.limits.guessing_rows) return opened;  // they would cost encoding, and seldom guess
    // A copy of the decoder reads the memories of the model.
    if (!draft_->model().encoder) {
      std::ranges::copy(encoded.sources, opened.begin());
      return opened;
    }
    const auto limit = draft_->model().config.encoder.position_limit();
    std::vector<const DecodeJob*> readable;
    for (const DecodeJob& job : jobs) {
      if (!limit || job.prompt.source_rows() <= static_cast<std::size_t>(*limit)) readable.push_back(&job);
    }
    if (readable.empty()) return opened;
    const std::span<const int> numbers = encode(*draft_, readable).sources;
    for (std::size_t i = 0; i < readable.size(); ++i) {
      opened[static_cast<std::size_t>(readable[i] - jobs.data())] = numbers[i];
    }
    return opened;
  }

  // Appends the inputs of all searches to inputs_, and their rows of logits to rows_.
  void add_inputs(void (Search::*add)(std::vector<Session::TargetTokens>&)) {
    inputs_.clear();
    rows_.clear();
    for (Running& running : running_) {
      std::size_t input = inputs_.size(), number = 0;
      (running.search.get()->*add)(inputs_);
      running.rows = inputs_.size() - input;
      for (; input < inputs_.size(); ++input) {
        inputs_[input].shortlist = running.shortlist.get();
        for (std::size_t row = 0; row < inputs_[input].rows(); ++row) rows_.push_back({&running, number++, input});
      }
    }
  }

  StepOutput output_of(Tensor& logits, int row, int thread) {
    return {.logits = {logits.row(row), static_cast<std::size_t>(logits.width())},
            .source_attention = {},
            .scratch = processor_scratch_[static_cast<std::size_t>(thread)]};
  }

  // Lets the searches guess, if the rows in flight leave the CPU time to check guesses.
  void draft() {
    const std::size_t rows = rows_in_flight();
    if (rows > work_.limits.guessing_rows) return;
    const std::size_t most = work_.limits.checked_rows / rows - 1;
    for (Running& running : running_) {
      if (!running.job.rules->needs_source_attention()) running.search->draft(most);
    }
    for (add_inputs(&Search::add_draft_inputs); !inputs_.empty(); add_inputs(&Search::add_draft_inputs)) {
      Tensor logits = draft_->decode(inputs_);
      work_.session.team().run(static_cast<int>(rows_.size()), [&](int row, int thread) {
        const Row& read = rows_[static_cast<std::size_t>(row)];
        read.running->search->read_draft(read.number, output_of(logits, row, thread));
      });
    }
  }

  void step() {
    draft();
    add_inputs(&Search::add_inputs);
    Tensor logits = work_.session.decode(inputs_);
    is_number_.assign(rows_.size(), 1);
    work_.session.team().run(static_cast<int>(rows_.size()), [&](int row, int thread) {
      const auto& [running, number, input] = rows_[static_cast<std::size_t>(row)];
      StepOutput output = output_of(logits, row, thread);
      if (running->job.rules->needs_source_attention()) {
        output.source_attention = work_.session.source_attention(input);
      }
      try {
        running->search->read(number, output);
      } catch (const BackendError&) {
        is_number_[static_cast<std::size_t>(row)] = 0;
      }
    });
    for (std::size_t row = 0; row < rows_.size(); ++row) rows_[row].running->is_number &= is_number_[row] != 0;
    running_tokens_ = 0;
    running_drafts_ = {};
    std::erase_if(running_, [this](Running& running) {
      DecodeJob& job = running.job;
      if (job.client->is_cancelled() || !running.is_number) {
        running.search->abandon(work_.session);
        leave(running);
        if (!running.is_number) report_failure(job, std::make_exception_ptr(NotANumber(job.prompt)));
        return true;
      }
      const Search::State state = running.search->advance(work_.session);
      if (state == Search::State::completing) {
        completing_.push_back(std::move(running));
        return true;
      }
      if (state == Search::State::finished) {
        leave(running);
        finish(running);
        return true;
      }
      if (job.client->wants_tokens()) report_tokens(running, running.search->final_tokens());
      running_tokens_ += running.search->length();
      running_drafts_ += running.search->draft_counts();
      return false;
    });
    for (; !completing_.empty(); completing_.pop_back()) {
      completing_.back().search->complete(work_.session);
      leave(completing_.back());
      finish(completing_.back());
    }
  }

  void report_tokens(Running& running, Search::ScoredTokens final_tokens) {
    if (final_tokens.tokens.size() <= running.reported) return;
    running.job.client->on_tokens(
        running.job, {final_tokens.tokens.subspan(running.reported), final_tokens.scores.subspan(running.reported)});
    running.reported = final_tokens.tokens.size();
  }

  // Does nothing for a job that was moved from, whose client is null.
  static void report_failure(const DecodeJob& job, const std::exception_ptr& failure) {
    if (job.client != nullptr) job.client->on_failure(job, failure);
  }

  void leave(const Running& running) {
    if (running.source != Session::kNoSource) work_.session.close_source(running.source);
    if (running.draft_source != Session::kNoSource) draft_->close_source(running.draft_source);
    running_rows_ -= running.job.rules->rows_per_source();
    running_bytes_ -= running.job.bytes;
    finished_drafts_ += running.search->draft_counts();
    if (running.job.rules->needs_source_attention() && --attention_readers_ == 0) {
      work_.session.set_source_attention(Session::SourceAttention::forget);
    }
  }

  void finish(Running& running) {
    std::vector<Hypothesis> results = running.search->take_results();
    finished_tokens_ += results.front().token_ids.size();
    if (running.job.client->wants_tokens())
      report_tokens(running, {results.front().token_ids, results.front().token_scores});
    running.job.client->on_result(running.job, std::move(results));
  }

  void report_progress() const {
    work_.on_step({.source_tokens = source_tokens_,
                   .generated_tokens = finished_tokens_ + running_tokens_,
                   .encode_seconds = work_.session.encode_seconds(),
                   .decode_seconds = work_.session.decode_seconds(),
                   .drafts = DraftCounts(finished_drafts_) += running_drafts_},
                  inputs_.size());
  }

  const BatchWork& work_;
  Session* const draft_ = work_.session.draft();  // session of the model that guesses, or null
  std::vector<Running> running_;
  std::vector<Running> completing_;  // searches to complete at the end of the step
  std::vector<DecodeJob> jobs_;
  std::size_t running_rows_ = 0;
  std::size_t running_bytes_ = 0;
  std::size_t attention_readers_ = 0;  // number of running sources that need source attention
  std::vector<Session::TargetTokens> inputs_;
  std::vector<Row> rows_;                            // by row of the step
  std::vector<char> is_number_;                      // by row: 0 if its logits are NaN
  std::vector<ProcessorScratch> processor_scratch_;  // by thread
  std::size_t source_tokens_ = 0;                    // tokens encoded so far
  std::size_t finished_tokens_ = 0;                  // tokens of finished results
  std::size_t running_tokens_ = 0;                   // tokens of running searches
  DraftCounts finished_drafts_, running_drafts_;
  DraftLength draft_length_{0, ModelDraft::kMost};
};

}  // namespace

void decode_batches(DecodeFeed& feed, const BatchWork& work) {
  BatchDecoder(work).run(feed);
}

}  // namespace encdec
