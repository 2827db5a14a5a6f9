// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/worker.hpp"

namespace npu::attack {

Worker::Worker(World& world, std::uint64_t seed)
    : process_(world, seed),
      transfers_(process_),
      mappings_(process_, transfers_),
      streams_(process_, transfers_),
      misuse_(process_),
      wrong_copies_(process_, transfers_) {}

void Worker::open() {
  if (const auto opened = transfers_.open(); !opened) {
    process_.world.find("host memory: " + text(opened));
  }
  for (std::size_t i = 0; i < process_.world.cards.size() + 1; ++i) mappings_.open_space();
}

void Worker::copies() {
  for (auto left = 1 + process_.random.below(4); left > 0; --left) {
    if (process_.streams.empty()) return streams_.create();
    transfers_.submit_one(process_.random.in(process_.streams));
  }
}

const std::vector<Worker::Kind>& Worker::kinds() {
  static const std::vector<Kind> kKinds = {
      {"copies", 200, [](Worker& w) { w.copies(); }},
      {"small copies", 6,
       [](Worker& w) {
         if (w.process_.streams.empty()) return;
         w.transfers_.submit_many(w.process_.random.in(w.process_.streams));
       }},
      {"wait", 60, [](Worker& w) { w.transfers_.finish(); }},
      {"allocate", 60, [](Worker& w) { w.mappings_.allocate(); }},
      {"free", 70, [](Worker& w) { w.mappings_.free(); }},
      {"create_memory", 60, [](Worker& w) { w.mappings_.create(); }},
      {"release_memory", 40, [](Worker& w) { w.mappings_.release_memory(); }},
      {"import_memory", 40, [](Worker& w) { w.mappings_.import_memory(); }},
      {"reserve", 50, [](Worker& w) { w.mappings_.reserve(); }},
      {"release", 50, [](Worker& w) { w.mappings_.release(); }},
      {"map", 90, [](Worker& w) { w.mappings_.map(); }},
      {"set_access", 50, [](Worker& w) { w.mappings_.set_access(); }},
      {"unmap", 60, [](Worker& w) { w.mappings_.unmap(); }},
      {"create_address_space", 4, [](Worker& w) { w.mappings_.open_space(); }},
      {"close", 4, [](Worker& w) { w.mappings_.close_space(); }},
      {"compact", 5, [](Worker& w) { w.mappings_.compact(); }},
      {"range_of", 60, [](Worker& w) { w.mappings_.look(); }},
      {"create_stream", 20, [](Worker& w) { w.streams_.create(); }},
      {"destroy_stream", 14, [](Worker& w) { w.streams_.destroy(); }},
      {"create_event", 12, [](Worker& w) { w.streams_.create_event(); }},
      {"destroy_event", 12, [](Worker& w) { w.streams_.destroy_event(); }},
      {"wrong call", 60, [](Worker& w) { w.misuse_.call(); }},
      {"wrong copy", 20, [](Worker& w) { w.wrong_copies_.fault(); }},
      {"pull away", 6, [](Worker& w) { w.wrong_copies_.pull_away(); }},
  };
  return kKinds;
}

void Worker::one_operation() {
  ++process_.world.operation;
  unsigned total = 0;
  for (const auto& kind : kinds()) total += kind.weight;
  auto drawn = process_.random.below(total);
  for (const auto& kind : kinds()) {
    if (drawn >= kind.weight) {
      drawn -= kind.weight;
      continue;
    }
    process_.world.count(kind.name);
    return kind.run(*this);
  }
}

void Worker::run(unsigned operations) {
  for (unsigned i = 0; i < operations && !process_.world.give_up(); ++i) {
    if (process_.spaces.empty()) mappings_.open_space();
    if (process_.spaces.empty()) return;  // others have them all
    one_operation();
  }
  transfers_.finish();
}

void Worker::close() {
  streams_.destroy_all();
  mappings_.give_back_all();
  transfers_.close();
}

}  // namespace npu::attack
