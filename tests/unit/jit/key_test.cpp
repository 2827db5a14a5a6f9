// SPDX-License-Identifier: Apache-2.0
// Keys. Digests are from coreutils: printf '%s' 'TEXT' | sha256sum.
#include "npu/jit/key.hpp"

#include <gmock/gmock.h>

#include "kernels/jit/sha256.hpp"

namespace npu::jit {
namespace {

using testing::HasSubstr;

Macros example_macros() {
  return {{"NPU_JIT_KERNEL_NAME", "basic_matmul"}, {"NPU_JIT_ELEMENT_A", "half"},
          {"NPU_JIT_ELEMENT_B", "half"},           {"NPU_JIT_ELEMENT_C", "float"},
          {"NPU_JIT_LAYOUT_A", "RowMajor"},        {"NPU_JIT_LAYOUT_B", "zN"}};
}

TEST(KernelKey, IsTheDigestOfTheSortedPairsArchitectureAndKind) {
  EXPECT_EQ(key_text(example_macros(), 2201, KernelType::kCube).value(),
            "NPU_JIT_ELEMENT_A=half&NPU_JIT_ELEMENT_B=half&NPU_JIT_ELEMENT_C=float&"
            "NPU_JIT_KERNEL_NAME=basic_matmul&NPU_JIT_LAYOUT_A=RowMajor&NPU_JIT_LAYOUT_B=zN&"
            "__ARCH__=2201&__KT__=0");
  EXPECT_EQ(kernel_key(example_macros(), 2201, KernelType::kCube).value(),
            "014354591a1b4e154ed889baf3701c9571ff51315244d6167531cbed19e9d5f8");
  EXPECT_EQ(kernel_key({}, 2201, KernelType::kVector).value(),
            "18603d25cc04a6ab701fec0f20bfb50e8f935f9abda9030949776e863e5d1393");
}

TEST(KernelKey, DoesNotDependOnTheOrderOfInsertion) {
  const Macros forwards = example_macros();
  Macros backwards;
  for (auto at = forwards.rbegin(); at != forwards.rend(); ++at) backwards.insert(*at);
  EXPECT_EQ(kernel_key(backwards, 2201, KernelType::kCube).value(),
            kernel_key(forwards, 2201, KernelType::kCube).value());
}

TEST(KernelKey, IsAnotherOneForAnyChange) {
  const Macros macros = example_macros();
  const auto key = kernel_key(macros, 2201, KernelType::kCube).value();
  for (const auto& [name, value] : macros) {
    Macros changed = macros;
    changed[name] = value + "1";
    EXPECT_NE(kernel_key(changed, 2201, KernelType::kCube).value(), key) << name;
    changed.erase(name);
    EXPECT_NE(kernel_key(changed, 2201, KernelType::kCube).value(), key) << name;
  }
  EXPECT_NE(kernel_key(macros, 2202, KernelType::kCube).value(), key);
  EXPECT_NE(kernel_key(macros, 2201, KernelType::kMixed).value(), key);
}

// docs/sources/operators.md B1: the library that this follows puts an '&' behind the last pair,
// too.
TEST(KernelKey, IsThatOfTheDocumentedLibraryButForTheLastSeparator) {
  const auto documented = [](const std::string& element, const std::string& layout_b) {
    const Macros macros{
        {"CATLASS_JIT_ELEMENT_A", element},
        {"CATLASS_JIT_ELEMENT_B", element},
        {"CATLASS_JIT_ELEMENT_C", element},
        {"CATLASS_JIT_LAYOUT_A", "RowMajor"},
        {"CATLASS_JIT_LAYOUT_B", layout_b},
        {"CATLASS_JIT_LAYOUT_C", "RowMajor"},
        {"CATLASS_KERNEL_NAME", "basic_matmul"},
        {"CATLASS_JIT_KERNEL_NAME", "basic_matmul_" + element + "_" + element + "_" + element +
                                        "_RowMajor_" + layout_b + "_RowMajor"}};
    return sha256_hex(key_text(macros, 2201, KernelType::kCube).value() + "&");
  };
  EXPECT_EQ(documented("half", "RowMajor"),
            "4f4a80e4592bb88e11679dd286a808a3e74034df1647e3abf2cc34cd1e4e9fab");
  EXPECT_EQ(documented("half", "ColumnMajor"),
            "2c38eca1accfdf0c58df0a4d3d5f10d0e8664e0447ec4ecf8cd0f6fda08182f4");
  EXPECT_EQ(documented("float", "RowMajor"),
            "c79190cd266120938d969e45d27c9a65b5b5378f2b08a0a18f1e725c18007d3e");
}

TEST(KernelKey, IsRefusedForWhatWouldMakeTwoSetsOfMacrosOneText) {
  for (const char* value : {"1&B=2", "1\n2", "\x7F"}) {
    const auto key = kernel_key({{"A", value}}, 2201, KernelType::kCube);
    ASSERT_FALSE(key) << value;
    EXPECT_EQ(key.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(key.error().context, HasSubstr("macro A"));
  }
  for (const char* name : {"", "1A", "A=B", "A B", "A-B", "__ARCH__", "__KT__"}) {
    EXPECT_FALSE(kernel_key({{name, "1"}}, 2201, KernelType::kCube)) << name;
  }
  EXPECT_TRUE(kernel_key({{"_a1", "a == b ? c : -d"}}, 2201, KernelType::kCube));
}

}  // namespace
}  // namespace npu::jit
