#include "generate_each.h"

#include "encdec/engine/base/error.h"

namespace encdec::python {
namespace {

class Counted final : public GenerateStream {
 public:
  explicit Counted(ResultStream& stream) : stream_(stream) {}

  std::optional<GenerateInput> next(Wait wait) override {
    std::optional<GenerateInput> input = stream_.next(wait);
    if (input) ++unanswered_;
    return input;
  }
  void write(GenerateResult result) override {
    --unanswered_;
    stream_.write(std::move(result));
  }

  std::size_t unanswered() const { return unanswered_; }

 private:
  ResultStream& stream_;
  std::size_t unanswered_ = 0;
};

bool is_of_a_source(const Error& error) {
  return dynamic_cast<const InputError*>(&error) != nullptr || dynamic_cast<const TokenizerError*>(&error) != nullptr;
}

}  // namespace

void generate_each(const Model& model, const GenerateOptions& options, ResultStream& stream, OnError on_error) {
  // A bad source ends the input when all before it have their results: then the next begin anew.
  for (;;) {
    Counted counted(stream);
    try {
      return model.generate_stream(counted, options);
    } catch (const Error& error) {
      if (on_error == OnError::raise || counted.unanswered() != 1 || !is_of_a_source(error)) throw;
    }
    stream.write(std::nullopt);
  }
}

}  // namespace encdec::python
