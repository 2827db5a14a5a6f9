// SPDX-License-Identifier: Apache-2.0
// A product with random matrices: placed, computed by an operator's object, and compared with
// double precision.
#pragma once

#include <optional>
#include <sstream>

#include "tests/system/operators/matrices.hpp"

namespace npu::test {

// One compiled template.
struct MatmulInstance {
  std::string a_type, c_type, a_layout, b_layout;
  std::string object(const std::string& matmul) const {
    return "op_" + matmul + "_" + a_type + "_" + c_type + "_" + a_layout + "_" + b_layout;
  }
  DataType type() const { return type_named(a_type); }
  DataType result() const { return type_named(c_type); }
  friend std::ostream& operator<<(std::ostream& out, const MatmulInstance& i) {
    return out << i.object("");
  }
};

inline const std::vector<std::string>& layouts() {
  static const std::vector<std::string> kAll{"RowMajor", "ColumnMajor", "zN", "nZ"};
  return kAll;
}
// tests/system/operators/CMakeLists.txt compiles these.
inline std::vector<MatmulInstance> every_layout() {
  std::vector<MatmulInstance> all;
  for (const auto* const types : {"half half", "bfloat16 bfloat16", "float float", "int8 int32"}) {
    std::istringstream names(types);
    MatmulInstance i;
    names >> i.a_type >> i.c_type;
    for (const auto& a : layouts()) {
      for (const auto& b : layouts()) all.push_back({i.a_type, i.c_type, a, b});
    }
  }
  return all;
}
inline std::vector<MatmulInstance> every_type() {
  std::vector<MatmulInstance> all;
  for (const auto& a : layouts()) {
    for (const auto& b : layouts()) {
      const bool some = (a == "ColumnMajor" && b == "zN") || (a == "zN" && b == "ColumnMajor");
      if (some || (a == b && (a == "RowMajor" || a == "nZ"))) {
        all.push_back({"half", "half", a, b});
      }
    }
  }
  all.push_back({"bfloat16", "bfloat16", "RowMajor", "ColumnMajor"});
  all.push_back({"float", "float", "ColumnMajor", "RowMajor"});
  all.push_back({"int8", "int32", "zN", "zN"});
  return all;
}

struct Shape {
  std::uint32_t m, n, k;
};
inline Shape random_shape(Dice& dice) {
  static const std::uint32_t kEdges[] = {1,  2,  3,  7,  13, 15, 16,  17, 31,
                                         32, 33, 63, 64, 65, 97, 127, 129};
  const auto side = [&dice](std::uint32_t most) {
    return dice() % 2 == 0 ? kEdges[dice() % std::size(kEdges)] : number(dice, 1, most);
  };
  const std::uint32_t m = side(150), n = side(150);
  return {m, n, dice() % 8 == 0 ? number(dice, 257, 700) : side(200)};
}

class MatmulCase {
 public:
  // `gaps`: lines are longer than the matrices' where the layout knows lines.
  MatmulCase(OperatorBench& bench, const MatmulInstance& instance, const Shape& shape, Dice& dice,
             bool gaps)
      : bench_(bench),
        instance_(instance),
        a(random_values(dice, instance.type(), shape.m, shape.k)),
        b(random_values(dice, instance.type(), shape.k, shape.n)),
        gap_(gaps ? number(dice, 1, 20) : 0) {
    params.m = shape.m, params.n = shape.n, params.k = shape.k;
  }
  // Puts the matrices into memory as they are now.
  void place() {
    bench_.forget();
    params.a = place_matrix(a, instance_.a_layout, params.lda);
    params.b = place_matrix(b, instance_.b_layout, params.ldb);
    place_result(0);
  }
  // `count` matrices behind each other.
  void place_result(std::uint32_t count) {
    params.ldc = gap_ == 0 ? 0 : params.n + gap_;
    const std::uint64_t rows = std::uint64_t{params.m} * std::max(count, 1U);
    before_.assign((rows * pitch() + 64) * platform::bytes_of(instance_.result()), 0xA5);
    params.c = bench_.place(before_);
  }
  // `count` of n numbers behind each other, of the type that C is summed up in unless it is said.
  void place_bias(Dice& dice, std::uint64_t count, std::optional<DataType> type = {}) {
    const auto usual = instance_.type() == DataType::kInt8 ? DataType::kInt32 : DataType::kFp32;
    const auto of = type.value_or(usual);
    bias_.emplace(random_values(dice, of, count, params.n));
    params.bias = bench_.place(packed(*bias_, "RowMajor", of, params.n));
    params.stride_bias = params.n;
  }
  std::uint64_t pitch() const { return params.n + gap_; }

  std::uint64_t place_matrix(const Values& values, const std::string& layout,
                             std::uint64_t& pitch) {
    const bool lines = layout == "RowMajor" || layout == "ColumnMajor";
    const std::uint64_t length = layout == "RowMajor" ? values.columns : values.rows;
    pitch = lines && gap_ != 0 ? length + gap_ : 0;
    return bench_.place(packed(values, layout, instance_.type(), length + gap_));
  }

  // Whatever is not in the first `columns` of lines is as it was.
  void fetch() { after_ = bench_.fetch(params.c, before_.size()); }
  double result(std::uint64_t row, std::uint64_t column) const {
    return get_element(after_, row * pitch() + column, instance_.result());
  }
  void expect_gaps(std::uint64_t rows) const {
    const std::uint64_t bytes = platform::bytes_of(instance_.result());
    for (std::uint64_t i = 0; i < after_.size() / bytes; ++i) {
      if (i < rows * pitch() && i % pitch() < params.n) continue;
      ASSERT_EQ(std::memcmp(&after_[i * bytes], &before_[i * bytes], bytes), 0) << "element " << i;
    }
  }
  // Rows [0, m) of C from the row `at` on are those of the product over [first, end) of k, with
  // bias number `bias` if there are any.
  void expect_product(const Values& left, const Values& right, std::uint64_t at,
                      std::uint64_t first, std::uint64_t end, std::uint64_t more = 0,
                      std::uint64_t bias = 0) const {
    for (std::uint64_t r = 0; r < left.rows; ++r) {
      for (std::uint64_t c = 0; c < params.n; ++c) {
        Exact exact = exact_element(left, right, r, c, first, end);
        if (bias_) exact.sum += bias_->at(bias, c), exact.size += std::fabs(bias_->at(bias, c));
        ASSERT_TRUE(good(result(at + r, c), exact, end - first + more + 1))
            << "C[" << at + r << "][" << c << "] is " << result(at + r, c) << ", exactly "
            << exact.sum << "; " << params.m << " x " << params.n << " x " << params.k;
      }
    }
  }
  void expect_all(std::uint64_t more = 0) {
    fetch();
    expect_product(a, b, 0, 0, params.k, more);
    expect_gaps(params.m);
  }
  bool good(double found, const Exact& exact, std::uint64_t roundings) const {
    const DataType type = instance_.result();
    if (instance_.type() != DataType::kInt8) {
      return near_enough(type, found, exact.sum, error_of_sums(exact.size, roundings + 2));
    }
    // Exact in int32; on the way to others it is an fp32.
    return near_enough(type, found, exact.sum,
                       type == DataType::kInt32 ? 0 : std::fabs(exact.sum) * 0x1p-24);
  }

 private:
  OperatorBench& bench_;
  const MatmulInstance instance_;

 public:
  Values a, b;
  operators::MatmulParams params;

 private:
  const std::uint32_t gap_;
  std::vector<unsigned char> before_, after_;
  std::optional<Values> bias_;
};

}  // namespace npu::test
