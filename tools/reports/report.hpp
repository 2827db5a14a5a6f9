// SPDX-License-Identifier: Apache-2.0
// What a run found out. Writers: report_json.hpp (machines), report_text.hpp, report_markdown.hpp,
// report_csv.hpp (people and tables); reader: report_reader.hpp. docs/reports.md describes all of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/units.hpp"
#include "tools/reports/number.hpp"

namespace npu::reports {

struct Metric {
  std::string name;  // dotted and stable: "dma.h2d.4KiB.latency_ns"
  Number value;
  std::string unit;  // "ns", "GB/s", "%", "" for counts
};

// What the whole run did with the machine: "host.mmio_reads", "card0.hbm.row_hits".
using Counter = Metric;

// A time and the parts it consists of; the parts add up to it exactly.
struct Breakdown {
  struct Part {
    std::string name;
    Picoseconds time;
  };
  std::string group;  // heading of the table it is shown in
  std::string label;  // its row there
  std::vector<Part> parts;
  // What follows until the call returns and is no part of the latency: who polls notices a
  // completion at his next look, a distance that says nothing about what is measured.
  std::optional<Picoseconds> wait = {};
  Picoseconds total() const;  // of the parts
  Picoseconds call() const { return total() + wait.value_or(Picoseconds{}); }
};

// Something that kept a result below what it could be.
struct Limit {
  std::string subject;  // metric prefix, "dma.d2d.1GiB"
  std::string name;     // stable: "refresh", "row_misses", "turnaround", "tlp_overhead", ...
  Number percent;       // of the time or capacity of the resource
  std::string text;     // for people: "refresh: 5.1 % of the HBM's time"
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// A parameter or key and its value, resolved: numbers in decimals, flags as true or false.
struct NamedValue {
  std::string name;
  std::vector<std::string> elements;  // one, or those of a list
  bool is_text = false;               // they are no numbers and no flags
  bool is_list = false;
};

// A key of the configuration that the command line replaced.
struct AppliedOverride {
  std::string given;  // "generation=0x5"
  NamedValue key;     // link.generation, 5
};

// Firmware or a kernel that was loaded.
struct UsedProgram {
  std::string name;
  std::string sha256;
};

// A part of the report that this library keeps and does not look into.
struct Section {
  std::string name;
  std::string json;  // a value, as it stands in the file
};

inline constexpr const char* kComplete = "complete";

class Report {
 public:
  // Identity, filled by whoever runs the workload.
  std::string version;  // of npusim
  std::string workload;
  std::string config;         // as it was named
  std::string config_sha256;  // of the resolved configuration, as `npusim config show` prints it
  std::vector<AppliedOverride> overrides;
  std::uint64_t seed = 0;
  Picoseconds simulated;
  std::vector<NamedValue> parameters;
  std::vector<NamedValue> configuration;  // all of it; numbers in the unit that the key names
  // kComplete, or how the run ended instead: "interrupted", "failed: ...".
  std::string outcome = kComplete;

  void add_metric(std::string name, Number value, std::string unit);
  void add_limit(Limit limit) { limits_.push_back(std::move(limit)); }
  // The table stays valid until the next add_table().
  Table& add_table(std::string title, std::vector<std::string> columns);
  void add_note(std::string text) { notes_.push_back(std::move(text)); }
  // A row of the table `group` alone.
  void add_breakdown(Breakdown breakdown) { breakdowns_.push_back(std::move(breakdown)); }
  void add_counter(std::string name, Number value, std::string unit = "");
  // `json` is one valid JSON value; the name is none that the report has itself.
  void add_section(Section section) { sections_.push_back(std::move(section)); }
  void add_program(UsedProgram program) { programs_.push_back(std::move(program)); }
  // Once per name, in order of their first use.
  void add_program(const std::string& name, ConstByteSpan image);

  const std::vector<Metric>& metrics() const { return metrics_; }
  const std::vector<Breakdown>& breakdowns() const { return breakdowns_; }
  const std::vector<Limit>& limits() const { return limits_; }
  const std::vector<Table>& tables() const { return tables_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<UsedProgram>& programs() const { return programs_; }
  const std::vector<Counter>& counters() const { return counters_; }
  const std::vector<Section>& sections() const { return sections_; }
  // Null if there is none of that name.
  const Metric* find(const std::string& name) const;
  const Counter* find_counter(const std::string& name) const;

 private:
  std::vector<Metric> metrics_;
  std::vector<Breakdown> breakdowns_;
  std::vector<Limit> limits_;
  std::vector<Table> tables_;
  std::vector<std::string> notes_;
  std::vector<UsedProgram> programs_;
  std::vector<Counter> counters_;
  std::vector<Section> sections_;
};

}  // namespace npu::reports
