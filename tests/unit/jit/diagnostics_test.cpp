// SPDX-License-Identifier: Apache-2.0
// Outputs as GCC 12 writes them.
#include "kernels/jit/diagnostics.hpp"

#include <gmock/gmock.h>

namespace npu::jit {
namespace {

TEST(Diagnostics, NameTheTemplatesLineAndTheFirstError) {
  EXPECT_EQ(explain("/t/matmul.cpp: In function 'int f()':\n"
                    "/t/matmul.cpp:12:5: warning: unused\n"
                    "/t/matmul.cpp:14:10: error: 'x' was not declared\n"
                    "   14 |   return x;\n",
                    "/t/matmul.cpp"),
            "/t/matmul.cpp:12: error: 'x' was not declared; compiler: /t/matmul.cpp: In function "
            "'int f()': | /t/matmul.cpp:12:5: warning: unused | /t/matmul.cpp:14:10: error: 'x' "
            "was not declared |    14 |   return x;");
}

TEST(Diagnostics, NameTheLineThatIncludesOrUsesWhatIsWrong) {
  EXPECT_THAT(
      explain("In file included from /t/a.cpp:3:\n/t/tile.hpp:9:1: error: no tile\n", "/t/a.cpp"),
      testing::StartsWith("/t/a.cpp:3: error: no tile; compiler: "));
  EXPECT_THAT(explain("<command-line>: error: 'q' was not declared\n"
                      "/t/a.cpp:31:7: note: in expansion of macro 'NPU_JIT_EXPRESSION'\n",
                      "/t/a.cpp"),
              testing::StartsWith("/t/a.cpp:31: error: 'q' was not declared; compiler: "));
}

TEST(Diagnostics, AreOneLineOfBoundedLengthWhateverTheCompilerSays) {
  const std::string flood(100'000, 'e');
  for (const std::string& output :
       {std::string(), std::string("\n\n"), flood, "error: " + flood + "\n" + flood,
        std::string("a\rb\x1b[31m\nc"), std::string("/t/a.cpp:\n/t/a.cpp:x\n/t/a.cpp")}) {
    const std::string text = explain(output, "/t/a.cpp");
    EXPECT_THAT(text, testing::StartsWith("/t/a.cpp: "));
    EXPECT_LT(text.size(), 2000U);
    EXPECT_EQ(text.find_first_of("\n\r\x1b"), std::string::npos);
  }
}

}  // namespace
}  // namespace npu::jit
