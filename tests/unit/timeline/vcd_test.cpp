// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/vcd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

namespace npu::timeline {
namespace {

class VcdText : public ByteSink {
 public:
  Status append(ConstByteSpan bytes) override {
    text.append(reinterpret_cast<const char*>(bytes.data), bytes.size);
    return {};
  }
  std::string text;
};

// What a wave viewer makes of the file: the values of a wire by time.
class VcdReader {
 public:
  explicit VcdReader(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> scopes;
    std::int64_t now = 0;
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string first, second, third, fourth, fifth;
      words >> first >> second >> third >> fourth >> fifth;
      if (first == "$scope") scopes.push_back(third);
      if (first == "$upscope") scopes.pop_back();
      if (first == "$var") names_[fourth] = joined(scopes) + "." + fifth;
      if (first[0] == '#') now = std::stoll(first.substr(1));
      if (first[0] == '0' || first[0] == '1') note(now, first.substr(1), first.substr(0, 1));
      if (first[0] == 'b') note(now, second, first.substr(1));
    }
  }
  std::uint64_t at(const std::string& wire, std::int64_t when) const {
    const auto& values = changes_.at(wire);
    return std::prev(values.upper_bound(when))->second;
  }

 private:
  static std::string joined(const std::vector<std::string>& scopes) {
    std::string text;
    for (const auto& scope : scopes) text += (text.empty() ? "" : ".") + scope;
    return text;
  }
  void note(std::int64_t now, const std::string& id, const std::string& bits) {
    changes_[names_.at(id)][now] = std::stoull(bits, nullptr, 2);
  }
  std::map<std::string, std::string> names_;
  std::map<std::string, std::map<std::int64_t, std::uint64_t>> changes_;
};

platform::TraceEvent engine_event(std::int64_t begin, std::int64_t end, std::uint32_t track) {
  platform::TraceEvent event;
  event.begin = Instant(Picoseconds(begin));
  event.end = Instant(Picoseconds(end));
  event.track = track;
  event.activity = platform::Activity::kCommand;
  return event;
}

TEST(Vcd, CountsWhatIsInFlightAtAnyTime) {
  std::mt19937 random(7);
  std::vector<platform::TraceEvent> events;
  VcdText out;
  Vcd vcd(out, {}, [](std::uint32_t track) { return "card0.dma.engine" + std::to_string(track); });
  for (int i = 0; i < 300; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % 1000);
    events.push_back(engine_event(begin, begin + static_cast<std::int64_t>(random() % 60),
                                  static_cast<std::uint32_t>(random() % 3)));
    vcd.on_event(events.back());
  }
  ASSERT_TRUE(vcd.finish());
  const VcdReader wires(out.text);
  for (std::int64_t when = 0; when < 1100; ++when) {
    for (std::uint32_t track = 0; track < 3; ++track) {
      const auto count = std::count_if(events.begin(), events.end(), [&](const auto& event) {
        return event.track == track && event.begin.since_power_up().count() <= when &&
               when < event.end.since_power_up().count();
      });
      const std::string unit = "card0.dma.engine" + std::to_string(track);
      ASSERT_EQ(wires.at(unit + ".count", when), static_cast<std::uint64_t>(count)) << when;
      ASSERT_EQ(wires.at(unit + ".busy", when), count == 0 ? 0U : 1U) << when;
    }
  }
}

TEST(Vcd, NamesTheActivityThatItsCommentLists) {
  VcdText out;
  Vcd vcd(out, {}, [](std::uint32_t) { return "unit"; });
  vcd.on_event(engine_event(10, 20, 0));
  ASSERT_TRUE(vcd.finish());
  const auto number = VcdReader(out.text).at("unit.activity", 15);
  EXPECT_NE(out.text.find(" " + std::to_string(number) + "=command"), std::string::npos);
  EXPECT_EQ(VcdReader(out.text).at("unit.activity", 20), 0U);
}

TEST(Vcd, HasTheUnitsThatTheFilterNames) {
  VcdText out;
  Filter filter;
  filter.units = {"a"};
  Vcd vcd(out, filter, [](std::uint32_t track) { return track == 0 ? "a" : "b"; });
  vcd.on_event(engine_event(10, 20, 0));
  vcd.on_event(engine_event(10, 20, 1));
  ASSERT_TRUE(vcd.finish());
  EXPECT_NE(out.text.find("module a "), std::string::npos);
  EXPECT_EQ(out.text.find("module b "), std::string::npos);
}

}  // namespace
}  // namespace npu::timeline
