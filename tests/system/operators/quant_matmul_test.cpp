// SPDX-License-Identifier: Apache-2.0
// quant_matmul: what FixPipe scales and what vector cores do, batches, bias.
#include <cstring>

#include "tests/system/operators/matmul_case.hpp"

namespace npu::test {
namespace {

using operators::QuantMatmulParams;

// One call: A and C of a batch, B one for all.
class QuantCase {
 public:
  QuantCase(OperatorBench& bench, const MatmulInstance& instance, const Shape& shape, Dice& dice)
      : bench_(bench), instance_(instance), shape_(shape), dice_(dice) {
    params.scale = dice() % 2 == 0 ? 1.0F : 0.37F;
    batch_ = number(dice, 1, 3);
  }
  void place(DataType bias_type) {
    MatmulCase& one = one_.emplace(bench_, instance_, shape_, dice_, dice_() % 2 == 0);
    one.a = random_values(dice_, DataType::kInt8, std::uint64_t{batch_} * shape_.m, shape_.k);
    one.place();
    place_a();
    one.place_result(batch_);
    one.params.batch = batch_;
    one.params.stride_c = one.pitch() * shape_.m;
    if (shape_.k != 0 && dice_() % 2 == 0) place_bias(bias_type);
    params.product = one.params;
    columns_ = scales(shape_.n, params.channel_scales);
    rows_ = scales(shape_.m, params.token_scales);
  }
  // FixPipe may have written C.
  bool direct() const {
    return instance_.c_type != "float" && params.token_scales == 0 &&
           (params.channel_scales == 0 || params.scale == 1) && !real_bias_;
  }
  void expect(bool by_fixpipe) {
    MatmulCase& one = *one_;
    one.fetch();
    for (std::uint64_t r = 0; r < std::uint64_t{batch_} * shape_.m; ++r) {
      for (std::uint64_t c = 0; c < shape_.n; ++c) {
        const double found = one.result(r, c);
        const Exact exact = element(r, c, by_fixpipe);
        // To fp32, three products and a sum.
        ASSERT_TRUE(near_enough(instance_.result(), found, exact.sum, error_of_sums(exact.size, 5)))
            << "C[" << r << "][" << c << "] is " << found << ", exactly " << exact.sum;
      }
    }
    one.expect_gaps(std::uint64_t{batch_} * shape_.m);
  }
  QuantMatmulParams params;

 private:
  // Each A behind the one before.
  void place_a() {
    MatmulCase& one = *one_;
    const std::uint64_t length = instance_.a_layout == "ColumnMajor" ? shape_.m : shape_.k;
    std::vector<unsigned char> bytes;
    for (std::uint64_t i = 0; i < batch_; ++i) {
      Values part(shape_.m, shape_.k);
      std::copy_n(one.a.elements.begin() + static_cast<std::ptrdiff_t>(i * part.elements.size()),
                  part.elements.size(), part.elements.begin());
      const auto next = packed(part, instance_.a_layout, DataType::kInt8,
                               one.params.lda == 0 ? length : one.params.lda);
      bytes.insert(bytes.end(), next.begin(), next.end());
      one.params.stride_a = next.size();
    }
    one.params.a = bench_.place(bytes);
  }
  void place_bias(DataType type) {
    real_bias_ = is_real(type);
    bias_ = random_values(dice_, type, batch_, shape_.n);
    one_->params.bias = bench_.place(packed(bias_, "RowMajor", type, shape_.n));
    one_->params.stride_bias = shape_.n;
  }
  Values scales(std::uint32_t count, std::uint64_t& at) {
    Values values = random_values(dice_, DataType::kFp32, 1, count);
    const bool used = dice_() % 2 == 0;
    if (used) at = bench_.place(packed(values, "RowMajor", DataType::kFp32, count));
    if (!used) values.elements.assign(count, 1);
    return values;
  }
  // Without the lowest 13 bits of an fp32.
  static double cut(double scale) {
    auto value = static_cast<float>(scale);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits &= 0xFFFF'E000;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  Exact element(std::uint64_t r, std::uint64_t c, bool by_fixpipe) const {
    double sum = exact_element(one_->a, one_->b, r, c, 0, shape_.k).sum;
    const double bias = bias_.rows == 0 ? 0 : bias_.at(r / shape_.m, c);
    if (!real_bias_) sum += bias;
    double scale = columns_.at(0, c) * params.scale;
    if (by_fixpipe) scale = cut(scale);
    const double scaled = sum * scale * rows_.at(0, r % shape_.m);
    if (!real_bias_) return {scaled, std::fabs(scaled)};
    return {scaled + bias, std::fabs(scaled) + std::fabs(bias)};
  }

  OperatorBench& bench_;
  const MatmulInstance instance_;
  const Shape shape_;
  Dice& dice_;
  std::uint32_t batch_ = 1;
  bool real_bias_ = false;
  std::optional<MatmulCase> one_;
  Values bias_{0, 0}, columns_{0, 0}, rows_{0, 0};
};

std::vector<MatmulInstance> instances() {
  std::vector<MatmulInstance> all;
  for (const auto& i : every_type()) {
    if (i.a_type == "half") all.push_back({"int8", "float", i.a_layout, i.b_layout});
  }
  all.push_back({"int8", "half", "RowMajor", "ColumnMajor"});
  all.push_back({"int8", "bfloat16", "ColumnMajor", "RowMajor"});
  return all;
}

class QuantMatmul : public testing::TestWithParam<model::ProgramCoreKind> {
 protected:
  // FixPipe makes half, and on split cores of these tests bfloat16.
  bool makes(const std::string& type) const {
    return type == "half" || (type == "bfloat16" && GetParam() == model::ProgramCoreKind::kSplit);
  }
  void run(const MatmulInstance& instance, const std::string& object, DataType bias_type) {
    Shape shape = random_shape(dice_);
    if (dice_() % 20 == 0) shape.k = 0;
    QuantCase one(bench_, instance, shape, dice_);
    one.place(bias_type);
    ASSERT_TRUE(bench_.run_operator(object, one.params)) << bench_.refusal();
    const bool direct = shape.k != 0 && one.direct() && makes(instance.c_type);
    EXPECT_EQ(bench_.launches(), 1U);
    EXPECT_EQ(bench_.workspace_bytes() == 0, direct || shape.k == 0);
    one.expect(direct);
  }

  OperatorBench bench_{GetParam()};
  Dice dice_{GetParam() == model::ProgramCoreKind::kSplit ? 11U : 12U};
};

TEST_P(QuantMatmul, ScalesProductsOfBatchesAtRandom) {
  const auto all = instances();
  for (unsigned i = 0; i < 2 * shapes_at_random(); ++i) {
    // Every second is one that FixPipe may write.
    const auto& instance =
        i % 2 == 0 ? all[dice_() % all.size()] : all[all.size() - 1 - dice_() % 2];
    run(instance, instance.object("quant_matmul"), DataType::kInt32);
    if (HasFailure()) FAIL() << "shape " << i << " of " << instance;
  }
}

TEST_P(QuantMatmul, AddsARealBiasLast) {
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    run({"int8", "half", "RowMajor", "RowMajor"}, "op_quant_matmul_real_bias", DataType::kBf16);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, QuantMatmul, every_kind(), kind_name);

}  // namespace
}  // namespace npu::test
