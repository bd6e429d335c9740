// Tests a oneDNN that computes other bits for a row if other rows are beside it, as some versions do. The engine must
// still give equal bits, and report in a note what multiplies instead. This program's dnnl_primitive_execute overrides
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
int executions = 0;

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
  ++executions;
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

class FaultyOneDnn : public testing::Test {
 protected:
  void SetUp() override {
    if (!uses_onednn(512)) GTEST_SKIP() << "oneDNN is not used here";
  }

  static bool uses_onednn(int inputs) {
    return backend::backend_for(BackendChoice::automatic, Precision::float32, inputs).name.starts_with("onednn");
  }

  // Expects that each row of a product has the same bits alone and among fewer rows.
  static void expect_rows_agree(Dim inputs, Residual residual) {
    RandomTensors random(1);
    const std::vector<WeightMatrix> weights = {WeightMatrix(random.uniform({kOutputs, inputs}))};
    const std::vector<Tensor> biases = {random.uniform({kOutputs})};
    const MatMul matmul(weights, biases, {.residual = residual});
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
    EXPECT_TRUE(uses_onednn(inputs));
  }
  EXPECT_EQ(backend::note(BackendChoice::automatic, Precision::float32), "");
}

TEST_F(FaultyOneDnn, OurOwnKernelIsUsedIfRowsDiffer) {
  if (!backend::rows_agree(BackendChoice::automatic, Precision::float32, kSomeRowsDiffer[0])) {
    GTEST_SKIP() << "built without our own kernels";
  }
  expect_rows_agree(kSomeRowsDiffer[0], Residual::add);
  EXPECT_FALSE(uses_onednn(kSomeRowsDiffer[0]));
  const int before = executions;
  expect_rows_agree(kSomeRowsDiffer[0], Residual::none);
  EXPECT_EQ(executions, before) << "oneDNN was used again";
}

TEST_F(FaultyOneDnn, AModelReportsIt) {
  const Model model = Model::load(ENCDEC_PRETRAINED_DIR "/english-pronunciation", {.threads = 1});
  EXPECT_THAT(model.precision_note(), testing::ContainsRegex("oneDNN [0-9.]+, the bits of a row depend .*128"));
  EXPECT_EQ(model.generate({"hello"}).front().hypotheses.front().text, "HH EH1 L OW0");
}

TEST_F(FaultyOneDnn, IsUsedIfItWasChosenAndAModelReportsIt) {
  const BackendChoice chosen = BackendChoice::onednn;
  const Model model = Model::load(ENCDEC_PRETRAINED_DIR "/english-pronunciation", {.threads = 1, .backend = chosen});
  EXPECT_THAT(model.precision_note(), testing::MatchesRegex("precision float32: .* the bits of a row depend .*128.*"));
  EXPECT_THAT(model.backend_of(Precision::float32), testing::MatchesRegex("onednn .*; the bits of a row depend .*"));
  EXPECT_FALSE(backend::rows_agree(chosen, Precision::float32, kSomeRowsDiffer[0]));
  EXPECT_EQ(model.generate({"hello"}).front().hypotheses.front().text, "HH EH1 L OW0");
}

}  // namespace
}  // namespace encdec
