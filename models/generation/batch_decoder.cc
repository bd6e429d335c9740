#include "encdec/models/generation/batch_decoder.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/not_a_number.h"

namespace encdec {
namespace {

// New sources start only when 1 / kRefillShare of the rows are free, so that several sources are encoded together.
constexpr std::size_t kRefillShare = 8;
// Sources are encoded in groups. A group is full when it has this many tokens, enough for matmuls at full speed.
constexpr std::size_t kEncodedTokens = 512;

// A source that is being decoded.
struct Running {
  DecodeJob job;
  int source = Session::kNoSource;
  int draft_source = Session::kNoSource;  // number in the draft model's session
  std::unique_ptr<Search> search;
  std::shared_ptr<const VocabularyShortlist> shortlist;  // null if all tokens may be generated
  std::size_t rows = 0;                                  // number of rows in the last step; initially first_rows()
  std::size_t reported = 0;                              // number of tokens reported
  bool has_nan = false;
};

// Returns the number of sequences with which a job starts.
std::size_t first_rows(const DecodeJob& job) {
  return job.search ? 1 : job.rules->rows_per_source();
}

std::size_t rows_in_flight(const std::vector<Running>& running) {
  std::size_t rows = 0;
  for (const Running& each : running) rows += each.rows;
  return rows;
}

// Encodes the sources of jobs. If `has_rows`, uses the encoder rows in Prompt::encoded, which were computed before.
Session::Encoded encode(Session& session, const std::vector<const DecodeJob*>& jobs, bool has_rows) {
  if (session.model().config.source_kind() == SourceKind::frames) {
    std::vector<Tensor> sources, rows;
    for (const DecodeJob* job : jobs) {
      sources.push_back(job->prompt.frames);
      if (has_rows) rows.push_back(job->prompt.encoded);
    }
    return session.encode(sources, rows);
  }
  std::vector<TokenIds> sources;
  for (const DecodeJob* job : jobs) sources.push_back(job->prompt.source);
  return session.encode(sources);
}

// Collects the inputs of all running searches, then decodes them together and returns the logits.
class BatchStep {
 public:
  explicit BatchStep(ThreadTeam& team) : team_(team), scratch_(static_cast<std::size_t>(team.size())) {}

  // Collects the inputs that each search appends with `add`. Returns the number of inputs.
  std::size_t collect(std::vector<Running>& running, void (Search::*add)(std::vector<Session::TargetTokens>&)) {
    inputs_.clear();
    rows_.clear();
    for (Running& each : running) {
      std::size_t input = inputs_.size(), number = 0;
      (each.search.get()->*add)(inputs_);
      each.rows = inputs_.size() - input;
      for (; input < inputs_.size(); ++input) {
        inputs_[input].shortlist = each.shortlist.get();
        for (std::size_t row = 0; row < inputs_[input].rows(); ++row) rows_.push_back({&each, number++, input});
      }
    }
    return inputs_.size();
  }

  // Decodes the inputs and calls read(row, output) for each row of logits, on several threads.
  template <class Read>
  void run(Session& session, const Read& read) {
    Tensor logits = session.decode(inputs_);
    team_.run(static_cast<int>(rows_.size()), [&](int row, int thread) {
      read(static_cast<std::size_t>(row),
           StepOutput{.logits = {logits.row(row), static_cast<std::size_t>(logits.width())},
                      .source_attention = {},
                      .scratch = scratch_[static_cast<std::size_t>(thread)]});
    });
  }

  struct Row {
    Running* running;
    std::size_t number;  // index among the rows of the source
    std::size_t input;   // index of the input
  };
  const std::vector<Row>& rows() const { return rows_; }
  std::size_t inputs() const { return inputs_.size(); }

 private:
  ThreadTeam& team_;
  std::vector<Session::TargetTokens> inputs_;
  std::vector<Row> rows_;
  std::vector<ProcessorScratch> scratch_;  // scratch buffers by thread
};

// Gets draft tokens for the searches of a batch, and manages the draft model's session, if any.
class Drafts {
 public:
  explicit Drafts(const BatchWork& work) : limits_(work.limits), session_(work.session.draft()) {}

  // Opens the sources of jobs in the draft model's session. Returns the sources' numbers in that session, or kNoSource
  // for sources that were not opened. `encoded`: the same sources in the main model's session. `rows`: number of
  // sequences that are already being decoded.
  std::vector<int> open(std::span<const DecodeJob> jobs, const Session::Encoded& encoded, std::size_t rows) const {
    std::vector<int> opened(jobs.size(), Session::kNoSource);
    const auto may_draft = [](const DecodeJob& job) { return *job.rules->settings.num_beams == 1; };
    if (session_ == nullptr || !session_->model().config.has_encoder() || std::ranges::none_of(jobs, may_draft))
      return opened;
    for (const DecodeJob& job : jobs) rows += first_rows(job);
    // In a batch this large the draft model would seldom run, so do not spend time on its encoder.
    if (rows > limits_.draft_sequences) return opened;
    // A draft model that is a copy of the decoder reads the main model's encoder output.
    if (!session_->model().encoder) {
      std::ranges::copy(encoded.sources, opened.begin());
      return opened;
    }
    // Encode the sources that are within the draft model's position limit.
    const auto limit = session_->model().config.encoder.position_limit();
    std::vector<const DecodeJob*> readable;
    for (const DecodeJob& job : jobs) {
      if (!limit || job.prompt.source_rows() <= static_cast<std::size_t>(*limit)) readable.push_back(&job);
    }
    if (readable.empty()) return opened;
    const std::span<const int> numbers = encode(*session_, readable, false).sources;
    for (std::size_t i = 0; i < readable.size(); ++i) {
      opened[static_cast<std::size_t>(readable[i] - jobs.data())] = numbers[i];
    }
    return opened;
  }
  // Connects a search to the draft model. `source`: number of the search's source in the draft model's session.
  void join(Search& search, int source) {
    const bool reads = session_ != nullptr && session_->model().config.has_encoder() == (source != Session::kNoSource);
    if (reads) search.draft_with(*session_, source, length_);
  }
  void close(int source) const {
    if (source != Session::kNoSource) session_->close_source(source);
  }

  // Makes the draft tokens of one step, unless verification would cost more time than draft tokens save.
  void make(std::vector<Running>& running, BatchStep& step) const {
    const std::size_t rows = rows_in_flight(running);
    if (rows > limits_.draft_sequences) return;
    // Each sequence gets an equal share of `checked_rows`, of which one row is for the last token.
    const std::size_t most = limits_.checked_rows / rows - 1;
    for (Running& each : running) {
      if (!each.job.rules->needs_source_attention()) each.search->draft(most);
    }
    // Each run of the draft model adds one draft token to every search that wants another draft token.
    while (step.collect(running, &Search::add_draft_inputs) > 0) {
      step.run(*session_, [&step](std::size_t row, const StepOutput& output) {
        const auto& [reader, number, input] = step.rows()[row];
        reader->search->read_draft(number, output);
      });
    }
  }

 private:
  const BatchLimits& limits_;
  Session* const session_;  // draft model's session, or null
  DraftLength length_{0, ModelDraft::kMost};
};

class BatchDecoder {
 public:
  explicit BatchDecoder(const BatchWork& work) : work_(work), step_(work.session.team()), drafts_(work) {
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
  // Starts new jobs if enough rows are free.
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

  // Encodes the sources of jobs_ and adds their searches to running_.
  void start() {
    std::erase_if(jobs_, [this](const DecodeJob& job) { return !is_readable(job); });
    // Encode in groups, since activations of the encoder take far more memory than its output.
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

  // Returns whether the encoder can read a job's source. If not, reports a failure of this job.
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

  // Encodes the sources of `jobs` in one run, and starts a search for each job.
  void start_together(std::span<DecodeJob> jobs) {
    const bool has_encoder = work_.session.model().config.has_encoder();
    Session::Encoded encoded;
    if (has_encoder) {
      std::vector<const DecodeJob*> all;
      for (const DecodeJob& job : jobs) all.push_back(&job);
      encoded = encode(work_.session, all, true);
    }
    // Open the sources in the draft model's session too. Then start a search for each job.
    const std::vector<int> draft_sources = drafts_.open(jobs, encoded, rows_in_flight(running_));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const int source = has_encoder ? encoded.sources[i] : Session::kNoSource;
      auto search = jobs[i].search ? jobs[i].search(jobs[i], source, work_.session)
                                   : make_search(*jobs[i].rules, jobs[i].prompt, source, work_.session);
      drafts_.join(*search, draft_sources[i]);
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
      // Report the user's prefix, which is final from the start. The scores of the prefix are 0.
      const DecodeJob& job = running_.back().job;
      if (job.client->wants_tokens() && job.prompt.prefix_length > 0) {
        const std::vector<float> scores(job.prompt.prefix_length);
        job.client->on_tokens(job, {std::span(job.prompt.target).last(job.prompt.prefix_length), scores});
      }
    }
  }

  // Decodes the next tokens of all running searches, and ends the searches that are done.
  void step() {
    drafts_.make(running_, step_);
    step_.collect(running_, &Search::add_inputs);
    has_nan_.assign(step_.rows().size(), 0);
    step_.run(work_.session, [this](std::size_t row, StepOutput output) {
      const auto& [running, number, input] = step_.rows()[row];
      if (running->job.rules->needs_source_attention()) {
        output.source_attention = work_.session.source_attention(input);
      }
      try {
        running->search->read(number, output);
      } catch (const BackendError&) {
        has_nan_[row] = 1;  // several threads read rows, so set only this row's flag
      }
    });
    for (std::size_t row = 0; row < has_nan_.size(); ++row) {
      step_.rows()[row].running->has_nan |= has_nan_[row] != 0;
    }
    // Advance each search. Remove searches that were cancelled, have failed or are finished.
    running_tokens_ = 0;
    running_drafts_ = {};
    std::erase_if(running_, [this](Running& running) {
      DecodeJob& job = running.job;
      if (job.client->is_cancelled() || running.has_nan) {
        running.search->abandon(work_.session);
        leave(running);
        if (running.has_nan) report_failure(job, std::make_exception_ptr(NotANumber(job.prompt)));
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
    // Call complete() only after every advance(), because complete() may overwrite the logits of the step.
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

  // Reports a failure to the job's client. Ignores a job that was moved from, whose client is null.
  static void report_failure(const DecodeJob& job, const std::exception_ptr& failure) {
    if (job.client != nullptr) job.client->on_failure(job, failure);
  }

  void leave(const Running& running) {
    if (running.source != Session::kNoSource) work_.session.close_source(running.source);
    drafts_.close(running.draft_source);
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
                  step_.inputs());
  }

  const BatchWork& work_;
  BatchStep step_;
  Drafts drafts_;
  std::vector<Running> running_;
  std::vector<Running> completing_;  // searches to complete at the end of the step
  std::vector<DecodeJob> jobs_;
  std::size_t running_rows_ = 0;  // number of rows that running searches may use
  std::size_t running_bytes_ = 0;
  std::size_t attention_readers_ = 0;  // number of running sources that need source attention
  std::vector<char> has_nan_;          // by row: 1 if the row's logits are NaN
  std::size_t source_tokens_ = 0;
  std::size_t finished_tokens_ = 0;  // number of tokens of finished results
  std::size_t running_tokens_ = 0;   // number of tokens of running searches
  DraftCounts finished_drafts_, running_drafts_;
};

}  // namespace

void decode_batches(DecodeFeed& feed, const BatchWork& work) {
  BatchDecoder(work).run(feed);
}

}  // namespace encdec
