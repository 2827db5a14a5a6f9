// SPDX-License-Identifier: Apache-2.0
#include "model/l2/write_back_queue.hpp"

#include <algorithm>

namespace npu::model {

void WriteBackQueue::send(unsigned client, std::uint64_t cause, std::vector<Line>& lines) {
  std::sort(lines.begin(), lines.end());
  for (std::size_t i = 0; i < lines.size();) {
    const std::uint32_t number = transfers_.take();
    HbmTransfer& transfer = transfers_[number];
    transfer = {lines[i], 0, sim_now(), cause};
    for (; i < lines.size() && lines[i] == transfer.first + transfer.lines; ++i) ++transfer.lines;
    port_.send(client, tlm::TLM_WRITE_COMMAND, transfer, number);
  }
  lines.clear();
}

}  // namespace npu::model
