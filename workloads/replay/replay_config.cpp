// SPDX-License-Identifier: Apache-2.0
#include "workloads/replay/replay_config.hpp"

#include "model/config/checks.hpp"
#include "model/config/find_config.hpp"
#include "model/config/reader.hpp"

namespace npu::replay {
namespace {

namespace keys = model::keys;
using keys::number;
using model::KeyType;
using model::Table;

// As it stands in the file.
struct ReplayFile {
  std::string name;
  ReplayPolicy policy{};
  unsigned bank_queue = 0, channels = 0, read_queue = 0, write_queue = 0;
  unsigned write_high_percent = 0, write_low_percent = 0;
  Bytes span = 0;
  HbmTimings timings{};
};

const Table& replay_table() {
  using F = ReplayFile;
  static const Table kTable{
      "npusim.replay/1",
      "a memory by itself, for replays",
      {
          keys::make("name", KeyType::kName, &F::name, "whose memory"),
          number("span_mib", &F::span, 2, 1 << 24, "size of the memory"),
          number("channels", &F::channels, 1, 256, "over all stacks").in_powers_of_two(),
          keys::choice("policy", &F::policy, {"split_queues", "shared_queue", "bank_queues"},
                       "which requests wait where"),
          number("read_queue", &F::read_queue, 1, 128, "entries per channel"),
          number("write_queue", &F::write_queue, 1, 128, "entries per channel"),
          number("bank_queue", &F::bank_queue, 0, 128, "entries per bank, bank_queues only"),
          number("write_high_percent", &F::write_high_percent, 1, 100, "drain writes"),
          number("write_low_percent", &F::write_low_percent, 0, 99, "back to reads"),
          keys::section("timings", &F::timings, model::timings_table(), KeyType::kFile),
      }};
  return kTable;
}

ReplayConfig to_config(const ReplayFile& file) {
  ReplayConfig config{file.name, file.policy, file.bank_queue, {}};
  HbmConfig& hbm = config.hbm;
  hbm.usable = hbm.installed = file.span;
  hbm.channels = file.channels;
  hbm.timings = file.timings;
  hbm.policy =
      file.policy == ReplayPolicy::kSharedQueue ? HbmPolicy::kSharedQueue : HbmPolicy::kSplitQueues;
  hbm.read_queue = file.read_queue;
  hbm.write_queue = file.write_queue;
  hbm.write_high_percent = file.write_high_percent;
  hbm.write_low_percent = file.write_low_percent;
  hbm.interleave = file.timings.burst;  // as the simulators that were measured
  return config;
}

// Reads a file of one table and returns its path.
ConfigResult<std::string> read(const Table& table, void* object, const std::string& path_or_name,
                               const std::vector<std::string>& search_paths) {
  auto path = model::find_config(path_or_name, search_paths);
  if (!path) return path;
  const auto document = model::read_yaml_file(*path);
  if (!document) return tl::unexpected(document.error());
  auto none = model::Overrides::parse({});
  if (!none) return tl::unexpected(none.error());
  model::Reader reader(*none, search_paths);
  if (auto done = reader.read_into(table, object, *document); !done) {
    return tl::unexpected(done.error());
  }
  return path;
}

template <class T>
ConfigResult<T> checked(const T& value, const model::CheckResult& broken, const std::string& path) {
  if (broken)
    return tl::unexpected(
        model::error_at(model::SourcePlace{path, 0, 0}, broken->key, broken->text));
  return value;
}

}  // namespace

ConfigResult<ReplayConfig> load_replay(const std::string& path_or_name,
                                       const std::vector<std::string>& search_paths) {
  ReplayFile file;
  const auto path = read(replay_table(), &file, path_or_name, search_paths);
  if (!path) return tl::unexpected(path.error());
  const ReplayConfig config = to_config(file);
  auto broken = model::check_hbm(config.hbm);
  if (!broken && (config.policy == ReplayPolicy::kBankQueues) != (config.bank_queue != 0)) {
    broken =
        model::BrokenRule{"bank_queue", "is not 0 with the policy bank_queues, and 0 without it"};
  }
  return checked(config, broken, *path);
}

ConfigResult<HbmTimings> load_timings(const std::string& path_or_name,
                                      const std::vector<std::string>& search_paths) {
  HbmTimings timings{};
  const auto path = read(model::timings_table(), &timings, path_or_name, search_paths);
  if (!path) return tl::unexpected(path.error());
  return checked(timings, model::check_timings(timings), *path);
}

}  // namespace npu::replay
