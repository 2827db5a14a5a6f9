// SPDX-License-Identifier: Apache-2.0
// Hazards name the lines of their kernels' sources.
#include <elf.h>
#include <gmock/gmock.h>

#include <sstream>

#include "model/aicore/hazards/hazard_text.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"
#include "tests/bench/core/program_file.hpp"

namespace npu::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

constexpr std::uint64_t kLined = 0x40'0000;

model::ChipConfig lined_config() {
  auto config = aicore_config(model::ProgramCoreKind::kCoupled);
  config.core.hazards = model::HazardMode::kReport;
  return config;
}

std::string lined_object() {
  return file_text(binary_dir() + "/programs/lined_program.npu");
}

// As a driver uploads it: what is loaded, without sections.
std::string without_sections(std::string object) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  std::size_t end = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, object.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD) {
      end = std::max<std::size_t>(end, segment.p_offset + segment.p_filesz);
    }
  }
  header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(object.data(), &header, sizeof header);
  return object.substr(0, end);
}

std::vector<std::string> hazards_of_lined_program(bool noted) {
  AicoreBench bench(lined_config());
  const std::string object = lined_object();
  if (noted) {
    bench.sim.program_files.note(
        {reinterpret_cast<const std::byte*>(object.data()), object.size()});
  }
  const auto image = with_header(without_sections(object), abi::ImageKind::kAiCore);
  bench.memory.write(model::Writer::kDma, 0, kLined, image.data(), image.size());
  bench.at(0, [&bench] { bench.launch_image(0, kLined, kData); });
  bench.run();
  model::HazardText words(bench.cores.hazards(), bench.cores.loader());
  std::vector<std::string> lines;
  for (const auto& hazard : bench.cores.hazards().all()) lines.push_back(words.of(hazard));
  return lines;
}

// "tests/bench/aicore/NAME:LINE" of the line that ends with the comment.
std::string marked(const std::string& name, const std::string& comment) {
  const std::string path = "tests/bench/aicore/" + name;
  std::istringstream text(file_text(source_dir() + "/" + path));
  std::string line;
  for (unsigned number = 1; std::getline(text, line); ++number) {
    const auto found = line.rfind("// " + comment);
    if (found != std::string::npos && found + comment.size() + 3 == line.size()) {
      return path + ":" + std::to_string(number);
    }
  }
  return "no line " + comment;
}

TEST(AicoreHazardLines, AreThoseOfTheAuthorWithTheirCaller) {
  const auto load = marked("lined_program.hpp", "the load");
  const auto call = marked("lined_program.cpp", "the call");
  const auto vector = marked("lined_program.cpp", "the vector");
  EXPECT_THAT(hazards_of_lined_program(true),
              Contains(AllOf(HasSubstr(" at " + vector + " ("), HasSubstr("reads what MTE2"),
                             HasSubstr(" at " + load + " from " + call + " ("))));
}

TEST(AicoreHazardLines, AreFollowedByTheCallsOfTheSourceFile) {
  const auto store = marked("lined_program.cpp", "the store");
  const auto caller = marked("lined_program.cpp", "the caller");
  const auto number = caller.substr(caller.rfind(':') + 1);
  EXPECT_THAT(hazards_of_lined_program(true),
              Contains(AllOf(HasSubstr("MTE3 ub_to_gm at " + store + ", " + number + " ("),
                             HasSubstr("reads what MTE2"))));
}

TEST(AicoreHazardLines, AreThoseOfFlags) {
  const auto flag = marked("lined_program.cpp", "the flag");
  EXPECT_THAT(hazards_of_lined_program(true),
              Contains(AllOf(HasSubstr("is still set"), HasSubstr(" at " + flag + " ("))));
}

TEST(AicoreHazardLines, AreOffsetsWhereTheFileIsNotKnown) {
  const auto lines = hazards_of_lined_program(false);
  ASSERT_EQ(lines.size(), 3U);
  for (const auto& line : lines) {
    EXPECT_THAT(line, AllOf(HasSubstr("+0x"), testing::Not(HasSubstr("pp:"))));
  }
}

}  // namespace
}  // namespace npu::test
