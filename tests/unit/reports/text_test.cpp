// SPDX-License-Identifier: Apache-2.0
// Digests, and text as JSON has it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/reports/digest.hpp"
#include "tools/reports/json_text.hpp"

namespace npu::reports {
namespace {

// NIST, "Examples with Intermediate Values" of FIPS 180-4: one block, two blocks; and no bytes.
TEST(Digest, IsThatOfTheStandardsExamples) {
  EXPECT_EQ(sha256_text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// Every character but those of more than one byte, alone and among plain ones.
TEST(JsonText, IsReadAsTheSameText) {
  for (int c = 1; c < 0x80; ++c) {
    for (const std::string& text : {std::string(1, static_cast<char>(c)),
                                    "plain" + std::string(1, static_cast<char>(c)) + "text"}) {
      EXPECT_EQ(nlohmann::json::parse(json_string(text)), text) << c;
    }
  }
  EXPECT_EQ(json_string(""), "\"\"");
  EXPECT_EQ(json_string("a \"b\" \\"), R"("a \"b\" \\")");
  EXPECT_EQ(json_string("\xC3\xA4"), R"("\u00e4")");
  EXPECT_EQ(json_string("\xFF"), R"("\ufffd")");
}

}  // namespace
}  // namespace npu::reports
