// SPDX-License-Identifier: Apache-2.0
// What of a program is uploaded.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "npu/driver/program.hpp"

namespace npu::driver {
namespace {

constexpr std::size_t kText = 100;  // bytes of what is loaded behind the headers

// An object of one segment, and `behind` it what is not loaded.
std::string object(const std::string& behind) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_filesz = sizeof header + sizeof segment + kText;
  if (!behind.empty()) {
    header.e_shoff = segment.p_filesz + 8;
    header.e_shnum = 3;
    header.e_shstrndx = 2;
  }
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return all + std::string(kText, 't') + behind;
}

std::vector<std::byte> image(const std::string& bytes) {
  const auto made = make_image(abi::ImageKind::kAiCore,
                               {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  EXPECT_TRUE(made);
  return made ? *made : std::vector<std::byte>{};
}

std::string uploaded(const std::string& bytes) {
  const auto all = image(bytes);
  return {reinterpret_cast<const char*>(all.data()) + sizeof(abi::ImageHeader),
          all.size() - sizeof(abi::ImageHeader)};
}

TEST(ProgramImage, IsTheSameWithAndWithoutWhatIsNotLoaded) {
  EXPECT_EQ(image(object(std::string(5000, 'd'))), image(object("")));
}

TEST(ProgramImage, EndsWithTheLastSegment) {
  const auto plain = object("");
  EXPECT_EQ(uploaded(object("symbols and lines")).size(), plain.size());
  EXPECT_EQ(uploaded(plain), plain);
}

TEST(ProgramImage, OfWhatIsNoObjectIsAllOfIt) {
  for (const auto& odd : {std::string("x"), std::string(4096, 'x')}) {
    EXPECT_EQ(uploaded(odd), odd);
  }
}

TEST(ProgramImage, OfAnObjectWhoseTablesLieOutsideIsAllOfIt) {
  const auto with = [](auto change) {
    std::string bytes = object("behind");
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::memcpy(&segment, bytes.data() + sizeof header, sizeof segment);
    change(header, segment);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof(Elf64_Ehdr), &segment, sizeof segment);
    return bytes;
  };
  for (const auto& odd : {with([](auto&header, auto&) { header.e_phoff = ~std::uint64_t{0}; }),
                          with([](auto&header, auto&) { header.e_phnum = 0xFFFF; }),
                          with([](auto&header, auto&) { header.e_phentsize = 1; }),
                          with([](auto&, auto&segment) { segment.p_offset = 1 << 20; }),
                          with([](auto&, auto&segment) { segment.p_filesz = 1 << 20; })}) {
    EXPECT_EQ(uploaded(odd), odd);
  }
}

TEST(ProgramImage, OfNothingOrTooMuchIsRefused) {
  const auto none = make_image(abi::ImageKind::kAicpu, {nullptr, 0});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().context.find("its file is missing"), std::string::npos);
  const std::vector<std::byte> all(abi::kMaxImageSize + 1);
  EXPECT_FALSE(make_image(abi::ImageKind::kAicpu, {all.data(), all.size()}));
}

// Simulated time must not depend on what a compiler makes of a kernel.
TEST(Image, OfADeclaredSizeIsThatLargeWhateverTheObject) {
  const auto declared = [](const std::string& bytes, Bytes size) {
    return make_image(abi::ImageKind::kAiCore,
                      {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, size);
  };
  const auto own = image(object(""));
  const Bytes size = own.size() - sizeof(abi::ImageHeader);
  const auto padded = declared(object("behind"), 4096).value();
  ASSERT_EQ(padded.size(), sizeof(abi::ImageHeader) + 4096);
  abi::ImageHeader header;
  std::memcpy(&header, padded.data(), sizeof header);
  EXPECT_EQ(header.size, 4096U);
  for (std::size_t i = sizeof header + size; i < padded.size(); ++i) {
    ASSERT_EQ(padded[i], std::byte{0}) << i;
  }
  EXPECT_EQ(declared(object(""), size).value(), own);
  const auto too_small = declared(object(""), size - 1);
  ASSERT_FALSE(too_small);
  EXPECT_EQ(too_small.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(declared(object(""), abi::kMaxImageSize + 1));
}

}  // namespace
}  // namespace npu::driver
