// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/write_backs.hpp"

#include <algorithm>

#include "model/core/program_debugger.hpp"

namespace npu::model {

void WriteBacks::await_most(unsigned most) {
  struct FewEnough final : CoreThread::Condition {
    FewEnough(const unsigned& lines, unsigned allowed) : leaving(lines), most(allowed) {}
    bool satisfied() const override { return leaving <= most; }
    const unsigned& leaving;
    const unsigned most;
  };
  thread_.wait_for(FewEnough(leaving_, most));
}

void WriteBacks::await(std::uint64_t address) {
  const bool leaves = std::any_of(lines_.begin(), lines_.end(), [&](const Leaving& each) {
    return each.busy && each.address == address;
  });
  if (!leaves) return;
  await_most(0);
  thread_.reach(sim_now());
}

void WriteBacks::begin(DataCache::Line& line) {
  await(line.address);
  await_most(kMost - 1);
  thread_.catch_up();
  unsigned place = 0;
  while (lines_[place].busy) ++place;
  lines_[place] = {true, false, line.address, line.data};
  ++leaving_;
  line.dirty = false;
  requests_.announce();
  auto& weakest = services_.sim.weakest;
  const SimTime late = weakest ? weakest->late(kLate) : 0;
  services_.sim.agenda.at<&WriteBacks::send>(
      sim_now() + services_.clock.clocks(services_.config.write_back_clocks) + late, *this,
      (calls_.generation() & kShownGeneration) << 32 | place);
}

void WriteBacks::send(std::uint64_t argument) {
  if (argument >> 32 != (calls_.generation() & kShownGeneration)) return;  // forgotten by a reset
  const auto place = static_cast<std::uint32_t>(argument);
  requests_.send_announced({true, lines_[place].address, 1, DataCache::kLine, 0, place});
}

void WriteBacks::answered(unsigned place) {
  Leaving& line = lines_[place];
  line.busy = false;
  --leaving_;
  if (line.carried) return;
  if (detail::program_debugger != nullptr) {
    detail::program_debugger->moves({&services_.memory.of_this_card(), core_,
                                     static_cast<unsigned>(platform::Pipe::kScalar),
                                     calls_.issued()});
  }
  const auto completion = services_.memory.write(Writer::kAiCore, calls_.space(), line.address,
                                                 line.data.data(), line.data.size());
  if (completion == Completion::kSuccess) return;
  thread_.fail({device_fault(completion), line.address, calls_.space(), true, line.data.size()});
}

void WriteBacks::forget() {
  leaving_ = 0;
  for (auto& line : lines_) line.busy = false;
}

}  // namespace npu::model
