// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/owner.hpp"

namespace npu::attack {

QueueOwner::QueueOwner(QueueProcess& process)
    : process_(process),
      random_(process.random),
      world_(process.world),
      submissions_(process),
      cells_(process),
      life_(process, submissions_, cells_),
      misuse_(process) {}

void QueueOwner::open() {
  const auto lanes = random_.percent(30) ? 1 + random_.below(24) : 1 + random_.below(6);
  process_.options.signals = static_cast<unsigned>(lanes + random_.below(513));
  process_.options.max_queues =
      static_cast<unsigned>(random_.percent(30) ? std::max<std::uint64_t>(2, lanes) : 200);
  auto opened = driver::ProcessContext::open(process_.card(), process_.options);
  if (!opened) return world_.find("open(): " + text(opened));
  process_.context = std::move(*opened);
  process_.context->on_fault([this](const driver::QueueFault&) { ++process_.handled; });
  driver::StreamOptions of_space;
  of_space.space = &process_.context->space();
  const auto stream = process_.card().create_stream(of_space);
  auto staging = process_.card().allocate_host(Cells::kStaging);
  auto read_only = process_.context->allocate_host(64_KiB, platform::DmaDirection::kDeviceReads);
  driver::QueueOptions options;
  options.in_order = true;
  auto healer = process_.context->create_queue(options);
  if (!stream || !staging || !read_only || !healer) return world_.find("cannot begin");
  process_.stream = *stream;
  process_.staging = std::move(*staging);
  process_.read_only = std::move(*read_only);
  process_.healer = std::move(*healer);
  if (const auto loaded = cells_.load_kernel(); !loaded) {
    world_.find("the kernel: " + text(loaded));
  }
  for (std::uint64_t i = 0; i < lanes; ++i) {
    process_.lanes.push_back(std::make_unique<Lane>());
    const Bytes cell = random_.of<Bytes>({64, 256, 4_KiB, 4_KiB, 16_KiB, 64_KiB});
    const auto made = cells_.make(*process_.lanes.back(), cell);
    if (!made) world_.find("a lane: " + text(made));
  }
}

void QueueOwner::create() {
  std::vector<Lane*> empty;
  for (const auto& lane : process_.lanes) {
    if (!lane->queue) empty.push_back(lane.get());
  }
  if (!empty.empty()) life_.create(*random_.in(empty));
}

void QueueOwner::verify_all() {
  life_.settle();
  for (const auto& lane : process_.lanes) {
    if (lane->queue) life_.verify(*lane);
  }
  submissions_.take_faults();
}

const std::vector<QueueOwner::Kind>& QueueOwner::kinds() {
  static const std::vector<Kind> kKinds = {
      {"submit", 300, true, false,
       [](QueueOwner& o, Lane& lane) { o.submissions_.submit_some(lane); }},
      {"wait", 150, true, false, [](QueueOwner& o, Lane& lane) { o.submissions_.wait_one(lane); }},
      {"wrong entry", 20, true, false,
       [](QueueOwner& o, Lane& lane) { o.submissions_.submit_wrong(lane); }},
      {"create", 70, false, false, [](QueueOwner& o, Lane&) { o.create(); }},
      {"destroy", 35, true, false, [](QueueOwner& o, Lane& lane) { o.life_.destroy(lane); }},
      {"suspend", 25, true, true, [](QueueOwner& o, Lane& lane) { o.life_.suspend(lane); }},
      {"update", 40, true, false, [](QueueOwner& o, Lane& lane) { o.life_.update(lane); }},
      {"replace", 50, true, false, [](QueueOwner& o, Lane& lane) { o.life_.replace(lane); }},
      {"evict", 15, false, true, [](QueueOwner& o, Lane&) { o.life_.evict(); }},
      {"restore", 25, false, true, [](QueueOwner& o, Lane&) { o.life_.restore(); }},
      {"settle", 40, false, false, [](QueueOwner& o, Lane&) { o.life_.settle(); }},
      {"verify", 15, true, false, [](QueueOwner& o, Lane& lane) { o.life_.verify(lane); }},
      {"query", 40, true, false, [](QueueOwner& o, Lane& lane) { o.life_.query(lane); }},
      {"take_faults", 20, false, false, [](QueueOwner& o, Lane&) { o.submissions_.take_faults(); }},
      {"wrong call", 80, false, false, [](QueueOwner& o, Lane&) { o.misuse_.call(); }},
      {"pause", 60, false, false,
       [](QueueOwner& o, Lane&) { o.world_.pass(any_time(o.random_, 100_us)); }},
  };
  return kKinds;
}

void QueueOwner::one_operation() {
  ++world_.operation;
  auto* lane = process_.any_lane();
  unsigned total = 0;
  for (const auto& kind : kinds()) total += kind.weight;
  auto drawn = random_.below(total);
  for (const auto& kind : kinds()) {
    if (drawn >= kind.weight) {
      drawn -= kind.weight;
      continue;
    }
    if (kind.needs_queue && lane == nullptr) return create();
    if (kind.holds && process_.disturbed) return;
    world_.count(kind.name);
    Lane none;
    return kind.run(*this, lane == nullptr ? none : *lane);
  }
}

void QueueOwner::run(unsigned operations) {
  if (!process_.healer) return;
  for (unsigned i = 0; i < operations && !world_.give_up(); ++i) one_operation();
}

void QueueOwner::end() {
  if (!process_.context) return;
  if (process_.healer) verify_all();
  for (const auto& lane : process_.lanes) {
    for (int attempt = 0; lane->queue && attempt < 5; ++attempt) life_.destroy(*lane);
    lane->queue.reset();
    lane->host.reset();
  }
  submissions_.take_faults();
  if (process_.handled != process_.faults && !world_.stopped) {
    world_.find(
        fmt::format("{} faults to the handler, {} taken", process_.handled, process_.faults));
  }
  process_.healer.reset();
  process_.read_only.reset();
  process_.staging.reset();
  if (process_.context->queue_count() != 0) world_.find("queues are left");
  static_cast<void>(process_.card().destroy_stream(process_.stream, world_.in(100_ms)));
  const auto closed = process_.context->close();
  if (!closed && !world_.stopped) world_.find("close(): " + text(closed));
  process_.context.reset();
}

}  // namespace npu::attack
