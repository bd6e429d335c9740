// Tests a oneDNN that computes other bits for a row if other rows are beside it, as some versions do. The engine must
// still give equal bits, or report in a note that it does not. This program's dnnl_primitive_execute overrides
// that of the library.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <vector>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/graph.h"
#include "encdec/engine/matmul.h"
#include "encdec/engine/run_state.h"
#include "encdec/models/model.h"
#include "tests/support/comparison.h"
#include "tests/support/random_tensors.h"

namespace {

// Matrices with these numbers of inputs are multiplied wrongly: the last bit of the first output depends on the number
// of rows.
constexpr int kOneRowDiffers = 700, kFewRowsDiffer = 702, kManyRowsDiffer = 703;
constexpr std::array kSomeRowsDiffer = {701, 128};  // 128 inputs exist in the bundled model

bool is_faulty(dnnl::memory::dim rows, dnnl::memory::dim inputs) {
  if (inputs == kOneRowDiffers) return rows == 1;
  if (inputs == kFewRowsDiffer) return rows <= 13;
  if (inputs == kManyRowsDiffer) return rows > 64;
  return rows == 31 && std::ranges::find(kSomeRowsDiffer, inputs) != kSomeRowsDiffer.end();
}

dnnl::memory::dims dims_of(dnnl_memory_t memory) {
  const dnnl::memory::desc description = dnnl::memory(memory, true).get_desc();
#if DNNL_VERSION_MAJOR >= 3
  return description.get_dims();
#else
  return description.dims();
#endif
}

}  // namespace

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count,
                                                const dnnl_exec_arg_t* arguments) {
  static const auto real =
      reinterpret_cast<decltype(&dnnl_primitive_execute)>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  const dnnl_status_t status = real(primitive, stream, count, arguments);
  const auto find = [&](int name) {
    return std::ranges::find(std::span(arguments, static_cast<std::size_t>(count)), name, &dnnl_exec_arg_t::arg)
        ->memory;
  };
  const dnnl::memory::dims input = dims_of(find(DNNL_ARG_SRC));
  if (is_faulty(input[0], input[1])) {
    void* output = nullptr;
    dnnl_memory_get_data_handle(find(DNNL_ARG_DST), &output);
    *static_cast<std::uint32_t*>(output) ^= 1u;
  }
  return status;
}

namespace encdec {
namespace {

constexpr int kOutputs = 130, kRows = 150;

constexpr BackendChoice kOneDnn = BackendChoice::onednn;

class FaultyOneDnn : public testing::Test {
 protected:
  void SetUp() override {
    if (!agrees(512)) GTEST_SKIP() << "rows depend on each other without faults too";
  }

  static bool agrees(int inputs) { return backend::rows_are_independent(kOneDnn, Precision::float32, inputs); }

  // Expects that each row of a product has the same bits alone and among fewer rows.
  static void expect_rows_agree(Dim inputs, Residual residual) {
    RandomTensors random(1);
    const std::vector<WeightMatrix> weights = {WeightMatrix(random.uniform({kOutputs, inputs}))};
    const std::vector<Tensor> biases = {random.uniform({kOutputs})};
    const MatMul matmul(weights, biases, {.pack = {.backend = kOneDnn}, .residual = residual});
    const Tensor input = random.uniform({kRows, inputs}), added = random.uniform({kRows, kOutputs});
    RunState state(Graph("test"));
    const auto run = [&](std::int64_t first, std::int64_t count) {
      Tensor output = Tensor::allocate({count, kOutputs});
      const Tensor part = added.slice(first, count);
      matmul.forward(input.slice(first, count), residual == Residual::add ? &part : nullptr, output, state);
      return output;
    };
    const Tensor all = run(0, kRows);
    for (const int count : {1, 2, 13, 16, 31, 128}) {
      for (int first = 0; first + count <= kRows; first += 9) {
        EXPECT_TRUE(same_bits(all.slice(first, count), run(first, count))) << count << " rows from " << first;
      }
    }
  }
};

TEST_F(FaultyOneDnn, FewRowsThatDifferAreComputedWithCopiesAndManyInPieces) {
  for (const int inputs : {kOneRowDiffers, kFewRowsDiffer, kManyRowsDiffer}) {
    for (const Residual residual : {Residual::none, Residual::add}) expect_rows_agree(inputs, residual);
    EXPECT_TRUE(agrees(inputs));
  }
  EXPECT_EQ(backend::note(kOneDnn, Precision::float32), "");
}

TEST_F(FaultyOneDnn, AModelReportsThatRowsDepend) {
  const Model model = Model::load(ENCDEC_PRETRAINED_DIR "/english-pronunciation", {.threads = 1, .backend = kOneDnn});
  EXPECT_THAT(model.notes().precision, testing::MatchesRegex("precision float32: .* the bits of a row depend .*128.*"));
  EXPECT_THAT(model.backend_of(Precision::float32), testing::MatchesRegex("onednn .*; the bits of a row depend .*"));
  for (const int inputs : kSomeRowsDiffer) EXPECT_FALSE(agrees(inputs));
  EXPECT_EQ(model.generate({"hello"}).front().hypotheses.front().text, "HH EH1 L OW0");
}

}  // namespace
}  // namespace encdec
